"""The emulator around a phone: what belongs to it and not to the phone, and everything that can fail on the way."""

from __future__ import annotations

import shlex
import threading
import time
from collections import Counter, deque
from typing import Any

from standin.device import Answer
from standin.toy import commands

FORWARDER = "com.google.androidenv.accessibilityforwarder"
BUILD = "backtrail/stand_in/simulated:13/1/1:user/test-keys"
_OWN = (
    "getprop sys.boot_completed",
    "getprop ro.build.fingerprint",
    "whoami",
    "am broadcast -a accessibility_forwarder.",
    "pm install",
)
"""How commands begin that no phone is asked."""


class Emulator:
    """Holds the phone, its lock, the snapshots, and the faults that were ordered."""

    def __init__(self, device: Any, console_port: int, boot: float, root: bool, installed: bool):
        """Put a `standin.device.StandInDevice` into an emulator."""
        self.device, self.serial = device, f"emulator-{console_port}"
        self.clients: set[Any] = set()
        self.counts: Counter[str] = Counter()
        self.commands: deque[str] = deque(maxlen=500)
        self.snapshots: dict[str, Any] = {}
        self.forwarding = {"port": 0, "on": False, "root": root, "installed": installed}
        self.period, self.delay, self.lag, self.mute = 0.05, 0.0, 0.0, False
        self.lock = threading.RLock()
        self._up = time.monotonic() + boot
        self._back = 0.0
        self._faults: deque[str] = deque()
        self._down: tuple[tuple[int, int], float] | None = None

    def booted(self) -> bool:
        return time.monotonic() >= self._up

    def attached(self) -> bool:
        return time.monotonic() >= self._back

    def detach(self, seconds: float) -> None:
        self._back = time.monotonic() + seconds

    def count(self, what: str) -> None:
        self.counts[what] += 1

    def order_fault(self, kind: str) -> None:
        self._faults.append(kind)

    def take_fault(self) -> str | None:
        return self._faults.popleft() if self._faults else None

    def become_root(self) -> bytes:
        already = self.forwarding["root"]
        self.forwarding["root"] = True
        return b"adbd is already running as root\n" if already else b"restarting adbd as root\n"

    def touch(self, x: int, y: int, down: bool) -> None:
        """Follow the finger."""
        now = time.monotonic()
        with self.lock:
            if down:
                self._down = self._down or ((x, y), now)
            elif self._down:
                (start, since), self._down = self._down, None
                self.device.gesture(start, (x, y), now - since)

    def run(self, line: str) -> Answer:
        """Run a shell line."""
        status, output, error = 0, b"", b""
        with self.lock:
            self.commands.append(line)
            parts = commands(line)
            whole = hasattr(self.device, "line") and not any(" ".join(words).startswith(_OWN) for _, words in parts)
            if whole:
                return self.device.line(line)
            for link, words in parts:
                if link == "&&" and status:
                    continue
                status, out, err = self._run(words)
                output, error = output + out, error + err
        return Answer(status, output, error)

    def console(self, command: str) -> bytes:
        """Run a command of the console."""
        with self.lock:
            return self.device.console(command) if hasattr(self.device, "console") else b"KO: unknown command\n"

    def folder(self, path: str) -> bool:
        with self.lock:
            return hasattr(self.device, "folder") and self.device.folder(path)

    def read(self, path: str) -> bytes | None:
        with self.lock:
            return self.device.read(path)

    def write(self, path: str, content: bytes) -> None:
        with self.lock:
            self.device.write(path, content)

    def save(self, name: str) -> None:
        with self.lock:
            self.snapshots[name] = (self.device.save(), dict(self.forwarding))

    def load(self, name: str) -> bool:
        with self.lock:
            if name not in self.snapshots:
                return False
            state, forwarding = self.snapshots[name]
            self.device.load(state)
            self.forwarding = dict(forwarding)  # the app in the snapshot knows the port of that day
            return True

    def _run(self, words: list[str]) -> Answer:
        match words:
            case ["getprop", "sys.boot_completed"]:
                return Answer(0, b"1\n" if self.booted() else b"\n")
            case ["getprop", "ro.build.fingerprint"]:
                return Answer(0, f"{BUILD}\n".encode())
            case ["whoami"]:
                return Answer(0, b"root\n" if self.forwarding["root"] else b"shell\n")
            case ["am", "broadcast", "-a", action, *rest] if action.startswith("accessibility_forwarder."):
                if action.endswith(".SET_GRPC"):
                    self.forwarding["port"] = int(rest[rest.index("port") + 1])
                else:
                    self.forwarding["on"] = True
            case ["pm", "install", *_]:
                self.forwarding["installed"] = True
                return Answer(0, b"Success\n")
            case _ if hasattr(self.device, "line"):
                return self.device.line(shlex.join(words))
            case ["pm", "list", "packages", *_]:
                ours = f"package:{FORWARDER}\n".encode() if self.forwarding["installed"] else b""
                return Answer(0, self.device.shell(words).output + ours)
            case _:
                return self.device.shell(words)
        return Answer()
