"""Tasks on music."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.music_data import (
    add_playlist,
    add_song,
    playlist_songs,
    playlists,
    songs,
)
from backtrail.envs.androidworld.phone.apps.music_player import queue
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle

__all__ = ["TASKS", "MusicPlaylist", "MusicQueue"]

_APP = "Retro Music"

_TITLES = (
    "Amber Lights", "Before the Snow", "Copper Moon", "Dust and Honey", "Eleven Bells", "Ferry Home", "Glass Garden",
    "Half a Mile", "Island Radio", "June Again", "Kite Weather", "Low Tide", "Midnight Tram", "North Window", "Old Harbour",
    "Paper Boats", "Quiet Engines", "River Stones", "Seven Lanterns", "Two Left Shoes",
)  # fmt: skip
_ARTISTS = ("The Gull Room", "Mara Voss", "Ebble Quartet", "Night Bakers", "Tom Ardent")
_LISTS = (
    "Morning run",
    "Sunday kitchen",
    "Long drive",
    "Rainy day",
    "Late shift",
    "Garden party",
    "Train ride",
    "Homework",
)


class _Songs(PhoneTask):
    """Songs are on the phone, some of them with titles that begin alike."""

    family = "music"
    apps = (_APP,)
    steps = 25

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw songs as [title, artist, milliseconds], and which of them are chosen, in order."""
        titles = rng.sample(_TITLES, 12)
        chosen = rng.sample(titles, rng.randint(2, 4))
        titles += [f"{chosen[0]} (live)", f"{chosen[1]} (remix)"]
        rows = [[title, rng.choice(_ARTISTS), 1000 * rng.randint(120, 400)] for title in titles]
        name, other = rng.sample(_LISTS, 2)
        return {"songs": rows, "chosen": chosen, "listed": ", ".join(chosen), "name": name, "other": other}

    def prepare(self, phone: Phone) -> None:
        """Put the songs onto the phone, and a playlist of two of them."""
        for title, artist, duration in self.parameters["songs"]:
            add_song(phone, title, artist, duration)
        add_playlist(phone, self.parameters["other"], songs(phone)[:2])

    def lists_are(self, phone: Phone, *more: tuple[str, list[str]]) -> bool:
        """Whether just the playlist that was there and these are there: name and titles."""
        before = (self.parameters["other"], sorted((row[0] for row in self.parameters["songs"]), key=str.lower)[:2])
        found = [(row["playlist_name"], playlist_songs(phone, row["playlist_id"])) for row in playlists(phone)]
        return [(name, [row["title"] for row in rows]) for name, rows in found] == sorted([before, *more])

    def choose(self, oracle: Oracle) -> None:
        """Mark the songs in their order."""
        first, *others = self.parameters["chosen"]
        oracle.open(_APP)
        oracle.hold(first)
        oracle.tap(*others)


class MusicPlaylist(_Songs):
    """Make a playlist of songs in a given order."""

    template = 'Make a playlist called "{name}" in Retro Music with these songs, in this order: {listed}.'

    def done(self, phone: Phone) -> bool:
        """There is one more playlist, with these songs in order."""
        return self.lists_are(phone, (self.parameters["name"], self.parameters["chosen"]))

    def solve(self, oracle: Oracle) -> None:
        """Choose the songs first."""
        self.choose(oracle)
        oracle.tap("Add to playlist", "New playlist")
        oracle.type("Playlist name", self.parameters["name"])
        oracle.tap("Create")


class MusicQueue(_Songs):
    """Put songs into the queue in a given order."""

    template = "Put these songs into the playing queue of Retro Music, in this order and no others: {listed}."
    steps = 20

    def done(self, phone: Phone) -> bool:
        """The queue has just these songs, in order; the playlist is as it was."""
        return [row["title"] for row in queue(phone)] == self.parameters["chosen"] and self.lists_are(phone)

    def solve(self, oracle: Oracle) -> None:
        """Choose the songs first."""
        self.choose(oracle)
        oracle.tap("Add to playing queue")


TASKS: tuple[type[PhoneTask], ...] = (MusicPlaylist, MusicQueue)
