"""`backtrail train`: settings are read by their type, a run trains, goes on and is reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from backtrail.benchmarks.commands import app
from backtrail.benchmarks.commands.settings import read_settings
from backtrail.training.presets import PRESETS, TINY

SMALL = (
    "rollback_steps=2", "rollback_pairs=20", "sft_steps=3", "sft_batch=4", "demonstrations=5", "iterations=1", "tasks=2", "group=2", "eval_episodes=4", "max_steps=5",
)  # fmt: skip
ALFWORLD = ("train", "alfworld", "--preset", "eapo", "--model", "tiny")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    for name in ("WORLD_SIZE", "RANK", "ALFWORLD_DATA"):
        monkeypatch.delenv(name, raising=False)


def call(*words: str, code: int = 0):
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == code, f"{result.stdout}\n{result.stderr}"
    assert "Traceback" not in result.output
    return result


# -- settings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("tasks=4", 4),
        ("lr=1e-4", 1e-4),
        ("kl = 1", 1.0),
        ("gate=false", False),
        ("returns=to_go", "to_go"),
        ("explore_temperature=none", None),
        ("explore_temperature=1.2", 1.2),
        ("groups=task:1,state:0.5", (("task", 1.0), ("state", 0.5))),
        ("groups=state_visits", (("state_visits", 1.0),)),
        ("fallback=state,task", ("state", "task")),
        ("fallback=none", ()),
    ],
)
def test_a_setting_is_read_by_its_type(word, value):
    (found,) = read_settings([word]).values()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("grup=4", "There is no setting 'grup': did you mean group"),
        ("temp=1", "temperature, explore_temperature"),
        ("zzz=1", "expected one of tasks, group"),
        ("tasks", "KEY=VALUE"),
        ("tasks=many", "a whole number of at least 0"),
        ("tasks=1.5", "a whole number of at least 0"),
        ("tasks=-1", "a whole number of at least 0"),
        ("lr=nan", "a number of at least 0"),
        ("gate=perhaps", "true or false"),
        ("returns=never", "one of episode, to_go, lamer"),
        ("groups=room:1", "task, task_attempt, state"),
        ("groups=task:heavy", r"with weights \(task:1,state:1\)"),
        ("fallback=state:1", r"none or some of task, .*\(state,task\)"),
        ("explore_temperature=hot", "none or a number"),
    ],
)
def test_a_wrong_setting_is_refused(word, message):
    with pytest.raises(ValueError, match=message):
        read_settings([word])


def test_a_setting_is_given_once():
    with pytest.raises(ValueError, match="tasks twice"):
        read_settings(["tasks=1", "tasks=2"])


@pytest.mark.parametrize("name", PRESETS)
def test_all_presets_are_in_the_help(name):
    assert name in "".join(call("train", "--help").stdout.split())  # a line may end at a hyphen


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train", "minigrid", "--preset", "eapo"), "Unknown environment 'minigrid'"),
        (("train", "alfworld", "--preset", "ppo"), "Expected a preset of sft, grpo"),
        ((*ALFWORLD, "--set", "grup=1"), "did you mean group"),
        ((*ALFWORLD, "--iterations", "2", "--set", "iterations=3"), "leave one out"),
        (
            (*ALFWORLD, "--types", "cooking"),
            "Expected --types to be one of look_at_obj_in_light, pick_and_place_simple",
        ),
        ((*ALFWORLD, "--evaluate-split", "test"), "Expected --evaluate-split to be one of train"),
        ((*ALFWORLD, "--workers", "many"), "serial, processes, threads"),
        ((*ALFWORLD, "--generator", "gpt"), "hf, vllm"),
        ((*ALFWORLD, "--agent", "react"), "brief, explorer"),
    ],
)
def test_a_wrong_word_is_answered_in_a_line_and_nothing_is_written(words, message):
    result = call(*words, code=2)
    assert message in result.stderr
    assert result.stdout == ""
    assert not Path("runs").exists()


def test_a_benchmark_that_nobody_demonstrates_needs_a_model_that_knows_it():
    pytest.importorskip("torch")
    assert "leave the warm start out" in call("train", "webshop", "--preset", "eapo", code=2).stderr
    assert not Path("runs").exists()


def test_without_torch_it_says_what_to_install(tmp_path):
    before = "import sys; sys.modules['torch'] = None; "
    code = before + "from backtrail.benchmarks.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *ALFWORLD], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 1
    assert 'pip install "backtrail[' in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


# -- training ---------------------------------------------------------------------------------------------


def test_a_run_trains_goes_on_and_is_reported(tmp_path):
    pytest.importorskip("torch")
    words = (*ALFWORLD, "--seed", "3", "--set", *SMALL)
    result = call(*words, "--json")
    found = json.loads(result.stdout)
    folder = Path("runs/alfworld-eapo-tiny-seed3")
    assert found["folder"] == str(folder)
    assert [stage["stage"] for stage in found["stages"]] == ["sft", "rollback", "rl"]
    assert found["stages"][2]["before"]["n"] == found["stages"][2]["after"]["n"] == 4
    assert all(stage["seconds"] > 0 for stage in found["stages"])
    assert set(found["stages"][2]["after"]["success"]) == {"value", "low", "high"}
    (run,) = found["runs"]
    assert (run["seed"], run["iterations"], run["finished"]) == (3, 1, True)
    assert found["data"] == [
        "generated-small/train/pick_and_place_simple",
        "generated-small/valid_unseen/pick_and_place_simple",
    ]
    assert "After 1 update: " in result.stderr
    assert "shards" not in result.stderr
    assert (folder / "model" / "config.json").exists()
    assert "Backtrail training report" in Path(found["report"]).read_text("utf-8")
    config = json.loads((folder / "training.json").read_text())["config"]
    assert config["explore"] == "posterior"  # the preset's
    assert config["sft_steps"] == 3  # over what suits the tiny model

    assert "--resume" in call(*words, code=2).stderr
    metrics = (folder / "metrics.jsonl").read_text()
    result = call(*words, "--resume")
    assert (folder / "metrics.jsonl").read_text() == metrics  # all was done
    assert "not comparable with published scores" in result.stdout
    assert f"Report: {folder / 'report.html'}" in result.stderr
    other = call(*words, "gamma=0.5", "--resume", code=2)
    assert "same settings" in other.stderr


def test_ctrl_c_ends_politely_and_the_run_goes_on(monkeypatch):
    pytest.importorskip("torch")
    from backtrail.training import pipeline

    whole = pipeline.grpo

    def stopped(*arguments):
        raise KeyboardInterrupt

    words = (*ALFWORLD, "--name", "mine", "--set", *SMALL, "explore=none")
    monkeypatch.setattr(pipeline, "grpo", stopped)
    assert "Stopped; go on with --resume" in call(*words, code=130).stderr
    monkeypatch.setattr(pipeline, "grpo", whole)
    found = json.loads(call(*words, "--resume", "--json").stdout)
    assert found["runs"][0]["finished"]
    assert found["stages"][0]["seconds"] is None  # done before


def test_a_fault_leaves_its_traceback_in_the_folder(monkeypatch):
    pytest.importorskip("torch")
    from backtrail.training import pipeline

    def lost(*arguments):
        raise RuntimeError("every rollout was lost")

    monkeypatch.setattr(pipeline, "grpo", lost)
    result = call(*ALFWORLD, "--name", "mine", "--set", *SMALL, "explore=none", code=1)
    assert "every rollout was lost" in result.stderr
    assert "RuntimeError" in Path("runs/mine/failure.txt").read_text()


def test_a_model_that_cannot_be_read_leaves_no_folder(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "empty").mkdir()
    result = call("train", "alfworld", "--preset", "grpo", "--model", "empty", "--set", *SMALL, code=2)
    assert "empty" in result.stderr
    assert not any((tmp_path / "runs").iterdir())


def test_a_run_begins_with_the_model_of_another(tmp_path):
    pytest.importorskip("torch")
    call(
        *ALFWORLD[:2],
        "--preset",
        "sft",
        "--name",
        "start",
        *SMALL[2:5],
        "eval_episodes=2",
        "rollback_steps=0",
        "max_steps=4",
    )
    begun = call(*ALFWORLD[:2], "--preset", "grpo", "--start", "runs/start", "--name", "on", *SMALL[5:], "--json")
    recipe = json.loads(Path("runs/on/training.json").read_text("utf-8"))
    assert recipe["setup"]["model"] == str(tmp_path / "runs/start/model") and recipe["setup"]["agent"] == "brief"
    assert recipe["config"]["sft_steps"] == recipe["config"]["rollback_steps"] == 0
    assert recipe["config"]["micro_tokens"] == TINY["micro_tokens"], "the tiny model's settings go along"
    assert json.loads(begun.stdout)["folder"] == "runs/on"
    refused = call(*ALFWORLD[:2], "--preset", "grpo", "--start", "runs/none", code=2)
    assert "finished training run" in refused.stderr
