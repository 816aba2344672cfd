"""``backtrail play``: a person in the agent's place."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from rich.text import Text

from backtrail.benchmarks.commands.console import bad_input, note, stderr
from backtrail.benchmarks.commands.options import Data, Engine, Env, RollbackMethods, Seed, Split, env_kwargs, methods

__all__ = ["play"]


def play(
    env: Env,
    task_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Play this task; otherwise the seed picks one.")
    ] = None,
    split: Split = None,
    data: Data = None,
    seed: Seed = 0,
    rollback: RollbackMethods = "",
    engine: Engine = None,
) -> None:
    """Play a task yourself.

    Reads actions from the terminal, or one a line from standard input.
    """
    from backtrail.agents import AgentError, Human, Task
    from backtrail.benchmarks.catalog import find_benchmark

    with bad_input():
        benchmark = find_benchmark(env)
        made = _make(benchmark.env_id, env_kwargs(data, split or benchmark.evaluation_split, engine), methods(rollback))
        observation, info = made.reset(seed=seed, options={"task_id": task_id} if task_id else None)
    note(f"{info['task_id']} ({info['data']}). ? lists the admissible actions, Ctrl-D leaves.", "dim")
    human = Human(lambda prompt: _ask(prompt, info))
    human.reset(Task(benchmark.env_id, info["task_id"], observation["goal"], seed))
    steps, over = 0, False
    try:
        while not over:
            action = human.act(observation, info).action
            observation, _, terminated, truncated, info = made.step(action)
            steps, over = steps + 1, terminated or truncated
    except (AgentError, KeyboardInterrupt):
        note(f"\nStopped after {steps} steps.")
        return
    finally:
        made.close()
    note(f"\n{observation['text']}")
    note(f"{'Won' if info['success'] else 'Not won'} in {steps} steps.", "green" if info["success"] else "yellow")


def _make(env_id: str, kwargs: dict[str, Any], rollback_methods: list[Any]) -> Any:
    import gymnasium as gym

    from backtrail.envs import Fingerprint, Rollback, VisitCount

    env = VisitCount(Fingerprint(gym.make(env_id, **kwargs)))
    return Rollback(env, methods=rollback_methods) if rollback_methods else env


def _ask(prompt: str, info: dict[str, Any]) -> str:
    """Show where the player is and read a line; all on standard error, so that the prompt survives a redirected output."""
    where = f"state {info['fingerprint'].rpartition(':')[2][:8]}, earlier visits {info['visits']}"
    if "rollback" in info:
        where += f", rollback {info['rollback']['status']}"
    console = stderr()
    console.print(Text(where, "dim"))
    console.print(prompt, end="")
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    if not sys.stdin.isatty():
        console.print(Text(line.rstrip("\n")))  # what a terminal would have echoed
    return line
