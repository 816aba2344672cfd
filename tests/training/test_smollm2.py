"""A real pretrained model goes through imitation and an update of EAPO: real chat template, real BPE, LoRA."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft")

from making_runs import SMALL, setup
from smollm2 import build_smollm2

from backtrail.training.config import Config
from backtrail.training.metrics import read_metrics
from backtrail.training.pipeline import train
from backtrail.training.presets import preset
from backtrail.training.transition import load_transitions

TOLERANCE = 1e-3  # nats: the difference of two orders of summing in float32, through thirty layers
SETUP: dict[str, Any] = {"slots": 4, "keep_rollouts": True, "evaluate": {**SMALL, "split": "valid_seen"}}


def settings(name: str, **changes: Any) -> Config:
    """Return a method's settings, but for a run of minutes with a real model on one core."""
    few: dict[str, Any] = {
        "tasks": 2,
        "group": 2,
        "max_steps": 2,
        "max_tokens": 80,  # what is demonstrated has up to 68
        "iterations": 1,
        "minibatches": 1,
        "lora_rank": 4,
        "posterior_rank": 4,
        "micro_tokens": 1024,
        "sft_steps": 8,
        "sft_batch": 2,
        "sft_lr": 0.06,  # it is still rising when these steps are over
        "demonstrations": 1,
        "rollback_steps": 0,
        "eval_every": 0,
        "eval_episodes": 1,
        "probe_tolerance": TOLERANCE,
    }
    return preset(name, **(few | changes))


@pytest.mark.slow
def test_a_real_model_is_imitated_and_updated(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    what, config = setup(build_smollm2(), **SETUP), settings("eapo")
    folder = tmp_path / "run"
    model = train(what, config, folder)

    rows = read_metrics(folder / "metrics.jsonl")
    (imitated,) = [row for row in rows if row["stage"] == "sft"]
    (updated,) = [row for row in rows if row["stage"] == "rl"]
    assert math.isfinite(imitated["loss"]) and math.isfinite(updated["loss"])
    assert 0 < updated["probe"] < TOLERANCE
    assert {f"seconds/{name}" for name in ("environment", "generation", "update")} <= updated.keys()
    assert updated["trajectories"] == config.tasks * config.group

    steps, columns = load_transitions(folder / "rollouts" / "000000.jsonl")
    assert all(step.prompt_ids and step.token_ids for step in steps)
    before, after = (load_file(path / "model.safetensors") for path in (folder / "start", model))
    assert before.keys() == after.keys()
    assert updated["rows"] == sum(value != 0 for value in columns["advantage"]) > 0
    assert any(not before[name].equal(after[name]) for name in before)

    lines = (folder / "metrics.jsonl").read_bytes()
    assert train(what, config, folder) == model  # resumes behind its last iteration
    assert (folder / "metrics.jsonl").read_bytes() == lines
    with pytest.raises(ValueError, match="same settings"):
        train(what, replace(config, lr=1.0), folder)
