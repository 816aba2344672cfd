"""What has to hold for every task on the simulated phone, whichever family it is of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

from backtrail.envs.androidworld.actions import read_action
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.phone.identity import phone_fingerprint
from backtrail.envs.androidworld.simulated import SimulatedBackend
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.catalog import ALL_TASKS
from backtrail.envs.androidworld.tasks.oracle import Oracle

__all__ = ["SEEDS", "check_other_process", "check_task", "prepared", "solved", "task_of"]

SEEDS = (0, 1, 2, 3, 4, 1000, 2000)


def task_of(name: str, seed: int = 0) -> PhoneTask:
    """Return a task by the name of its kind."""
    return next(kind for kind in ALL_TASKS if kind.__name__ == name)(seed)


def prepared(task: PhoneTask) -> SimulatedBackend:
    """Return a fresh phone on which a task is prepared, as an episode begins."""
    backend = SimulatedBackend(make_phone(0.1))
    task.prepare(backend.phone)
    backend.phone.home()
    backend.phone.changed()
    return backend


def solved(task: PhoneTask) -> Oracle:
    """Return the oracle after it solved a task on a fresh phone."""
    oracle = Oracle(prepared(task))
    task.solve(oracle)
    return oracle


def check_task(kind: type[PhoneTask], seed: int) -> None:
    """The task begins undone, stays so if nothing is done, and is done by the oracle, whose actions can be done again."""
    task = kind(seed)
    assert task.goal and kind(seed).goal == task.goal and "{" not in task.goal
    assert json.loads(json.dumps(task.parameters)) == task.parameters, "parameters are plain values"
    backend = prepared(task)
    begun = backend.save()
    assert not task.done(backend.phone)
    assert backend.save() == begun, "a check changes nothing"
    for action in ('{"action_type": "wait"}', '{"action_type": "navigate_back"}', '{"action_type": "navigate_home"}'):
        backend.act(read_action(action, 0, backend.size))
    assert not task.done(backend.phone)

    oracle = solved(task)
    assert task.infeasible or task.done(oracle.phone)
    assert len(oracle.actions) + 2 <= task.steps <= 40, f"{len(oracle.actions)} actions"

    again = prepared(kind(seed))
    for text in oracle.actions:
        again.act(read_action(text, len(again.elements()), again.size))
    assert phone_fingerprint(again.phone, "") == phone_fingerprint(oracle.phone, "")
    assert task.infeasible or task.done(again.phone)


def check_other_process(kinds: Sequence[type[PhoneTask]]) -> None:
    """Another process, with another order of hashes, draws the same parameters."""
    code = (
        "import importlib, json, sys\n"
        "kinds = [getattr(importlib.import_module(module), name) for module, name in json.loads(sys.argv[1])]\n"
        f"print(json.dumps([[kind(seed).parameters for seed in {SEEDS}] for kind in kinds]))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, json.dumps([[kind.__module__, kind.__name__] for kind in kinds])],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    for kind, drawn in zip(kinds, json.loads(run.stdout), strict=True):
        assert drawn == [kind(seed).parameters for seed in SEEDS], kind.__name__
