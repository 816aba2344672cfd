"""`plan`: from what is wanted to the whole recipe of a run."""

from __future__ import annotations

import hashlib
import inspect
import os
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import gymnasium as gym

import backtrail.envs  # noqa: F401  # registers the ids
from backtrail.agents import Agent
from backtrail.benchmarks.catalog import AGENTS, MODEL_AGENTS, agent_class, prompt_hash
from backtrail.benchmarks.recipe import RunConfig
from backtrail.envs import ExplorableEnv

__all__ = ["plan", "spread", "versions"]

_PACKAGES = ("backtrail", "gymnasium", "numpy", "pillow", "alfworld", "textworld")

Progress = Callable[[int, int], None]


def plan(
    name: str,
    env_id: str,
    agent: Mapping[str, Any],
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    tasks: Sequence[str] | None = None,
    limit: int | None = None,
    episodes_per_task: int = 1,
    seed: int = 0,
    max_steps: int | None = None,
    rollback_methods: Sequence[str] = (),
    sampling: Mapping[str, Any] | None = None,
    command: str = "",
    progress: Progress | None = None,
) -> RunConfig:
    """Return the recipe of a run. Reads every task once, to know which data it is.

    Args:
        name: What the run folder is to be called.
        env_id: A Gymnasium id whose environment has ``tasks`` with ``ids`` and ``check`` and takes
            ``reset(options={"task_id": ...})``.
        agent: ``{"name", "options"}``, as `backtrail.benchmarks.catalog.parse_agent` returns it.
        env_kwargs: Passed to ``gymnasium.make``; the agent's ``env_options`` are added.
        tasks: The task ids; None for all that the environment lists.
        limit: Take that many of the tasks, spread evenly over the list.
        episodes_per_task: Attempts at each task.
        seed: What every episode's seed comes from.
        max_steps: The step limit of an episode; None for the environment's own.
        sampling: How the agent's model samples (`backtrail.agents.models.Sampling` as a dict); None without one.
        rollback_methods: Let the agent go back in these ways; empty for an agent without the rollback action.
        command: The command line, for the record.
        progress: Called with (tasks read, tasks in all).

    Raises:
        ValueError: On a bad name, agent, task or number.
        FileNotFoundError: If the data is not there.
        gymnasium.error.Error: If the environment cannot be made.
        backtrail.agents.AgentError: If the agent cannot be made.
    """
    _check(name, episodes_per_task, seed, max_steps, limit)
    kind = agent_class(agent["name"])
    if agent["name"] not in MODEL_AGENTS:
        kind(**agent["options"]).close()  # what is wrong with it is better known now
    kwargs = {**(env_kwargs or {}), **kind.env_options}
    if "max_episode_steps" in kwargs:
        raise ValueError("Expected max_steps (--max-steps N) for the step limit, not the option max_episode_steps")
    steps = max_steps if max_steps is not None else gym.spec(env_id).max_episode_steps
    if steps is None:
        raise ValueError(f"{env_id} has no step limit of its own: set max_steps")
    chosen = _choose(env_id, kwargs, tasks, limit)
    labels, data_hash = _identify(env_id, kwargs, chosen, progress or (lambda done, total: None))
    return RunConfig(
        name=name,
        env_id=env_id,
        env_kwargs=kwargs,
        wrappers=["Fingerprint", "VisitCount", *["Rollback"] * bool(rollback_methods), "Record"],
        agent={"name": agent["name"], "options": dict(agent["options"]), **_source(kind)},
        tasks=chosen,
        episodes_per_task=episodes_per_task,
        seed=seed,
        max_steps=steps,
        rollback_methods=list(rollback_methods),
        data=labels[0] if len(labels) == 1 else labels,
        data_hash=data_hash,
        prompt_hash=prompt_hash(agent["name"], env_id) if agent["name"] in MODEL_AGENTS else None,
        sampling=dict(sampling) if sampling is not None else None,
        versions=versions(),
        git=_git(),
        machine={"platform": platform.platform(), "machine": platform.machine(), "cpus": os.cpu_count()},
        command=command,
    )


def spread(items: Sequence[str], limit: int) -> list[str]:
    """Return ``limit`` of the items, at even distances, so that every part of an ordered list is met.

    Example:
        >>> spread(["a1", "a2", "b1", "b2"], 2)
        ['a1', 'b1']
    """
    if limit >= len(items):
        return list(items)
    return [items[i * len(items) // limit] for i in range(limit)]


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages that results depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _check(name: str, episodes_per_task: int, seed: int, max_steps: int | None, limit: int | None) -> None:
    if not name or name != Path(name).name or name.startswith("."):
        raise ValueError(f"Expected a plain folder name for the run, got {name!r}")
    for what, value in (("episodes per task", episodes_per_task), ("max steps", max_steps), ("limit", limit)):
        if value is not None and value < 1:
            raise ValueError(f"Expected {what} to be at least 1, got {value}")
    if seed < 0:
        raise ValueError(f"Expected a seed of at least 0, got {seed}")


def _choose(env_id: str, kwargs: Mapping[str, Any], tasks: Sequence[str] | None, limit: int | None) -> list[str]:
    env = gym.make(env_id, **kwargs)
    try:
        known = getattr(env.unwrapped, "tasks", None)
        if known is None:
            raise ValueError(f"{env_id} lists no tasks: expected an environment with .tasks.ids")
        chosen = [known.check(task) for task in tasks] if tasks else list(known.ids)
    finally:
        env.close()
    if repeated := sorted({task for task in chosen if chosen.count(task) > 1} if tasks else ()):
        raise ValueError(
            f"The task {repeated[0]!r} is named more than once: use --episodes-per-task for several attempts"
        )
    return spread(chosen, limit) if limit is not None else chosen


def _identify(
    env_id: str, kwargs: Mapping[str, Any], tasks: Sequence[str], progress: Progress
) -> tuple[list[str], str]:
    """Return the labels of the tasks' data and a hash over the tasks' ids and worlds."""
    # Neither option changes a world, and both can take seconds a task.
    plain = {key: value for key, value in kwargs.items() if key not in ("engine", "expert")}
    if plain != kwargs:
        _read_worlds(env_id, kwargs, tasks[:1], lambda done, total: None)  # that they work is better known now
    try:
        return _read_worlds(env_id, plain, tasks, progress)
    except ValueError:
        if "engine" not in kwargs:
            raise
        return _read_worlds(env_id, kwargs, tasks, progress)  # games of which only that engine knows the rules


def _read_worlds(
    env_id: str, kwargs: Mapping[str, Any], tasks: Sequence[str], progress: Progress
) -> tuple[list[str], str]:
    env = gym.make(env_id, **kwargs)
    bottom = env.unwrapped
    labels: set[str] = set()
    lines: list[str] = []
    try:
        for done, task_id in enumerate(tasks, 1):
            _, info = env.reset(seed=0, options={"task_id": task_id})
            if isinstance(bottom, ExplorableEnv) and bottom.snapshot_kind != "none":
                world = bottom.snapshot().world
            else:
                world = ""
            labels.add(info.get("data", "unknown"))
            lines.append(f"{task_id} {world}\n")
            progress(done, len(tasks))
    finally:
        env.close()
    return sorted(labels), hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def _source(kind: type[Agent]) -> dict[str, str]:
    """Return the digest of the file of an agent from elsewhere, so that a run never mixes two versions of it."""
    file = None if kind in (AGENTS | MODEL_AGENTS).values() else inspect.getsourcefile(kind)
    return {"source_sha256": hashlib.sha256(Path(file).read_bytes()).hexdigest()} if file else {}


def _git() -> dict[str, Any] | None:
    """Return the commit of the checkout that this code runs from, and whether it was changed since."""

    def git(*arguments: str) -> str:
        folder = Path(__file__).parent
        command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()

    try:
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain", "--untracked-files=no"))}
    except (OSError, subprocess.SubprocessError):
        return None
