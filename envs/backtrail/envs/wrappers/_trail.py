"""What `Rollback` remembers: what was shown, the steps of the surviving path, and what gains are owed."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from backtrail.envs.core import Snapshot
from backtrail.envs.wrappers._layers import Marks


class Seen(NamedTuple):
    """What the agent was last shown, and where."""

    observation: Any
    info: dict[str, Any]
    fingerprint: str
    terminated: bool


class Place(NamedTuple):
    """What is needed to put the world back: a snapshot and the wrappers that remember, or the copied state of all layers."""

    snapshot: Snapshot | None
    marks: Marks


class Passage(NamedTuple):
    """One step of the surviving path: where it set out from and what is needed to go back there."""

    before: Seen
    action: Any
    place: Place | None
    undo: list[Any]
    outcome: str
    gain: float
    """What the step gained: its reward if positive."""


@dataclass(slots=True)
class Journey:
    """What a rollback has cost and earned so far, and whether the wrappers below have been told of the new place."""

    reward: Any = 0.0
    truncated: bool = False
    acts: int = 0
    told: bool = False


@dataclass(slots=True)
class Ledger:
    """Sees to it that nothing is paid twice: gains that were undone are owed, and taken off the gains that follow."""

    owed: float = 0.0

    def pay(self, reward: Any) -> tuple[Any, float]:
        """Return what is paid of a reward (all of it, untouched, unless something is owed) and what it gains."""
        gain = number(reward)
        if not math.isfinite(gain) or gain <= 0:
            return reward, 0.0
        if self.owed <= 0:
            return reward, gain
        paid, self.owed = max(0.0, gain - self.owed), max(0.0, self.owed - gain)
        return paid, gain


def number(reward: Any) -> float:
    """Return a reward as a number, also if it came as an array of one."""
    return float(np.asarray(reward, float).item())


def copied(observation: Any) -> Any:
    """Return a copy of an observation that shares nothing that can change."""
    if isinstance(observation, str):
        return observation
    if isinstance(observation, dict):
        return {key: copied(value) for key, value in observation.items()}
    return copy.deepcopy(observation)


def fresh(info: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of info that the caller may change."""
    return {key: value.copy() if isinstance(value, list | dict) else value for key, value in info.items()}
