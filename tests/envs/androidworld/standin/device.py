"""What the stand-in needs of a phone: everything below Android's wire protocols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from backtrail.envs.androidworld.backend import Element


class Answer(NamedTuple):
    """What a shell command gives back."""

    status: int = 0
    output: bytes = b""
    error: bytes = b""


class StandInDevice(Protocol):
    """A phone to plug in: ``python -m standin.server --device package.module:factory``, where the factory takes no arguments.

    Calls come one at a time (the stand-in holds a lock). The stand-in itself answers what belongs to the emulator, adb and
    the forwarder app: getprop sys.boot_completed and ro.build.fingerprint, whoami, the broadcasts to the forwarder, and its
    place in ``pm list packages``. All other commands, ``uiautomator dump`` among them, come to `shell`, one program at a
    time, with its words unquoted.

    Beside these methods a phone may have

    - ``line(command: str) -> Answer``, instead of `shell`: it is given whole command lines, with pipes and redirections;
    - ``console(command: str) -> bytes``, for commands of the emulator's console (``adb emu``), with "OK" or "KO" at the end;
    - ``folder(path: str) -> bool``, whether a path is a folder, for files that are pushed into one.
    """

    size: tuple[int, int]
    """(height, width) in pixels."""

    def picture(self) -> np.ndarray:
        """Return the screen, (height, width, 3) uint8."""
        ...

    def elements(self) -> Sequence[Element]:
        """Return the UI elements; the stand-in makes a forest of leaves of them."""
        ...

    def gesture(self, start: tuple[int, int], end: tuple[int, int], seconds: float) -> None:
        """Carry out one finger's way over the glass, once it is lifted: a tap, a long press or a swipe."""
        ...

    def key(self, name: str) -> None:
        """Press GoBack, GoHome or Enter."""
        ...

    def shell(self, words: list[str]) -> Answer:
        """Run one program."""
        ...

    def read(self, path: str) -> bytes | None:
        """Return a file's content, or None."""
        ...

    def write(self, path: str, content: bytes) -> None:
        """Write a file.

        Raises:
            ValueError: If that is no path for a file.
        """
        ...

    def save(self) -> Any:
        """Return all of the state, as a value that does not change any more."""
        ...

    def load(self, state: Any) -> None:
        """Put a state back."""
        ...
