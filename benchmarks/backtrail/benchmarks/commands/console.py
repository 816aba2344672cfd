"""What the commands share: where output goes, how errors look, progress bars."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NoReturn

import gymnasium as gym
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from backtrail.agents import AgentError

__all__ = ["bad_input", "counter", "emit_json", "fail", "note", "plain_table", "progress_bar", "stderr", "stdout"]

_FILE_WIDTH = 160


def stdout() -> Console:
    """Return the console for data, wide where it goes to a file: nothing is cut off there.

    It is made anew each time, so that tests can catch what it writes.
    """
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _FILE_WIDTH
    return console


def stderr() -> Console:
    """Return the console for everything else."""
    return Console(stderr=True, highlight=False)


def emit_json(value: dict[str, Any]) -> None:
    """Write one JSON object to standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def note(message: str, style: str = "") -> None:
    """Write a line to standard error."""
    sys.stdout.flush()  # keeps the order where both go to one place
    console = stderr()
    console.print(Text(message, style), soft_wrap=not console.is_terminal)


def fail(message: str, code: int = 2, hint: str = "") -> NoReturn:
    """Write one line, and perhaps a hint, to standard error and end with an exit code."""
    console = stderr()
    console.print(Text.assemble(("Error: ", "red"), " ".join(message.split())), soft_wrap=not console.is_terminal)
    if hint:
        note(hint)
    raise typer.Exit(code)


def plain_table(*columns: str, right: int = 0, whole: int = 0) -> Table:
    """Return an empty table without lines.

    Args:
        *columns: The headings; none for a table without them.
        right: So many of the last columns are aligned to the right.
        whole: So many of the first columns are never wrapped; all that are aligned to the right are not either.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold", show_header=bool(columns))
    for number, column in enumerate(columns):
        to_the_right = number >= len(columns) - right
        table.add_column(column, justify="right" if to_the_right else "left", no_wrap=to_the_right or number < whole)
    return table


@contextmanager
def bad_input() -> Generator[None]:
    """Turn what the library raises on bad input into one line and exit code 2; a missing extra into exit code 1."""
    try:
        yield
    except gym.error.DependencyNotInstalled as error:
        message, _, recipe = str(error).partition("\n")
        fail(message, code=1, hint=recipe)
    except (ValueError, TypeError, OSError, gym.error.Error, AgentError) as error:
        fail(str(error) or type(error).__name__)


@contextmanager
def progress_bar(*columns: ProgressColumn, hidden: bool = False) -> Generator[Progress]:
    """Show a progress bar on standard error; none if that is no terminal."""
    console = stderr()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        *(columns or (MofNCompleteColumn(),)),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=console,
        transient=True,
        disable=hidden or not console.is_terminal,
    ) as progress:
        yield progress


@contextmanager
def counter(description: str, hidden: bool = False, *columns: ProgressColumn) -> Generator[Callable[[int, int], None]]:
    """Show a progress bar that is moved by calls with (done, total)."""
    with progress_bar(*columns, hidden=hidden) as progress:
        task = progress.add_task(description, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)
