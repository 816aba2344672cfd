"""The command line, a module for each command. Needs the extra ``report``.

Data goes to standard output, everything else to standard error. Exit codes: 0 all is well, 1 something failed or is
missing, 2 the command was not understood, 130 it was stopped with Ctrl-C.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from backtrail.benchmarks.commands.audit import audit
from backtrail.benchmarks.commands.compare import compare
from backtrail.benchmarks.commands.data import data
from backtrail.benchmarks.commands.doctor import doctor
from backtrail.benchmarks.commands.listing import info, list_all
from backtrail.benchmarks.commands.play import play
from backtrail.benchmarks.commands.report import report
from backtrail.benchmarks.commands.run import run
from backtrail.benchmarks.commands.train import train

__all__ = ["app"]

app = typer.Typer(
    name="backtrail",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # an error is one line then, not a box
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"backtrail {version('backtrail')}")
        raise typer.Exit


@app.callback()
def backtrail(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Train and measure agents that explore: run benchmarks, look at results, compare them."""


app.command("list")(list_all)
app.command()(info)
app.command()(doctor)
app.command()(play)
app.command()(run)
app.command()(report)
app.command()(compare)
app.command()(data)
app.command()(audit)
app.command()(train)
