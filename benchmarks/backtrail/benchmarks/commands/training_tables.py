"""Tables of training runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from backtrail.benchmarks.commands.tables import NONE, UNOFFICIAL, interval, number, percent, table

if TYPE_CHECKING:
    from backtrail.benchmarks.training_runs import TrainingRun

__all__ = ["stage_table", "stages", "training_tables"]

Row = dict[str, Any]


def stages(run: TrainingRun, seconds: Mapping[str, float]) -> list[Row]:
    """Return what each stage brought: success before it and after it, and the seconds it took.

    Success is None where it was not measured: before the first stage, and between stages that imitate.

    Args:
        run: The run.
        seconds: Of the stages that were run now.
    """
    from backtrail.benchmarks.training_report import evaluation_numbers

    config, found = run.config, run.evaluations
    planned = {"sft": config["sft_steps"], "rollback": config["rollback_steps"], "rl": config["iterations"]}
    names = [name for name, steps in planned.items() if steps]
    imitating = [name for name in names if name != "rl"]
    start = next((each for each in found if each.iteration == 0), None)
    rows: list[Row] = []
    for name in names:
        before = start if name == "rl" else None
        after = found[-1] if name == "rl" and found else start if name in imitating[-1:] else None
        rows.append(
            {
                "stage": name,
                "before": evaluation_numbers(before) if before else None,
                "after": evaluation_numbers(after) if after else None,
                "seconds": seconds.get(name),
            }
        )
    return rows


def stage_table(rows: Sequence[Row], data: Sequence[str]) -> Group:
    """Return the table of what `stages` returned."""
    made = table("Stage", "Held-out success before", "after", "95 % interval", "Seconds")
    for row in rows:
        before, after = (row[key]["success"] if row[key] else {} for key in ("before", "after"))
        made.add_row(
            row["stage"],
            percent(before.get("value")) + (f" ({interval(before['low'], before['high'])})" if before else ""),
            percent(after.get("value")),
            interval(after.get("low"), after.get("high")),
            number(row["seconds"]),
        )
    return Group(made, *_caution(data))


def training_tables(numbers: Row) -> Group:
    """Return the tables of what `backtrail.benchmarks.training_report.training_numbers` returned."""
    runs = table("Run", "First (95 %)", "Last (95 %)", "Best", "Steps", "Iterations", "Alarms")
    runs.columns[0].overflow = "fold"
    for run in numbers["runs"]:
        first, last, best = (run["evaluations"][which] for which in ("first", "last", "best"))
        runs.add_row(
            run["name"],
            _success(first),
            _success(last),
            percent(best["success"]["value"]) if best else NONE,
            number(last["steps"] if last else None),
            f"{run['iterations']}/{run['planned']}",
            str(len(run["alarms"])),
        )
    parts = [runs] if len(numbers["runs"]) == 1 else [_methods(numbers), Text(""), runs]
    return Group(*parts, *_caution(numbers["data"]))


def _methods(numbers: Row) -> Table:
    against = [f"Against {numbers['baseline']} (points)"] if numbers["baseline"] else []
    made = table("Method", "Seeds", "Success (95 %, t over seeds)", "Each seed (%)", "Steps", "Exploration", *against)
    for method in numbers["methods"]:
        success, difference = method["success"], method["difference"]
        made.add_row(
            method["label"],
            str(method["n"]),
            percent(success["mean"]) + _between(success["low"], success["high"]),
            " ".join(f"{100 * value:.1f}" for value in success["by_seed"].values()) or NONE,
            number(method["steps"]["mean"]),
            percent(method["exploration_degree"]["mean"]),
            *([_difference(difference)] if against else []),
        )
    return made


def _success(found: Row | None) -> str:
    if found is None:
        return NONE
    success = found["success"]
    return percent(success["value"]) + _between(success["low"], success["high"])


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None else f" ({interval(low, high)})"


def _difference(found: Row | None) -> str:
    if found is None:
        return NONE
    return f"{100 * found['mean']:+.1f}" + (
        "" if found["low"] is None else f" ({100 * found['low']:+.1f} to {100 * found['high']:+.1f})"
    )


def _caution(data: Sequence[str]) -> list[Text]:
    lines = [Text(f"data {', '.join(data)}")]
    return [*lines, Text(UNOFFICIAL, "yellow")] if any(each.startswith("generated") for each in data) else lines
