"""Metrics: one row an iteration, also after a stop; and alarms that ring when they should, and only then."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from backtrail.training.metrics import WINDOW, Metrics, alarms, keep, read_metrics

Row = dict[str, Any]


def write(path: Path, rows: list[tuple[str, int]]) -> None:
    path.write_text("".join(json.dumps({"stage": stage, "iteration": at}) + "\n" for stage, at in rows), "utf-8")


def read(path: Path) -> list[tuple[str, int]]:
    return [(row["stage"], row["iteration"]) for row in read_metrics(path)]


def test_a_row_holds_stage_iteration_and_numbers_and_null_for_what_is_none(tmp_path: Path):
    metrics = Metrics(tmp_path)
    metrics.log("rl", 3, {"loss": 0.1, "explore/auc": math.nan, "grad_norm": math.inf, "alarms": ["so"]})
    metrics.close()
    text = (tmp_path / "metrics.jsonl").read_text("utf-8")
    assert read_metrics(tmp_path / "metrics.jsonl") == [
        {"stage": "rl", "iteration": 3, "loss": 0.1, "explore/auc": None, "grad_norm": None, "alarms": ["so"]}
    ]
    assert "NaN" not in text and text.endswith("\n")


def test_a_half_written_last_line_is_left_out(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    write(path, [("rl", 0), ("rl", 1)])
    path.write_text(path.read_text("utf-8")[:-8], "utf-8")
    assert read(path) == [("rl", 0)]
    keep(path, "rl", 9)
    Metrics(tmp_path).log("rl", 1, {})
    assert read(path) == [("rl", 0), ("rl", 1)], "what is written next does not join the half line"


def test_no_file_is_no_rows(tmp_path: Path):
    keep(tmp_path / "none.jsonl", "rl", 1)
    assert read_metrics(tmp_path / "none.jsonl") == [] and not list(tmp_path.iterdir())


def test_a_resumed_run_keeps_what_it_does_not_do_again(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    before = [
        ("sft", 9),
        ("rollback-evaluation", 0),
        ("rollback", 9),
        ("rollback-evaluation", 10),
        ("rl-evaluation", 0),
    ]
    write(path, [*before, ("rl", 0), ("rl", 1), ("rl-evaluation", 2), ("rl", 2), ("rl-evaluation", 3)])
    keep(path, "rl", 2, ("sft", "rollback"))
    assert read(path) == [*before, ("rl", 0), ("rl", 1), ("rl-evaluation", 2)]
    keep(path, "rollback", 5, ("sft",))
    assert read(path) == [("sft", 9), ("rollback-evaluation", 0)]
    keep(path, "sft", 0)
    assert read(path) == []


def test_evaluations_are_numbered_by_the_iterations_before_them(tmp_path: Path):
    path = tmp_path / "evaluations.jsonl"
    write(path, [("rl", 0), ("rl", 2), ("rl", 4)])
    keep(path, "rl", 2, ("sft", "rollback"), evaluations=True)
    assert read(path) == [("rl", 0), ("rl", 2)]


# ---- alarms

HEALTHY: Row = {
    "success": 0.5,
    "rows": 40.0,
    "grad_norm": 0.7,
    "clipped_low": 0.01,
    "clipped_high": 0.02,
    "invalid_rate": 0.05,
    "advantage/zero_advantage": 0.2,
    "advantage/singleton": 0.1,
    "entropy/explore": 0.8,
    "entropy/memory": 0.6,
    "entropy/action": 0.4,
    "explore/lost": 0.2,
    "reward/format": -0.05,
}


def history(**late: float) -> list[Row]:
    """Return two windows of healthy iterations, the later one changed."""
    return [dict(HEALTHY) for _ in range(WINDOW)] + [HEALTHY | late for _ in range(WINDOW)]


def test_a_healthy_run_rings_no_alarm():
    rows = [HEALTHY | {"success": 0.3 + 0.02 * at, "entropy/action": 0.5 - 0.01 * at} for at in range(20)]
    assert all(alarms(rows[: end + 1]) == [] for end in range(20)) and alarms([]) == []


def test_what_was_not_measured_rings_no_alarm():
    assert alarms([{"rows": 0.0}]) == [] and alarms([dict.fromkeys(HEALTHY) | {"rows": 0.0}] * 20) == []


@pytest.mark.parametrize(
    ("late", "words"),
    [
        ({"advantage/zero_advantage": 0.9}, "90% of transitions have no advantage"),
        ({"advantage/singleton": 0.7}, "70% of transitions are alone"),
        ({"clipped_low": 0.2, "clipped_high": 0.2}, "40% of tokens are clipped"),
        ({"invalid_rate": 0.4}, "40% of responses lack the required form"),
        ({"entropy/explore": 0.05}, "the explore text fell to 0.05 nats, from 0.8"),
        ({"entropy/memory": 0.05}, "the memory text fell"),
        ({"entropy/action": 0.03}, "the action text fell"),
        ({"explore/lost": 0.3}, "being gamed"),
        ({"reward/format": 0.0 + 0.05, "success": 0.3}, "the form is being paid for"),
        ({"grad_norm": math.nan}, "not finite"),
    ],
)
def test_each_alarm_rings_alone(late: Row, words: str):
    (alarm,) = alarms(history(**late))
    assert words in alarm


def test_a_trend_needs_two_windows_and_the_other_number():
    assert alarms(history(**{"explore/lost": 0.3})[1:]) == []
    assert alarms(history(**{"explore/lost": 0.3, "success": 0.6})) == [], "success rises with the reward"
    assert alarms(history(**{"reward/format": 0.05})) == [], "success does not fall"


def test_alarms_are_the_same_for_rows_read_back(tmp_path: Path):
    metrics = Metrics(tmp_path)
    rows = history(**{"explore/lost": 0.3, "grad_norm": math.nan})
    rows.insert(3, HEALTHY | {"explore/lost": math.nan, "entropy/action": math.nan})
    rows.insert(0, HEALTHY | {"entropy/action": math.nan})
    for at, row in enumerate(rows):
        metrics.log("rl", at, row)
    assert alarms(read_metrics(tmp_path / "metrics.jsonl")) == alarms(rows) and len(alarms(rows)) == 2
