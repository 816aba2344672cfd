"""The emulator's own gRPC services: screen, touches, keys and snapshots."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal

import gymnasium as gym
import numpy as np

from backtrail.envs.androidworld.backend import DeviceError

__all__ = ["Controller", "extra"]

_STEP = 0.03  # seconds between two points of a swipe
_TINY = 64  # pixels
_CHANNEL = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.enable_http_proxy", 0),  # a proxy in the environment would take the local call
)

Key = Literal["GoBack", "GoHome", "Enter"]
_Call = Callable[..., Any]


class ConnectionLost(DeviceError):
    """A call broke off; it may have had its effect."""


def extra(name: str) -> ModuleType:
    """Import a module of the extra ``android``.

    Raises:
        gymnasium.error.DependencyNotInstalled: If it is missing.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise gym.error.DependencyNotInstalled(
            f'An emulator needs the package of {name} ({error}): pip install "backtrail[android]"'
        ) from error


class Controller:
    """Talks to the gRPC port of one emulator."""

    def __init__(
        self, port: int, *, connect: float = 60.0, timeout: float = 30.0, check: Callable[[], object] = lambda: None
    ):
        """Connect.

        Args:
            port: That the emulator was started with (``emulator -grpc PORT``).
            connect: Seconds to wait for it to listen.
            timeout: Seconds that a call may take.
            check: Called every second meanwhile; what it raises ends the waiting.

        Raises:
            DeviceError: If nothing answers.
            gymnasium.error.DependencyNotInstalled: If the extra ``android`` is missing.
        """
        self.port, self.timeout = port, timeout
        self._grpc = extra("grpc")
        self._messages = extra("android_env.proto.emulator_controller_pb2")
        self._snapshots = extra("android_env.proto.snapshot_service_pb2")
        self._empty = extra("google.protobuf.empty_pb2").Empty()
        grpc = self._grpc
        self._channel: Any = grpc.secure_channel(
            f"127.0.0.1:{port}", grpc.local_channel_credentials(), options=_CHANNEL
        )
        ready = grpc.channel_ready_future(self._channel)
        deadline = time.monotonic() + connect
        while not self._ready(ready, min(1.0, max(0.0, deadline - time.monotonic()))):
            try:
                check()
                if time.monotonic() > deadline:
                    raise DeviceError(
                        f"No emulator answered on gRPC port {port} within {connect:g} s: "
                        f"is it running, and was it started with `-grpc {port}`?"
                    )
            except BaseException:
                self.close()
                raise
        self._emulator: Any = extra("android_env.proto.emulator_controller_pb2_grpc").EmulatorControllerStub(
            self._channel
        )
        self._keeper: Any = extra("android_env.proto.snapshot_service_pb2_grpc").SnapshotServiceStub(self._channel)

    def _ready(self, future: Any, patience: float) -> bool:
        try:
            future.result(timeout=patience)
        except self._grpc.FutureTimeoutError:
            return False
        return True

    def booted(self) -> bool:
        """Whether the emulator says that Android is up."""
        return bool(self._ask(self._emulator.getStatus, self._empty).booted)

    def screenshot(self) -> np.ndarray:
        """Return the picture of the screen, (height, width, 3) uint8, as a fresh array."""
        form = self._messages.ImageFormat
        asked = form(format=form.ImgFormat.RGB888)
        image = self._ask(self._emulator.getScreenshot, asked)
        height, width = image.format.height, image.format.width
        depth = 4 if image.format.format == form.ImgFormat.RGBA8888 else 3
        if not height or not width or len(image.image) != height * width * depth:
            raise DeviceError(
                f"Expected a picture of {height} x {width} x {depth} bytes, the emulator sent {len(image.image)}"
            )
        return np.frombuffer(image.image, np.uint8).reshape(height, width, depth)[..., :3].copy()

    def wide(self) -> bool:
        """Whether the picture is wider than it is high at present; asks for a tiny one to see."""
        form = self._messages.ImageFormat
        asked = form(format=form.ImgFormat.RGB888, width=_TINY, height=_TINY)
        found = self._ask(self._emulator.getScreenshot, asked).format
        return found.width > found.height

    def drag(self, points: tuple[int, int, int, int], seconds: float) -> None:
        """Put a finger down at (x0, y0), move it to (x1, y1) in so many seconds, and lift it."""
        x0, y0, x1, y1 = points
        steps = max(1, round(seconds / _STEP))
        for k in range(steps + 1):
            x, y = x0 + (x1 - x0) * k // steps, y0 + (y1 - y0) * k // steps
            if not k or (x0, y0) != (x1, y1):
                self._touch(x, y, down=True)
            if k < steps:
                time.sleep(seconds / steps)
        self._touch(x1, y1, down=False)

    def key(self, key: Key) -> None:
        """Press a key, by its name in the W3C's list."""
        kind = self._messages.KeyboardEvent
        event = kind(eventType=kind.KeyEventType.keypress, key=key)
        self._tell(self._emulator.sendKey, event)

    def saved(self, at_once: bool = False) -> list[str]:
        """Return the names of the snapshots that the emulator keeps; ``at_once``: without waiting for a lost connection."""
        everything = self._snapshots.SnapshotFilter(statusFilter=self._snapshots.SnapshotFilter.LoadStatus.All)
        kept = self._tell(self._keeper.ListSnapshots, everything, wait=not at_once)
        return [snapshot.snapshot_id for snapshot in kept.snapshots]

    def snapshot(self, verb: Literal["Save", "Load", "Delete"], name: str, timeout: float) -> None:
        """Save, load or delete the snapshot of a name.

        Raises:
            DeviceError: If the emulator does not do it.
        """
        request = self._snapshots.SnapshotPackage(snapshot_id=name)
        keeper = self._keeper
        call = {"Save": keeper.SaveSnapshot, "Load": keeper.LoadSnapshot, "Delete": keeper.DeleteSnapshot}[verb]
        answer = self._tell(call, request, timeout)
        if not answer.success:
            why = answer.err.decode("utf-8", "replace") or "it gave no reason; is the disk full, or the AVD read-only?"
            raise DeviceError(f"The emulator did not {verb.lower()} the snapshot {name!r}: {why}")

    def close(self) -> None:
        """Close the connection; may be called twice."""
        self._channel.close()

    def _touch(self, x: int, y: int, down: bool) -> None:
        touch = self._messages.Touch(x=x, y=y, pressure=int(down), identifier=0)
        event = self._messages.TouchEvent(touches=[touch])
        self._tell(self._emulator.sendTouch, event)

    def _ask(self, call: _Call, request: Any) -> Any:
        """Make a call that may be made twice: once more if the connection broke off."""
        try:
            return self._tell(call, request)
        except ConnectionLost:
            return self._tell(call, request)

    def _tell(self, call: _Call, request: Any, timeout: float | None = None, wait: bool = True) -> Any:
        """Make a call once: a touch that went through unheard must not be made twice. It waits while nothing listens."""
        try:
            return call(request, timeout=timeout or self.timeout, wait_for_ready=wait)
        except ValueError as error:
            raise DeviceError(f"The connection to gRPC port {self.port} is closed: {error}") from None
        except self._grpc.RpcError as error:
            code = error.code().name
            kind = ConnectionLost if code == "UNAVAILABLE" else DeviceError
            hint = ". Is the emulator running?" if code == "DEADLINE_EXCEEDED" else ""
            if code == "UNAUTHENTICATED":
                hint = ". Start the emulator with `-grpc PORT` and without `-grpc-use-token`"
            raise kind(f"The emulator's gRPC port {self.port} failed ({code}): {error.details()}{hint}") from None
