"""The step budget of a task."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

__all__ = ["TaskBudget"]


class TaskBudget(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Truncates an episode after the steps that its task allows, ``info["budget"]``; None is no end.

    Steps that are taken back by a snapshot stay spent, as with Gymnasium's ``TimeLimit``.
    """

    def __init__(self, env: gym.Env[Any, Any]):
        """Count the steps in ``env``."""
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._taken = 0
        self._budget: int | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode with all its steps."""
        observation, info = super().reset(seed=seed, options=options)
        self._taken, self._budget = 0, info["budget"]
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take a step; the last one truncates."""
        observation, reward, terminated, truncated, info = super().step(action)
        self._taken += 1
        spent = self._budget is not None and self._taken >= self._budget
        return observation, reward, terminated, truncated or spent, info
