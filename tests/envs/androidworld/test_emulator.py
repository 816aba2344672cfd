"""The emulator as a device, over the wire: the real adb client and gRPC against a stand-in for the emulator.

What a real emulator's Android does above the wire is not tested here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backtrail.envs.androidworld.actions import Action
from backtrail.envs.androidworld.adb import Adb, AdbServer, find_adb, free_port
from backtrail.envs.androidworld.backend import CommandError, DeviceError, StaleScreen
from backtrail.envs.androidworld.emulator import EmulatorBackend
from backtrail.envs.androidworld.patience import Patience
from backtrail.envs.core import SnapshotError

pytest.importorskip("android_env", reason="needs the extra android")
pytest.importorskip("adbutils", reason="needs the adb client of the extra android")

sys.path.insert(0, str(Path(__file__).parent))

from standin.client import StandInProcess
from standin.toy import ToyPhone

QUICK = Patience(boot=20, connect=6, command=6, snapshot=6, tree=0.7, quiet=0.05, settle=1.0, keyboard=0.0)
HASTY = Patience(boot=1, connect=0.5, command=0.5, snapshot=0.5, tree=0.2, quiet=0.05, settle=0.4, keyboard=0.0)
HOME = ToyPhone().elements()


def connect(emulator: StandInProcess, **options: object) -> EmulatorBackend:
    return EmulatorBackend(**({"patience": QUICK} | emulator.ports | options))  # pyright: ignore


def texts(device: EmulatorBackend) -> list[str]:
    return [element.text or element.description for element in device.elements()]


@pytest.fixture(scope="module")
def emulator() -> Iterator[StandInProcess]:
    stand_in = StandInProcess()
    yield stand_in
    stand_in.close()


@pytest.fixture(scope="module")
def shared(emulator: StandInProcess) -> Iterator[EmulatorBackend]:
    device = connect(emulator, max_snapshots=3)
    yield device
    device.close()


@pytest.fixture
def device(shared: EmulatorBackend) -> EmulatorBackend:
    shared.reset()
    shared.elements()
    return shared


# -- what is seen -----------------------------------------------------------------------------------------


def test_the_size_is_that_of_the_screen_and_no_overlay_is_drawn(device: EmulatorBackend, emulator: StandInProcess):
    assert device.size == (480, 240)
    assert emulator.facts["settings"]["system/pointer_location"] == "0"
    assert emulator.facts["settings"]["system/show_touches"] == "0"


def test_the_build_says_what_the_device_is(device: EmulatorBackend):
    assert device.build.startswith("backtrail/stand_in/simulated:13/")


def test_the_picture_is_that_of_the_phone(device: EmulatorBackend):
    picture = device.screenshot()
    assert picture.dtype == np.uint8
    assert np.array_equal(picture, ToyPhone().picture())
    picture[:] = 0
    assert device.screenshot().any(), "a fresh array each time"


def test_elements_come_whole_from_the_forwarder(device: EmulatorBackend):
    assert device.elements() == HOME
    device.elements().clear()
    assert device.elements() == HOME, "a fresh list each time"


def test_elements_come_from_uiautomator_if_asked(emulator: StandInProcess, device: EmulatorBackend):
    device.act(Action("open_app", app_name="Markor"))
    other = connect(emulator, tree="uiautomator")
    kinds = [(e.class_name, e.description, e.bounds, e.editable, e.hint) for e in other.elements()]
    assert kinds == [
        ("android.widget.EditText", "", (20, 40, 220, 140), True, ""),
        ("android.widget.Switch", "Mark", (20, 170, 220, 220), False, ""),
    ]
    other.close()


def test_the_activity_in_front_has_its_package(device: EmulatorBackend):
    assert device.activity() == "com.example.launcher/.Home"
    device.act(Action("click", index=2))
    assert device.activity() == "net.gsantner.markor/.Main"


# -- what is done -----------------------------------------------------------------------------------------


def test_a_tap_by_number_and_one_by_place_do_the_same(device: EmulatorBackend):
    device.act(Action("click", index=1))
    assert texts(device)[0] == "Count 1"
    device.act(Action("click", x=120, y=125))
    assert texts(device)[0] == "Count 2"
    device.act(Action("double_tap", index=1))
    assert texts(device)[0] == "Count 4"


@pytest.mark.parametrize(("period", "delay"), [(0.02, 0.0), (0.2, 0.0), (0.02, 0.15)])
def test_elements_are_never_older_than_the_last_action(
    device: EmulatorBackend, emulator: StandInProcess, period: float, delay: float
):
    emulator.order("forests", period=period, delay=delay)
    for count in range(1, 5):
        device.act(Action("click", index=1))
        assert texts(device)[0] == f"Count {count}"
    emulator.order("forests", period=0.05, delay=0.0)


def test_a_tree_that_lags_behind_is_outwaited(device: EmulatorBackend, emulator: StandInProcess):
    slow = connect(emulator, patience=replace(QUICK, quiet=0.3, tree=2.0))
    emulator.order("forests", lag=0.2)
    try:
        slow.elements()
        slow.act(Action("click", index=1))
        assert texts(slow)[0] == "Count 1"
    finally:
        emulator.order("forests", lag=0.0)
        slow.close()


def test_a_turned_screen_is_touched_where_its_picture_says(device: EmulatorBackend, emulator: StandInProcess):
    device.shell("settings put system user_rotation 1")
    device.elements()
    assert device.size == (240, 480)
    assert device.screenshot().shape == (240, 480, 3)
    device.act(Action("click", x=400, y=100))
    assert emulator.facts["commands"][-1] == "input swipe 400 100 400 100 60"
    with pytest.raises(ValueError, match="not on the screen of 480 x 240"):
        device.act(Action("click", x=100, y=400))


@pytest.mark.parametrize(
    ("action", "gesture"),
    [
        (Action("long_press", index=1), ["hold", 120, 125, 120, 125]),
        (Action("scroll", direction="down"), ["drag", 120, 240, 120, 0]),
        (Action("scroll", direction="up"), ["drag", 120, 240, 120, 479]),
        (Action("scroll", direction="left"), ["drag", 120, 240, 239, 240]),
        (Action("scroll", direction="right"), ["drag", 120, 240, 0, 240]),
        (Action("scroll", direction="down", index=1), ["drag", 120, 125, 120, 100]),
        (Action("swipe", direction="down"), ["drag", 120, 0, 120, 479]),
        (Action("swipe", direction="up"), ["drag", 120, 479, 120, 0]),
        (Action("swipe", direction="left"), ["drag", 0, 240, 239, 240]),
        (Action("swipe", direction="right"), ["drag", 239, 240, 0, 240]),
    ],
)
def test_gestures_go_where_androidworlds_go(
    device: EmulatorBackend, emulator: StandInProcess, action: Action, gesture: list[object]
):
    device.act(action)
    assert emulator.facts["log"][-1] == gesture


def test_keys(device: EmulatorBackend, emulator: StandInProcess):
    for kind, key in (("navigate_back", "GoBack"), ("navigate_home", "GoHome"), ("keyboard_enter", "Enter")):
        device.act(Action(kind))
        assert emulator.facts["log"][-1] == ["key", key]


def test_actions_for_the_harness_leave_the_phone_alone(device: EmulatorBackend, emulator: StandInProcess):
    before = emulator.facts["log"]
    for action in (Action("answer", text="3"), Action("status", goal_status="complete"), Action("unknown")):
        device.act(action)
    assert emulator.facts["log"] == before


@settings(max_examples=6, deadline=None)
@example(text="100%s 'sure'; $(id) && #%")
@given(text=st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=24))
def test_text_arrives_as_it_was_written(shared: EmulatorBackend, text: str):
    shared.act(Action("open_app", app_name="Markor"))
    shared.elements()
    shared.act(Action("input_text", text=text, index=0, clear_text=True))
    assert shared.elements()[0].text == f"{text}\n"
    assert shared.dropped == ""


def test_what_cannot_be_typed_is_said(device: EmulatorBackend):
    device.act(Action("open_app", app_name="net.gsantner.markor"))
    device.elements()
    device.act(Action("input_text", text="é 世 ok", index=0))
    assert texts(device)[0] == "e  ok\n"
    assert device.dropped == "世"


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Action("click", index=9), "expected 0 to 2"),
        (Action("click", x=240, y=0), "not on the screen of 240 x 480"),
        (Action("open_app", app_name="Snake"), "there is no app 'Snake' here: expected one of markor, settings"),
        (Action("open_app", app_name="; reboot"), "there is no app"),
    ],
)
def test_an_action_that_cannot_be_done_changes_nothing(device: EmulatorBackend, action: Action, said: str):
    with pytest.raises(ValueError, match=said):
        device.act(action)
    assert device.elements() == HOME


# -- shell and files --------------------------------------------------------------------------------------


def test_a_command_that_fails_is_told_from_a_device_that_fails(device: EmulatorBackend, emulator: StandInProcess):
    assert device.shell("echo one; echo two") == "one\ntwo\n"
    with pytest.raises(CommandError, match="No such file") as caught:
        device.shell("cat /sdcard/nothing")
    assert caught.value.status == 1
    with pytest.raises(CommandError) as caught:
        device.shell("false")
    assert (caught.value.status, caught.value.output) == (1, "")
    assert device.shell("echo again") == "again\n"
    assert emulator.facts["counts"].get("kill", 0) == 0, "no adb server was killed for it"


@pytest.mark.parametrize("content", [b"", b"\r\n\x00\xff", bytes(range(256)) * 1000])
def test_files_come_back_as_they_were_written(device: EmulatorBackend, content: bytes):
    device.push("/sdcard/a folder/it's.bin", content)
    assert device.pull("/sdcard/a folder/it's.bin") == content


def test_a_file_that_is_not_there(device: EmulatorBackend):
    with pytest.raises(FileNotFoundError, match="/sdcard/nothing"):
        device.pull("/sdcard/nothing")
    with pytest.raises(ValueError, match="absolute path"):
        device.push("hello.txt", b"")


# -- snapshots --------------------------------------------------------------------------------------------


def test_restore_puts_the_phone_back(device: EmulatorBackend):
    device.act(Action("click", index=1))
    before, picture, saved = device.elements(), device.screenshot(), device.save()
    device.act(Action("click", index=1))
    device.act(Action("open_app", app_name="Markor"))
    assert device.elements() != before
    device.restore(saved)
    assert device.elements() == before
    assert np.array_equal(device.screenshot(), picture)
    device.act(Action("click", index=1))
    assert texts(device)[0] == "Count 2"
    device.restore(saved)
    assert device.elements() == before, "more than once"


def test_only_the_last_snapshots_are_kept(device: EmulatorBackend, emulator: StandInProcess):
    names = [device.save() for _ in range(5)]
    assert len(set(names)) == 5
    kept = emulator.facts["snapshots"]
    assert [name for name in names if name in kept] == names[2:]
    with pytest.raises(SnapshotError, match=r"does not keep .* it keeps the last 3"):
        device.restore(names[0])
    for nonsense in ("somebody-elses", b"bytes"):
        with pytest.raises(SnapshotError):
            device.restore(nonsense)
    assert device.elements() == HOME
    device.restore(names[4])


def test_reset_undoes_everything(device: EmulatorBackend):
    device.act(Action("click", index=1))
    device.shell("settings put global airplane_mode_on 1")
    device.push("/sdcard/new", b"1")
    device.reset()
    assert device.elements() == HOME
    assert device.shell("settings get global airplane_mode_on") == "null\n"
    with pytest.raises(FileNotFoundError):
        device.pull("/sdcard/new")


def test_close_deletes_our_snapshots_and_no_others():
    stand_in = StandInProcess()
    stand_in.order("save", name="mine")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    stand_in.order("save", name=f"backtrail-{ended.pid}-x-0001")  # of a worker that was killed
    stand_in.order("save", name=f"backtrail-{os.getpid()}-x-0001")  # of one that lives
    device = connect(stand_in)
    others = ["mine", f"backtrail-{os.getpid()}-x-0001"]
    assert stand_in.facts["snapshots"] == others
    device.reset()
    device.save()
    folder = device.folder
    device.close()
    device.close()
    assert stand_in.facts["snapshots"] == others
    assert not folder.exists()
    for use in (device.screenshot, device.save, device.activity, device.reset):
        with pytest.raises(DeviceError, match="closed"):
            use()
    stand_in.close()


def test_a_snapshot_of_another_session_is_told_the_new_port(emulator: StandInProcess, device: EmulatorBackend):
    device.act(Action("click", index=1))
    emulator.order("save", name="prepared")
    before = emulator.facts["port"]
    later = connect(emulator, snapshot="prepared")  # listens on another port than the snapshot knows
    port = emulator.facts["port"]
    assert port != before
    later.reset()
    assert emulator.facts["port"] == port
    assert texts(later)[0] == "Count 1"
    later.close()
    assert "prepared" in emulator.facts["snapshots"]


# -- what goes wrong --------------------------------------------------------------------------------------


def test_a_killed_adb_server_is_waited_for(device: EmulatorBackend, emulator: StandInProcess):
    emulator.order("kill_adb", seconds=0.5)
    assert device.shell("echo back") == "back\n"
    device.act(Action("click", index=1))
    assert texts(device)[0] == "Count 1"


def test_a_device_that_adb_does_not_see_is_waited_for(device: EmulatorBackend, emulator: StandInProcess):
    emulator.order("detach", seconds=0.5)
    assert device.pull("/sdcard/hello.txt") == b"hello\n"


def test_a_broken_connection_is_no_result_and_nothing_is_done_twice(device: EmulatorBackend, emulator: StandInProcess):
    emulator.order("fault", kind="break_off")
    with pytest.raises(DeviceError, match="broke off") as caught:
        device.shell("echo once")
    assert not isinstance(caught.value, CommandError)
    assert emulator.facts["commands"].count("echo once") == 1
    assert device.shell("echo well") == "well\n"


def test_a_silent_command_is_given_up(emulator: StandInProcess, device: EmulatorBackend):
    emulator.order("fault", kind="hang")
    with pytest.raises(DeviceError, match=r"did not end within 0\.5 s"):
        device.adb.shell("echo never", timeout=0.5)
    assert device.shell("echo well") == "well\n"


def test_lost_grpc_is_waited_for(device: EmulatorBackend, emulator: StandInProcess):
    emulator.order("kill_grpc", seconds=0.5)
    assert device.screenshot().shape == (480, 240, 3)
    device.act(Action("click", index=1))
    assert texts(device)[0] == "Count 1"


def test_a_forwarder_that_lost_our_port_is_told_again(device: EmulatorBackend, emulator: StandInProcess):
    emulator.order("forget_port")
    assert device.elements() == HOME


def test_a_tree_that_does_not_come_is_no_screen(device: EmulatorBackend, emulator: StandInProcess):
    device.act(Action("click", index=1))
    emulator.order("forests", mute=True)
    with pytest.raises(StaleScreen, match=r"No new accessibility tree arrived .* Airplane mode: null"):
        device.elements()
    emulator.order("forests", mute=False)
    assert texts(device)[0] == "Count 1"


def test_an_emulator_that_died_is_a_clear_error():
    stand_in = StandInProcess()
    device = connect(stand_in, patience=HASTY)
    stand_in.kill()
    with pytest.raises(DeviceError, match=r"gRPC port .* failed .*Is the emulator running"):
        device.screenshot()
    with pytest.raises(DeviceError, match=r"did not answer within 0\.5 s"):
        device.shell("echo")
    with pytest.raises(DeviceError, match=r"did not answer within 0\.5 s"):
        device.elements()
    device.close()


def test_nothing_to_connect_to():
    with pytest.raises(DeviceError, match="No emulator answered on gRPC port"):
        EmulatorBackend(grpc_port=free_port(), adb_server_port=free_port(), patience=HASTY)


def test_a_slow_start_is_waited_for():
    stand_in = StandInProcess("--boot", "1")
    device = connect(stand_in)
    assert device.elements() == HOME
    device.close()
    stand_in.close()


def test_a_start_that_does_not_end_is_a_clear_error():
    stand_in = StandInProcess("--boot", "600")
    with pytest.raises(DeviceError, match="was not up after 1 s"):
        connect(stand_in, patience=HASTY)
    stand_in.close()


def test_a_bare_emulator_is_set_up(tmp_path: Path):
    stand_in = StandInProcess("--shell-user", "--no-forwarder")
    with pytest.raises(DeviceError, match=r"forwarder is not installed .* pass its path as a11y_apk"):
        connect(stand_in)
    apk = tmp_path / "forwarder.apk"
    apk.write_bytes(b"PK")
    device = connect(stand_in, a11y_apk=str(apk))
    assert device.shell("whoami") == "root\n"
    assert device.elements() == HOME
    device.close()
    stand_in.close()


def test_settings_for_other_tools_do_not_lead_astray(
    emulator: StandInProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("ANDROID_ADB_SERVER_ADDRESS", "192.0.2.1")  # no server comes up with it
    AdbServer(find_adb(), tmp_path).close()
    monkeypatch.setenv("ANDROID_SERIAL", "emulator-9999")
    monkeypatch.setenv("ADB_SERVER_SOCKET", "tcp:127.0.0.1:1")
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    other = connect(emulator)
    assert other.shell("echo here") == "here\n"
    assert other.screenshot().shape == (480, 240, 3)
    other.close()


# -- an adb server of our own -----------------------------------------------------------------------------


def kill_server(port: int) -> None:
    subprocess.run([find_adb(), "-P", str(port), "kill-server"], check=True, capture_output=True)


def test_our_adb_server_comes_back_and_others_never_notice(tmp_path: Path):
    first, second = AdbServer(find_adb(), tmp_path), AdbServer(find_adb(), tmp_path)
    phones = [Adb(find_adb(), "emulator-5554", server, tmp_path, patience=0.0) for server in (first, second)]
    for phone in phones:
        with pytest.raises(DeviceError, match="device 'emulator-5554' not found"):
            phone.wait()
    kill_server(first.port)
    with pytest.raises(DeviceError, match="device 'emulator-5554' not found"):
        phones[1].wait()
    with pytest.raises(DeviceError, match="device 'emulator-5554' not found"):
        phones[0].wait()  # answered by a server again
    first.close()
    second.close()
    with pytest.raises(DeviceError, match=r"cannot connect|not found"):
        Adb(find_adb(), "emulator-5554", first.port, tmp_path, patience=0.0).wait()


# -- an emulator of our own -------------------------------------------------------------------------------

LAUNCHER = """\
#!{python}
import os, sys
given = dict(zip(sys.argv[1:], sys.argv[2:]))
console = given["-ports"].split(",")[0]
os.environ["PYTHONPATH"] = "{here}"
server = ["-m", "standin.server", "--forever", "--console", console, "--grpc", given["-grpc"]]
print("starting", given["-avd"], flush=True)
os.execv("{python}", ["{python}", *server, "--adb", os.environ["ANDROID_ADB_SERVER_PORT"]])
"""


def program(path: Path, text: str) -> str:
    path.write_text(text.replace("{python}", sys.executable).replace("{here}", str(Path(__file__).parent)))
    path.chmod(0o755)
    return str(path)


def test_a_launched_emulator_is_driven_and_ended(tmp_path: Path):
    path = program(tmp_path / "emulator", LAUNCHER)
    device = EmulatorBackend(launch=True, avd="Pixel", emulator_path=path, adb_server_port=free_port(), patience=QUICK)
    device.reset()
    device.elements()
    device.act(Action("click", index=1))
    assert texts(device)[0] == "Count 1"
    adb = Adb(find_adb(), device.adb.serial, device.adb.port, tmp_path, patience=0.0)
    adb.wait()
    device.close()
    with pytest.raises(DeviceError, match="cannot connect"):
        adb.wait()


def test_an_emulator_that_does_not_start_says_why(tmp_path: Path):
    path = program(tmp_path / "emulator", "#!/bin/sh\necho 'PANIC: Cannot find AVD system path'\nexit 7\n")
    with pytest.raises(DeviceError, match="ended with status 7: PANIC: Cannot find AVD"):
        EmulatorBackend(launch=True, avd="Pixel", emulator_path=path, adb_server_port=free_port(), patience=QUICK)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"launch": True}, "avd exactly with launch=True"),
        ({"avd": "Pixel"}, "avd exactly with launch=True"),
        ({"tree": "xml"}, "'forwarder' or 'uiautomator'"),
        ({"max_snapshots": 0}, "1 or more"),
    ],
)
def test_arguments_that_do_not_go_together(arguments: dict[str, object], said: str):
    with pytest.raises(ValueError, match=said):
        EmulatorBackend(**arguments)  # pyright: ignore
