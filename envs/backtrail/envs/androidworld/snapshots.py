"""The snapshots that one worker keeps on an emulator: about a gigabyte of disk each, so there is an end to them."""

from __future__ import annotations

import os
import re
import sys

from backtrail.envs.androidworld.controller import Controller
from backtrail.envs.core import SnapshotError

__all__ = ["Snapshots"]

_OURS = re.compile(r"backtrail-(\d+)-\w+-\d+")  # with the process that took it


class Snapshots:
    """Saves, loads and deletes snapshots; no others than its own are ever deleted, except those of processes that died."""

    def __init__(self, controller: Controller, key: str, most: int, timeout: float):
        """Begin with none, and delete what dead processes left.

        Args:
            controller: Of the emulator.
            key: A word that no other worker has.
            most: How many to keep, not counting those saved with ``keep=True``.
            timeout: Seconds that one may take to save, load or delete.

        Raises:
            DeviceError: If the emulator does not delete one.
        """
        self._controller, self._most, self._timeout = controller, most, timeout
        self._prefix = f"backtrail-{os.getpid()}-{key}-"
        self._taken = 0
        self._names: list[str] = []
        self.forget()

    def save(self, keep: bool = False) -> str:
        """Save one and return its name; the oldest goes if there are too many.

        Raises:
            DeviceError: If the emulator does not do it.
        """
        while not keep and len(self._names) >= self._most:
            self._controller.snapshot("Delete", self._names[0], self._timeout)
            del self._names[0]
        self._taken += 1
        name = f"{self._prefix}{self._taken:04d}"
        self._controller.snapshot("Save", name, self._timeout)
        if not keep:
            self._names.append(name)
        return name

    def load(self, name: str) -> None:
        """Load one of whatever name.

        Raises:
            DeviceError: If the emulator does not do it.
        """
        self._controller.snapshot("Load", name, self._timeout)

    def check(self, name: bytes | str) -> str:
        """Return the name of a snapshot that is kept.

        Raises:
            SnapshotError: If it is not (any more).
        """
        if isinstance(name, str) and name in self._names:
            return name
        kept = ", ".join(self._names) or "none"
        raise SnapshotError(
            f"The emulator does not keep the snapshot {name!r}: it keeps the last {self._most} ({kept})"
        )

    def forget(self, at_once: bool = False) -> None:
        """Delete ours, and those of processes that ended without doing so; ``at_once``: fail if the emulator is gone.

        Raises:
            DeviceError: If the emulator does not do it.
        """
        for name in self._controller.saved(at_once):
            taken = _OURS.fullmatch(name)
            if taken and (name.startswith(self._prefix) or not _running(int(taken[1]))):
                self._controller.snapshot("Delete", name, self._timeout)
        self._names.clear()


def _running(process: int) -> bool:
    """Whether a process of this machine runs; where that cannot be asked without harm, it is taken to."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
