"""The training report, on run folders that are made up here: they look like a trainer's, their numbers mean nothing."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from backtrail.benchmarks.commands import app
from backtrail.benchmarks.results import ResultsError
from backtrail.benchmarks.statistics import wilson
from backtrail.benchmarks.training_report import load_training, training_numbers, write_training_report
from backtrail.benchmarks.training_runs import alarm_kind, methods_of, t_interval
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
        kinds = {kind: {"verified": round(20 * share) - place, "shown": 20, "low": 0, "high": 1} for place, kind in enumerate(("close", "go", "open", "take"))}
        kinds = {kind: {**rate, "verified": max(0, rate["verified"])} for kind, rate in kinds.items()}
        rows.append({"stage": "rollback-evaluation", "iteration": step, "kinds": kinds})
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
        row |= scores | {"explore/auc": 0.5 + 0.3 * share, "seconds/posterior_score": 2.0, "seconds/posterior_update": 1.0}
    return row
