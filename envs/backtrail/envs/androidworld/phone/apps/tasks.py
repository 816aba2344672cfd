"""Tasks.org: the lists of tasks; `task_edit` draws the form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import todo
from backtrail.envs.androidworld.phone.apps.extras import empty, head, line, search
from backtrail.envs.androidworld.phone.apps.task_edit import COLORS, draw_edit
from backtrail.envs.androidworld.phone.apps.todo import (
    MY_TASKS,
    PRIORITIES,
    RECENT,
    SORTS,
    TODAY,
    add_list,
    complete,
    day_of,
    delete_list,
    delete_task,
    has_time,
    list_of,
    lists,
    shown,
)
from backtrail.envs.androidworld.phone.draw import line_height, wrapped
from backtrail.envs.androidworld.phone.page import GREY, MARGIN, SURFACE, Do
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["Tasks"]

_BAR = 170
_RED = (211, 47, 47)


class Tasks(App):
    """Tasks.org.

    Pages: "main"; "edit" (id, 0 for a new one); "search"; "menu" (filters and lists); "list" (a new one).
    """

    key = todo.KEY
    label = "Tasks"
    package = "org.tasks"
    activity = "com.todoroo.astrid.activity.MainActivity"
    icon = "check"
    tint = (25, 118, 210)

    def fresh(self) -> Data:
        """Return one empty list."""
        return todo.fresh()

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        {"main": _main, "edit": draw_edit, "search": _search, "menu": _menu, "list": _list}[ui.page](ui)


def _main(ui: Ui) -> None:
    phone, data = ui.phone, ui.data
    ui.bar(data["filter"], up=False)
    rows = shown(phone)
    with ui.scroll(keep=_BAR):
        before = ""
        for row in rows:
            name = _group(phone, row)
            if name != before:
                ui.text(name, 38, _RED if name == "Overdue" else ui.app.tint, resource="header")
                before = name
            _row(ui, row)
        if not rows:
            empty(ui, "No tasks here", "check")
    _bottom(ui)
    _dialogs(ui)


def _group(phone: Phone, row: dict[str, Any]) -> str:
    """Return the heading below which a task stands."""
    by = phone.data(todo.KEY)["sort"]
    if row["completed"]:
        return "Completed"
    if by == "Priority":
        return _level(row)
    if by != "Due date":
        return ""
    if not row["dueDate"]:
        return "No due date"
    day, today = day_of(row["dueDate"]), phone.now.date()
    if day < today:
        return "Overdue"
    return {0: "Today", 1: "Tomorrow"}.get((day - today).days, day.strftime("%a, %b %-d"))


def _level(row: dict[str, Any]) -> str:
    name = PRIORITIES[row["importance"]]
    return f"{name if name != 'None' else 'No'} priority"


def _when(phone: Phone, ms: int) -> str:
    """Return a due date in words."""
    day, today = day_of(ms), phone.now.date()
    name = day.strftime("%a, %b %-d" if day.year == today.year else "%b %-d, %Y")
    for near, words in ((0, "Today"), (1, "Tomorrow"), (-1, "Yesterday")):
        if day == today + timedelta(days=near):
            name = words
    clock = datetime.fromtimestamp(ms / 1000, UTC).strftime(", %H:%M") if has_time(ms) else ""
    return name + clock


def _row(ui: Ui, row: dict[str, Any]) -> None:
    phone, number, done = ui.phone, row["_id"], bool(row["completed"])
    facts = [_when(phone, row["dueDate"])] if row["dueDate"] else []
    if done:
        facts.append(f"completed {datetime.fromtimestamp(row['completed'] / 1000, UTC).strftime('%a, %b %-d, %H:%M')}")
    if len(lists(phone)) > 1 and ui.data["filter"] not in lists(phone):
        facts.append(list_of(phone, number))
    notes = (row["notes"] or "").replace("\t", " ")
    high = line_height(46) * len(wrapped(row["title"], 46, ui.right - ui.left - 150 - MARGIN - 48)) + 80
    height = high + (56 if notes else 0) + (56 if facts else 0)
    box = (ui.left, ui.top, ui.right, ui.top + height)
    view = View("LinearLayout", box, on_tap=lambda: phone.go("edit", id=number), resource=ui.id("rowBody"))
    view.on_hold = lambda: (ui.state.update(held=number), ui.overlay("held"))
    stripe = (ui.left, ui.top + 10, ui.left + 14, box[3] - 10)
    view.children.append(View("View", stripe, description=_level(row), fill=COLORS[row["importance"]]))
    mark = View("CheckBox", (ui.left + 30, ui.top + 15, ui.left + 140, ui.top + 125), checked=done)
    mark.description, mark.on_tap = f"Complete {row['title']}", lambda: _tick(ui, row)
    mark.resource = ui.id("completeBox")
    view.children.append(mark)
    overdue = row["dueDate"] and not done and day_of(row["dueDate"]) < phone.now.date()
    x, y, end = ui.left + 150, ui.top, ui.right - MARGIN
    color = GREY if done else (32, 33, 36)
    view.children.append(View("TextView", (x, y, end, y + high), row["title"], size=46, color=color, wrap=True))
    y += high - 20
    for text, color in ((notes, GREY), (", ".join(facts), _RED if overdue else ui.app.tint)):
        if text:
            view.children.append(line((x, y, end, y + 56), text, 36, color))
            y += 56
    ui.add(view)
    ui.top += height
    ui.line()


def _tick(ui: Ui, row: dict[str, Any]) -> None:
    done = not row["completed"]
    complete(ui.phone, row["_id"], done)
    if done:
        ui.phone.toast("Task completed" if row["completed"] else "Rescheduled")


def _bottom(ui: Ui) -> None:
    """Draw the bar at the bottom and the button for a new task."""
    top, phone = ui.bottom - _BAR, ui.phone
    bar = View("FrameLayout", (ui.left, top, ui.right, ui.bottom), fill=SURFACE)
    entries: tuple[tuple[str, str, Do], ...] = (
        ("menu", "Menu", lambda: phone.go("menu")),
        ("search", "Search", lambda: phone.go("search")),
        ("sort", "Sort", lambda: ui.overlay("sort")),
        ("more", "More options", lambda: ui.overlay("menu")),
    )
    for place, (icon, name, tap) in enumerate(entries):
        x = ui.left + 20 + place * 150
        box = (x, top + 15, x + 140, top + 155)
        bar.children.append(View("ImageButton", box, description=name, icon=icon, color=GREY, on_tap=tap))
    box = (ui.right - 220, top - 80, ui.right - 60, top + 80)
    add = View("ImageButton", box, description="Create new task", icon="add", fill=ui.app.tint, color=(255, 255, 255))
    add.radius, add.resource, add.on_tap = 80, ui.id("fab"), lambda: phone.go("edit", id=0)
    ui.add(bar)
    ui.add(add)


def _dialogs(ui: Ui) -> None:
    data, overlay = ui.data, ui.state.get("overlay")
    if overlay == "sort":
        ui.choose("Sort by", SORTS, data["sort"], lambda name: data.update(sort=name))
    elif overlay == "menu":
        _options(ui)
    elif overlay == "clear":
        ui.confirm("Delete all completed tasks?", "Delete", lambda: _clear(ui))
    elif overlay == "delete list":
        ui.confirm(f"Delete {data['filter']} and its tasks?", "Delete", lambda: _delete_list(ui))
    elif overlay == "held":
        number = ui.state["held"]
        with ui.dialog("", ("Cancel", None), height=440), ui.scroll("held"):
            for text, tap in (
                ("Complete", lambda: complete(ui.phone, number)),
                ("Edit", lambda: ui.phone.go("edit", id=number)),
                ("Delete", lambda: delete_task(ui.phone, number)),
            ):
                ui.row(text, tap=lambda tap=tap: (ui.overlay(""), tap()))


def _options(ui: Ui) -> None:
    data = ui.data

    def turn(what: str) -> Do:
        return lambda: data.update({what: not data[what]})

    entries: list[tuple[str, Do]] = [
        ("Hide unstarted" if data["show_unstarted"] else "Show unstarted", turn("show_unstarted")),
        ("Hide completed" if data["show_completed"] else "Show completed", turn("show_completed")),
        ("Clear completed", lambda: ui.overlay("clear")),
    ]
    if data["filter"] in lists(ui.phone)[1:]:
        entries.append(("Delete list", lambda: ui.overlay("delete list")))
    ui.top = ui.bottom - _BAR - 130 * len(entries)
    ui.menu(entries)


def _clear(ui: Ui) -> None:
    for row in todo.tasks(ui.phone):
        if row["completed"]:
            delete_task(ui.phone, row["_id"])


def _delete_list(ui: Ui) -> None:
    delete_list(ui.phone, ui.data["filter"])
    ui.data["filter"] = MY_TASKS


# -- search, filters, lists -------------------------------------------------------------------------------


def _search(ui: Ui) -> None:
    head(ui, ("arrow", "Navigate up", ui.phone.close), "Search")
    words = search(ui, "search", "Search tasks").strip()
    with ui.scroll():
        rows = shown(ui.phone, words) if words else []
        for row in rows:
            _row(ui, row)
        if words and not rows:
            empty(ui, "No matching tasks", "search")


def _menu(ui: Ui) -> None:
    phone, data = ui.phone, ui.data
    ui.bar("Filters and lists")

    def choose(name: str) -> None:
        data["filter"] = name
        phone.close()

    with ui.scroll():
        for icon, name in (("tasks", MY_TASKS), ("calendar", TODAY), ("clock", RECENT)):
            ui.row(name, icon=icon, selected=data["filter"] == name, tap=lambda name=name: choose(name))
        ui.header("Local lists")
        for name in lists(phone):
            open_ones = [
                row for row in todo.tasks(phone) if not row["completed"] and list_of(phone, row["_id"]) == name
            ]
            ui.row(
                name, icon="menu", selected=data["filter"] == name, tap=lambda name=name: choose(name),
                trailing=str(len(open_ones) or ""),
            )  # fmt: skip
        ui.row("Create new list", icon="add", tap=lambda: phone.swap("list"))


def _list(ui: Ui) -> None:
    def save() -> None:
        name = ui.typed("name").strip()
        if not name:
            ui.phone.toast("Enter a name")
        elif name in (*lists(ui.phone), MY_TASKS, TODAY, RECENT):
            ui.phone.toast("This name is taken")
        else:
            add_list(ui.phone, name)
            ui.data["filter"] = name
            ui.phone.close()

    head(ui, ("close", "Discard", ui.phone.close), "Create new list", save=("Save", save))
    ui.field("name", "Display name", enter=save)
