"""Pages of the map app for one place or two: searching it, saving it as a favourite, the way from one to the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from backtrail.envs.androidworld.phone.apps import osmand_data as data
from backtrail.envs.androidworld.phone.apps import osmand_places as places
from backtrail.envs.androidworld.phone.apps.asking import ask, asked, open_question
from backtrail.envs.androidworld.phone.apps.drawer import hide_keyboard
from backtrail.envs.androidworld.phone.apps.osmand_map import Pin
from backtrail.envs.androidworld.phone.apps.osmand_parts import (
    Spot,
    fit_map,
    from_place,
    map_view,
    point_of,
    show_spot,
    spot,
    words_of,
)
from backtrail.envs.androidworld.phone.page import GREY
from backtrail.envs.androidworld.phone.ui import Ui

__all__ = ["PAGES"]

_ICONS = {"Town": "place", "Village": "place", "Hamlet": "place", "Peak": "picture", "Castle": "lock"}
_SPEEDS = {"Car": 50, "Bicycle": 16, "On foot": 4.5}
"""In kilometres an hour."""


# -- search -----------------------------------------------------------------------------------------------


def _search(ui: Ui) -> None:
    state = ui.state
    ui.bar("Search")
    words = ui.field("searchEditText", "Type to search", enter=partial(hide_keyboard, ui)).strip()
    kind = state.get("kind", "")
    with ui.scroll():
        if kind:
            ui.row(f"{kind}s", "Tap to search all kinds", icon="close", tap=partial(state.update, kind=""))
        elif not words:
            ui.header("Categories")
            for each in places.KINDS:
                ui.row(f"{each}s", icon=_ICONS[each], tap=partial(state.update, kind=each, scroll={}))
            saved = data.favorites(ui.phone)
            if saved:
                ui.header("Favorites")
            for row in saved:
                place = spot(row["name"], (row["latitude"], row["longitude"]), row["group"])
                ui.row(row["name"], row["group"], icon="star", tap=partial(_found, ui, place))
        if words or kind:
            _results(ui, words, kind)


def _results(ui: Ui, words: str, kind: str) -> None:
    point = places.read_coordinates(words)
    if point:
        name = places.in_words(point)
        ui.row(name, "Location", icon="place", tap=partial(_found, ui, spot(name, point, "Location")))
    rows = [] if point else places.search(words, kind)
    for place in rows:
        ui.row(place.name, place.about, icon=_ICONS[place.kind], tap=partial(_found, ui, from_place(place)))
    if not rows and not point:
        ui.gap(200)
        ui.text("Nothing found", 50, GREY, "center")


def _found(ui: Ui, place: Spot) -> None:
    """Give the page that asked for it what was found."""
    phone, use = ui.phone, ui.args["use"]
    if use == "map":
        return show_spot(phone, place)
    phone.close()
    state = phone.top["state"]
    if use == "marker":
        data.add_marker(phone, place["name"], point_of(place))
    elif use == "point":
        state.setdefault("points", []).append(place)
        state["undone"] = []
        state["view"] = {"latitude": place["latitude"], "longitude": place["longitude"], "zoom": 12}
    else:
        state[use] = place
        state.pop("view", None)
    return None


# -- saving a favourite -----------------------------------------------------------------------------------


def _favorite(ui: Ui) -> None:
    phone, place = ui.phone, ui.args["spot"]
    old: data.Favorite | None = ui.args["old"]
    group = ui.state.get("group", old["group"] if old else data.DEFAULT)
    begin = old or {"name": place["name"], "description": ""}

    def save() -> None:
        name, description = (ui.typed(key, begin[key]).strip() for key in ("name", "description"))
        if not name:
            return phone.toast("Please enter a name")
        if old:
            data.delete_favorite(phone, old)
        data.add_favorite(phone, name, point_of(place), group, description)
        phone.toast("Favorite saved")
        return phone.close()

    delete = (("delete", "Delete", partial(ui.overlay, "delete")),) if old else ()
    ui.bar("Edit favorite" if old else "Add favorite", *delete, ("check", "Save", save))
    with ui.scroll("form"):
        ui.field("name", "Name", begin["name"], resource="name_edit")
        ui.field("description", "Description", begin["description"], lines=2, resource="description_edit")
        ui.row("Group", group, icon="folder", tap=partial(ui.overlay, "group"))
        ui.row("Coordinates", places.in_words(point_of(place)), icon="place")
        ui.gap()
        ui.button("Save", save, resource="save_button")
    _ask_group(ui, group)
    if asked(ui, "delete") and old:

        def remove() -> None:
            data.delete_favorite(phone, old)
            phone.toast("Favorite deleted")
            phone.close()

        ui.confirm(f"Delete the favorite “{old['name']}”?", "Delete", remove)


def _ask_group(ui: Ui, group: str) -> None:
    def choose(name: str) -> None:
        if name == _NEW:
            open_question(ui, "new group")
        else:
            ui.state["group"] = name

    def add(name: str) -> None:
        if not name or "/" in name:
            ui.phone.toast("Please enter a name" if not name else "The name has characters that are not allowed")
            ui.overlay("new group")
        else:
            ui.state["group"] = name

    if asked(ui, "group"):
        ui.choose("Group", [*dict.fromkeys([*data.groups(ui.phone), group]), _NEW], group, choose)
    elif asked(ui, "new group"):
        ask(ui, "new group", "New group", "Group name", "Add", add)


_NEW = "Add group"


# -- the way ----------------------------------------------------------------------------------------------


def _route(ui: Ui) -> None:
    phone, state = ui.phone, ui.state
    start, end = state.get("start"), state.get("end", ui.args["to"])
    how = state.get("how", "Car")
    ui.bar("Navigation")
    ui.tabs(how, *((name, partial(state.update, how=name)) for name in _SPEEDS))
    ui.line()
    for key, label, place in (("start", "From", start), ("end", "To", end)):
        subtitle = place["name"] if place else "Choose a place"
        ui.row(label, subtitle, icon="target" if key == "start" else "flag", tap=partial(phone.go, "search", use=key))
    if not start or not end:
        return
    ui.row("Swap", icon="sort", tap=partial(_swap, state, start, end))
    way = places.road_way(point_of(start), point_of(end))
    metres = places.length(way)
    minutes = round(metres / 1000 / _SPEEDS[how] * 60)
    ui.line()
    ui.row(words_of(phone, metres), f"{minutes} min", icon="route", resource="route_info")
    passed = [place.name for point in way[1:-1] if (place := places.place_at(point))]
    if passed:
        ui.row("Via", ", ".join(passed), icon="place")
    box = (ui.left, ui.top, ui.right, ui.bottom)
    if box[3] - box[1] < 300:  # the keyboard is in the way
        return
    if "view" not in state:
        fit_map(state, way, (box[2] - box[0], box[3] - box[1]))
    map_view(ui, box, partial(show_spot, phone), line=way, pins=[Pin("check", way[-1])])


def _swap(state: dict[str, Spot], start: Spot, end: Spot) -> None:
    state.update(start=end, end=start)


PAGES: dict[str, Callable[[Ui], None]] = {"search": _search, "favorite": _favorite, "route": _route}
"""How each page is drawn."""
