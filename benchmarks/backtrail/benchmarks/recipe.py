"""The recipe of a run: what config.json holds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from backtrail.envs.core import digest

__all__ = ["FORMAT", "Episode", "RunConfig"]

FORMAT = "backtrail-run-1"

_NO_RECIPE = ("name", "wrappers", "versions", "git", "machine", "command")
"""What follows from the recipe, or stands beside it: the same run may be gone on with elsewhere."""


class Episode(NamedTuple):
    """One episode of a plan."""

    id: str
    task_id: str
    attempt: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """The whole recipe of a run, as config.json holds it. `backtrail.benchmarks.plan.plan` makes one.

    Attributes:
        name: The folder's name.
        env_id: The Gymnasium id.
        env_kwargs: What the environment is made with.
        wrappers: Names of the wrappers, innermost first.
        agent: ``{"name", "options"}``.
        tasks: The task ids, in the order they are played.
        episodes_per_task: Attempts at each task.
        seed: What every episode's seed comes from.
        max_steps: The step limit of an episode.
        rollback_methods: Ways back of the rollback action; empty where the agent has none.
        data: The label of the data, as in ``info["data"]``, or the labels if they are mixed.
        data_hash: SHA-256 over the tasks' ids and worlds.
        prompt_hash: Identity of the agent's prompts, None without prompts.
        sampling: How a model samples, None without one.
        versions: Versions of what took part.
        git: ``{"commit", "dirty"}`` of the code, None outside a checkout.
        machine: The platform.
        command: The command line, "" from Python.
    """

    name: str
    env_id: str
    env_kwargs: dict[str, Any]
    wrappers: list[str]
    agent: dict[str, Any]
    tasks: list[str]
    episodes_per_task: int
    seed: int
    max_steps: int
    rollback_methods: list[str]
    data: str | list[str]
    data_hash: str
    prompt_hash: str | None = None
    sampling: dict[str, Any] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    git: dict[str, Any] | None = None
    machine: dict[str, Any] = field(default_factory=dict)
    command: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return what config.json holds."""
        return {"format": FORMAT, **asdict(self)}

    def episodes(self) -> list[Episode]:
        """Return all episodes of the plan: first attempts first, each with a seed of its own."""
        return [
            Episode(f"{task_id}#{attempt}", task_id, attempt, episode_seed(self.seed, task_id, attempt))
            for attempt in range(self.episodes_per_task)
            for task_id in self.tasks
        ]

    def differences(self, other: RunConfig) -> list[str]:
        """Return what differs between two recipes, a phrase each; provenance (versions, machine, command) aside."""
        mine, others = (json.loads(json.dumps(asdict(config))) for config in (self, other))
        keys = [key for key in mine if key not in _NO_RECIPE and mine[key] != others[key]]
        if "tasks" in keys and "data_hash" in keys:
            keys.remove("data_hash")  # it is over the tasks
        return [f"{key} {_short(mine[key])} there, {_short(others[key])} here" for key in keys]


def episode_seed(seed: int, task_id: str, attempt: int) -> int:
    """Return the seed (32 bits) of one attempt at one task: it depends on nothing else, so any subset can be played."""
    return int(digest(f"{seed}\n{task_id}\n{attempt}")[:8], 16)


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"[{len(value)} of them, {digest(json.dumps(value))[:8]}]"
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
