"""Parts of the media player's pages: rows of files, choosing several, and the sheets on files and playlists."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from functools import partial

from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.apps import vlc_data as data
from backtrail.envs.androidworld.phone.apps import vlc_player as player
from backtrail.envs.androidworld.phone.apps.drawer import hide_keyboard
from backtrail.envs.androidworld.phone.draw import line_height, wrapped
from backtrail.envs.androidworld.phone.page import GREY, WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = [
    "actions",
    "choosing_bar",
    "chosen",
    "confirm_delete",
    "count_words",
    "media_row",
    "media_rows",
    "more_button",
    "nothing",
    "playlist_row",
    "sheets",
    "start_adding",
]

_ROW = 190
_DARK = (60, 64, 67)

Entry = tuple[str, str, Callable[[], object]]
"""Icon, text, and what it does."""


def count_words(paths: Sequence[str]) -> str:
    """Return how many files there are, in words."""
    return "1 track" if len(paths) == 1 else f"{len(paths)} tracks"


def nothing(ui: Ui, text: str, more: str = "") -> None:
    """Say that there is nothing to list."""
    ui.gap(500)
    ui.text(text, 50, GREY, "center")
    if more:
        ui.text(more, 40, GREY, "center")


# -- files ------------------------------------------------------------------------------------------------


def media_rows(ui: Ui, paths: Sequence[str], *, place: bool = False) -> None:
    """Draw films and sounds: a tap plays one, a long press begins to choose several.

    Args:
        ui: The page.
        paths: The files.
        place: Whether to say in which folder each is.
    """
    picked = chosen(ui)
    for path in paths:
        length = data.seconds(ui.phone, path)
        folder = posixpath.basename(posixpath.dirname(path)) if place else ""
        words = " · ".join(each for each in (data.clock(length) if length else "", folder) if each)

        def choose(path: str = path) -> None:
            kept = picked or []
            after = [each for each in kept if each != path] if path in kept else [*kept, path]
            ui.state.update(chosen=after, overlay="choosing")

        tap = partial(player.play, ui.phone, [path]) if picked is None else choose
        row = media_row(ui, path, words, tap, choose, picked is not None and path in picked)
        if picked is None:
            more_button(ui, row, data.name(path), partial(ui.state.update, overlay="file", file=path))
        else:
            _, top, right, bottom = row.bounds
            box = (right - 130, top + 40, right - 20, bottom - 40)
            row.children.append(View("CheckBox", box, checked=path in picked, on_tap=choose))


def media_row(
    ui: Ui, path: str, words: str, tap: Callable[[], object], hold: Callable[[], object], selected: bool = False
) -> View:
    """Draw a film or sound with words below its name; returns the row, which has room for something at its end."""
    left, top, right = ui.left, ui.top, ui.right
    row = View(
        "LinearLayout", (left, top, right, top + _ROW), on_tap=tap, on_hold=hold, selected=selected,
        fill=(255, 236, 214) if selected else None, resource=ui.id("media_item"),
    )  # fmt: skip
    ui.add(row)
    ui.top += _ROW
    film = storage.kind(ui.phone, path) == "Video"
    title, x, end = data.name(path), left + 300, right - 140
    size = next((size for size in (42, 36) if len(wrapped(title, size, end - x)) <= 2), 30)
    high = len(wrapped(title, size, end - x)) > 1
    begin = top + (8 if high else 34)
    middle = begin + line_height(size) * (2 if high else 1) + 4
    row.children = [
        View("ImageView", (left + 30, top + 20, left + 280, top + _ROW - 20), icon="play" if film else "volume", size=60,
             fill=_DARK if film else ui.app.tint, color=WHITE, radius=16, resource=ui.id("ml_item_thumbnail")),
        View("TextView", (x, begin, end, middle), title, size=size, wrap=True,
             resource=ui.id("ml_item_title")),
        View("TextView", (x, middle, end, middle + 60), words, size=34, color=GREY, resource=ui.id("ml_item_time")),
    ]  # fmt: skip
    return row


def more_button(ui: Ui, row: View, title: str, tap: Callable[[], object]) -> None:
    """Draw the three dots at the end of a row."""
    _, top, right, bottom = row.bounds
    row.children.append(
        View(
            "ImageButton", (right - 130, top + 30, right - 10, bottom - 30), icon="more", color=GREY, on_tap=tap,
            description=f"More actions for {title}", resource=ui.id("item_more"),
        )
    )  # fmt: skip


def chosen(ui: Ui) -> list[str] | None:
    """Return the files that are chosen; None if the page is not for choosing now."""
    return ui.state.get("chosen", []) if ui.state.get("overlay") == "choosing" else None


def choosing_bar(ui: Ui, picked: list[str]) -> None:
    """Draw the bar for the files that are chosen, in the order in which they were."""
    title = "1 selected" if len(picked) == 1 else f"{len(picked)} selected"

    def play() -> None:
        ui.overlay("")
        player.play(ui.phone, picked)

    ui.bar(
        title,
        ("play", "Play", play if picked else None),
        ("addlist", "Add to playlist", partial(start_adding, ui, picked) if picked else None),
        ("delete", "Delete", partial(ui.state.update, overlay="delete", picked=picked) if picked else None),
        ("close", "Cancel selection", partial(ui.overlay, "")),
        up=False,
    )


# -- sheets -----------------------------------------------------------------------------------------------


def actions(ui: Ui, title: str, *entries: Entry) -> None:
    """Draw a sheet of actions; the one that is chosen closes it first."""
    with ui.sheet(title, 144 * len(entries) + 20):
        for icon, text, tap in entries:
            ui.row(text, icon=icon, tap=ui.closing(tap))


def sheets(ui: Ui) -> None:
    """Draw the sheet or question on files or playlists that is open, if one is."""
    draw = {
        "file": _file,
        "add": _add,
        "delete": _delete,
        "playlist": _playlist,
        "rename": _rename,
        "delete playlist": _delete_playlist,
    }.get(ui.state.get("overlay", ""))
    if draw is not None:
        draw(ui)


def _file(ui: Ui) -> None:
    path = ui.state["file"]
    actions(
        ui,
        data.name(path),
        ("play", "Play", partial(player.play, ui.phone, [path])),
        ("addlist", "Add to playlist", partial(start_adding, ui, [path])),
        ("file", "Information", partial(ui.phone.go, "info", path=path)),
        ("delete", "Delete", partial(ui.state.update, overlay="delete", picked=[path])),
    )


def start_adding(ui: Ui, paths: Sequence[str]) -> None:
    """Ask for the playlist that files are to be put into."""
    ui.state.update(overlay="add", picked=list(paths))
    ui.fill("name", "")


def _add(ui: Ui) -> None:
    rows, picked = data.playlists(ui.phone), ui.state["picked"]

    def close() -> None:
        hide_keyboard(ui)
        ui.overlay("")

    def save() -> None:
        title = ui.typed("name").strip()
        if _refused(ui, title, 0):
            return
        close()
        data.add_playlist(ui.phone, title, picked)
        ui.phone.toast(f"{count_words(picked)} added to {title}")

    def add(number: int, title: str) -> None:
        close()
        count = data.add_to_playlist(ui.phone, number, picked)
        ui.phone.toast(f"{count_words(picked[:count])} added to {title}" if count else f"Already in {title}")

    with ui.sheet("Add to playlist", min(1300, 400 + 190 * len(rows))):
        ui.field("name", "New playlist", enter=save, resource="dialog_playlist_name")
        ui.buttons(("Cancel", close), ("Save", save))
        if rows:
            ui.line()
            ui.text("Or put into", 36, GREY)
        with ui.scroll("playlists"):
            for row in rows:
                number = row["id_playlist"]
                words = count_words(data.entries(ui.phone, number))
                ui.row(row["name"], words, icon="addlist", tap=partial(add, number, row["name"]))


def _refused(ui: Ui, title: str, own: int) -> bool:
    """Say what is wrong with the name of a playlist, if something is."""
    others = [row["name"].lower() for row in data.playlists(ui.phone) if row["id_playlist"] != own]
    if title and title.lower() not in others:
        return False
    ui.phone.toast("There is already such a playlist" if title else "Please enter a name")
    return True


def _delete(ui: Ui) -> None:
    paths = [path for path in ui.state["picked"] if ui.phone.files.exists(path)]
    what = f"the file “{data.name(paths[0])}”" if len(paths) == 1 else f"these {len(paths)} files"

    def delete() -> None:
        for path in paths:
            data.delete_file(ui.phone, path)
        ui.phone.toast("Deleted 1 file" if len(paths) == 1 else f"Deleted {len(paths)} files")

    ui.confirm(f"Delete {what} from this phone?", "Delete", delete)


# -- playlists --------------------------------------------------------------------------------------------


def playlist_row(ui: Ui, row: data.Row) -> None:
    """Draw a playlist in a list."""
    number, title = row["id_playlist"], row["name"]
    paths = data.entries(ui.phone, number)
    length = data.clock(sum(data.seconds(ui.phone, path) for path in paths))
    open_it, menu = (
        partial(ui.phone.go, "playlist", id=number),
        partial(ui.state.update, overlay="playlist", playlist=number),
    )
    view = ui.row(title, f"{count_words(paths)} · {length}", icon="addlist", tap=open_it, hold=menu)
    more_button(ui, view, title, menu)


def _playlist(ui: Ui) -> None:
    number = ui.state["playlist"]
    row, paths = data.playlist(ui.phone, number), data.entries(ui.phone, number)
    if row is None:
        return

    def rename() -> None:
        ui.overlay("rename")
        ui.fill("name", row["name"])
        ui.phone.focus("name")

    play: list[Entry] = [("play", "Play", partial(player.play, ui.phone, paths))] if paths else []
    actions(
        ui,
        row["name"],
        *play,
        ("edit", "Rename", rename),
        ("delete", "Delete", partial(ui.overlay, "delete playlist")),
    )


def _rename(ui: Ui) -> None:
    number = ui.state["playlist"]

    def save() -> None:
        title = ui.typed("name").strip()
        if _refused(ui, title, number):
            return ui.overlay("rename")
        hide_keyboard(ui)
        return data.rename_playlist(ui.phone, number, title)

    with ui.dialog("Rename playlist", ("Cancel", partial(hide_keyboard, ui)), ("OK", save), height=220):
        ui.field("name", "Name")


def _delete_playlist(ui: Ui) -> None:
    confirm_delete(ui, ui.state["playlist"], lambda: None)


def confirm_delete(ui: Ui, number: int, then: Callable[[], object]) -> None:
    """Draw the question whether to delete a playlist; ``then`` is done after it is deleted."""
    row = data.playlist(ui.phone, number)

    def delete() -> None:
        data.delete_playlist(ui.phone, number)
        then()

    if row is not None:
        ui.confirm(f"Delete the playlist “{row['name']}”? Its files stay.", "Delete", delete)
