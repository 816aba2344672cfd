"""Which device, tasks and level of fingerprint go together."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal, get_args

from backtrail.envs.androidworld.emulator import EmulatorBackend
from backtrail.envs.androidworld.patience import Patience
from backtrail.envs.androidworld.phone.factory import make_phone
from backtrail.envs.androidworld.running import TASKS, TaskSet
from backtrail.envs.androidworld.simulated import SimulatedBackend

__all__ = ["Device", "Level", "check_options", "label_of", "make_device"]

Device = Literal["simulated", "emulator"]
Level = Literal["physical", "state", "screen"]

_PHONE = "simulated-phone:v1"


def make_device(device: Device, scale: float, options: Mapping[str, Any] | None) -> SimulatedBackend | EmulatorBackend:
    """Return a simulated phone whose pictures have a scale, or an emulator with its options.

    Raises:
        ValueError: If there are options for the simulated phone.
        DeviceError: If the emulator does not come up or does not answer.
    """
    if device == "emulator":
        given = dict(options or {})
        known = inspect.signature(EmulatorBackend).parameters
        if unknown := given.keys() - known.keys():
            raise ValueError(f"Expected device_options among {', '.join(known)}, got {', '.join(sorted(unknown))}")
        if isinstance(given.get("patience"), Mapping):  # from JSON
            given["patience"] = Patience(**given["patience"])
        return EmulatorBackend(**given)
    if options:
        raise ValueError("Expected device_options for an emulator only")
    return SimulatedBackend(make_phone(scale))


def check_options(device: str, tasks: str, level: str, scale: float, expert: bool) -> None:
    """Complain of values that are unknown or do not go together.

    Raises:
        ValueError: If so.
    """
    for name, value, known in (
        ("device", device, get_args(Device)),
        ("tasks", tasks, TASKS),
        ("fingerprint", level, get_args(Level)),
    ):
        if value not in known:
            raise ValueError(f"Expected {name} to be one of {', '.join(known)}, got {value!r}")
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0.05 <= scale <= 1:
        raise ValueError(f"Expected scale to be a number from 0.05 to 1, got {scale!r}")
    if device == "emulator" and level == "physical":
        raise ValueError(
            'Expected fingerprint to be "state" or "screen" on an emulator: its inner state cannot be seen'
        )
    if device == "emulator" and tasks == "own":
        raise ValueError(
            'Expected tasks to be "portable" or "android_world" on an emulator: our own need the phone\'s state'
        )
    if expert and (device == "emulator" or tasks == "android_world"):
        raise ValueError(
            "Expected expert only for tasks of our own on the simulated phone: no other solutions are known"
        )


def label_of(device: SimulatedBackend | EmulatorBackend, tasks: TaskSet) -> str:
    """Return what results are labelled with: the device, and the tasks if they are not the simulated phone's own."""
    of = _PHONE if isinstance(device, SimulatedBackend) else f"android-emulator:{device.build}"
    return of if tasks == "own" else f"{of}+{tasks}"
