"""Tasks on the map: favourites, map markers and tracks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import osmand_data as data
from backtrail.envs.androidworld.phone.apps.osmand_parts import words_of
from backtrail.envs.androidworld.phone.apps.osmand_places import PLACES, Point, length
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered

__all__ = ["TASKS", "MapFavorite", "MapMarkersPassed", "MapTrack", "MapTrackLength"]

_APP = "OsmAnd"

_ALIKE = (("Triesen", "Triesenberg"), ("Planken", "Oberplanken"), ("Schaan", "Schaanwald"))
_OTHERS = ("Balzers", "Bendern", "Eschen", "Gamprin", "Malbun", "Mauren", "Nendeln", "Ruggell", "Schellenberg", "Vaduz")
_GROUPS = ("Hikes", "Friends", "Restaurants", "Work", "Photos", "Weekend")
_WORDS = (
    "Meet at the fountain", "Good bakery", "Parking behind the church", "Bus every hour", "Closed on Mondays",
    "View of the valley", "Ask for the key", "Room for two tents",
)  # fmt: skip
_TRACKS = ("Morning loop", "Delivery", "Bike tour", "School run", "Sunday walk", "Valley ride", "Post round")

_POINTS: dict[str, Point] = {place.name: place.point for place in PLACES}

Kept = dict[str, Any]
"""What is saved on the map: "favorites" as [name, latitude, longitude, group, description], "active" and "passed" with
the names and coordinates of markers, all of these sorted; "tracks" with the points by name."""


def kept(phone: Phone) -> Kept:
    """Return all that is saved on the map."""
    rows = [
        [row["name"], row["latitude"], row["longitude"], row["group"], row["description"]]
        for row in data.favorites(phone)
    ]
    marked = {
        name: sorted(
            [row["title"], row["marker_lat"], row["marker_lon"]] for row in data.markers(phone, name == "active")
        )
        for name in ("active", "passed")
    }
    tracks = {name: [list(point) for point in data.track(phone, name)] for name in data.tracks(phone)}
    return {"favorites": sorted(rows), **marked, "tracks": tracks}


def find(oracle: Oracle, name: str) -> None:
    """Search a place and tap what has just this name."""
    oracle.tap("Search")
    oracle.type("searchEditText", f"{name}, Liechtenstein")
    oracle.do("click", index=oracle.place(lambda e: e.text == name and not e.editable, name))


class _Map(PhoneTask):
    """Some things are saved; places with near-equal names are among them."""

    family = "maps"
    apps = (_APP,)
    steps = 15

    def prepare(self, phone: Phone) -> None:
        """Save what there is at the start."""
        start = self.parameters["start"]
        for name, latitude, longitude, group, description in start["favorites"]:
            data.add_favorite(phone, name, (latitude, longitude), group, description)
        for name, latitude, longitude in start["active"]:
            data.add_marker(phone, name, (latitude, longitude))
        for name, points in start["tracks"].items():
            data.save_track(phone, name, [(latitude, longitude) for latitude, longitude in points])

    def done(self, phone: Phone) -> bool:
        """Just what is wanted is saved."""
        return kept(phone) == self.parameters["end"]


def _start(rng: random.Random, names: Sequence[str], group: str) -> Kept:
    """Return things that are saved, with these places among the favourites and markers, in a group and outside."""
    places = [*names, *rng.sample(_OTHERS, 4)]
    words = rng.sample(_WORDS, len(places))
    groups = [rng.choice((group, data.DEFAULT, rng.choice(_GROUPS))) for _ in places]
    groups[0] = group
    tracks = {name: _line(rng.sample(_OTHERS, rng.randint(2, 4))) for name in rng.sample(_TRACKS, 3)}
    return {
        "favorites": sorted([a, *_POINTS[a], b, c] for a, b, c in zip(places, groups, words, strict=True)),
        "active": sorted([name, *_POINTS[name]] for name in places),
        "passed": [],
        "tracks": tracks,
    }


def _line(names: Sequence[str]) -> list[list[float]]:
    return [list(_POINTS[name]) for name in names]


class MapFavorite(_Map):
    """Save a place as a favourite."""

    template = (
        'Save {place} in Liechtenstein as a favorite in OsmAnd, in the group "{group}" and with the description '
        '"{description}". Keep the name that the map has for it.'
    )

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let a place with a longer or shorter name be a favourite already."""
        place, alike = rng.sample(rng.choice(_ALIKE), 2)
        group = rng.choice(_GROUPS)
        start = _start(rng, [alike], group)
        description = rng.choice([each for each in _WORDS if each not in {row[4] for row in start["favorites"]}])
        new = [place, *_POINTS[place], group, description]
        end = {**start, "favorites": sorted([*start["favorites"], new])}
        return {"place": place, "group": group, "description": description, "start": start, "end": end}

    def solve(self, oracle: Oracle) -> None:
        """Search it, and fill in the form."""
        oracle.open(_APP)
        find(oracle, self.parameters["place"])
        oracle.tap("Add")
        oracle.type("description_edit", self.parameters["description"])
        oracle.tap("Group", self.parameters["group"], "Save")


class MapMarkersPassed(_Map):
    """Mark two of several markers as passed."""

    template = "In OsmAnd, mark the map markers of {one} and {other} as passed. Leave all other markers active."

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let the markers of places with near-equal names stay."""
        (one, stays), (other, stays_too) = (rng.sample(pair, 2) for pair in rng.sample(_ALIKE, 2))
        start = _start(rng, [one, stays, other, stays_too], rng.choice(_GROUPS))
        passed = [row for row in start["active"] if row[0] in (one, other)]
        end = {**start, "active": [row for row in start["active"] if row not in passed], "passed": passed}
        return {"one": one, "other": other, "start": start, "end": end}

    def solve(self, oracle: Oracle) -> None:
        """Touch the mark beside each in the list."""
        oracle.open(_APP)
        oracle.tap("Menu", "Map markers")
        active = {row["title"] for row in data.markers(oracle.phone)}
        for name in (self.parameters["one"], self.parameters["other"]):
            if name in active:
                oracle.tap_in(name, "ImageButton")


class MapTrack(_Map):
    """Plan a route over three places and save it."""

    template = (
        "In OsmAnd, plan a route with straight lines from {first} over {second} to {third}, and save it as a track with "
        'the name "{name}". It must have these three points alone.'
    )
    steps = 25

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let one of the places have a name like another's."""
        names = [rng.choice(rng.choice(_ALIKE)), *rng.sample(_OTHERS, 2)]
        rng.shuffle(names)
        start = _start(rng, [], rng.choice(_GROUPS))
        name = rng.choice([each for each in _TRACKS if each not in start["tracks"]])
        end = {**start, "tracks": {**start["tracks"], name: _line(names)}}
        first, second, third = names
        return {"first": first, "second": second, "third": third, "name": name, "start": start, "end": end}

    def solve(self, oracle: Oracle) -> None:
        """Search each of the places."""
        oracle.open(_APP)
        oracle.tap("Menu", "Plan a route")
        for name in ("first", "second", "third"):
            find(oracle, self.parameters[name])
        oracle.tap("Save")
        oracle.type("save", self.parameters["name"])
        oracle.tap("Save")


class MapTrackLength(_Map):
    """Say how long a track is."""

    template = (
        'How many kilometers long is the track that is called just "{name}" in OsmAnd? Answer with the number that the '
        "app shows, with one decimal place."
    )
    steps = 10
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let tracks with longer names have other lengths."""
        start = _start(rng, [], rng.choice(_GROUPS))
        name = rng.choice([each for each in _TRACKS if each not in start["tracks"]])
        more = {f"{name} {word}": _line(rng.sample(_OTHERS, 3)) for word in rng.sample(("back", "long", "new"), 2)}
        lengths = {_kilometers(points) for points in more.values()}
        line = _line(rng.sample(_OTHERS, 3))
        while _kilometers(line) in lengths:
            line = _line(rng.sample(_OTHERS, 3))
        start["tracks"] = {**start["tracks"], **more, name: line}
        return {"name": name, "length": _kilometers(line), "start": start, "end": start}

    def done(self, phone: Phone) -> bool:
        """The answer is the length, and nothing was changed."""
        return answered(phone, self.parameters["length"]) and super().done(phone)

    def solve(self, oracle: Oracle) -> None:
        """Look at its page."""
        oracle.open(_APP)
        oracle.tap("Menu", "My Places", "Tracks", self.parameters["name"])
        oracle.find(words_of(oracle.phone, length(data.track(oracle.phone, self.parameters["name"]))))
        oracle.answer(self.parameters["length"])


def _kilometers(line: Sequence[Sequence[float]]) -> str:
    return f"{length([(latitude, longitude) for latitude, longitude in line]) / 1000:.1f}"


TASKS: tuple[type[PhoneTask], ...] = (MapFavorite, MapMarkersPassed, MapTrack, MapTrackLength)
