"""Dialogs in which a date or a time is chosen, for the calendar."""

from __future__ import annotations

from calendar import Calendar as Grid
from collections.abc import Callable
from datetime import date, datetime, time
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.apps import events
from backtrail.envs.androidworld.phone.page import GREY, SURFACE, WHITE
from backtrail.envs.androidworld.phone.views import Color, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["date_dialog", "ordinal", "time_dialog"]

_SUNDAY = 6
_INK: Color = (32, 33, 36)


def ordinal(ts: int) -> str:
    """Return the time of day of a time in seconds, as "15:30"."""
    return events.at(ts).strftime("%H:%M")


def date_dialog(ui: Ui, day: date, tap: Callable[[date], object], *others: tuple[str, Callable[[], object]]) -> None:
    """Draw a dialog with the days of a month.

    The month on show is in ``ui.state["month"]`` ("2023-10"), which is to be set when the dialog is opened.

    Args:
        ui: The page.
        day: The day that is chosen so far.
        tap: What the choice does.
        *others: Further buttons.
    """
    shown = datetime.strptime(ui.state.get("month", day.isoformat()[:7]), "%Y-%m").date()
    with ui.dialog("", ("Cancel", lambda: None), *others, height=1020):
        ui.text(day.strftime("%a, %b %-d, %Y"), 56, resource="date_picker_header_date")
        top = ui.top
        ui.add(View("TextView", (ui.left, top, ui.right - 260, top + 110), shown.strftime("%B %Y"), size=46))
        for x, icon, name, step in (
            (ui.right - 250, "left", "Previous month", -1),
            (ui.right - 120, "right", "Next month", 1),
        ):
            number = shown.year * 12 + shown.month - 1 + step
            month = f"{number // 12:04d}-{number % 12 + 1:02d}"
            _cell(
                ui, (x, top, x + 110, top + 110), "", name, lambda month=month: ui.state.update(month=month), icon=icon
            )
        ui.top += 115
        _row(ui, [(name, None, None, False) for name in "SMTWTFS"], 70)
        for week in Grid(_SUNDAY).monthdatescalendar(shown.year, shown.month):
            _row(ui, [_day(ui, each, shown, day, tap) for each in week], 112)


def _day(ui: Ui, each: date, shown: date, chosen: date, tap: Callable[[date], object]) -> _Cell:
    if each.month != shown.month:
        return "", None, None, False

    def choose() -> None:
        ui.overlay("")
        tap(each)

    return str(each.day), each.strftime("%-d %B %Y"), choose, each == chosen


def time_dialog(ui: Ui, ts: int, tap: Callable[[int, int], object]) -> None:
    """Draw a dialog with the hours and minutes of a day.

    What is chosen so far is in ``ui.state["clock"]`` (hour and minute), which is to be set when the dialog is opened.

    Args:
        ui: The page.
        ts: The time that is chosen so far, in seconds.
        tap: What is called with the hour and the minute.
    """
    now = events.at(ts)
    hour, minute = ui.state.get("clock", [now.hour, now.minute])
    with ui.dialog("", ("Cancel", lambda: None), ("OK", lambda: tap(hour, minute)), height=1040):
        ui.text(time(hour, minute).strftime("%H:%M"), 84, ui.app.tint, align="center", resource="time_header")
        ui.text("Hour", 36, GREY)
        for first in range(0, 24, 8):
            _row(
                ui,
                [_choice(ui, f"{n:02d}", f"{n} hours", [n, minute], n == hour) for n in range(first, first + 8)],
                105,
            )
        ui.text("Minutes", 36, GREY)
        for first in range(0, 60, 30):
            numbers = range(first, first + 30, 5)
            _row(ui, [_choice(ui, f"{n:02d}", f"{n} minutes", [hour, n], n == minute) for n in numbers], 105)
        steps = (("-1 min", "One minute less", (minute - 1) % 60), ("+1 min", "One minute more", (minute + 1) % 60))
        _row(ui, [_choice(ui, text, said, [hour, n], False) for text, said, n in steps], 105)


_Cell = tuple[str, str | None, Callable[[], object] | None, bool]


def _choice(ui: Ui, text: str, said: str, clock: list[int], chosen: bool) -> _Cell:
    return text, said, lambda: ui.state.update(clock=clock), chosen


def _row(ui: Ui, cells: list[_Cell], height: int) -> None:
    """Draw small buttons beside each other."""
    width = (ui.right - ui.left) // len(cells)
    for place, (text, said, tap, chosen) in enumerate(cells):
        box = (ui.left + place * width + 4, ui.top + 3, ui.left + (place + 1) * width - 4, ui.top + height - 3)
        if text:
            _cell(ui, box, text, said or "", tap, chosen)
    ui.top += height


def _cell(
    ui: Ui,
    box: tuple[int, int, int, int],
    text: str,
    said: str,
    tap: Callable[[], object] | None,
    chosen: bool = False,
    icon: str = "",
) -> None:
    color = WHITE if chosen else GREY if tap is None else _INK
    fill = ui.app.tint if chosen else SURFACE if tap is not None and not icon else None
    ui.add(
        View(
            "Button" if tap is not None else "TextView",
            box,
            text,
            description=said,
            on_tap=tap,
            align="center",
            size=38,
            fill=fill,
            color=color,
            radius=30,
            icon=icon,
            selected=chosen,
        )
    )
