"""An emulator that is driven already, as a simulator of android_env."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from backtrail.envs.androidworld.backend import DeviceError
from backtrail.envs.androidworld.controller import Controller, extra
from backtrail.envs.androidworld.simulator import quiet_log
from backtrail.envs.core import SnapshotError

if TYPE_CHECKING:
    from backtrail.envs.androidworld.emulator import EmulatorBackend

__all__ = ["emulator_simulator"]

_DEFAULT = "default_snapshot"
_NEW_PORT = re.compile(
    r'shell am broadcast -a accessibility_forwarder\.intent\.action\.SET_GRPC\b.*--ei "?port"? (\d+)'
)
_NEW_PROXY = "shell settings put global no_proxy "
_SERVER_COMMANDS = ("kill-server", "start-server", "reconnect")
_CODES = {"Linux": "XKB", "Windows": "Win", "Darwin": "Mac"}


class _Fingers(Controller):
    """A connection for single touches and for keys by code."""

    def touch(self, touches: Sequence[tuple[int, int, bool, int]]) -> None:
        """Say of each finger where it is and whether it is down: (x, y, down, finger)."""
        points = [
            self._messages.Touch(x=int(x), y=int(y), pressure=int(down), identifier=int(finger))
            for x, y, down, finger in touches
        ]
        self._tell(self._emulator.sendTouch, self._messages.TouchEvent(touches=points))

    def code(self, code: int, kind: str) -> None:
        """Send "keydown", "keyup" or "keypress" of a key by the code that this machine's system has for it."""
        event = self._messages.KeyboardEvent
        system = event.KeyCodeType.Value(_CODES.get(platform.system(), "XKB"))
        happened = event.KeyEventType.Value(kind)
        self._tell(self._emulator.sendKey, event(codeType=system, eventType=happened, keyCode=code))


def emulator_simulator(device: EmulatorBackend, logs: bool) -> Any:
    """Return a ``BaseSimulator`` of android_env on an emulator; closing it leaves the emulator as it is.

    Args:
        device: The emulator. Where its trees come from the forwarder app, the app goes on sending to the device, which sends on.
        logs: Whether to read Android's log.

    Raises:
        gymnasium.error.DependencyNotInstalled: If the extra ``android`` is missing.
        DeviceError: If the emulator does not answer.
    """
    parts = "android_env.components"
    settings, errors = extra(f"{parts}.config_classes"), extra(f"{parts}.errors")
    states = extra("android_env.proto.state_pb2")

    class DeviceAdb(extra(f"{parts}.adb_controller").AdbController):
        """Runs adb commands once, through the device's own client and server."""

        def __init__(self) -> None:
            # without the last option it deletes variables from this process's environment
            super().__init__(settings.AdbControllerConfig(device.adb.path, use_adb_server_port_from_os_env=True))

        def execute_command(self, args: list[str], timeout: float | None = None, device_specific: bool = True) -> bytes:
            if args[0] in _SERVER_COMMANDS or (device.tree == "forwarder" and _intercepted(device, args)):
                return b""
            try:
                return device.adb.run(*args, timeout=timeout or self._config.default_timeout)
            except DeviceError as error:
                raise errors.AdbControllerError(f"Error executing adb command: {args}: {error}") from error

    class EmulatorSimulator(extra(f"{parts}.simulators.base_simulator").BaseSimulator):
        """A simulator whose device is the emulator."""

        def __init__(self) -> None:
            super().__init__(settings.SimulatorConfig())
            self._fingers = _Fingers(device.grpc_port, connect=device.patience.connect, timeout=device.patience.command)
            self._kept = dict[str, str]()

        def adb_device_name(self) -> str:
            return device.adb.serial

        def create_adb_controller(self) -> DeviceAdb:
            return DeviceAdb()

        def create_log_stream(self) -> Any:
            if not logs:
                return quiet_log()
            adb = device.adb
            client = [adb.path, "-H", "127.0.0.1", "-P", str(adb.port), "-s", adb.serial]
            return extra(f"{parts}.adb_log_stream").AdbLogStream(client)

        def _launch_impl(self) -> None:
            """The emulator runs."""

        def send_touch(self, touches: list[tuple[int, int, bool, int]]) -> None:
            self._fingers.touch(touches)

        def send_key(self, keycode: np.int32, event_type: str) -> None:
            self._fingers.code(int(keycode), event_type)

        def _get_screenshot_impl(self) -> np.ndarray:
            return device.screenshot()

        def save_state(self, request: Any) -> Any:
            answer = states.SaveStateResponse
            try:
                self._kept[request.args.get("snapshot_name", _DEFAULT)] = device.save()
            except DeviceError as error:
                return answer(status=answer.Status.ERROR, error_message=str(error))
            return answer(status=answer.Status.OK)

        def load_state(self, request: Any) -> Any:
            name, answer = request.args.get("snapshot_name", _DEFAULT), states.LoadStateResponse
            try:
                device.restore(self._kept[name])
            except KeyError:
                return answer(status=answer.Status.NOT_FOUND, error_message=f"There is no snapshot {name!r}")
            except SnapshotError as error:
                return answer(status=answer.Status.NOT_FOUND, error_message=str(error))
            except DeviceError as error:
                return answer(status=answer.Status.ERROR, error_message=str(error))
            return answer(status=answer.Status.OK)

        def close(self) -> None:
            device.relay_forests(None)
            self._fingers.close()
            super().close()

    return EmulatorSimulator()


def _intercepted(device: EmulatorBackend, args: Sequence[str]) -> bool:
    """Keep a command from the device that tells the forwarder app to send elsewhere; return whether it was one."""
    line = " ".join(args)
    found = _NEW_PORT.match(line)
    if found is not None:
        device.relay_forests(int(found[1]))
    return found is not None or line.startswith(_NEW_PROXY)
