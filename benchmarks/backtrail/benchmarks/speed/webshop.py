"""Speed and memory of WebShop: ``python -m backtrail.benchmarks.speed.webshop``. Every figure is the median of several runs.

The original cannot run beside it (it needs Java, a server and a language model), so its figures, taken on such a machine with
the 1,000 official products, are quoted: 19 steps a second and core, 650 MB a process, 7.5 s to start.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from backtrail.benchmarks.speed.measuring import played, resident
from backtrail.envs import ExplorableEnv, Fingerprint, VisitCount, restore

ID = "backtrail/WebShop-v0"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--data", default="generated", help="generated, generated:N, official, or a catalogue's folder")
    parser.add_argument("--episodes", type=int, default=200, help="episodes of the script that is played")
    parser.add_argument("--runs", type=int, default=5, help="repetitions of every measurement")
    parser.add_argument("--environments", type=int, default=1000, help="environments over one catalogue")
    given = parser.parse_args(arguments)
    rows = [*_steps(given), *_memory(given)]
    sys.stdout.write(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, ")
    sys.stdout.write(f"data {given.data!r}, median of {given.runs} runs\n\n| what | figure |\n| --- | --- |\n")
    sys.stdout.writelines(f"| {name} | {figure} |\n" for name, figure in rows)


def _steps(given: argparse.Namespace) -> list[tuple[str, str]]:
    rows = []
    for mode in ("text", "text_rich", "html"):
        env = _make(given.data, observation=mode)
        script = _script(env, given.episodes)
        seconds = statistics.median(played(env, script) for _ in range(given.runs))
        rows.append((f"environment, `{mode}`: step", _rate(seconds, script)))
    counted = VisitCount(Fingerprint(_make(given.data)))
    seconds = statistics.median(played(counted, script) for _ in range(given.runs))
    rows.append(("with Fingerprint and VisitCount, `text`: step", _rate(seconds, script)))
    bare = _make(given.data)
    for name, env in (("environment", bare), ("with Fingerprint and VisitCount", counted)):
        env.reset(options={"task_id": script[0][0]})
        for action in script[0][1][:-1]:
            env.step(action)
        seconds = statistics.median(_timed(lambda env=env: _back(env)) for _ in range(given.runs)) / 1000
        rows.append((f"{name}: snapshot + restore", f"{1e6 * seconds:.1f} us"))
    bottom = _bottom(bare)
    rows.append(
        ("fingerprint", f"{1e3 * statistics.median(_timed(lambda: _prints(bottom)) for _ in range(given.runs)):.1f} us")
    )
    seconds = statistics.median(_timed(lambda: [bare.reset(seed=k) for k in range(1000)]) for _ in range(given.runs))
    rows.append(("reset", f"{1e3 * seconds:.1f} us"))
    return rows


def _memory(given: argparse.Namespace) -> list[tuple[str, str]]:
    first = _make(given.data)
    first.reset(seed=0)
    before, started = resident(), time.perf_counter()
    envs = [_make(given.data) for _ in range(given.environments)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
        env.step("search[tea]")
    took, grown = time.perf_counter() - started, resident() - before
    return [
        ("resident memory of the process before", f"{before / 1e6:.0f} MB"),
        (
            f"{given.environments:,} more environments over the catalogue, each after a step",
            f"{grown / 1e6:.1f} MB, {took:.2f} s",
        ),
    ]


def _make(data: str, **options: Any) -> gym.Env:
    return gym.make(ID, data=data, max_episode_steps=1_000_000_000, **options)


def _bottom(env: gym.Env) -> ExplorableEnv:
    bottom = env.unwrapped
    if not isinstance(bottom, ExplorableEnv):
        raise TypeError(f"Expected an explorable environment, got {type(bottom).__name__}")
    return bottom


def _script(env: gym.Env, episodes: int) -> list[tuple[str, list[str]]]:
    """Return tasks with actions: ten random clicks, then the oracle's way to a purchase."""
    rng, script = np.random.default_rng(0), []
    for seed in range(episodes):
        _, info = env.reset(seed=seed)
        actions = []
        for _ in range(10):
            possible = [action for action in info["admissible_actions"] if action != "click[buy now]"]
            actions.append(possible[int(rng.integers(len(possible)))])
            _, _, _, _, info = env.step(actions[-1])
        plan = _bottom(env).expert_plan()  # pyright: ignore[reportAttributeAccessIssue]
        script.append((info["task_id"], [*actions, *plan]))
    return script


def _rate(seconds: float, script: list[tuple[str, list[str]]]) -> str:
    steps = sum(len(actions) for _, actions in script)
    return f"{1e6 * seconds / steps:.0f} us, {steps / seconds:,.0f} a second"


def _back(env: gym.Env) -> None:
    bottom = _bottom(env)
    for _ in range(1000):
        restore(env, bottom.snapshot())


def _prints(bottom: ExplorableEnv) -> None:
    for _ in range(1000):
        bottom.fingerprint()


def _timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
