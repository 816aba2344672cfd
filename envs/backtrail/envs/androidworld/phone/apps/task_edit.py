"""The form of a task of Tasks.org."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps.extras import empty, head
from backtrail.envs.androidworld.phone.apps.pickers import date_dialog, time_dialog
from backtrail.envs.androidworld.phone.apps.todo import (
    PRIORITIES,
    REPEATS,
    day_of,
    delete_task,
    due_ms,
    has_time,
    list_of,
    lists,
    move,
    save_task,
    task,
)
from backtrail.envs.androidworld.phone.page import GREY, MARGIN, SURFACE, WHITE
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["COLORS", "draw_edit"]

COLORS = ((211, 47, 47), (251, 140, 0), (30, 136, 229), (158, 158, 158))
"""Colours of the priorities."""

_CLOCKS = {
    "Morning, 09:00": time(9),
    "Afternoon, 13:00": time(13),
    "Evening, 17:00": time(17),
    "Night, 20:00": time(20),
}
_NEW: dict[str, Any] = {
    "title": "", "notes": None, "dueDate": 0, "hideUntil": 0, "importance": 2, "recurrence": None, "completed": 0,
}  # fmt: skip


def draw_edit(ui: Ui) -> None:
    """Draw the form of the task with the id ``ui.args["id"]``, 0 for a new one."""
    phone, number = ui.phone, ui.args["id"]
    old = task(phone, number) or _NEW
    if number and old is _NEW:
        ui.bar("")
        empty(ui, "This task was deleted", "check")
        return
    row = {**old, **ui.state.get("row", {})}
    delete = [("delete", "Delete task", lambda: ui.overlay("delete"))] if number else []
    head(
        ui, ("close", "Discard", lambda: _leave(ui, old)), "Edit task" if number else "New task", *delete,
        save=("Save", lambda: _save(ui, old)),
    )  # fmt: skip
    with ui.scroll():
        ui.field("title", "Task name", old["title"], enter=lambda: phone.state.update(keyboard=False))
        _rows(ui, row)
        ui.field("notes", "Description", old["notes"] or "", lines=4)
        ui.gap(60)
    _dialogs(ui, old, row)


def _rows(ui: Ui, row: dict[str, Any]) -> None:
    due, start = row["dueDate"], row["hideUntil"]
    shown = day_of(due).strftime("%A, %B %-d, %Y") if due else "No due date"
    ui.row(shown, "Due date", icon="calendar", tap=lambda: ui.overlay("due"))
    if due:
        clock = datetime.fromtimestamp(due / 1000, UTC).strftime("%H:%M") if has_time(due) else "No time"
        ui.row(clock, "Due time", icon="clock", tap=lambda: ui.overlay("clock"))
        every = next((name for name, value in REPEATS.items() if value == row["recurrence"]), row["recurrence"])
        ui.row(every, "Repeat", icon="sort", tap=lambda: ui.overlay("repeat"))
    shown = day_of(start).strftime("%A, %B %-d, %Y") if start else "No start date"
    ui.row(shown, "Start date", icon="play", tap=lambda: ui.overlay("start"))
    _priority(ui, row["importance"])
    ui.row(_list(ui), "List", icon="menu", tap=lambda: ui.overlay("list"))


def _priority(ui: Ui, chosen: int) -> None:
    ui.text("Priority", 36, GREY)
    width = (ui.right - ui.left - 2 * MARGIN) // 4
    for place, name in enumerate(PRIORITIES):
        x, on = ui.left + MARGIN + place * width, place == chosen
        box = (x + 8, ui.top + 10, x + width - 8, ui.top + 110)
        view = View(
            "RadioButton", box, name, description=f"Priority {name}", selected=on, radius=50, align="center", size=38
        )
        view.fill, view.color = (COLORS[place], WHITE) if on else (SURFACE, COLORS[place])
        view.on_tap = lambda place=place: _set(ui, importance=place)
        ui.add(view)
    ui.top += 130


def _set(ui: Ui, **values: Any) -> None:
    ui.state.setdefault("row", {}).update(values)


def _list(ui: Ui) -> str:
    """Return the list that the task is going to be in."""
    phone, chosen = ui.phone, ui.data["filter"]
    default = list_of(phone, ui.args["id"]) if ui.args["id"] else chosen if chosen in lists(phone) else lists(phone)[0]
    return ui.state.get("list", default)


# -- dialogs ----------------------------------------------------------------------------------------------


def _dialogs(ui: Ui, old: dict[str, Any], row: dict[str, Any]) -> None:
    overlay, phone = ui.state.get("overlay"), ui.phone
    if overlay == "leave":
        ui.confirm("Discard the changes?", "Discard", phone.close, "Keep editing")
    elif overlay == "delete":
        ui.confirm("Delete this task?", "Delete", lambda: (delete_task(phone, row["_id"]), phone.close()))
    elif overlay == "repeat":
        ui.choose("Repeat", tuple(REPEATS), "", lambda name: _set(ui, recurrence=REPEATS[name]))
    elif overlay == "list":
        ui.choose("List", lists(phone), _list(ui), lambda name: ui.state.update(list=name))
    elif overlay in ("due", "start"):
        _days(ui, row, overlay)
    elif overlay == "clock":
        _clocks(ui, row)
    elif overlay in ("due day", "start day"):
        ms = row["dueDate"] if overlay == "due day" else row["hideUntil"]
        tap = _due(ui, row) if overlay == "due day" else _start(ui)
        date_dialog(ui, day_of(ms) if ms else phone.now.date(), tap)
    elif overlay == "time":
        ms = row["dueDate"]
        begun = ms if has_time(ms) else due_ms(day_of(ms), time(9))
        time_dialog(ui, begun // 1000, lambda hour, minute: _set(ui, dueDate=due_ms(day_of(ms), time(hour, minute))))


def _due(ui: Ui, row: dict[str, Any]) -> Callable[[date], None]:
    """Return what sets the due date; a time of day that was chosen stays."""

    def do(day: date) -> None:
        ms = row["dueDate"]
        clock = datetime.fromtimestamp(ms / 1000, UTC).time().replace(second=0) if has_time(ms) else None
        _set(ui, dueDate=due_ms(day, clock))

    return do


def _start(ui: Ui) -> Callable[[date], None]:
    """Return what sets the day on which a task begins to be shown."""
    return lambda day: _set(ui, hideUntil=due_ms(day) - 12 * 3_600_000)


def _days(ui: Ui, row: dict[str, Any], which: str) -> None:
    today = ui.phone.now.date()
    if which == "due":
        tap, none = _due(ui, row), lambda: _set(ui, dueDate=0, recurrence=None)
        days = {"Today": today, "Tomorrow": today + timedelta(days=1), "Next week": today + timedelta(days=7)}
    else:
        tap, none = _start(ui), lambda: _set(ui, hideUntil=0)
        due = row["dueDate"]
        days = {"Due date": day_of(due), "Day before due": day_of(due) - timedelta(days=1)} if due else {"Today": today}
    rows: list[tuple[str, Callable[[], object]]] = [(name, lambda day=day: tap(day)) for name, day in days.items()]
    rows += [("Pick a date", lambda: _pick(ui, f"{which} day")), ("No date", none)]
    _menu(ui, "Due date" if which == "due" else "Start date", rows)


def _clocks(ui: Ui, row: dict[str, Any]) -> None:
    day = day_of(row["dueDate"])
    rows: list[tuple[str, Callable[[], object]]] = [
        (name, lambda clock=clock: _set(ui, dueDate=due_ms(day, clock))) for name, clock in _CLOCKS.items()
    ]
    rows += [("Pick a time", lambda: _pick(ui, "time")), ("No time", lambda: _set(ui, dueDate=due_ms(day)))]
    _menu(ui, "Due time", rows)


def _pick(ui: Ui, overlay: str) -> None:
    for name in ("month", "clock"):
        ui.state.pop(name, None)
    ui.overlay(overlay)


def _menu(ui: Ui, title: str, rows: list[tuple[str, Callable[[], object]]]) -> None:
    with ui.dialog(title, ("Cancel", None), height=145 * len(rows) + 20), ui.scroll("days"):
        for name, tap in rows:
            ui.row(name, tap=lambda tap=tap: (ui.overlay(""), tap()))


# -- saving -----------------------------------------------------------------------------------------------


def _changes(ui: Ui, old: dict[str, Any]) -> dict[str, Any]:
    """Return what was changed in the form."""
    new = {**old, **ui.state.get("row", {})}
    new["title"] = ui.typed("title", old["title"]).strip()
    new["notes"] = ui.typed("notes", old["notes"] or "").strip() or None
    return {name: value for name, value in new.items() if value != old[name]}


def _leave(ui: Ui, old: dict[str, Any]) -> None:
    if _changes(ui, old) or "list" in ui.state:
        ui.overlay("leave")
    else:
        ui.phone.close()


def _save(ui: Ui, old: dict[str, Any]) -> None:
    phone, values = ui.phone, {"title": old["title"], **_changes(ui, old)}
    if not values["title"]:
        phone.toast("Enter a name for the task")
        return
    where = _list(ui)
    number = save_task(phone, ui.args["id"], values)
    if where != list_of(phone, number):
        move(phone, number, where)
    phone.close()
    phone.toast("Task saved")
