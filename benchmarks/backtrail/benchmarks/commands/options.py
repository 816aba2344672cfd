"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from backtrail.envs.alfworld.tasks import GENERATED

__all__ = ["Data", "Engine", "Env", "Json", "OutputDir", "RollbackMethods", "Seed", "Split", "env_kwargs", "methods"]

Env = Annotated[str, typer.Argument(metavar="ENV", help="Short name or id, as `backtrail list` shows them.")]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE", help="generated (default), generated-small, official, or a folder of official games."
    ),
]
Split = Annotated[str | None, typer.Option(metavar="NAME", help="Task split; by default the one to evaluate on.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="What everything random comes from.")]
Engine = Annotated[str | None, typer.Option(metavar="NAME", help="Another engine of the environment, e.g. textworld.")]
RollbackMethods = Annotated[
    str,
    typer.Option(metavar="METHODS", help="Offer the action 'rollback': restore, act and replay in the order to try."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
OutputDir = Annotated[Path, typer.Option(metavar="FOLDER", help="Where run folders are.")]


def env_kwargs(data: str | None, split: str | None, engine: str | None) -> dict[str, Any]:
    """Return what an environment is to be made with; a folder becomes absolute, so that a run can be resumed elsewhere."""
    if data not in (None, *GENERATED, "official"):
        data = str(Path(data).expanduser().resolve())
    return {key: value for key, value in (("data", data), ("split", split), ("engine", engine)) if value is not None}


def methods(text: str) -> list[str]:
    """Read a list of rollback methods.

    Raises:
        ValueError: On another word.
    """
    found = [word.strip() for word in text.split(",") if word.strip()]
    if unknown := set(found) - {"restore", "act", "replay"}:
        raise ValueError(
            f"Unknown rollback method {min(unknown)!r}: expected restore, act, replay or several (act,restore)"
        )
    return found
