"""Pages of the music app beside its main one: an artist, search, a playlist, the player, the queue."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from backtrail.envs.androidworld.phone.apps import music_data as data
from backtrail.envs.androidworld.phone.apps import music_parts as parts
from backtrail.envs.androidworld.phone.apps import music_player as player
from backtrail.envs.androidworld.phone.apps.drawer import hide_keyboard
from backtrail.envs.androidworld.phone.page import GREY, WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["PAGES"]


def _artist(ui: Ui) -> None:
    rows = [row for row in data.songs(ui.phone) if row["artist_name"] == ui.args["name"]]
    _songs(ui, ui.args["name"], rows)


def _songs(ui: Ui, title: str, rows: list[data.Row]) -> None:
    picked = parts.chosen(ui)
    if picked is None:
        ui.bar(title)
    else:
        parts.choosing_bar(ui, rows, picked)
    with ui.scroll(keep=parts.mini_height(ui)):
        parts.song_rows(ui, rows)
    parts.mini_player(ui)
    parts.dialogs(ui)


def _search(ui: Ui) -> None:
    ui.bar("Search")
    words = ui.field("words", "Search songs and artists", enter=partial(hide_keyboard, ui)).lower().split()
    rows = [
        row
        for row in data.songs(ui.phone)
        if words and all(word in f"{row['title']} {row['artist_name']}".lower() for word in words)
    ]
    with ui.scroll(keep=parts.mini_height(ui)):
        if words and not rows:
            ui.gap(200)
            ui.text("Nothing found", 48, GREY, "center")
        parts.song_rows(ui, rows)
    parts.mini_player(ui)
    parts.dialogs(ui)


# -- a playlist -------------------------------------------------------------------------------------------


def _playlist(ui: Ui) -> None:
    phone, number = ui.phone, ui.args["id"]
    row = data.playlist(phone, number)
    if row is None:
        ui.bar("Playlist")
        ui.text("This playlist is no longer there.", color=GREY)
        return
    songs = data.playlist_songs(phone, number)
    ui.bar(
        row["playlist_name"],
        ("play", "Play all", partial(player.play, phone, songs)),
        ("more", "More options", partial(ui.state.update, overlay="playlist menu", playlist=number)),
    )
    with ui.scroll(keep=parts.mini_height(ui)):
        words = "1 song" if len(songs) == 1 else f"{len(songs)} songs"
        ui.text(f"{words} · {data.length(songs)}", 40, GREY, resource="playlist_duration")
        if not songs:
            ui.gap(300)
            ui.text("This playlist is empty", 48, GREY, "center")
        for place, song in enumerate(songs):
            subtitle = f"{song['artist_name']} · {data.length([song])}"
            view = ui.row(f"{place + 1}. {song['title']}", subtitle, tap=partial(player.play, phone, songs, place))
            parts.more_button(ui, view, partial(ui.state.update, overlay="entry", key=song["song_key"]))
    parts.mini_player(ui)
    if ui.state.get("overlay") == "entry":
        _entry(ui, songs)
    elif ui.state.get("overlay") == "delete":
        parts.ask_delete(ui, number, phone.close)
    else:
        parts.dialogs(ui)


def _entry(ui: Ui, songs: list[data.Row]) -> None:
    key = ui.state["key"]
    song = next((song for song in songs if song["song_key"] == key), None)
    if song is not None:
        parts.sheet(
            ui,
            song["title"],
            ("Move up", partial(data.move_in_playlist, ui.phone, key, -1)),
            ("Move down", partial(data.move_in_playlist, ui.phone, key, 1)),
            ("Add to playing queue", partial(player.enqueue, ui.phone, [song])),
            ("Remove from playlist", partial(data.remove_from_playlist, ui.phone, key)),
        )


# -- the player -------------------------------------------------------------------------------------------


def _player(ui: Ui) -> None:
    phone, row = ui.phone, player.current(ui.phone)
    ui.bar("Now playing", ("tasks", "Playing queue", partial(phone.go, "queue")))
    if row is None:
        ui.gap(500)
        ui.text("Nothing to play", 48, GREY, "center")
        return
    side = 760
    x, y = (ui.left + ui.right - side) // 2, ui.top + 40
    ui.add(View("ImageView", (x, y, x + side, y + side), icon="volume", fill=ui.app.tint, color=WHITE, radius=60, size=300,
                description="Album cover"))  # fmt: skip
    ui.gap(side + 90)
    ui.text(row["title"], 64, align="center", resource="title")
    ui.text(row["artist"], 44, GREY, "center", "text")
    at, whole = min(player.position(phone), row["duration"]), row["duration"]
    ui.progress("Progress of the song", at / whole if whole else 0.0)
    with ui.columns(5, 1) as following:
        ui.text(data.length([{"duration": at}]), 36, GREY, resource="song_current_progress")
        following()
        ui.text(data.length([row]), 36, GREY, resource="song_total_time")
    on = player.playing(phone)
    ui.icons(
        ("left", "Previous", partial(player.skip, phone, -1)),
        ("pause" if on else "play", "Pause" if on else "Play", partial(player.toggle, phone)),
        ("right", "Next", partial(player.skip, phone, 1)),
        size=160,
    )
    ui.gap(20)
    ui.buttons((f"Repeat: {player.repeat(phone)}", partial(player.turn_repeat, phone)))


# -- the queue --------------------------------------------------------------------------------------------


def _queue(ui: Ui) -> None:
    phone, rows = ui.phone, player.queue(ui.phone)
    heard = player.current(phone)
    ui.bar("Playing queue", ("delete", "Clear queue", partial(ui.overlay, "clear") if rows else None))
    with ui.scroll():
        if not rows:
            ui.gap(500)
            ui.text("The queue is empty", 48, GREY, "center")
        for place, row in enumerate(rows):
            view = ui.row(
                row["title"],
                f"{row['artist']} · {data.length([row])}",
                icon="volume" if row is heard else "play",
                selected=row is heard,
                tap=partial(player.play, phone, [dict(each) for each in rows], place),
            )
            parts.more_button(ui, view, partial(ui.state.update, overlay="entry", place=place))
    if ui.state.get("overlay") == "clear":
        ui.confirm("Clear the playing queue?", "Clear", partial(player.clear_queue, phone))
    place = ui.state.get("place", 0)
    if ui.state.get("overlay") == "entry" and place < len(rows):
        parts.sheet(
            ui,
            rows[place]["title"],
            ("Move up", partial(player.move_in_queue, phone, place, -1)),
            ("Move down", partial(player.move_in_queue, phone, place, 1)),
            ("Remove from queue", partial(player.remove_from_queue, phone, place)),
        )


PAGES: dict[str, Callable[[Ui], None]] = {
    "artist": _artist,
    "search": _search,
    "playlist": _playlist,
    "player": _player,
    "queue": _queue,
}
"""How each page is drawn."""
