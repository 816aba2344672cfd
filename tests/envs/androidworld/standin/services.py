"""The emulator's gRPC services, and the accessibility forwarder app that calls ours."""

# pyright: reportMissingImports=false

from __future__ import annotations

import time
from collections import deque
from concurrent import futures
from typing import Any

import grpc
from android_env.proto import emulator_controller_pb2 as control
from android_env.proto import emulator_controller_pb2_grpc as control_grpc
from android_env.proto import snapshot_service_pb2 as keeping
from android_env.proto import snapshot_service_pb2_grpc as keeping_grpc
from android_env.proto.a11y import a11y_pb2_grpc
from android_env.proto.a11y import android_accessibility_forest_pb2 as forests
from google.protobuf import empty_pb2
from standin.emulator import Emulator

_FLAGS = (
    "checked",
    "checkable",
    "clickable",
    "editable",
    "enabled",
    "focused",
    "long_clickable",
    "scrollable",
    "selected",
)
_FLAGS += ("password",)
_KEYS = {9: "GoBack", 36: "Enter", 110: "GoHome"}  # by their codes on Linux: escape, enter and home


def serve_grpc(emulator: Emulator, port: int) -> tuple[Any, int]:
    """Start the services; return the server and its port."""
    server = grpc.server(futures.ThreadPoolExecutor(4))
    control_grpc.add_EmulatorControllerServicer_to_server(_Control(emulator), server)
    keeping_grpc.add_SnapshotServiceServicer_to_server(_Keeping(emulator), server)
    port = server.add_secure_port(f"127.0.0.1:{port}", grpc.local_server_credentials())
    server.start()
    return server, port


def forward(emulator: Emulator) -> None:
    """Be the forwarder app: one forest after the other, over and over."""
    past: deque[tuple[float, Any]] = deque()
    port = 0
    channel: Any = None
    stub: Any = None
    while True:
        time.sleep(emulator.period)
        with emulator.lock:
            past.append((time.monotonic(), _forest(emulator)))
            wanted = (
                emulator.forwarding["port"] if emulator.forwarding["on"] and emulator.forwarding["installed"] else 0
            )
        while len(past) > 1 and past[1][0] <= time.monotonic() - emulator.lag:
            past.popleft()
        if not wanted or emulator.mute:
            continue
        if wanted != port:
            if channel is not None:
                channel.close()
            port, channel = wanted, grpc.insecure_channel(f"127.0.0.1:{wanted}")
            stub = a11y_pb2_grpc.A11yServiceStub(channel)
        time.sleep(emulator.delay)
        try:
            stub.SendForest(past[0][1], timeout=1.0)
            emulator.count("forests")
        except grpc.RpcError:
            emulator.count("forests lost")


def _forest(emulator: Emulator) -> Any:
    forest = forests.AndroidAccessibilityForest()
    window = forest.windows.add()
    found = emulator.device.elements()
    window.tree.nodes.add(
        class_name="android.widget.FrameLayout", child_ids=range(1, len(found) + 1), is_visible_to_user=True
    )
    for k, element in enumerate(found):
        node = window.tree.nodes.add(
            unique_id=k + 1,
            class_name=element.class_name,
            text=element.text,
            content_description=element.description,
            hint_text=element.hint,
            package_name=element.package,
            view_id_resource_name=element.resource_id,
            is_visible_to_user=True,
        )
        for flag in _FLAGS:
            setattr(node, f"is_{flag}", getattr(element, flag))
        box = node.bounds_in_screen
        box.left, box.top, box.right, box.bottom = element.bounds
    return forest


class _Control(control_grpc.EmulatorControllerServicer):
    def __init__(self, emulator: Emulator):
        self._emulator = emulator

    def getStatus(self, request: Any, context: Any) -> Any:
        return control.EmulatorStatus(version="stand-in", booted=self._emulator.booted())

    def getScreenshot(self, request: Any, context: Any) -> Any:
        with self._emulator.lock:
            picture = self._emulator.device.picture()
        if request.width and request.height:
            coarse = max(1, -(-picture.shape[1] // request.width), -(-picture.shape[0] // request.height))
            picture = picture[::coarse, ::coarse]
        height, width, _ = picture.shape
        form = control.ImageFormat(format=control.ImageFormat.RGB888, width=width, height=height)
        return control.Image(format=form, image=picture.tobytes())

    def sendTouch(self, request: Any, context: Any) -> Any:
        for touch in request.touches:
            self._emulator.touch(touch.x, touch.y, touch.pressure > 0)
        return empty_pb2.Empty()

    def sendKey(self, request: Any, context: Any) -> Any:
        with self._emulator.lock:
            self._emulator.device.key(request.key or _KEYS.get(request.keyCode, str(request.keyCode)))
        return empty_pb2.Empty()


class _Keeping(keeping_grpc.SnapshotServiceServicer):
    def __init__(self, emulator: Emulator):
        self._emulator = emulator

    def ListSnapshots(self, request: Any, context: Any) -> Any:
        return keeping.SnapshotList(snapshots=[{"snapshot_id": name} for name in self._emulator.snapshots])

    def SaveSnapshot(self, request: Any, context: Any) -> Any:
        self._emulator.save(request.snapshot_id)
        return keeping.SnapshotPackage(success=True)

    def LoadSnapshot(self, request: Any, context: Any) -> Any:
        good = self._emulator.load(request.snapshot_id)
        return keeping.SnapshotPackage(success=good, err=b"" if good else b"no such snapshot")

    def DeleteSnapshot(self, request: Any, context: Any) -> Any:
        return keeping.SnapshotPackage(success=self._emulator.snapshots.pop(request.snapshot_id, None) is not None)
