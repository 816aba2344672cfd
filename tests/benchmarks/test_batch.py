"""Model agents in a run: many environments, one call; faults cost one episode; the recipe says how it was sampled."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from backtrail.agents.models import Completion, Model, ModelError, Sampling
from backtrail.agents.models.base import Prompt
from backtrail.benchmarks.batch import play_batched
from backtrail.benchmarks.commands import app
from backtrail.benchmarks.plan import plan
from backtrail.benchmarks.recipe import RunConfig
from backtrail.benchmarks.results import RunFolder
from backtrail.benchmarks.runner import run

ID = "backtrail/ALFWorld-v0"


class Scripted(Model):
    """Answers with one of a few actions, by the seed of the request; says how many prompts came at a time."""

    name = "scripted"

    def __init__(self, fault: str = ""):
        self.details: dict[str, Any] = {}
        self.calls: list[int] = []
        self.fault = fault

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
        self.calls.append(len(prompts))
        if self.fault and any(self.fault in prompt[-1].content for prompt in prompts):
            raise ModelError("the server does not answer")
        return [self._answer(each) for each in sampling]

    def _answer(self, sampling: Sampling) -> Completion:
        action = ("look", "inventory", "go to nowhere 1", "rollback")[(sampling.seed or 0) % 4]
        text = (
            f"<explore>what is behind the door</explore><memory>seed {sampling.seed}</memory><action>{action}</action>"
        )
        return Completion(text, "stop", 100, 10, 0.0)


def config(n: int = 6, **kwargs: Any) -> RunConfig:
    agent = {"name": "explorer", "options": {"model": "tiny", "show_admissible": False}}
    return plan("run", ID, agent, limit=n, max_steps=5, sampling={"temperature": 0.7}, **kwargs)


def rows(found: list[Any]) -> list[dict[str, Any]]:
    kept = [{key: value for key, value in outcome.row.items() if key != "time"} for outcome in found]
    return sorted(kept, key=lambda row: row["episode"])


def test_the_outcome_does_not_depend_on_the_batch(tmp_path: Path) -> None:
    recipe = config(rollback_methods=["act"])
    found = {}
    for batch in (1, 4, 64):
        model = Scripted()
        found[batch] = rows(
            list(play_batched(recipe, tmp_path / f"{batch}" / "steps", recipe.episodes(), model, batch))
        )
        assert max(model.calls) == min(batch, 6) and sum(model.calls) == 6 * 5
    assert found[1] == found[4] == found[64]
    assert all(
        row["steps"] == 5 and row["usage"] == {"prompt_tokens": 500, "completion_tokens": 50} for row in found[1]
    )


def test_a_fault_of_one_answer_costs_one_episode(tmp_path: Path) -> None:
    recipe = config()
    goals = {}
    import gymnasium as gym

    for task in recipe.tasks:
        goals[task] = gym.make(ID, **recipe.env_kwargs).reset(options={"task_id": task})[0]["goal"]
    unlucky = recipe.tasks[2]
    model = Scripted(fault=goals[unlucky])
    found = list(play_batched(recipe, tmp_path / "steps", recipe.episodes(), model, 4))
    failed = [outcome.row for outcome in found if not outcome.finished]
    assert {row["task_id"] for row in failed} == {task for task, goal in goals.items() if goal == goals[unlucky]}
    assert all("the server does not answer" in row["error"] for row in failed)
    assert sum(outcome.finished for outcome in found) == 6 - len(failed)


def test_a_run_keeps_prompts_sampling_and_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backtrail.agents.models.load.load_model", lambda spec, **options: Scripted())
    recipe = config(3)
    assert recipe.prompt_hash and len(recipe.prompt_hash) == 64 and recipe.sampling == {"temperature": 0.7}
    found = run(recipe, tmp_path, batch=2)
    assert found["usage"]["completion_tokens"] == 3 * 5 * 10 and found["time"]["tokens_per_second"] > 0
    kept = RunFolder.open(tmp_path / "run")
    note = json.loads((tmp_path / "run" / kept.episodes[0]["steps_file"]).read_text().splitlines()[1])["note"]
    assert note["explore"] == "what is behind the door" and note["valid"] and note["memory"].startswith("seed")


class Flaky(BaseHTTPRequestHandler):
    """A chat server that gives the answers of a broken one until it is mended."""

    broken = ""
    asked = 0

    def do_POST(self) -> None:
        type(self).asked += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        text = "<explore>e</explore><memory>m</memory><action>look</action>"
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop", "index": 0}
        whole = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 5}}).encode()
        empty = json.dumps({"choices": [], "usage": {}}).encode()
        body = {"": whole, "malformed": whole[:-9], "empty": empty, "429": b"{}", "500": b"{}", "cut": whole}[
            self.broken
        ]
        self.send_response(int(self.broken) if self.broken.isdigit() else 200)
        self.send_header("Content-Length", str(len(body) + 50 * (self.broken == "cut")))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.parametrize("fault", ["malformed", "empty", "429", "500", "cut", "down"])
def test_a_broken_server_costs_no_score_and_the_run_goes_on_when_it_is_mended(tmp_path: Path, fault: str) -> None:
    pytest.importorskip("httpx")

    class Handler(Flaky):
        broken = "" if fault == "down" else fault

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_port}/v1"
    if fault == "down":
        server.server_close()
    else:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    options = {"base_url": address, "retries": 1, "backoff": 0.01}
    agent = {"name": "explorer", "options": {"model": "openai:flaky", "model_options": options}}
    recipe = plan("run", ID, agent, limit=3, max_steps=2, sampling={"temperature": 0.0})
    found = run(recipe, tmp_path)
    assert (found["episodes"], found["failures"], found["success"]["value"]) == (0, 3, None), "a fault is no score"
    assert all("ModelError" in row["error"] for row in RunFolder.open(tmp_path / "run").failures)
    if fault == "down":
        server = ThreadingHTTPServer(("127.0.0.1", int(address.rpartition(":")[2].removesuffix("/v1"))), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    else:
        assert Handler.asked >= 3 * 2, "a fault is tried again"
    Handler.broken = ""
    found = run(recipe, tmp_path, resume=True)
    server.shutdown()
    server.server_close()
    assert (found["episodes"], found["failures"]) == (3, 0)
    assert found["format_valid_rate"] == 1.0 and found["usage"] == {"completion_tokens": 30, "prompt_tokens": 54}


def test_the_command_says_what_is_missing() -> None:
    def said(*words: str) -> str:
        result = CliRunner().invoke(app, ["run", "alfworld", *words])
        assert result.exit_code in (1, 2)
        return result.stderr

    assert "add --model" in said("--agent", "explorer")
    assert "are for explorer, brief, react, direct" in said("--agent", "random", "--model", "tiny")
    assert "are for openai" in said("--agent", "react", "--model", "tiny", "--base-url", "http://127.0.0.1:1/v1")
    assert "strategy first" in said("--agent", "react", "--model", "tiny", "--sge")
    assert "two prices" in said("--agent", "react", "--model", "openai:x", "--prices", "cheap")


@pytest.mark.slow
def test_the_tiny_model_plays_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    words = [
        "run",
        "alfworld",
        "--agent",
        "explorer",
        "--model",
        "tiny",
        "-n",
        "3",
        "--max-steps",
        "2",
        "--max-tokens",
        "12",
    ]
    kept = []
    for batch in ("1", "3"):
        name = f"batch{batch}"
        options = ["--temperature", "0", "--batch", batch, "--name", name, "--json"]
        result = CliRunner().invoke(app, [*words, *options], catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        summary = json.loads(result.stdout)["summary"]
        assert summary["episodes"] == 3 and summary["usage"]["completion_tokens"] > 0
        steps = sorted((tmp_path / "runs" / name / "steps").glob("*.jsonl"))
        kept.append([[json.loads(line).get("note") for line in path.read_text().splitlines()] for path in steps])
    assert kept[0] == kept[1], "greedy answers depend on the batch"
    sge = CliRunner().invoke(app, [*words, "--sge", "--name", "sge", "--json"], catch_exceptions=False)
    sampling = json.loads(sge.stdout)["config"]["sampling"]
    assert (
        sampling["mixed"] == {"open": "<explore>", "close": "</explore>", "hot": 1.0} and sampling["temperature"] == 0.6
    )
