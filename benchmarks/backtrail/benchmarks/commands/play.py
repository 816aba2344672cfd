"""``backtrail play``: a person in the agent's place."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from rich.text import Text

from backtrail.benchmarks.commands.console import bad_input, note, stderr
from backtrail.benchmarks.commands.options import (
    Data,
    Engine,
    Env,
    EnvOption,
    Preset,
    RollbackMethods,
    Seed,
    Split,
    env_kwargs,
    methods,
    preset_of,
    read_options,
)

__all__ = ["play"]


def play(
    env: Env,
    task_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Play this task; otherwise the seed picks one.")
    ] = None,
    split: Split = None,
    data: Data = None,
    preset: Preset = None,
    seed: Seed = 0,
    rollback: RollbackMethods = "",
    engine: Engine = None,
    option: EnvOption = None,
    web: Annotated[
        bool, typer.Option("--web", help="webshop, android: serve it to a browser on this machine.")
    ] = False,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Where --web serves; 0 takes a free port.")
    ] = 0,
) -> None:
    """Play a task yourself.

    Reads actions from the terminal, or one a line from standard input; with --web, serves pages to a browser, and writes
    their address to standard output.
    """
    from backtrail.agents import AgentError, Human, Task
    from backtrail.benchmarks.catalog import find_benchmark

    with bad_input():
        benchmark = find_benchmark(env)
        kwargs = preset_of(benchmark, preset) | env_kwargs(benchmark, data, split or benchmark.evaluation_split, engine)
        kwargs |= read_options(option)
    if web:
        _serve(benchmark.name, kwargs, task_id, seed, rollback, port)
        return
    with bad_input():
        made = _make(benchmark.env_id, kwargs, methods(rollback))
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


def _serve(name: str, kwargs: dict[str, Any], task_id: str | None, seed: int, rollback: str, port: int) -> None:
    """Serve the pages of a benchmark until Ctrl-C."""
    with bad_input():
        if name not in ("webshop", "android"):
            raise ValueError(f"Expected webshop or android with --web: {name} has no pages, play it without")
        if rollback:
            raise ValueError("--rollback is for the terminal: in a browser, go back")
        try:
            if name == "webshop":
                _serve_shop(kwargs, task_id, seed, port)
            else:
                _serve_phone(kwargs, task_id, seed, port)
        except KeyboardInterrupt:
            note("\nClosed.")


def _serve_shop(kwargs: dict[str, Any], task_id: str | None, seed: int, port: int) -> None:
    from backtrail.benchmarks.webshop_web import make_app, serve

    kwargs.pop("max_episode_steps", None)
    if task_id is not None:
        kwargs["task_id"] = task_id
    serve(make_app(kwargs, seed=seed), port, lambda address: _opened("shop", address))


def _serve_phone(kwargs: dict[str, Any], task_id: str | None, seed: int, port: int) -> None:
    from backtrail.benchmarks.android_web import make_app
    from backtrail.benchmarks.loopback import serve

    app = make_app(kwargs, task_id, seed)
    try:
        serve(app, port, lambda address: _opened("phone", address))
    finally:
        app.state.episode.close()


def _opened(what: str, address: str) -> None:
    note(f"The {what} is open at {address}. Ctrl-C closes it.")
    typer.echo(address)


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
