"""``backtrail compare``: is one run better than another?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from backtrail.benchmarks.commands.console import bad_input, emit_json, note, stdout
from backtrail.benchmarks.commands.options import Json

__all__ = ["compare"]

Run = Annotated[Path, typer.Argument(help="Run folder, or its name under runs/.")]


def compare(run_a: Run, run_b: Run, as_json: Json = False) -> None:
    """Compare two runs, episode by episode.

    Only episodes that both runs have finished count.
    """
    from backtrail.benchmarks import comparison
    from backtrail.benchmarks.commands.report import find
    from backtrail.benchmarks.results import RunFolder

    with bad_input():
        found = comparison.compare(RunFolder.open(find(run_a)), RunFolder.open(find(run_b)))
    if as_json:
        emit_json(found)
    else:
        _show(found)
    for line in found["notes"]:
        note(line, "yellow")


def _show(found: dict[str, Any]) -> None:
    from backtrail.benchmarks.commands.tables import table

    console = stdout()
    console.print(Text(f"A  {found['a']}\nB  {found['b']}"), soft_wrap=True)
    for key, values in found["recipe"].items():
        console.print(Text(f"{key}: A {json.dumps(values['a'])}, B {json.dumps(values['b'])}", "dim"), soft_wrap=True)
    console.print(Text(f"{found['episodes']:,} common episodes, data {found['data']}\n"))
    made = table("", "A", "B", "B - A", "95 % interval")
    success = found["success"]
    made.add_row("success (%)", *_row(success, 100))
    made.add_row("steps", *_row(found["steps"]))
    if found["steps_where_both_won"]:
        made.add_row("steps where both won", *_row(found["steps_where_both_won"]))
    made.add_row("invalid actions an episode", *_row(found["invalid_actions"]))
    made.add_row("new states an episode", *_row(found["new_states"]))
    console.print(made)
    console.print(
        Text(
            f"\nWon by both {success['both']:,}, only by A {success['only_a']:,}, only by B {success['only_b']:,}, "
            f"by neither {success['neither']:,}. Exact McNemar test: p = {success['p_value']:.3g}"
        ),
        soft_wrap=True,
    )


def _row(values: dict[str, Any], factor: int = 1) -> tuple[str, ...]:
    change = values["difference"]
    low, high = factor * change["low"], factor * change["high"]
    return (
        f"{factor * values['a']:.1f}",
        f"{factor * values['b']:.1f}",
        f"{factor * change['value']:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
    )
