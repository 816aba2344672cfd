"""The form of an event: texts, times, repetition and reminder; saving and deleting, also of repeated events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps import events
from backtrail.envs.androidworld.phone.apps.pickers import date_dialog, ordinal, time_dialog
from backtrail.envs.androidworld.phone.page import GREY

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["ask_delete", "draw_event"]

_HOUR = 3600
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EVERY_DAY = 127
_REMINDERS = {
    "No reminder": -1, "At start": 0, "5 minutes before": 5, "10 minutes before": 10, "30 minutes before": 30,
    "1 hour before": 60, "1 day before": 1440,
}  # fmt: skip
_ONE, _LATER, _ALL = "This event only", "This and all later ones", "All of them"


def draw_event(ui: Ui) -> None:
    """Draw the form of a new event (argument "begin") or of one that there is (arguments "id" and "start")."""
    row = _row(ui)
    form = _form(ui, row)
    new = "id" not in ui.args
    buttons = [("check", "Save", lambda: _save(ui, row, form))]
    if not new:
        buttons.insert(0, ("delete", "Delete", lambda: ui.overlay("delete")))
    ui.bar("New Event" if new else "Edit Event", *buttons)
    with ui.scroll():
        ui.field("title", "Title", row["title"], resource="event_title")
        ui.field("location", "Location", row["location"], resource="event_location")
        ui.field("description", "Description", row["description"], lines=2, resource="event_description")
        _times(ui, form)
        _repetition(ui, form)
        _reminder(ui, form)
    _dialogs(ui, row, form)


def _row(ui: Ui) -> Data:
    """Return the row that is changed, or what a new event begins with."""
    if "id" in ui.args:
        return events.event(ui.phone, ui.args["id"])
    start = ui.args["begin"]
    return {
        "title": "", "location": "", "description": "", "start_ts": start, "end_ts": start + _HOUR, "flags": 0,
        "repeat_interval": 0, "repeat_rule": 0, "repeat_limit": 0, "reminder_1_minutes": 10,
    }  # fmt: skip


def _form(ui: Ui, row: Data) -> Data:
    """Return what is chosen on the form so far: columns of the row; it begins with the row's."""
    start = ui.args.get("start", row["start_ts"])
    kept = ("flags", "repeat_interval", "repeat_rule", "repeat_limit", "reminder_1_minutes")
    begin = {name: row[name] for name in kept}
    begin |= {"start_ts": start, "end_ts": start + row["end_ts"] - row["start_ts"]}
    return begin | ui.state.get("form", {})


def _set(ui: Ui, form: Data, **columns: Any) -> None:
    ui.state["form"] = {**form, **columns}


# -- parts of the form ------------------------------------------------------------------------------------


def _times(ui: Ui, form: Data) -> None:
    """Draw the days and times; all are texts that open a dialog."""
    whole = bool(form["flags"] & events.ALL_DAY)
    ui.line()
    ui.row("All-day", switch=whole, tap=lambda: _set(ui, form, flags=form["flags"] ^ events.ALL_DAY), icon="clock")
    for column, name in (("start_ts", "start"), ("end_ts", "end")):
        ts = form[column]
        with ui.columns(3, 1) as following:
            ui.row(
                events.at(ts).strftime("%B %-d, %Y (%a)"),
                icon="right" if column == "start_ts" else "left",
                tap=lambda column=column, ts=ts: _ask_date(ui, column, ts),
                description=f"{name.capitalize()} date",
                resource=f"event_{name}_date",
            )
            following()
            if not whole:
                ui.row(
                    ordinal(ts),
                    tap=lambda column=column, ts=ts: _ask_time(ui, column, ts),
                    description=f"{name.capitalize()} time",
                    resource=f"event_{name}_time",
                )


def _ask_date(ui: Ui, column: str, ts: int) -> None:
    ui.phone.state.update(focus="", keyboard=False)
    ui.state.update(overlay=f"date {column}", month=events.at(ts).strftime("%Y-%m"))


def _ask_time(ui: Ui, column: str, ts: int) -> None:
    ui.phone.state.update(focus="", keyboard=False)
    ui.state.update(overlay=f"time {column}", clock=[events.at(ts).hour, events.at(ts).minute])


def _repetition(ui: Ui, form: Data) -> None:
    """Draw how the event is repeated."""
    name = events.repetition(form)
    ui.line()
    ui.row("Repetition", name, icon="calendar", tap=lambda: ui.overlay("repetition"), resource="event_repetition")
    if name == "Weekly":
        ui.row(
            "Repeat on", _days(form["repeat_rule"]), tap=lambda: ui.overlay("days"), resource="event_repetition_rule"
        )
    if name != "No repetition":
        limit = form["repeat_limit"]
        until = events.at(limit).strftime("%B %-d, %Y") if limit > 0 else "Forever"
        ui.row("Repeat till", until, tap=lambda: _ask_date(ui, "repeat_limit", limit or form["start_ts"]))


def _days(rule: int) -> str:
    if rule == _EVERY_DAY:
        return "Every day"
    return ", ".join(name for place, name in enumerate(_DAYS) if rule >> place & 1) or "None"


def _reminder(ui: Ui, form: Data) -> None:
    names = {minutes: name for name, minutes in _REMINDERS.items()}
    minutes = form["reminder_1_minutes"]
    name = names.get(minutes, f"{minutes} minutes before")
    ui.line()
    ui.row("Reminder", name, icon="bell", tap=lambda: ui.overlay("reminder"), resource="event_reminder_1")


# -- dialogs ----------------------------------------------------------------------------------------------


def _dialogs(ui: Ui, row: Data, form: Data) -> None:
    what, _, column = ui.state.get("overlay", "").partition(" ")
    if what == "date":
        _date(ui, form, column)
    elif what == "time":
        ts = form[column]
        first = ts - ts % events.DAY
        time_dialog(
            ui, ts, lambda hour, minute: _move(ui, form, column, first + hour * _HOUR + minute * 60)
        )  # fmt: skip
    elif what == "repetition":
        ui.choose("Repetition", list(events.INTERVALS), events.repetition(form), lambda name: _repeat(ui, form, name))
    elif what == "days":
        _choose_days(ui, form)
    elif what == "reminder":
        names = {minutes: name for name, minutes in _REMINDERS.items()}
        chosen = names.get(form["reminder_1_minutes"], "")
        ui.choose(
            "Reminder", list(_REMINDERS), chosen, lambda name: _set(ui, form, reminder_1_minutes=_REMINDERS[name])
        )  # fmt: skip
    elif what == "delete":
        ask_delete(ui, [(ui.args["id"], ui.args["start"])])
    elif what == "save":
        _ask_which(
            ui, "Which events are to be changed?", (_ONE, _LATER, _ALL), lambda which: _store(ui, row, form, which)
        )


def _date(ui: Ui, form: Data, column: str) -> None:
    """Draw the dialog for a day; that of the last repetition can also be "for ever"."""
    ts = form[column] or form["start_ts"]
    if column == "repeat_limit":

        def until(day: date) -> None:
            _set(ui, form, repeat_limit=events.midnight(day) + events.DAY - 1)

        date_dialog(ui, events.at(ts).date(), until, ("Forever", lambda: _set(ui, form, repeat_limit=0)))
    else:
        date_dialog(
            ui, events.at(ts).date(), lambda day: _move(ui, form, column, events.midnight(day) + ts % events.DAY)
        )  # fmt: skip


def _move(ui: Ui, form: Data, column: str, ts: int) -> None:
    """Set the start or end. A new start takes the end along; a weekly event stays on its day."""
    if column == "end_ts":
        _set(ui, form, end_ts=ts)
        return
    rule = form["repeat_rule"]
    if rule == 1 << events.at(form["start_ts"]).weekday() and events.repetition(form) == "Weekly":
        rule = 1 << events.at(ts).weekday()
    _set(ui, form, start_ts=ts, end_ts=ts + max(0, form["end_ts"] - form["start_ts"]), repeat_rule=rule)


def _repeat(ui: Ui, form: Data, name: str) -> None:
    rules = {"Weekly": 1 << events.at(form["start_ts"]).weekday(), "Monthly": 1, "Yearly": 1}
    limit = form["repeat_limit"] if name != "No repetition" else 0
    _set(ui, form, repeat_interval=events.INTERVALS[name], repeat_rule=rules.get(name, 0), repeat_limit=limit)


def _choose_days(ui: Ui, form: Data) -> None:
    rule = form["repeat_rule"]
    with ui.dialog("Repeat on", ("OK", lambda: None), height=7 * 144 + 20):
        for place, name in enumerate(_DAYS):
            ui.row(
                name,
                check=bool(rule >> place & 1),
                tap=lambda place=place: _set(ui, form, repeat_rule=rule ^ 1 << place),
            )


def _ask_which(ui: Ui, question: str, entries: Sequence[str], tap: Any) -> None:
    """Draw the question which of the repetitions are meant."""
    with ui.dialog("", ("Cancel", lambda: None), height=150 * len(entries) + 120):
        ui.text(question, 44, GREY, resource="message")
        for entry in entries:

            def choose(entry: str = entry) -> None:
                ui.overlay("")
                tap(entry)

            ui.row(entry, radio=False, tap=choose)


# -- saving -----------------------------------------------------------------------------------------------


def _save(ui: Ui, row: Data, form: Data) -> None:
    """Save the event, or say what is wrong; a repeated one asks first which repetitions are meant."""
    if not ui.typed("title", row["title"]).strip():
        ui.phone.toast("Title cannot be empty")
    elif _rounded(form)["end_ts"] < _rounded(form)["start_ts"]:
        ui.phone.toast("The event cannot end before it starts")
    elif events.repetition(form) == "Weekly" and not form["repeat_rule"]:
        ui.phone.toast("Choose a day of the week")
    elif "id" in ui.args and row["repeat_interval"]:
        ui.overlay("save")
    else:
        _store(ui, row, form, _ALL)


def _rounded(form: Data) -> Data:
    """Return the columns; an event of whole days begins at midnight and ends at noon."""
    if not form["flags"] & events.ALL_DAY:
        return form
    start, end = form["start_ts"] // events.DAY * events.DAY, form["end_ts"] // events.DAY * events.DAY
    return {**form, "start_ts": start, "end_ts": end + 12 * _HOUR}


def _store(ui: Ui, row: Data, form: Data, which: str) -> None:
    """Write the form into the event, or into a new one in the place of one repetition or of all later ones."""
    phone = ui.phone
    texts = {name: ui.typed(name, row[name]).strip() for name in ("title", "location", "description")}
    columns = {**_rounded(form), **texts}
    if "id" not in ui.args:
        events.add_event(phone, **columns)
    elif which == _ALL:
        moved = columns["start_ts"] - ui.args["start"]
        long = columns["end_ts"] - columns["start_ts"]
        start = row["start_ts"] + moved
        events.change_event(phone, row["id"], **{**columns, "start_ts": start, "end_ts": start + long})
    elif which == _ONE:
        events.delete_occurrence(phone, row["id"], ui.args["start"])
        alone = {"repeat_interval": 0, "repeat_rule": 0, "repeat_limit": 0, "parent_id": row["id"]}
        events.add_event(phone, **{**columns, **alone})
    else:
        events.add_event(phone, **columns)
        events.delete_following(phone, row["id"], ui.args["start"])
    phone.close()


def ask_delete(ui: Ui, chosen: Sequence[tuple[int, int]]) -> None:
    """Draw the question before events (id and start) are deleted."""
    repeated = any(events.event(ui.phone, number)["repeat_interval"] for number, _ in chosen)
    if repeated:
        question = "This event is repeated. Delete:" if len(chosen) == 1 else "Some events are repeated. Delete:"
        _ask_which(ui, question, (_ONE, _LATER, _ALL), lambda which: _delete(ui, chosen, which))
        return
    what = "this event" if len(chosen) == 1 else f"{len(chosen)} events"
    ui.confirm(f"Are you sure you want to delete {what}?", "Yes", lambda: _delete(ui, chosen, _ALL), no="No")


def _delete(ui: Ui, chosen: Sequence[tuple[int, int]], which: str) -> None:
    phone = ui.phone
    for number, start in chosen:
        row = next((row for row in events.events(phone) if row["id"] == number), None)
        repeated = row is not None and row["repeat_interval"]
        if which == _ALL or not repeated:
            events.delete_event(phone, number)
        elif which == _ONE:
            events.delete_occurrence(phone, number, start)
        else:
            events.delete_following(phone, number, start)
    phone.close()
