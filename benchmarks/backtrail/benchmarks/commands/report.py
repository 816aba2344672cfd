"""``backtrail report``: the results of runs, as a table and as HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backtrail.benchmarks.commands.console import bad_input, emit_json, fail, note, stderr, stdout
from backtrail.benchmarks.commands.options import Json

if TYPE_CHECKING:
    from backtrail.benchmarks.recipe import RunConfig

__all__ = ["report"]

Read = tuple[Path, "RunConfig", dict[str, Any]]


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders, or their names under runs/.")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the HTML goes; RUN/report.html by default.")
    ] = None,
    no_html: Annotated[bool, typer.Option("--no-html", help="The table only.")] = False,
    as_json: Json = False,
) -> None:
    """Show results of runs and write HTML reports."""
    from backtrail.benchmarks.commands.tables import details, overview

    if html and len(runs) > 1:
        fail(f"--html names one file, and there are {len(runs)} runs: leave it out, or report one run at a time")
    with bad_input():
        found = [read(run) for run in runs]
    written: list[Path] = []
    if not no_html:
        written = [html or folder / "report.html" for folder, _, _ in found]
        for (folder, _, _), out in zip(found, written, strict=True):
            _write_html(folder, out)
    if as_json:
        rows = [{"folder": str(folder), "config": c.to_json(), "summary": s} for folder, c, s in found]
        emit_json({"runs": rows, "html": [str(path) for path in written]})
    elif len(found) == 1:
        stdout().print(details(*found[0][1:]))
    else:
        stdout().print(overview(found))
    for path in written:
        note(f"Report: {path}")


def read(run: Path) -> Read:
    """Return folder, recipe and summary of a run.

    Raises:
        ResultsError: If there is no run, or it is damaged.
    """
    from backtrail.benchmarks.results import RunFolder, read_wall
    from backtrail.benchmarks.summary import summary

    folder = find(run)
    opened = RunFolder.open(folder)
    return folder, opened.config, summary(opened.config, opened.episodes, opened.failures, read_wall(folder) or None)


def find(run: Path) -> Path:
    """Return the folder of a run that was given by its folder or its name under ``runs/``."""
    under_runs = Path("runs") / run
    return under_runs if not run.exists() and under_runs.exists() else run


def _write_html(folder: Path, out: Path) -> None:
    with bad_input(), stderr().status(f"Writing {out}"):
        from backtrail.benchmarks.report import write_html

        write_html(folder, out)
