"""Tasks in the calendar: events are added, deleted, moved and asked for."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import events
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered, day_words, draw_day

__all__ = ["TASKS"]

_WHAT = (
    "Lunch", "Call", "Chess", "Tennis", "Rehearsal", "Coffee", "Interview", "Lesson", "Budget review", "Walk", "Dinner",
    "Workshop",
)  # fmt: skip
_WHO = ("Ada", "Bruno", "Carla", "Dario", "Elif", "Felix", "Greta", "Hugo", "Ida", "Jonas", "the choir", "the team")
_PLACES = ("Room 12", "Cafe Linde", "Main station", "City library", "Sports hall", "Online", "Studio 3", "Old mill")

Row = list[Any]
"""Title, day (ISO), start and length in minutes, location, interval of repetition in seconds."""


class _Events(PhoneTask):
    """A change of the events, of which there are some that are much alike."""

    family = "calendar"
    apps = ("Simple Calendar Pro",)

    def before(self) -> list[Row]:
        """Return the events that there are."""
        return self.parameters["events"]

    def after(self) -> list[Row]:
        """Return the events that there should be."""
        return self.before()

    def prepare(self, phone: Phone) -> None:
        """Add the events."""
        for row in self.before():
            title, start, end, location, _, _, _ = _columns(row)
            events.add_event(phone, title, start, end, location=location)

    def done(self, phone: Phone) -> bool:
        """Whether these are the events."""
        names = ("title", "start_ts", "end_ts", "location", "description", "repeat_interval", "flags")
        found = [[row[name] for name in names] for row in events.events(phone)]
        return sorted(found) == sorted(_columns(row) for row in self.after())


def _columns(row: Row) -> list[Any]:
    """Return an event as columns of the table of events."""
    title, day, start, length, location, interval = row
    begin = events.midnight(date.fromisoformat(day)) + 60 * start
    return [title, begin, begin + 60 * length, location, "", interval, 0]


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _draw_event(rng: random.Random, title: str, day: date, start: int) -> Row:
    return [title, day.isoformat(), start, rng.randrange(30, 100, 15), rng.choice(_PLACES), 0]


def _draw(rng: random.Random) -> dict[str, Any]:
    """Draw an event and others: of the same title on another day, and of much the same title on its day."""
    (what, other), (who, third) = rng.sample(_WHAT, 2), rng.sample(_WHO, 2)
    day = draw_day(rng, 2, 40)
    near = day + timedelta(days=rng.choice((-1, 1)))
    starts = rng.sample(range(8 * 60, 20 * 60, 15), 5)
    title = f"{what} with {who}"
    rows = [(title, day), (title, near), (f"{what} with {third}", day), (f"{other} with {who}", day), (other, near)]
    found = [_draw_event(rng, name, when, start) for (name, when), start in zip(rows, starts, strict=True)]
    return {"title": title, "day": day_words(day), "date": day.isoformat(), "events": found}


def _show(oracle: Oracle, day: str) -> None:
    """Show a day: of this month or the next one."""
    oracle.open("Simple Calendar Pro")
    when = date.fromisoformat(day)
    if when.month != oracle.phone.now.month:
        oracle.tap("Next")
    oracle.do("click", index=oracle.place(lambda e: e.description.startswith(f"{when:%B} {when.day}, "), day))


def _choose_time(oracle: Oracle, which: str, minutes: int) -> None:
    oracle.tap(which, f"{minutes // 60} hours", f"{minutes % 60} minutes", "OK")


class AddEvent(_Events):
    """Add an event."""

    template = 'Add the event "{title}" to the calendar on {day} from {start} to {end}, at the location {location}.'
    steps = 30

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the event and others."""
        found = _draw(rng)
        new, *rows = found["events"]
        times = {"start": _clock(new[2]), "end": _clock(new[2] + new[3])}
        return {**found, **times, "location": new[4], "new": new, "events": rows}

    def after(self) -> list[Row]:
        """Return the event with the others."""
        return [self.parameters["new"], *self.before()]

    def solve(self, oracle: Oracle) -> None:
        """Fill in the form."""
        title, day, start, length, location, _ = self.parameters["new"]
        _show(oracle, day)
        oracle.tap("New Event")
        oracle.type("Title", title)
        oracle.type("Location", location)
        _choose_time(oracle, "Start time", start)
        if length != 60:
            _choose_time(oracle, "End time", start + length)
        oracle.tap("Save")


class AddRepeatedEvent(_Events):
    """Add an event that is repeated."""

    template = (
        'Add the event "{title}" to the calendar: it begins on {day} at {start}, lasts one hour and is repeated {how}.'
    )
    steps = 25

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the event, its repetition and others."""
        found = _draw(rng)
        how = rng.choice(("daily", "weekly"))
        new = [*found["events"][0][:3], 60, "", events.INTERVALS[how.capitalize()]]
        return {**found, "start": _clock(new[2]), "how": how, "new": new, "events": found["events"][1:]}

    def after(self) -> list[Row]:
        """Return the event with the others."""
        return [self.parameters["new"], *self.before()]

    def done(self, phone: Phone) -> bool:
        """Whether these are the events, and the new one is repeated for ever, on its day of the week alone."""
        if not super().done(phone):
            return False
        new = next(row for row in events.events(phone) if row["repeat_interval"])
        days = 1 << events.at(new["start_ts"]).weekday() if self.parameters["how"] == "weekly" else 0
        return new["repeat_rule"] == days and new["repeat_limit"] == 0 and new["repetition_exceptions"] == "[]"

    def solve(self, oracle: Oracle) -> None:
        """Fill in the form."""
        title, day, start, *_ = self.parameters["new"]
        _show(oracle, day)
        oracle.tap("New Event")
        oracle.type("Title", title)
        _choose_time(oracle, "Start time", start)
        oracle.tap("Repetition", self.parameters["how"].capitalize(), "Save")


class DeleteEvent(_Events):
    """Delete an event."""

    template = 'Delete the event "{title}" on {day} from the calendar; keep all others.'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw events."""
        return _draw(rng)

    def after(self) -> list[Row]:
        """Return the others."""
        return self.before()[1:]

    def solve(self, oracle: Oracle) -> None:
        """Open it and delete it."""
        _show(oracle, self.parameters["date"])
        oracle.tap(self.parameters["title"], "Delete", "Yes")


class ClearDay(_Events):
    """Delete all events of a day."""

    template = "Delete all events on {day} from the calendar, and no others."
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw events."""
        return _draw(rng)

    def after(self) -> list[Row]:
        """Return those of other days."""
        return [row for row in self.before() if row[1] != self.parameters["date"]]

    def solve(self, oracle: Oracle) -> None:
        """Choose all of the day and delete them."""
        _show(oracle, self.parameters["date"])
        oracle.hold(self.parameters["title"])
        oracle.tap("More options", "Select all", "Delete", "Yes")


class MoveEventDay(_Events):
    """Move an event to another day."""

    template = 'Move the event "{title}" on {day} in the calendar to {to}; its time of day and its length stay.'
    steps = 15

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw events and another day of the same month."""
        found = _draw(rng)
        day = date.fromisoformat(found["date"])
        others = [day + timedelta(days=step) for step in range(-9, 10) if abs(step) > 1]
        to = rng.choice([each for each in others if each.month == day.month and each > date(2023, 10, 15)])
        return {**found, "to": day_words(to), "new": to.isoformat()}

    def after(self) -> list[Row]:
        """Return the event on its new day, and the others."""
        moved, *rows = self.before()
        return [[moved[0], self.parameters["new"], *moved[2:]], *rows]

    def solve(self, oracle: Oracle) -> None:
        """Open it and choose the day."""
        to = date.fromisoformat(self.parameters["new"])
        _show(oracle, self.parameters["date"])
        oracle.tap(self.parameters["title"], "Start date", f"{to.day} {to:%B} {to.year}", "Save")


class MoveEventTime(_Events):
    """Let an event begin at another time."""

    template = 'Let the event "{title}" on {day} in the calendar begin at {to} instead; its length stays the same.'
    steps = 20

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw events and another time."""
        found = _draw(rng)
        times = [each for each in range(8 * 60, 20 * 60, 15) if abs(each - found["events"][0][2]) > 30]
        new = rng.choice(times)
        return {**found, "to": _clock(new), "new": new}

    def after(self) -> list[Row]:
        """Return the event at its new time, and the others."""
        moved, *rows = self.before()
        return [[*moved[:2], self.parameters["new"], *moved[3:]], *rows]

    def solve(self, oracle: Oracle) -> None:
        """Open it and choose the time."""
        _show(oracle, self.parameters["date"])
        oracle.tap(self.parameters["title"])
        _choose_time(oracle, "Start time", self.parameters["new"])
        oracle.tap("Save")


class WhenIsEvent(_Events):
    """Say when an event begins."""

    template = 'At what time does the event "{title}" on {day} begin? Answer with the time alone, such as 09:45.'
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw events."""
        return _draw(rng)

    def done(self, phone: Phone) -> bool:
        """Whether the answer is its start, and nothing has changed."""
        start = _clock(self.before()[0][2])
        right = answered(phone, start) or answered(phone, start.removeprefix("0"))
        return right and super().done(phone)

    def solve(self, oracle: Oracle) -> None:
        """Show the day and read the line below the title."""
        _show(oracle, self.parameters["date"])
        number = oracle.find(self.parameters["title"])
        oracle.answer(oracle.backend.elements()[number + 1].text.split(" ")[0])


class FirstEvent(_Events):
    """Say which event is the first of a day."""

    template = "Which event is the first one on {day} in the calendar? Answer with its title alone."
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw events."""
        return _draw(rng)

    def done(self, phone: Phone) -> bool:
        """Whether the answer is its title, and nothing has changed."""
        rows = [row for row in self.before() if row[1] == self.parameters["date"]]
        title = min(rows, key=lambda row: row[2])[0]
        return phone.state["answer"].strip().strip(".\"'").lower() == title.lower() and super().done(phone)

    def solve(self, oracle: Oracle) -> None:
        """Show the day and read the first title."""
        _show(oracle, self.parameters["date"])
        titles = {row[0] for row in self.before()}
        oracle.answer(next(e.text for e in oracle.backend.elements() if e.text in titles))


TASKS: tuple[type[PhoneTask], ...] = (
    AddEvent, AddRepeatedEvent, DeleteEvent, ClearDay, MoveEventDay, MoveEventTime, WhenIsEvent, FirstEvent,
)  # fmt: skip
