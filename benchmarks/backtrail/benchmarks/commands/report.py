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
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the HTML goes; RUN/report.html by default (several training runs: training.html beside the first).",
        ),
    ] = None,
    no_html: Annotated[bool, typer.Option("--no-html", help="The table only.")] = False,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help="Training runs: the method to compare with; the first by default."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show results of runs and write HTML reports.

    Training runs are shown in one report, those that differ in their seeds only as one method.
    """
    from backtrail.benchmarks.commands.tables import details, overview

    folders = [find(run) for run in runs]
    trained = [(folder / "training.json").is_file() for folder in folders]
    if all(trained):
        _training(folders, html, no_html, baseline, as_json)
        return
    if any(trained):
        fail("Expected training runs or runs of benchmarks, got both: report them one kind at a time")
    if baseline:
        fail("--baseline is for training runs; compare two runs of a benchmark with: backtrail compare")
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


def _training(folders: list[Path], html: Path | None, no_html: bool, baseline: str | None, as_json: bool) -> None:
    """Report training runs, all together."""
    from backtrail.benchmarks.commands.training_tables import training_tables
    from backtrail.benchmarks.training_report import load_training, training_numbers, write_training_report
    from backtrail.benchmarks.training_runs import methods_of

    out = html or (folders[0] / "report.html" if len(folders) == 1 else folders[0].parent / "training.html")
    with bad_input():
        if no_html:
            numbers = training_numbers(methods_of([load_training(folder) for folder in folders]), baseline)
        else:
            with stderr().status(f"Writing {out}"):
                numbers = write_training_report(folders, out, baseline=baseline)
    if as_json:
        emit_json({**numbers, "html": None if no_html else str(out)})
    else:
        stdout().print(training_tables(numbers))
    if not no_html:
        note(f"Report: {out}")
