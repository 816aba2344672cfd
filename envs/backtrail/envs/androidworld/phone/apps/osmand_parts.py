"""What several pages of the map app draw: the map with all that can be touched on it, and the menu at the left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from backtrail.envs.androidworld.phone.app import Data
from backtrail.envs.androidworld.phone.apps import osmand_data as data
from backtrail.envs.androidworld.phone.apps.osmand_map import ZOOMS, Button, Frame, Map, Pin, fit, labels, pin_box
from backtrail.envs.androidworld.phone.apps.osmand_places import Place, Point, in_words, place_at
from backtrail.envs.androidworld.phone.device import Phone
from backtrail.envs.androidworld.phone.page import WHITE, Do
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import HEIGHT, NAVIGATION, STATUS, WIDTH, Bounds, View

__all__ = [
    "WHOLE", "Spot", "fit_map", "from_place", "map_view", "menu", "point_of", "push", "show", "show_spot", "shown_part", "spot",
    "spot_of_marker", "words_of",
]  # fmt: skip

Spot = dict[str, Any]
"""A place that was chosen: name, about, latitude, longitude."""

_BEGIN: Data = {"latitude": 47.157, "longitude": 9.552, "zoom": 11}
WHOLE = (WIDTH, HEIGHT - STATUS - NAVIGATION)
"""Width and height of the map where it has a page of its own."""

_MILE = 1609.344  # metres
_ENTRIES = (
    ("flag", "Map markers", "markers", {}),
    ("star", "My Places", "places", {}),
    ("search", "Search", "search", {"use": "map"}),
    ("send", "Navigation", "route", {"to": None}),
    ("layers", "Configure map", "configure", {}),
    ("globe", "Maps & Resources", "maps", {}),
    ("route", "Plan a route", "plan", {"start": None}),
    ("settings", "Settings", "settings", {}),
)  # fmt: skip


def shown_part(state: Data) -> Data:
    """Return the part of the map that a page shows: latitude and longitude of its middle, and zoom."""
    return {**_BEGIN, **state.get("view", {})}


# -- places that were chosen ------------------------------------------------------------------------------


def spot(name: str, point: Point, about: str = "") -> Spot:
    """Return a place of this name."""
    return {"name": name, "about": about, "latitude": point[0], "longitude": point[1]}


def from_place(place: Place) -> Spot:
    """Return a place of the map."""
    return spot(place.name, place.point, place.about)


def spot_of_marker(row: data.Marker) -> Spot:
    """Return the place that a marker marks; a marker that somebody else wrote may lack what it needs."""
    point = (row["marker_lat"] or 0.0, row["marker_lon"] or 0.0)
    return spot(row["title"] or row["marker_description"] or in_words(point), point, "Map marker")


def point_of(place: Spot) -> Point:
    """Return where a chosen place is."""
    return place["latitude"], place["longitude"]


def words_of(phone: Phone, metres: float) -> str:
    """Return a distance in words, in the units that were chosen."""
    if phone.data(data.KEY)["units"] == "Miles":
        return f"{metres / _MILE:.1f} mi"
    return f"{metres / 1000:.1f} km" if metres >= 1000 else f"{metres:.0f} m"


def show(phone: Phone, **state: Any) -> None:
    """Go back to the map, with something to keep there."""
    while phone.top["page"] != "main":
        phone.close()
    phone.top["state"].update(state)


def show_spot(phone: Phone, place: Spot) -> None:
    """Go back to the map and show a place on it."""
    show(phone, card=place, overlay="card")
    state = phone.top["state"]
    zoom = max(shown_part(state)["zoom"], 12)
    state["view"] = {"latitude": place["latitude"], "longitude": place["longitude"], "zoom": zoom}


# -- the map ----------------------------------------------------------------------------------------------


def push(state: Data, across: float = 0, down: float = 0, zoom: int = 0, size: tuple[int, int] = (1, 1)) -> None:
    """Push the map of a page by so many pixels, or zoom."""
    view = shown_part(state)
    frame = Frame((view["latitude"], view["longitude"]), view["zoom"], *size)
    center = frame.moved(across, down) if across or down else frame.center
    number = min(max(view["zoom"] + zoom, ZOOMS[0]), ZOOMS[1])
    state["view"] = {"latitude": center[0], "longitude": center[1], "zoom": number}


def fit_map(state: Data, points: Sequence[Point], size: tuple[int, int]) -> None:
    """Let the map of a page show all these points."""
    center, zoom = fit(points, *size)
    state["view"] = {"latitude": center[0], "longitude": center[1], "zoom": zoom}


def map_view(
    ui: Ui,
    box: Bounds,
    choose: Callable[[Spot], object],
    *,
    line: Sequence[Point] = (),
    pins: Sequence[Pin] = (),
    buttons: Sequence[tuple[Button, str, str, Do]] = (),
    cross: bool = False,
) -> View:
    """Draw the map of a page; a swipe pushes it, and what is on it can be touched.

    Args:
        ui: The page; ``state["view"]`` is the part that is shown.
        box: Where.
        choose: What a tap on a place, favourite or marker does.
        line: A track or route.
        pins: What is marked beside favourites and markers.
        buttons: Round buttons with description, resource id and what they do.
        cross: Whether the middle is marked.
    """
    view = shown_part(ui.state)
    width, height = box[2] - box[0], box[3] - box[1]
    frame = Frame((view["latitude"], view["longitude"]), view["zoom"], width, height)
    kept = _marked(ui)
    shown = tuple(Pin(kind, point_of(place)) for kind, _, place in kept)
    scene = Map(frame, tuple(line), (*shown, *pins), tuple(each[0] for each in buttons), cross)

    def drag(start: tuple[float, float], end: tuple[float, float]) -> None:
        push(ui.state, (end[0] - start[0]) * width, (end[1] - start[1]) * height, size=(width, height))

    found = ui.add(View("View", box, description="Map", scene=scene, on_stroke=drag, resource=ui.id("map_view")))
    for place, (left, top, right, bottom) in labels(frame, tuple(each[0] for each in buttons)):
        inside = (box[0] + left, box[1] + top, box[0] + right, box[1] + bottom)
        found.children.append(View("View", inside, description=place.name, on_tap=partial(choose, from_place(place))))
    for _, words, place in kept:
        at = pin_box(frame, point_of(place))
        if at:
            inside = (box[0] + at[0], box[1] + at[1], box[0] + at[2], box[1] + at[3])
            found.children.append(View("View", inside, description=words, on_tap=partial(choose, place)))
    for button, description, resource, do in buttons:
        x, y = box[0] + button.x, box[1] + button.y
        inside = (x - button.radius, y - button.radius, x + button.radius, y + button.radius)
        found.children.append(View("ImageButton", inside, description=description, resource=ui.id(resource), on_tap=do))
    return found


def _marked(ui: Ui) -> list[tuple[str, str, Spot]]:
    """Return the favourites and markers that are to be on the map: kind of pin, description, place."""
    found: list[tuple[str, str, Spot]] = []
    if ui.data["favorites_shown"]:
        for row in data.favorites(ui.phone):
            place = spot(row["name"], (row["latitude"], row["longitude"]), row["group"])
            found.append(("star", f"Favorite {row['name']}", place))
    if ui.data["markers_shown"]:
        for row in data.markers(ui.phone):
            place = spot_of_marker(row)
            known = place_at(point_of(place))
            found.append(("flag", f"Marker {place['name']}", from_place(known) if known else place))
    return found


# -- the menu ---------------------------------------------------------------------------------------------


def menu(ui: Ui) -> None:
    """Draw the menu at the left."""
    with ui.drawer():
        head = View("LinearLayout", (0, STATUS, 780, STATUS + 230), fill=ui.app.tint)
        head.children = [
            View("ImageView", (24, STATUS + 50, 154, STATUS + 180), icon="map", color=WHITE, size=96),
            View("TextView", (160, STATUS + 50, 760, STATUS + 125), "OsmAnd", size=58, color=WHITE),
            View("TextView", (160, STATUS + 125, 760, STATUS + 185), "Browse map", size=38, color=WHITE),
        ]
        ui.add(head)
        for place, (icon, label, page, args) in enumerate(_ENTRIES):

            def go(page: str = page, args: Data = args) -> None:
                ui.overlay("")
                ui.phone.go(page, **args)

            top = STATUS + 260 + 140 * place
            row = View("LinearLayout", (0, top, 780, top + 136), on_tap=go)
            row.children = [
                View("ImageView", (24, top, 134, top + 136), icon=icon, color=(95, 99, 104)),
                View("TextView", (150, top, 760, top + 136), label, size=46, resource=ui.id("title")),
            ]
            ui.add(row)
