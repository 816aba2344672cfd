"""What the scripts measure with."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import gymnasium as gym

__all__ = ["played", "resident"]


def played(env: gym.Env, script: Iterable[tuple[str, Sequence[str]]]) -> float:
    """Play (task id, actions); return the seconds without those of the resets."""
    took = 0.0
    for task_id, actions in script:
        env.reset(options={"task_id": task_id})
        started = time.perf_counter()
        for action in actions:
            env.step(action)
        took += time.perf_counter() - started
    return took


def resident() -> int:
    """Return the resident memory of this process in bytes (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
