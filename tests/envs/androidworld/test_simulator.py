"""The simulated phone behind android_env: touches, keys, pictures, adb, snapshots and accessibility forests."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from backtrail.benchmarks import android_tasks
from backtrail.envs.androidworld.elements import elements
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.contacts import Contacts
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.settings import Settings
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH, View
from backtrail.envs.androidworld.simulator import Touch, as_android_env, forest

TOUCH, LIFT, REPEAT = 0, 1, 2
HAS_ANDROID_ENV = importlib.util.find_spec("android_env") is not None
needs_android_env = pytest.mark.skipif(not HAS_ANDROID_ENV, reason="needs the extra `android`")


@pytest.fixture
def phone() -> Phone:
    return Phone([Launcher(), Settings(), Contacts()])


@pytest.fixture
def env(phone: Phone) -> Iterator[Any]:
    environment = as_android_env(phone)
    environment.reset()
    yield environment
    environment.close()


def middle(phone: Phone, words: str) -> tuple[int, int]:
    view = next(each for each in phone.tree.walk() if words in (each.text, each.description))
    left, top, right, bottom = view.bounds
    return (left + right) // 2, (top + bottom) // 2


def touch(env: Any, kind: int, x: int, y: int) -> Any:
    where = np.array([x / WIDTH, y / HEIGHT], np.float32)
    return env.step({"action_type": np.array(kind), "touch_position": where, "keycode": np.array(0)})


def tap(env: Any, x: int, y: int) -> Any:
    touch(env, TOUCH, x, y)
    return touch(env, LIFT, x, y)


def adb(env: Any, *args: str) -> str:
    messages = pytest.importorskip("android_env.proto.adb_pb2")
    answer = env.execute_adb_call(messages.AdbRequest(generic=messages.AdbRequest.GenericRequest(args=args)))
    assert answer.status == messages.AdbResponse.Status.OK, answer
    return answer.generic.output.decode()


# -- a finger ---------------------------------------------------------------------------------------------


def test_down_and_up_in_one_place_is_a_tap(phone: Phone) -> None:
    finger, (x, y) = Touch(phone), middle(phone, "Settings")
    finger(x, y, True)
    assert "nexuslauncher" in phone.activity
    finger(x + 5, y - 5, False)
    assert phone.activity == "com.android.settings/.Settings"


def test_a_finger_that_stays_presses_for_long(phone: Phone) -> None:
    other = Phone([Launcher(), Settings(), Contacts()])
    finger, (x, y) = Touch(phone), middle(phone, "Settings")
    for _ in range(Touch.hold):
        finger(x, y, True)
    finger(x, y, False)
    other.hold(x, y)
    assert phone.save() == other.save()


def test_a_finger_that_moves_swipes(phone: Phone) -> None:
    phone.launch("settings")
    finger = Touch(phone)
    for y in (1900, 1500, 1000):
        finger(500, y, True)
    finger(500, 1000, False)
    assert list(phone.top["state"]["scroll"].values()) == [min(900, reach(phone))]


def reach(phone: Phone) -> int:
    return max(view.reach for view in phone.tree.walk())


def test_lifting_a_finger_that_is_not_down_does_nothing(phone: Phone) -> None:
    before = phone.save()
    Touch(phone)(*middle(phone, "Settings"), False)
    assert phone.save() == before


# -- android_env ------------------------------------------------------------------------------------------


@pytest.mark.skipif(HAS_ANDROID_ENV, reason="needs that the extra `android` is missing")
def test_without_the_extra_it_says_what_to_install(phone: Phone) -> None:
    with pytest.raises(gym.error.DependencyNotInstalled, match=r"backtrail\[android\]"):
        as_android_env(phone)


@needs_android_env
def test_pixels_are_those_of_the_phone(env: Any, phone: Phone) -> None:
    step = touch(env, REPEAT, 0, 0)
    assert step.observation["pixels"].shape == (HEIGHT, WIDTH, 3)
    assert np.array_equal(step.observation["pixels"], phone.screenshot())
    assert env.observation_spec()["pixels"].shape == (HEIGHT, WIDTH, 3)


@needs_android_env
def test_a_touch_opens_an_app_and_adb_sees_it(env: Any, phone: Phone) -> None:
    messages = pytest.importorskip("android_env.proto.adb_pb2")
    before = touch(env, REPEAT, 0, 0).observation["pixels"].copy()
    after = tap(env, *middle(phone, "Settings")).observation["pixels"]
    assert not np.array_equal(before, after)
    request = messages.AdbRequest(get_current_activity=messages.AdbRequest.GetCurrentActivity())
    answer = env.execute_adb_call(request)
    assert answer.get_current_activity.full_activity == "com.android.settings/.Settings"


@needs_android_env
def test_a_small_screen_takes_touches_in_its_own_pixels() -> None:
    phone = Phone([Launcher(), Settings(), Contacts()], scale=0.25)
    environment = as_android_env(phone)
    environment.reset()
    tap(environment, *middle(phone, "Settings"))
    assert phone.activity == "com.android.settings/.Settings"
    environment.close()


@needs_android_env
def test_by_default_it_is_a_new_phone_with_all_apps() -> None:
    environment = as_android_env()
    environment.reset()
    assert "package:com.arduia.expense\n" in adb(environment, "shell", "pm", "list", "packages")
    environment.close()


@needs_android_env
def test_settings_and_files_go_over_adb(env: Any, phone: Phone) -> None:
    messages = pytest.importorskip("android_env.proto.adb_pb2")
    adb(env, "shell", "settings", "put", "global", "wifi_on", "0")
    assert phone.settings["global"]["wifi_on"] == "0"
    env.execute_adb_call(messages.AdbRequest(push=messages.AdbRequest.Push(content=b"\0\1", path="/sdcard/a.bin")))
    answer = env.execute_adb_call(messages.AdbRequest(pull=messages.AdbRequest.Pull(path="/sdcard/a.bin")))
    assert answer.pull.content == b"\0\1"


@needs_android_env
def test_a_command_that_fails_raises_as_adb_does(env: Any) -> None:
    errors = pytest.importorskip("android_env.components.errors")
    with pytest.raises(errors.AdbControllerError, match="No such file"):
        adb(env, "shell", "cat", "/nothing")


@needs_android_env
def test_the_environment_of_this_process_stays(phone: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANDROID_HOME", "/somewhere")
    as_android_env(phone).close()
    assert os.environ["ANDROID_HOME"] == "/somewhere"


@needs_android_env
def test_keys_type_and_go_home(env: Any, phone: Phone) -> None:
    phone.open("contacts", "edit")
    phone.changed()
    phone.focus(next(view.field for view in phone.tree.walk() if view.hint == "First name"))
    where = np.zeros(2, np.float32)
    for code in (ord("A"), ord("b"), 0xFF08, 0xFF50):
        env.step({"action_type": np.array(5), "touch_position": where, "keycode": np.array(code)})
        if code == 0xFF08:
            assert "A" in [view.text for view in phone.tree.walk() if view.hint == "First name"]
    assert "nexuslauncher" in phone.activity


@needs_android_env
def test_states_are_saved_and_loaded_by_name(env: Any, phone: Phone) -> None:
    states = pytest.importorskip("android_env.proto.state_pb2")
    env.save_state(states.SaveStateRequest(args={"snapshot_name": "home"}))
    home = phone.save()
    tap(env, *middle(phone, "Settings"))
    assert phone.save() != home
    answer = env.load_state(states.LoadStateRequest(args={"snapshot_name": "home"}))
    assert answer.status == states.LoadStateResponse.Status.OK
    assert phone.save() == home
    answer = env.load_state(states.LoadStateRequest(args={"snapshot_name": "never"}))
    assert answer.status == states.LoadStateResponse.Status.NOT_FOUND
    assert phone.save() == home


# -- accessibility ----------------------------------------------------------------------------------------


@needs_android_env
def test_the_forest_has_every_element_of_the_screen(phone: Phone) -> None:
    phone.open("contacts", "edit", name="Ann", number="+15551234567")
    nodes = [node for window in forest(phone.tree).windows for node in window.tree.nodes]
    seen = {(node.text, node.hint_text, node.view_id_resource_name) for node in nodes if node.is_visible_to_user}
    for element in elements(phone.tree):
        assert (element.text, element.hint, element.resource_id) in seen
    field = next(node for node in nodes if node.hint_text == "First name")
    assert (field.text, field.is_editable, list(field.child_ids)) == ("Ann", True, [])


@needs_android_env
def test_what_is_covered_or_outside_the_screen_is_not_visible() -> None:
    page = View("FrameLayout", (0, 0, WIDTH, HEIGHT))
    page.children = [
        View("TextView", (0, top, 500, top + 100), text)
        for text, top in (("under", 600), ("beside", 10), ("out", 2500))
    ]
    dialog = View(
        "FrameLayout",
        (0, 500, WIDTH, 900),
        fill=(255, 255, 255),
        children=[View("TextView", (0, 600, 500, 700), "above")],
    )
    shown = [node for window in forest(View(children=[page, dialog])).windows for node in window.tree.nodes]
    visible = {node.text: node.is_visible_to_user for node in shown if node.text}
    assert visible == {"under": False, "beside": True, "out": False, "above": True}


@needs_android_env
@pytest.mark.slow
def test_forests_reach_the_wrapper_of_android_env(phone: Phone) -> None:
    wrapper = pytest.importorskip("android_env.wrappers.a11y_grpc_wrapper")
    environment = wrapper.A11yGrpcWrapper(as_android_env(phone), enable_a11y_tree_info=True, latest_a11y_info_only=True)
    environment.reset()
    tap(environment, *middle(phone, "Settings"))
    newest = environment.accumulate_new_extras()["accessibility_tree"][-1]
    assert newest == forest(phone.tree)
    environment.close()


# -- AndroidWorld -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["SystemWifiTurnOff", "ContactsAddContact", "SimpleSmsReply", "ExpenseDeleteSingle", "FilesMoveFile"]
)
def test_tasks_of_androidworld_run_unmodified(name: str) -> None:
    pytest.importorskip("android_world")
    runner = android_tasks.Runner()
    outcome = runner.run(name, seed=7)
    again = runner.run(name, seed=7)
    runner.close()
    assert (outcome.before, outcome.after, outcome.wrong) == (0.0, 1.0, "")
    assert again == outcome
