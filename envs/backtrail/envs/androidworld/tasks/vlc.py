"""Tasks on films and their playlists."""

from __future__ import annotations

import random
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.vlc_data import (
    VIDEOS,
    add_playlist,
    add_video,
    clock,
    entries,
    media,
    name,
    playlists,
)
from backtrail.envs.androidworld.phone.files import SHARED
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered

__all__ = ["TASKS", "VlcLength", "VlcOrder", "VlcPlaylist"]

_APP = "VLC"

_WHAT = (
    "beach",
    "birthday",
    "concert",
    "garden",
    "harbour",
    "hike",
    "kitchen",
    "lake",
    "match",
    "parade",
    "picnic",
    "snow",
)
_MORE = ("cut", "draft", "long", "part2", "silent", "v2")
_LISTS = ("Best of summer", "For grandma", "Holiday evening", "School talk", "Slow days", "Weekend trip")


class _Films(PhoneTask):
    """Films are on the phone, some with names that begin alike, and a playlist of two of them."""

    family = "video"
    apps = (_APP,)
    steps = 25

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw films as [name, seconds], which of them are chosen, in order, and the names of two playlists."""
        words = rng.sample(_WHAT, 8)
        names = [f"{word}_{rng.randint(1, 30)}.mp4" for word in words]
        chosen = names[: rng.randint(2, 4)]
        names += [each.replace(".", f"_{more}.") for each, more in zip(names, rng.sample(_MORE, 3), strict=False)]
        lengths = rng.sample(range(65, 900), len(names))
        films = [[each, length] for each, length in zip(names, lengths, strict=True)]
        rng.shuffle(films)
        title, other = rng.sample(_LISTS, 2)
        return {
            "films": films,
            "chosen": chosen,
            "listed": ", ".join(chosen),
            "title": title,
            "other": other,
            "others": names[5:7],
        }

    def prepare(self, phone: Phone) -> None:
        """Put the films onto the phone, and the playlist that is to stay as it is."""
        for each, length in self.parameters["films"]:
            add_video(phone, each, length)
        add_playlist(phone, self.parameters["other"], [f"{VIDEOS}/{each}" for each in self.parameters["others"]])

    def are(self, phone: Phone, *more: tuple[str, list[str]]) -> bool:
        """Whether just these playlists are there beside the one that was, as name and films; no film may be gone."""
        found = [(row["name"], entries(phone, row["id_playlist"])) for row in playlists(phone)]
        wanted = [(self.parameters["other"], self.parameters["others"]), *more]
        full = [(title, [f"{VIDEOS}/{each}" for each in names]) for title, names in wanted]
        films = {each for each, _ in self.parameters["films"]}
        there = {name(path) for path in media(phone) if path.startswith(f"{VIDEOS}/")}
        return sorted(found) == sorted(full) and there == films


class VlcPlaylist(_Films):
    """Make a playlist of films in a given order."""

    template = 'Make a playlist called "{title}" in VLC with these videos from VLCVideos, in this order: {listed}.'

    def done(self, phone: Phone) -> bool:
        """There is one more playlist, with these films in order."""
        return self.are(phone, (self.parameters["title"], self.parameters["chosen"]))

    def solve(self, oracle: Oracle) -> None:
        """Choose the films first."""
        first, *others = self.parameters["chosen"]
        oracle.open(_APP)
        oracle.hold(first)
        oracle.tap(*others, "Add to playlist")
        oracle.type("New playlist", self.parameters["title"])
        if oracle.sees("Save"):
            oracle.tap("Save")


class VlcOrder(_Films):
    """Put a playlist into the order of the films' lengths."""

    template = 'In VLC, put the videos of the playlist "{title}" into order of their length, the shortest first. Keep all of them.'
    steps = 40

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Let the playlist have four films, in an order that takes two to four moves."""
        drawn = super().draw(rng)
        names = sorted((each for each, _ in drawn["films"][:4]), key=dict(drawn["films"]).__getitem__)
        mixed = list(names)
        while not 2 <= _moves(mixed, names) <= 4:
            rng.shuffle(mixed)
        return {**drawn, "mixed": mixed, "sorted": names}

    def prepare(self, phone: Phone) -> None:
        """Make the playlist too."""
        super().prepare(phone)
        add_playlist(phone, self.parameters["title"], [f"{VIDEOS}/{each}" for each in self.parameters["mixed"]])

    def done(self, phone: Phone) -> bool:
        """The playlist has the same films, the shortest first."""
        return self.are(phone, (self.parameters["title"], self.parameters["sorted"]))

    def solve(self, oracle: Oracle) -> None:
        """Move up what stands behind a longer film, until there is none."""
        oracle.open(_APP)
        oracle.tap("Playlists", self.parameters["title"])
        wanted, row = self.parameters["sorted"], playlists(oracle.phone)
        number = next(each["id_playlist"] for each in row if each["name"] == self.parameters["title"])
        for each in wanted:
            while wanted.index(each) < [name(path) for path in entries(oracle.phone, number)].index(each):
                oracle.tap(f"More actions for {each}", "Move up")


class VlcLength(_Films):
    """Say how long a film is; one in another folder has the same name."""

    template = "How long is the video {film} in the folder VLCVideos, as VLC shows it? Answer with minutes and seconds alone, like 3:07."
    steps = 12
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Choose a film, and how long the other of this name is."""
        drawn = super().draw(rng)
        film, length = drawn["films"][0]
        other = length + rng.choice((-1, 1)) * rng.randint(5, 59)
        return {**drawn, "film": film, "length": clock(length), "elsewhere": other}

    def prepare(self, phone: Phone) -> None:
        """Put the other film into another folder."""
        super().prepare(phone)
        add_video(phone, self.parameters["film"], self.parameters["elsewhere"], f"{SHARED}/Movies")

    def done(self, phone: Phone) -> bool:
        """The answer is the length, and nothing was changed."""
        elsewhere = phone.files.exists(f"{SHARED}/Movies/{self.parameters['film']}")
        return answered(phone, self.parameters["length"]) and elsewhere and self.are(phone)

    def solve(self, oracle: Oracle) -> None:
        """Look into the folder."""
        oracle.open(_APP)
        oracle.tap("Browse", "Internal memory", "VLCVideos")
        oracle.find(self.parameters["film"])
        oracle.find(self.parameters["length"])
        oracle.answer(self.parameters["length"])


def _moves(names: list[str], wanted: list[str]) -> int:
    """Return how many times two neighbours must change places."""
    places = [wanted.index(each) for each in names]
    return sum(one > other for at, one in enumerate(places) for other in places[at + 1 :])


TASKS: tuple[type[PhoneTask], ...] = (VlcPlaylist, VlcOrder, VlcLength)
