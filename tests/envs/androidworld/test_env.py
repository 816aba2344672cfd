"""The environment: tasks from start to end, what ends them, going back."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import pytest

from backtrail.envs import SnapshotError, testing
from backtrail.envs.androidworld.env import AndroidWorldEnv
from backtrail.envs.androidworld.tasks.pack import FAMILIES, SPLITS, Tasks, task_kinds
from backtrail.envs.core import Snapshot

DONE = '{"action_type": "status", "goal_status": "complete"}'
GIVEN_UP = '{"action_type": "status", "goal_status": "infeasible"}'


def make(**options: Any) -> AndroidWorldEnv:
    return AndroidWorldEnv(**{"screenshot": False, "split": "test"} | options)


def test_there_are_enough_tasks_and_no_two_have_one_id() -> None:
    assert len(task_kinds()) >= 40 and len(FAMILIES) >= 12
    ids = [task_id for split in SPLITS for task_id in Tasks(split).ids]
    assert len(set(ids)) == len(ids)
    assert any(kind.infeasible for kind in task_kinds().values())
    assert any(kind.answers for kind in task_kinds().values())


@pytest.mark.parametrize("name", sorted(task_kinds()))
def test_the_oracle_earns_one_and_claiming_success_earns_nothing(name: str) -> None:
    env = make(expert=True)
    for task_id in [task_id for task_id in env.tasks.ids if task_id.rpartition("/")[2].startswith(f"{name}-")]:
        _, info = env.reset(options={"task_id": task_id})
        budget, reward, steps, terminated = info["budget"], 0.0, 0, False
        while not terminated and steps < budget:
            _, reward, terminated, _, info = env.step(info["expert_plan"][0])
            assert not info["action_error"]
            steps += 1
        assert reward == 1.0 and info["success"]
        for claim in (DONE, GIVEN_UP):
            env.reset(options={"task_id": task_id})
            _, reward, terminated, _, info = env.step(claim)
            right = claim == GIVEN_UP and task_kinds()[name].infeasible
            assert terminated and reward == float(right) == float(info["success"])


def test_the_laws_with_other_options() -> None:
    testing.check_explorable(lambda: make(bounds=True, show_admissible=True), seeds=range(2))


def test_a_wrong_step_is_planned_around() -> None:
    env = make(expert=True)
    _, info = env.reset(options={"task_id": "test/contacts/ContactsAdd-2000"})
    env.step(info["expert_plan"][0])
    _, _, _, _, info = env.step('{"action_type": "navigate_home"}')
    reward = 0.0
    while info["expert_plan"]:
        _, reward, _, _, info = env.step(info["expert_plan"][0])
    assert reward == 1.0


def test_nothing_can_be_done_after_the_end() -> None:
    env = make()
    env.reset(seed=0)
    env.step(GIVEN_UP)
    here = env.fingerprint()
    _, reward, terminated, _, info = env.step(DONE)
    assert (reward, terminated, env.fingerprint()) == (0.0, False, here)
    assert "over" in info["action_error"] and info["admissible_actions"] == []


def test_damaged_snapshots_are_refused_and_change_nothing() -> None:
    env = make()
    env.reset(seed=1)
    env.step('{"action_type": "open_app", "app_name": "Contacts"}')
    good = env.snapshot()
    state, *rest = good.payload
    for payload in (
        ("{}", *rest),
        (state[:-1], *rest),
        (state.replace('"page":"main"', '"page":5'), *rest),
        (state,),
        None,
    ):
        with pytest.raises(SnapshotError):
            env.restore(Snapshot(good.env, good.world, payload))
        assert env.snapshot() == good


def test_what_is_unknown_is_refused() -> None:
    for options, said in (
        ({"split": "valid_seen"}, "train, valid, test"),
        ({"task_types": ["cooking"]}, "contacts"),
        ({"task_id": "test/contacts/Nothing-1"}, "ids look like"),
        ({"fingerprint": "pixels"}, "physical, state, screen"),
        ({"scale": 0}, "0.05"),
        ({"scale": "big"}, "number"),
        ({"scale": True}, "number"),
        ({"task_types": "settings"}, "a list such as"),
        ({"tasks": ""}, "own, portable"),
        ({"device": "emulator", "device_options": {"port": 1}}, "console_port"),
        ({"device": "real"}, "simulated, emulator"),
    ):
        with pytest.raises(ValueError, match=said):
            make(**options)


def test_levels_of_the_fingerprint() -> None:
    prints = {}
    for level in ("physical", "state", "screen"):
        env = make(fingerprint=level)
        env.reset(options={"task_id": "test/settings/TurnConnection-2000"})
        seen = [env.fingerprint()]
        for action in ('{"action_type": "open_app", "app_name": "Settings"}', '{"action_type": "navigate_home"}'):
            env.step(action)
            seen.append(env.fingerprint())
        prints[level] = seen
    assert all(one == three != two for one, two, three in prints.values())


def test_half_characters_are_a_bad_action() -> None:
    env = make(tasks="portable")
    env.reset(options={"task_id": "test/notes/NoteCreate-2000"})
    for action in (
        '{"action_type": "input_text", "text": "x\\ud800y"}',
        '{"action_type": "answer", "text": "\\udfff"}',
        '{"action_type": "open_app", "app_name": "\\ud800"}',
    ):
        _, _, terminated, _, info = env.step(action)
        assert not terminated and "whole characters" in info["action_error"]


def test_a_plan_that_cannot_be_made_leaves_the_phone_as_it_is() -> None:
    env = make(tasks="portable")
    env.reset(options={"task_id": "test/notes/NoteNumber-2000"})
    name = env._task.task.parameters["name"]  # pyright: ignore
    env.step('{"action_type": "open_app", "app_name": "Markor"}')
    env.step(
        json.dumps({"action_type": "click", "index": next(n for n, e in enumerate(env.elements) if e.text == name)})
    )
    field = next(n for n, each in enumerate(env.elements) if each.editable)
    env.step(json.dumps({"action_type": "input_text", "index": field, "text": "x: y", "clear_text": True}))
    env.step('{"action_type": "navigate_back"}')
    before = env.backend.save()
    assert env.expert_plan() == []
    assert env.backend.save() == before


def test_very_long_texts_stay_in_the_space() -> None:
    env = make()
    observation, _ = env.reset(options={"task_id": env.tasks.ids[0]})
    env.step('{"action_type": "open_app", "app_name": "Contacts"}')
    env.step(json.dumps({"action_type": "click", "index": _described(env, "Create contact")}))
    field = next(n for n, each in enumerate(env.elements) if each.editable)
    for _ in range(3):
        observation, _, _, _, info = env.step(
            json.dumps({"action_type": "input_text", "index": field, "text": '"' * 3000})
        )
        assert not info["action_error"] and env.observation_space.contains(observation)
    assert "…" in observation["text"] and len(observation["text"]) < 12_000


def test_a_tap_is_taken_back_by_another_only_where_something_is_switched() -> None:
    env = make()
    env.reset(options={"task_id": "test/settings/TurnConnection-2000"})
    env.step('{"action_type": "open_app", "app_name": "Settings"}')
    env.step(json.dumps({"action_type": "click", "index": _described(env, "Network & internet")}))
    assert json.loads(env.undo_actions()[0]) == {"action_type": "navigate_back"}
    switch = next(n for n, each in enumerate(env.elements) if each.checkable)
    env.step(json.dumps({"action_type": "click", "index": switch}))
    assert json.loads(env.undo_actions()[0]) == {"action_type": "click", "index": switch}


def test_before_the_first_reset_there_is_nothing() -> None:
    env = make(render_mode="ansi")
    for ask in (env.undo_actions, env.facts, env.fingerprint, env.snapshot, env.expert_plan):
        with pytest.raises(gym.error.ResetNeeded):
            ask()
    assert env.render() is None


def test_a_snapshot_with_an_impossible_score_is_refused() -> None:
    env = make()
    env.reset(seed=0)
    good = env.snapshot()
    for score in (float("nan"), 5.0, -1.0):
        with pytest.raises(SnapshotError, match="score"):
            env.restore(Snapshot(good.env, good.world, (*good.payload[:3], score, *good.payload[4:])))


def _described(env: AndroidWorldEnv, words: str) -> int:
    return next(n for n, each in enumerate(env.elements) if words in (each.text, each.description))
