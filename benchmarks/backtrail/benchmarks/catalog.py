"""What can be run: the benchmarks and the agents, by the names the command line uses."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backtrail.agents import (
    Agent,
    BriefExplorer,
    Direct,
    Expert,
    Explorer,
    ModelAgent,
    Null,
    Random,
    ReAct,
    Replay,
    Searcher,
)
from backtrail.agents.models.base import MixedTemperature, Model, Sampling
from backtrail.agents.prompts import Prompts
from backtrail.benchmarks.recipe import RunConfig
from backtrail.envs.alfworld.goal import TASK_TYPES
from backtrail.envs.alfworld.tasks import SPLITS as ALFWORLD_SPLITS
from backtrail.envs.androidworld.tasks.pack import FAMILIES as ANDROID_FAMILIES
from backtrail.envs.androidworld.tasks.pack import SPLITS as ANDROID_SPLITS
from backtrail.envs.webshop.presets import PRESETS as WEBSHOP_PRESETS
from backtrail.envs.webshop.tasks import DEPARTMENTS
from backtrail.envs.webshop.tasks import SPLITS as WEBSHOP_SPLITS

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
        training_data: The data to train on unless other is asked for; None if there is no choice.
        training_types: Its types of tasks to train on unless others are asked for; "all" for all.
        training_split: The split to evaluate training on.
        data: The data it has without a download; None if there is no choice.
        levels: Of its fingerprint; the first has to be sound.
        presets: Published set-ups: arguments of ``gymnasium.make`` by name.
    """

    name: str
    env_id: str
    title: str
    splits: tuple[str, ...]
    task_types: tuple[str, ...]
    evaluation_split: str
    training_data: str | None
    training_types: str
    training_split: str
    data: str | None = "generated"
    levels: tuple[str, ...] = ("physical", "exact", "observation")
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


BENCHMARKS = {
    "alfworld": Benchmark(
        "alfworld",
        "backtrail/ALFWorld-v0",
        "household tasks as a text game",
        ALFWORLD_SPLITS,
        TASK_TYPES,
        "valid_seen",
        training_data="generated-small",
        training_types="pick_and_place_simple",
        training_split="valid_unseen",
    ),
    "webshop": Benchmark(
        "webshop",
        "backtrail/WebShop-v0",
        "shopping by instruction in an online shop",
        WEBSHOP_SPLITS,
        DEPARTMENTS,
        "test",
        training_data="generated",
        training_types="all",
        training_split="valid",
        presets=WEBSHOP_PRESETS,
    ),
    "android": Benchmark(
        "android",
        "backtrail/AndroidWorld-v0",
        "tasks on a simulated Android phone",
        ANDROID_SPLITS,
        ANDROID_FAMILIES,
        "test",
        training_data=None,
        training_types="all",
        training_split="valid",
        data=None,
        levels=("physical", "state", "screen"),
    ),
}

AGENTS: dict[str, type[Agent]] = {
    "null": Null,
    "random": Random,
    "searcher": Searcher,
    "expert": Expert,
    "replay": Replay,
}

MODEL_AGENTS: dict[str, type[ModelAgent]] = {
    "explorer": Explorer,
    "brief": BriefExplorer,
    "react": ReAct,
    "direct": Direct,
}
"""Agents that need a model."""


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
    known = AGENTS | MODEL_AGENTS
    if (colon and name in known) or (not colon and name not in known) or (colon and not rest.isidentifier()):
        raise ValueError(
            f"Unknown agent {text!r}: expected null, random, searcher, expert, replay:FOLDER, explorer, brief, react, direct or package.module:Class"
        )
    return {"name": text, "options": {}}


def agent_class(name: str) -> type[Agent]:
    """Return the class of an agent: one of `AGENTS`, or ``package.module:Class`` imported from the Python path.

    Raises:
        ValueError: If there is no such agent.
        TypeError: If the class is no `Agent`.
    """
    if name in AGENTS or name in MODEL_AGENTS:
        return AGENTS.get(name) or MODEL_AGENTS[name]
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


def make_model_agent(config: RunConfig, model: Model) -> ModelAgent:
    """Return the agent of a recipe that shares a model.

    Raises:
        ValueError: If the recipe names no such agent.
    """
    options = config.agent["options"]
    return MODEL_AGENTS[config.agent["name"]](
        model,
        sampling_of(config.sampling or {}),
        benchmark=prompts_for(config.env_id),
        rollback=bool(config.rollback_methods),
        show_admissible=options.get("show_admissible", False),
    )


def prompts_for(env_id: str) -> str:
    """Return which description of the world a benchmark's prompts use."""
    return next((benchmark.name for benchmark in BENCHMARKS.values() if benchmark.env_id == env_id), "general")


def prompt_hash(agent: str, env_id: str) -> str:
    """Return the hash of an agent's prompts for a benchmark."""
    return Prompts(MODEL_AGENTS[agent].template, prompts_for(env_id)).hash


def sampling_of(values: Mapping[str, Any]) -> Sampling:
    """Read a recipe's sampling."""
    mixed = values.get("mixed")
    given = {**values, "stop": tuple(values.get("stop", ())), "mixed": MixedTemperature(**mixed) if mixed else None}
    return Sampling(**given)
