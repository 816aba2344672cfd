"""What some apps share: a bar that opens a drawer at the left, and a calendar to pick a day from."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial

from backtrail.envs.androidworld.phone.page import GREY, WHITE, Do
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import STATUS, View

__all__ = ["drawer_bar", "hide_keyboard", "pick_day", "section"]

_HEIGHT = 150  # of a bar
_CELL = 120  # of a day


def drawer_bar(ui: Ui, title: str, entries: Sequence[tuple[str, str]], *buttons: tuple[str, str, Do]) -> None:
    """Draw the bar at the top of a main page, with a button that opens the drawer.

    Args:
        ui: The page.
        title: Its title.
        entries: Page and label of what is in the drawer; the page "main" is the first of the app.
        *buttons: Icon, description and action, at the right.
    """
    bar = ui.add(View("LinearLayout", (ui.left, ui.top, ui.right, ui.top + _HEIGHT), fill=WHITE))
    box = (ui.left + 12, ui.top + 15, ui.left + 132, ui.top + 135)
    bar.children.append(
        View("ImageButton", box, description="Open navigation drawer", icon="menu", on_tap=lambda: ui.overlay("drawer"))
    )
    end = ui.right - 12 - 120 * len(buttons)
    box = (box[2], ui.top, end, ui.top + _HEIGHT)
    bar.children.append(View("TextView", box, title, resource=ui.id("title"), size=54))
    for place, (icon, description, tap) in enumerate(buttons):
        box = (end + 120 * place, ui.top + 15, end + 120 * (place + 1), ui.top + 135)
        bar.children.append(View("ImageButton", box, description=description, icon=icon, on_tap=tap, color=GREY))
    ui.top += _HEIGHT
    if ui.state.get("overlay") == "drawer":
        _drawer(ui, entries)


def section(ui: Ui, page: str) -> None:
    """Go to another main page of an app: back leads to its first one."""
    if page == ui.page:
        return
    if page == "main":
        ui.phone.close()
    elif ui.page == "main":
        ui.phone.go(page)
    else:
        ui.phone.swap(page)


def hide_keyboard(ui: Ui) -> None:
    """Take the cursor out of its field, as closing a dialog with a field does."""
    ui.phone.state["focus"], ui.phone.state["keyboard"] = "", False


def pick_day(ui: Ui, chosen: date, tap: Callable[[date], object]) -> None:
    """Draw a dialog with a month to choose a day from; the choice closes it.

    Args:
        ui: The page; ``state["month"]`` is the month that is shown, as [year, month].
        chosen: The day that is marked.
        tap: What is done with the day.
    """
    year, month = ui.state.get("month") or [chosen.year, chosen.month]

    def turn(months: int) -> None:
        count = 12 * year + month - 1 + months
        ui.state["month"] = [count // 12, count % 12 + 1]

    def choose(day: date) -> None:
        ui.state.pop("month", None)
        ui.overlay("")
        tap(day)

    with ui.dialog("", ("Cancel", lambda: ui.state.pop("month", None)), height=1000):
        with ui.columns(1, 3, 1) as following:
            ui.icons(("left", "Previous month", lambda: turn(-1)), size=90)
            following()
            ui.gap(40)
            ui.text(f"{calendar.month_name[month]} {year}", 46, align="center", resource="month")
            following()
            ui.icons(("right", "Next month", lambda: turn(1)), size=90)
        _days(ui, year, month, chosen, choose)


def _days(ui: Ui, year: int, month: int, chosen: date, choose: Callable[[date], object]) -> None:
    width = (ui.right - ui.left) // 7
    for place, name in enumerate("MTWTFSS"):
        box = (ui.left + width * place, ui.top, ui.left + width * (place + 1), ui.top + 80)
        ui.add(View("View", box, name, align="center", color=GREY, size=36))
    ui.top += 80
    for number, week in enumerate(calendar.monthcalendar(year, month)):
        for place, day in enumerate(week):
            if day:
                this = date(year, month, day)
                x, y = ui.left + width * place, ui.top + _CELL * number
                ui.add(
                    View(
                        "TextView", (x + 4, y + 4, x + width - 4, y + _CELL - 4), str(day), align="center",
                        description=this.strftime("%d %B %Y"), selected=this == chosen, radius=56,
                        fill=ui.app.tint if this == chosen else None, color=WHITE if this == chosen else (32, 33, 36),
                        on_tap=partial(choose, this),
                    )
                )  # fmt: skip
    ui.top += _CELL * 6


def _drawer(ui: Ui, entries: Sequence[tuple[str, str]]) -> None:
    with ui.drawer():
        head = View("TextView", (0, STATUS, 780, STATUS + 260), ui.app.label, size=64, fill=ui.app.tint, color=WHITE)
        ui.add(head)
        for place, (page, label) in enumerate(entries):

            def go(page: str = page) -> None:
                ui.overlay("")
                section(ui, page)

            y, here = STATUS + 290 + 140 * place, page == ui.page
            ui.add(
                View(
                    "CheckedTextView", (24, y, 756, y + 124), label, on_tap=go, selected=here, size=44, radius=60,
                    fill=(232, 240, 254) if here else None, color=ui.app.tint if here else (60, 64, 67),
                    resource=ui.id("design_menu_item_text"),
                )
            )  # fmt: skip
