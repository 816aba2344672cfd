"""Time-outs of an emulator."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Patience"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what, in seconds; a `DeviceError` says so when the time is up."""

    boot: float = 300.0
    """From the start of an emulator until Android is up."""
    connect: float = 60.0
    """For a running emulator to answer, at first and after the connection was lost."""
    command: float = 30.0
    """For an adb command or a gRPC call."""
    snapshot: float = 120.0
    """For a snapshot to be saved, loaded or deleted."""
    tree: float = 5.0
    """For each new accessibility tree."""
    quiet: float = 0.3
    """That the tree must not change for, to count as that of a screen at rest."""
    settle: float = 3.0
    """For the screen to come to rest; one that never does is taken as it is."""
    keyboard: float = 1.0
    """Between a tap into a field and the typing."""
