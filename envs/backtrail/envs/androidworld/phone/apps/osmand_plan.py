"""The page of the map app on which a route is planned, point by point, and saved as a track."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import partial

from backtrail.envs.androidworld.phone.apps import osmand_data as data
from backtrail.envs.androidworld.phone.apps import storage
from backtrail.envs.androidworld.phone.apps.asking import ask, asked, open_question
from backtrail.envs.androidworld.phone.apps.osmand_map import Button
from backtrail.envs.androidworld.phone.apps.osmand_parts import (
    WHOLE,
    Spot,
    fit_map,
    map_view,
    point_of,
    push,
    show,
    shown_part,
    spot,
    words_of,
)
from backtrail.envs.androidworld.phone.apps.osmand_places import in_words, length
from backtrail.envs.androidworld.phone.page import GREY, WHITE
from backtrail.envs.androidworld.phone.ui import Ui
from backtrail.envs.androidworld.phone.views import View

__all__ = ["PAGES"]

_PANEL = 420  # pixels


def _plan(ui: Ui) -> None:
    state = ui.state
    points: list[Spot] = state.setdefault("points", [ui.args["start"]] if ui.args["start"] else [])
    undone: list[Spot] = state.setdefault("undone", [])
    ui.bar(
        "Plan a route",
        ("left", "Undo", partial(_undo, points, undone) if points else None),
        ("right", "Redo", partial(_redo, points, undone) if undone else None),
        ("check", "Save", partial(_ask_save, ui)),
        menu=[("Reverse route", points.reverse), ("Clear all", partial(_clear, points, undone))],
    )
    box = (ui.left, ui.top, ui.right, max(ui.top + 300, ui.bottom - _PANEL))
    right, bottom = box[2] - box[0], box[3] - box[1]
    zoom = partial(push, state)
    map_view(
        ui, box, partial(_add, points, undone), line=[point_of(each) for each in points], cross=True,
        buttons=[
            (Button("add", right - 100, bottom - 270), "Zoom in", "map_zoom_in_button", partial(zoom, zoom=1)),
            (Button("minus", right - 100, bottom - 110), "Zoom out", "map_zoom_out_button", partial(zoom, zoom=-1)),
        ],
    )  # fmt: skip
    ui.top = box[3]
    _panel(ui, points, undone)
    _dialogs(ui, points)


def _panel(ui: Ui, points: list[Spot], undone: list[Spot]) -> None:
    """Draw how long the route is, and what adds points to it."""
    ui.add(View("View", (ui.left, ui.top, ui.right, ui.bottom), fill=WHITE))
    metres = length([point_of(each) for each in points])
    ui.row(
        words_of(ui.phone, metres) if len(points) > 1 else "Add points by search, or by a tap on a place of the map",
        f"Points: {len(points)}" + (f", the last is {points[-1]['name']}" if points else ""),
        icon="route",
        tap=partial(ui.overlay, "points") if points else None,
        resource="distance",
    )
    view = shown_part(ui.state)
    center = (view["latitude"], view["longitude"])
    middle = spot(in_words(center), center, "Location")
    ui.gap(20)
    ui.buttons(
        ("Add point", partial(_add, points, undone, middle)),
        ("Search", partial(ui.phone.go, "search", use="point")),
        ("Points", partial(ui.overlay, "points")),
    )


def _add(points: list[Spot], undone: list[Spot], place: Spot) -> None:
    points.append(place)
    undone.clear()


def _undo(points: list[Spot], undone: list[Spot]) -> None:
    undone.append(points.pop())


def _redo(points: list[Spot], undone: list[Spot]) -> None:
    points.append(undone.pop())


def _clear(points: list[Spot], undone: list[Spot]) -> None:
    points.clear()
    undone.clear()


def _ask_save(ui: Ui) -> None:
    if len(ui.state["points"]) < 2:
        ui.phone.toast("Add at least two points")
        return
    name = posixpath.basename(storage.free(ui.phone, data.TRACKS, "Route.gpx"))
    open_question(ui, "save", name[: -len(".gpx")])


def _dialogs(ui: Ui, points: list[Spot]) -> None:
    phone = ui.phone

    def save(name: str) -> None:
        wrong = data.wrong_track_name(phone, name)
        if wrong:
            phone.toast(wrong)
            return ui.overlay("save")
        line = [point_of(each) for each in points]
        data.save_track(phone, name, line)
        phone.toast("Track saved")
        show(phone, track=name, overlay="")
        return fit_map(phone.top["state"], line, WHOLE)

    if asked(ui, "save"):
        ask(ui, "save", "Save as new track", "File name", "Save", save)
    elif asked(ui, "points"):
        with ui.dialog("Points", ("Close", None), height=min(1100, 200 * max(1, len(points)))), ui.scroll("points"):
            if not points:
                ui.text("There are no points yet", color=GREY)
            for place, each in enumerate(points):
                row = ui.row(f"{place + 1}.  {each['name']}", in_words(point_of(each)))
                _, top, right, bottom = row.bounds
                box = (right - 140, top + 30, right - 20, bottom - 30)
                row.children.append(
                    View(
                        "ImageButton", box, description=f"Remove point {place + 1}", icon="close", color=GREY,
                        on_tap=partial(points.pop, place),
                    )
                )  # fmt: skip


PAGES: dict[str, Callable[[Ui], None]] = {"plan": _plan}
"""How each page is drawn."""
