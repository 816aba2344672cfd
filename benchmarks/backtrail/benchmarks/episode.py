"""`Player`: one environment and one agent that play the episodes of a run, a row each."""

from __future__ import annotations

import contextlib
import math
import os
import re
import time
import traceback
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

import gymnasium as gym

import backtrail.envs  # noqa: F401  # registers the ids
from backtrail.agents import Agent, Task, Turn
from backtrail.benchmarks.catalog import agent_class
from backtrail.benchmarks.recipe import Episode, RunConfig
from backtrail.envs import Fingerprint, Record, Rollback, VisitCount
from backtrail.envs.core import digest
from backtrail.envs.wrappers.rollback import Method

__all__ = ["Outcome", "Player", "Seat", "failure", "stack"]

_STATUSES = ("exact", "approximate", "failed", "unsupported")


class Outcome(NamedTuple):
    """What became of an episode: a row of episodes.jsonl if it was finished, else of failures.jsonl."""

    finished: bool
    row: dict[str, Any]


class EpisodeRecord(Record):
    """`Record` with one file an episode, named by the caller; it is called ``.part`` until the episode is finished."""

    _stem = "episode"

    def begin(self, stem: str) -> None:
        """Name the next episode."""
        self._stem = stem

    def finish(self) -> Path:
        """Put the finished episode in its place, and on the disk."""
        assert self._file is not None and self.path is not None
        os.fsync(self._file.fileno())
        self._file.close()
        self._file = None
        self.path = self.path.replace(self.path.with_suffix(".jsonl"))
        return self.path

    def _open(self) -> None:
        if self._file is not None:
            self._file.close()
        self._folder.mkdir(parents=True, exist_ok=True)
        self.path = self._folder / f"{self._stem}.part"
        if self.path.exists():  # an attempt that was cut off: its pictures are not those of this one
            for picture in self._folder.glob(f"{self._stem}-*.png"):
                picture.unlink()
        self._file, self._line = self.path.open("w", encoding="utf-8"), 0


def stack(config: RunConfig) -> gym.Env:
    """Make the environment of a run with the wrappers that measure, `Record` aside."""
    env: gym.Env = gym.make(config.env_id, max_episode_steps=config.max_steps, **config.env_kwargs)
    env = VisitCount(Fingerprint(env))
    if config.rollback_methods:
        env = Rollback(env, methods=cast("list[Method]", config.rollback_methods))
    return env


def file_stem(episode_id: str) -> str:
    """Return a file name for an episode: readable, and never that of another episode."""
    return f"{re.sub('[^A-Za-z0-9_-]+', '.', episode_id)[:120]}-{digest(episode_id)[:8]}"


def failure(episode: Episode, error: str, trace: str = "") -> Outcome:
    """Return the row of an episode that could not be played."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    return Outcome(False, {**_identity(episode), "error": error, "traceback": trace, "time_utc": when})


def _identity(episode: Episode) -> dict[str, Any]:
    return {
        "episode": episode.id,
        "task_id": episode.task_id,
        "attempt": episode.attempt,
        "seed": episode.seed,
    }


class Seat:
    """One agent in one environment, in the middle of an episode: the environment's half of playing."""

    def __init__(self, config: RunConfig, steps: Path, agent: Agent):
        """Make the environment; ``steps`` is the folder of the recorded episodes."""
        self.agent = agent
        self._env = EpisodeRecord(stack(config), steps)
        self._env_id = config.env_id

    def begin(self, episode: Episode) -> None:
        """Begin an episode."""
        self.episode = episode
        self._env.begin(file_stem(episode.id))
        self._tally = Tally()
        self._started = time.perf_counter()
        options = {"task_id": episode.task_id}
        self.observation, self.info = self._tally.timed(
            "env", lambda: self._env.reset(seed=episode.seed, options=options)
        )
        self._tally.see(self.info)
        task = Task(self._env_id, episode.task_id, self.observation.get("goal", ""), episode.seed)
        self._tally.timed("agent", lambda: self.agent.reset(task))

    def think(self) -> Turn:
        """Let the agent choose, alone."""
        return self._tally.timed("agent", lambda: self.agent.act(self.observation, self.info))

    def spent(self, seconds: float) -> None:
        """Count time that the agent took elsewhere: its share of a call for many."""
        self._tally.seconds["agent"] += seconds

    def move(self, turn: Turn) -> dict[str, Any] | None:
        """Carry out a turn; return the row of the episode if that was its last step."""
        if not isinstance(turn, Turn):
            raise TypeError(f"{type(self.agent).__name__}.act has to return a Turn, it returned {type(turn).__name__}")
        self._env.annotate(**_note(turn))
        step = self._tally.timed("env", lambda: self._env.step(turn.action))
        self.observation, reward, terminated, truncated, self.info = step
        self._tally.step(turn, float(reward), self.info)
        return self._row(bool(terminated), bool(truncated)) if terminated or truncated else None

    def close(self) -> None:
        """Close agent and environment."""
        try:
            self.agent.close()
        finally:
            self._env.close()

    def _row(self, terminated: bool, truncated: bool) -> dict[str, Any]:
        path = self._env.finish()
        return {
            **_identity(self.episode),
            "task_type": self.info.get("task_type", ""),
            "data": self.info.get("data", "unknown"),
            "success": bool(self.info["success"]),
            **self._tally.row(),
            "terminated": terminated,
            "truncated": truncated,
            "final_fingerprint": self.info["fingerprint"],
            "steps_file": f"{path.parent.name}/{path.name}",
            "time": self._tally.seconds | {"total": time.perf_counter() - self._started},
        }


class Player:
    """Plays episodes one after another; environment and agent are made for the first and kept until a fault.

    The time of the environment includes its wrappers and the record. `backtrail.benchmarks.batch` plays many at once.
    """

    def __init__(self, config: RunConfig, steps: Path):
        """Make the player; ``steps`` is the folder of the recorded episodes."""
        self._config, self._steps = config, steps
        self._seat: Seat | None = None

    def play(self, episode: Episode) -> Outcome:
        """Play an episode. Whatever goes wrong with it becomes a failure; the next one gets a new environment."""
        try:
            if self._seat is None:
                kind = agent_class(self._config.agent["name"])
                self._seat = Seat(self._config, self._steps, kind(**self._config.agent["options"]))
            seat = self._seat
            seat.begin(episode)
            row = None
            while row is None:
                row = seat.move(seat.think())
            return Outcome(True, row)
        except Exception as fault:  # noqa: BLE001  # ok: environments and agents are foreign code, and one fault is no end
            trace = traceback.format_exc()
            with contextlib.suppress(Exception):  # ok: what is broken may fail to close, too
                self.close()
            return failure(episode, f"{type(fault).__name__}: {fault}", trace)

    def close(self) -> None:
        """Close environment and agent; safe to call twice."""
        seat, self._seat = self._seat, None
        if seat is not None:
            seat.close()


class Tally:
    """Counts what happens in an episode."""

    def __init__(self) -> None:
        self.seconds = {"env": 0.0, "agent": 0.0}
        self._states: set[str] = set()
        self._unique: list[int] = []
        self._return = 0.0
        self._invalid = self._revisits = self._valid = 0
        self._rollbacks = dict.fromkeys(_STATUSES, 0)
        self._usage: Counter[str] = Counter()

    def timed(self, who: str, call: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        result = call()
        self.seconds[who] += time.perf_counter() - started
        return result

    def see(self, info: dict[str, Any]) -> None:
        self._states.add(info["fingerprint"])
        self._unique.append(len(self._states))

    def step(self, turn: Turn, reward: float, info: dict[str, Any]) -> None:
        self.see(info)
        self._return += reward
        self._revisits += info["visits"] > 0
        self._valid += turn.valid
        self._usage.update(turn.usage)
        if "rollback" in info:  # its action_error, if any, is that of the place gone back to
            self._rollbacks[info["rollback"]["status"]] += 1
        else:
            self._invalid += bool(info.get("action_error"))

    def row(self) -> dict[str, Any]:
        if not math.isfinite(self._return):
            raise ValueError(f"The rewards of the episode add up to {self._return}: expected finite numbers")
        return {
            "return": self._return,
            "steps": len(self._unique) - 1,
            "invalid_actions": self._invalid,
            "unique_states": self._unique[-1],
            "revisits": self._revisits,
            "unique_by_step": self._unique,
            "rollbacks": self._rollbacks,
            "valid_turns": self._valid,
            "usage": dict(self._usage),
        }


def _note(turn: Turn) -> dict[str, Any]:
    note = {"response": turn.response, "explore": turn.explore, "memory": turn.memory, "valid": turn.valid}
    return note | ({"usage": dict(turn.usage)} if turn.usage else {})
