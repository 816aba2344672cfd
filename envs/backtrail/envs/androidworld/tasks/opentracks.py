"""Tasks on sports activities."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps.opentracks_data import (
    KINDS,
    add_track,
    recorded_seconds,
    recording,
    tracks,
)
from backtrail.envs.androidworld.phone.apps.opentracks_words import elapsed
from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.oracle import Oracle
from backtrail.envs.androidworld.tasks.words import answered

__all__ = ["TASKS", "SportsCorrect", "SportsDelete", "SportsRecord", "SportsTimeOfWeek"]

_APP = "OpenTracks"
_MORNING = datetime(2023, 10, 15, 7, tzinfo=UTC)  # of the Sunday on which the phone's clock begins

_WHEN = ("Early", "Late", "Lunch", "Quiet", "Rainy", "Sunny", "Windy", "Lazy")
_WHERE = (
    "along the canal", "around the pond", "by the old mill", "in the hills", "near the station", "to the lighthouse",
    "under the bridges", "with the neighbours",
)  # fmt: skip
_NEAR = (
    ("running", "trail running"), ("hiking", "trail hiking"), ("mountain biking", "road biking"),
    ("cycling", "road biking"), ("skiing", "snowboarding"), ("rowing", "kayaking"),
)  # fmt: skip
_NOTES = (
    "Shoes were too tight", "New best time", "Took it easy", "Wet ground all the way", "Met Nora halfway",
    "Forgot my bottle", "Strong wind from the west", "Knee was fine again",
)  # fmt: skip

Entry = dict[str, Any]
"""An activity: name, kind, days (before today), after (minutes since seven in the morning), seconds, metres, note."""


def draw_activity(rng: random.Random, name: str, kind: str, days: int) -> Entry:
    """Return an activity of so many days ago, of whole minutes."""
    return {
        "name": name,
        "kind": kind,
        "days": days,
        "after": rng.randrange(0, 420, 5),
        "seconds": 60 * rng.randint(14, 170),
        "metres": rng.randint(700, 21000),
        "note": rng.choice(("", *_NOTES)),
    }


class _Sports(PhoneTask):
    """Some activities are there, with near-equal names; the first is meant."""

    family = "sports"
    apps = (_APP,)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw activities of the last weeks; two have a name that begins as that of the first."""
        names = rng.sample([f"{one} round {two}" for one in _WHEN for two in _WHERE], rng.randint(6, 9))
        names[1:3] = [f"{names[0]} and back", f"{names[0]} again"]
        days = rng.sample(range(1, 25), len(names))
        kinds = list(KINDS)
        rows = [draw_activity(rng, name, rng.choice(kinds), ago) for name, ago in zip(names, days, strict=True)]
        return {"name": names[0], "one": rows[0], "others": rows[1:]}

    def prepare(self, phone: Phone) -> None:
        """Put all of them onto the phone."""
        self.put(phone, [*self.parameters["others"], self.parameters["one"]])

    def put(self, phone: Phone, rows: list[Entry]) -> None:
        """Put activities onto the phone."""
        for row in rows:
            start = _MORNING - timedelta(days=row["days"]) + timedelta(minutes=row["after"])
            add_track(phone, row["name"], row["kind"], start, row["seconds"], row["metres"], note=row["note"])

    def are(self, phone: Phone, rows: list[Entry]) -> bool:
        """Whether just these activities are there, and nothing is being recorded."""
        columns = ("name", "category", "description", "totaltime", "totaldistance")
        found = [[row[name] for name in columns] for row in tracks(phone)]
        wanted = [[row["name"], row["kind"], row["note"], 1000 * row["seconds"], row["metres"]] for row in rows]
        return sorted(found) == sorted(wanted) and recording(phone)["state"] == "idle"


class SportsDelete(_Sports):
    """Delete one of several activities with near-equal names."""

    template = 'Delete the activity that is called just "{name}" from OpenTracks.'
    steps = 15

    def done(self, phone: Phone) -> bool:
        """The activity is gone, and no other."""
        return self.are(phone, self.parameters["others"])

    def solve(self, oracle: Oracle) -> None:
        """Use the button of its page."""
        oracle.open(_APP)
        oracle.tap(self.parameters["name"], "Delete", "Delete")


class SportsCorrect(_Sports):
    """Correct the type and the note of an activity."""

    template = (
        'The activity that is called just "{name}" in OpenTracks has the wrong type: it was {kind}. Correct that, and '
        'let its description be "{note}" and nothing else.'
    )

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw another type and another note."""
        drawn = super().draw(rng)
        one = drawn["one"]
        kind = rng.choice([each for each in KINDS if each != one["kind"]])
        return {**drawn, "kind": kind, "note": rng.choice([each for each in _NOTES if each != one["note"]])}

    def done(self, phone: Phone) -> bool:
        """The activity has them, and nothing else has changed."""
        wanted = self.parameters
        return self.are(phone, [{**wanted["one"], "kind": wanted["kind"], "note": wanted["note"]}, *wanted["others"]])

    def solve(self, oracle: Oracle) -> None:
        """Use its form."""
        wanted = self.parameters
        oracle.open(_APP)
        oracle.tap(wanted["name"], "Edit", "Activity type", wanted["kind"])
        oracle.type("track_edit_description", wanted["note"])
        oracle.tap("Save")


class SportsRecord(_Sports):
    """Record an activity with a pause and save it."""

    template = (
        "Record an activity in OpenTracks: pause it at least once, and stop it when its total time is at least "
        '{seconds} seconds. Save it under the name "{name}" with the activity type {kind}. Leave its description empty.'
    )
    steps = 25

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw its type and how long it is at least."""
        drawn = super().draw(rng)
        return {**drawn, "kind": drawn["one"]["kind"], "seconds": rng.randint(4, 9)}

    def prepare(self, phone: Phone) -> None:
        """Put the others onto the phone."""
        self.put(phone, self.parameters["others"])

    def done(self, phone: Phone) -> bool:
        """There is one more activity, as long as that and begun longer ago still, for it was paused."""
        wanted = self.parameters
        for row in tracks(phone):
            if row["name"] == wanted["name"]:
                seconds, whole = row["totaltime"] // 1000, (row["stoptime"] - row["starttime"]) // 1000
                one = {"name": row["name"], "kind": wanted["kind"], "note": "", "seconds": seconds, "metres": 0.0}
                return wanted["seconds"] <= seconds < whole and self.are(phone, [one, *wanted["others"]])
        return False

    def solve(self, oracle: Oracle) -> None:
        """Pause at once, then wait while it goes on."""
        wanted = self.parameters
        oracle.open(_APP)
        oracle.tap("Record", "Pause", "Resume")
        while recorded_seconds(oracle.phone) < wanted["seconds"]:
            oracle.wait()
        oracle.tap("Stop", "Activity type", wanted["kind"])
        oracle.type("track_edit_name", wanted["name"])
        oracle.tap("Save")


class SportsTimeOfWeek(_Sports):
    """Say for how long one did a kind of sport this week."""

    template = (
        "For how many minutes altogether did I do {kind} this week, by the activities in OpenTracks? A week begins on "
        "Monday, and only this type counts. Answer with the number alone."
    )
    answers = True

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw activities of the type and of one with a near name, in this week and before."""
        names = rng.sample([f"{one} round {two}" for one in _WHEN for two in _WHERE], 9)
        kind, near = rng.choice(_NEAR)
        this_week, before = rng.sample(range(1, 7), 5), rng.sample(range(7, 20), 4)
        count = rng.randint(2, 3)
        kinds = [kind] * count + [near] * (5 - count) + [kind, kind, near, rng.choice(list(KINDS))]
        rows = [
            draw_activity(rng, name, each, days)
            for name, each, days in zip(names, kinds, [*this_week, *before], strict=True)
        ]
        minutes = sum(row["seconds"] for row in rows[:count]) // 60
        rng.shuffle(rows)
        return {"kind": kind, "minutes": minutes, "one": rows[0], "others": rows[1:]}

    def done(self, phone: Phone) -> bool:
        """The answer is the sum, and nothing was changed."""
        wanted = self.parameters
        return answered(phone, str(wanted["minutes"])) and self.are(phone, [wanted["one"], *wanted["others"]])

    def solve(self, oracle: Oracle) -> None:
        """Read the statistics of this week."""
        minutes = self.parameters["minutes"]
        oracle.open(_APP)
        oracle.tap("More options", "Aggregated statistics", "This week")
        oracle.find(elapsed(60 * minutes))
        oracle.answer(str(minutes))


TASKS: tuple[type[PhoneTask], ...] = (SportsDelete, SportsCorrect, SportsRecord, SportsTimeOfWeek)
