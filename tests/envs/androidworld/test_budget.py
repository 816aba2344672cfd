"""The step budget of a task."""

from __future__ import annotations

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

import backtrail.envs  # noqa: F401  # registers the ids
from backtrail.envs import restore
from backtrail.envs._walking import explorable

ID = "backtrail/AndroidWorld-v0"
WAIT = '{"action_type": "wait"}'
SHORT = "test/settings/SetBrightnessEnd-2000"


def steps_until_truncated(env: gym.Env) -> int:
    for taken in range(1, 200):
        _, _, terminated, truncated, _ = env.step(WAIT)
        assert not terminated
        if truncated:
            return taken
    return 0


def test_an_episode_has_the_steps_of_its_task() -> None:
    env = gym.make(ID, screenshot=False)
    for task_id in (SHORT, "test/contacts/ContactsAdd-2000", SHORT):
        _, info = env.reset(options={"task_id": task_id})
        assert steps_until_truncated(env) == info["budget"] < 120


def test_the_smaller_limit_counts_and_the_budget_can_be_left_out() -> None:
    env = gym.make(ID, screenshot=False, max_episode_steps=3)
    env.reset(options={"task_id": SHORT})
    assert steps_until_truncated(env) == 3
    env = gym.make(ID, screenshot=False, budget=False)
    _, info = env.reset(options={"task_id": SHORT})
    assert info["budget"] is None
    assert steps_until_truncated(env) == 120


def test_going_back_gives_no_steps_back() -> None:
    env = gym.make(ID, screenshot=False)
    _, info = env.reset(options={"task_id": SHORT})
    kept = explorable(env).snapshot()
    env.step(WAIT)
    restore(env, kept)
    assert steps_until_truncated(env) == info["budget"] - 1


def test_the_budget_is_part_of_what_is_registered() -> None:
    spec = gym.make(ID, screenshot=False).spec
    assert spec is not None and [each.name for each in spec.additional_wrappers] == ["TaskBudget"]
    env = gym.make(EnvSpec.from_json(spec.to_json()))
    _, info = env.reset(options={"task_id": SHORT})
    assert steps_until_truncated(env) == info["budget"]
