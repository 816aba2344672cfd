"""Speed and memory of ALFWorld: the native engine against the original stack, in one process.

Run it as ``python -m backtrail.benchmarks.speed.alfworld --data FOLDER``. Every figure is the median of several runs; the
ratios compare medians of the same process, on the same games.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import statistics
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from backtrail.benchmarks.speed.measuring import resident
from backtrail.envs import ExplorableEnv, Fingerprint, Rollback, VisitCount, make_vec, restore
from backtrail.envs.alfworld.engine import Engine
from backtrail.envs.alfworld.expert import shortest_plan
from backtrail.envs.alfworld.tasks import Tasks
from backtrail.envs.alfworld.textworld import TextWorldEngine

ID = "backtrail/ALFWorld-v0"

Row = tuple[str, str, str]


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description="Measure the speed and the memory of ALFWorld.")
    parser.add_argument("--data", default="generated", help="generated, official, or a folder of official games")
    parser.add_argument("--games", type=int, default=6, help="games that both engines play")
    parser.add_argument("--steps", type=int, default=40, help="steps in each of them")
    parser.add_argument("--runs", type=int, default=5, help="repetitions of every native measurement")
    parser.add_argument("--soak", type=int, default=100_000, help="steps of the vector soak; 0 leaves it out")
    parser.add_argument("--no-textworld", action="store_true", help="leave out the original stack")
    options = parser.parse_args()
    tasks = Tasks(options.data, "valid_seen", None, "numbered")
    some = [tasks.ids[k * len(tasks.ids) // options.games] for k in range(options.games)]
    rows: list[Row] = []
    native = measure_native(tasks, some, options.runs, options.steps)
    original = {} if options.no_textworld else measure_textworld(tasks, some, options.steps)
    for name, seconds in (original | native).items():
        against = original.get("TextWorld: load + reset" if "reset" in name else "TextWorld: step")
        ratio = f"{against / seconds:,.0f}x" if against and name in native and name in COMPARED else ""
        rows.append((name, _seconds(seconds), ratio))
    rows += measure_plans(tasks)
    rows += measure_memory(options.data)
    if options.soak:
        rows += soak(options.data, options.soak)
    sys.stdout.write(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, ")
    sys.stdout.write(f"data {options.data!r}, {options.games} games, median of {options.runs} runs\n\n")
    sys.stdout.write("| what | figure | against TextWorld |\n| --- | --- | --- |\n")
    sys.stdout.writelines(f"| {name} | {figure} | {ratio} |\n" for name, figure, ratio in rows)


COMPARED = {
    "engine: read a game + reset",
    "engine: step",
    "registered environment: step",
    "with Fingerprint and VisitCount: step",
}
"""Measurements that have a counterpart in the original stack."""


def measure_textworld(tasks: Tasks, ids: Sequence[str], steps: int) -> dict[str, float]:
    """Time the original stack: a new game each time, then random admissible commands."""
    resets, walks = [], []
    engine: TextWorldEngine | None = None
    rng = np.random.default_rng(0)
    for task_id in ids:
        content, game = tasks.content(task_id), tasks.game(task_id)
        started = time.perf_counter()
        engine = TextWorldEngine(content, game, after=engine)
        _ = engine.start
        resets.append(time.perf_counter() - started)
        original: Any = engine._env  # its own step, without reading the state for us
        reply = original.reset()
        for _ in range(steps):
            command = str(rng.choice(reply["admissible_commands"]))
            started = time.perf_counter()
            reply, _, _ = original.step(command)
            walks.append(time.perf_counter() - started)
    return {"TextWorld: load + reset": statistics.median(resets), "TextWorld: step": statistics.median(walks)}


def measure_native(tasks: Tasks, ids: Sequence[str], runs: int, steps: int) -> dict[str, float]:
    """Time the native engine and the environment, per reset or step, over the same games."""

    def cold() -> int:
        for task_id in ids:
            engine = Engine(tasks.game(task_id))
            engine.options(engine.start)
        return len(ids)

    engines = [tasks.engine(task_id) for task_id in ids]
    scripts = [_script(engine, steps * 5, k) for k, engine in enumerate(engines)]

    def play() -> int:
        for engine, script in zip(engines, scripts, strict=True):
            state = engine.start
            for command in script:
                state, _, _ = engine.step(state, command)
                engine.options(state)
        return sum(map(len, scripts))

    ends = [_end(engine, script) for engine, script in zip(engines, scripts, strict=True)]

    def back() -> int:
        for engine, state in zip(engines, ends, strict=True):
            for _ in range(100):
                kept = state  # a state is immutable: keeping it is keeping a reference
                engine.options(kept)
        return 100 * len(ends)

    found = {"engine: read a game + reset": _per(cold, runs), "engine: step": _per(play, runs)}
    found["engine: snapshot + restore"] = _per(back, runs)
    bare = gym.make(ID, data=_data(tasks), max_episode_steps=1_000_000_000)
    counted = VisitCount(Fingerprint(gym.make(ID, data=_data(tasks), max_episode_steps=1_000_000_000)))
    rolling = Rollback(VisitCount(Fingerprint(gym.make(ID, data=_data(tasks), max_episode_steps=1_000_000_000))))
    for name, env in (
        ("registered environment", bare),
        ("with Fingerprint and VisitCount", counted),
        ("with Fingerprint, VisitCount and Rollback", rolling),
    ):
        found[f"{name}: step"] = _per(lambda env=env: _play(env, ids, scripts), runs)
    found["registered environment: reset to a known game"] = _per(lambda: _resets(bare, ids), runs)
    found["with Fingerprint and VisitCount: snapshot + restore"] = _per(lambda: _returns(counted), runs)
    return found


def measure_plans(tasks: Tasks) -> list[Row]:
    """Time the expert on up to 300 games, each from its start."""
    times = []
    for task_id in tasks.ids[:300]:
        engine = Engine(tasks.game(task_id))
        started = time.perf_counter()
        shortest_plan(engine)
        times.append(time.perf_counter() - started)
    times.sort()
    figures = ", ".join(f"{what} {_seconds(value)}" for what, value in (
        ("median", statistics.median(times)), ("p99", times[len(times) * 99 // 100]), ("worst", times[-1]),
    ))  # fmt: skip
    return [(f"expert: a shortest plan, {len(times)} games", figures, "")]


def measure_memory(data: str, envs: int = 200) -> list[Row]:
    """Measure what an environment more costs, each in a game of its own, after 50 random steps."""
    made, rng = [], np.random.default_rng(0)
    tasks = Tasks(data, "train", None, "numbered")

    def add(task_id: str) -> None:
        env = gym.make(ID, data=data, task_id=task_id)
        _, info = env.reset(seed=0)
        for _ in range(50):
            _, _, _, _, info = env.step(str(rng.choice(info["admissible_actions"])))
        made.append(env)

    for task_id in tasks.ids[:20]:
        add(task_id)
    gc.collect()
    tracemalloc.start()
    for task_id in tasks.ids[20 : 20 + envs]:
        add(task_id)
    gc.collect()
    allocated, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return [("memory for an environment more, in a game of its own", f"{allocated / envs / 1000:.0f} kB", "")]


def soak(data: str, steps: int, envs: int = 64) -> list[Row]:
    """Step a vector of environments for long and watch memory, threads and files."""
    vector = make_vec(ID, envs, wrappers=(Fingerprint, VisitCount, Rollback), data=data)
    rng = np.random.default_rng(0)
    _, infos = vector.reset(seed=0)
    marks = []
    for step in range(steps // envs):
        actions = tuple(str(rng.choice(possible)) for possible in infos["admissible_actions"])
        *_, infos = vector.step(actions)
        if step % max(1, steps // envs // 10) == 0:
            gc.collect()
            marks.append((resident() / 1e6, threading.active_count(), len(os.listdir("/proc/self/fd"))))
    vector.close()
    memory = " ".join(f"{resident:.0f}" for resident, _, _ in marks)
    threads, files = {mark[1] for mark in marks}, {mark[2] for mark in marks}
    return [
        (f"soak: {envs} environments, {steps:,} steps: memory in MB over time", memory, ""),
        ("soak: threads, open files over time", f"{_span(threads)}, {_span(files)}", ""),
    ]


def _script(engine: Engine, steps: int, seed: int) -> list[str]:
    rng, state, script = np.random.default_rng(seed), engine.start, []
    for _ in range(steps):
        script.append(str(rng.choice(engine.options(state).commands)))
        state, _, _ = engine.step(state, script[-1])
    return script


def _end(engine: Engine, script: Iterable[str]) -> Any:
    state = engine.start
    for command in script:
        state, _, _ = engine.step(state, command)
    return state


def _play(env: gym.Env, ids: Sequence[str], scripts: Sequence[Sequence[str]]) -> int:
    for task_id, script in zip(ids, scripts, strict=True):
        env.reset(options={"task_id": task_id})
        for action in script:
            env.step(action)
    return sum(map(len, scripts))


def _resets(env: gym.Env, ids: Sequence[str]) -> int:
    for _ in range(20):
        for task_id in ids:
            env.reset(options={"task_id": task_id})
    return 20 * len(ids)


def _returns(env: gym.Env) -> int:
    bottom = env.unwrapped
    assert isinstance(bottom, ExplorableEnv)
    for _ in range(1000):
        restore(env, bottom.snapshot())
    return 1000


def _per(work: Callable[[], int], runs: int) -> float:
    """Return the median time of one unit of work, in seconds, after one run that warms up."""
    work()
    found = []
    for _ in range(runs):
        started = time.perf_counter()
        units = work()
        found.append((time.perf_counter() - started) / units)
    return statistics.median(found)


def _data(tasks: Tasks) -> str:
    return str(tasks.root) if tasks.root else "generated"


def _seconds(value: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.0f} ns"


def _span(values: set[int]) -> str:
    return str(min(values)) if len(values) == 1 else f"{min(values)} to {max(values)}"


if __name__ == "__main__":
    main()
