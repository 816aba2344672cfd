"""What the clock keeps: alarms, cities, timers, the stopwatch. For its pages, for tasks and for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import Data

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "CITIES",
    "DAYS",
    "add_alarm",
    "add_city",
    "add_timer",
    "advance",
    "alarms",
    "cities",
    "fresh",
    "lap_stopwatch",
    "pause_timer",
    "remaining",
    "reset_stopwatch",
    "reset_timer",
    "run_stopwatch",
    "start_timer",
    "stopwatch_seconds",
    "timers",
]

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Days by their bit in an alarm's ``daysofweek``: Monday is 1, Sunday 64."""

CITIES = {
    "Amsterdam": 120, "Athens": 180, "Auckland": 780, "Bangkok": 420, "Beijing": 480, "Berlin": 120, "Bogota": -300,
    "Buenos Aires": -180, "Cairo": 180, "Cape Town": 120, "Chicago": -300, "Delhi": 330, "Denver": -360, "Dubai": 240,
    "Dublin": 60, "Helsinki": 180, "Hong Kong": 480, "Honolulu": -600, "Istanbul": 180, "Jakarta": 420,
    "Kathmandu": 345, "Lagos": 60, "Lima": -300, "Lisbon": 60, "London": 60, "Los Angeles": -420, "Madrid": 120,
    "Manila": 480,
    "Mexico City": -360, "Moscow": 180, "Nairobi": 180, "New York": -240, "Oslo": 120, "Paris": 120, "Perth": 480,
    "Reykjavik": 0, "Rome": 120, "San Francisco": -420, "Seoul": 540, "Singapore": 480, "Stockholm": 120, "Sydney": 660,
    "Tokyo": 540, "Toronto": -240, "Vancouver": -420, "Vienna": 120, "Zurich": 120,
}  # fmt: skip
"""World clocks: minutes that a city was ahead of UTC in the middle of October 2023."""

_DAY = 86400


def fresh() -> Data:
    """Return the clock's data on a new phone: two alarms that are off, and nothing else."""
    return {
        "alarm_templates": [_alarm(1, 8, 30, 0b0011111, False, ""), _alarm(2, 9, 0, 0b1100000, False, "")],
        "cities": [],
        "timers": [],
        "stopwatch": {"running": False, "kept": 0, "since": 0, "laps": []},
        "tab": "Clock",
        "seen": 0,
    }


def _alarm(number: int, hour: int, minutes: int, days: int, enabled: bool, label: str) -> Data:
    return {
        "_id": number,
        "hour": hour,
        "minutes": minutes,
        "daysofweek": days,
        "enabled": int(enabled),
        "vibrate": 1,
        "label": label,
        "ringtone": "default",
        "delete_after_use": 0,
        "snoozed": 0,
    }


def alarms(phone: Phone) -> list[Data]:
    """Return the alarms by time of day."""
    return sorted(phone.data("clock")["alarm_templates"], key=lambda row: (row["hour"], row["minutes"], row["_id"]))


def add_alarm(phone: Phone, hour: int, minutes: int, days: int = 0, enabled: bool = True, label: str = "") -> int:
    """Add an alarm and return its id.

    Args:
        phone: The phone.
        hour: Hour, 0 to 23.
        minutes: Minute, 0 to 59.
        days: Days on which it is repeated, as bits (`DAYS`); 0 for once.
        enabled: Whether it is on.
        label: Its name.
    """
    data = phone.data("clock")
    data["seen"] = data["seen"] or phone.state["now"]  # alarms ring for time that passes from here on
    rows = data["alarm_templates"]
    number = max((row["_id"] for row in rows), default=0) + 1
    rows.append(_alarm(number, hour, minutes, days, enabled, label))
    return number


def cities(phone: Phone) -> list[str]:
    """Return the cities of the world clock."""
    return list(phone.data("clock")["cities"])


def add_city(phone: Phone, city: str) -> None:
    """Put a city into the world clock."""
    if city not in phone.data("clock")["cities"]:
        phone.data("clock")["cities"].append(city)


def timers(phone: Phone) -> list[Data]:
    """Return the timers: "length" and "left" in seconds, "ends" in seconds of the phone's clock, "state", "label"."""
    return phone.data("clock")["timers"]


def add_timer(phone: Phone, seconds: int, start: bool = True) -> int:
    """Add a timer and return its id."""
    number = phone.new_id()
    row = {"_id": number, "length": seconds, "left": seconds, "ends": 0, "state": "reset", "label": ""}
    phone.data("clock")["timers"].append(row)
    if start:
        start_timer(phone, row)
    return number


def start_timer(phone: Phone, row: Data) -> None:
    """Let a timer run on."""
    row.update(state="running", ends=phone.state["now"] + row["left"])


def pause_timer(phone: Phone, row: Data) -> None:
    """Stop a timer for now."""
    row.update(state="paused", left=remaining(phone, row))


def reset_timer(row: Data) -> None:
    """Put a timer back to its length."""
    row.update(state="reset", left=row["length"], ends=0)


def remaining(phone: Phone, row: Data) -> int:
    """Return a timer's remaining seconds; below 0 once it has rung."""
    return row["ends"] - phone.state["now"] if row["state"] in ("running", "expired") else row["left"]


def stopwatch_seconds(phone: Phone) -> int:
    """Return what the stopwatch shows, in seconds."""
    watch = phone.data("clock")["stopwatch"]
    return watch["kept"] + (phone.state["now"] - watch["since"] if watch["running"] else 0)


def run_stopwatch(phone: Phone, run: bool = True) -> None:
    """Start the stopwatch, or pause it."""
    watch = phone.data("clock")["stopwatch"]
    watch.update(kept=stopwatch_seconds(phone), since=phone.state["now"], running=run)


def lap_stopwatch(phone: Phone) -> None:
    """Note a lap: what the stopwatch shows now."""
    phone.data("clock")["stopwatch"]["laps"].append(stopwatch_seconds(phone))


def reset_stopwatch(phone: Phone) -> None:
    """Put the stopwatch back to 0, stopped and without laps."""
    phone.data("clock")["stopwatch"].update(running=False, kept=0, since=0, laps=[])


def advance(phone: Phone) -> tuple[list[Data], list[Data]]:
    """Let time pass until now; return the alarms and timers that ring."""
    data, now = phone.data("clock"), phone.state["now"]
    before, data["seen"] = data["seen"] or now, now
    ringing = [row for row in data["alarm_templates"] if row["enabled"] and _due(row, before, now)]
    for row in ringing:
        row["snoozed"] = 0
        if not row["daysofweek"]:
            row["enabled"] = 0
    ended = [row for row in data["timers"] if row["state"] == "running" and row["ends"] <= now]
    for row in ended:
        row["state"] = "expired"
    return ringing, ended


def _due(row: Data, before: int, now: int) -> bool:
    """Whether an alarm's time is after ``before`` and not after ``now``."""
    if row["snoozed"] and before < row["snoozed"] <= now:
        return True
    day = before // _DAY
    for each in range(day, now // _DAY + 1):
        at = each * _DAY + row["hour"] * 3600 + row["minutes"] * 60
        weekday = (each + 3) % 7  # the first day of the epoch was a Thursday
        if before < at <= now and (not row["daysofweek"] or row["daysofweek"] >> weekday & 1):
            return True
    return False
