"""Simple Gallery: the pictures and videos of the shared storage, by folder."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import browse, storage
from backtrail.envs.androidworld.phone.apps.pictures import picture_view, words
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.page import GREY, WHITE
from backtrail.envs.androidworld.phone.views import Bounds, View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone
    from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["Gallery", "add_picture", "albums", "pictures"]

_BLACK = (0, 0, 0)


def add_picture(phone: Phone, path: str, text: str = "", at: int | None = None) -> str:
    """Write a picture, with a text that can be read in it, and return its path; ``at`` in seconds, None for now."""
    storage.write(phone, path, json.dumps({"type": "photo", "text": text} if text else {"type": "photo"}), at)
    return phone.files.full(path)


def pictures(phone: Phone, folder: str = "") -> list[str]:
    """Return the paths of all pictures and videos of the shared storage, newest first; of one folder only."""
    paths = [
        path
        for path in phone.files.all()
        if path.startswith(f"{SHARED}/") and "/." not in path and storage.kind(phone, path) in storage.MEDIA
    ]
    paths = [path for path in paths if not folder or posixpath.dirname(path) == phone.files.full(folder)]
    return sorted(paths, key=lambda path: -storage.modified(phone, path))


def albums(phone: Phone) -> dict[str, list[str]]:
    """Return the folders that have pictures or videos, each with these, sorted by name."""
    found: dict[str, list[str]] = {}
    for path in pictures(phone):
        found.setdefault(posixpath.dirname(path), []).append(path)
    return dict(sorted(found.items(), key=lambda each: posixpath.basename(each[0]).lower()))


class Gallery(App):
    """Shows, renames, copies, moves and deletes pictures."""

    key = "gallery"
    label = "Simple Gallery Pro"
    package = "com.simplemobiletools.gallery.pro"
    activity = "com.simplemobiletools.gallery.pro.activities.MainActivity"
    icon = "picture"
    tint = (239, 108, 0)

    def fresh(self) -> Data:
        """Return the order of the pictures in a folder."""
        return {"sort": "Date modified"}

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        names = {"folder": "MediaActivity", "select": "MediaActivity", "view": "ViewPagerActivity"}
        return f"{self.package}.activities.{names.get(page, 'MainActivity')}"

    def draw(self, ui: Ui) -> None:
        """Draw a page."""
        if ui.page == "pick":
            browse.pick(ui, SHARED, "Internal")
        elif ui.page == "view":
            _view(ui)
        elif ui.page == "info":
            _info(ui)
        elif ui.page == "search":
            _search(ui)
        elif ui.page in ("folder", "select"):
            _folder(ui, ui.args["path"], ui.page == "select")
        else:
            _albums(ui)


def _albums(ui: Ui) -> None:
    """Draw a tile for each folder."""
    phone, found = ui.phone, albums(ui.phone)
    ui.bar("Simple Gallery", ("search", "Search files", lambda: phone.go("search")), up=False)
    if not found:
        browse.empty(ui, "No media files have been found.")
    with ui.scroll():
        for place, (path, paths) in enumerate(found.items()):
            side = (ui.right - ui.left) // 2
            x, y = ui.left + place % 2 * side, ui.top
            box = (x + 10, y + 10, x + side - 10, y + side - 10)
            _tile(ui, paths[0], box, f"{posixpath.basename(path)} ({len(paths)})", posixpath.basename(path)).on_tap = (
                lambda path=path: phone.go("folder", path=path)
            )
            if place % 2 or place == len(found) - 1:
                ui.top += side


def _folder(ui: Ui, path: str, selecting: bool) -> None:
    """Draw a tile for each picture of a folder; ``selecting``: some are chosen."""
    phone = ui.phone
    paths = storage.in_order(phone, sorted(pictures(phone, path), key=str.lower), ui.data["sort"])
    if selecting:
        _chosen_bar(ui, browse.chosen(ui), paths)
    else:
        ui.bar(
            posixpath.basename(path) or "Internal",
            ("search", "Search files", lambda: phone.go("search")),
            menu=[("Sort by", lambda: ui.overlay("sort"))],
        )
    if not paths:
        browse.empty(ui, "No media files have been found.")
    _tiles(ui, paths, selecting)
    if ui.state.get("overlay") == "sort":
        ui.choose("Sort by", storage.ORDERS, ui.data["sort"], lambda order: ui.data.update(sort=order))


def _tiles(ui: Ui, paths: list[str], selecting: bool = False) -> None:
    side = (ui.right - ui.left) // 3
    chosen = browse.chosen(ui) if selecting else []
    with ui.scroll():
        for place, path in enumerate(paths):
            x, y = ui.left + place % 3 * side, ui.top
            box = (x + 6, y + 6, x + side - 6, y + side - 6)
            name = posixpath.basename(path)
            tile = _tile(ui, path, box, name, name)
            tap = (
                (lambda path=path: browse.toggle(ui, path))
                if selecting
                else (lambda path=path: ui.phone.go("view", path=path))
            )
            hold = tap if selecting else (lambda path=path: browse.begin(ui, path))
            tile.on_tap, tile.on_hold, tile.selected = tap, hold, path in chosen
            if path in chosen:
                mark = (box[2] - 90, box[1] + 10, box[2] - 10, box[1] + 90)
                tile.children.append(
                    View("ImageView", mark, icon="check", fill=ui.app.tint, color=WHITE, radius=40, size=50)
                )
            if place % 3 == 2 or place == len(paths) - 1:
                ui.top += side


def _tile(ui: Ui, path: str, box: Bounds, label: str, description: str) -> View:
    """Draw a small picture with a label at its lower edge."""
    tile = ui.add(View("FrameLayout", box, description=description, resource=ui.id("medium_thumbnail")))
    picture = picture_view(ui.phone, path, box, small=True)
    picture.description = ""  # the tile has it
    strip = (box[0], box[3] - 64, box[2], box[3])
    tile.children = [
        picture,
        View("TextView", strip, label, size=30, fill=(40, 40, 40), color=WHITE, resource=ui.id("medium_name")),
    ]
    return tile


def _search(ui: Ui) -> None:
    ui.bar("Search")
    wanted = ui.field("query", "Search files", enter=lambda: browse.hide_keyboard(ui.phone))
    found = [path for path in pictures(ui.phone) if wanted.strip().lower() in posixpath.basename(path).lower()]
    if not found:
        browse.empty(ui, "No media files have been found.")
    _tiles(ui, found)


# -- chosen pictures --------------------------------------------------------------------------------------


def _chosen_bar(ui: Ui, chosen: list[str], everything: list[str]) -> None:
    """Draw the bar above chosen pictures, and its dialogs."""
    entries = [
        ("Copy to", lambda: browse.start_picking(ui, chosen, SHARED, moving=False)),
        ("Move to", lambda: browse.start_picking(ui, chosen, SHARED, moving=True)),
        ("Select all", lambda: ui.state.update(chosen=everything)),
    ]
    if len(chosen) == 1:
        entries.insert(0, ("Rename", lambda: browse.ask_name(ui, "rename", posixpath.basename(chosen[0]))))
        entries.append(("Properties", lambda: ui.phone.go("info", path=chosen[0])))
    ui.bar(f"{len(chosen)} / {len(everything)}", ("delete", "Delete", lambda: ui.overlay("delete")), menu=entries)
    _dialogs(ui, chosen)


def _dialogs(ui: Ui, paths: list[str]) -> None:
    """Draw the dialogs that delete and rename."""
    if ui.state.get("overlay") == "delete":
        what = f"“{posixpath.basename(paths[0])}”" if len(paths) == 1 else f"{len(paths)} items"
        ui.confirm(f"Are you sure you want to delete {what}?", "Yes", lambda: _delete(ui, paths), no="No")
    elif ui.state.get("overlay") == "rename":
        browse.name_dialog(ui, "Rename", "OK", lambda name: _rename(ui, paths[0], name))


def _delete(ui: Ui, paths: list[str]) -> None:
    for path in paths:
        storage.remove(ui.phone, path)
    ui.phone.close()


def _rename(ui: Ui, path: str, name: str) -> str:
    """Rename a picture; its ending stays."""
    ending = posixpath.splitext(path)[1]
    name = name.strip() if not name.strip() or name.strip().endswith(ending) else name.strip() + ending
    wrong = storage.rename(ui.phone, path, name)
    if not wrong and ui.page == "view":
        ui.phone.swap("view", path=posixpath.join(posixpath.dirname(path), name))
    elif not wrong:
        ui.phone.close()
    return wrong


# -- one picture ------------------------------------------------------------------------------------------


def _view(ui: Ui) -> None:
    """Draw a picture as large as the screen; a swipe shows the one beside it."""
    phone, path = ui.phone, ui.args["path"]
    ui.background(_BLACK)
    ui.bar(
        posixpath.basename(path),
        ("note", "Properties", lambda: phone.go("info", path=path)),
        menu=[
            ("Rename", lambda: browse.ask_name(ui, "rename", posixpath.basename(path))),
            ("Copy to", lambda: browse.start_picking(ui, [path], SHARED, moving=False)),
            ("Move to", lambda: browse.start_picking(ui, [path], SHARED, moving=True)),
        ],
    )
    view = ui.add(picture_view(phone, path, (ui.left, ui.top + 60, ui.right, ui.bottom - 220)))
    view.resource = ui.id("photo_view")
    if storage.kind(phone, path) == "Video":
        view.on_tap = lambda: phone.toast("The video is playing")
    view.on_stroke = lambda start, end: _beside(ui, path, 1 if end[0] < start[0] else -1)
    ui.top = ui.bottom - 190
    ui.icons(
        ("share", "Share", lambda: phone.toast("No app can receive this picture")),
        ("edit", "Rename", lambda: browse.ask_name(ui, "rename", posixpath.basename(path))),
        ("copy", "Copy to", lambda: browse.start_picking(ui, [path], SHARED, moving=False)),
        ("delete", "Delete", lambda: ui.overlay("delete")),
    )
    _dialogs(ui, [path])


def _beside(ui: Ui, path: str, step: int) -> None:
    folder = posixpath.dirname(path)
    paths = storage.in_order(ui.phone, sorted(pictures(ui.phone, folder), key=str.lower), ui.data["sort"])
    place = paths.index(path) + step
    if 0 <= place < len(paths):
        ui.phone.swap("view", path=paths[place])


def _info(ui: Ui) -> None:
    ui.bar("Properties")
    path = ui.args["path"]
    with ui.scroll():
        browse.facts(ui, path)
        for name, value in storage.picture(ui.phone, path).items():
            if name != "text" and isinstance(value, str | int):
                ui.text(name.capitalize(), 34, GREY)
                ui.text(str(value))
        text = words(ui.phone, path)
        if text:
            ui.text("Text in the picture", 34, GREY)
            ui.text(text, 42, resource="text")
