"""How an action is carried out on an emulator: touches and keys over gRPC, text and apps over adb.

What each action type does, and where a scroll starts and ends, is AndroidWorld's (Rawles et al., "AndroidWorld: A Dynamic
Benchmarking Environment for Autonomous Agents", ICLR 2025).
"""

from __future__ import annotations

import re
import shlex
import time
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.actions import ActionError
from backtrail.envs.androidworld.adb import Adb
from backtrail.envs.androidworld.app_names import PACKAGES
from backtrail.envs.androidworld.backend import CommandError, Element
from backtrail.envs.androidworld.controller import Controller

if TYPE_CHECKING:
    from backtrail.envs.androidworld.actions import Action

__all__ = ["Hands", "typed_lines"]

_TAP, _DOUBLE_TAP_GAP, _LONG_PRESS, _SCROLL, _SWIPE, _WAIT = 0.06, 0.1, 1.0, 0.3, 0.5, 1.0  # seconds
_ENTER = "input keyevent KEYCODE_ENTER"
_CLEAR = "input keycombination KEYCODE_CTRL_LEFT KEYCODE_A && input keyevent KEYCODE_DEL"
_DIRECTIONS = "up, down, left or right"


class Hands:
    """Carries out actions."""

    def __init__(self, adb: Adb, controller: Controller, pause: float = 1.0):
        """Take hold of an emulator.

        Args:
            adb: For text and apps, and for touches while the screen is turned.
            controller: For touches and keys.
            pause: Seconds between a tap into a field and the typing, for the keyboard to come up.
        """
        self._adb, self._controller, self._pause = adb, controller, pause
        self._turned = False
        self.dropped = ""
        """Characters of the last text that adb cannot type and that were left out."""

    def act(self, action: Action, elements: Sequence[Element], size: tuple[int, int], turned: bool = False) -> None:
        """Carry out an action.

        Args:
            action: A valid one; ``answer``, ``status`` and ``unknown`` do nothing to a device.
            elements: What an index counts in.
            size: (height, width) of the screen in pixels, as it is held now.
            turned: Whether it is held on its side.

        Raises:
            ActionError: If there is no such element or app; nothing has been done then.
            DeviceError: If the device fails.
        """
        self.dropped = ""
        self._turned = turned
        where = _place(action, elements, size)
        match action.action_type:
            case "click" | "double_tap" | "long_press" as kind:
                if where is None:
                    raise ActionError(f"expected an index or x and y for {kind}")
                self._touch(kind, where)
            case "input_text" if action.text or action.clear_text:
                self._type(action.text or "", where, bool(action.clear_text))
            case "scroll":
                box = (0, 0, size[1], size[0])
                if action.index:  # the original takes 0 for none
                    left, top, right, bottom = elements[action.index].bounds
                    box = (max(left, 0), max(top, 0), min(right, size[1]), min(bottom, size[0]))
                self._drag(_scroll(box, action.direction or ""), _SCROLL)
            case "swipe":
                self._drag(_swipe(action.direction or "", size), _SWIPE)
            case "navigate_back":
                self._controller.key("GoBack")
            case "navigate_home":
                self._controller.key("GoHome")
            case "keyboard_enter":
                self._controller.key("Enter")
            case "open_app":
                self._open(action.app_name or "")
            case "wait":
                time.sleep(_WAIT)
            case _:
                pass

    def _touch(self, kind: str, where: tuple[int, int]) -> None:
        self._drag((*where, *where), _LONG_PRESS if kind == "long_press" else _TAP)
        if kind == "double_tap":
            time.sleep(_DOUBLE_TAP_GAP)
            self._drag((*where, *where), _TAP)

    def _drag(self, points: tuple[int, int, int, int], seconds: float) -> None:
        if not self._turned:
            self._controller.drag(points, seconds)
        else:  # the emulator's touches count in the upright panel, `input` in the picture as it is turned
            self._adb.words("input", "swipe", *map(str, points), str(round(1000 * seconds)))

    def _type(self, text: str, where: tuple[int, int] | None, clear: bool) -> None:
        lines, self.dropped = typed_lines(text)
        if where is not None:
            self._touch("click", where)
            time.sleep(self._pause)
        if clear:
            self._adb.shell(_CLEAR)
        if not text:
            return
        commands: list[str] = []
        for pieces in lines:
            commands += [f"input text {shlex.quote(piece)}" for piece in pieces]
            commands.append(_ENTER)  # the last one too: AndroidWorld's input_text ends with Enter
        self._adb.shell(" && ".join(commands), timeout=self._adb.timeout + 2.0 * len(commands))

    def _open(self, name: str) -> None:
        wanted = PACKAGES.get(name.strip().lower(), name.strip())
        installed = {line.removeprefix("package:") for line in self._adb.shell("pm list packages").split()}
        if wanted not in installed:
            known = sorted(app for app, package in PACKAGES.items() if package in installed)
            raise ActionError(
                f"there is no app {name!r} here: expected one of {', '.join(known)}, or an installed package"
            )
        launcher = ("-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER")
        try:
            found = self._adb.words("cmd", "package", "resolve-activity", "--brief", *launcher, wanted).split()
        except CommandError:
            found = []
        if not found or not re.fullmatch(r"[\w.]+/[\w.$]+", found[-1]):
            raise ActionError(f"the app {name!r} ({wanted}) has no screen to open")
        self._adb.words("am", "start", "-W", "-n", found[-1])


def typed_lines(text: str) -> tuple[list[list[str]], str]:
    """Return what ``input text`` is to be given, line by line in pieces of a word, and the characters that it cannot type.

    It types ASCII only (accents are taken off first, as AndroidWorld does) and reads ``%s`` as a space: spaces are written
    so, and a ``%s`` that is meant is cut in two.
    """
    plain = unicodedata.normalize("NFKD", text)
    dropped = "".join(c for c in plain if c != "\n" and not " " <= c <= "~" and not unicodedata.combining(c))
    kept = "".join(c for c in plain if c == "\n" or " " <= c <= "~")
    lines = []
    for line in kept.split("\n"):
        pieces: list[str] = []
        for word in re.findall(r" +|[^ ]+", line):
            if word[0] == " ":
                pieces.append("%s" * len(word))
            else:
                pieces += re.split(r"(?<=%)(?=s)", word)
        lines.append(pieces)
    return lines, dropped


def _place(action: Action, elements: Sequence[Element], size: tuple[int, int]) -> tuple[int, int] | None:
    """Return where an action points, or None."""
    if action.index is not None:
        index = action.index
        if not 0 <= index < len(elements):
            known = f"expected 0 to {len(elements) - 1}" if elements else "none has been seen here yet"
            raise ActionError(f"there is no element {index}: {known}")
        x, y = elements[index].center
    elif action.x is not None and action.y is not None:
        x, y = action.x, action.y
    else:
        return None
    if not (0 <= x < size[1] and 0 <= y < size[0]):
        raise ActionError(f"({x}, {y}) is not on the screen of {size[1]} x {size[0]} pixels")
    return x, y


def _scroll(box: tuple[int, int, int, int], direction: str) -> tuple[int, int, int, int]:
    """Return the drag (x0, y0, x1, y1) that scrolls a box: from its middle to the edge that the content moves to."""
    left, top, right, bottom = box
    x, y = (left + right) // 2, (top + bottom) // 2
    ends = {"down": (x, top), "up": (x, bottom - 1), "right": (left, y), "left": (right - 1, y)}
    if direction not in ends:
        raise ActionError(f"expected the direction {_DIRECTIONS}, got {direction!r}")
    return x, y, *ends[direction]


def _swipe(direction: str, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the drag that swipes over the whole screen: up and down move the finger so, left and right from that side."""
    height, width = size
    x, y = width // 2, height // 2
    drags = {
        "down": (x, 0, x, height - 1),
        "up": (x, height - 1, x, 0),
        "left": (0, y, width - 1, y),
        "right": (width - 1, y, 0, y),
    }
    if direction not in drags:
        raise ActionError(f"expected the direction {_DIRECTIONS}, got {direction!r}")
    return drags[direction]
