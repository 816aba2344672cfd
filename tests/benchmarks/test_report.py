"""The report: one file that needs nothing else, says what it must say, and runs nothing it was not meant to run."""

import hashlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from backtrail.benchmarks.recipe import RunConfig
from backtrail.benchmarks.report import write_html
from backtrail.benchmarks.results import RunFolder, write_json
from backtrail.benchmarks.summary import summary
from backtrail.envs import Fingerprint, FreeText, Record, Rollback, VisitCount

CHROMIUM = Path("/usr/bin/chromium")
ATTACK = "</script><script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"
HOME = 4


class Corridor(gym.Env):
    """Five cells in a row, home at the right end; text that would like to be markup, and a picture."""

    def __init__(self) -> None:
        picture = spaces.Box(0, 255, (8, 8, 3), np.uint8)
        self.observation_space = spaces.Dict(goal=FreeText(1000), text=FreeText(1000), screenshot=picture)
        self.action_space = FreeText(1000)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        self.at, self.task_id = 0, (options or {}).get("task_id", "")
        return self.seen(), self.info("")

    def step(self, action: str):
        moves = {"left": -1, "right": 1}
        self.at = min(HOME, max(0, self.at + moves.get(action, 0)))
        won = self.at == HOME
        return self.seen(), float(won), won, False, self.info("" if action in moves else f"unknown command {action!r}")

    def seen(self) -> dict[str, Any]:
        picture = np.full((8, 8, 3), 40 * self.at, np.uint8)
        return {"goal": f"go home & {ATTACK}", "text": f"cell {self.at} \ud800 {ATTACK}", "screenshot": picture}

    def info(self, error: str) -> dict[str, Any]:
        possible = ["left", "right", ATTACK]
        return {
            "task_id": self.task_id,
            "admissible_actions": possible,
            "action_error": error,
            "success": self.at == HOME,
        }


STORIES = [
    ["right", "left", ATTACK, "right", "rollback", "right", "right", "right", "right"],
    ["left", "right", "left"],
    ["right"] * HOME,
]
TASKS = [f"corridor/{ATTACK}", "corridor/1", "corridor/2", "corridor/3"]


def play(env: Record, run: Path, config: RunConfig, number: int) -> dict[str, Any]:
    episode = config.episodes()[number]
    _, info = env.reset(seed=episode.seed, options={"task_id": episode.task_id})
    states, curve, revisits, invalid = {info["fingerprint"]}, [1], 0, 0
    rollbacks = dict.fromkeys(("exact", "approximate", "failed", "unsupported"), 0)
    total, terminated = 0.0, False
    for action in STORIES[number]:
        env.annotate(
            response=f"<action>{action}</action>", explore=f"the right end {ATTACK}", memory="cells", valid=True
        )
        _, reward, terminated, _, info = env.step(action)
        states.add(info["fingerprint"])
        curve.append(len(states))
        total, revisits, invalid = total + reward, revisits + (info["visits"] > 0), invalid + bool(info["action_error"])
        if "rollback" in info:
            rollbacks[info["rollback"]["status"]] += 1
    assert env.path is not None
    return {
        "episode": episode.id,
        "task_id": episode.task_id,
        "attempt": episode.attempt,
        "seed": episode.seed,
        "task_type": ("walk_$x$", ATTACK)[number % 2],
        "data": "generated:v1",
        "success": terminated,
        "return": total,
        "steps": len(curve) - 1,
        "terminated": terminated,
        "truncated": not terminated,
        "invalid_actions": invalid,
        "unique_states": len(states),
        "revisits": revisits,
        "unique_by_step": curve,
        "rollbacks": rollbacks,
        "valid_turns": len(curve) - 1,
        "usage": {"prompt_tokens": 7},
        "final_fingerprint": info["fingerprint"],
        "steps_file": env.path.relative_to(run).as_posix(),
        "time": {"env": 0.5, "agent": 0.25, "total": 0.75},
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Make a run of four episodes: two won, one lost, one that failed."""
    run = tmp_path / "runs" / "corridor"
    config = RunConfig(
        name=f"corridor {ATTACK}",
        env_id="toy/Corridor-v0",
        env_kwargs={"split": "test"},
        wrappers=["Fingerprint", "VisitCount", "Rollback", "Record"],
        agent={"name": ATTACK, "options": {}},
        tasks=TASKS,
        episodes_per_task=1,
        seed=3,
        max_steps=9,
        rollback_methods=["restore"],
        data="generated:v1",
        data_hash="0" * 64,
        command=f"backtrail run {ATTACK}",
    )
    env = Record(Rollback(VisitCount(Fingerprint(Corridor()))), run / "steps")
    (run / "steps").mkdir(parents=True)
    write_json(run / "config.json", config.to_json())
    with RunFolder.start(run, config, resume=True) as folder:
        for number in (1, 0, 2):  # as several workers would end
            folder.add_episode(play(env, run, config, number))
        broken = config.episodes()[3]
        fault = {
            "error": f"AgentError: {ATTACK}",
            "traceback": f"Traceback\n{ATTACK}",
            "time_utc": "2026-01-01T00:00:00",
        }
        folder.add_failure(
            {"episode": broken.id, "task_id": broken.task_id, "attempt": 0, "seed": broken.seed, **fault}
        )
        write_json(run / "summary.json", summary(config, folder.episodes, folder.failures, 12.5))
    return run


class Page(HTMLParser):
    """What a browser would see: tags with attributes, and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(html)
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        within = self.tags[-1][0] if self.tags else ""
        (self.scripts if within == "script" and data.strip() else self.texts).append(data)

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.scripts[0])


def page_of(run: Path, **limits: int) -> Page:
    out = run.parent / "report.html"
    write_html(run, out, **limits)
    return Page(out.read_text(encoding="utf-8"))


def test_says_what_was_measured_on_which_data(run: Path) -> None:
    text = page_of(run).text.replace("\u00a0", " ")
    assert "generated data, not the official benchmark" in text
    assert "66.7 %" in text
    assert "2 of 3 scored episodes" in text
    assert "Incomplete: 3 of 4 planned episodes are scored. 1 ended in an infrastructure failure" in text
    assert "success would be 50.0 %" in text
    assert f"AgentError: {ATTACK}" in text
    assert "summary.json" not in text


@pytest.mark.parametrize(
    ("label", "caution"),
    [
        ("alfworld:json_2.1.3", ""),
        ("simulated-phone", "simulated environment, not the official benchmark"),
        ("unknown", "the environment does not say which data this is"),
    ],
)
def test_labels_of_rows_count_beside_that_of_the_recipe(run: Path, label: str, caution: str) -> None:
    rows = (run / "episodes.jsonl").read_text().replace('"data":"generated:v1"', f'"data":"{label}"', 1)
    (run / "episodes.jsonl").write_text(rows)
    text = page_of(run).text
    assert f"Data: {label}" in text
    assert caution in text
    assert "generated data, not the official benchmark" in text


def test_is_one_file_that_loads_nothing(run: Path) -> None:
    page = page_of(run)
    for tag, attributes in page.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "audio", "video", "source")
        for name, value in attributes.items():
            if name in ("src", "href", "xlink:href", "srcset", "action", "poster", "data"):
                assert (value or "").startswith("#"), (tag, name, value)
    style = [text for text in page.texts if "color-scheme" in text]
    assert style
    assert not any("url(" in text or "@import" in text for text in style)
    policy = next(attributes["content"] for tag, attributes in page.tags if "http-equiv" in attributes)
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_foreign_text_stays_text(run: Path) -> None:
    page = page_of(run)
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert [script.get("type") for script in scripts] == ["application/json", None]
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert page.text.count(ATTACK) > 5
    assert not re.search("[<]/script|<!--", page.scripts[0])
    first = page.data["episodes"][0]
    assert first["goal"] == f"go home & {ATTACK}"
    assert first["steps"][3]["action"] == ATTACK
    assert first["steps"][0]["text"] == f"cell 0 &#55296; {ATTACK}"  # UTF-8 has no bytes for half a character


def test_embeds_each_step_with_state_visits_rollback_and_words(run: Path) -> None:
    data = page_of(run).data
    steps = data["episodes"][0]["steps"]
    assert [step["state"] for step in steps] == [0, 1, 0, 0, 1, 0, 1, 2, 3, 4]
    assert [step["visits"] for step in steps] == [0, 0, 1, 2, 1, 3, 2, 0, 0, 0]
    assert steps[5]["rollback"] == {"status": "exact", "method": "restore", "steps": 1}
    assert "unknown command" in steps[3]["error"]
    assert "error" not in steps[5]
    assert [step.get("reward") for step in steps] == [None] * 9 + [1.0]
    assert steps[9]["success"] is True
    assert steps[9]["end"] == "terminated"
    assert steps[1]["explore"].startswith("the right end")
    assert [data["actions"][index] for index in steps[0]["admissible"]] == ["left", "right", ATTACK]
    assert len(data["pictures"]) == HOME + 1  # equal screenshots are there once
    assert all(picture.startswith("data:image/png;base64,") for picture in data["pictures"])


def test_same_run_same_bytes_in_any_process(run: Path, tmp_path: Path) -> None:
    code = "import sys, pathlib, backtrail.benchmarks.report as r; r.write_html(*map(pathlib.Path, sys.argv[1:]))"
    hashes = set()
    for seed in ("1", "2"):
        out = tmp_path / f"{seed}.html"
        subprocess.run([sys.executable, "-c", code, run, out], check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        hashes.add(hashlib.sha256(out.read_bytes()).hexdigest())
    assert len(hashes) == 1


def test_says_what_it_leaves_out(run: Path) -> None:
    page = page_of(run, max_episodes=1)
    assert "This file holds the steps of 1 of the 3 scored episodes" in page.text
    assert [episode is not None for episode in page.data["episodes"]] == [True, False, False]
    text = json.dumps(page.data["episodes"][0], ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    page = page_of(run, max_episodes=1, max_bytes=len(text) + 300)
    assert re.search(r"This file holds [1-9] of 10 screenshots", page.text)
    assert "No recorded steps are embedded" in page_of(run, max_bytes=10).text


def test_an_episode_without_recorded_steps_is_in_the_table_only(run: Path) -> None:
    (run / "steps" / "episode-000000.jsonl").unlink()
    text = page_of(run).text
    assert "2 of the 3 scored episodes (1 have no recorded steps" in text


def test_reads_no_file_outside_the_run(run: Path) -> None:
    outside = run.parent / "episode.jsonl"
    (run / "steps" / "episode-000000.jsonl").rename(outside)
    rows = (run / "episodes.jsonl").read_text().replace("steps/episode-000000.jsonl", "../episode.jsonl")
    (run / "episodes.jsonl").write_text(rows)
    assert "2 of the 3 scored episodes" in page_of(run).text


def test_says_if_the_summary_is_another(run: Path) -> None:
    saved = json.loads((run / "summary.json").read_text())
    saved["success"]["value"] = 1.0
    write_json(run / "summary.json", saved)
    assert "summary.json on the disk has other values for: success." in page_of(run).text
    (run / "summary.json").write_text("{")
    assert "summary.json is damaged." in page_of(run).text
    (run / "summary.json").unlink()
    assert "There is no summary.json yet." in page_of(run).text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", None, "config.json"),
        ("config.json", "{", "damaged"),
        ("episodes.jsonl", "", "at least one finished episode .* only 1 failures"),
        ("episodes.jsonl", "{\n", "line 1, is damaged"),
        ("episodes.jsonl", '{"episode": "corridor/1#0"}\n', "not complete"),
        ("steps/episode-000001.jsonl", "{}\n", "recorded in format"),
        ("steps/episode-000001.jsonl", '{"format": "backtrail-episode-1"}\n', "no line of an episode"),
    ],
)
def test_refuses_a_broken_run(run: Path, name: str, content: str | None, message: str) -> None:
    if content is None:
        (run / name).unlink()
    else:
        (run / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        page_of(run)
    assert not list(run.parent.glob("report.html*"))


def test_refuses_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere"):
        write_html(tmp_path / "nowhere", tmp_path / "report.html")


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_names_the_extra_to_install(run: Path, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(gym.error.DependencyNotInstalled, match=r'pip install "backtrail\[report\]"'):
        page_of(run)


# -- in a browser ----------------------------------------------------------------------------------------

PROBE = """<script>
setTimeout(() => {
  const seen = {};
  const steps = () => [...document.querySelectorAll("#steps .step")];
  const current = () => steps().findIndex((step) => step.hasAttribute("aria-current"));
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const visible = () => [...document.querySelectorAll("#table tbody tr")].filter((row) => !row.hidden);
  const type = (id, value) => {
    document.getElementById(id).value = value;
    document.getElementById(id).dispatchEvent(new Event("input"));
  };
  seen.start = [steps().length, current(), location.hash];
  press("j"); press("j"); press("k");
  seen.moved = [current(), location.hash];
  document.querySelectorAll("#steps .chip")[2].click();
  seen.marked = document.getElementById("marked").textContent;
  seen.dimmed = steps().filter((step) => getComputedStyle(step).opacity < 1).length;
  press("Escape");
  seen.unmarked = document.getElementById("marked").textContent;
  seen.cells = [...document.querySelectorAll("#map .cell")].map((cell) => cell.textContent);
  seen.again = [...document.querySelectorAll("#map .cell.again")].length;
  seen.pictures = [...document.querySelectorAll("#steps img")].filter((image) => image.src.startsWith("data:")).length;
  press("l");
  seen.next = [steps().length, location.hash];
  document.querySelectorAll("#table th button")[4].click();
  seen.sorted = visible().map((row) => row.cells[4].textContent);
  type("by-result", "0");
  seen.filtered = visible().length;
  type("by-result", ""); type("by-text", "corridor/2");
  seen.found = visible().length;
  seen.attacked = Boolean(window.attacked);
  const report = document.createElement("pre");
  report.id = "probe";
  report.textContent = JSON.stringify(seen);
  document.body.append(report);
}, 100);
</script></body>"""


def in_chromium(page: Path, profile: Path, fragment: str = "") -> tuple[str, list[str]]:
    """Return the page's DOM after its scripts have run, and what was said on the console."""
    quiet = "--disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"
    result = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            *quiet.split(),
            f"--user-data-dir={profile}",
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            "--dump-dom",
            f"{page.as_uri()}{fragment}",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return result.stdout, [line for line in result.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs {CHROMIUM}")
class TestInABrowser:
    def test_runs_without_complaint_under_its_own_policy(self, run: Path, tmp_path: Path) -> None:
        out = tmp_path / "report.html"
        write_html(run, out)
        dom, console = in_chromium(out, tmp_path / "profile", "#episode-3-step-2")
        assert console == []
        assert dom.count('class="step') == HOME + 1
        assert '<li class="step" data-state="2" aria-current="step">' in dom

    def test_viewer_and_table_work(self, run: Path, tmp_path: Path) -> None:
        out = tmp_path / "report.html"
        write_html(run, out)
        html = re.sub("<meta http-equiv.*?>", "", out.read_text(encoding="utf-8"))  # its policy refuses the probe
        out.write_text(html.replace("</body>", PROBE), encoding="utf-8")
        dom, console = in_chromium(out, tmp_path / "profile")
        assert console == []
        found = re.search('<pre id="probe">(.*?)</pre>', dom)
        assert found
        assert json.loads(found[1]) == {
            "start": [10, 0, ""],
            "moved": [1, "#episode-1-step-1"],
            "marked": "State 1: steps 0, 2, 3, 5",
            "dimmed": 6,
            "unmarked": "",
            "cells": ["1", "2", "1", "!1", "2", "\u21a91", "2", "3", "4", "\u27135"],
            "again": 7,
            "pictures": 10,
            "next": [4, "#episode-2"],
            "sorted": ["3", "4", "9"],
            "filtered": 1,
            "found": 1,
            "attacked": False,
        }
