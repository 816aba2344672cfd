"""Tasks on music: solved by touch, and refused where something else was done."""

from __future__ import annotations

import pytest
from checking_tasks import prepared, solved

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.music_data import Row, add_playlist, delete_playlist, playlists, songs
from backtrail.envs.androidworld.phone.apps.music_player import enqueue
from backtrail.envs.androidworld.tasks import music as family
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.music import MusicPlaylist, MusicQueue


def rows(phone: Phone, titles: list[str]) -> list[Row]:
    by_title = {row["title"]: row for row in songs(phone)}
    return [by_title[title] for title in titles]


def test_name_songs_and_order_of_the_playlist_count() -> None:
    task = MusicPlaylist(0)
    name, chosen = task.parameters["name"], task.parameters["chosen"]
    for called, titles, done in (
        (name, chosen, True),
        (f"{name} 2", chosen, False),
        (name, chosen[::-1], False),
        (name, chosen[:-1], False),
        (name, [f"{chosen[0]} (live)", *chosen[1:]], False),
    ):
        phone = prepared(task).phone
        add_playlist(phone, called, rows(phone, titles))
        assert task.done(phone) is done


@pytest.mark.parametrize("kind", family.TASKS)
def test_the_other_playlist_stays(kind: type[PhoneTask]) -> None:
    task = kind(1)
    phone = solved(task).phone
    number = next(row["playlist_id"] for row in playlists(phone) if row["playlist_name"] == task.parameters["other"])
    delete_playlist(phone, number)
    assert not task.done(phone)


def test_order_and_number_of_the_queue_count() -> None:
    task = MusicQueue(0)
    chosen = task.parameters["chosen"]
    other = next(title for title, *_ in task.parameters["songs"] if title not in chosen)
    for titles, done in ((chosen, True), (chosen[::-1], False), ([*chosen, other], False), (chosen[1:], False)):
        phone = prepared(task).phone
        enqueue(phone, rows(phone, titles))
        assert task.done(phone) is done
