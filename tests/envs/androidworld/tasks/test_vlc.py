"""Tasks on films: solved by touch, and refused where something else was done."""

from __future__ import annotations

import pytest
from checking_tasks import SEEDS, prepared, solved

from backtrail.envs.androidworld.phone.apps.vlc_data import (
    VIDEOS,
    add_playlist,
    clock,
    delete_file,
    entries,
    move_in_playlist,
    name,
    playlists,
    rename_playlist,
)
from backtrail.envs.androidworld.tasks import vlc as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.vlc import VlcLength, VlcOrder, VlcPlaylist


@pytest.mark.parametrize("kind", family.TASKS)
def test_nothing_else_may_change(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    saved, number = phone.save(), playlists(phone)[0]["id_playlist"]
    for change in (
        lambda: add_playlist(phone, "More"),
        lambda: move_in_playlist(phone, number, 0, 1),
        lambda: rename_playlist(phone, number, "Else"),
        lambda: delete_file(phone, f"{VIDEOS}/{task.parameters['films'][0][0]}"),
    ):
        phone.load(saved)
        assert task.done(phone)
        change()
        assert not task.done(phone)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_and_each_film_of_a_new_playlist_count(seed: int) -> None:
    task = VlcPlaylist(seed)
    phone, chosen = prepared(task).phone, [f"{VIDEOS}/{each}" for each in task.parameters["chosen"]]
    saved = phone.save()
    begun = next(each for each, _ in task.parameters["films"] if each.startswith(f"{name(chosen[0])[:-4]}_"))
    for paths in (chosen[::-1], chosen[:-1], [*chosen, f"{VIDEOS}/{begun}"], [f"{VIDEOS}/{begun}", *chosen[1:]]):
        phone.load(saved)
        add_playlist(phone, task.parameters["title"], paths)
        assert not task.done(phone)
    phone.load(saved)
    add_playlist(phone, task.parameters["title"], chosen)
    assert task.done(phone)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_shortest_film_comes_first(seed: int) -> None:
    task = VlcOrder(seed)
    lengths = dict(task.parameters["films"])
    phone = solved(task).phone
    number = next(row["id_playlist"] for row in playlists(phone) if row["name"] == task.parameters["title"])
    found = [lengths[name(path)] for path in entries(phone, number)]
    assert found == sorted(found) and len(found) == 4
    move_in_playlist(phone, number, 1, 1)
    assert not task.done(phone)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_length_of_the_other_film_of_this_name_is_wrong(seed: int) -> None:
    task = VlcLength(seed)
    phone = prepared(task).phone
    for answer, right in ((task.parameters["length"], True), (clock(task.parameters["elsewhere"]), False)):
        phone.state["answer"] = f"It is {answer} long."
        assert task.done(phone) is right
