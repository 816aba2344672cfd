"""The training report, on run folders that are made up here: they look like a trainer's, their numbers mean nothing."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from backtrail.benchmarks.commands import app
from backtrail.benchmarks.results import ResultsError
from backtrail.benchmarks.statistics import t_interval, wilson
from backtrail.benchmarks.training_report import load_training, training_numbers, write_training_report
from backtrail.benchmarks.training_runs import alarm_kind, methods_of
from backtrail.training.presets import preset

ATTACK = "<script>window.attacked = true</script>"
EPISODES = 50


def synthetic_run(
    folder: Path,
    method: str = "eapo",
    seed: int = 0,
    *,
    iterations: int = 20,
    done: int | None = None,
    gain: float = 0.5,
    data: str = "generated-small",
    **changes: Any,
) -> Path:
    """Write a made-up training run: a success rate that rises by ``gain``, with noise from the seed."""
    config = asdict(preset(method, iterations=iterations, rollback_steps=10, eval_every=5, **changes))
    setup = {
        "model": "synthetic",
        "env_id": "backtrail/ALFWorld-v0",
        "train": {"data": data, "split": "train", "task_types": ["pick_and_place_simple"]},
        "evaluate": {"data": data, "split": "valid_unseen", "task_types": ["pick_and_place_simple"]},
        "seed": seed,
        "workers": "serial",
    }
    folder.mkdir(parents=True)
    recipe = {"format": 1, "setup": setup, "config": config, "versions": {"backtrail": ATTACK}, "python": "3"}
    (folder / "training.json").write_text(json.dumps(recipe))
    rng = np.random.default_rng(seed)
    done = iterations if done is None else done
    rows: list[dict[str, Any]] = [
        {"stage": "sft", "iteration": step, "loss": 3.0 * math.exp(-step / 60) + 0.2, "lr": 1e-3}
        for step in range(9, 200, 10)
    ]
    for step, share in ((0, 0.1), (10, 0.9)):
        rates = {kind: max(0.0, share - place / 20) for place, kind in enumerate(("close", "go", "open", "take"))}
        row: dict[str, Any] = {"stage": "rollback-evaluation", "iteration": step, "verified": share, "shown": 80.0}
        for kind, rate in rates.items():
            row |= {f"verified/{kind}": rate, f"shown/{kind}": 20.0}
        rows.append(row)
    rows += [_row(i, iterations, gain, rng, "eapo" in method) for i in range(done)]
    evaluations = []
    for iteration in range(0, done + 1, 5):
        won = rng.random(EPISODES) < 0.2 + gain * iteration / iterations
        episodes = [
            {"task_id": f"valid_unseen/{place}", "success": bool(each), "steps": 10 if each else 30}
            for place, each in enumerate(won)
        ]
        evaluations.append({"stage": "rl", "iteration": iteration, "options": setup["evaluate"], "episodes": episodes})
        rows.append(
            {
                "stage": "rl-evaluation",
                "iteration": iteration,
                "success": float(won.mean()),
                "steps": float(np.mean([episode["steps"] for episode in episodes])),
                "exploration_degree": 0.5 + 0.1 * gain,
                "seconds/environment": 1.0,
                "seconds/generation": 2.0,
            }
        )
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "evaluations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in evaluations))
    if done == iterations:
        (folder / "model").mkdir()
    return folder


def _row(i: int, iterations: int, gain: float, rng: np.random.Generator, explores: bool) -> dict[str, Any]:
    share, noise = i / iterations, float(rng.normal(0, 0.03))
    row: dict[str, Any] = {
        "stage": "rl",
        "iteration": i,
        "success": min(1.0, max(0.0, 0.2 + gain * share + noise)),
        "steps": 25 - 10 * gain * share + 10 * noise,
        "exploration_degree": 0.5 + 0.2 * share + noise,
        "revisit_rate": 0.5 - 0.2 * share - noise,
        "invalid_rate": 0.1 * (1 - share),
        "error_rate": 0.2 * (1 - share),
        "entropy/explore": 1.5 - share,
        "entropy/memory": 1.0 - 0.5 * share,
        "entropy/action": 0.6 - 0.3 * share,
        "advantage/level/state_visits": 0.3 + 0.2 * share,
        "advantage/level/state": 0.2,
        "advantage/level/task": 0.5 - 0.2 * share,
        "advantage/level/none": 0.0,
        "advantage/singleton": 0.7 - 0.2 * share,
        "advantage/zero_variance": 0.2,
        "advantage/zero_advantage": 0.3 + 0.3 * share,
        "clipped_low": 0.02 + abs(noise),
        "clipped_high": 0.03 + abs(noise),
        "grad_norm": None if i == 3 else 1.0 + 10 * abs(noise),
        "seconds/environment": 1.0,
        "seconds/generation": 4.0 + noise,
        "seconds/probe": 0.3,
        "seconds/update": 2.0,
        "seconds/sync": 0.1,
        "seconds": 11.0,
        "alarms": [f"{70 + i}% of transitions are alone in their group"] if i in (2, 3, 7) else [],
    }
    if explores:
        scores = {"explore/won": 0.3 + 0.2 * share + noise, "explore/lost": 0.25 - 0.1 * share - noise}
        row |= scores | {
            "explore/auc": 0.5 + 0.3 * share,
            "seconds/posterior_score": 2.0,
            "seconds/posterior_update": 1.0,
        }
    return row


@pytest.fixture
def several(tmp_path) -> list[Path]:
    """Two methods with three and two seeds; the second has one seed less."""
    made = [synthetic_run(tmp_path / f"alfworld-grpo-tiny-seed{seed}", "grpo", seed, gain=0.2) for seed in range(3)]
    return [*made, *(synthetic_run(tmp_path / f"alfworld-eapo-tiny-seed{seed}", seed=seed) for seed in range(1, 3))]


def call(*words: str | Path, code: int = 0):
    result = CliRunner().invoke(app, ["report", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == code, f"{result.stdout}\n{result.stderr}"
    return result


class Page(HTMLParser):
    """What a browser would make of a page: its tags, what it would fetch, and its words."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.words = ""
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [
            value or ""
            for key, value in attrs
            if key in ("src", "href", "xlink:href") and not (value or "").startswith("#")
        ]

    def handle_data(self, data: str) -> None:
        self.words += data


# -- reading ----------------------------------------------------------------------------------------------


def test_a_run_is_read(tmp_path):
    run = load_training(synthetic_run(tmp_path / "run", seed=3))
    assert (run.seed, run.iterations, run.finished) == (3, 20, True)
    assert [each.iteration for each in run.evaluations] == [0, 5, 10, 15, 20]
    first = run.evaluations[0]
    assert first.success == wilson(first.successes, EPISODES)
    assert run.rollbacks[0]["close"] == (2, 20)
    assert run.rollbacks[-1]["take"] == (15, 20)
    assert run.seconds == pytest.approx(20 * 11 + 5 * 3)


def test_a_number_that_was_not_finite_is_left_out(tmp_path):
    norms = load_training(synthetic_run(tmp_path / "run")).series("rl", "grad_norm")
    assert sorted(norms) == [i for i in range(20) if i != 3]


def test_alarms_are_told_once_with_their_first_iteration(tmp_path):
    alarms = load_training(synthetic_run(tmp_path / "run")).alarms
    assert alarms == [(2, 3, "72% of transitions are alone in their group")]
    assert alarm_kind("fell to 1.2e-05 nats, from 0.3") == alarm_kind("fell to 7 nats, from 1.1")


def test_tasks_that_are_tried_twice_count_less(tmp_path):
    folder = synthetic_run(tmp_path / "run")
    episodes = [{"task_id": f"t{place // 2}", "success": place < 10, "steps": 5} for place in range(20)]
    row = {"stage": "rl", "iteration": 0, "options": {}, "episodes": episodes}
    (folder / "evaluations.jsonl").write_text(json.dumps(row) + "\n")
    found = load_training(folder).evaluations[0]
    assert found.success.value == 0.5
    assert found.success.high - found.success.low > wilson(10, 20).high - wilson(10, 20).low


def test_a_line_that_is_being_written_is_left_out(tmp_path):
    folder = synthetic_run(tmp_path / "run", done=7)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"stage": "rl", "iterat')
    run = load_training(folder)
    assert (run.iterations, run.finished) == (7, False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "Expected the folder of a training run"),
        ("{", "damaged"),
        ('{"format": 2}', "format 2"),
        ('{"format": 1}', "damaged"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "training.json").write_text(content)
    with pytest.raises(ResultsError, match=message):
        load_training(tmp_path)


# -- methods and seeds ------------------------------------------------------------------------------------


def test_runs_that_differ_in_their_seed_are_one_method(several):
    methods = methods_of([load_training(folder) for folder in several])
    assert [(method.label, [run.seed for run in method.runs]) for method in methods] == [
        ("grpo", [0, 1, 2]),
        ("eapo", [1, 2]),
    ]


def test_a_method_of_folders_with_other_names_is_called_as_its_preset(tmp_path):
    runs = [load_training(synthetic_run(tmp_path / name, "gigpo", seed)) for seed, name in enumerate("ab")]
    assert [method.label for method in methods_of(runs)] == ["gigpo"]


def test_methods_of_one_name_are_numbered(tmp_path):
    one = synthetic_run(tmp_path / "x" / "grpo-seed0", "grpo", lr=1e-3)
    other = synthetic_run(tmp_path / "y" / "grpo-seed0", "grpo", lr=1e-4)
    methods = methods_of([load_training(one), load_training(other)])
    assert [method.label for method in methods] == ["grpo (1)", "grpo (2)"]


def test_seeds_with_a_start_each_are_one_method(tmp_path):
    folders = [synthetic_run(tmp_path / f"grpo-seed{seed}", "grpo", seed) for seed in range(3)]
    for seed, folder in enumerate(folders):
        recipe = json.loads((folder / "training.json").read_text())
        start = {"setup": recipe["setup"] | {"model": "tiny"}, "config": asdict(preset("sft"))}
        recipe["setup"] |= {"model": f"/far/start-{seed}/model", "start": start}
        (folder / "training.json").write_text(json.dumps(recipe))
    assert [len(method.runs) for method in methods_of([load_training(folder) for folder in folders])] == [3]


def test_models_whose_names_end_alike_are_two_methods(tmp_path):
    methods = [synthetic_run(tmp_path / f"grpo-{size}", "grpo", place) for place, size in enumerate(("1.7B", "4B"))]
    for folder in methods:
        recipe = json.loads((folder / "training.json").read_text())
        recipe["setup"]["model"] = f"Qwen/Qwen3-{folder.name.removeprefix('grpo-')}"
        (folder / "training.json").write_text(json.dumps(recipe))
    assert len(methods_of([load_training(folder) for folder in methods])) == 2


def test_the_same_run_twice_is_refused(tmp_path):
    folder = synthetic_run(tmp_path / "run")
    with pytest.raises(ResultsError, match="leave one of them out"):
        methods_of([load_training(folder)] * 2)


@pytest.mark.parametrize(("n", "t"), [(2, 12.7062), (3, 4.3027), (4, 3.1824), (6, 2.5706), (11, 2.2281), (31, 2.0423)])
def test_t_interval_has_the_quantiles_of_the_tables(n, t):
    values = list(range(n))
    found = t_interval(values)
    assert found is not None
    assert found.high - found.value == pytest.approx(t * np.std(values, ddof=1) / math.sqrt(n), rel=5e-5)


def test_one_seed_has_no_interval():
    assert t_interval([0.5]) is None


def test_numbers_over_seeds(several):
    numbers = training_numbers(methods_of([load_training(folder) for folder in several]))
    grpo, eapo = numbers["methods"]
    assert numbers["baseline"] == "grpo"
    assert grpo["difference"] is None
    assert eapo["difference"]["seeds"] == [1, 2]
    expected = [eapo["success"]["by_seed"][seed] - grpo["success"]["by_seed"][seed] for seed in "12"]
    assert eapo["difference"]["mean"] == pytest.approx(np.mean(expected))
    assert 0 <= grpo["success"]["low"] <= grpo["success"]["mean"] <= grpo["success"]["high"] <= 1
    assert eapo["settings"]["fallback"] == {"value": ["state", "task"], "default": []}
    with pytest.raises(ResultsError, match="baseline of grpo, eapo"):
        training_numbers(methods_of([load_training(folder) for folder in several]), "ppo")


# -- the page ---------------------------------------------------------------------------------------------


def test_the_page_of_one_run(tmp_path):
    out = tmp_path / "report.html"
    write_training_report([synthetic_run(tmp_path / "run")], out)
    page = Page(out)
    assert page.fetched == []
    assert "script" not in page.tags  # the version in ATTACK is text
    assert ATTACK in page.words
    assert "generated data, not the official benchmark" in page.words
    assert "First evaluation" in page.words
    assert "72% of transitions are alone" in page.words
    assert page.tags.count("svg") == 13
    assert "#06" not in out.read_text("utf-8")  # colours of the drawing are replaced


def test_the_page_of_several_runs(several, tmp_path):
    out = tmp_path / "new" / "training.html"
    write_training_report(several, out, baseline="eapo")
    words = Page(out).words
    assert "Difference to eapo" in words
    assert "seed 2:" in words
    assert "2 common seeds" in words
    assert "Band: smallest to largest of the seeds (n = 2 to 3)" in words


def test_a_run_that_has_just_begun(tmp_path):
    folder = synthetic_run(tmp_path / "run", done=0)
    for name in ("metrics.jsonl", "evaluations.jsonl"):
        (folder / name).unlink()
    write_training_report([folder], tmp_path / "report.html")
    assert "not finished: 0 of 20 iterations" in Page(tmp_path / "report.html").words


def test_official_games_are_not_called_generated(tmp_path):
    numbers = write_training_report([synthetic_run(tmp_path / "run", data="official")], tmp_path / "report.html")
    assert not any(label.startswith("generated") for label in numbers["data"])
    assert "not the official benchmark" not in Page(tmp_path / "report.html").words


# -- the command ------------------------------------------------------------------------------------------


def test_report_knows_a_training_run(tmp_path):
    folder = synthetic_run(tmp_path / "run")
    result = call(folder)
    assert "20/20" in result.stdout
    assert "not comparable with published scores" in result.stdout
    assert (folder / "report.html").exists()


def test_report_of_several_as_json(several, tmp_path):
    found = json.loads(call(*several, "--json", "--baseline", "eapo").stdout)
    assert found["html"] == str(tmp_path / "training.html")
    assert (tmp_path / "training.html").exists()
    assert len(found["runs"]) == 5
    assert {"folder", "evaluations", "alarms", "seed"} <= found["runs"][0].keys()
    assert found["methods"][0]["difference"]["n"] == 2
    assert "Against grpo (points)" in call(*several, "--no-html").stdout


def test_training_runs_and_others_are_not_mixed(tmp_path):
    (tmp_path / "other").mkdir()
    assert "one kind at a time" in call(synthetic_run(tmp_path / "run"), tmp_path / "other", code=2).stderr
