"""``faulty_env:Faulty-v0``: an environment that misbehaves on request, importable from other processes."""

from __future__ import annotations

import os
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from backtrail.envs import FreeText

HANG, CRASH, RAISE = 1001, 1002, 1003
"""Seeds that misbehave in reset."""


class Faulty(gym.Env[dict[str, str], str]):
    """Counts its steps, names its process, and does what it is told.

    ``hang``, ``crash``, ``raise`` and ``nan`` do what they say; ``meet 3`` waits until three environments are in it.
    """

    def __init__(self, steps: int = 3, meeting: str = ""):
        self.steps, self.meeting = steps, Path(meeting)
        space = spaces.Dict({"goal": FreeText(64), "text": FreeText(64)})
        self.observation_space = space  # pyright: ignore[reportAttributeAccessIssue]  # Gymnasium types Dict by its spaces
        self.action_space = FreeText(64)
        self._at = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        super().reset(seed=seed)
        self._at = 0
        self._misbehave({HANG: "hang", CRASH: "crash", RAISE: "raise"}.get(seed or 0, ""))
        return self._observe(), {"task_id": (options or {}).get("task_id", f"seed {seed}"), "junk": threading.Lock()}

    def step(self, action: str) -> tuple[dict[str, str], float, bool, bool, dict[str, Any]]:
        self._misbehave(action)
        self._at += 1
        reward = float("nan") if action == "nan" else 0.5
        return self._observe(), reward, self._at == self.steps, False, {"success": self._at == self.steps}

    def _observe(self) -> dict[str, str]:
        return {"goal": f"process {os.getpid()}", "text": f"step {self._at}"}

    def _misbehave(self, how: str) -> None:
        if how == "hang":
            threading.Event().wait(600)
        elif how == "crash":
            os._exit(7)
        elif how == "raise":
            raise RuntimeError("out of order")
        elif how.startswith("meet "):
            (self.meeting / str(uuid.uuid4())).touch()
            while len(list(self.meeting.iterdir())) < int(how[5:]):
                time.sleep(0.01)


if "Faulty-v0" not in gym.registry:  # test collectors import a module more than once
    gym.register(id="Faulty-v0", entry_point="faulty_env:Faulty")
