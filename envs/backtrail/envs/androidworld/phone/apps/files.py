"""The file manager: the shared storage with its folders, and places such as images or recent files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import browse, storage
from backtrail.envs.androidworld.phone.apps.pictures import picture_view
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.page import GREY, WHITE
from backtrail.envs.androidworld.phone.views import HEIGHT, NAVIGATION, STATUS, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["OPENERS", "STORAGE", "Files", "set_up"]

STORAGE = "sdk_gphone_x86_64"
"""What the shared storage is called."""

OPENERS = {
    "Web page": ("chrome", "Chrome"),
    "Video": ("vlc", "VLC"),
    "Audio": ("vlc", "VLC"),
}
"""Apps that open a kind of file: key and label; their page "open" gets the argument ``path``."""

_RECENT = "Recent"
_KINDS = {"Images": "Image", "Videos": "Video", "Audio": "Audio", "Documents": "Text"}
_PLACES = ((_RECENT, "clock"), ("Images", "picture"), ("Videos", "play"), ("Audio", "volume"), ("Documents", "file"))


def set_up(phone: Phone) -> None:
    """Make the directories of the shared storage."""
    for name in storage.PLACES:
        phone.files.make(f"{SHARED}/{name}")


class Files(App):
    """Lists, opens, copies, moves, renames and deletes files."""

    key = "files"
    label = "Files"
    package = "com.google.android.documentsui"
    activity = "com.android.documentsui.files.FilesActivity"
    icon = "folder"
    tint = (26, 115, 232)

    def fresh(self) -> Data:
        """Return the order of the listings, and when files were written."""
        return {"sort": "Name", "modified": {}}

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        return "com.android.documentsui.picker.PickActivity" if page == "pick" else self.activity

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        if ui.page == "pick":
            browse.pick(ui, SHARED, STORAGE)
        elif ui.page in ("text", "picture", "info"):
            _viewer(ui)
        elif ui.page == "select":
            _select(ui)
        elif ui.page == "search":
            _search(ui)
        elif ui.args.get("path"):
            _folder(ui, ui.args["path"])
        else:
            _place(ui, ui.args.get("place", _RECENT))


# -- listings ---------------------------------------------------------------------------------------------


def _top(ui: Ui, title: str, path: str) -> None:
    """Draw the bar, with the button that opens the list of places at its left."""
    menu = [("Sort by…", lambda: ui.overlay("sort"))]
    if path:
        menu.insert(0, ("New folder", lambda: browse.ask_name(ui, "new")))
    if path and storage.listing(ui.phone, path):
        menu.append(("Select all", lambda: _select_all(ui, path)))
    box = (ui.left + 12, ui.top + 15, ui.left + 132, ui.top + 135)
    ui.left += 96
    ui.bar(
        title,
        ("search", "Search", lambda: ui.phone.go("search", path=path or SHARED)),
        up=False,
        menu=menu,
    )
    ui.left -= 96
    ui.add(View("ImageButton", box, description="Show roots", icon="menu", on_tap=lambda: ui.overlay("roots")))


def _place(ui: Ui, place: str) -> None:
    """Draw the newest files, or all of a kind."""
    phone = ui.phone
    _top(ui, place, "")
    paths = [path for path in phone.files.all() if path.startswith(f"{SHARED}/") and "/." not in path]
    if place == _RECENT:
        paths = sorted(paths, key=lambda path: -storage.modified(phone, path))[:30]
    else:
        wanted = (_KINDS[place], "PDF") if place == "Documents" else (_KINDS[place],)
        paths = [path for path in paths if storage.kind(phone, path) in wanted]
        paths = storage.in_order(phone, paths, ui.data["sort"])
    if not paths:
        browse.empty(ui, "No items")
    with ui.scroll():
        browse.rows(ui, paths, lambda path: _open(ui, path), lambda path: browse.begin(ui, path), places=True)
    _overlays(ui, "")


def _folder(ui: Ui, path: str) -> None:
    """Draw what is in a directory."""
    phone = ui.phone
    _top(ui, STORAGE if path == SHARED else posixpath.basename(path), path)
    _trail(ui, path)
    paths = storage.listing(phone, path, ui.data["sort"])
    if not paths:
        browse.empty(ui, "No items")
    with ui.scroll():
        browse.rows(ui, paths, lambda each: _open(ui, each), lambda each: browse.begin(ui, each))
    _overlays(ui, path)


def _trail(ui: Ui, path: str) -> None:
    """Draw the directories above the present one; a tap goes there."""
    names = [STORAGE, *[name for name in path.removeprefix(SHARED).split("/") if name]]
    ui.text("  >  ".join(names), 34, GREY, resource="breadcrumb")
    ui.line()


def _overlays(ui: Ui, path: str) -> None:
    overlay = ui.state.get("overlay", "")
    if overlay == "roots":
        _roots(ui)
    elif overlay == "sort":
        ui.choose("Sort by", storage.ORDERS, ui.data["sort"], lambda order: ui.data.update(sort=order))
    elif overlay == "new":
        browse.name_dialog(ui, "New folder", "OK", lambda name: _make(ui.phone, path, name))


def _roots(ui: Ui) -> None:
    """Draw the list of places at the left, above the page."""
    ui.add(View("FrameLayout", (0, STATUS, ui.right, HEIGHT - NAVIGATION), on_tap=lambda: ui.overlay(""), dim=True))
    ui.add(
        View(
            "FrameLayout",
            (0, STATUS, 820, HEIGHT - NAVIGATION),
            on_tap=lambda: None,
            fill=WHITE,
            resource=ui.id("roots"),
        )
    )
    ui.right, ui.top = 820, STATUS + 40
    ui.text("Files", 60)
    ui.line()
    here = ui.args.get("place", "") or ("" if ui.args.get("path") else _RECENT)
    for name, icon in _PLACES:
        ui.row(name, icon=icon, selected=name == here, tap=lambda name=name: _go(ui, place=name))
    downloads = f"{SHARED}/Download"
    ui.row(
        "Downloads", icon="down", selected=ui.args.get("path") == downloads, tap=lambda: _go(ui, path=downloads),
    )  # fmt: skip
    ui.line()
    ui.row(
        STORAGE, icon="app", selected=ui.args.get("path") == SHARED, tap=lambda: _go(ui, path=SHARED),
    )  # fmt: skip


def _go(ui: Ui, **where: str) -> None:
    """Show another place instead of all the pages of this app."""
    ui.overlay("")
    browse.leave(ui.phone, "main")
    ui.phone.hand_over("files", "main", **where)


def _open(ui: Ui, path: str) -> None:
    """Open a file or directory; a kind that another app opens is offered to that app."""
    phone, what = ui.phone, storage.kind(ui.phone, path)
    key, _ = OPENERS.get(what, ("", ""))
    if what == "Folder":
        phone.go("main", path=path)
    elif key in phone.apps:
        phone.go("info", path=path)
        phone.top["state"]["overlay"] = "open"
    else:
        phone.go({"Text": "text", "Web page": "text", "Image": "picture"}.get(what, "info"), path=path)


def _make(phone: Phone, folder: str, name: str) -> str:
    wrong = storage.wrong_name(phone, folder, name)
    if not wrong:
        storage.make(phone, posixpath.join(folder, name.strip()))
    return wrong


def _select_all(ui: Ui, path: str) -> None:
    ui.phone.go("select", path=path, chosen=storage.listing(ui.phone, path))


def _search(ui: Ui) -> None:
    ui.bar("Search")
    words = ui.field("query", "Search this phone", enter=lambda: browse.hide_keyboard(ui.phone))
    found = storage.search(ui.phone, ui.args["path"], words)
    if words and not found:
        browse.empty(ui, f"No matches for “{words}”")
    with ui.scroll():
        browse.rows(ui, found, lambda path: _open(ui, path), lambda path: browse.begin(ui, path), places=True)


# -- several files ----------------------------------------------------------------------------------------


def _select(ui: Ui) -> None:
    """Draw a directory with check boxes, and what can be done with the chosen files."""
    phone, path, chosen = ui.phone, ui.args["path"], browse.chosen(ui)
    entries: list[tuple[str, Callable[[], object]]] = [
        ("Copy to…", lambda: browse.start_picking(ui, chosen, SHARED, moving=False)),
        ("Move to…", lambda: browse.start_picking(ui, chosen, SHARED, moving=True)),
    ]
    if len(chosen) == 1:
        name = posixpath.basename(chosen[0])
        entries.append(("Rename", lambda: browse.ask_name(ui, "rename", name)))
        entries.append(("Get info", lambda: phone.go("info", path=chosen[0])))
    everything = storage.listing(phone, path, ui.data["sort"])
    entries.append(("Select all", lambda: ui.state.update(chosen=everything)))
    ui.bar(f"{len(chosen)} selected", ("delete", "Delete", lambda: ui.overlay("delete")), menu=entries)
    _trail(ui, path)
    with ui.scroll():
        browse.choices(ui, everything)
    if ui.state.get("overlay") == "delete":
        what = f"“{posixpath.basename(chosen[0])}”" if len(chosen) == 1 else f"{len(chosen)} items"
        ui.confirm(f"Delete {what}?", "OK", lambda: _delete(ui, chosen))
    elif ui.state.get("overlay") == "rename":
        browse.name_dialog(ui, "Rename", "OK", lambda name: _rename(ui, chosen[0], name))


def _delete(ui: Ui, paths: list[str]) -> None:
    for path in paths:
        storage.remove(ui.phone, path)
    ui.phone.close()
    ui.phone.toast("Deleted 1 item" if len(paths) == 1 else f"Deleted {len(paths)} items")


def _rename(ui: Ui, path: str, name: str) -> str:
    wrong = storage.rename(ui.phone, path, name)
    if not wrong:
        ui.phone.close()
    return wrong


# -- single files -----------------------------------------------------------------------------------------


def _viewer(ui: Ui) -> None:
    """Draw a file: its text, its picture, or what is known of it."""
    phone, path = ui.phone, ui.args["path"]
    ui.bar(
        posixpath.basename(path),
        *([("file", "Get info", lambda: phone.go("info", path=path))] if ui.page != "info" else []),
    )
    if ui.page == "picture":
        ui.add(picture_view(phone, path, (0, ui.top, ui.right, ui.bottom)))
        return
    with ui.scroll():
        if ui.page == "text":
            ui.text(phone.files.read(path) or "", 44, resource="content")
        else:
            browse.facts(ui, path)
    if ui.state.get("overlay") == "open":
        key, label = OPENERS[storage.kind(phone, path)]
        with ui.dialog(
            "Open with", ("Cancel", None), ("Just once", lambda: phone.hand_over(key, "open", path=path)), height=160
        ):
            ui.row(label, icon=phone.apps[key].icon, selected=True, tap=lambda: _hand_over(ui, key, path))  # fmt: skip


def _hand_over(ui: Ui, key: str, path: str) -> None:
    ui.overlay("")
    ui.phone.hand_over(key, "open", path=path)
