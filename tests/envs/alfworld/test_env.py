"""The environment: info, options, snapshots, undo, reasons."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.envs import Rollback, Snapshot, SnapshotError, testing
from backtrail.envs.alfworld import ALFWorldEnv
from backtrail.envs.alfworld.explain import why_not
from backtrail.envs.alfworld.tasks import Tasks

HEAT = "valid_seen/pick_heat_then_place_in_recep/0000"
LAMP = "valid_seen/look_at_obj_in_light/0000"

walks = st.lists(st.integers(0, 1 << 16), max_size=30)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), walks, st.sampled_from(["physical", "exact"]))
def test_the_laws_on_any_walk(seed: int, walk: list[int], level: str) -> None:
    for law in (
        testing.check_deterministic,
        testing.check_restore,
        testing.check_bytes,
        testing.check_undo,
        testing.check_noise,
    ):
        law(lambda: ALFWorldEnv(fingerprint=level), seed, walk)  # pyright: ignore[reportArgumentType]


def test_info_says_what_a_result_must_say() -> None:
    env = ALFWorldEnv(task_id=HEAT)
    observation, info = env.reset(seed=0)
    assert set(info) == {"task_id", "task_type", "data", "admissible_actions", "action_error", "success"}
    assert (info["task_id"], info["task_type"], info["data"]) == (HEAT, "pick_heat_then_place_in_recep", "generated:v1")
    assert observation["text"].endswith(f"Your task is to: {observation['goal']}")


def test_the_expert_wins_through_the_environment() -> None:
    env = ALFWorldEnv(split="valid_unseen", expert=True)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        planned = len(info["expert_plan"])
        for step in range(planned):
            _, reward, terminated, truncated, info = env.step(info["expert_plan"][0])
            assert (reward, terminated, truncated) == (float(step == planned - 1), step == planned - 1, False)
        assert info["success"] and info["expert_plan"] == []


def test_admissible_actions_can_be_shown() -> None:
    env = ALFWorldEnv(show_admissible=True)
    observation, info = env.reset(seed=0)
    assert observation["text"].endswith("Admissible actions: " + "; ".join(info["admissible_actions"]))


def test_task_types_and_seeds_choose_the_game() -> None:
    env = ALFWorldEnv(task_types=["look_at_obj_in_light"])
    for seed in range(5):
        assert env.reset(seed=seed)[1]["task_type"] == "look_at_obj_in_light"
    assert env.reset(options={"task_id": HEAT})[1]["task_id"] == HEAT


@pytest.mark.parametrize("action", [3, None, b"look", ["look"], {"action": "look"}])
def test_what_is_no_string_is_refused_and_changes_nothing(action: object) -> None:
    env = ALFWorldEnv(task_id=HEAT)
    env.reset(seed=0)
    before = env.snapshot()
    with pytest.raises(gym.error.InvalidAction, match="string"):
        env.step(action)  # pyright: ignore[reportArgumentType]
    assert env.snapshot() == before


def test_a_megabyte_is_survivable() -> None:
    env = ALFWorldEnv(task_id=HEAT)
    env.reset(seed=0)
    observation, _, _, _, info = env.step("look " * 200_000)
    assert observation["text"] == "Nothing happens." and "1,000,000" in info["action_error"]


def test_a_snapshot_of_another_game_is_refused() -> None:
    env = ALFWorldEnv(task_id=HEAT)
    env.reset(seed=0)
    place = env.snapshot()
    env.reset(options={"task_id": LAMP})
    with pytest.raises(SnapshotError, match="another game"):
        env.restore(place)
    payloads = [(), place.payload[:-1], (*place.payload[:1], (1, 2), *place.payload[2:]), (1, 2, 3, 4, 5, 6, 7)]
    env.reset(options={"task_id": HEAT})
    for payload in payloads:
        with pytest.raises(SnapshotError, match="payload"):
            env.restore(Snapshot(place.env, place.world, payload))


def undone(env: ALFWorldEnv, action: str) -> list[str]:
    env.step(action)
    return env.undo_actions()


def test_undo_actions_are_inverse_commands() -> None:
    env = ALFWorldEnv(task_id=HEAT, expert=True)
    _, info = env.reset(seed=0)
    assert undone(env, info["expert_plan"][0]) == [], "the middle of the room has no name to go back to"
    while not info["success"]:
        before = env.fingerprint()
        action = env.expert_plan()[0]
        _, _, _, _, info = env.step(action)
        undo = env.undo_actions()
        verb = action.split()[0]
        expected = {"open": "close", "take": "move", "move": "take", "go": "go", "heat": None}[verb]
        assert [word.split()[0] for word in undo] == ([expected] if expected else [])
        if undo:
            env.step(undo[0])
            assert env.fingerprint() == before
            _, _, _, _, info = env.step(action)


def test_looking_needs_no_undo_and_lamps_have_none_the_first_time() -> None:
    env = ALFWorldEnv(task_id=LAMP, expert=True)
    env.reset(seed=0)
    assert undone(env, "look") == []
    plan = env.expert_plan()
    lamp = next(action for action in plan if action.startswith("use"))
    for action in plan[: plan.index(lamp) + 1]:
        env.step(action)
    assert env.undo_actions() == [], "that a lamp has been on is remembered for ever"
    assert undone(env, lamp) == [lamp]


def test_heating_cannot_be_undone_by_acting_but_can_be_restored() -> None:
    for methods, status in ((("act",), "unsupported"), (("restore",), "exact"), (("act", "replay"), "exact")):
        env = Rollback(ALFWorldEnv(task_id=HEAT, expert=True), methods=methods)  # pyright: ignore[reportArgumentType]
        _, info = env.reset(seed=0)
        while not info["expert_plan"][0].startswith("heat"):
            *_, info = env.step(info["expert_plan"][0])
        env.step(info["expert_plan"][0])
        assert env.rollback()[4]["rollback"]["status"] == status


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "the action is empty"),
        ("LOOK", "commands are lower case: expected 'look'"),
        ("put mug 1 in/on desk 1", "this version of the game says 'move mug 1 to desk 1'"),
        ("fly", "unknown command 'fly'"),
        ("f" * 100, "unknown command 'fff"),
        ("go to heaven 1", "there is no heaven 1"),
        ("open heaven 1", "there is no heaven 1"),
        ("take nothing 1 from fridge 1", "there is no nothing 1"),
        ("use fridge 1", "fridge 1 cannot be used"),
        ("examine fridge 1", "you are not at fridge 1"),
        ("open fridge 1", "you are not at fridge 1"),
        ("slice apple 1 with fork 1", "slicing needs a knife"),
    ],
)
def test_reasons(command: str, reason: str) -> None:
    tasks = Tasks("generated", "valid_seen", None, "numbered")
    engine = next(
        engine
        for engine in map(tasks.engine, tasks.ids)
        if {"apple 1", "fridge 1"} <= {*engine.game.objects, *engine.game.receptacles}
    )
    assert why_not(engine, engine.start, command).startswith(reason)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), walks, st.data())
def test_every_refusal_has_a_reason_and_the_reason_is_a_line(seed: int, walk: list[int], data: st.DataObject) -> None:
    env = ALFWorldEnv()
    _, info = env.reset(seed=seed)
    known = set(info["admissible_actions"])
    for pick in walk:
        action = info["admissible_actions"][pick % len(info["admissible_actions"])]
        *_, info = env.step(action)
        assert info["action_error"] == ""
        known |= set(info["admissible_actions"])
    wrong = sorted(known - set(info["admissible_actions"]))
    for command in data.draw(st.lists(st.sampled_from(wrong or ["x"]), max_size=5)):
        *_, info = env.step(command)
        assert info["action_error"] and "\n" not in info["action_error"]


def test_fingerprint_levels() -> None:
    prints = {}
    for level in ("physical", "exact", "observation"):
        env = ALFWorldEnv(task_id=HEAT, fingerprint=level, expert=True)  # pyright: ignore[reportArgumentType]
        _, info = env.reset(seed=0)
        while not info["expert_plan"][0].startswith("heat"):
            *_, info = env.step(info["expert_plan"][0])
        prints[level] = [env.fingerprint()]
        env.step("look")
        prints[level].append(env.fingerprint())
        env.step("inventory")
        prints[level].append(env.fingerprint())
    assert {level: len(set(values)) for level, values in prints.items()} == {
        "physical": 1,
        "exact": 1,
        "observation": 3,
    }


def test_a_snapshot_of_the_other_names_is_refused() -> None:
    one, other = ALFWorldEnv(task_id=HEAT), ALFWorldEnv(task_id=HEAT, names="textworld")
    for env in (one, other):
        env.reset(seed=0)
    with pytest.raises(SnapshotError, match="another game"):
        other.restore(one.snapshot())


def test_no_task_id_at_reset_means_the_one_given_before() -> None:
    env = ALFWorldEnv(task_id=HEAT)
    assert env.reset(options={"task_id": None})[1]["task_id"] == HEAT
    with pytest.raises(ValueError, match="taskid"):
        env.reset(options={"taskid": HEAT})
    with pytest.raises(ValueError, match="at least one"):
        ALFWorldEnv(task_types=[])


def test_threads_share_the_parsed_games() -> None:
    ids = Tasks("generated", "train", None, "numbered").ids[:600]

    def play(start: int) -> int:
        env = ALFWorldEnv()
        for task_id in ids[start::3]:
            _, info = env.reset(options={"task_id": task_id})
            env.step(info["admissible_actions"][0])
        return len(ids[start::3])

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(play, [0, 1, 2, 0, 1, 2])) == 2 * len(ids)
