"""Tasks in the clock: alarms, and what `clock_timers` has."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import clock_data
from backtrail.envs.androidworld.phone.apps.clock_data import DAYS
from backtrail.envs.androidworld.tasks import clock_timers
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle

__all__ = ["TASKS"]

_HOURS = tuple(
    hour for hour in range(24) if hour not in (8, 9, 15, 16)
)  # not 15:34, when the clock begins, nor a new phone's alarms
_LABELS = ("Medicine", "Gym", "Train", "Bakery", "Call home", "Water plants", "Language class", "Feed the cat")

Time = list[int]
"""Hour and minute."""


def _text(time: Time) -> str:
    return f"{time[0]:02d}:{time[1]:02d}"


def _draw_times(rng: random.Random) -> list[Time]:
    """Return a time and others that are much like it: another hour, another minute, both the other way round."""
    hour, other = rng.sample(_HOURS, 2)
    minute = rng.randrange(0, 60, 5)
    last = rng.choice([each for each in range(0, 60, 5) if each != minute])
    return [[hour, minute], [other, minute], [hour, last]]


def _row(time: Time, days: int = 0, enabled: bool = True, label: str = "") -> list[Any]:
    return [*time, days, int(enabled), label]


_FRESH = [_row([8, 30], 0b0011111, False), _row([9, 0], 0b1100000, False)]
"""The alarms of a new phone."""


class _Alarms(PhoneTask):
    """A change of the list of alarms: rows are hour, minute, days as bits, whether it is on, and label."""

    family = "clock"
    apps = ("Clock",)

    def before(self) -> list[list[Any]]:
        """Return the alarms that there are beside those of a new phone."""
        return [_row(time) for time in self.parameters["times"][1:]]

    def after(self) -> list[list[Any]]:
        """Return the alarms that there should be beside those of a new phone."""
        return []

    def prepare(self, phone: Phone) -> None:
        """Set the alarms."""
        for hour, minute, days, enabled, label in self.before():
            clock_data.add_alarm(phone, hour, minute, days, bool(enabled), label)

    def done(self, phone: Phone) -> bool:
        """Whether these are the alarms."""
        columns = ("hour", "minutes", "daysofweek", "enabled", "label")
        found = [[row[column] for column in columns] for row in clock_data.alarms(phone)]
        return sorted(found) == sorted([*_FRESH, *self.after()])


def _open(oracle: Oracle) -> None:
    oracle.open("Clock")
    oracle.tap("Alarm")


def _tap(oracle: Oracle, words: str) -> None:
    """Tap something of the list; scroll on first if the round button lies on it."""
    target = oracle.find(words)
    seen = oracle.backend.elements()
    x, y = seen[target].center
    left, top, right, bottom = next(e.bounds for e in seen if e.description == "Add alarm")
    box = next((number for number, e in enumerate(seen) if e.scrollable), None)
    if left <= x < right and top <= y < bottom and box is not None:
        oracle.do("scroll", direction="down", index=box)
    oracle.tap(words)


def _unfold(oracle: Oracle, time: Time) -> None:
    """Open an alarm's card."""
    _open(oracle)
    _tap(oracle, _text(time))


def _chosen(oracle: Oracle, day: str) -> bool:
    """Whether the card that is open has this day."""
    number = oracle.find(day)
    return oracle.backend.elements()[number].selected


def _pick(oracle: Oracle, time: Time) -> None:
    oracle.tap(f"{time[0]} hours", f"{time[1]} minutes", "OK")


class SetAlarm(_Alarms):
    """Set an alarm for once."""

    template = "Set an alarm for {time}."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a time and those of other alarms."""
        times = _draw_times(rng)
        return {"time": _text(times[0]), "times": times}

    def after(self) -> list[list[Any]]:
        """Return the alarm with the others."""
        return [_row(self.parameters["times"][0]), *self.before()]

    def solve(self, oracle: Oracle) -> None:
        """Add it."""
        _open(oracle)
        oracle.tap("Add alarm")
        _pick(oracle, self.parameters["times"][0])


class RepeatAlarm(_Alarms):
    """Let an alarm repeat on two days and give it a label."""

    template = "Let the alarm at {time} repeat on {first} and {second} only, and give it the label {label}."
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw an alarm, its days and its label."""
        first, second = sorted(rng.sample(DAYS, 2), key=DAYS.index)
        times = _draw_times(rng)
        return {
            "time": _text(times[0]), "first": first, "second": second, "label": rng.choice(_LABELS), "times": times,
        }  # fmt: skip

    def before(self) -> list[list[Any]]:
        """Return the alarm without days, and others."""
        return [_row(time) for time in self.parameters["times"]]

    def after(self) -> list[list[Any]]:
        """Return the alarm with days and label."""
        days = sum(1 << DAYS.index(self.parameters[name]) for name in ("first", "second"))
        changed = _row(self.parameters["times"][0], days, label=self.parameters["label"])
        return [changed, *(_row(time) for time in self.parameters["times"][1:])]

    def solve(self, oracle: Oracle) -> None:
        """Open its card, choose the days and answer for the label."""
        _unfold(oracle, self.parameters["times"][0])
        for day in DAYS:
            if _chosen(oracle, day) != (day in (self.parameters["first"], self.parameters["second"])):
                _tap(oracle, day)
        if not oracle.sees(self.parameters["label"]):
            _tap(oracle, "Add label")
            oracle.type("Label", self.parameters["label"])
            oracle.tap("OK")


class DeleteAlarm(_Alarms):
    """Delete one alarm among several."""

    template = "Delete the alarm at {time} and keep all others."
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw alarms."""
        times = _draw_times(rng)
        return {"time": _text(times[0]), "times": times}

    def before(self) -> list[list[Any]]:
        """Return all of them."""
        return [_row(time) for time in self.parameters["times"]]

    def after(self) -> list[list[Any]]:
        """Return all but the one."""
        return self.before()[1:]

    def solve(self, oracle: Oracle) -> None:
        """Open its card and delete it."""
        _unfold(oracle, self.parameters["times"][0])
        _tap(oracle, "Delete")


class MoveAlarm(_Alarms):
    """Set an alarm to another time."""

    template = "Change the alarm {label}: it should ring at {time}."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the new time, the one that it has, and labels."""
        time, begin, other = _draw_times(rng)
        label, second = rng.sample(_LABELS, 2)
        return {"label": label, "time": _text(time), "to": time, "times": [begin, other], "labels": [label, second]}

    def before(self) -> list[list[Any]]:
        """Return the alarms with their labels."""
        return [_row(t, label=n) for t, n in zip(self.parameters["times"], self.parameters["labels"], strict=True)]

    def after(self) -> list[list[Any]]:
        """Return the alarm at its new time, and the other."""
        return [_row(self.parameters["to"], label=self.parameters["label"]), self.before()[1]]

    def solve(self, oracle: Oracle) -> None:
        """Open its card and choose another time."""
        _unfold(oracle, self.parameters["times"][0])
        oracle.tap(_text(self.parameters["times"][0]))
        _pick(oracle, self.parameters["to"])


class SwitchAlarm(_Alarms):
    """Turn an alarm on or off."""

    template = "Turn the alarm at {time} {state} and leave all others as they are."
    steps = 10

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw alarms, and which of them are on."""
        times = _draw_times(rng)
        state = rng.choice(("off", "on"))
        return {"time": _text(times[0]), "state": state, "times": times, "on": [rng.randint(0, 1) for _ in times[1:]]}

    def before(self) -> list[list[Any]]:
        """Return the alarm in the other state."""
        return self._rows(self.parameters["state"] != "on")

    def after(self) -> list[list[Any]]:
        """Return the alarm in its new state."""
        return self._rows(self.parameters["state"] == "on")

    def solve(self, oracle: Oracle) -> None:
        """Tap its switch."""
        _open(oracle)
        _tap(oracle, f"{self.parameters['time']} alarm")

    def _rows(self, on: bool) -> list[list[Any]]:
        enabled = [on, *self.parameters["on"]]
        return [_row(time, enabled=bool(on)) for time, on in zip(self.parameters["times"], enabled, strict=True)]


TASKS: tuple[type[PhoneTask], ...] = (SetAlarm, RepeatAlarm, DeleteAlarm, MoveAlarm, SwitchAlarm, *clock_timers.TASKS)
