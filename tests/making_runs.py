"""Parts of training runs for tests, as small as can be; importable from other processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from backtrail.agents.explorer import BriefExplorer
from backtrail.agents.models.base import Model, Sampling
from backtrail.agents.models.hf_load import Loaded, load
from backtrail.agents.sge import Plan
from backtrail.training.collect import Job, Rollouts, collect
from backtrail.training.config import Config
from backtrail.training.metrics import read_metrics
from backtrail.training.presets import preset
from backtrail.training.run import Setup
from backtrail.training.workers import EnvRecipe, Serial, Workers

SMALL = {"data": "generated-small"}
RECIPE = EnvRecipe("backtrail/ALFWorld-v0", SMALL, max_steps=4)
SAMPLING = Sampling(1.0, max_tokens=40)


def loaded(folder: Path) -> Loaded:
    """Return a model of a folder's weights on the CPU, a new one each time."""
    return load(str(folder), "cpu", "auto", None, True)


def roll(
    model: Model,
    jobs: Sequence[Job],
    workers: Workers | None = None,
    *,
    plan: Callable[[str, Job], Plan] = lambda task_id, job: Plan(SAMPLING),
    attempts: int = 1,
) -> Rollouts:
    """Make rollouts of the brief explorer in small rooms."""
    with workers or Serial(RECIPE, 4) as open_workers:
        return collect(jobs, open_workers, model, make_agent, plan, attempts=attempts)


def make_agent(model: Model, sampling: Sampling) -> BriefExplorer:
    return BriefExplorer(model, sampling, benchmark="alfworld")


def jobs(number: int) -> list[Job]:
    """Return jobs of two rollouts for each task."""
    return [Job(f"episode {place}", seed=place // 2, draw=100 + place) for place in range(number)]


def setup(model: Path, **changes: Any) -> Setup:
    """Return what a run of a few seconds trains on what."""
    return replace(Setup(model=str(model), train=SMALL, evaluate={**SMALL, "split": "valid_seen"}, slots=8), **changes)


def quick(name: str, **changes: Any) -> Config:
    """Return a method's settings, but for a run of a few seconds."""
    few: dict[str, Any] = {
        "tasks": 2,
        "group": 2,
        "max_steps": 3,
        "max_tokens": 32,
        "iterations": 2,
        "minibatches": 1,
        "sft_steps": 0,
        "sft_batch": 2,
        "demonstrations": 2,
        "rollback_pairs": 6,
        "alpha_format": 0.1,  # so few steps succeed at nothing, and success alone would teach nothing
        "eval_every": 1,
        "eval_episodes": 2,
        "save_every": 1,
    }
    return preset(name, **(few | changes))


def told(folder: Path, *without: str) -> list[dict[str, Any]]:
    """Return the rows of metrics without what no two runs have in common: times, and the rounding of the sampler."""
    return [
        {
            name: value
            for name, value in row.items()
            if not name.startswith("seconds") and name not in ("probe", *without)
        }
        for row in read_metrics(folder / "metrics.jsonl")
    ]


def train_until(setup: Setup, config: Config, folder: Path, module: str, name: str, call: int) -> None:
    """Train, and die as from kill -9 when a function is called for the so-manieth time; with "" to the end.

    Args:
        setup: See `train`.
        config: See `train`.
        folder: See `train`.
        module: Of `backtrail.training`, where the function is looked up; "progress" for the callback of a stage.
        name: The function, or the stage.
        call: From 1.
    """
    import importlib

    import torch

    from backtrail.training import pipeline

    torch.set_num_threads(1)
    pipeline.SAVE_IMITATION_EVERY = 1
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)

    if module and module != "progress":
        where = importlib.import_module(f"backtrail.training.{module}")
        original = vars(where)[name]

        def patched(*args: Any, **options: Any) -> Any:
            count()
            return original(*args, **options)

        setattr(where, name, patched)

    def progress(stage: str, done: int, total: int, values: Any) -> None:
        if module == "progress" and stage == name:
            count()

    pipeline.train(setup, config, folder, progress=progress)
