"""One environment, two devices: the same episodes on the simulated phone, and over the wire with the real adb client.

Behind the wire stands a stand-in for the emulator with the simulated phone in it. What a real emulator's Android does is not
tested here.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from backtrail.benchmarks.episode import Player
from backtrail.benchmarks.plan import plan
from backtrail.envs import SnapshotError
from backtrail.envs.androidworld.backend import DeviceError, StaleScreen
from backtrail.envs.androidworld.env import AndroidWorldEnv
from backtrail.envs.androidworld.tasks.pack import Tasks, portable_kinds
from backtrail.envs.core import Snapshot
from backtrail.envs.wrappers import Fingerprint, Record, Rollback, VisitCount

sys.path.insert(0, str(Path(__file__).parent))

from standin.client import StandInProcess

ID = "backtrail/AndroidWorld-v0"
DONE = '{"action_type": "status", "goal_status": "complete"}'
GIVEN_UP = '{"action_type": "status", "goal_status": "infeasible"}'
HOME = '{"action_type": "navigate_home"}'
BACK = '{"action_type": "navigate_back"}'
SETTINGS = '{"action_type": "open_app", "app_name": "Settings"}'
SWITCH = "test/settings/WifiSwitch-2000"
QUICK = {
    "boot": 20,
    "connect": 6,
    "command": 6,
    "snapshot": 6,
    "tree": 0.7,
    "quiet": 0.05,
    "settle": 1.0,
    "keyboard": 0.0,
}
FIRST = [task_id for task_id in Tasks("test", kinds=portable_kinds()).ids if task_id.endswith("-2000")]


def options(stand_in: StandInProcess, **more: Any) -> dict[str, Any]:
    return {"device": "emulator", "device_options": {**stand_in.ports, "patience": QUICK, **more}}


@cache
def way(task_id: str) -> tuple[str, ...]:
    """Return actions that solve a task, found out on a simulated phone."""
    env = AndroidWorldEnv(tasks="portable", screenshot=False)
    env.reset(options={"task_id": task_id})
    return tuple(env.expert_plan())


@pytest.fixture(scope="module")
def stand_in() -> Iterator[StandInProcess]:
    pytest.importorskip("android_env", reason="needs the extra android")
    pytest.importorskip("adbutils", reason="needs the adb client of the extra android")
    process = StandInProcess("--device", "standin.phone:PhoneDevice")
    yield process
    process.close()


@pytest.fixture(scope="module", params=["simulated", "emulator"])
def env(request: pytest.FixtureRequest) -> Iterator[AndroidWorldEnv]:
    given: dict[str, Any] = {"tasks": "portable", "split": "test", "fingerprint": "state", "scale": 0.25}
    if request.param == "emulator":
        given |= options(request.getfixturevalue("stand_in"))
    made = AndroidWorldEnv(**given)
    yield made
    made.close()


def play(env: gym.Env, actions: Sequence[str]) -> float:
    """Take actions and return the last reward."""
    return float([env.step(action)[1] for action in actions][-1])


# -- on both devices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("task_id", FIRST)
def test_what_solves_a_task_on_one_device_does_on_the_other(env: AndroidWorldEnv, task_id: str) -> None:
    _, info = env.reset(options={"task_id": task_id})
    assert info["task_id"] == task_id and info["data"].endswith("+portable") and len(way(task_id)) <= info["budget"]
    reward, terminated = 0.0, False
    for action in way(task_id):
        assert not terminated and reward == 0.0
        _, reward, terminated, truncated, info = env.step(action)
        assert not truncated and not info["action_error"], info["action_error"]
    assert terminated and reward == 1.0 and info["success"]


@pytest.mark.parametrize("task_id", FIRST)
def test_claims_alone_earn_nothing(env: AndroidWorldEnv, task_id: str) -> None:
    infeasible = portable_kinds()[task_id.rpartition("/")[2].partition("-")[0]].infeasible
    for claim in (DONE, GIVEN_UP):
        env.reset(options={"task_id": task_id})
        _, reward, terminated, _, info = env.step(claim)
        assert terminated and reward == float(info["success"]) == float(infeasible and claim == GIVEN_UP)


def test_an_observation_is_of_the_space_and_says_what_the_picture_shows(env: AndroidWorldEnv) -> None:
    observation, info = env.reset(options={"task_id": SWITCH})
    assert env.observation_space.contains(observation)
    assert observation["screenshot"].shape == (600, 270, 3) and observation["screenshot"].any()
    assert info["screen"] == (1080, 2400)
    home = observation["text"]
    observation, _, _, _, info = env.step(SETTINGS)
    assert "com.android.settings" in info["activity"] and "Network" in observation["text"] != home
    number = next(n for n, each in enumerate(env.elements) if each.text == "Network & internet")
    by_number = env.step(json.dumps({"action_type": "click", "index": number}))[0]["text"]
    env.step(BACK)
    x, y = env.elements[number].center
    assert env.step(json.dumps({"action_type": "click", "x": x, "y": y}))[0]["text"] == by_number


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("no json", "JSON object"),
        ('{"action_type": "fly"}', "one of click"),
        ('{"action_type": "click", "index": 999}', "index from 0 to"),
        ('{"action_type": "click", "x": 5000, "y": 1}', "on the screen of 1080 x 2400"),
        ('{"action_type": "open_app", "app_name": "Solitaire"}', "there is no app 'Solitaire'"),
        ("x" * 10_000, "8,192"),
    ],
)
def test_a_bad_action_changes_nothing_and_is_explained(env: AndroidWorldEnv, action: str, said: str) -> None:
    before, _ = env.reset(options={"task_id": SWITCH})
    here = env.fingerprint()
    observation, reward, terminated, truncated, info = env.step(action)
    assert said in info["action_error"]
    assert (observation["text"], env.fingerprint()) == (before["text"], here)
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_going_back_by_snapshot_is_exact(env: AndroidWorldEnv) -> None:
    env.reset(options={"task_id": SWITCH})
    before, _, _, _, said = env.step(SETTINGS)
    here, kept = env.fingerprint(), env.snapshot()
    assert play(env, way(SWITCH)) == 1.0
    after, now = env.restore(kept)
    assert env.fingerprint() == here and after["text"] == before["text"]
    assert np.array_equal(after["screenshot"], before["screenshot"])
    assert now["admissible_actions"] == said["admissible_actions"] and not now["success"]
    assert play(env, way(SWITCH)) == 1.0, "the episode goes on from there"


def test_an_answer_goes_back_with_its_snapshot(env: AndroidWorldEnv) -> None:
    task_id = next(each for each in FIRST if portable_kinds()[each.rpartition("/")[2].partition("-")[0]].answers)
    env.reset(options={"task_id": task_id})
    silent = env.snapshot()
    *_, answer, done = way(task_id)
    assert json.loads(answer)["action_type"] == "answer"
    env.step(answer)
    answered = env.snapshot()
    env.restore(silent)
    assert env.step(done)[1] == 0.0
    env.restore(answered)
    assert env.step(done)[1] == 1.0


def test_foreign_and_damaged_snapshots_are_refused(env: AndroidWorldEnv) -> None:
    env.reset(options={"task_id": SWITCH})
    here, kept = env.fingerprint(), env.snapshot()
    for payload in (("nowhere", *kept.payload[1:]), kept.payload[:3], None):
        with pytest.raises(SnapshotError):
            env.restore(Snapshot(kept.env, kept.world, payload))
    assert env.fingerprint() == here
    env.reset(options={"task_id": FIRST[0]})
    with pytest.raises(SnapshotError):
        env.restore(kept)


def test_the_undo_actions_put_a_switch_back(env: AndroidWorldEnv) -> None:
    env.reset(options={"task_id": SWITCH})
    *before, _ = way(SWITCH)
    for action in before[:-1]:
        env.step(action)
    here = env.fingerprint()
    env.step(before[-1])
    assert env.fingerprint() != here
    env.step(env.undo_actions()[0])
    assert env.fingerprint() == here


def test_a_field_is_emptied_by_an_action(env: AndroidWorldEnv) -> None:
    env.reset(options={"task_id": SWITCH})
    env.step('{"action_type": "open_app", "app_name": "Contacts"}')
    env.step(json.dumps({"action_type": "click", "index": _number(env, "Create contact")}))
    field = next(n for n, each in enumerate(env.elements) if each.editable)
    env.step(json.dumps({"action_type": "input_text", "index": field, "text": "Ada"}))
    assert env.elements[field].text == "Ada"
    clear = env.undo_actions()[0]
    assert json.loads(clear) == {"action_type": "input_text", "index": field, "text": "", "clear_text": True}
    env.step(clear)
    assert env.elements[field].text == ""


def test_a_tight_stack_of_wrappers_works(env: AndroidWorldEnv, tmp_path: Path) -> None:
    stack = Record(Rollback(VisitCount(Fingerprint(env)), methods=("act", "restore")), tmp_path)
    _, info = stack.reset(options={"task_id": SWITCH})
    start = info["fingerprint"]
    _, _, _, _, info = stack.step(SETTINGS)
    assert info["fingerprint"] != start and info["visits"] == 0
    _, _, _, _, info = stack.step("rollback")
    assert info["rollback"]["status"] == "exact" and info["fingerprint"] == start
    _, _, _, _, info = stack.step(SETTINGS)
    assert info["visits"] == 1


def _number(env: AndroidWorldEnv, words: str) -> int:
    return next(n for n, each in enumerate(env.elements) if words in (each.text, each.description))


# -- what can go wrong between the environment and an emulator --------------------------------------------


@pytest.fixture
def own(request: pytest.FixtureRequest) -> Iterator[StandInProcess]:
    """A stand-in for one test, which may break it."""
    pytest.importorskip("android_env", reason="needs the extra android")
    pytest.importorskip("adbutils", reason="needs the adb client of the extra android")
    process = StandInProcess("--device", "standin.phone:PhoneDevice", *getattr(request, "param", ()))
    yield process
    process.close()


def connect(own: StandInProcess, **more: Any) -> gym.Env:
    given = options(own, **more)
    return gym.make(ID, tasks="portable", split="test", screenshot=False, **given)


def test_an_adb_server_that_is_killed_is_waited_for(own: StandInProcess) -> None:
    env = connect(own)
    env.reset(options={"task_id": SWITCH})
    first, *rest = way(SWITCH)
    env.step(first)
    own.order("kill_adb", seconds=1.0)
    assert play(env, rest) == 1.0
    env.close()


def test_a_lost_connection_is_waited_for(own: StandInProcess) -> None:
    env = connect(own)
    env.reset(options={"task_id": SWITCH})
    own.order("kill_grpc", seconds=1.0)
    assert play(env, way(SWITCH)) == 1.0
    env.close()


def test_a_stale_tree_is_an_error_never_an_observation(own: StandInProcess) -> None:
    env = connect(own)
    env.reset(options={"task_id": SWITCH})
    kept = env.unwrapped.snapshot()  # pyright: ignore[reportAttributeAccessIssue]
    own.order("forests", mute=True)
    with pytest.raises(StaleScreen, match="No new accessibility tree"):
        env.step(SETTINGS)
    own.order("forests", mute=False)
    with pytest.raises(gym.error.ResetNeeded, match="after its device has failed"):
        env.step(HOME)
    env.unwrapped.restore(kept)  # pyright: ignore[reportAttributeAccessIssue]
    assert play(env, way(SWITCH)) == 1.0
    env.close()


@pytest.mark.parametrize("own", [("--boot", "2")], indirect=True)
def test_a_slow_boot_is_waited_for(own: StandInProcess) -> None:
    began = time.monotonic()
    env = connect(own)
    assert time.monotonic() - began > 1.0
    _, info = env.reset(options={"task_id": SWITCH})
    assert info["task_id"] == SWITCH
    env.close()


@pytest.mark.parametrize("own", [("--boot", "60")], indirect=True)
def test_a_boot_that_takes_too_long_is_explained(own: StandInProcess) -> None:
    with pytest.raises(DeviceError, match="was not up after 1 s"):
        connect(own, patience={**QUICK, "boot": 1})


def test_a_crash_is_a_failure_of_the_run_and_no_score(own: StandInProcess, tmp_path: Path) -> None:
    agent = {"name": "null", "options": {}}
    kwargs = {"tasks": "portable", "split": "test", "screenshot": False}
    config = plan("wire", ID, agent, env_kwargs={**kwargs, **options(own)}, tasks=[SWITCH, FIRST[0]])
    assert str(config.data).startswith("android-emulator:backtrail/stand_in") and str(config.data).endswith("+portable")
    player = Player(config, tmp_path)
    good, bad = config.episodes()
    outcome = player.play(good)
    assert outcome.finished and outcome.row["success"] is False
    own.kill()
    outcome = player.play(bad)
    assert not outcome.finished and "success" not in outcome.row and "score" not in outcome.row
    assert outcome.row["error"].split(":")[0] in {
        kind.__name__ for kind in (DeviceError, *DeviceError.__subclasses__())
    }
    player.close()


# -- what does not go together ----------------------------------------------------------------------------


def test_options_that_do_not_go_together_are_refused() -> None:
    for given, said in (
        ({"device": "emulator", "fingerprint": "physical"}, "state"),
        ({"device": "emulator", "expert": True}, "expert"),
        ({"device": "emulator", "tasks": "own"}, "portable"),
        ({"tasks": "android_world", "expert": True}, "expert"),
        ({"tasks": "theirs"}, "own, portable, android_world"),
        ({"device_options": {"avd": "phone"}}, "emulator only"),
    ):
        with pytest.raises(ValueError, match=said):
            AndroidWorldEnv(**given)  # pyright: ignore[reportArgumentType]
