"""Pages of the media player beside its main one: folders, search, a playlist, what is known of a file, the player."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import partial

from backtrail.envs.androidworld.phone.apps import browse, storage
from backtrail.envs.androidworld.phone.apps import vlc_data as data
from backtrail.envs.androidworld.phone.apps import vlc_parts as parts
from backtrail.envs.androidworld.phone.apps import vlc_player as player
from backtrail.envs.androidworld.phone.apps.drawer import hide_keyboard
from backtrail.envs.androidworld.phone.draw import text_width
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.page import GREY, WHITE, Do
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["MEMORY", "PAGES"]

MEMORY = "Internal memory"
"""What the shared storage is called."""

_KINDS = ("Video", "Audio")
_BLACK = (18, 18, 20)
_SURFACE = (38, 40, 44)
_FAINT = (154, 160, 166)


# -- lists ------------------------------------------------------------------------------------------------


def _folder(ui: Ui) -> None:
    path, picked = ui.args["path"], parts.chosen(ui)
    inside = storage.listing(ui.phone, path)
    folders = [each for each in inside if storage.kind(ui.phone, each) == "Folder"]
    files = [each for each in inside if storage.kind(ui.phone, each) in _KINDS]
    if picked is None:
        title = MEMORY if path == SHARED else posixpath.basename(path)
        ui.bar(title, ("search", "Search", partial(ui.phone.go, "search")))
        ui.text(" > ".join([MEMORY, *path.removeprefix(SHARED).split("/")[1:]]), 34, GREY, resource="breadcrumb")
        ui.line()
    else:
        parts.choosing_bar(ui, picked)
    with ui.scroll():
        if not folders and not files:
            parts.nothing(ui, "No media in this folder")
        for each in folders:
            ui.row(posixpath.basename(each), icon="folder", tap=partial(ui.phone.go, "folder", path=each))
        parts.media_rows(ui, files)
        ui.gap(40)
    parts.sheets(ui)


def _search(ui: Ui) -> None:
    picked = parts.chosen(ui)
    if picked is None:
        ui.bar("Search")
    else:
        parts.choosing_bar(ui, picked)
    words = ui.field("words", "Search media", enter=partial(hide_keyboard, ui)).lower().split()

    def fits(text: str) -> bool:
        return bool(words) and all(word in text.lower() for word in words)

    lists = [row for row in data.playlists(ui.phone) if fits(row["name"])]
    files = [path for kind in _KINDS for path in data.media(ui.phone, kind) if fits(data.name(path))]
    with ui.scroll():
        if words and not lists and not files:
            ui.gap(200)
            ui.text("Nothing found", 50, GREY, "center")
        for row in lists:
            parts.playlist_row(ui, row)
        parts.media_rows(ui, files, place=True)
    parts.sheets(ui)


def _history(ui: Ui) -> None:
    paths = [path for path in ui.data["history"] if ui.phone.files.exists(path)]
    picked = parts.chosen(ui)
    if picked is None:
        clear = partial(ui.data.update, history=[])
        ui.bar("History", *([("delete", "Clear history", clear)] if paths else []))
    else:
        parts.choosing_bar(ui, picked)
    with ui.scroll():
        if not paths:
            parts.nothing(ui, "Nothing was played yet")
        parts.media_rows(ui, paths, place=True)
    parts.sheets(ui)


def _info(ui: Ui) -> None:
    path = ui.args["path"]
    ui.bar(data.name(path))
    if not ui.phone.files.exists(path):
        ui.text("This file is no longer there.", color=GREY)
        return
    with ui.scroll():
        length = data.seconds(ui.phone, path)
        ui.text("Length", 34, GREY)
        ui.text(data.clock(length) if length else "Unknown", 42)
        browse.facts(ui, path)


# -- a playlist -------------------------------------------------------------------------------------------


def _playlist(ui: Ui) -> None:
    phone, number = ui.phone, ui.args["id"]
    row = data.playlist(phone, number)
    if row is None:
        ui.bar("Playlist")
        ui.text("This playlist is no longer there.", color=GREY)
        return
    paths = data.entries(phone, number)
    play: list[tuple[str, str, Do]] = [("play", "Play all", partial(player.play, phone, paths))] if paths else []
    more = partial(ui.state.update, overlay="playlist", playlist=number)
    ui.bar(row["name"], *play, ("more", "More options", more))
    length = data.clock(sum(data.seconds(phone, path) for path in paths))
    ui.text(f"{parts.count_words(paths)} · {length}", 40, GREY, resource="total_duration")
    ui.line()
    with ui.scroll():
        if not paths:
            parts.nothing(ui, "This playlist is empty")
        for place, path in enumerate(paths):
            there, length = phone.files.exists(path), data.seconds(phone, path)
            words = f"{place + 1} of {len(paths)} · {data.clock(length)}" if there else "No longer on this phone"
            menu = partial(ui.state.update, overlay="entry", place=place)
            row = parts.media_row(ui, path, words, partial(player.play, phone, paths, place), menu)
            parts.more_button(ui, row, data.name(path), menu)
        ui.gap(40)
    if ui.state.get("overlay") == "entry":
        _entry(ui, number, paths)
    elif ui.state.get("overlay") == "delete playlist":
        parts.confirm_delete(ui, number, phone.close)
    else:
        parts.sheets(ui)


def _entry(ui: Ui, number: int, paths: list[str]) -> None:
    place, phone = ui.state["place"], ui.phone
    if place >= len(paths):
        return
    moves = [("up", "Move up", -1)] * (place > 0) + [("down", "Move down", 1)] * (place + 1 < len(paths))
    parts.actions(
        ui,
        data.name(paths[place]),
        ("play", "Play", partial(player.play, phone, paths, place)),
        *((icon, text, partial(data.move_in_playlist, phone, number, place, by)) for icon, text, by in moves),
        ("addlist", "Add to playlist", partial(parts.start_adding, ui, [paths[place]])),
        ("file", "Information", partial(phone.go, "info", path=paths[place])),
        ("close", "Remove from playlist", partial(data.remove_from_playlist, phone, number, place)),
    )


# -- the player -------------------------------------------------------------------------------------------


def _player(ui: Ui) -> None:
    phone = ui.phone
    path = ui.args["path"] if ui.page == "open" else player.current(phone)
    ui.background(_BLACK)
    back = (12, ui.top + 15, 132, ui.top + 135)
    ui.add(View("ImageButton", back, description="Navigate up", icon="arrow", color=WHITE, on_tap=phone.close))
    title = (150, ui.top, ui.right - 30, ui.top + 150)
    ui.add(View("TextView", title, data.name(path), size=46, color=WHITE, resource=ui.id("player_overlay_title")))
    ui.gap(150)
    if not player.current(phone):
        ui.gap(500)
        ui.text("Nothing is played", 50, _FAINT, "center")
        return
    _stand_in(ui, path)
    _controls(ui)


def _stand_in(ui: Ui, path: str) -> None:
    """Draw what stands for the film: its name."""
    film = storage.kind(ui.phone, path) == "Video"
    box = (ui.left, ui.top + 330, ui.right, ui.top + 330 + 608)
    words = "This phone shows no moving pictures: the name stands for the film" if film else "Sound only"
    name, y = data.name(path), box[1] + 80
    texts = [(name, y + 250, 46 if text_width(name, 46) < 1000 else 34, WHITE), (words, y + 340, 32, _FAINT)]
    ui.add(
        View(
            "FrameLayout", box, fill=_SURFACE, resource=ui.id("player_surface"),
            children=[
                View("ImageView", (440, y, 640, y + 200), icon="cone" if film else "volume", size=180, color=ui.app.tint),
                *(View("TextView", (20, top, 1060, top + 70), text, size=size, color=color, align="center")
                  for text, top, size, color in texts),
            ],
        )
    )  # fmt: skip


def _controls(ui: Ui) -> None:
    phone, paths, place = ui.phone, ui.data["player"]["paths"], ui.data["player"]["place"]
    at, length, on = player.position(phone), player.length(phone), player.playing(phone)
    ui.top = ui.bottom - 560
    if len(paths) > 1:
        ui.text(f"{place + 1} of {len(paths)}", 38, _FAINT, "center", resource="player_queue")
    ui.top = ui.bottom - 470
    for x, text, name in ((60, data.clock(at), "time"), (ui.right - 260, data.clock(length), "length")):
        box = (x, ui.top, x + 200, ui.top + 70)
        ui.add(View("TextView", box, text, size=38, color=WHITE, align="left" if x == 60 else "center",
                    resource=ui.id(f"player_overlay_{name}")))  # fmt: skip
    ui.gap(70)
    bar = ui.slider("Position", at / max(1, length - 1), partial(player.seek, phone))
    bar.value, bar.resource = min(1.0, at / max(1, length - 1)), ui.id("player_overlay_seekbar")
    buttons = (
        ("previous", "Previous", partial(player.skip, phone, -1), place > 0, "playlist_previous"),
        ("pause" if on else "play", "Pause" if on else "Play", partial(player.toggle, phone), True, "player_overlay_play"),
        ("next", "Next", partial(player.skip, phone, 1), place + 1 < len(paths), "playlist_next"),
    )  # fmt: skip
    for number, (icon, description, tap, enabled, name) in enumerate(buttons):
        x, half = ui.right * (2 * number + 1) // 6, 85 if number == 1 else 65
        middle = ui.top + 110
        ui.add(
            View(
                "ImageButton", (x - half, middle - half, x + half, middle + half), icon=icon, description=description,
                on_tap=tap, enabled=enabled, color=WHITE if enabled else (90, 94, 98), fill=_SURFACE, radius=half,
                resource=ui.id(name),
            )
        )  # fmt: skip


PAGES: dict[str, Callable[[Ui], None]] = {
    "folder": _folder,
    "search": _search,
    "history": _history,
    "info": _info,
    "playlist": _playlist,
    "player": _player,
    "open": _player,
}
"""How each page is drawn."""
