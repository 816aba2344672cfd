"""The events of the calendar: rows as in its database, and the days on which repeated ones take place."""

from __future__ import annotations

import json
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "ALL_DAY",
    "DAY",
    "INTERVALS",
    "MONTH",
    "WEEK",
    "YEAR",
    "add_event",
    "at",
    "change_event",
    "delete_event",
    "delete_following",
    "delete_occurrence",
    "event",
    "events",
    "midnight",
    "occurrences",
    "occurrences_on",
    "on_day",
    "repetition",
    "search_events",
    "seconds",
]

Event = dict[str, Any]
Occurrence = tuple[int, int, Event]
"""Start and end in seconds, and the event's row."""

DAY, WEEK, MONTH, YEAR = 86400, 604800, 2592001, 31536000
"""Values of the column "repeat_interval", in seconds."""

ALL_DAY = 1
"""Bit of the column "flags"."""

INTERVALS = {"No repetition": 0, "Daily": DAY, "Weekly": WEEK, "Monthly": MONTH, "Yearly": YEAR}
"""Names of the repetitions."""

_COLUMNS: Event = {
    "start_ts": 0,
    "end_ts": 0,
    "title": "",
    "location": "",
    "description": "",
    "reminder_1_minutes": -1,
    "reminder_2_minutes": -1,
    "reminder_3_minutes": -1,
    "reminder_1_type": 0,
    "reminder_2_type": 0,
    "reminder_3_type": 0,
    "repeat_interval": 0,
    "repeat_rule": 0,
    "repeat_limit": 0,
    "repetition_exceptions": "[]",
    "attendees": "",
    "import_id": "",
    "time_zone": "UTC",
    "flags": 0,
    "event_type": 1,
    "parent_id": 0,
    "last_updated": 0,
    "source": "simple-calendar",
    "availability": 0,
    "color": 0,
    "type": 0,
}


def at(ts: int) -> datetime:
    """Return a time in seconds as a date and time (UTC)."""
    return datetime.fromtimestamp(ts, UTC)


def seconds(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> int:
    """Return a date and time (UTC) in seconds."""
    return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp())


def midnight(day: date) -> int:
    """Return when a day begins, in seconds."""
    return seconds(day.year, day.month, day.day)


def add_event(phone: Phone, title: str, start_ts: int, end_ts: int, **columns: Any) -> int:
    """Add an event and return its id.

    Args:
        phone: The phone.
        title: What it is called.
        start_ts: When it starts, in seconds.
        end_ts: When it ends, in seconds.
        **columns: Other columns of the row: "location", "description", "repeat_interval" (seconds), "repeat_rule"
            (weekly: a bit for each day, Monday 1 to Sunday 64; monthly: 1), "repeat_limit" (seconds, 0 for ever),
            "reminder_1_minutes" (-1 for none), "flags" and so on.

    Raises:
        ValueError: If there is no such column, or the event would end before it starts.
    """
    unknown = sorted(columns.keys() - _COLUMNS.keys())
    if unknown:
        raise ValueError(f"Expected columns of the table of events, got {unknown}: choose from {sorted(_COLUMNS)}")
    if end_ts < start_ts:
        raise ValueError(f"Expected an end not before the start {start_ts}, got {end_ts}: swap them")
    row = {"id": phone.new_id(), **_COLUMNS, "start_ts": start_ts, "end_ts": end_ts, "title": title, **columns}
    row["last_updated"] = phone.state["now"]
    phone.data("calendar")["events"].append(row)
    return row["id"]


def change_event(phone: Phone, number: int, **columns: Any) -> None:
    """Change columns of an event."""
    event(phone, number).update(columns, last_updated=phone.state["now"])


def events(phone: Phone) -> list[Event]:
    """Return all events, in the order in which they were added."""
    return phone.data("calendar")["events"]


def event(phone: Phone, number: int) -> Event:
    """Return the event with an id.

    Raises:
        KeyError: If there is none.
    """
    for row in events(phone):
        if row["id"] == number:
            return row
    raise KeyError(f"Expected the id of an event, got {number}: it may have been deleted")


def delete_event(phone: Phone, number: int) -> None:
    """Delete an event with all its repetitions."""
    data = phone.data("calendar")
    data["events"] = [row for row in data["events"] if number not in (row["id"], row["parent_id"])]


def delete_occurrence(phone: Phone, number: int, start_ts: int) -> None:
    """Delete one repetition of an event, the one that starts then."""
    row = event(phone, number)
    gone = {*json.loads(row["repetition_exceptions"]), _code(start_ts)}
    change_event(phone, number, repetition_exceptions=json.dumps(sorted(gone)))


def delete_following(phone: Phone, number: int, start_ts: int) -> None:
    """Delete the repetition of an event that starts then, and all after it."""
    if start_ts <= event(phone, number)["start_ts"]:
        delete_event(phone, number)
    else:
        change_event(phone, number, repeat_limit=start_ts - 1)


def occurrences(phone: Phone, first_ts: int, last_ts: int) -> list[Occurrence]:
    """Return what takes place from ``first_ts`` to before ``last_ts`` (seconds), by time and title."""
    found = [
        (start, start + row["end_ts"] - row["start_ts"], row)
        for row in events(phone)
        for start in _starts(row, last_ts)
        if start >= first_ts or start + row["end_ts"] - row["start_ts"] > first_ts
    ]
    return sorted(found, key=lambda each: (each[0], each[1], each[2]["title"], each[2]["id"]))


def occurrences_on(phone: Phone, day: date) -> list[Occurrence]:
    """Return what takes place on a day; what lasts all day first."""
    first = midnight(day)
    return on_day(occurrences(phone, first, first + DAY), day)


def on_day(found: Sequence[Occurrence], day: date) -> list[Occurrence]:
    """Return which of these take place on a day; what lasts all day first."""
    first = midnight(day)
    touching = [each for each in found if each[0] < first + DAY and (each[0] >= first or each[1] > first)]
    return sorted(touching, key=lambda each: not each[2]["flags"] & ALL_DAY)


def search_events(phone: Phone, words: str) -> list[Occurrence]:
    """Return the events that have ``words`` in their title, place or description; a repeated one once."""
    words = words.strip().lower()
    rows = [
        row for row in events(phone) if words in "\n".join((row["title"], row["location"], row["description"])).lower()
    ]
    return sorted(((row["start_ts"], row["end_ts"], row) for row in rows), key=lambda each: (each[0], each[2]["id"]))


def repetition(row: Event) -> str:
    """Return the name of an event's repetition, one of `INTERVALS`."""
    interval = row["repeat_interval"]
    for name in ("Yearly", "Monthly", "Weekly", "Daily"):
        if interval and interval % INTERVALS[name] == 0:
            return name
    return "No repetition"


def _starts(row: Event, last_ts: int) -> Iterator[int]:
    """Yield when an event takes place before a time, in seconds."""
    interval, limit = row["repeat_interval"], row["repeat_limit"]
    if not interval:
        yield from (ts for ts in (row["start_ts"],) if ts < last_ts)
        return
    gone = set(json.loads(row["repetition_exceptions"]))
    left = -limit if limit < 0 else None  # a negative limit is a number of repetitions
    for start in _endless(row):
        if start >= last_ts or (limit > 0 and start > limit) or left == 0:
            return
        if left is not None:
            left -= 1
        if _code(start) not in gone:
            yield start


def _endless(row: Event) -> Iterator[int]:
    """Yield when an event takes place without an end."""
    start, interval, name = row["start_ts"], row["repeat_interval"], repetition(row)
    if name in ("Daily", "No repetition"):
        while True:
            yield start
            start += interval
    if name == "Weekly":
        every = interval // WEEK
        days = row["repeat_rule"] & 127 or 1 << at(start).weekday()
        monday = start - at(start).weekday() * DAY
        while True:
            for place in range(7):
                if days >> place & 1 and monday + place * DAY >= start:
                    yield monday + place * DAY
            monday += every * WEEK
    months = interval // MONTH if name == "Monthly" else 12 * (interval // YEAR)
    first = at(start)
    count = 0
    while True:
        month = first.month - 1 + count
        year, month = first.year + month // 12, month % 12 + 1
        if first.day <= monthrange(year, month)[1]:  # months without such a day are left out
            yield start + (date(year, month, first.day) - first.date()) // timedelta(seconds=1)
        count += months


def _code(ts: int) -> str:
    return at(ts).strftime("%Y%m%d")
