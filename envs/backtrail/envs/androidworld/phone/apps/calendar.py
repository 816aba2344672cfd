"""Simple Calendar: events by month, by day and as a list."""

from __future__ import annotations

from calendar import Calendar as Grid
from datetime import date, timedelta
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import browse, calendar_edit, events
from backtrail.envs.androidworld.phone.apps.pickers import date_dialog, ordinal
from backtrail.envs.androidworld.phone.page import GREY, LINE, WHITE
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["Calendar"]

_VIEWS = {"Monthly view": "month", "Daily view": "day", "Simple event list": "list"}
_SUNDAY = 6
_MORE = 60  # days that the list shows at a time
_ROOM = 200  # entries that it shows at most


class Calendar(App):
    """Shows and changes events."""

    key = "calendar"
    label = "Simple Calendar Pro"
    package = "com.simplemobiletools.calendar.pro"
    activity = "com.simplemobiletools.calendar.pro.activities.MainActivity"
    icon = "calendar"
    tint = (21, 101, 192)
    volatile = frozenset({"id", "parent_id", "import_id", "last_updated"})

    def fresh(self) -> Data:
        """Return no events, and the view that is shown."""
        return {
            "events": [],
            "event_types": [{"id": 1, "title": "Regular event", "color": -16746133, "type": 0}],
            "view": "month",
        }

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        return f"{self.package}.activities.EventActivity" if page == "event" else self.activity

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        if ui.page == "event":
            calendar_edit.draw_event(ui)
        elif ui.page == "search":
            _search(ui)
        elif ui.page == "select":
            _select(ui)
        elif ui.page == "day":
            _page(ui, "day")
        else:
            _page(ui, ui.data["view"])


def _shown(ui: Ui) -> date:
    """Return the day that the page shows."""
    return date.fromisoformat(ui.state.get("day") or ui.args.get("day") or ui.phone.now.date().isoformat())


def _page(ui: Ui, view: str) -> None:
    """Draw a view of the calendar with its bar and dialogs."""
    day, today = _shown(ui), ui.phone.now.date()
    buttons = [
        ("search", "Search", lambda: ui.phone.go("search")),
        ("sort", "Change view", lambda: ui.overlay("view")),
    ]
    if day != today:
        buttons.insert(0, ("calendar", "Go to today", lambda: ui.state.update(day=today.isoformat())))
    ui.bar(
        "Calendar" if view != "day" else day.strftime("%b %-d (%a)"),
        *buttons,
        up=ui.page == "day",
        menu=[
            ("Go to date", lambda: ui.state.update(overlay="go", month=day.isoformat()[:7])),
            ("Go to today", lambda: ui.state.update(day=today.isoformat())),
            ("Change view", lambda: ui.overlay("view")),
        ],
    )
    {"month": _month, "day": _day, "list": _list}[view](ui, day)
    ui.floating("add", "New Event", lambda: _new(ui, day), "calendar_fab")
    if ui.state.get("overlay") == "view":
        names = {short: name for name, short in _VIEWS.items()}
        ui.choose("Change view", list(_VIEWS), names[view], lambda name: _change(ui, name))
    elif ui.state.get("overlay") == "go":
        date_dialog(ui, day, lambda chosen: ui.state.update(day=chosen.isoformat()))


def _new(ui: Ui, day: date) -> None:
    """Open the form of a new event, which begins with the next full hour."""
    ui.phone.go("event", begin=events.midnight(day) + (ui.phone.now.hour + 1) % 24 * 3600)


def _change(ui: Ui, name: str) -> None:
    """Show another view."""
    ui.data["view"] = _VIEWS[name]
    browse.leave(ui.phone, "day")


def _arrows(ui: Ui, title: str, before: date, after: date) -> None:
    """Draw a title between two arrows that go to other days."""
    left, top, right, bottom = ui.left, ui.top, ui.right, ui.top + 130
    ui.add(
        View(
            "TextView",
            (left + 150, top, right - 150, bottom),
            title,
            size=50,
            align="center",
            resource=ui.id("top_value"),
        )
    )
    for x, icon, name, day in ((left + 20, "left", "Previous", before), (right - 140, "right", "Next", after)):
        box = (x, top + 5, x + 120, top + 125)
        ui.add(
            View(
                "ImageButton",
                box,
                description=name,
                icon=icon,
                on_tap=lambda day=day: ui.state.update(day=day.isoformat()),
            )
        )
    ui.top = bottom


# -- month ------------------------------------------------------------------------------------------------


def _month(ui: Ui, day: date) -> None:
    """Draw the days of a month, each with its events; a tap shows the day."""
    first = day.replace(day=1)
    before, after = first - timedelta(days=1), first + timedelta(days=31)
    title = first.strftime("%B" if first.year == ui.phone.now.year else "%B %Y")
    _arrows(ui, title, before.replace(day=1), after.replace(day=1))
    width = (ui.right - ui.left) // 7
    for place, name in enumerate(("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")):
        box = (ui.left + place * width, ui.top, ui.left + (place + 1) * width, ui.top + 70)
        ui.add(View("TextView", box, name, size=34, color=GREY, align="center"))
    ui.top += 70
    weeks = Grid(_SUNDAY).monthdatescalendar(first.year, first.month)
    height = (ui.bottom - ui.top) // len(weeks)
    found = events.occurrences(ui.phone, events.midnight(weeks[0][0]), events.midnight(weeks[-1][-1]) + events.DAY)
    for week in weeks:
        for place, each in enumerate(week):
            box = (ui.left + place * width, ui.top, ui.left + (place + 1) * width, ui.top + height)
            _cell(ui, each, box, each.month == first.month, events.on_day(found, each))
        ui.top += height


def _cell(ui: Ui, day: date, box: tuple[int, int, int, int], inside: bool, found: list[events.Occurrence]) -> None:
    """Draw a day of a month: its number and the first events."""
    left, top, right, bottom = box
    said = f"{day.strftime('%B %-d')}, {len(found)} event{'' if len(found) == 1 else 's'}"
    cell = ui.add(
        View(
            "FrameLayout",
            box,
            description=said,
            on_tap=lambda: ui.phone.go("day", day=day.isoformat()),
            resource=ui.id("day_monthly"),
        )
    )
    cell.children.append(View("View", (left, top, right, top + 2), fill=LINE))
    today = day == ui.phone.now.date()
    middle = (left + right) // 2
    number = View(
        "TextView", (middle - 34, top + 10, middle + 34, top + 78), str(day.day), size=36, align="center", radius=34
    )
    number.fill, number.color = (ui.app.tint, WHITE) if today else (None, (32, 33, 36) if inside else (170, 174, 180))
    cell.children.append(number)
    room = max(1, (bottom - top - 84) // 44)
    shown = found if len(found) <= room else found[: room - 1]
    for place, (_, _, row) in enumerate(shown):
        y = top + 84 + 44 * place
        cell.children.append(_strip(ui, (left + 4, y, right - 4, y + 40), row["title"]))
    if len(found) > len(shown):
        y = top + 84 + 44 * len(shown)
        more = f"+{len(found) - len(shown)}"
        cell.children.append(View("TextView", (left, y, right, y + 40), more, size=28, align="center", color=GREY))


def _strip(ui: Ui, box: tuple[int, int, int, int], title: str) -> View:
    return View("View", box, fill=ui.app.tint, radius=8, children=[
        View("TextView", (box[0] - 16, box[1], box[2], box[3]), title, size=26, color=WHITE),
    ])  # fmt: skip


# -- day and list -----------------------------------------------------------------------------------------


def _day(ui: Ui, day: date) -> None:
    """Draw the events of a day."""
    _arrows(ui, day.strftime("%A, %B %-d, %Y"), day - timedelta(days=1), day + timedelta(days=1))
    ui.line()
    found = events.occurrences_on(ui.phone, day)
    if not found:
        browse.empty(ui, "No events")
    with ui.scroll():
        for each in found:
            _row(ui, each)
        ui.gap(200)


def _list(ui: Ui, day: date) -> None:
    """Draw the events from a day on, under the days on which they are."""
    days = ui.state.get("days", _MORE)
    first = events.midnight(day)
    found = events.occurrences(ui.phone, first, first + days * events.DAY)[:_ROOM]
    if not found:
        browse.empty(ui, "No upcoming events")
    with ui.scroll():
        above = ""
        for each in found:
            heading = events.at(max(each[0], first)).strftime("%A, %B %-d, %Y")
            if heading != above:
                ui.header(heading)
            above = heading
            _row(ui, each)
        if len(found) < _ROOM:
            last = (day + timedelta(days=days)).strftime("%B %-d, %Y")
            ui.button(f"Show events after {last}", lambda: ui.state.update(days=days + _MORE), filled=False)
        ui.gap(200)


def _row(ui: Ui, occurrence: events.Occurrence, dated: bool = False) -> None:
    """Draw an event in a list; a tap opens it, a long press chooses it."""
    start, end, row = occurrence
    when = "All day" if row["flags"] & events.ALL_DAY else f"{ordinal(start)} - {ordinal(end)}"
    if events.at(start).date() != events.at(end).date() and not row["flags"] & events.ALL_DAY:
        when = f"{ordinal(start)} - {events.at(end).strftime('%b %-d')}, {ordinal(end)}"
    if dated:
        when = f"{events.at(start).strftime('%b %-d, %Y')}, {when}"
    details = ", ".join(row[column].split("\n")[0] for column in ("location", "description") if row[column])
    ui.row(
        row["title"],
        f"{when}  {details}" if details else when,
        tap=lambda: ui.phone.go("event", id=row["id"], start=start),
        hold=lambda: ui.phone.go("select", day=events.at(start).date().isoformat(), chosen=[[row["id"], start]]),
        resource="event_item_holder",
    )


def _search(ui: Ui) -> None:
    ui.bar("Search")
    words = ui.field("query", "Search events", enter=lambda: browse.hide_keyboard(ui.phone))
    found = events.search_events(ui.phone, words) if words.strip() else []
    if words.strip() and not found:
        browse.empty(ui, "No events found")
    with ui.scroll():
        for each in found:
            _row(ui, each, dated=True)


# -- several events ---------------------------------------------------------------------------------------


def _select(ui: Ui) -> None:
    """Draw the events of a day with check boxes; the chosen ones can be deleted."""
    day = date.fromisoformat(ui.args["day"])
    chosen: list[list[int]] = ui.state.get("chosen", ui.args["chosen"])
    found = events.occurrences_on(ui.phone, day)
    keys = [[row["id"], start] for start, _, row in found]
    ui.bar(
        f"{len(chosen)} / {len(found)}",
        ("delete", "Delete", lambda: ui.overlay("delete")),
        menu=[("Select all", lambda: ui.state.update(chosen=keys))],
    )
    ui.text(day.strftime("%A, %B %-d, %Y"), 40, GREY)
    with ui.scroll():
        for key, (start, end, row) in zip(keys, found, strict=True):

            def flip(key: list[int] = key) -> None:
                now = [each for each in chosen if each != key] + ([] if key in chosen else [key])
                ui.state["chosen"] = now
                if not now:
                    ui.phone.close()

            ui.row(
                row["title"],
                f"{ordinal(start)} - {ordinal(end)}",
                check=key in chosen,
                selected=key in chosen,
                tap=flip,
            )
    if ui.state.get("overlay") == "delete":
        calendar_edit.ask_delete(ui, [(number, start) for number, start in chosen])
