"""UI elements of an emulator's screen, from the accessibility forwarder or from ``uiautomator dump``.

The forwarder is an app that sends a forest about every 100 ms. Both ways give the same kind of list, not the same list: the
forwarder's has leaves, described and scrollable nodes of all windows and knows hints; uiautomator's has every node of the
window in front. A policy that acts by number must stay with one.
"""

from __future__ import annotations

import re
import threading
import time
from concurrent import futures
from typing import Any
from xml.etree import ElementTree

from backtrail.envs.androidworld.adb import Adb
from backtrail.envs.androidworld.backend import CommandError, DeviceError, Element, StaleScreen
from backtrail.envs.androidworld.controller import extra

__all__ = ["Forwarder", "dumped_elements", "elements_of_forest", "elements_of_xml"]

PACKAGE = "com.google.androidenv.accessibilityforwarder"
APK_URL = "https://storage.googleapis.com/android_env-tasks/2024.05.13-accessibility_forwarder.apk"
_SERVICE = f"{PACKAGE}/{PACKAGE}.AccessibilityForwarder"
_RECEIVER = f"{PACKAGE}/{PACKAGE}.FlagsBroadcastReceiver"
_INTENT = "accessibility_forwarder.intent.action"
_HOST = "10.0.2.2"  # this machine, as an emulator sees it
_RELAY = 5.0  # seconds that a forest may take
_DUMP = "/data/local/tmp/backtrail_screen.xml"
_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")


class Forwarder:
    """Receives the forests of the forwarder app; keeps the last one only."""

    def __init__(self, adb: Adb):
        """Listen on a free local port; `commands` make the app send.

        Raises:
            gymnasium.error.DependencyNotInstalled: If the extra ``android`` is missing.
        """
        self._adb = adb
        self._arrived = threading.Condition()
        self._count, self._forest = 0, None
        self._relay: _Relay | None = None
        self._server: Any = extra("grpc").server(futures.ThreadPoolExecutor(2, thread_name_prefix="forests"))
        self._messages = extra("android_env.proto.a11y.a11y_pb2")
        extra("android_env.proto.a11y.a11y_pb2_grpc").add_A11yServiceServicer_to_server(self, self._server)
        self.port: int = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def install(self, apk: str | None) -> None:
        """Install the app, if it is not on the device.

        Raises:
            DeviceError: If it is neither there nor given.
        """
        if f"package:{PACKAGE}" in self._adb.shell(f"pm list packages {PACKAGE}").split():
            return
        if apk is None:
            raise DeviceError(
                f"The accessibility forwarder is not installed on {self._adb.serial}. Download {APK_URL} and pass its path "
                'as a11y_apk, or choose tree="uiautomator"'
            )
        self._adb.run("install", "-r", "-g", apk, timeout=120.0)

    @property
    def commands(self) -> tuple[str, ...]:
        """Shell commands that switch the app on and tell it our port.

        They are needed again after every load: a snapshot holds the port of its day.
        """
        return (
            f"settings put secure enabled_accessibility_services {_SERVICE}",
            f"settings put global no_proxy {_HOST}:{self.port}",
            f"am broadcast -a {_INTENT}.ENABLE_ACCESSIBILITY_TREE_LOGS -n {_RECEIVER}",
            f"am broadcast -a {_INTENT}.SET_GRPC --ei port {self.port} --es host {_HOST} -n {_RECEIVER}",
        )

    def elements(self, patience: float, quiet: float, settle: float) -> list[Element]:
        """Return the elements of the screen as it is now.

        The first forest to arrive may have been made before the call, the next cannot: the app makes one after the other. It
        is taken when the forests have said the same for ``quiet`` seconds, or when they have not for ``settle`` seconds.

        Raises:
            StaleScreen: If they do not arrive within ``patience`` seconds, even after the app was told our port again.
        """
        for last_try in (False, True):
            found = self._settled(patience, quiet, settle)
            if found is not None:
                return found
            if not last_try:
                self._adb.shell(" && ".join(self.commands))
        raise StaleScreen(
            f"No new accessibility tree arrived on port {self.port} within {patience:g} s, twice ({self._count} so far). "
            f"Airplane mode: {self._airplane()} (1 cuts the app off). Is the service {PACKAGE} enabled and this port free?"
        )

    def relay_to(self, port: int | None) -> None:
        """Send every forest on to a server on this machine, too; with None no more. One that is gone is forgotten."""
        with self._arrived:
            if self._relay is not None:
                self._relay.close()
            self._relay = None if port is None else _Relay(port)

    def close(self) -> None:
        """Stop listening."""
        self.relay_to(None)
        self._server.stop(None)

    def SendForest(self, request: Any, context: Any) -> Any:
        """Receive a forest (called by gRPC)."""
        with self._arrived:
            self._count += 1
            self._forest = request
            self._arrived.notify_all()
            if self._relay is not None and not self._relay.send(request):
                self._relay.close()
                self._relay = None
        return self._messages.ForestResponse()

    def SendEvent(self, request: Any, context: Any) -> Any:
        """Receive an event (called by gRPC); events are not needed, and keeping them would fill the memory."""
        return self._messages.EventResponse()

    def Bidi(self, requests: Any, context: Any) -> Any:
        """Refuse the streaming form (called by gRPC): the app that is released does not use it."""
        context.abort(extra("grpc").StatusCode.UNIMPLEMENTED, "send forests one by one")

    def _settled(self, patience: float, quiet: float, settle: float) -> list[Element] | None:
        start = time.monotonic()
        count, forest = self._next(self._count, patience)
        if forest is None:
            return None
        before, since = elements_of_forest(forest), time.monotonic()
        while True:
            count, forest = self._next(count, patience)
            if forest is None:
                return None
            now = elements_of_forest(forest)
            time_now = time.monotonic()
            if now != before:
                before, since = now, time_now
            elif time_now - since >= quiet:
                return now
            if time_now - start >= settle:
                return now

    def _next(self, count: int, patience: float) -> tuple[int, Any]:
        with self._arrived:
            arrived = self._arrived.wait_for(lambda: self._count > count, patience)
            return (self._count, self._forest) if arrived else (count, None)

    def _airplane(self) -> str:
        try:
            return self._adb.words("settings", "get", "global", "airplane_mode_on").strip()
        except DeviceError as error:
            return f"unknown ({error})"


class _Relay:
    """Sends forests to a server and never waits for it: those that come while one is on its way are left out."""

    def __init__(self, port: int):
        grpc = extra("grpc")
        self._gone = grpc.StatusCode.UNAVAILABLE
        self._channel: Any = grpc.secure_channel(
            f"127.0.0.1:{port}", grpc.local_channel_credentials(), options=[("grpc.enable_http_proxy", 0)]
        )
        self._stub: Any = extra("android_env.proto.a11y.a11y_pb2_grpc").A11yServiceStub(self._channel)
        self._call: Any = None

    def send(self, forest: Any) -> bool:
        """Begin to send a forest; return False instead if nobody listened to the last one."""
        if self._call is not None:
            if not self._call.done():
                return True
            if self._call.code() is self._gone:
                return False
        self._call = self._stub.SendForest.future(forest, timeout=_RELAY)
        return True

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()


def elements_of_forest(forest: Any) -> list[Element]:
    """Return the visible nodes of an AndroidAccessibilityForest that are leaves, described or scrollable, in its order."""
    nodes = (node for window in forest.windows for node in window.tree.nodes)
    return [
        _element_of_node(node)
        for node in nodes
        if node.is_visible_to_user and (not node.child_ids or node.content_description or node.is_scrollable)
    ]


def _element_of_node(node: Any) -> Element:
    box = node.bounds_in_screen
    return Element(
        class_name=node.class_name,
        text=node.text,
        description=node.content_description,
        resource_id=node.view_id_resource_name,
        package=node.package_name,
        bounds=(box.left, box.top, box.right, box.bottom),
        hint=node.hint_text,
        checked=node.is_checked,
        checkable=node.is_checkable,
        clickable=node.is_clickable,
        editable=node.is_editable,
        enabled=node.is_enabled,
        focused=node.is_focused,
        long_clickable=node.is_long_clickable,
        scrollable=node.is_scrollable,
        selected=node.is_selected,
        password=node.is_password,
    )


def dumped_elements(adb: Adb, tries: int = 3) -> list[Element]:
    """Return the elements that uiautomator sees now.

    The old dump is deleted first: uiautomator writes none while the screen moves, and says so in no exit status.

    Raises:
        StaleScreen: If it never finds the screen at rest.
    """
    for _ in range(tries):
        try:
            return elements_of_xml(adb.shell(f"rm -f {_DUMP}; uiautomator dump {_DUMP} >/dev/null 2>&1; cat {_DUMP}"))
        except CommandError:
            continue
    raise StaleScreen(
        f"uiautomator found the screen of {adb.serial} in motion {tries} times: wait, or use the forwarder"
    )


def elements_of_xml(text: str) -> list[Element]:
    """Return every node of a uiautomator dump in document order.

    Raises:
        DeviceError: If it is no such dump.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise DeviceError(f"Expected the XML of a uiautomator dump, got {text[:80]!r}: {error}") from None
    return [_element_of_xml(node) for node in root.iter("node")]


def _element_of_xml(node: ElementTree.Element) -> Element:
    box = _BOUNDS.fullmatch(node.get("bounds", ""))
    left, top, right, bottom = map(int, box.groups()) if box else (0, 0, 0, 0)
    kind = node.get("class", "")

    def flag(name: str) -> bool:
        return node.get(name) == "true"

    return Element(
        class_name=kind,
        text=node.get("text", ""),
        description=node.get("content-desc", ""),
        resource_id=node.get("resource-id", ""),
        package=node.get("package", ""),
        bounds=(left, top, right, bottom),
        checked=flag("checked"),
        checkable=flag("checkable"),
        clickable=flag("clickable"),
        editable=kind.endswith("EditText"),  # the dump does not say
        enabled=flag("enabled"),
        focused=flag("focused"),
        long_clickable=flag("long-clickable"),
        scrollable=flag("scrollable"),
        selected=flag("selected"),
        password=flag("password"),
    )
