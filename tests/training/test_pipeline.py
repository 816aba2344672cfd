"""Whole runs: each method goes through, and a run that is killed, at any point, ends as one that was not."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

from making_runs import loaded, quick, setup, told, train_until

from backtrail.training.checkpoint import latest, load_checkpoint, read_state
from backtrail.training.config import Config
from backtrail.training.learner import Learner
from backtrail.training.metrics import read_metrics
from backtrail.training.pipeline import train
from backtrail.training.presets import PRESETS
from backtrail.training.run import Setup
from backtrail.training.transition import load_transitions

TO_THE_END = ("", "", 0)
KILLS = [
    ("pipeline", "_rows", 1),  # nothing is done yet
    ("progress", "sft", 1),
    ("pipeline", "save_checkpoint", 1),
    ("progress", "rollback", 1),
    ("pipeline", "_measure", 1),  # the last: the first was before the stage's first checkpoint
    ("grpo", "probe", 1),  # directly after collecting
    ("grpo", "save_checkpoint", 1),  # between evaluation and checkpoint
    ("progress", "rl", 1),
    ("grpo", "improve", 2),
    ("progress", "rl", 3),  # an iteration after a checkpoint
    ("pipeline", "save_model", 1),  # all is done but for the model's folder
]
"""Where a run is killed, again and again: the so-manieth call, since it was resumed, of a function."""


Training = Callable[[Setup, Config, Path, tuple[str, str, int]], int | None]


@pytest.fixture(scope="module")
def training() -> Training:
    """Train in a process of its own, and say how it ended."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["peft", "backtrail.training.pipeline"])  # imported once, not once a process

    def run(setup: Setup, config: Config, folder: Path, kill: tuple[str, str, int]) -> int | None:
        process = context.Process(target=train_until, args=(setup, config, folder, *kill))
        process.start()
        process.join(300)
        return process.exitcode

    return run


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of the last checkpoint and of the model, by their path."""
    checkpoint = latest(folder / "checkpoints")
    assert checkpoint is not None
    return {
        f"{root.name}/{path.relative_to(root)}": path.read_bytes()
        for root in (checkpoint, folder / "model")
        for path in root.rglob("*.safetensors" if root is checkpoint else "model.safetensors")
    }


# ---- each method


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_method_trains_from_start_to_end(name: str, warm: Path, tmp_path: Path):
    calls: list[tuple[str, int, int]] = []
    config = quick(name, sft_steps=1, rollback_steps=1)
    setting = setup(warm, keep_rollouts=True)
    folder = tmp_path / "run"
    model = train(setting, config, folder, progress=lambda stage, done, total, _: calls.append((stage, done, total)))
    assert calls == [("sft", 1, 1), ("rollback", 1, 1), ("rl", 1, 2), ("rl", 2, 2)]
    rows = read_metrics(folder / "metrics.jsonl")
    assert [(row["stage"], row["iteration"]) for row in rows] == [
        ("sft", 0),
        ("rollback-evaluation", 0),
        ("rollback", 0),
        ("rollback-evaluation", 1),
        ("rl-evaluation", 0),
        ("rl", 0),
        ("rl-evaluation", 1),
        ("rl", 1),
        ("rl-evaluation", 2),
    ]
    assert all(row["probe"] < 1e-4 for row in rows if row["stage"] == "rl")
    assert [row["iteration"] for row in lines(folder / "evaluations.jsonl")] == [0, 1, 2]
    steps, columns = load_transitions(folder / "rollouts" / "000001.jsonl")
    assert columns.keys() == {"advantage", "reward_task", "reward_format", "reward_explore", "reward_overlong"}
    assert any(step.explore for step in steps), "the texts are those of the agent"
    assert any(step.reflection for step in steps) == (name == "lamer")
    before, after = (loaded(path).model.state_dict() for path in (folder / "start", model))
    assert any(not torch.equal(before[key], after[key]) for key in before), "the loop learned"
    assert train(setting, config, folder) == model and read_metrics(folder / "metrics.jsonl") == rows, "done is done"


@pytest.mark.slow
def test_an_adapter_trains_through_all_stages(warm: Path, tmp_path: Path):
    config = quick("grpo", sft_steps=1, rollback_steps=1, lora_rank=4, kl=0.1)
    model = train(setup(warm), config, tmp_path / "run")
    start, end, first = (loaded(path).model.state_dict() for path in (tmp_path / "run" / "start", model, warm))
    assert start.keys() == end.keys() == first.keys()
    assert any(not torch.equal(first[name], start[name]) for name in first)
    assert any(not torch.equal(start[name], end[name]) for name in first)


# ---- stopped and resumed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grpo", "eapo", "sge"])
def test_a_run_killed_at_many_points_ends_as_one_that_was_not(
    name: str, warm: Path, tmp_path: Path, training: Training
):
    gentle = {"sft_lr": 1e-5, "rollback_lr": 1e-5, "max_tokens": 48}  # what the model can do is not lost
    setting, config = setup(warm), quick(name, sft_steps=2, rollback_steps=2, iterations=4, save_every=2, **gentle)
    assert training(setting, config, tmp_path / "calm", TO_THE_END) == 0
    for kill in KILLS:
        assert training(setting, config, tmp_path / "killed", kill) == -signal.SIGKILL, kill
    assert training(setting, config, tmp_path / "killed", TO_THE_END) == 0
    calm, killed = files(tmp_path / "calm"), files(tmp_path / "killed")
    assert calm.keys() == killed.keys() and [key for key in calm if calm[key] != killed[key]] == []
    assert told(tmp_path / "calm") == told(tmp_path / "killed")
    evaluations = [lines(tmp_path / run / "evaluations.jsonl") for run in ("calm", "killed")]
    assert evaluations[0] == evaluations[1] and [row["iteration"] for row in evaluations[0]] == [0, 1, 2, 3, 4]
    states = [read_state(path) for run in ("calm", "killed") if (path := latest(tmp_path / run / "checkpoints"))]
    assert states[0] == states[1] and states[0]["done"] == 4
    if name == "eapo":
        assert any("posterior" in key for key in calm)
    if name == "sge":
        kept = [(tmp_path / run / "checkpoints").glob("*/strategies.json") for run in ("calm", "killed")]
        calm_text, killed_text = (max(paths).read_text("utf-8") for paths in kept)
        assert calm_text == killed_text and json.loads(calm_text)["buffers"]
    rows = [row for row in told(tmp_path / "calm") if row["stage"] == "rl"]
    assert any(row["rows"] > 0 for row in rows), "there was something to learn"


def test_a_folder_of_another_run_is_refused(warm: Path, tmp_path: Path):
    config = quick("grpo", iterations=0, eval_episodes=1)
    train(setup(warm), config, tmp_path / "run")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    for setting, other in (
        (setup(warm, seed=1), config),
        (setup(warm), quick("grpo", iterations=0, eval_episodes=1, lr=1.0)),
    ):
        with pytest.raises(ValueError, match="Expected a new folder, or the same settings"):
            train(setting, other, tmp_path / "run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(ValueError, match="Expected a new or empty folder"):
        train(setup(warm), config, tmp_path / "full")
    assert {path: path.read_bytes() for path in before} == before


# ---- damaged checkpoints


@pytest.fixture(scope="module")
def finished(warm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of SGE with two checkpoints."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    train(setup(warm), quick("sge", eval_every=0, dynamic_sampling=0), folder)
    return folder


@pytest.mark.parametrize("file", ["state.json", "weights.safetensors", "optimizer.safetensors", "strategies.json"])
@pytest.mark.parametrize("how", ["missing", "cut in half"])
def test_a_damaged_checkpoint_is_an_error_that_says_what_to_do(
    finished: Path, warm: Path, tmp_path: Path, file: str, how: str
):
    """An interrupted write leaves a ``.part`` only, so damage means a broken disk: a person should know."""
    path = latest(finished / "checkpoints")
    assert path is not None
    copy = tmp_path / "checkpoints" / path.name
    copy.mkdir(parents=True)
    for each in path.iterdir():
        if each.name != file:
            (copy / each.name).write_bytes(each.read_bytes())
        elif how == "cut in half":
            (copy / each.name).write_bytes(each.read_bytes()[: each.stat().st_size // 2])
    with pytest.raises(ValueError, match=r"Expected .*" + path.name):
        load_checkpoint(copy, Learner(loaded(warm), Config()))


def test_a_checkpoint_of_another_model_is_refused(finished: Path, warm: Path):
    path = latest(finished / "checkpoints")
    assert path is not None
    with pytest.raises(ValueError, match="of this model"):
        load_checkpoint(path, Learner(loaded(warm), Config(lora_rank=2)))


def test_a_draft_is_no_checkpoint_and_the_last_two_are_kept(finished: Path):
    checkpoints = finished / "checkpoints"
    newest = latest(checkpoints)
    (checkpoints / "000009.part").mkdir()
    assert latest(checkpoints) == newest and latest(finished / "none") is None
    assert sorted(path.name for path in checkpoints.iterdir() if path.name.isdigit()) == ["000001", "000002"]


def test_without_the_newest_the_run_goes_on_from_the_one_before(finished: Path, warm: Path):
    newest = latest(finished / "checkpoints")
    assert newest is not None
    weights, rows = (newest / "weights.safetensors").read_bytes(), told(finished)
    shutil.rmtree(newest)
    train(setup(warm), quick("sge", eval_every=0, dynamic_sampling=0), finished)
    again = latest(finished / "checkpoints")
    assert again is not None and (again / "weights.safetensors").read_bytes() == weights and told(finished) == rows
