"""What can be run: the benchmarks and the agents, by the names the command line uses."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from backtrail.agents import Agent, Expert, Null, Random, Replay
from backtrail.envs.alfworld.goal import TASK_TYPES
from backtrail.envs.alfworld.tasks import SPLITS as ALFWORLD_SPLITS

__all__ = ["AGENTS", "BENCHMARKS", "Benchmark", "agent_class", "find_benchmark", "parse_agent"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """An environment that is ready to be measured on.

    Attributes:
        name: Its short name.
        env_id: The Gymnasium id.
        title: What it is, in a few words.
        splits: Its task splits.
        task_types: Its kinds of tasks.
        evaluation_split: The split to measure on unless another is asked for.
    """

    name: str
    env_id: str
    title: str
    splits: tuple[str, ...]
    task_types: tuple[str, ...]
    evaluation_split: str


BENCHMARKS = {
    "alfworld": Benchmark(
        "alfworld", "backtrail/ALFWorld-v0", "household tasks as a text game", ALFWORLD_SPLITS, TASK_TYPES, "valid_seen"
    ),
}

AGENTS: dict[str, type[Agent]] = {"null": Null, "random": Random, "expert": Expert, "replay": Replay}


def find_benchmark(name: str) -> Benchmark:
    """Return the benchmark of a short name or an id.

    Raises:
        ValueError: If there is none.
    """
    for benchmark in BENCHMARKS.values():
        if name in (benchmark.name, benchmark.env_id):
            return benchmark
    known = ", ".join(f"{benchmark.name} ({benchmark.env_id})" for benchmark in BENCHMARKS.values())
    raise ValueError(f"Unknown environment {name!r}: expected one of {known}")


def parse_agent(text: str) -> dict[str, Any]:
    """Read an agent as the command line names it: ``random``, ``replay:FOLDER``, or ``package.module:Class``.

    Returns:
        ``{"name": ..., "options": {...}}``, as a run's config holds it.

    Raises:
        ValueError: If it is none of these.
    """
    name, colon, rest = text.partition(":")
    if name == "replay":
        if not rest:
            raise ValueError("The agent replay needs the folder of a recorded run: replay:FOLDER")
        return {"name": "replay", "options": {"folder": rest}}
    if (colon and name in AGENTS) or (not colon and name not in AGENTS) or (colon and not rest.isidentifier()):
        raise ValueError(
            f"Unknown agent {text!r}: expected null, random, expert, replay:FOLDER or package.module:Class"
        )
    return {"name": text, "options": {}}


def agent_class(name: str) -> type[Agent]:
    """Return the class of an agent: one of `AGENTS`, or ``package.module:Class`` imported from the Python path.

    Raises:
        ValueError: If there is no such agent.
        TypeError: If the class is no `Agent`.
    """
    if name in AGENTS:
        return AGENTS[name]
    module, _, attribute = name.partition(":")
    if module.endswith(".py") or "/" in module:
        raise ValueError(
            f"Expected a module's name, as in an import, got the path {module!r}: the current folder is searched"
        )
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"The agent {name!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise TypeError(f"Expected {name!r} to be a subclass of backtrail.agents.Agent, got {found!r}")
    return found
