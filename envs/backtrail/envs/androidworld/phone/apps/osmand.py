"""An app like OsmAnd: a map to search, mark and plan on."""

from __future__ import annotations

from functools import partial

from backtrail.envs.androidworld.phone.app import App, Data
from backtrail.envs.androidworld.phone.apps import osmand_data as data
from backtrail.envs.androidworld.phone.apps import osmand_lists as lists
from backtrail.envs.androidworld.phone.apps import osmand_pages as pages
from backtrail.envs.androidworld.phone.apps import osmand_plan as plan
from backtrail.envs.androidworld.phone.apps.osmand_map import Button, Pin
from backtrail.envs.androidworld.phone.apps.osmand_parts import Spot, map_view, menu, push, show_spot, spot
from backtrail.envs.androidworld.phone.apps.osmand_places import in_words
from backtrail.envs.androidworld.phone.page import GREY, SURFACE, WHITE, Do
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import Bounds, View

__all__ = ["OsmAnd"]

_CARD = 710  # pixels


class OsmAnd(App):
    """Shows a map."""

    key = data.KEY
    label = "OsmAnd"
    package = "net.osmand"
    activity = "net.osmand.plus.activities.MapActivity"
    icon = "map"
    tint = (255, 136, 0)
    volatile = frozenset({"marker_id", "marker_added", "marker_visited"})

    def fresh(self) -> Data:
        """Return no markers; the rest is in files."""
        return {"map_markers": [], "favorites_shown": True, "markers_shown": True, "units": "Kilometers"}

    def activity_of(self, page: str) -> str:
        """Return the activity: lists of what was saved, and of maps, have their own."""
        names = {
            "places": "myplaces.ui.MyPlacesActivity",
            "maps": "download.DownloadActivity",
            "settings": "settings.SettingsActivity",
        }
        return f"{self.package}.plus.{names.get(page, 'activities.MapActivity')}"

    def draw(self, ui: Ui) -> None:
        """Draw a page: "main" is the map; the others are those of `lists`, `pages` and `plan`."""
        draw = {"main": _main, **lists.PAGES, **pages.PAGES, **plan.PAGES}[ui.page]
        draw(ui)


def _main(ui: Ui) -> None:
    phone, state = ui.phone, ui.state
    card: Spot | None = state.get("card") if state.get("overlay") == "card" else None
    line = data.track(phone, state["track"]) if state.get("track") else []
    box = (ui.left, ui.top, ui.right, ui.bottom)
    marked = [Pin("place", (card["latitude"], card["longitude"]))] if card else []
    touch = map_view(
        ui, box, partial(show_spot, phone), line=line, pins=marked, buttons=_buttons(ui, box, card is not None)
    )
    touch.on_tap = partial(ui.overlay, "")
    if card:
        _card(ui, card)
    if state.get("overlay") == "menu":
        menu(ui)


def _buttons(ui: Ui, box: Bounds, lifted: bool) -> list[tuple[Button, str, str, Do]]:
    """Return the round buttons on the map: the button, its description, its resource id and what it does."""
    phone, right, bottom = ui.phone, box[2] - box[0], box[3] - box[1] - (_CARD if lifted else 0)
    zoom = partial(push, ui.state)
    found: list[tuple[Button, str, str, Do]] = [
        (Button("layers", 100, 110), "Configure map", "map_layers_button", partial(phone.go, "configure")),
        (Button("search", 260, 110), "Search", "map_search_button", partial(phone.go, "search", use="map")),
        (Button("target", right - 100, bottom - 440), "My location", "map_my_location_button",
         partial(phone.toast, "The position is not known yet")),
        (Button("add", right - 100, bottom - 270), "Zoom in", "map_zoom_in_button", partial(zoom, zoom=1)),
        (Button("minus", right - 100, bottom - 110), "Zoom out", "map_zoom_out_button", partial(zoom, zoom=-1)),
    ]  # fmt: skip
    if not lifted:
        found += [
            (Button("menu", 100, bottom - 110), "Menu", "map_menu_button", partial(ui.overlay, "menu")),
            (Button("route", 260, bottom - 110), "Navigation", "map_route_info_button",
             partial(phone.go, "route", to=None)),
        ]  # fmt: skip
    return found


def _card(ui: Ui, card: Spot) -> None:
    """Draw what is known of the chosen place, and what can be done with it."""
    phone, point = ui.phone, (card["latitude"], card["longitude"])
    saved, marker = data.favorite_at(phone, point), data.marker_at(phone, point)

    def mark() -> None:
        if marker:
            data.delete_marker(phone, marker["marker_id"])
            phone.toast("Marker removed")
        else:
            data.add_marker(phone, card["name"], point)
            phone.toast("Marker added")

    top = ui.bottom - _CARD
    ui.add(
        View(
            "LinearLayout", (ui.left, top, ui.right, ui.bottom), fill=WHITE, on_tap=lambda: None, resource=ui.id("card")
        )
    )
    ui.add(View("View", (ui.left, top, ui.right, top + 4), fill=(214, 216, 220)))
    place = (ui.right - 140, top + 24, ui.right - 30, top + 134)
    close = partial(ui.overlay, "")
    ui.add(View("ImageButton", place, description="Close", icon="close", color=GREY, on_tap=close))
    title = (ui.left + 24, top + 24, ui.right - 150, top + 124)
    name = saved["name"] if saved else card["name"]
    ui.add(View("TextView", title, name, size=58, resource=ui.id("context_menu_line1")))
    about = f"{saved['group']}: {saved['description']}".rstrip(": ") if saved else card["about"]
    place = (ui.left + 24, top + 124, ui.right - 24, top + 190)
    ui.add(View("TextView", place, about, size=40, color=GREY, resource=ui.id("context_menu_line2")))
    ui.top = top + 210
    _actions(
        ui,
        ("star", "Edit" if saved else "Add", partial(phone.go, "favorite", spot=card, old=saved)),
        ("flag", "Remove marker" if marker else "Marker", mark),
        ("route", "Plan a route", partial(phone.go, "plan", start=card)),
    )
    place = (ui.left + 24, ui.top + 50, ui.right - 24, ui.top + 140)  # where messages appear: nothing to touch
    ui.add(View("TextView", place, in_words(point), size=40, color=GREY, resource=ui.id("coordinates")))
    ui.gap(160)
    ui.button("Directions", partial(phone.go, "route", to=spot(name, point, card["about"])))


def _actions(ui: Ui, *entries: tuple[str, str, Do]) -> None:
    """Draw actions beside each other: an icon with words below."""
    width = (ui.right - ui.left - 48) // len(entries)
    for number, (icon, words, do) in enumerate(entries):
        left = ui.left + 24 + width * number
        box = (left + 8, ui.top, left + width - 8, ui.top + 170)
        cell = ui.add(View("LinearLayout", box, fill=SURFACE, radius=24, on_tap=do))
        cell.children = [
            View("ImageView", (box[0], box[1] + 10, box[2], box[1] + 100), icon=icon, size=64, color=ui.app.tint),
            View("TextView", (box[0], box[1] + 98, box[2], box[3] - 8), words, size=36, align="center"),
        ]
    ui.top += 170
