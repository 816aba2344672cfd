"""Devices as simulators of android_env: what runs on an emulator behind ``AndroidEnv`` runs on the simulated phone, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from backtrail.envs.androidworld.controller import extra
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.phone.shell import Shell
from backtrail.envs.androidworld.phone.shell_apps import press
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH, Bounds, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.emulator import EmulatorBackend

__all__ = ["Touch", "as_android_env", "forest", "quiet_log"]

_SERIAL = "emulator-5554"
_SYMBOLS = {0xFF0D: "ENTER", 0xFF08: "DEL", 0xFF1B: "BACK", 0xFF50: "HOME"}
"""Keys that X11 gives codes of their own; other keys have the code of their character."""


class Touch:
    """Makes taps, long presses and swipes of where a finger is, one call a step."""

    hold = 5
    """Calls with the finger down in one place from which on it is a long press."""

    def __init__(self, phone: Phone):
        """Touch ``phone``."""
        self._phone = phone
        self._way: list[tuple[int, int]] = []

    def __call__(self, x: int, y: int, down: bool) -> None:
        """Say where the finger is, in pixels of the screen, and whether it touches."""
        if down:
            self._way.append((x, y))
            return
        way, self._way = self._way, []
        if not way:
            return
        moved = max(abs(a - way[0][0]) + abs(b - way[0][1]) for a, b in way)
        if moved <= _SLIP and len(way) >= self.hold:
            self._phone.hold(*way[0])
        elif moved <= _SLIP:
            self._phone.tap(*way[0])
        else:
            self._phone.swipe(way[0], way[-1])


_SLIP = 24  # pixels that a finger may slip without swiping


def as_android_env(device: Phone | EmulatorBackend | None = None, task: Any = None) -> Any:
    """Return an ``android_env.environment.AndroidEnv`` on a simulated phone or an emulator.

    Everything that goes over adb, touches, keys, screenshots, and ``save_state`` and ``load_state`` (argument
    ``snapshot_name``) work. Accessibility forests are sent to whoever tells the forwarder app to, as android_env's
    ``A11yGrpcWrapper`` does. On a phone nothing is ever late, and time passes on its own clock alone; an emulator's adb server is
    never restarted, and closing the environment leaves the emulator as it is.

    Args:
        device: The device; by default a new phone with all apps. Pixels have the scale of the phone.
        task: An ``android_env`` Task message; by default one without rewards and without end. A phone logs nothing, so that
            a task's regular expressions for the log find something on an emulator only.

    Raises:
        gymnasium.error.DependencyNotInstalled: If the extra ``android`` is missing.
    """
    parts = "android_env.components"
    settings = extra(f"{parts}.config_classes")
    if device is None or isinstance(device, Phone):
        simulator = _simulator_class()(device or make_phone())
    else:
        from backtrail.envs.androidworld.emulator_env import emulator_simulator

        simulator = emulator_simulator(device, logs=task is not None)
    manager = extra(f"{parts}.task_manager").TaskManager(
        task or extra("android_env.proto.task_pb2").Task(id="backtrail"), settings.TaskManagerConfig()
    )
    plain = settings.DeviceSettingsConfig(show_touches=False, show_pointer_location=False)  # they are drawn on pictures
    coordinator = extra(f"{parts}.coordinator").Coordinator(
        simulator,
        manager,
        device_settings=extra(f"{parts}.device_settings").DeviceSettings(simulator),
        config=settings.CoordinatorConfig(enable_key_events=True, device_settings=plain),
    )
    environment = extra("android_env.environment")
    return environment.AndroidEnv(simulator=simulator, coordinator=coordinator, task_manager=manager)


def quiet_log() -> Any:
    """Return a log stream of android_env without a line.

    Raises:
        gymnasium.error.DependencyNotInstalled: If the extra ``android`` is missing.
    """

    class QuietLog(extra("android_env.components.log_stream").LogStream):
        """Logs nothing."""

        def _get_stream_output(self) -> Any:
            return iter(())

        def stop_stream(self) -> None:
            """Nothing runs."""

    return QuietLog()


def forest(root: View) -> Any:
    """Return a screen as the accessibility forwarder describes it: an ``AndroidAccessibilityForest``, a window for each layer.

    Raises:
        gymnasium.error.DependencyNotInstalled: If the extra ``android`` is missing.
    """
    found = extra("android_env.proto.a11y.android_accessibility_forest_pb2").AndroidAccessibilityForest()
    for number, layer in enumerate(root.children):
        above = [
            each.bounds for each in root.children[number + 1 :] if each.fill is not None or each.on_tap is not None
        ]
        window = found.windows.add()
        window.id = number
        _node(window.tree.nodes, layer, 0, above)
    return found


def _node(nodes: Any, view: View, depth: int, above: Sequence[Bounds]) -> int:
    """Add a view and those below it; return its number."""
    node = nodes.add()
    node.unique_id, node.depth = len(nodes) - 1, depth
    box = node.bounds_in_screen
    box.left, box.top, box.right, box.bottom = view.bounds
    node.class_name, node.package_name, node.view_id_resource_name = view.classes, view.package, view.resource
    node.text = "•" * len(view.text) if view.password else view.text
    node.content_description, node.hint_text = view.description, view.hint
    node.is_checkable, node.is_checked = view.checked is not None, bool(view.checked)
    node.is_clickable, node.is_long_clickable = view.clickable, view.on_hold is not None
    node.is_editable, node.is_enabled, node.is_password = bool(view.field), view.enabled, view.password
    node.is_focusable, node.is_focused = view.clickable, view.focused
    node.is_scrollable, node.is_selected = view.reach > 0, view.selected
    node.is_visible_to_user = _visible(view.bounds, above)
    number = node.unique_id
    parts = (
        [] if view.field else view.children
    )  # how a field is drawn is nobody's business: for Android it has no parts
    node.child_ids.extend([_node(nodes, child, depth + 1, above) for child in parts])
    return number


def _visible(bounds: Bounds, above: Sequence[Bounds]) -> bool:
    """Whether some of a view is on the screen and it is not wholly covered."""
    left, top, right, bottom = bounds
    if min(right, WIDTH) <= max(left, 0) or min(bottom, HEIGHT) <= max(top, 0):
        return False
    return not any(x <= left and y <= top and right <= x2 and bottom <= y2 for x, y, x2, y2 in above)


def _simulator_class() -> Any:
    """Return the class of the simulator, whose bases only the extra has."""
    parts = "android_env.components"
    settings, errors = extra(f"{parts}.config_classes"), extra(f"{parts}.errors")
    states = extra("android_env.proto.state_pb2")

    class PhoneAdb(extra(f"{parts}.adb_controller").AdbController):
        """Runs adb commands on the phone."""

        def __init__(self, simulator: PhoneSimulator):
            # without the last option it deletes variables from this process's environment
            super().__init__(settings.AdbControllerConfig("adb", use_adb_server_port_from_os_env=True))
            self._simulator = simulator

        def execute_command(self, args: list[str], timeout: float | None = None, device_specific: bool = True) -> bytes:
            status, output = self._simulator.shell.adb(args)
            self._simulator.forward()
            if status:
                raise errors.AdbControllerError(f"Error executing adb command: {args} ended with {status}: {output!r}")
            return output

    class PhoneSimulator(extra(f"{parts}.simulators.base_simulator").BaseSimulator):
        """A simulator whose device is the phone."""

        def __init__(self, phone: Phone):
            super().__init__(settings.SimulatorConfig())
            self.phone, self.shell = phone, Shell(phone)
            self._touch, self._kept = Touch(phone), dict[str, str]()
            self._address: tuple[str, int] | None = None
            self._channel: Any = None

        def adb_device_name(self) -> str:
            return _SERIAL

        def create_adb_controller(self) -> PhoneAdb:
            return PhoneAdb(self)

        def create_log_stream(self) -> Any:
            return quiet_log()

        def _launch_impl(self) -> None:
            self.phone.changed()

        def send_touch(self, touches: list[tuple[int, int, bool, int]]) -> None:
            x, y, down, _ = touches[0]
            self._touch(round(x / self.phone.scale), round(y / self.phone.scale), bool(down))
            self.forward()

        def send_key(self, keycode: np.int32, event_type: str) -> None:
            if event_type in ("keypress", "keydown"):
                code = int(keycode)
                if code in _SYMBOLS:
                    press(self.shell, _SYMBOLS[code])
                elif 0x20 <= code < 0x7F:
                    self.phone.type(chr(code))
                self.forward()

        def _get_screenshot_impl(self) -> np.ndarray:
            return self.phone.screenshot()

        def save_state(self, request: Any) -> Any:
            self._kept[request.args.get("snapshot_name", "default_snapshot")] = self.phone.save()
            return states.SaveStateResponse(status=states.SaveStateResponse.Status.OK)

        def load_state(self, request: Any) -> Any:
            name, answer = request.args.get("snapshot_name", "default_snapshot"), states.LoadStateResponse
            if name not in self._kept:
                return answer(status=answer.Status.NOT_FOUND, error_message=f"There is no snapshot {name!r}")
            self.phone.load(self._kept[name])
            self._touch = Touch(self.phone)
            self.forward()
            return answer(status=answer.Status.OK)

        def close(self) -> None:
            if self._channel is not None:
                self._channel.close()
            super().close()

        def forward(self) -> None:
            """Send the screen to where the accessibility forwarder was told to: always, for it is asked for again and again."""
            if self.shell.forwarder is None:
                return
            grpc, services = extra("grpc"), extra("android_env.proto.a11y.a11y_pb2_grpc")
            if self._address != self.shell.forwarder:
                self.close()
                self._address = self.shell.forwarder
                self._channel = grpc.secure_channel(
                    f"127.0.0.1:{self._address[1]}",
                    grpc.local_channel_credentials(),
                    options=[("grpc.enable_http_proxy", 0)],
                )
            try:
                services.A11yServiceStub(self._channel).SendForest(forest(self.phone.tree), timeout=5.0)
            except grpc.RpcError:
                self.shell.forwarder = None  # nobody listens any more

    return PhoneSimulator
