"""`compare`: two runs over the episodes they have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from backtrail.benchmarks import statistics
from backtrail.benchmarks.results import ResultsError, RunFolder

__all__ = ["compare"]

Row = dict[str, Any]
Pair = tuple[Row, Row]

_SHOWN = (
    "agent",
    "env_kwargs",
    "episodes_per_task",
    "seed",
    "max_steps",
    "rollback_methods",
    "prompt_hash",
    "sampling",
)


def compare(a: RunFolder, b: RunFolder) -> dict[str, Any]:
    """Compare two runs, paired by task and attempt.

    Differences are B minus A. Success is tested with the exact McNemar test, its difference has Newcombe's interval; the
    intervals of the other differences are bootstrapped over tasks.

    Returns:
        JSON-ready results, with ``notes`` on what limits them.

    Raises:
        ResultsError: If the runs are on other environments or data, or have no episode in common.
    """
    _same_data(a, b)
    others = {row["episode"]: row for row in b.episodes}
    pairs: list[Pair] = [(row, others[row["episode"]]) for row in a.episodes if row["episode"] in others]
    if not pairs:
        raise ResultsError(f"{a.path} and {b.path} have no finished episode in common: nothing can be compared")
    pairs.sort(key=lambda pair: (pair[0]["task_id"], pair[0]["attempt"]))
    both = [pair for pair in pairs if pair[0]["success"] and pair[1]["success"]]
    return {
        "a": str(a.path),
        "b": str(b.path),
        "data": a.config.data,
        "episodes": len(pairs),
        "left_out": {"a": len(a.episodes) - len(pairs), "b": len(b.episodes) - len(pairs)},
        "success": _success(pairs, len(both)),
        "steps": _means(pairs, lambda row: row["steps"]),
        "steps_where_both_won": _means(both, lambda row: row["steps"]) if both else None,
        "invalid_actions": _means(pairs, lambda row: row["invalid_actions"]),
        "new_states": _means(pairs, lambda row: row["unique_states"] - 1),
        "recipe": {
            key: {"a": getattr(a.config, key), "b": getattr(b.config, key)}
            for key in _SHOWN
            if getattr(a.config, key) != getattr(b.config, key)
        },
        "notes": _notes(a, b, pairs),
    }


def _same_data(a: RunFolder, b: RunFolder) -> None:
    for what, mine, other in (
        ("environment", a.config.env_id, b.config.env_id),
        ("data", a.config.data, b.config.data),
    ):
        if mine != other:
            raise ResultsError(
                f"The runs are on different {what} and cannot be compared: {a.path} on {mine}, {b.path} on {other}"
            )
    if sorted(a.config.tasks) == sorted(b.config.tasks) and a.config.data_hash != b.config.data_hash:
        raise ResultsError(
            f"The tasks of {a.path} and {b.path} have the same ids but are other worlds (data_hash differs)"
        )


def _success(pairs: Sequence[Pair], both: int) -> dict[str, Any]:
    only_a = sum(mine["success"] and not other["success"] for mine, other in pairs)
    only_b = sum(other["success"] and not mine["success"] for mine, other in pairs)
    counts = {"both": both, "only_a": only_a, "only_b": only_b, "neither": len(pairs) - both - only_a - only_b}
    share = len({mine["task_id"] for mine, _ in pairs}) / len(pairs)  # the attempts at a task count as one
    difference = statistics.paired_difference(*(count * share for count in counts.values()))
    return {
        "a": (both + only_a) / len(pairs),
        "b": (both + only_b) / len(pairs),
        "difference": difference._asdict(),
        **counts,
        "p_value": statistics.mcnemar(only_a, only_b),
    }


def _means(pairs: Sequence[Pair], value: Callable[[Row], float]) -> dict[str, Any]:
    groups: dict[str, list[float]] = defaultdict(list)
    for mine, other in pairs:
        groups[mine["task_id"]].append(value(other) - value(mine))
    return {
        "a": sum(value(mine) for mine, _ in pairs) / len(pairs),
        "b": sum(value(other) for _, other in pairs) / len(pairs),
        "difference": statistics.bootstrap_mean(list(groups.values()))._asdict(),
    }


def _notes(a: RunFolder, b: RunFolder, pairs: Sequence[Pair]) -> list[str]:
    notes = []
    if sorted(a.config.tasks) != sorted(b.config.tasks):
        notes.append(
            "The runs have different task lists: only what both have is compared, and that it is the same is unchecked."
        )
    if any(len(run.episodes) < len(run.config.tasks) * run.config.episodes_per_task for run in (a, b)):
        notes.append("A run is not complete.")
    if len({mine["task_id"] for mine, _ in pairs}) < len(pairs):
        notes.append("Several attempts a task: the p-value takes them as independent, the intervals do not.")
    if a.config.max_steps != b.config.max_steps:
        notes.append(f"The step limits differ: {a.config.max_steps} and {b.config.max_steps}.")
    return notes
