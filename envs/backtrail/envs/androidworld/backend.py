"""What a phone must be able to do to be driven by the environment: the simulated phone and an emulator both can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import gymnasium as gym

if TYPE_CHECKING:
    import numpy as np

    from backtrail.envs.androidworld.actions import Action

__all__ = ["CommandError", "DeviceBackend", "DeviceError", "Element", "StaleScreen"]


class DeviceError(gym.error.Error):
    """The device or the way to it is at fault, not the agent: the episode counts for nothing and must not be scored."""


class StaleScreen(DeviceError):
    """No description of the screen arrived that is newer than the question."""


class CommandError(DeviceError):
    """A shell command on the device ended with a non-zero exit status; the device itself is well."""

    def __init__(self, command: str, status: int, output: str):
        super().__init__(f"The command {command!r} on the device ended with status {status}: {output.strip() or '-'}")
        self.status = status
        self.output = output


@dataclass(frozen=True, slots=True)
class Element:
    """A UI element of the screen; its number is its place in the list."""

    class_name: str
    text: str = ""
    description: str = ""
    resource_id: str = ""
    package: str = ""
    bounds: tuple[int, int, int, int] = (0, 0, 0, 0)
    """(left, top, right, bottom) in pixels."""
    hint: str = ""
    checked: bool = False
    checkable: bool = False
    clickable: bool = False
    editable: bool = False
    enabled: bool = True
    focused: bool = False
    long_clickable: bool = False
    scrollable: bool = False
    selected: bool = False
    password: bool = False

    @property
    def center(self) -> tuple[int, int]:
        """(x, y) of the middle in pixels: where a tap by number lands."""
        left, top, right, bottom = self.bounds
        return (left + right) // 2, (top + bottom) // 2


class DeviceBackend(Protocol):
    """A phone with a screen, UI elements, a shell, files and snapshots.

    All methods raise `DeviceError` if the device fails. They are not meant for several threads.
    """

    size: tuple[int, int]
    """(height, width) of the screen in pixels, as it is held now."""
    tree: str
    """Where elements come from: lists from different sources are not the same."""

    @property
    def dropped(self) -> str:
        """Characters of the last text that the device cannot type and that were left out."""
        ...

    def reset(self) -> None:
        """Put the phone back to its first state, at its home screen."""
        ...

    def screenshot(self) -> np.ndarray:
        """Return the picture of the screen, (height, width, 3) uint8, as a fresh array."""
        ...

    def elements(self) -> list[Element]:
        """Return the UI elements of the present screen, as a fresh list.

        Raises:
            StaleScreen: If only older ones can be had.
        """
        ...

    def activity(self) -> str:
        """Return the activity in front as ``package/class``, or "" if there is none."""
        ...

    def act(self, action: Action) -> None:
        """Carry out a valid action; an index means an element of the list that `elements` returned last.

        Raises:
            ActionError: If the action cannot be done here (no such element or app); nothing has changed then.
        """
        ...

    def shell(self, command: str) -> str:
        """Run a command in the device's shell and return its standard output.

        Raises:
            CommandError: If its exit status is not zero.
        """
        ...

    def pull(self, path: str) -> bytes:
        """Return the content of a file on the device.

        Raises:
            FileNotFoundError: If there is no such file.
        """
        ...

    def push(self, path: str, content: bytes) -> None:
        """Write a file on the device."""
        ...

    def save(self) -> bytes | str:
        """Return a snapshot: the state itself, or the name under which the device keeps it."""
        ...

    def restore(self, saved: bytes | str) -> None:
        """Put back a state that `save` returned.

        Raises:
            backtrail.envs.core.SnapshotError: If it is damaged or no longer kept; nothing has changed then.
        """
        ...

    def close(self) -> None:
        """Let go of the device and of everything that was started for it; may be called twice."""
        ...
