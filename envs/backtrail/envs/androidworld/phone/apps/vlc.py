"""An app like VLC: the films and sounds on the phone, folders, playlists, and a player."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import vlc_data as data
from backtrail.envs.androidworld.phone.apps import vlc_pages as pages
from backtrail.envs.androidworld.phone.apps import vlc_parts as parts
from backtrail.envs.androidworld.phone.apps import vlc_player as player
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.phone.page import GREY, WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["Vlc"]

_TABS = (
    ("Video", "film", "nav_video"),
    ("Audio", "volume", "nav_audio"),
    ("Browse", "folder", "nav_directories"),
    ("Playlists", "addlist", "nav_playlists"),
    ("More", "menu", "nav_more"),
)
_NAVIGATION = 170  # pixels
_ORDERS = ("Name", "Name, descending", "Length", "Length, descending")
_FAVOURITES = ("Download", "Movies", "Music")


class Vlc(App):
    """Plays films and sounds."""

    key = data.KEY
    label = "VLC"
    package = "org.videolan.vlc"
    activity = "org.videolan.vlc.gui.MainActivity"
    icon = "cone"
    tint = (230, 108, 0)
    deadlines = frozenset({"ends"})

    def fresh(self) -> Data:
        """Return no playlists, and nothing that is or was played."""
        tables = ("Playlist", "Media", "PlaylistMediaRelation", "history")
        return {**{table: [] for table in tables}, "player": player.fresh_player()}

    def activity_of(self, page: str) -> str:
        """Return the class of the activity that shows a page."""
        names = {"playlist": "HeaderMediaListActivity", "search": "SearchActivity", "info": "InfoActivity"}
        names |= {"player": "video.VideoPlayerActivity", "open": "video.VideoPlayerActivity"}
        names |= {"folder": "MainActivity", "history": "SecondaryActivity"}
        return f"{self.package}.gui.{names.get(page, 'MainActivity')}"

    def draw(self, ui: Ui) -> None:
        """Draw a page: "main", "folder", "search", "history", "playlist", "info", "player" or "open"."""
        draw = {"main": _main, **pages.PAGES}[ui.page]
        draw(ui)

    def tick(self, phone: Phone) -> None:
        """Let what is played go on."""
        player.tick(phone)


def _main(ui: Ui) -> None:
    tab, picked = ui.state.get("tab", "Video"), parts.chosen(ui)
    if picked is None:
        menu = [("Sort by…", partial(ui.overlay, "order"))] if tab in ("Video", "Audio") else []
        ui.bar(
            "VLC" if tab == "Video" else tab,
            ("search", "Search", partial(ui.phone.go, "search")),
            up=False,
            menu=menu,
        )
    else:
        parts.choosing_bar(ui, picked)
    with ui.scroll(tab, keep=_NAVIGATION):
        {"Video": _media, "Audio": _media, "Browse": _browse, "Playlists": _playlists, "More": _more}[tab](ui)
        ui.gap(40)
    _navigation(ui, tab)
    if ui.state.get("overlay") == "order":
        order = ui.state.get("order", _ORDERS[0])
        ui.choose("Sort by", _ORDERS, order, lambda order: ui.state.update(order=order, scroll={}))
    parts.sheets(ui)


def _navigation(ui: Ui, chosen: str) -> None:
    """Draw the bar at the bottom."""
    ui.line()
    width = (ui.right - ui.left) // len(_TABS)
    for place, (label, icon, resource) in enumerate(_TABS):
        x, on = ui.left + place * width, label == chosen
        color = ui.app.tint if on else GREY
        ui.add(
            View(
                "FrameLayout", (x, ui.top, x + width, ui.bottom), description=label, selected=on, fill=WHITE,
                on_tap=partial(ui.state.update, tab=label, overlay=""), resource=ui.id(resource),
                children=[
                    View("ImageView", (x, ui.top + 16, x + width, ui.top + 96), icon=icon, color=color, size=70),
                    View("TextView", (x, ui.top + 98, x + width, ui.top + 156), label, size=32, color=color, align="center"),
                ],
            )
        )  # fmt: skip


def _media(ui: Ui) -> None:
    kind, order = ui.state.get("tab", "Video"), ui.state.get("order", _ORDERS[0])
    paths = data.media(ui.phone, kind)
    if order.startswith("Length"):
        paths.sort(key=partial(data.seconds, ui.phone))
    if order.endswith("descending"):
        paths.reverse()
    if not paths:
        parts.nothing(ui, "No media files found", "Films and sounds in the shared storage are listed here")
        return
    parts.media_rows(ui, paths, place=True)


def _browse(ui: Ui) -> None:
    ui.header("Favorites")
    for name in _FAVOURITES:
        ui.row(name, icon="folder", tap=partial(ui.phone.go, "folder", path=f"{SHARED}/{name}"))
    ui.line()
    ui.header("Storages")
    ui.row(pages.MEMORY, icon="app", tap=partial(ui.phone.go, "folder", path=SHARED), resource="storage")
    ui.line()
    ui.header("Local Network")
    ui.text("No network shares found", 40, GREY)


def _playlists(ui: Ui) -> None:
    rows = data.playlists(ui.phone)
    if not rows:
        parts.nothing(ui, "No playlists yet", "Put films or sounds into one by “Add to playlist”")
    for row in rows:
        parts.playlist_row(ui, row)


def _more(ui: Ui) -> None:
    ui.row("History", "What was played last", icon="clock", tap=partial(ui.phone.go, "history"))
    ui.line()
    ui.row("VLC", "Version 3.5, simulated", icon="cone")
