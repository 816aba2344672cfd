"""Parts of the music app's pages: rows of songs, choosing several, the small player, and the dialogs on songs and playlists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from backtrail.envs.androidworld.phone.apps import music_data as data
from backtrail.envs.androidworld.phone.apps import music_player as player
from backtrail.envs.androidworld.phone.apps.drawer import hide_keyboard
from backtrail.envs.androidworld.phone.page import GREY, SURFACE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = [
    "ask_delete",
    "choosing_bar",
    "chosen",
    "dialogs",
    "mini_height",
    "mini_player",
    "more_button",
    "sheet",
    "song_rows",
    "start_playlist",
]

_MINI = 160

_DIRECTORIES = ("Download", "Music", "Documents")


# -- songs ------------------------------------------------------------------------------------------------


def song_rows(ui: Ui, rows: Sequence[data.Row]) -> None:
    """Draw songs: a tap plays them from there on, a long press begins to choose several."""
    picked = chosen(ui)
    heard = player.current(ui.phone)
    for place, row in enumerate(rows):
        number = row["id"]

        def choose(number: int = number) -> None:
            kept = picked or []
            after = [each for each in kept if each != number] if number in kept else [*kept, number]
            ui.state.update(chosen=after, overlay="choosing")

        view = ui.row(
            row["title"],
            f"{row['artist_name']} · {data.length([row])}",
            icon="volume" if heard and heard["_id"] == number else "play",
            tap=partial(player.play, ui.phone, rows, place) if picked is None else choose,
            hold=choose,
            check=None if picked is None else number in picked,
            selected=picked is not None and number in picked,
        )
        if picked is None:
            more_button(ui, view, partial(ui.state.update, overlay="song menu", song=number))


def more_button(ui: Ui, row: View, tap: Callable[[], object]) -> None:
    """Draw the three dots at the end of a row."""
    _, top, right, bottom = row.bounds
    title = row.children[-2].text
    row.children.append(
        View(
            "ImageButton", (right - 130, top + 20, right - 10, bottom - 20), icon="more", color=GREY, on_tap=tap,
            description=f"More options for {title}", resource=ui.id("menu"),
        )
    )  # fmt: skip


def chosen(ui: Ui) -> list[int] | None:
    """Return the ids of the songs that are chosen; None if the page is not for choosing now."""
    return ui.state.get("chosen", []) if ui.state.get("overlay") == "choosing" else None


def choosing_bar(ui: Ui, rows: Sequence[data.Row], picked: list[int]) -> None:
    """Draw the bar for the songs that are chosen, in the order in which they were."""
    by_id = {row["id"]: row for row in rows}
    songs = [by_id[number] for number in picked if number in by_id]

    def enqueue() -> None:
        ui.overlay("")
        _enqueue(ui, songs)

    ui.bar(
        f"{len(picked)} selected",
        ("tasks", "Add to playlist", partial(ui.state.update, overlay="add", picked=picked) if picked else None),
        ("add", "Add to playing queue", enqueue if picked else None),
        ("close", "Cancel selection", partial(ui.overlay, "")),
        up=False,
    )


def _enqueue(ui: Ui, rows: Sequence[data.Row]) -> None:
    player.enqueue(ui.phone, rows)
    ui.phone.toast(f"Added {'1 song' if len(rows) == 1 else f'{len(rows)} songs'} to the playing queue")


# -- the small player -------------------------------------------------------------------------------------


def mini_height(ui: Ui) -> int:
    """Return the height of the small player: 0 while the queue is empty."""
    return _MINI if player.queue(ui.phone) else 0


def mini_player(ui: Ui) -> None:
    """Draw the small player, if there is something to play."""
    row, phone = player.current(ui.phone), ui.phone
    if row is None:
        return
    left, top, right = ui.left, ui.top, ui.right
    on = player.playing(phone)
    box = (left, top, right, top + _MINI)
    bar = ui.add(
        View("FrameLayout", box, fill=SURFACE, on_tap=partial(phone.go, "player"), resource=ui.id("mini_player"))
    )
    bar.children = [
        View("ImageView", (left + 24, top + 20, left + 144, top + 140), icon="volume", fill=ui.app.tint, radius=20,
             color=(255, 255, 255)),
        View("TextView", (left + 150, top + 10, right - 270, top + 90), row["title"], size=44,
             resource=ui.id("mini_player_title")),
        View("TextView", (left + 150, top + 84, right - 270, top + 150), row["artist"], size=34, color=GREY),
        View("ImageButton", (right - 260, top + 20, right - 140, top + 140), icon="pause" if on else "play",
             description="Pause" if on else "Play", on_tap=partial(player.toggle, phone)),
        View("ImageButton", (right - 135, top + 20, right - 15, top + 140), icon="right", description="Next",
             on_tap=partial(player.skip, phone, 1)),
    ]  # fmt: skip
    ui.top += _MINI


# -- dialogs ----------------------------------------------------------------------------------------------


def sheet(ui: Ui, title: str, *entries: tuple[str, Callable[[], object]]) -> None:
    """Draw a dialog of actions; the one that is chosen closes it first."""
    with ui.dialog(title, ("Cancel", None), height=144 * len(entries) + 40):
        for text, tap in entries:
            ui.row(text, tap=ui.closing(tap))


def start_playlist(ui: Ui, picked: Sequence[int], name: str = "", rename: int = 0) -> None:
    """Ask for the name of a new playlist of songs, or of one that is to be renamed."""
    ui.state.update(overlay="name", picked=list(picked), rename=rename)
    ui.fill("name", name)
    ui.phone.focus("name")


def dialogs(ui: Ui) -> None:
    """Draw the dialog on songs or playlists that is open, if one is."""
    draw = {
        "song menu": _song_menu,
        "add": _add,
        "name": _name,
        "playlist menu": _playlist_menu,
        "export": _export,
        "delete": _delete,
    }.get(ui.state.get("overlay", ""))
    if draw is not None:
        draw(ui)


def _song_menu(ui: Ui) -> None:
    row = next((row for row in data.songs(ui.phone) if row["id"] == ui.state["song"]), None)
    if row is not None:
        sheet(
            ui,
            row["title"],
            ("Play next", partial(player.play_next, ui.phone, [row])),
            ("Add to playing queue", partial(_enqueue, ui, [row])),
            ("Add to playlist", partial(ui.state.update, overlay="add", picked=[row["id"]])),
        )


def _picked(ui: Ui) -> list[data.Row]:
    by_id = {row["id"]: row for row in data.songs(ui.phone)}
    return [by_id[number] for number in ui.state.get("picked", []) if number in by_id]


def _add(ui: Ui) -> None:
    rows = data.playlists(ui.phone)

    def add(number: int, name: str) -> None:
        ui.overlay("")
        count = data.add_to_playlist(ui.phone, number, _picked(ui))
        songs = "1 song" if count == 1 else f"{count} songs"
        ui.phone.toast(f"Added {songs} to {name}" if count else f"Already in {name}")

    height = min(1100, 150 * (len(rows) + 1) + 20)
    with ui.dialog("Add to playlist", ("Cancel", None), height=height), ui.scroll("playlists"):
        ui.row("New playlist", icon="add", tap=partial(start_playlist, ui, ui.state["picked"]))
        for row in rows:
            name = row["playlist_name"]
            ui.row(name, icon="tasks", tap=partial(add, row["playlist_id"], name))


def _name(ui: Ui) -> None:
    rename = ui.state.get("rename", 0)

    def save() -> None:
        name = ui.typed("name").strip()
        others = [row["playlist_name"] for row in data.playlists(ui.phone) if row["playlist_id"] != rename]
        if not name or name in others:
            ui.phone.toast("There is already such a playlist" if name else "Please enter a name")
            return ui.overlay("name")
        hide_keyboard(ui)
        if rename:
            return data.rename_playlist(ui.phone, rename, name)
        data.add_playlist(ui.phone, name, _picked(ui))
        return ui.phone.toast(f"Created {name}")

    title, yes = ("Rename playlist", "Rename") if rename else ("New playlist", "Create")
    with ui.dialog(title, ("Cancel", partial(hide_keyboard, ui)), (yes, save), height=220):
        ui.field("name", "Playlist name", resource="edit_text")


def _playlist_menu(ui: Ui) -> None:
    number = ui.state["playlist"]
    row = data.playlist(ui.phone, number)
    if row is not None:
        songs = data.playlist_songs(ui.phone, number)
        sheet(
            ui,
            row["playlist_name"],
            ("Play", partial(player.play, ui.phone, songs)),
            ("Add to playing queue", partial(_enqueue, ui, songs)),
            ("Rename", partial(start_playlist, ui, [], row["playlist_name"], number)),
            ("Save as file", partial(ui.overlay, "export")),
            ("Delete", partial(ui.overlay, "delete")),
        )


def _export(ui: Ui) -> None:
    def export(directory: str) -> None:
        path = data.export_playlist(ui.phone, ui.state["playlist"], directory)
        ui.phone.toast(f"Saved as {path.rsplit('/', 1)[-1]}")

    ui.choose("Save to", _DIRECTORIES, "", export)


def _delete(ui: Ui) -> None:
    ask_delete(ui, ui.state["playlist"], lambda: None)


def ask_delete(ui: Ui, number: int, then: Callable[[], object]) -> None:
    """Draw the question whether to delete a playlist; ``then`` is done after it is deleted."""
    row = data.playlist(ui.phone, number)

    def delete() -> None:
        data.delete_playlist(ui.phone, number)
        then()

    if row is not None:
        ui.confirm(f"Delete the playlist “{row['playlist_name']}”?", "Delete", delete)
