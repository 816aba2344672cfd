"""Where the time of an update goes, and what EAPO costs over GRPO: ``python -m backtrail.benchmarks.speed.training``.

Both methods train from one model on the same tasks, alternately in one process; the medians of the updates after the first
are shown. Timings depend on the machine and on what else runs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backtrail.training import Setup, preset, train
from backtrail.training.metrics import read_metrics
from backtrail.training.presets import TINY

PARTS = ("generation", "environment", "posterior_score", "posterior_update", "update", "sync")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", default="tiny", help="tiny, a folder, or a name on the hub")
    parser.add_argument("--agent", default="brief", help="brief or explorer")
    parser.add_argument("--updates", type=int, default=5, help="updates of each method that count")
    parser.add_argument("--rounds", type=int, default=3, help="times the methods take turns")
    parser.add_argument("--tasks", type=int, default=16, help="tasks of an update")
    parser.add_argument("--group", type=int, default=8, help="rollouts of a task")
    parser.add_argument("--max-steps", type=int, default=12, help="steps of an episode")
    parser.add_argument("--lora", type=int, default=0, help="LoRA rank of the policy")
    given = parser.parse_args(arguments)
    found: dict[str, list[dict[str, Any]]] = {"grpo": [], "eapo": []}
    for turn in range(given.rounds):
        for method, rows in found.items():
            rows += _updates(method, turn, given)
    for line in _table(found):
        sys.stdout.write(line + "\n")


def _updates(method: str, seed: int, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Train for a few updates; return their rows of metrics, without the first, which warms up."""
    world = {"data": "generated-small", "task_types": ["pick_and_place_simple"]}
    setup = Setup(
        model=given.model,
        agent=given.agent,
        train=world | {"split": "train"},
        evaluate=world | {"split": "valid_unseen"},
        seed=seed,
    )
    own = {
        "sft_steps": 0,
        "rollback_steps": 0,
        "iterations": given.updates + 1,
        "eval_every": 0,
        "eval_episodes": 2,
        "tasks": given.tasks,
        "group": given.group,
        "max_steps": given.max_steps,
        "lora_rank": given.lora,
        "probe_tolerance": 1e-3,
    }
    with tempfile.TemporaryDirectory() as folder:
        train(setup, preset(method, **(TINY | own)), Path(folder) / "run")
        rows = read_metrics(Path(folder) / "run" / "metrics.jsonl")
    return [row for row in rows if row["stage"] == "rl"][1:]


def _table(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    lines = ["| method | seconds an update | " + " | ".join(PARTS) + " |", "| --- " * (len(PARTS) + 2) + "|"]
    totals: dict[str, float] = {}
    for method, rows in found.items():
        totals[method] = statistics.median(row["seconds"] for row in rows)
        parts = [statistics.median(row.get(f"seconds/{part}") or 0.0 for row in rows) for part in PARTS]
        shares = " | ".join(f"{part / totals[method]:.1%}" for part in parts)
        lines.append(f"| {method} | {totals[method]:.2f} | {shares} |")
    lines.append(f"EAPO over GRPO: {totals['eapo'] / totals['grpo'] - 1:+.0%} ({len(found['eapo'])} updates each)")
    return lines


if __name__ == "__main__":
    main()
