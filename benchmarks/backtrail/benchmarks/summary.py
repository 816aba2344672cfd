"""The summary of a run: a pure function of its recipe and its rows, whatever the order of the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from backtrail.benchmarks import statistics
from backtrail.benchmarks.recipe import RunConfig

__all__ = ["summary"]

FORMAT = "backtrail-summary-1"

Row = dict[str, Any]


def summary(
    config: RunConfig, episodes: Iterable[Row], failures: Iterable[Row] = (), wall: float | None = None
) -> dict[str, Any]:
    """Return what summary.json holds.

    ``failures`` counts the episodes that have failed and have no result yet. The interval of a success rate is Wilson's,
    with `statistics.effective_size` for n where tasks are tried more than once. ``unique_states_per_step`` counts states
    first seen after the start, ``revisit_rate`` the steps that ended where the agent had been; both are per step over all
    episodes. ``new_states_curve`` is the mean number of distinct states seen up to each step; episodes that have ended
    stay in it with their last number.

    Args:
        config: The recipe.
        episodes: Rows of episodes.jsonl.
        failures: Rows of failures.jsonl.
        wall: Wall-clock seconds of the run so far, None if unknown.
    """
    rows = sorted(episodes, key=lambda row: (row["task_id"], row["attempt"]))
    finished = {row["episode"] for row in rows}
    steps = sum(row["steps"] for row in rows)
    by_type = sorted({row["task_type"] for row in rows})
    attempts = [(sum(row["success"] for row in group), len(group)) for group in _by_task(rows)]
    return {
        "format": FORMAT,
        "episodes": len(rows),
        "planned": len(config.tasks) * config.episodes_per_task,
        "failures": len({row["episode"] for row in failures} - finished),
        "data": config.data,
        "success": _success(rows),
        "by_task_type": {kind: _success([row for row in rows if row["task_type"] == kind]) for kind in by_type},
        "pass_at_k": _passes(statistics.pass_at_k, attempts),
        "pass_hat_k": _passes(statistics.pass_hat_k, attempts),
        "steps": _mean(rows, "steps"),
        "return": _mean(rows, "return"),
        "invalid_action_rate": _rate(sum(row["invalid_actions"] for row in rows), steps),
        "format_valid_rate": _rate(sum(row["valid_turns"] for row in rows), steps),
        "exploration": _exploration(rows, steps),
        "usage": _usage(rows),
        "time": _time(rows, wall),
    }


def _by_task(rows: Sequence[Row]) -> list[list[Row]]:
    return [list(group) for _, group in groupby(rows, key=lambda row: row["task_id"])]


def _success(rows: Sequence[Row]) -> dict[str, Any]:
    n, successes = len(rows), sum(row["success"] for row in rows)
    if not n:
        return {"value": None, "low": None, "high": None, "n": 0, "successes": 0}
    interval = statistics.success_rate([(sum(row["success"] for row in group), len(group)) for group in _by_task(rows)])
    return {"value": successes / n, "low": interval.low, "high": interval.high, "n": n, "successes": successes}


def _passes(formula: Any, attempts: Sequence[tuple[int, int]]) -> dict[str, float]:
    """Average pass@k or pass^k over the tasks that were tried at least k times."""
    passes = {}
    for k in range(1, max((n for _, n in attempts), default=0) + 1):
        values = [formula(n, successes, k) for successes, n in attempts if n >= k]
        passes[str(k)] = sum(values) / len(values)
    return passes


def _mean(rows: Sequence[Row], key: str) -> dict[str, float | None]:
    if not rows:
        return {"mean": None, "low": None, "high": None}
    interval = statistics.bootstrap_mean([[row[key] for row in group] for group in _by_task(rows)])
    return {"mean": interval.value, "low": interval.low, "high": interval.high}


def _rate(count: float, of: float) -> float | None:
    return count / of if of else None


def _exploration(rows: Sequence[Row], steps: int) -> dict[str, Any]:
    rollbacks: Counter[str] = Counter()
    for row in rows:
        rollbacks.update(row["rollbacks"])
    total = rollbacks.total()
    curves = [row["unique_by_step"] for row in rows]
    longest = max(map(len, curves), default=0)
    return {
        "unique_states_per_step": _rate(sum(row["unique_states"] - 1 for row in rows), steps),
        "revisit_rate": _rate(sum(row["revisits"] for row in rows), steps),
        "rollback_rate": _rate(total, steps),
        "rollback_success_rate": _rate(rollbacks["exact"], total),
        "new_states_curve": [
            sum(curve[min(step, len(curve) - 1)] for curve in curves) / len(curves) for step in range(longest)
        ],
    }


def _time(rows: Sequence[Row], wall: float | None) -> dict[str, float | None]:
    """Sum seconds; tokens a second are those of the responses over the agent's time, None without a model."""
    spent = {key: sum(row["time"][key] for row in rows) for key in ("env", "agent", "total")}
    tokens = _usage(rows).get("completion_tokens", 0)
    rate = tokens / spent["agent"] if tokens and spent["agent"] else None
    return {**spent, "wall": wall, "tokens_per_second": rate}


def _usage(rows: Sequence[Row]) -> dict[str, int]:
    usage: Counter[str] = Counter()
    for row in rows:
        usage.update(row["usage"])
    return dict(sorted(usage.items()))
