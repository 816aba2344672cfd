"""The simulated phone in the stand-in: its clock is that of this machine, as a real phone's."""

from __future__ import annotations

import time

import numpy as np
from standin.device import Answer

from backtrail.envs.androidworld.backend import Element
from backtrail.envs.androidworld.elements import elements
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.phone.shell import Shell
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH, View

LOG = "/data/local/tmp/log"
"""What is written to this file is what logcat says."""
_COARSE = 4  # it is drawn so many times smaller and blown up: that is quicker, and nobody reads it
_SLIP, _HOLD = 24, 0.5


class PhoneDevice:
    """A phone with all apps."""

    size = (HEIGHT, WIDTH)

    def __init__(self) -> None:
        self.phone = make_phone(scale=1 / _COARSE)
        self._shell = Shell(self.phone)
        self._since = time.monotonic()
        self._drawn: tuple[View, np.ndarray] | None = None

    def picture(self) -> np.ndarray:
        self._tick()
        if self._drawn is None or self._drawn[0] is not self.phone.tree:
            small = self.phone.screenshot()
            self._drawn = self.phone.tree, small.repeat(_COARSE, axis=0).repeat(_COARSE, axis=1)
        return self._drawn[1]

    def elements(self) -> list[Element]:
        self._tick()
        return elements(self.phone.tree)

    def gesture(self, start: tuple[int, int], end: tuple[int, int], seconds: float) -> None:
        self._tick()
        if abs(start[0] - end[0]) + abs(start[1] - end[1]) > _SLIP:
            self.phone.swipe(start, end)
        elif seconds > _HOLD:
            self.phone.hold(*start)
        else:
            self.phone.tap(*start)

    def key(self, name: str) -> None:
        self._tick()
        press = {"GoBack": self.phone.back, "GoHome": self.phone.press_home, "Enter": self.phone.enter}
        press.get(name, lambda: None)()

    def line(self, command: str) -> Answer:
        self._tick()
        if " logcat " in command:
            return Answer(0, b"" if " -c" in command else self.read(LOG) or b"")
        answer = Answer(*self._shell.run(command))
        self.phone.changed()
        return answer

    def console(self, command: str) -> bytes:
        self._tick()
        return self._shell.adb(["emu", *command.split(" ")])[1]

    def read(self, path: str) -> bytes | None:
        return self._shell.volume.read(path)

    def write(self, path: str, content: bytes) -> None:
        self._shell.volume.write(path, content)
        self.phone.changed()

    def folder(self, path: str) -> bool:
        return self._shell.volume.is_directory(path)

    def save(self) -> str:
        self._tick()
        return self.phone.save()

    def load(self, state: str) -> None:
        self.phone.load(state)
        self._since = time.monotonic()

    def _tick(self) -> None:
        passed = int(time.monotonic() - self._since)
        if passed:
            self._since += passed
            self.phone.pass_time(passed)
