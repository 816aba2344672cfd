"""Options that several commands have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backtrail.envs.alfworld.tasks import GENERATED

if TYPE_CHECKING:
    from backtrail.benchmarks.catalog import Benchmark

__all__ = [
    "Data",
    "Engine",
    "Env",
    "EnvOption",
    "Json",
    "OutputDir",
    "Preset",
    "RollbackMethods",
    "Seed",
    "Split",
    "env_kwargs",
    "methods",
    "preset_of",
    "read_options",
]

Env = Annotated[str, typer.Argument(metavar="ENV", help="Short name or id, as `backtrail list` shows them.")]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="generated (default), official, or a folder of official data; alfworld: generated-small; webshop: generated:N.",
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
Preset = Annotated[
    str | None, typer.Option(metavar="NAME", help="webshop: princeton, agentbench, agentgym, verl-agent or ragen.")
]
EnvOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="NAME=VALUE",
        help='Of the environment, e.g. observation=text_rich or device_options={"grpc_port": 8554}; may be repeated.',
    ),
]
OutputDir = Annotated[Path, typer.Option(metavar="FOLDER", help="Where run folders are.")]


def env_kwargs(benchmark: Benchmark, data: str | None, split: str | None, engine: str | None) -> dict[str, Any]:
    """Return what an environment is to be made with; a folder becomes absolute, so that a run can be resumed elsewhere.

    Raises:
        ValueError: If data is named for a benchmark that has no choice.
    """
    if data is not None and benchmark.data is None:
        raise ValueError(
            f"{benchmark.name} has no --data: choose by --option, e.g. tasks=android_world or device=emulator"
        )
    if data is not None and data.partition(":")[0] not in (*GENERATED, "official"):
        data = str(Path(data).expanduser().resolve())
    return {key: value for key, value in (("data", data), ("split", split), ("engine", engine)) if value is not None}


def preset_of(benchmark: Benchmark, name: str | None) -> dict[str, Any]:
    """Return a published set-up of a benchmark as arguments of ``gymnasium.make``; nothing without a name.

    Raises:
        ValueError: If there is none of that name.
    """
    if name is not None and name not in benchmark.presets:
        known = f"expected {', '.join(benchmark.presets)}" if benchmark.presets else f"{benchmark.name} has none"
        raise ValueError(f"Unknown preset {name!r}: {known}")
    return dict(benchmark.presets[name]) if name is not None else {}


def read_options(words: Sequence[str] | None) -> dict[str, Any]:
    """Read options of an environment: ``goals=human``, ``strict=true``, ``scale=0.5``, ``device_options={"avd": "phone"}``.

    A value that is JSON is what it says there; any other is a string.

    Raises:
        ValueError: If a word is not NAME=VALUE, a name comes twice, or a value in braces or brackets is no JSON.
    """
    found: dict[str, Any] = {}
    for word in words or ():
        name, equals, text = word.partition("=")
        if not equals or not name.isidentifier() or name in found:
            raise ValueError(f"Expected --option NAME=VALUE, each name once, got {word!r}")
        try:
            found[name] = json.loads(text)
        except ValueError as error:
            if text.startswith(("{", "[")):
                raise ValueError(f"Expected JSON as the value of {name}, got {text!r}: {error}") from None
            found[name] = text
    return found


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
