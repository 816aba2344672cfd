"""An emulator behind android_env, over the wire: real adb client and gRPC, and a stand-in with the simulated phone inside."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backtrail.envs.androidworld.actions import Action
from backtrail.envs.androidworld.emulator import EmulatorBackend
from backtrail.envs.androidworld.patience import Patience
from backtrail.envs.androidworld.simulator import as_android_env

pytest.importorskip("android_env", reason="needs the extra android")
pytest.importorskip("adbutils", reason="needs the adb client of the extra android")

sys.path.insert(0, str(Path(__file__).parent))

from standin.client import StandInProcess

TOUCH, LIFT, REPEAT, KEYPRESS = 0, 1, 2, 5
ESCAPE, HOME = 9, 110  # as Linux numbers keys
LOG = "/data/local/tmp/log"
QUICK = Patience(boot=20, connect=10, command=10, snapshot=10, tree=3, quiet=0.1, settle=1.5, keyboard=0.0)


@pytest.fixture(scope="module")
def emulator() -> Iterator[StandInProcess]:
    stand_in = StandInProcess("--device", "standin.phone:PhoneDevice", "--console", "0")
    yield stand_in
    stand_in.close()


@pytest.fixture(scope="module")
def shared(emulator: StandInProcess) -> Iterator[EmulatorBackend]:
    device = EmulatorBackend(**emulator.ports, max_snapshots=2, patience=QUICK)
    yield device
    device.close()


@pytest.fixture
def device(shared: EmulatorBackend) -> EmulatorBackend:
    shared.reset()
    shared.elements()
    return shared


@pytest.fixture
def env(device: EmulatorBackend) -> Iterator[Any]:
    environment = as_android_env(device)
    environment.reset()
    yield environment
    environment.close()


def act(env: Any, kind: int, x: float = 0, y: float = 0, key: int = 0) -> Any:
    where = np.array([x / 1080, y / 2400], np.float32)
    return env.step({"action_type": np.array(kind), "touch_position": where, "keycode": np.array(key)})


def middle(device: EmulatorBackend, words: str) -> tuple[int, int]:
    return next(each.center for each in device.elements() if words in (each.text, each.description))


def texts(device: EmulatorBackend) -> list[str]:
    return [element.text for element in device.elements() if element.text]


def adb(env: Any, *args: str) -> str:
    messages = pytest.importorskip("android_env.proto.adb_pb2")
    answer = env.execute_adb_call(messages.AdbRequest(generic=messages.AdbRequest.GenericRequest(args=args)))
    assert answer.status == messages.AdbResponse.Status.OK, answer
    return answer.generic.output.decode()


# -- adb --------------------------------------------------------------------------------------------------


def test_commands_reach_the_device_with_their_words_joined_by_spaces(env: Any, device: EmulatorBackend):
    adb(env, "shell", "settings", "put", "system", "screen_brightness", "7")
    assert device.shell("settings get system screen_brightness") == "7\n"
    assert adb(env, "shell", "echo", "'a  b'", "|", "cat", ">", "/sdcard/a.txt") == ""
    assert device.pull("/sdcard/a.txt") == b"a  b\n"


def test_the_console_is_reached(env: Any, device: EmulatorBackend):
    adb(env, "emu", "sms", "send", "+15551234", "are you there?")
    assert "body=are you there?" in device.shell("content query --uri content://sms/inbox")


def test_files_are_pushed_and_pulled(env: Any):
    messages = pytest.importorskip("android_env.proto.adb_pb2")
    env.execute_adb_call(messages.AdbRequest(push=messages.AdbRequest.Push(content=b"\0\1", path="/sdcard/a.bin")))
    answer = env.execute_adb_call(messages.AdbRequest(pull=messages.AdbRequest.Pull(path="/sdcard/a.bin")))
    assert answer.pull.content == b"\0\1"


def test_a_command_that_fails_is_run_once_and_no_server_is_killed_for_it(env: Any, emulator: StandInProcess):
    errors = pytest.importorskip("android_env.components.errors")
    with pytest.raises(errors.AdbControllerError, match="No such file"):
        adb(env, "shell", "cat", "/nothing")
    for words in ("kill-server", "start-server"):
        adb(env, words)
    assert emulator.facts["commands"].count("cat /nothing") == 1
    assert emulator.facts["counts"].get("kill", 0) == 0
    assert adb(env, "shell", "echo", "well") == "well\n"


def test_a_device_that_is_not_reached_is_an_error_of_adb(env: Any, emulator: StandInProcess):
    errors = pytest.importorskip("android_env.components.errors")
    emulator.order("fault", kind="break_off")
    with pytest.raises(errors.AdbControllerError, match="broke off"):
        adb(env, "shell", "echo", "lost")
    assert emulator.facts["commands"].count("echo lost") == 1


def test_the_environment_of_this_process_stays(device: EmulatorBackend, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANDROID_HOME", "/somewhere")
    as_android_env(device).close()
    assert os.environ["ANDROID_HOME"] == "/somewhere"


# -- screen, fingers, keys --------------------------------------------------------------------------------


def test_pixels_are_those_of_the_device_without_anything_drawn_over_them(env: Any, device: EmulatorBackend):
    pixels = act(env, REPEAT).observation["pixels"]
    assert pixels.shape == env.observation_spec()["pixels"].shape == (2400, 1080, 3)
    assert np.array_equal(pixels, device.screenshot())
    for overlay in ("show_touches", "pointer_location"):
        assert device.shell(f"settings get system {overlay}") == "0\n"


def test_down_and_up_is_a_tap(env: Any, device: EmulatorBackend):
    x, y = middle(device, "Settings")
    act(env, TOUCH, x, y)
    act(env, LIFT, x, y)
    assert device.activity() == "com.android.settings/.Settings"


def test_a_finger_on_its_way_over_many_steps_is_one_swipe(env: Any, device: EmulatorBackend):
    device.act(Action("open_app", app_name="settings"))
    before = texts(device)
    for y in (1900, 1600, 1300, 1000):
        act(env, TOUCH, 500, y)
        assert texts(device) == before, "nothing moves before the finger is lifted"
    act(env, LIFT, 500, 1000)
    after = texts(device)
    assert after != before
    assert device.activity() == "com.android.settings/.Settings"


def test_keys_by_code(env: Any, device: EmulatorBackend):
    device.act(Action("open_app", app_name="settings"))
    device.elements()
    device.act(Action("click", index=next(k for k, e in enumerate(device.elements()) if e.text == "Display")))
    inside = texts(device)
    act(env, KEYPRESS, key=ESCAPE)
    assert texts(device) != inside
    assert device.activity() == "com.android.settings/.Settings"
    act(env, KEYPRESS, key=HOME)
    assert "nexuslauncher" in device.activity()


def test_a_task_reads_the_log(device: EmulatorBackend):
    task = pytest.importorskip("android_env.proto.task_pb2").Task(id="log")
    task.log_parsing_config.filters.append("Game:D")
    task.log_parsing_config.log_regexps.reward.append(r"^scored (\d+)$")
    device.push(LOG, b"        1553110400.424  5583  5658 D Game: scored 3\n")
    environment = as_android_env(device, task)

    def rewards() -> set[float]:
        environment.reset()  # forgets what was read before, and reads a log that has ended anew
        return {environment.step({"action_type": np.array(REPEAT)}).reward for _ in range(20)}

    assert any(3.0 in rewards() for _ in range(20))
    environment.close()


# -- states -----------------------------------------------------------------------------------------------


def test_states_are_saved_and_loaded_by_name(env: Any, device: EmulatorBackend):
    states = pytest.importorskip("android_env.proto.state_pb2")
    good, gone = states.LoadStateResponse.Status.OK, states.LoadStateResponse.Status.NOT_FOUND
    saved = env.save_state(states.SaveStateRequest(args={"snapshot_name": "home"}))
    assert saved.status == states.SaveStateResponse.Status.OK
    home = device.elements()
    device.act(Action("open_app", app_name="settings"))
    assert device.elements() != home
    assert env.load_state(states.LoadStateRequest(args={"snapshot_name": "home"})).status == good
    assert device.elements() == home
    assert env.load_state(states.LoadStateRequest(args={"snapshot_name": "never"})).status == gone
    for _ in range(2):
        device.save()  # it keeps two
    answer = env.load_state(states.LoadStateRequest(args={"snapshot_name": "home"}))
    assert answer.status == gone
    assert "keeps the last 2" in answer.error_message
    assert device.elements() == home


# -- forests for two --------------------------------------------------------------------------------------


class Listener:
    """A server that forests are sent on to, as that of a wrapper of android_env is."""

    def __init__(self, port: int = 0):
        grpc, services = pytest.importorskip("grpc"), pytest.importorskip("android_env.proto.a11y.a11y_pb2_grpc")
        self.heard, self.go = threading.Semaphore(0), threading.Event()
        self.go.set()
        self.server = grpc.server(futures.ThreadPoolExecutor(2))
        services.add_A11yServiceServicer_to_server(self, self.server)
        self.port = self.server.add_secure_port(f"127.0.0.1:{port}", grpc.local_server_credentials())
        self.server.start()

    def SendForest(self, request: Any, context: Any) -> Any:
        self.heard.release()
        self.go.wait()
        return pytest.importorskip("android_env.proto.a11y.a11y_pb2").ForestResponse()

    SendEvent = Bidi = SendForest  # nobody calls them


def newest(wrapper: Any) -> list[str]:
    """Return the texts of the forest that a wrapper got last, none if there is no new one."""
    forests = wrapper.accumulate_new_extras().get("accessibility_tree", ())
    wrapper.task_extras()
    return [node.text for forest in forests[-1:] for w in forest.windows for node in w.tree.nodes if node.text]


def test_a_wrapper_gets_the_forests_and_the_device_keeps_them(device: EmulatorBackend, emulator: StandInProcess):
    wrapper = pytest.importorskip("android_env.wrappers.a11y_grpc_wrapper")
    port, proxy = emulator.facts["port"], device.shell("settings get global no_proxy")
    environment = wrapper.A11yGrpcWrapper(
        as_android_env(device), start_a11y_service=False, enable_a11y_tree_info=True, latest_a11y_info_only=True
    )
    environment.reset()
    assert (emulator.facts["port"], device.shell("settings get global no_proxy")) == (port, proxy)
    device.act(Action("open_app", app_name="settings"))
    seen = texts(device)
    for _ in range(10):  # one that was on its way when the app opened may come first
        if newest(environment) == seen:
            break
        device.elements()
    else:
        pytest.fail("the wrapper never got the screen that the device shows")
    environment.close()
    assert texts(device) == seen


def test_a_listener_that_is_gone_is_forgotten(device: EmulatorBackend, emulator: StandInProcess):
    first = Listener()
    device.relay_forests(first.port)
    assert first.heard.acquire(timeout=20)
    first.server.stop(None).wait()
    for _ in range(6):
        device.elements()
    later = Listener(first.port)
    for _ in range(6):
        device.elements()
    assert not later.heard.acquire(blocking=False)
    later.server.stop(None)


def test_a_listener_that_hangs_holds_up_nothing(device: EmulatorBackend):
    slow = Listener()
    slow.go.clear()
    device.relay_forests(slow.port)
    assert slow.heard.acquire(timeout=20)
    home = texts(device)
    device.act(Action("open_app", app_name="settings"))
    assert texts(device) != home
    slow.go.set()
    assert slow.heard.acquire(timeout=20), "it is sent more when it has come back"
    device.relay_forests(None)
    slow.server.stop(None)
