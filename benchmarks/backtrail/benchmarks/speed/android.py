"""Speed and memory of AndroidWorld on the simulated phone: ``python -m backtrail.benchmarks.speed.android``.

Every figure is the median of several runs over the same random actions, at the full 1080 x 2400 pixels. No emulator can run beside
it, so public figures are quoted: a snapshot loads in 0.58 to 0.69 s (appandflow/stim#284), and an accessibility tree comes every 0.1 s.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from backtrail.benchmarks.speed.measuring import played, resident
from backtrail.envs import ExplorableEnv, Fingerprint, VisitCount, restore

ID = "backtrail/AndroidWorld-v0"

Script = list[tuple[str, list[str]]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--episodes", type=int, default=40, help="episodes of the script that is played")
    parser.add_argument("--steps", type=int, default=20, help="random steps of an episode")
    parser.add_argument("--runs", type=int, default=5, help="repetitions of every measurement")
    parser.add_argument("--environments", type=int, default=50, help="further environments in one process")
    parser.add_argument("--memory-of-one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.memory_of_one:
        sys.stdout.write(f"{_one()}\n")
        return
    rows = [*_steps(given), *_states(given), *_memory(given)]
    sys.stdout.write(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, ")
    sys.stdout.write(f"median of {given.runs} runs\n\n| what | figure |\n| --- | --- |\n")
    sys.stdout.writelines(f"| {name} | {figure} |\n" for name, figure in rows)


def _steps(given: argparse.Namespace) -> list[tuple[str, str]]:
    script = _script(_make(screenshot=False), given.episodes, given.steps)
    kinds: tuple[tuple[str, gym.Env], ...] = (
        ("step, 1080 x 2400 screenshot", _make(scale=1.0)),
        ("step, 540 x 1200 screenshot (the default)", _make()),
        ("step, no screenshot", _make(screenshot=False)),
        ("step, no screenshot, with Fingerprint and VisitCount", VisitCount(Fingerprint(_make(screenshot=False)))),
    )
    rows = []
    for name, env in kinds:
        seconds = statistics.median(played(env, script) for _ in range(given.runs))
        count = sum(len(actions) for _, actions in script)
        rows.append((name, f"{count / seconds:,.0f} a second ({1e3 * seconds / count:.2f} ms)"))
    return rows


def _states(given: argparse.Namespace) -> list[tuple[str, str]]:
    env = _make(scale=1.0)
    task_id, actions = _script(env, 1, given.steps)[0]
    env.reset(options={"task_id": task_id})
    for action in actions:
        env.step(action)
    device = env.unwrapped.backend  # pyright: ignore[reportAttributeAccessIssue]
    bottom = env.unwrapped
    assert isinstance(bottom, ExplorableEnv)

    def there_and_back() -> None:
        kept = device.save()
        device.restore(kept)

    timed: tuple[tuple[str, Callable[[], object], int], ...] = (
        ("reset of the phone", device.reset, 100),
        ("reset of the environment, screenshot included", lambda: env.reset(options={"task_id": task_id}), 50),
        ("snapshot + restore of the phone", there_and_back, 100),
        ("snapshot + restore of the environment, screenshot included", lambda: restore(env, bottom.snapshot()), 50),
        ("fingerprint", bottom.fingerprint, 200),
    )
    return [
        (name, f"{1e3 * statistics.median(_timed(call, times) for _ in range(given.runs)):.2f} ms")
        for name, call, times in timed
    ]


def _memory(given: argparse.Namespace) -> list[tuple[str, str]]:
    command = [sys.executable, "-m", "backtrail.benchmarks.speed.android", "--memory-of-one"]
    alone = int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    before = resident()
    envs = [_make(scale=1.0) for _ in range(given.environments)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
        env.step('{"action_type": "open_app", "app_name": "Settings"}')
    grown = (resident() - before) / given.environments
    return [
        ("resident memory of a process with one environment, 20 full-size steps played", f"{alone / 1e6:.0f} MB"),
        (f"each of {given.environments} further environments", f"{grown / 1e6:.1f} MB"),
    ]


def _one() -> int:
    """Play a little in this process and return its resident memory in bytes."""
    env = _make(scale=1.0)
    for task_id, actions in _script(_make(screenshot=False), 1, 20):
        env.reset(options={"task_id": task_id})
        for action in actions:
            env.step(action)
    return resident()


def _make(**options: Any) -> gym.Env:
    return gym.make(ID, max_episode_steps=1_000_000_000, budget=False, split="test", **options)


def _script(env: gym.Env, episodes: int, steps: int) -> Script:
    """Return tasks, each with random admissible actions that do not end it."""
    rng, script = np.random.default_rng(0), []
    for seed in range(episodes):
        _, info = env.reset(seed=seed)
        actions = []
        for _ in range(steps):
            possible = [action for action in info["admissible_actions"] if "goal_status" not in action]
            actions.append(possible[int(rng.integers(len(possible)))])
            _, _, _, _, info = env.step(actions[-1])
        script.append((info["task_id"], actions))
    return script


def _timed(call: Callable[[], object], times: int) -> float:
    started = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - started) / times


if __name__ == "__main__":
    main()
