"""What every registered id keeps: the checkers, the spec round trip, one seed one byte stream."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import backtrail.envs
from backtrail.envs import ExplorableEnv, Fingerprint, Record, Rollback, VisitCount, testing
from backtrail.envs.registration import IDS, register_envs

SPLIT = {"backtrail/ALFWorld-v0": "valid_seen", "backtrail/WebShop-v0": "test", "backtrail/AndroidWorld-v0": "test"}
LIMIT = {"backtrail/ALFWorld-v0": 50, "backtrail/WebShop-v0": 15, "backtrail/AndroidWorld-v0": 120}

STACKS: dict[str, Any] = {
    "bare": lambda env, _: env,
    "wrapped": lambda env, _: Rollback(VisitCount(Fingerprint(env)), methods=("act",), depth=8),
    "recorded": lambda env, folder: Record(VisitCount(Fingerprint(env), scope="lifetime"), folder),
}

each_id = pytest.mark.parametrize("env_id", IDS)
each_stack = pytest.mark.parametrize("stack", STACKS)


@each_id
@each_stack
def test_no_checker_has_a_warning(env_id: str, stack: str, tmp_path: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = STACKS[stack](gym.make(env_id), tmp_path)  # make adds the passive checker
        _, info = env.reset(seed=0)
        for action in ["", *info["admissible_actions"][:5], *[env.action_space.sample() for _ in range(5)]]:
            env.step(action)
        env.close()
        check_env(gym.make(env_id).unwrapped)
        for mode in gym.make(env_id).metadata["render_modes"]:
            shown = gym.make(env_id, render_mode=mode)
            shown.reset(seed=0)
            assert len(shown.render())  # pyright: ignore[reportArgumentType]


@each_id
@each_stack
def test_the_spec_rebuilds_the_same_stack(env_id: str, stack: str, tmp_path: Any) -> None:
    def make() -> gym.Env:
        return STACKS[stack](gym.make(env_id, max_episode_steps=7, split=SPLIT[env_id]), tmp_path)

    env = make()
    assert env.spec is not None
    for spec in (env.spec, pickle.loads(pickle.dumps(env.spec)), EnvSpec.from_json(env.spec.to_json())):
        again = gym.make(spec)
        assert str(again) == str(env)
        assert again.spec == spec
        assert list(testing.trace(again, 5, range(6))) == list(testing.trace(make(), 5, range(6)))
        again.close()


@each_id
def test_two_processes_give_the_same_bytes(env_id: str) -> None:
    code = (
        "import gymnasium as gym, backtrail.envs as b; from backtrail.envs.testing import trace; import sys\n"
        f"env = b.Rollback(b.VisitCount(b.Fingerprint(gym.make({env_id!r}))))\n"
        "print(*[line for seed in range(20) for line in trace(env, seed, [seed * 7 + k * k for k in range(30)])])"
    )
    outs = {
        subprocess.check_output([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    }
    assert len(outs) == 1 and len(outs.pop().split()) > 100


@each_id
def test_the_laws(env_id: str) -> None:
    testing.check_explorable(lambda: gym.make(env_id), seeds=range(5))


@each_id
def test_a_seed_picks_the_task_and_nothing_global_does(env_id: str) -> None:
    import random

    import numpy as np

    tasks = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        env = gym.make(env_id)
        state = random.getstate(), list(map(str, np.random.get_state()))  # noqa: NPY002
        tasks.append([env.reset(seed=3)[1]["task_id"], *[env.reset()[1]["task_id"] for _ in range(5)]])
        assert (random.getstate(), list(map(str, np.random.get_state()))) == state  # noqa: NPY002
    assert tasks[0] == tasks[1]
    assert len(set(tasks[0])) > 1


@each_id
def test_steps_before_reset_and_double_close(env_id: str) -> None:
    env = gym.make(env_id)
    bottom = env.unwrapped
    assert isinstance(bottom, ExplorableEnv)
    for call in (lambda: bottom.step("look"), bottom.fingerprint, bottom.snapshot):
        with pytest.raises(gym.error.ResetNeeded):
            call()
    env.close()
    env.close()


@each_id
def test_the_time_limit_truncates(env_id: str) -> None:
    env = gym.make(env_id, max_episode_steps=3)
    env.reset(seed=0)
    assert [env.step("")[3] for _ in range(3)] == [False, False, True]
    assert gym.spec(env_id).max_episode_steps == LIMIT[env_id]


def test_registering_twice_changes_nothing() -> None:
    before = dict(gym.registry)
    register_envs()
    assert dict(gym.registry) == before
    assert {spec for spec in gym.registry if spec.startswith("backtrail/")} == set(IDS)


def test_the_front_door_is_small() -> None:
    assert len(backtrail.envs.__all__) <= 10


@each_id
def test_a_snapshot_restores_in_another_process(env_id: str, tmp_path: Path) -> None:
    env = gym.make(env_id)
    bottom = env.unwrapped
    assert isinstance(bottom, ExplorableEnv)
    _, info = env.reset(seed=4)
    for pick in (3, 14, 15, 9):
        _, _, _, _, info = env.step(info["admissible_actions"][pick % len(info["admissible_actions"])])
    (tmp_path / "place").write_bytes(bottom.snapshot().to_bytes())
    code = (
        "import sys, gymnasium as gym, backtrail.envs; from backtrail.envs import Snapshot; from pathlib import Path\n"
        f"env = gym.make({env_id!r}).unwrapped; env.reset(options={{'task_id': {info['task_id']!r}}})\n"
        f"_, info = env.restore(Snapshot.from_bytes(Path({str(tmp_path / 'place')!r}).read_bytes()))\n"
        "print(env.fingerprint())\n"
        "for _ in range(10): print(env.step(info['admissible_actions'][-1])[0]['text'])"
    )
    there = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    here = [bottom.fingerprint()]
    action = info["admissible_actions"][-1]
    here += "\n".join(bottom.step(action)[0]["text"] for _ in range(10)).splitlines()
    assert there == here
