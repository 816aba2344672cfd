"""An app like Retro Music: the songs on the phone, playlists, and a queue that is played."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import music_data as data
from backtrail.envs.androidworld.phone.apps import music_pages as pages
from backtrail.envs.androidworld.phone.apps import music_parts as parts
from backtrail.envs.androidworld.phone.apps import music_player as player
from backtrail.envs.androidworld.phone.page import GREY
from backtrail.envs.androidworld.phone.ui import Ui

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["Music"]

_TABS = ("Songs", "Artists", "Playlists")

_ORDERS = {"Title": "title", "Artist": "artist_name", "Duration": "duration"}


class Music(App):
    """Plays music."""

    key = data.KEY
    label = "Retro Music"
    package = "code.name.monkey.retromusic"
    activity = "code.name.monkey.retromusic.activities.MainActivity"
    icon = "volume"
    tint = (94, 53, 177)

    def fresh(self) -> Data:
        """Return no playlists and an empty queue."""
        tables = ("PlaylistEntity", "SongEntity", "playing_queue", "original_playing_queue")
        return {**{table: [] for table in tables}, "player": player.fresh_player()}

    def draw(self, ui: Ui) -> None:
        """Draw a page: "main", "artist", "search", "playlist", "player" or "queue"."""
        draw = {"main": _main, **pages.PAGES}[ui.page]
        draw(ui)

    def tick(self, phone: Phone) -> None:
        """Let the music play on."""
        player.tick(phone)


def _main(ui: Ui) -> None:
    tab = ui.state.get("tab", _TABS[0])
    chosen = parts.chosen(ui)
    if chosen is not None:
        parts.choosing_bar(ui, data.songs(ui.phone), chosen)
    else:
        ui.bar("Retro Music", ("search", "Search", partial(ui.phone.go, "search")), up=False)
    below = 130 + parts.mini_height(ui)
    with ui.scroll(tab, keep=below):
        {"Songs": _songs, "Artists": _artists, "Playlists": _playlists}[tab](ui)
        ui.gap(40)
    parts.mini_player(ui)
    ui.tabs(tab, *((name, partial(ui.state.update, tab=name, overlay="")) for name in _TABS))
    if tab == "Playlists" and chosen is None:
        bottom, ui.bottom = ui.bottom, ui.bottom - below
        ui.floating("add", "New playlist", partial(parts.start_playlist, ui, []))
        ui.bottom = bottom
    parts.dialogs(ui)
    if ui.state.get("overlay") == "order":
        ui.choose("Sort by", list(_ORDERS), ui.state.get("order", "Title"), lambda order: ui.state.update(order=order))


def _songs(ui: Ui) -> None:
    order = _ORDERS[ui.state.get("order", "Title")]
    rows = sorted(data.songs(ui.phone), key=lambda row: row[order])
    if order == "title":
        rows = data.songs(ui.phone)
    if not rows:
        ui.gap(500)
        ui.text("No songs on this phone", 48, GREY, "center")
        return
    ui.row(
        "1 song" if len(rows) == 1 else f"{len(rows)} songs",
        f"Sorted by {ui.state.get('order', 'Title').lower()}",
        icon="sort",
        tap=partial(ui.overlay, "order"),
    )
    parts.song_rows(ui, rows)


def _artists(ui: Ui) -> None:
    rows = data.songs(ui.phone)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["artist_name"]] = counts.get(row["artist_name"], 0) + 1
    if not rows:
        ui.gap(500)
        ui.text("No artists", 48, GREY, "center")
    for name in sorted(counts, key=str.lower):
        words = "1 song" if counts[name] == 1 else f"{counts[name]} songs"
        ui.row(name, words, icon="person", tap=partial(ui.phone.go, "artist", name=name))


def _playlists(ui: Ui) -> None:
    rows = data.playlists(ui.phone)
    if not rows:
        ui.gap(500)
        ui.text("No playlists yet", 48, GREY, "center")
    for row in rows:
        number = row["playlist_id"]
        songs = data.playlist_songs(ui.phone, number)
        words = f"{'1 song' if len(songs) == 1 else f'{len(songs)} songs'} · {data.length(songs)}"
        view = ui.row(row["playlist_name"], words, icon="tasks", tap=partial(ui.phone.go, "playlist", id=number))
        parts.more_button(ui, view, partial(ui.state.update, overlay="playlist menu", playlist=number))
