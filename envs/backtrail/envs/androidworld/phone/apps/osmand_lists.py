"""Pages of the map app that list what was saved: favourites, tracks, markers; and what the map shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from backtrail.envs.androidworld.phone.apps import osmand_data as data
from backtrail.envs.androidworld.phone.apps.asking import ask, asked, open_question
from backtrail.envs.androidworld.phone.apps.osmand_map import Pin
from backtrail.envs.androidworld.phone.apps.osmand_parts import (
    WHOLE,
    fit_map,
    from_place,
    map_view,
    point_of,
    show,
    show_spot,
    spot,
    spot_of_marker,
    words_of,
)
from backtrail.envs.androidworld.phone.apps.osmand_places import in_words, length, place_at
from backtrail.envs.androidworld.phone.page import GREY, Do
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["PAGES"]


def _empty(ui: Ui, text: str, more: str) -> None:
    ui.gap(450)
    ui.text(text, 50, GREY, "center")
    ui.text(more, 40, GREY, "center")


def _count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


# -- favourites and tracks --------------------------------------------------------------------------------


def _places(ui: Ui) -> None:
    tab = ui.state.get("tab", "Favorites")
    ui.bar("My Places")
    ui.tabs(tab, *((name, partial(_turn, ui, name)) for name in ("Favorites", "Tracks")))
    ui.line()
    if tab == "Favorites":
        _favorites(ui)
    else:
        _tracks(ui)


def _turn(ui: Ui, tab: str) -> None:
    ui.state.update(tab=tab, scroll={})


def _favorites(ui: Ui) -> None:
    phone, rows = ui.phone, data.favorites(ui.phone)
    closed: list[str] = ui.state.get("closed", [])
    with ui.scroll():
        if not rows:
            _empty(ui, "You do not have any favorites yet", "Choose a place on the map and tap Add")
        for group in dict.fromkeys(row["group"] for row in rows):
            inside = [row for row in rows if row["group"] == group]
            after = [each for each in closed if each != group] if group in closed else [*closed, group]
            ui.row(
                group, _count(len(inside), "point"), icon="right" if group in closed else "down",
                tap=partial(ui.state.update, closed=after), resource="group",
            )  # fmt: skip
            for row in inside if group not in closed else ():
                place = spot(row["name"], (row["latitude"], row["longitude"]), group)
                ui.row(
                    row["name"],
                    row["description"] or in_words(point_of(place)),
                    icon="star",
                    tap=partial(show_spot, phone, place),
                    hold=partial(phone.go, "favorite", spot=place, old=row),
                    resource="favorite",
                )


def _tracks(ui: Ui) -> None:
    phone, names = ui.phone, data.tracks(ui.phone)
    with ui.scroll():
        if not names:
            _empty(ui, "You do not have any tracks yet", "Tap + to plan one")
        for name in names:
            points = data.track(phone, name)
            about = f"{words_of(phone, length(points))}, {_count(len(points), 'point')}"
            ui.row(name, about, icon="route", tap=partial(phone.go, "track", name=name), resource="track")
        ui.gap(220)
    ui.floating("add", "Plan a route", partial(phone.go, "plan", start=None))


def _track(ui: Ui) -> None:
    phone, name = ui.phone, ui.args["name"]
    points = data.track(phone, name)
    if not points:
        ui.bar(name)
        ui.text("This track is no longer there, or has no points.", color=GREY)
        return

    def on_map() -> None:
        show(phone, track=name, overlay="")
        fit_map(phone.top["state"], points, WHOLE)

    ui.bar(
        name,
        ("map", "Show on map", on_map),
        menu=[
            ("Rename", partial(open_question, ui, "rename", name)),
            ("Delete", partial(ui.overlay, "delete")),
        ],
    )
    box = (ui.left, ui.top, ui.right, ui.top + 900)
    if "view" not in ui.state:
        fit_map(ui.state, points, (box[2] - box[0], box[3] - box[1]))
    map_view(ui, box, partial(show_spot, phone), line=points, pins=[Pin("check", points[-1])])
    ui.top = box[3]
    with ui.scroll("points"):
        ui.row("Distance", trailing=words_of(phone, length(points)))
        ui.row("Points", trailing=str(len(points)))
        for number, point in enumerate(points, 1):
            known = place_at(point)
            place = from_place(known) if known else spot(in_words(point), point, name)
            ui.row(f"{number}.  {place['name']}", in_words(point), tap=partial(show_spot, phone, place))
    _ask(ui, name)


def _ask(ui: Ui, name: str) -> None:
    phone = ui.phone

    def rename(to: str) -> None:
        wrong = "" if to == name else data.wrong_track_name(phone, to)
        if wrong:
            phone.toast(wrong)
            return ui.overlay("rename")
        data.rename_track(phone, name, to)
        return phone.swap("track", name=to)

    def delete() -> None:
        data.delete_track(phone, name)
        phone.toast("Track deleted")
        phone.close()

    if asked(ui, "rename"):
        ask(ui, "rename", "Rename track", "File name", "Save", rename)
    elif asked(ui, "delete"):
        ui.confirm(f"Delete the track “{name}”?", "Delete", delete)


# -- markers ----------------------------------------------------------------------------------------------


def _markers(ui: Ui) -> None:
    phone, tab = ui.phone, ui.state.get("tab", "Active")
    active = tab == "Active"
    rows = data.markers(phone, active)
    clear = "Move all to history" if active else "Clear history"
    ui.bar("Map markers", menu=[(clear, partial(data.clear_markers, phone, active))])
    ui.tabs(tab, *((name, partial(_turn, ui, name)) for name in ("Active", "History")))
    ui.line()
    with ui.scroll():
        if not rows and active:
            _empty(ui, "No active markers", "Choose a place on the map and tap Marker")
        elif not rows:
            _empty(ui, "No passed markers", "What was passed is kept here")
        for row in rows:
            _marker(ui, row, active)
        ui.gap(220)
    if active:
        ui.floating("add", "Add marker", partial(phone.go, "search", use="marker"))
    chosen = next((row for row in rows if row["marker_id"] == ui.state.get("marker")), None)
    if ui.state.get("overlay") == "marker" and chosen:
        _choose(ui, chosen, active)


def _marker(ui: Ui, row: data.Marker, active: bool) -> None:
    phone, place, marker = ui.phone, spot_of_marker(row), row["marker_id"]

    def open_choice() -> None:
        ui.state["marker"] = marker
        ui.overlay("marker")

    found = ui.row(place["name"], in_words(point_of(place)), icon="flag", tap=open_choice, resource="marker")
    if active:
        _, top, right, bottom = found.bounds
        box = (right - 160, top + 30, right - 30, bottom - 30)
        do = partial(data.pass_marker, phone, marker)
        found.children.append(
            View("ImageButton", box, description="Mark as passed", icon="check", color=GREY, on_tap=do)
        )


def _choose(ui: Ui, row: data.Marker, active: bool) -> None:
    phone, marker = ui.phone, row["marker_id"]
    place = spot_of_marker(row)
    entries: list[tuple[str, Do]] = [
        ("Show on map", partial(show_spot, phone, place)),
        ("Mark as passed" if active else "Make active", partial(data.pass_marker, phone, marker, active)),
        ("Delete marker", partial(data.delete_marker, phone, marker)),
    ]
    with ui.dialog(place["name"], ("Cancel", None), height=150 * len(entries)):
        for words, do in entries:
            ui.row(words, tap=ui.closing(do))


# -- what the map shows -----------------------------------------------------------------------------------


def _configure(ui: Ui) -> None:
    ui.bar("Configure map")
    below = ui.phone.state["stack"][-2]["state"]
    for key, words, icon in (("favorites_shown", "Favorites", "star"), ("markers_shown", "Map markers", "flag")):
        on = ui.data[key]
        ui.row(words, "On" if on else "Off", icon=icon, switch=on, tap=partial(ui.data.update, {key: not on}))
    if below.get("track"):
        ui.row("Track", below["track"], icon="route", switch=True, tap=partial(below.pop, "track"))


def _maps(ui: Ui) -> None:
    ui.bar("Maps & Resources")
    with ui.scroll():
        ui.header("Installed maps")
        ui.row("Liechtenstein", "Comes with the phone", icon="map")


def _settings(ui: Ui) -> None:
    ui.bar("Settings")
    ui.header("General")
    ui.row("Units of length", ui.data["units"], icon="settings", tap=partial(ui.overlay, "units"))
    ui.row("OsmAnd", "Version 4.6, simulated", icon="map")
    if ui.state.get("overlay") == "units":
        ui.choose("Units of length", ("Kilometers", "Miles"), ui.data["units"], lambda name: ui.data.update(units=name))


PAGES: dict[str, Callable[[Ui], None]] = {
    "places": _places,
    "track": _track,
    "markers": _markers,
    "configure": _configure,
    "maps": _maps,
    "settings": _settings,
}
"""How each page is drawn."""
