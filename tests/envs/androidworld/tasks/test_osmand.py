"""Tasks on the map: solved by touch, and refused where something else was done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from checking_tasks import SEEDS, prepared, solved

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import osmand_data as data
from backtrail.envs.androidworld.phone.apps.osmand_places import PLACES, length
from backtrail.envs.androidworld.tasks import osmand as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.osmand import MapFavorite, MapMarkersPassed, MapTrack, MapTrackLength

POINTS = {place.name: place.point for place in PLACES}
CHANGES: tuple[Callable[[Phone], None], ...] = (
    lambda phone: data.add_favorite(phone, "More", (47.0, 9.5)),
    lambda phone: data.delete_favorite(phone, data.favorites(phone)[0]),
    lambda phone: data.add_marker(phone, "More", (47.0, 9.5)),
    lambda phone: data.pass_marker(phone, data.markers(phone)[0]["marker_id"]),
    lambda phone: data.delete_marker(phone, data.markers(phone)[-1]["marker_id"]),
    lambda phone: data.save_track(phone, "More", [(47.0, 9.5), (47.1, 9.5)]),
    lambda phone: data.delete_track(phone, data.tracks(phone)[0]),
)


@pytest.mark.parametrize("kind", family.TASKS)
def test_nothing_else_may_change(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    saved = phone.save()
    for change in CHANGES:
        phone.load(saved)
        assert task.done(phone)
        change(phone)
        assert not task.done(phone)


@pytest.mark.parametrize("wrong", ["place", "group", "description"])
def test_each_part_of_a_favourite_counts(wrong: str) -> None:
    task = MapFavorite(0)
    place, group, description = (task.parameters[name] for name in ("place", "group", "description"))
    for right in (True, False):
        phone = prepared(task).phone
        point = POINTS["Sevelen" if wrong == "place" and not right else place]
        words = (group, "Else") if wrong == "description" else ("Else", description)
        data.add_favorite(phone, place, point, *((group, description) if right or wrong == "place" else words))
        assert task.done(phone) is right


@pytest.mark.parametrize("seed", SEEDS)
def test_the_places_with_longer_or_shorter_names_are_others(seed: int) -> None:
    task = MapMarkersPassed(seed)
    phone = prepared(task).phone
    wanted = [task.parameters[name].lower() for name in ("one", "other")]
    for row in data.markers(phone):
        title = row["title"].lower()
        if title not in wanted and any(title in name or name in title for name in wanted):
            data.pass_marker(phone, row["marker_id"])
    assert len(data.markers(phone, active=False)) == 2 and not task.done(phone)


def test_the_points_of_a_track_count_and_their_order() -> None:
    task = MapTrack(0)
    line = [POINTS[task.parameters[name]] for name in ("first", "second", "third")]
    for points in (line, line[::-1], line[:2], [*line, POINTS["Buchs"]]):
        phone = prepared(task).phone
        data.save_track(phone, task.parameters["name"], points)
        assert task.done(phone) is (points == line)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_length_of_the_track_alone(seed: int) -> None:
    task = MapTrackLength(seed)
    phone = prepared(task).phone
    for name in data.tracks(phone):
        phone.state["answer"] = f"{length_of(phone, name)} km"
        assert task.done(phone) is (length_of(phone, name) == task.parameters["length"])
    named = [name for name in data.tracks(phone) if name.startswith(task.parameters["name"])]
    assert len(named) == 3 and len([name for name in named if length_of(phone, name) == task.parameters["length"]]) == 1


def length_of(phone: Phone, name: str) -> str:
    return f"{length(data.track(phone, name)) / 1000:.1f}"
