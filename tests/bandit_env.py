"""``bandit_env:Bandit-v0``: one step, whose reward is 1 if the action begins with "go"."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from backtrail.envs import FreeText

GOAL = "find the mug"
PLACES = ("desk 1", "bed 1", "drawer 1", "shelf 1", "drawer 2", "desk 2")


class Bandit(gym.Env[dict[str, str], str]):
    """Shows a place; the seed picks which."""

    def __init__(self) -> None:
        space = spaces.Dict({"goal": FreeText(64), "text": FreeText(64)})
        self.observation_space = space  # pyright: ignore[reportAttributeAccessIssue]  # Gymnasium types Dict by its spaces
        self.action_space = FreeText(256)
        self._place = PLACES[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        super().reset(seed=seed)
        self._place = PLACES[int(self.np_random.integers(len(PLACES)))]
        return self._observe(), {"task_id": self._place}

    def step(self, action: str) -> tuple[dict[str, str], float, bool, bool, dict[str, Any]]:
        won = action.split()[:1] == ["go"]
        return self._observe(), float(won), True, False, {"task_id": self._place, "success": won}

    def _observe(self) -> dict[str, str]:
        return {"goal": GOAL, "text": f"you are at {self._place}."}


if "Bandit-v0" not in gym.registry:  # test collectors import a module more than once
    gym.register(id="Bandit-v0", entry_point="bandit_env:Bandit")
