"""How the sports tracker writes times, distances, speeds and days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.apps import opentracks_data as data

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["UNKNOWN", "day", "distance", "elapsed", "height", "speed"]

UNKNOWN = "--"
"""What stands for a value that nobody measured."""

_MILE, _FOOT = 1609.344, 0.3048  # metres


def elapsed(seconds: int) -> str:
    """Return a time as minutes and seconds, with hours from one hour on."""
    hours = f"{seconds // 3600}:" if seconds >= 3600 else ""
    return f"{hours}{seconds // 60 % 60:02}:{seconds % 60:02}"


def distance(phone: Phone, metres: float) -> str:
    """Return a distance in the units that are set: short ones in metres or feet."""
    if phone.data(data.KEY)["metric"]:
        return f"{metres / 1000:.2f} km" if metres > 500 else f"{metres:.2f} m"
    return f"{metres / _MILE:.2f} mi" if metres > _MILE / 2 else f"{metres / _FOOT:.2f} ft"


def speed(phone: Phone, metres: float, seconds: float) -> str:
    """Return so many metres in so many seconds as a speed in the units that are set."""
    if metres <= 0 or seconds <= 0:
        return UNKNOWN
    if phone.data(data.KEY)["metric"]:
        return f"{metres / seconds * 3.6:.2f} km/h"
    return f"{metres / seconds * 3600 / _MILE:.2f} mph"


def height(phone: Phone, metres: float) -> str:
    """Return a difference in height in the units that are set."""
    return f"{metres:.0f} m" if phone.data(data.KEY)["metric"] else f"{metres / _FOOT:.0f} ft"


def day(phone: Phone, row: data.Row) -> str:
    """Return the day on which an activity began, as it is seen from today."""
    then, today = data.start_of(row).date(), phone.now.date()
    days = (today - then).days
    if days in (0, 1):
        return ("Today", "Yesterday")[days]
    if 1 < days < 7:
        return f"{then:%A}"
    return f"{then:%b} {then.day}" if then.year == today.year else f"{then:%b} {then.day}, {then.year}"
