"""The simulated phone behind the protocol that an emulator is driven by, too."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from backtrail.envs.androidworld.actions import Action, ActionError
from backtrail.envs.androidworld.app_names import PACKAGES
from backtrail.envs.androidworld.backend import CommandError, Element
from backtrail.envs.androidworld.elements import elements
from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.shell import Shell
from backtrail.envs.androidworld.phone.views import HEIGHT, WIDTH, View
from backtrail.envs.core import SnapshotError

__all__ = ["SimulatedBackend"]

_WAIT = 5
"""Seconds that pass on the phone's clock while the agent waits."""


class SimulatedBackend:
    """Drives a `Phone`. Actions follow AndroidWorld's ``actuation``: where taps land, how far a scroll goes, enter after text."""

    size: tuple[int, int] = (HEIGHT, WIDTH)
    tree = "phone"
    dropped = ""

    def __init__(self, phone: Phone):
        """Drive ``phone``."""
        self.phone = phone
        self._shell = Shell(phone)
        self._read: tuple[View | None, list[Element]] = (None, [])

    def reset(self) -> None:
        """Put the phone back to its first state."""
        self.phone.reset()

    def screenshot(self) -> NDArray[np.uint8]:
        """Return the picture of the screen, (height, width, 3)."""
        return self.phone.screenshot()

    def elements(self) -> list[Element]:
        """Return the UI elements of the screen."""
        tree = self.phone.tree
        if self._read[0] is not tree:
            self._read = (tree, elements(tree))
        return self._read[1].copy()

    def activity(self) -> str:
        """Return the activity in front as package/class."""
        return self.phone.activity

    def act(self, action: Action) -> None:
        """Carry out a valid action.

        Raises:
            ActionError: If there is no such element or app, or an app refuses it.
        """
        try:
            self._act(action)
        except ValueError as error:
            raise ActionError(str(error)) from error

    def _act(self, action: Action) -> None:
        phone = self.phone
        match action.action_type:
            case "click":
                phone.tap(*self._target(action))
            case "double_tap":
                phone.double_tap(*self._target(action))
            case "long_press":
                phone.hold(*self._target(action))
            case "input_text":
                self._input(action)
            case "keyboard_enter":
                phone.enter()
            case "navigate_home":
                phone.press_home()
            case "navigate_back":
                phone.back()
            case "scroll":
                self._scroll(action)
            case "swipe":
                phone.swipe(*_SWIPES[action.direction or "up"])
            case "open_app":
                self._open(action.app_name or "")
            case "answer":
                phone.state["answer"] = action.text or ""
            case _:
                phone.pass_time(_WAIT if action.action_type == "wait" else 1)

    def shell(self, command: str) -> str:
        """Run a command in the phone's shell and return its standard output.

        Raises:
            CommandError: If its exit status is not zero.
        """
        status, output, errors = self._shell.run(command)
        self.phone.changed()
        if status:
            raise CommandError(command, status, (errors or output).decode("utf-8", "replace"))
        return output.decode("utf-8", "replace")

    def pull(self, path: str) -> bytes:
        """Return the content of a file on the phone.

        Raises:
            FileNotFoundError: If there is no such file.
        """
        content = self._shell.volume.read(path)
        if content is None:
            raise FileNotFoundError(f"There is no file {path} on the phone")
        return content

    def push(self, path: str, content: bytes) -> None:
        """Write a file on the phone.

        Raises:
            ValueError: If the path is not one for a file.
        """
        self._shell.volume.write(path, content)
        self.phone.changed()

    def save(self) -> str:
        """Return the phone's whole state."""
        return self.phone.save()

    def restore(self, saved: bytes | str) -> None:
        """Put back what `save` returned.

        Raises:
            SnapshotError: If it is no state of such a phone; nothing has changed then.
        """
        try:
            found = json.loads(saved)
            same = isinstance(found, dict) and found.keys() == self.phone.state.keys()
            fits = same and found["apps"].keys() == self.phone.apps.keys() and bool(found["stack"])
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise SnapshotError(f"Expected the saved state of a phone: {error}") from None
        if not fits:
            raise SnapshotError("The saved state is of a phone with other apps, or damaged: take it again")
        before = self.phone.save()
        self.phone.load(saved if isinstance(saved, str) else saved.decode())
        try:
            _ = self.phone.tree
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            self.phone.load(before)
            raise SnapshotError(f"The saved state is damaged: its screen cannot be drawn ({error!r})") from None

    def close(self) -> None:
        """Nothing is held."""

    def _target(self, action: Action) -> tuple[int, int]:
        if action.index is None:
            return action.x or 0, action.y or 0
        seen = self.elements()
        if not 0 <= action.index < len(seen):
            raise ActionError(f"expected an index from 0 to {len(seen) - 1}, got {action.index}")
        return seen[action.index].center

    def _input(self, action: Action) -> None:
        phone = self.phone
        if action.index is not None or action.x is not None:
            phone.tap(*self._target(action))
        if action.clear_text:
            phone.erase()
        if action.text:
            phone.type(action.text)
            phone.enter()

    def _scroll(self, action: Action) -> None:
        box = (0, 0, WIDTH, HEIGHT)
        if action.index:  # the original takes 0 for none
            left, top, right, bottom = self.elements()[action.index].bounds
            box = (max(left, 0), max(top, 0), min(right, WIDTH), min(bottom, HEIGHT))
        left, top, right, bottom = box
        x, y = (left + right) // 2, (top + bottom) // 2
        ends = {"down": (x, top), "up": (x, bottom), "right": (left, y), "left": (right, y)}
        self.phone.swipe((x, y), ends[action.direction or "down"])

    def _open(self, name: str) -> None:
        wanted = name.strip().lower()
        apps = [app for app in self.phone.apps.values() if not app.hidden]
        found = [app for app in apps if wanted in (app.label.lower(), app.package, app.key)]
        found = found or [app for app in apps if app.package == PACKAGES.get(wanted)]
        if not found:
            raise ActionError(
                f"there is no app {name!r}: expected one of {', '.join(sorted(app.label for app in apps))}"
            )
        self.phone.launch(found[0].key)


_SWIPES = {
    "down": ((WIDTH // 2, 0), (WIDTH // 2, HEIGHT)),
    "up": ((WIDTH // 2, HEIGHT - 1), (WIDTH // 2, 0)),
    "left": ((0, HEIGHT // 2), (WIDTH, HEIGHT // 2)),
    "right": ((WIDTH - 1, HEIGHT // 2), (0, HEIGHT // 2)),
}
"""Where the original's swipes begin and end: "left" moves to the right, as there."""
