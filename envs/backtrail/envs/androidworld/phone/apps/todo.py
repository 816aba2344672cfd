"""The data of Tasks.org: tasks and lists, in rows as its database has them; all times are in milliseconds, 0 for none."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "KEY", "MY_TASKS", "PRIORITIES", "RECENT", "REPEATS", "SORTS", "TODAY", "add_list", "add_task", "complete", "day_of",
    "delete_list", "delete_task", "due_ms", "fresh", "has_time", "list_of", "lists", "move", "save_task", "shown", "task",
    "tasks",
]  # fmt: skip

KEY = "tasks"

PRIORITIES = ("High", "Medium", "Low", "None")
"""Names of the values of ``importance``."""

MY_TASKS, TODAY, RECENT = "My Tasks", "Today", "Recently modified"
"""Filters; any other is the name of a list."""

SORTS = ("Due date", "Priority", "Title", "Creation time", "Modification time")

REPEATS = {
    "Does not repeat": None,
    "Every day": "FREQ=DAILY",
    "Every week": "FREQ=WEEKLY",
    "Every month": "FREQ=MONTHLY",
}
"""How a task can repeat, with the value of ``recurrence``."""

_DEFAULT = 1


def fresh() -> Data:
    """Return the tables with one empty list, and how tasks are shown."""
    first = {
        "cdl_id": _DEFAULT,
        "cdl_account": "local",
        "cdl_uuid": str(_DEFAULT),
        "cdl_name": "Default list",
        "cdl_color": 0,
    }
    return {
        "tasks": [], "caldav_lists": [first], "caldav_tasks": [],
        "filter": MY_TASKS, "sort": SORTS[0], "show_completed": False, "show_unstarted": False,
    }  # fmt: skip


# -- times ------------------------------------------------------------------------------------------------


def due_ms(day: date, clock: time | None = None) -> int:
    """Return a date, or a date with a time, as the database has it: noon, or the time with one second."""
    then = datetime.combine(day, clock or time(12), UTC)
    return round(then.timestamp()) * 1000 + (1000 if clock is not None else 0)


def has_time(ms: int) -> bool:
    """Whether a due date has a time of day: it has seconds then."""
    return ms % 60_000 > 0


def day_of(ms: int) -> date:
    """Return the day of a time."""
    return datetime.fromtimestamp(ms / 1000, UTC).date()


# -- tasks ------------------------------------------------------------------------------------------------


def tasks(phone: Phone) -> list[dict[str, Any]]:
    """Return the rows of all tasks that were not deleted, in the order in which they were made."""
    return [row for row in phone.data(KEY)["tasks"] if not row["deleted"]]


def task(phone: Phone, number: int) -> dict[str, Any] | None:
    """Return the row of the task with an id; None if it was deleted."""
    return next((row for row in tasks(phone) if row["_id"] == number), None)


def add_task(
    phone: Phone, title: str, *, due: int = 0, importance: int = 2, notes: str = "", start: int = 0, in_list: str = ""
) -> int:
    """Add a task and return its id.

    Args:
        phone: The phone.
        title: Its name.
        due: When it is due, as from `due_ms`.
        importance: From 0 (high) to 3 (none).
        notes: Its description.
        start: Until when it is hidden.
        in_list: Name of its list, "" for the default one.

    Raises:
        ValueError: If the title is empty or the list unknown.
    """
    values = {"title": title, "dueDate": due, "importance": importance, "notes": notes or None, "hideUntil": start}
    number = save_task(phone, 0, values)
    if in_list:
        move(phone, number, in_list)
    return number


def save_task(phone: Phone, number: int, values: dict[str, Any]) -> int:
    """Write values of a task, a new one if its id is 0, and return its id.

    Raises:
        ValueError: If it would have no title.
    """
    if not values["title"].strip():
        raise ValueError("Expected a title, got none: a task needs one")
    now, row = phone.state["now"] * 1000, task(phone, number)
    if row is None:
        row = _empty(phone.new_id(), now)
        phone.data(KEY)["tasks"].append(row)
    row.update(values, modified=now)
    return row["_id"]


def complete(phone: Phone, number: int, done: bool = True) -> None:
    """Tick a task off, or no longer; one that repeats is due again instead."""
    row, now = task(phone, number), phone.state["now"] * 1000
    if row is None:
        return
    row["modified"] = now
    if done and row["recurrence"] and row["dueDate"]:
        row["dueDate"] = _next(row["dueDate"], row["recurrence"])
    else:
        row["completed"] = now if done else 0


def delete_task(phone: Phone, number: int) -> None:
    """Delete a task; nothing if there is none."""
    data = phone.data(KEY)
    data["tasks"] = [row for row in data["tasks"] if row["_id"] != number]
    data["caldav_tasks"] = [row for row in data["caldav_tasks"] if row["cd_task"] != number]


def shown(phone: Phone, words: str = "") -> list[dict[str, Any]]:
    """Return the tasks that the chosen filter shows, sorted as chosen; with words, those of all tasks that have them."""
    data, now = phone.data(KEY), phone.state["now"] * 1000
    rows = []
    for row in tasks(phone):
        hidden = (row["completed"] and not data["show_completed"]) or (
            row["hideUntil"] > now and not data["show_unstarted"]
        )
        text = f"{row['title']}\n{row['notes'] or ''}".lower()
        if words.lower() in text if words else not hidden and _passes(phone, row):
            rows.append(row)
    return sorted(rows, key=lambda row: (bool(row["completed"]), *_rank(row, data["sort"]), row["_id"]))


def _passes(phone: Phone, row: dict[str, Any]) -> bool:
    chosen, now = phone.data(KEY)["filter"], phone.state["now"] * 1000
    if chosen == MY_TASKS:
        return True
    if chosen == TODAY:
        return row["dueDate"] > 0 and day_of(row["dueDate"]) <= phone.now.date()
    if chosen == RECENT:
        return row["modified"] > now - 86_400_000
    return list_of(phone, row["_id"]) == chosen


def _rank(row: dict[str, Any], by: str) -> tuple[Any, ...]:
    due = row["dueDate"] or 10**15
    return {
        "Due date": (due, row["importance"]),
        "Priority": (row["importance"], due),
        "Title": (row["title"].lower(),),
        "Creation time": (-row["created"],),
        "Modification time": (-row["modified"],),
    }[by]


def _next(due: int, recurrence: str) -> int:
    """Return when a task that repeats is due next."""
    days = {"FREQ=DAILY": 1, "FREQ=WEEKLY": 7}.get(recurrence.split(";")[0])
    if days is not None:
        return due + days * 86_400_000
    then = datetime.fromtimestamp(due / 1000, UTC)
    first = (then.replace(day=1) + timedelta(days=32)).replace(day=1)
    last = ((first + timedelta(days=32)).replace(day=1) - timedelta(days=1)).day
    return round(first.replace(day=min(then.day, last)).timestamp()) * 1000


def _empty(number: int, now: int) -> dict[str, Any]:
    return {
        "_id": number, "title": "", "importance": 2, "dueDate": 0, "hideUntil": 0, "created": now, "modified": now,
        "completed": 0, "deleted": 0, "notes": None, "estimatedSeconds": 0, "elapsedSeconds": 0, "timerStart": 0,
        "notificationFlags": 0, "lastNotified": 0, "recurrence": None, "repeat_from": 0, "calendarUri": None,
        "remoteId": str(number), "collapsed": 0, "parent": 0, "order": None, "read_only": 0,
    }  # fmt: skip


# -- lists ------------------------------------------------------------------------------------------------


def lists(phone: Phone) -> list[str]:
    """Return the names of the lists; the first is the default one."""
    return [row["cdl_name"] for row in phone.data(KEY)["caldav_lists"]]


def add_list(phone: Phone, name: str) -> None:
    """Add a list.

    Raises:
        ValueError: If there is no name, or a list or filter has it.
    """
    if not name or name in (*lists(phone), MY_TASKS, TODAY, RECENT):
        raise ValueError(f"Expected a new name of a list, got {name!r}: choose another")
    number = phone.new_id() + _DEFAULT
    row = {"cdl_id": number, "cdl_account": "local", "cdl_uuid": str(number), "cdl_name": name, "cdl_color": 0}
    phone.data(KEY)["caldav_lists"].append(row)


def delete_list(phone: Phone, name: str) -> None:
    """Delete a list with its tasks."""
    data = phone.data(KEY)
    for row in tasks(phone):
        if list_of(phone, row["_id"]) == name:
            delete_task(phone, row["_id"])
    data["caldav_lists"] = [row for row in data["caldav_lists"] if row["cdl_name"] != name]


def list_of(phone: Phone, number: int) -> str:
    """Return the name of the list that a task is in."""
    data = phone.data(KEY)
    where = next((row["cd_calendar"] for row in data["caldav_tasks"] if row["cd_task"] == number), "")
    return next((row["cdl_name"] for row in data["caldav_lists"] if row["cdl_uuid"] == where), lists(phone)[0])


def move(phone: Phone, number: int, name: str) -> None:
    """Put a task into a list.

    Raises:
        ValueError: If there is no such list.
    """
    data = phone.data(KEY)
    uuid = next((row["cdl_uuid"] for row in data["caldav_lists"] if row["cdl_name"] == name), None)
    if uuid is None:
        raise ValueError(f"Expected one of the lists {lists(phone)}, got {name!r}")
    data["caldav_tasks"] = [row for row in data["caldav_tasks"] if row["cd_task"] != number]
    data["caldav_tasks"].append({"cd_id": phone.new_id(), "cd_task": number, "cd_calendar": uuid, "cd_deleted": 0})
