"""A headless browser for tests, driven as by hand."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHROMIUM = Path("/usr/bin/chromium")


class Chromium:
    """A headless Chromium that does what a hand would; spoken to through a pipe."""

    def __init__(self, profile: Path):
        reading, self._out = os.pipe()
        self._in, writing = os.pipe()
        quiet = "--disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"
        command = [
            CHROMIUM, "--headless", "--no-sandbox", "--remote-debugging-pipe", *quiet.split(), f"--user-data-dir={profile}",
        ]  # fmt: skip
        pipes = f'exec "$0" "$@" 3<&{reading} 4>&{writing}'
        self._process = subprocess.Popen(
            ["bash", "-c", pipes, *command], pass_fds=(reading, writing), stderr=subprocess.DEVNULL
        )
        os.close(reading)
        os.close(writing)
        self._heard, self._number, self._page = b"", 0, {}
        self.complaints: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._page = {"sessionId": self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self.size(1280, 900)

    def size(self, width: int, height: int) -> None:
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def js(self, code: str) -> Any:
        """Return the value of an expression on the page."""
        return self._call("Runtime.evaluate", expression=code, returnByValue=True)["result"].get("value")

    def open(self, address: str) -> None:
        self._leave(lambda: self._call("Page.navigate", url=address))

    def click(self, element: str) -> None:
        """Click in the middle of the element that an expression finds; wait for the next page."""
        middle = "[box.x + box.width / 2, box.y + box.height / 2]"
        code = f'const found = {element}; found.scrollIntoView({{block: "center"}}); const box = found.getBoundingClientRect()'
        x, y = self.js(f"(() => {{ {code}; return {middle} }})()")

        def press() -> None:
            for kind in ("mousePressed", "mouseReleased"):
                self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

        self._leave(press)

    def write(self, element: str, words: str) -> None:
        self.js(f"{element}.focus()")
        self._call("Input.insertText", text=words)

    def touch(
        self,
        element: str,
        at: tuple[float, float] = (0.5, 0.5),
        to: tuple[float, float] | None = None,
        *,
        until: str | None = None,
        shift: bool = False,
    ) -> None:
        """Press the mouse on an element that is in view, and let go when an expression has become true.

        Args:
            element: An expression that finds it.
            at: Where: shares of its width and height.
            to: Where the mouse is dragged to before it is let go.
            until: What to wait for with the button held down.
            shift: Whether the Shift key is down.
        """
        box = self.js(f"(({{x, y, width, height}}) => [x, y, width, height])({element}.getBoundingClientRect())")
        left, top, width, height = box

        def mouse(kind: str, place: tuple[float, float], **more: Any) -> None:
            x, y = left + place[0] * width, top + place[1] * height
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, modifiers=8 * shift, **more)

        mouse("mouseMoved", at)
        mouse("mousePressed", at, button="left", clickCount=1)
        if to is not None:
            mouse("mouseMoved", to, button="left")
        if until is not None:
            self.wait(until)
        mouse("mouseReleased", to or at, button="left", clickCount=1)

    def wait(self, code: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + 60
        while not self.js(code):
            assert time.monotonic() < end, f"still not: {code}"
            time.sleep(0.02)

    def back(self) -> None:
        history = self._call("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] - 1]
        self._leave(lambda: self._call("Page.navigateToHistoryEntry", entryId=entry["id"]))

    def screenshot(self) -> bytes:
        return base64.b64decode(self._call("Page.captureScreenshot")["data"])

    def close(self) -> None:
        self._page = {}
        self._call("Browser.close")
        self._process.wait(60)
        os.close(self._in)
        os.close(self._out)

    def _leave(self, way: Callable[[], Any]) -> None:
        """Do what leads to another page, and wait until it is there."""
        before = self.js("location.href")
        way()
        self.wait(f"location.href !== {json.dumps(before)} && document.readyState === 'complete'")

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, **self._page}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._hear()
            if answer.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                self.complaints.append(json.dumps(answer["params"]))
            if answer.get("id") == self._number:
                return answer.get("result", {"result": {}})  # a page that is being left gives nothing

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._heard:
            ready, _, _ = select.select([self._in], [], [], 60)
            assert ready, "Chromium is silent"
            self._heard += os.read(self._in, 1 << 16)
        message, _, self._heard = self._heard.partition(b"\0")
        return json.loads(message)
