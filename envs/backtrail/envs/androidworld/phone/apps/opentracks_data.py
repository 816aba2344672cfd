"""The data of the sports tracker: rows with the columns of its ``tracks`` table, and the recording under way."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "KEY",
    "KINDS",
    "Row",
    "Total",
    "add_track",
    "change_track",
    "delete_tracks",
    "discard_recording",
    "fresh",
    "icon_of",
    "pause_recording",
    "recorded_seconds",
    "recording",
    "run_recording",
    "save_recording",
    "search",
    "start_of",
    "stop_recording",
    "totals",
    "track",
    "tracks",
    "week_of",
]

KEY = "opentracks"

Row = dict[str, Any]
"""The columns of ``tracks``: times in milliseconds, distances and heights in metres, speeds in metres a second."""

KINDS = {
    "climbing": "mountain",
    "cycling": "bike",
    "hiking": "mountain",
    "inline skating": "skate",
    "kayaking": "waves",
    "mountain biking": "bike",
    "road biking": "bike",
    "rowing": "waves",
    "running": "run",
    "sailing": "sail",
    "skateboarding": "skate",
    "skiing": "snow",
    "snowboarding": "snow",
    "surfing": "waves",
    "swimming": "waves",
    "trail hiking": "mountain",
    "trail running": "run",
    "walking": "run",
}
"""Activity types that can be chosen, and their icons."""

_ICONS = {kind.replace(" ", ""): icon for kind, icon in KINDS.items()} | {"biking": "bike", "paddling": "waves"}

_EMPTY: Row = {
    "_id": 0, "name": "", "description": "", "category": "", "activity_type": "", "starttime": 0, "stoptime": 0,
    "numpoints": 0, "totaldistance": 0.0, "totaltime": 0, "movingtime": 0, "avgspeed": 0.0, "avgmovingspeed": 0.0,
    "maxspeed": 0.0, "minelevation": 0.0, "maxelevation": 0.0, "elevationgain": 0.0, "icon": "", "uuid": "",
    "elevationloss": 0.0, "starttime_offset": 0,
}  # fmt: skip
_IDLE: Row = {"state": "idle", "kept": 0, "since": 0, "started": 0, "ended": 0}
_LAST = 253_402_300_799_000  # the end of the year 9999


class Total(NamedTuple):
    """What all activities of a type make together.

    Attributes:
        kind: The type, "" for none.
        number: How many there are.
        metres: Their distance.
        seconds, moving: How long they took, and how long of that one moved.
        fastest: The highest speed, in metres a second; 0 if none is known.
    """

    kind: str
    number: int
    metres: float
    seconds: int
    moving: int
    fastest: float


def fresh() -> Data:
    """Return no activities, miles, and no recording.

    A recording is "idle", "recording", "paused" or "stopped" (but not saved yet); of it "kept" are the seconds until it
    was last paused, "since" is when it last went on, "started" and "ended" are when it began and stopped.
    """
    return {"tracks": [], "metric": False, "kind": "", "recording": dict(_IDLE)}


# -- activities -------------------------------------------------------------------------------------------


def tracks(phone: Phone) -> list[Row]:
    """Return copies of all rows, the newest first; what is NULL in one is zero or empty in its copy."""
    rows = [_whole(row) for row in phone.data(KEY)["tracks"]]
    return sorted(rows, key=lambda row: (-row["starttime"], -row["_id"]))


def track(phone: Phone, number: int) -> Row | None:
    """Return a copy of the row with an id; None if there is none."""
    return next((row for row in tracks(phone) if row["_id"] == number), None)


def search(rows: Iterable[Row], words: str) -> list[Row]:
    """Return the activities that have all the words in name, note or type."""
    wanted = words.lower().split()
    return [
        row
        for row in rows
        if all(any(word in row[name].lower() for name in ("name", "description", "category")) for word in wanted)
    ]


def add_track(
    phone: Phone,
    name: str,
    kind: str,
    start: datetime,
    seconds: int,
    metres: float = 0.0,
    *,
    note: str = "",
    climb: float = 0.0,
    moving: int | None = None,
) -> int:
    """Add an activity and return its id.

    Args:
        phone: The phone.
        name: Its name.
        kind: Its type, of `KINDS` or another.
        start: When it began (UTC).
        seconds: How long it took.
        metres: How far it went.
        note: A longer text.
        climb: Metres that it went up, and down again.
        moving: For how many of the seconds one moved; all by default.
    """
    moving = seconds if moving is None else moving
    began, number = round(start.timestamp() * 1000), phone.new_id()
    row = {
        **_EMPTY, "_id": number, "name": name, "description": note, "category": kind, "activity_type": kind,
        "starttime": began, "stoptime": began + 1000 * seconds, "totaldistance": float(metres),
        "totaltime": 1000 * seconds, "movingtime": 1000 * moving, "avgspeed": metres / max(1, seconds),
        "avgmovingspeed": metres / max(1, moving),
        "elevationgain": float(climb), "elevationloss": float(climb), "uuid": f"{number:032x}",
    }  # fmt: skip
    phone.data(KEY)["tracks"].append(row)
    return number


def change_track(phone: Phone, number: int, name: str, kind: str, note: str) -> None:
    """Change what is written about an activity; the arguments are those of `add_track`.

    Raises:
        KeyError: If there is no such activity.
    """
    row = next((row for row in phone.data(KEY)["tracks"] if row["_id"] == number), None)
    if row is None:
        raise KeyError(f"Expected the id of an activity, got {number}")
    row.update(name=name, category=kind, activity_type=kind, description=note)


def delete_tracks(phone: Phone, numbers: Collection[int]) -> None:
    """Delete the activities with some ids."""
    data = phone.data(KEY)
    data["tracks"] = [row for row in data["tracks"] if row["_id"] not in numbers]


def totals(rows: Iterable[Row]) -> list[Total]:
    """Return a total for each type, that of the most activities first."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["category"], []).append(row)
    found = [
        Total(
            kind,
            len(group),
            sum(row["totaldistance"] for row in group),
            sum(row["totaltime"] for row in group) // 1000,
            sum(row["movingtime"] for row in group) // 1000,
            max(row["maxspeed"] for row in group),
        )
        for kind, group in groups.items()
    ]
    return sorted(found, key=lambda total: (-total.number, total.kind))


def start_of(row: Row) -> datetime:
    """Return when an activity began (UTC)."""
    return datetime.fromtimestamp(min(max(row["starttime"], 0), _LAST) // 1000, UTC)


def week_of(day: date) -> date:
    """Return the Monday of a day's week."""
    return day - timedelta(days=day.weekday())


def icon_of(kind: str) -> str:
    """Return the icon of a type, however it is spelt; a plain one for a type that is not known."""
    return _ICONS.get(kind.lower().replace(" ", "").replace("_", ""), "person")


# -- recording --------------------------------------------------------------------------------------------


def recording(phone: Phone) -> Row:
    """Return the recording that is under way, as `fresh` describes it."""
    return phone.data(KEY)["recording"]


def recorded_seconds(phone: Phone) -> int:
    """Return how long the recording is, without its pauses."""
    row = recording(phone)
    return row["kept"] + (phone.state["now"] - row["since"] if row["state"] == "recording" else 0)


def run_recording(phone: Phone) -> None:
    """Start a recording, or go on with one that is paused or stopped."""
    row, now = recording(phone), phone.state["now"]
    if row["state"] == "idle":
        row["started"] = now
    if row["state"] != "recording":
        row.update(state="recording", since=now, ended=0)


def pause_recording(phone: Phone) -> None:
    """Pause the recording."""
    row = recording(phone)
    if row["state"] == "recording":
        row.update(kept=recorded_seconds(phone), since=0, state="paused")


def stop_recording(phone: Phone) -> None:
    """End the recording; it is neither saved nor lost yet."""
    row = recording(phone)
    if row["state"] in ("recording", "paused"):
        row.update(kept=recorded_seconds(phone), since=0, ended=phone.state["now"], state="stopped")


def discard_recording(phone: Phone) -> None:
    """Forget the recording."""
    phone.data(KEY)["recording"] = dict(_IDLE)


def save_recording(phone: Phone, name: str, kind: str, note: str) -> int:
    """Make an activity of the recording and return its id: the phone did not move meanwhile.

    Raises:
        ValueError: If the recording has not been stopped.
    """
    row = recording(phone)
    if row["state"] != "stopped":
        raise ValueError(f"Expected a recording that is stopped, got one that is {row['state']}")
    start = datetime.fromtimestamp(row["started"], UTC)
    number = add_track(phone, name, kind, start, row["kept"], note=note, moving=0)
    phone.data(KEY)["tracks"][-1]["stoptime"] = 1000 * row["ended"]
    discard_recording(phone)
    return number


def _whole(row: Row) -> Row:
    """Return a row without NULL and without missing columns."""
    return {**_EMPTY, **{name: value for name, value in row.items() if value is not None}}
