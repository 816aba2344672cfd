"""Parts of pages that list files: rows, choosing several, asking for a name, picking a directory."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.page import GREY

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = [
    "ask_name",
    "begin",
    "choices",
    "chosen",
    "details",
    "empty",
    "facts",
    "hide_keyboard",
    "leave",
    "name_dialog",
    "pick",
    "rows",
    "size_words",
    "start_picking",
    "toggle",
]


def size_words(size: int) -> str:
    """Return a size in bytes as people read it."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.2f} kB" if size < 1_000_000 else f"{size / 1_000_000:.2f} MB"


def details(phone: Phone, path: str) -> str:
    """Return the second line of a row: date, size and kind."""
    if phone.files.is_directory(path):
        number = len(storage.listing(phone, path))
        return f"{storage.date(phone, path)} · {number} item{'' if number == 1 else 's'}"
    words = (storage.date(phone, path), size_words(storage.size(phone, path)), storage.kind(phone, path))
    return " · ".join(words)


def rows(
    ui: Ui,
    paths: Sequence[str],
    tap: Callable[[str], object],
    hold: Callable[[str], object] | None = None,
    marked: Sequence[str] | None = None,
    places: bool = False,
) -> None:
    """Draw a row for each file.

    Args:
        ui: The page.
        paths: The files and directories.
        tap: What a tap on one does.
        hold: What a long press on one does.
        marked: Those with a mark in their check box; None for no check boxes.
        places: Whether the rows say in which directory each is.
    """
    for path in paths:
        below = storage.short(posixpath.dirname(path)) if places else details(ui.phone, path)
        ui.row(
            posixpath.basename(path),
            below,
            icon=storage.icon(ui.phone, path),
            tap=lambda path=path: tap(path),
            hold=None if hold is None else lambda path=path: hold(path),
            check=None if marked is None else path in marked,
            selected=marked is not None and path in marked,
            resource="item_root",
        )


def empty(ui: Ui, words: str) -> None:
    """Draw what a list without entries says."""
    ui.gap(500)
    ui.text(words, 46, GREY, align="center", resource="empty")


def facts(ui: Ui, path: str) -> None:
    """Draw what is known of a file: name, kind, size, date, place."""
    when = ui.phone.now.fromtimestamp(storage.modified(ui.phone, path), ui.phone.now.tzinfo)
    entries = [
        ("Name", posixpath.basename(path)),
        ("Type", storage.kind(ui.phone, path)),
        ("Size", size_words(storage.size(ui.phone, path))),
        ("Modified", when.strftime("%F %H:%M")),
        ("Path", posixpath.dirname(path)),
    ]  # fmt: skip
    for name, value in entries:
        ui.text(name, 34, GREY)
        ui.text(value, 42)


# -- choosing several -------------------------------------------------------------------------------------


def begin(ui: Ui, path: str) -> None:
    """Open the page on which several files are chosen, with one of them chosen; the list stays where it is."""
    scroll = dict(ui.state.get("scroll", {}))
    ui.phone.go("select", path=posixpath.dirname(path), chosen=[path])
    ui.phone.top["state"]["scroll"] = scroll


def chosen(ui: Ui) -> list[str]:
    """Return the paths that are chosen on this page."""
    return ui.state.get("chosen", ui.args["chosen"])


def choices(ui: Ui, paths: Sequence[str]) -> None:
    """Draw a row with a check box for each file."""

    def flip(path: str) -> None:
        toggle(ui, path)

    rows(ui, paths, flip, flip, chosen(ui))


def toggle(ui: Ui, path: str) -> None:
    """Choose a file or no longer; without any, the page closes."""
    now = [each for each in chosen(ui) if each != path]
    if path not in chosen(ui):
        now.append(path)
    ui.state["chosen"] = now
    if not now:
        ui.phone.close()


def leave(phone: Phone, *pages: str) -> None:
    """Close the pages on top that have one of these names, as long as they are of one app."""
    app = phone.top["app"]
    while phone.top["app"] == app and phone.top["page"] in pages:
        phone.close()


# -- names ------------------------------------------------------------------------------------------------


def hide_keyboard(phone: Phone) -> None:
    """Take the cursor away, when a dialog with a field closes."""
    phone.state.update(focus="", keyboard=False)


def ask_name(ui: Ui, overlay: str, name: str = "") -> None:
    """Open a dialog that `name_dialog` draws, with a name to begin with."""
    ui.fill("name", name)
    ui.overlay(overlay)
    ui.phone.focus("name")


def name_dialog(ui: Ui, title: str, yes: str, done: Callable[[str], str], hint: str = "Name") -> None:
    """Draw a dialog that asks for a name; ``done`` gets it and returns what is wrong with it, "" if nothing."""
    overlay = ui.state["overlay"]

    def accept() -> None:
        ui.overlay("")
        wrong = done(ui.typed("name"))
        if wrong:
            ui.phone.toast(wrong)
            ui.overlay(overlay)
        else:
            hide_keyboard(ui.phone)

    with ui.dialog(title, ("Cancel", lambda: hide_keyboard(ui.phone)), (yes, accept), height=150):
        ui.field("name", hint, enter=accept)


# -- picking a directory ----------------------------------------------------------------------------------


def start_picking(ui: Ui, paths: Sequence[str], path: str, moving: bool) -> None:
    """Open the page on which a directory is picked for what is copied or moved; ``path``: where it begins."""
    ui.phone.go("pick", what=list(paths), path=path, moving=moving)


def pick(ui: Ui, root: str, root_name: str) -> None:
    """Draw the page on which a directory is picked, below ``root``."""
    phone, folder, moving = ui.phone, ui.args["path"], ui.args["moving"]
    verb = "Move" if moving else "Copy"
    ui.bar(
        root_name if folder == root else posixpath.basename(folder),
        ("add", "New folder", lambda: ask_name(ui, "new")),
    )
    trail = [root_name, *folder.removeprefix(root).strip("/").split("/")] if folder != root else [root_name]
    ui.text(f"{verb} to:  {' > '.join(trail)}", 36, GREY)
    ui.line()
    with ui.scroll(keep=170):
        for path in storage.listing(phone, folder):
            inside = phone.files.is_directory(path) and path not in ui.args["what"]
            ui.row(
                posixpath.basename(path),
                icon=storage.icon(phone, path),
                enabled=inside,
                tap=lambda path=path: phone.go("pick", what=ui.args["what"], path=path, moving=moving),
            )  # fmt: skip
    ui.line()
    ui.buttons(("Cancel", lambda: leave(phone, "pick")), (f"{verb} here", lambda: _put(ui, folder)))
    if ui.state.get("overlay") == "new":
        name_dialog(ui, "New folder", "OK", lambda name: _make(ui, folder, name))


def _make(ui: Ui, folder: str, name: str) -> str:
    wrong = storage.wrong_name(ui.phone, folder, name)
    if not wrong:
        path = posixpath.join(folder, name.strip())
        storage.make(ui.phone, path)
        ui.phone.go("pick", what=ui.args["what"], path=path, moving=ui.args["moving"])
    return wrong


def _put(ui: Ui, folder: str) -> None:
    """Copy or move what was chosen, and go back to where it was chosen."""
    phone, paths, moving = ui.phone, ui.args["what"], ui.args["moving"]
    if any(folder == path or folder.startswith(f"{path}/") for path in paths):
        phone.toast("A folder cannot go into itself")
        return
    if moving and all(posixpath.dirname(path) == folder for path in paths):
        phone.toast("Already in this folder")
        return
    for path in paths:
        (storage.move if moving else storage.copy)(phone, path, folder)
    leave(phone, "pick", "select")
    if moving:
        leave(phone, "view", "edit")
    words = "1 item" if len(paths) == 1 else f"{len(paths)} items"
    phone.toast(f"{'Moved' if moving else 'Copied'} {words} to {posixpath.basename(folder)}")
