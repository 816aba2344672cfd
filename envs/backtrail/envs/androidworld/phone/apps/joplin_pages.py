"""Pages of Joplin for one note or notebook: reading, writing, what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.apps import joplin_data as data
from backtrail.envs.androidworld.phone.apps.joplin_parts import choose_folder, draw_body, head, name_of, tick_line
from backtrail.envs.androidworld.phone.draw import line_height, wrapped
from backtrail.envs.androidworld.phone.page import GREY, MARGIN
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["PAGES", "keep"]

_BIG = 60


# -- reading ----------------------------------------------------------------------------------------------


def _note(ui: Ui) -> None:
    phone, number = ui.phone, ui.args["id"]
    row = data.note(phone, number)
    back = ("arrow", "Back", phone.close)
    if row is None:
        head(ui, back, "Note")
        ui.text("This note is no longer there.", color=GREY)
        return
    gone = row in data.thrown_away(phone)
    home = data.folder(phone, row["parent_id"])
    name = "Trash" if gone else home["title"] if home else "Notebook"
    head(ui, back, name, menu=_menu(ui, row, gone), pick=None if gone else partial(ui.overlay, "move"))

    def tick(place: int) -> None:
        data.change_note(phone, number, body=tick_line(row["body"], place))

    with ui.scroll():
        ui.gap(20)
        _title(ui, row, gone)
        ui.gap(10)
        draw_body(ui, row["body"], None if gone else tick)
        ui.gap(240)
    if not gone:
        ui.floating("edit", "Edit", partial(phone.go, "edit", id=number, parent=row["parent_id"], todo=False))
    if ui.state.get("overlay") == "move":
        choose_folder(
            ui, "Move to notebook", row["parent_id"], lambda to: data.change_note(phone, number, parent_id=to)
        )
    elif ui.state.get("overlay") == "delete":

        def delete() -> None:
            data.purge(phone, [number])
            phone.close()

        ui.confirm(f"Delete “{name_of(row)}” for good? It cannot be brought back.", "Delete", delete)


def _menu(ui: Ui, row: data.Row, gone: bool) -> list[tuple[str, Callable[[], object]]]:
    phone, number = ui.phone, row["id"]

    def leave(what: Callable[[Phone, str], None], said: str) -> None:
        what(phone, number)
        phone.toast(said)
        phone.close()

    if gone:
        restore = partial(leave, data.restore, "The note was restored")
        return [("Restore note", restore), ("Permanently delete note", partial(ui.overlay, "delete"))]
    convert = partial(data.change_note, phone, number, is_todo=1 - row["is_todo"], todo_completed=0)
    return [
        ("Convert to note" if row["is_todo"] else "Convert to todo", convert),
        ("Properties", partial(phone.go, "properties", id=number)),
        ("Delete", partial(leave, data.delete_note, "The note was moved to the trash")),
    ]


def _title(ui: Ui, row: data.Row, gone: bool) -> None:
    """Draw the title, with a box before it if the note is a to-do."""
    x, done = ui.left + 24, bool(row["todo_completed"])
    if row["is_todo"]:
        x += 100
    high = line_height(_BIG) * len(wrapped(name_of(row), _BIG, ui.right - x - MARGIN - 24)) + 30
    if row["is_todo"]:
        mark = View(
            "CheckBox", (ui.left + 24, ui.top, x, ui.top + line_height(_BIG) + 30), checked=done, enabled=not gone
        )
        mark.description = f"to-do: {name_of(row)}"
        mark.on_tap = None if gone else partial(data.complete, ui.phone, row["id"])
        ui.add(mark)
    box = (x, ui.top, ui.right - 24, ui.top + high)
    color = (160, 164, 170) if row["is_todo"] and done else (32, 33, 36)
    ui.add(View("TextView", box, name_of(row), size=_BIG, wrap=True, color=color, resource=ui.id("note_title")))
    ui.top += high
    ui.line()


def _properties(ui: Ui) -> None:
    phone = ui.phone
    row = data.note(phone, ui.args["id"])
    head(ui, ("arrow", "Back", phone.close), "Note properties")
    if row is None:
        ui.text("This note is no longer there.", color=GREY)
        return
    home = data.folder(phone, row["parent_id"])
    facts = {
        "Title": name_of(row),
        "Notebook": home["title"] if home else "None",
        "Type": "To-do" if row["is_todo"] else "Note",
        "Created": _clock(row["user_created_time"]),
        "Updated": _clock(row["user_updated_time"]),
        "Words": str(len(row["body"].split())),
        "Note ID": row["id"],
    }
    if row["is_todo"] and row["todo_completed"]:
        facts["Completed"] = _clock(row["todo_completed"])
    with ui.scroll():
        for label, value in facts.items():
            ui.row(value, label)


def _clock(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%d/%m/%Y %H:%M}"


# -- writing ----------------------------------------------------------------------------------------------


def keep(phone: Phone) -> None:
    """Save what is typed on the page of a note; a new note comes about with its first letter."""
    page = phone.top
    args, fields = page["args"], page["state"].get("fields", {})
    if args["id"]:
        rows = [row for row in phone.data(data.KEY)["notes"] if row["id"] == args["id"]]  # the trash is left alone
        changed = {key: text for row in rows for key, text in fields.items() if text != row[key]}
        if changed:
            data.change_note(phone, args["id"], **changed)
    elif any(text.strip() for text in fields.values()) and data.folder(phone, args["parent"]):
        title, body = (fields.get(key, "") for key in ("title", "body"))
        args["id"] = data.add_note(phone, args["parent"], title, body, is_todo=args["todo"])


def _edit(ui: Ui) -> None:
    phone, number = ui.phone, ui.args["id"]
    row = data.note(phone, number)
    home = data.folder(phone, row["parent_id"] if row else ui.args["parent"])

    def save() -> None:
        phone.close()
        if number and (phone.top["page"], phone.top["args"].get("id")) != ("note", number):
            phone.go("note", id=number)

    head(ui, ("arrow", "Back", phone.close), home["title"] if home else "Note", ("check", "Save", save))
    todo = row["is_todo"] if row else ui.args["todo"]
    with ui.scroll("form"):
        ui.field("title", "Add to-do title" if todo else "Add title", row["title"] if row else "", lines=1)
        ui.field("body", "Add body", row["body"] if row else "", lines=2)
        below = (ui.left, ui.top, ui.right, max(ui.bottom, ui.top + 300))
        ui.add(View("View", below, on_tap=partial(phone.focus, "body")))
        ui.gap(300)


def _folder(ui: Ui) -> None:
    """Draw the form of a notebook; the id "" is a new one."""
    phone, number = ui.phone, ui.args["id"]
    row = data.folder(phone, number)
    parent: str = ui.state.get("parent", row["parent_id"] if row else "")
    above = data.folder(phone, parent)

    def save() -> None:
        title = ui.typed("title", row["title"] if row else "").strip()
        if not title:
            return phone.toast("Please enter a title")
        if row is None:
            new = data.add_folder(phone, title, parent)
            phone.close()
            return phone.top["state"].update(folder=new, scroll={})
        data.change_folder(phone, number, title, parent)
        return phone.close()

    def choose(to: str) -> None:
        if row and to in data.within(phone, number):
            return phone.toast("A notebook cannot be put into itself")
        return ui.state.update(parent=to)

    head(ui, ("arrow", "Back", phone.close), "Edit notebook" if row else "New notebook", ("check", "Save", save))
    ui.gap(20)
    ui.field("title", "Enter notebook title", row["title"] if row else "", enter=save)
    ui.row(above["title"] if above else "None", "Parent notebook", icon="folder", tap=partial(ui.overlay, "parent"))
    if ui.state.get("overlay") == "parent":
        choose_folder(ui, "Parent notebook", parent, choose, top=True)


PAGES: dict[str, Callable[[Ui], None]] = {"note": _note, "edit": _edit, "folder": _folder, "properties": _properties}
"""How each page is drawn."""
