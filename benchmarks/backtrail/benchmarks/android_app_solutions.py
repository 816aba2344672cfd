"""How tasks of AndroidWorld on notebooks, films, sports and maps are done on the simulated phone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from backtrail.envs.androidworld.phone.apps.opentracks_words import distance, elapsed
from backtrail.envs.androidworld.phone.apps.osmand_places import in_words, read_coordinates
from backtrail.envs.androidworld.tasks.oracle import NotThere, Oracle

__all__ = [
    "answer_on_sports", "count_attendees", "count_todos", "create_film_list", "create_two_film_lists", "is_todo",
    "mark_place", "plan_track", "read_quantity", "save_place",
]  # fmt: skip

_MARK = "to-do: "
"""How the descriptions of the boxes before to-dos begin."""


def _listed(o: Oracle, text: str) -> int:
    """Return the number of what says just this in a list: the field in which it was typed says so, too."""
    return o.place(lambda each: each.text == text and not each.editable, text)


# -- notebooks --------------------------------------------------------------------------------------------


def _find(o: Oracle, title: str) -> int:
    """Search for a note and return the number of its row."""
    o.open("joplin")
    o.tap("Search")
    o.type("Search in all notes", title)
    return _listed(o, title)


def is_todo(o: Oracle, task: Any) -> None:
    """Look whether the row has a box to tick."""
    title = task.params["title"]
    _find(o, title)
    o.answer(str(o.sees(f"{_MARK}{title}")))


def count_attendees(o: Oracle, task: Any) -> None:
    """Read the line with a number of people."""
    o.do("click", index=_find(o, task.params["title"]))
    line = re.compile(r"(?:Attended by )?(\d+) (?:attendees|individuals|participants|people)\b.*")
    place = o.place(lambda each: line.fullmatch(each.text) is not None, "a number of people")
    o.answer(re.findall(r"\d+", o.backend.elements()[place].text)[0])


def read_quantity(o: Oracle, task: Any) -> None:
    """Read the line with the ingredient; where a recipe has it twice, the task means one of the two."""
    ingredient, meant = task.params["ingredient"], task.params["ingredient_quantity"]
    o.do("click", index=_find(o, task.params["title"]))
    lines = [e.text for e in o.backend.elements() if e.text.endswith(f" {ingredient}")]
    said = [line.removesuffix(f" {ingredient}") for line in lines]
    if not said:
        raise NotThere(f"No line of the note ends with {ingredient!r}")
    o.answer(meant if meant in said else said[0])


def count_todos(o: Oracle, task: Any) -> None:
    """Count the boxes in the list of the notebook, from its first row to its last."""
    o.open("joplin")
    o.tap("Sidebar", task.params["folder"])
    boxes: set[str] = set()
    while True:
        seen = o.backend.elements()
        boxes |= {each.description for each in seen if each.description.startswith(_MARK)}
        scrollable = [number for number, each in enumerate(seen) if each.scrollable]
        if scrollable:
            o.do("scroll", direction="down", index=scrollable[0])
        if o.backend.elements() == seen:
            return o.answer(str(len(boxes)))


# -- films ------------------------------------------------------------------------------------------------


def create_film_list(o: Oracle, task: Any) -> None:
    """Make the playlist that the task asks for."""
    _film_list(o, task.params["playlist_name"], task.params["files"])


def create_two_film_lists(o: Oracle, task: Any) -> None:
    """Make one playlist after the other."""
    for number in (1, 2):
        _film_list(o, task.params[f"playlist_name{number}"], task.params[f"files{number}"])


def _film_list(o: Oracle, name: str, files: Sequence[str]) -> None:
    """Choose the films of a folder in their order, and put them into a new playlist."""
    first, *others = files
    o.open("VLC")
    o.tap("Browse", "Internal memory", "VLCVideos")
    o.hold(first)
    o.tap(*others, "Add to playlist")
    o.type("dialog_playlist_name", name)
    if o.sees("Save"):  # typing may end with enter, which saves
        o.tap("Save")


# -- maps -------------------------------------------------------------------------------------------------


def _look_up(o: Oracle, location: str) -> None:
    """Search a place by name or coordinates and tap what is found."""
    o.tap("Search")
    o.type("searchEditText", location)
    point = read_coordinates(location)
    name = in_words(point) if point else location.split(",")[0]
    o.do("click", index=_listed(o, name))


def save_place(o: Oracle, task: Any) -> None:
    """Save a place as a favourite."""
    o.open("OsmAnd")
    _look_up(o, task.params["location"])
    o.tap("Add", "Save")


def mark_place(o: Oracle, task: Any) -> None:
    """Put a marker on a place."""
    o.open("OsmAnd")
    _look_up(o, task.params["location"])
    o.tap("Marker")


def plan_track(o: Oracle, task: Any) -> None:
    """Plan a route over some places and save it."""
    o.open("OsmAnd")
    o.tap("Menu", "Plan a route")
    for location in task.params["waypoints"]:
        _look_up(o, location)
    o.tap("Save")
    o.type("save", task.params.get("track_name") or "Track")
    o.tap("Save")


# -- sports -----------------------------------------------------------------------------------------------


def answer_on_sports(o: Oracle, task: Any) -> None:
    """Find the activities that the question is about and what the answer says on their pages; give the expected one."""
    for each in task.task.relevant_state.state.sports_activity_app.sports_activities:
        o.open("OpenTracks")
        o.tap("Search")
        o.type("Search activities", each.name)
        o.do("click", index=_listed(o, each.name))
        month, day, year = each.start_date.split()
        o.place(lambda e, words=f"{month} {day}, {year}": words in e.text, each.start_date)
        o.find(each.category)
        o.find(elapsed(60 * int(each.duration)))
        o.find(distance(o.phone, float(each.total_distance)))
    utils = import_module("android_world.task_evals.information_retrieval.proto_utils")
    expected = utils.get_expected_answer(task.task)
    o.answer(", ".join(each if isinstance(each, str) else f"{each:.0f}" for each in expected))
