"""``backtrail list`` and ``backtrail info``: what there is."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from backtrail.benchmarks.commands.console import bad_input, emit_json, plain_table, stdout
from backtrail.benchmarks.commands.options import Env, Json, env_kwargs

__all__ = ["info", "list_all"]


def list_all(as_json: Json = False) -> None:
    """List the environments and the agents."""
    from backtrail.benchmarks.catalog import AGENTS, BENCHMARKS

    agents = {name: (inspect.getdoc(kind) or "").split("\n")[0] for name, kind in AGENTS.items()}
    if as_json:
        rows = [
            {
                "name": b.name,
                "id": b.env_id,
                "title": b.title,
                "splits": list(b.splits),
                "default_split": b.evaluation_split,
            }
            for b in BENCHMARKS.values()
        ]
        emit_json({"environments": rows, "agents": [{"name": n, "description": text} for n, text in agents.items()]})
        return
    environments = plain_table("Environment", "Id", "What", "Splits", whole=2)
    for b in BENCHMARKS.values():
        environments.add_row(b.name, b.env_id, b.title, ", ".join(b.splits))
    players = plain_table("Agent", "What", whole=1)
    for name, text in agents.items():
        players.add_row("replay:FOLDER" if name == "replay" else name, text)
    players.add_row("module:Class", "Your own subclass of backtrail.agents.Agent.")
    stdout().print(environments, "", players)


def info(
    env: Env,
    data: Annotated[
        str | None, typer.Option(metavar="WHERE", help="generated, official, or a folder; android has no choice.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Describe an environment: its tasks, spaces and actions."""
    with bad_input():
        facts = _facts(env, data)
    if as_json:
        emit_json(facts)
        return
    console = stdout()
    console.print(Text.assemble((facts["id"], "bold"), f"  {facts['title']}\n"))
    spaces = f"observation  {facts['observation_space']}\naction       {facts['action_space']}"
    for heading, text in {**facts["about"], "Spaces": spaces}.items():
        console.print(Text(heading, "bold"), Padding(Text(text), (0, 0, 0, 2)))
    console.print("")
    table = plain_table("Tasks", *facts["tasks"], right=len(facts["tasks"]))
    for kind in facts["task_types"]:
        table.add_row(kind, *(f"{counts[kind]:,}" for counts in facts["tasks"].values()))
    table.add_section()
    table.add_row("all", *(f"{sum(counts.values()):,}" for counts in facts["tasks"].values()))
    console.print(table)
    console.print(Text(f"Data: {facts['data']}. A task id: {facts['example']}"))


def _facts(env: str, data: str | None) -> dict[str, Any]:
    import gymnasium as gym

    import backtrail.envs  # noqa: F401  # registers the ids
    from backtrail.benchmarks.catalog import find_benchmark

    benchmark = find_benchmark(env)
    kwargs = env_kwargs(benchmark, data or benchmark.data, None, None)
    made = gym.make(benchmark.env_id, split=benchmark.evaluation_split, **kwargs)
    _, first = made.reset(seed=0)
    tasks = {
        split: {kind: _count(benchmark.env_id, kwargs, split, kind) for kind in benchmark.task_types}
        for split in benchmark.splits
    }
    return {
        "name": benchmark.name,
        "id": benchmark.env_id,
        "title": benchmark.title,
        "about": _sections(sys.modules[type(made.unwrapped).__module__].__doc__ or ""),
        "data": first["data"],
        "example": first["task_id"],
        "task_types": list(benchmark.task_types),
        "tasks": tasks,
        "observation_space": str(made.observation_space),
        "action_space": str(made.action_space),
        "max_steps": gym.spec(benchmark.env_id).max_episode_steps,
    }


def _count(env_id: str, kwargs: dict[str, Any], split: str, task_type: str) -> int:
    import gymnasium as gym

    try:
        tasks = getattr(gym.make(env_id, split=split, task_types=[task_type], **kwargs).unwrapped, "tasks", None)
    except (FileNotFoundError, ValueError):
        return 0  # data with some of the splits or types
    return len(tasks.ids) if tasks else 0


def _sections(docstring: str) -> dict[str, str]:
    """Split an environment's docstring into its headed sections, but for the ids."""
    parts = re.split(r"^(\w[\w ]*):\n", inspect.cleandoc(docstring), flags=re.MULTILINE)[1:]
    sections = {heading: textwrap.dedent(text).strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}
    sections.pop("Registered ids", None)
    return {heading: " ".join(text.replace("``", "").split()) for heading, text in sections.items()}
