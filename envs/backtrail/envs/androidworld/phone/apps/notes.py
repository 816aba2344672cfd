"""Markor, a notebook: the notes are text files in folders of the shared storage."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import browse, editor, storage
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.page import GREY

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["NOTEBOOK", "Notes", "add_folder", "add_note", "note", "notes", "remove_note", "set_up"]

NOTEBOOK = f"{SHARED}/Documents/Markor"
"""Where the notes are."""

_TYPES = {"Markdown": ".md", "Plain text": ".txt", "Todo list": ".todo.txt", "CSV": ".csv"}


def set_up(phone: Phone) -> None:
    """Make the notebook."""
    phone.files.make(NOTEBOOK)


def add_note(phone: Phone, name: str, text: str = "", at: int | None = None) -> str:
    """Write a note and return its path.

    Args:
        phone: The phone.
        name: Name with its ending; it may have folders before it, as in "work/plan.md".
        text: What it says.
        at: When it was written, in seconds; None for now.
    """
    path = posixpath.join(NOTEBOOK, name)
    storage.write(phone, path, text, at)
    return path


def add_folder(phone: Phone, name: str) -> str:
    """Make a folder in the notebook and return its path."""
    path = posixpath.join(NOTEBOOK, name)
    storage.make(phone, path)
    return path


def note(phone: Phone, name: str) -> str | None:
    """Return what a note says; None if there is no such note."""
    return phone.files.read(posixpath.join(NOTEBOOK, name))


def notes(phone: Phone) -> list[str]:
    """Return the names of all notes, with the folders they are in, sorted."""
    return [path[len(NOTEBOOK) + 1 :] for path in phone.files.all() if path.startswith(f"{NOTEBOOK}/")]


def remove_note(phone: Phone, name: str) -> None:
    """Remove a note or folder."""
    storage.remove(phone, posixpath.join(NOTEBOOK, name))


class Notes(App):
    """Lists, edits, moves and deletes notes."""

    key = "notes"
    label = "Markor"
    package = "net.gsantner.markor"
    activity = "net.gsantner.markor.activity.MainActivity"
    icon = "note"
    tint = (198, 40, 40)

    def fresh(self) -> Data:
        """Return the order of the notes."""
        return {"sort": "Name"}

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        return "net.gsantner.markor.activity.DocumentActivity" if page == "edit" else self.activity

    def tick(self, phone: Phone) -> None:
        """Keep what has been typed into the note that is open."""
        if phone.top["app"] == self.key and phone.top["page"] == "edit":
            editor.keep(phone)

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        if ui.page == "edit":
            editor.draw_editor(ui)
        elif ui.page == "pick":
            browse.pick(ui, NOTEBOOK, "Markor")
        elif ui.page == "select":
            _select(ui)
        elif ui.page == "search":
            _search(ui)
        elif ui.page == "info":
            ui.bar("Info")
            with ui.scroll():
                browse.facts(ui, ui.args["path"])
        else:
            _list(ui, ui.args.get("path", NOTEBOOK))


def _list(ui: Ui, path: str) -> None:
    """Draw the notes of a folder."""
    phone, top = ui.phone, path == NOTEBOOK
    ui.bar(
        "Markor" if top else posixpath.basename(path),
        ("search", "Search", lambda: phone.go("search", path=path)),
        ("sort", "Sort by", lambda: ui.overlay("sort")),
        up=not top,
        menu=[
            ("New file or folder", lambda: _ask_new(ui)),
            ("Sort by", lambda: ui.overlay("sort")),
            ("Select all", lambda: _select_all(ui, path)),
            ("Info", lambda: phone.go("info", path=path)),
        ],
    )
    ui.text(path, 32, GREY, resource="path")
    paths = storage.listing(phone, path, ui.data["sort"])
    if not paths:
        browse.empty(ui, "This folder is empty")
    with ui.scroll():
        browse.rows(ui, paths, lambda each: _open(phone, each), lambda each: browse.begin(ui, each))
        ui.gap(200)
    ui.floating("add", "Create a new file or folder", lambda: _ask_new(ui), "fab_add_new_item")
    if ui.state.get("overlay") == "sort":
        ui.choose("Sort by", storage.ORDERS, ui.data["sort"], lambda order: ui.data.update(sort=order))
    elif ui.state.get("overlay") == "new":
        _new(ui, path)


def _open(phone: Phone, path: str) -> None:
    if phone.files.is_directory(path):
        phone.go("main", path=path)
    elif storage.kind(phone, path) in ("Text", "Web page", "File"):
        phone.go("edit", path=path)
    else:
        phone.go("info", path=path)


def _select_all(ui: Ui, path: str) -> None:
    paths = storage.listing(ui.phone, path)
    if paths:
        ui.phone.go("select", path=path, chosen=paths)


def _search(ui: Ui) -> None:
    """Draw the notes that have what was typed in their name or text."""
    ui.bar("Search")
    words = ui.field("query", "Search in names and contents", enter=lambda: browse.hide_keyboard(ui.phone))
    found = storage.search(ui.phone, ui.args["path"], words, inside=True)
    if words and not found:
        browse.empty(ui, "Nothing found")
    with ui.scroll():
        browse.rows(ui, found, lambda path: _open(ui.phone, path), lambda path: browse.begin(ui, path), places=True)


# -- new --------------------------------------------------------------------------------------------------


def _ask_new(ui: Ui) -> None:
    browse.ask_name(ui, "new")
    ui.fill("ending", ".md")


def _new(ui: Ui, folder: str) -> None:
    """Draw the dialog in which a note or folder gets its name."""
    cancel = ("Cancel", lambda: browse.hide_keyboard(ui.phone))
    create = ("OK", lambda: _create(ui, folder))
    with ui.dialog("New file", ("Folder", lambda: _create(ui, folder, True)), cancel, create, height=820):
        with ui.columns(3, 1) as following:
            ui.field("name", "Name", resource="new_file_dialog__name")
            following()
            ending = ui.field("ending", "Ending", resource="new_file_dialog__ext")
        ui.text("Type", 36, GREY)
        with ui.scroll("types"):
            for name, usual in _TYPES.items():
                ui.row(name, trailing=usual, radio=ending == usual, tap=lambda usual=usual: ui.fill("ending", usual))


def _create(ui: Ui, folder: str, directory: bool = False) -> None:
    """Make a note, and open it, or a folder; without a usable name the dialog stays."""
    name, ending = ui.typed("name").strip(), ui.typed("ending").strip()
    known = any(name.endswith(each) for each in _TYPES.values())
    if name and not directory and not known:
        name += ending if ending.startswith(".") or not ending else f".{ending}"
    wrong = storage.wrong_name(ui.phone, folder, name)
    if wrong:
        ui.phone.toast(wrong)
        ui.overlay("new")
        return
    browse.hide_keyboard(ui.phone)
    path = posixpath.join(folder, name)
    if directory:
        storage.make(ui.phone, path)
    else:
        storage.write(ui.phone, path, "")
        ui.phone.go("edit", path=path)


# -- several notes ----------------------------------------------------------------------------------------


def _select(ui: Ui) -> None:
    """Draw a folder with check boxes, and what can be done with the chosen notes."""
    phone, path, chosen = ui.phone, ui.args["path"], browse.chosen(ui)
    everything = storage.listing(phone, path, ui.data["sort"])
    one = len(chosen) == 1
    name = posixpath.basename(chosen[0]) if chosen else ""
    entries = [
        ("Move", lambda: browse.start_picking(ui, chosen, NOTEBOOK, moving=True)),
        ("Copy", lambda: browse.start_picking(ui, chosen, NOTEBOOK, moving=False)),
        ("Share", lambda: ui.overlay("share")),
        ("Select all", lambda: ui.state.update(chosen=everything)),
    ]
    buttons = [("delete", "Delete", lambda: ui.overlay("delete"))]
    if one:
        buttons.insert(0, ("edit", "Rename", lambda: browse.ask_name(ui, "rename", name)))
        entries.append(("Info", lambda: phone.go("info", path=chosen[0])))
    ui.bar(f"{len(chosen)} selected", *buttons, menu=entries)
    ui.text(path, 32, GREY, resource="path")
    with ui.scroll():
        browse.choices(ui, everything)
    if ui.state.get("overlay") == "delete":
        with ui.dialog("Confirm delete", ("Cancel", None), ("OK", lambda: _delete(ui, chosen)), height=400):
            names = [posixpath.basename(each) for each in chosen[:6]]
            ui.text("\n".join([*names, *(["…"] if len(chosen) > 6 else [])]), resource="message")
    elif ui.state.get("overlay") == "share":
        editor.share_dialog(ui, "\n".join(phone.files.read(each) or "" for each in chosen))
    elif ui.state.get("overlay") == "rename":
        browse.name_dialog(ui, "Rename", "OK", lambda new: _rename(ui, chosen[0], new))


def _delete(ui: Ui, paths: list[str]) -> None:
    for path in paths:
        storage.remove(ui.phone, path)
    ui.phone.close()


def _rename(ui: Ui, path: str, name: str) -> str:
    wrong = storage.rename(ui.phone, path, name)
    if not wrong:
        ui.phone.close()
    return wrong
