"""The player of the music app: what is in the queue, what is heard, and how far, by the phone's clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import Data
from backtrail.envs.androidworld.phone.apps.music_data import KEY, Row

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "clear_queue",
    "current",
    "enqueue",
    "fresh_player",
    "move_in_queue",
    "play",
    "play_next",
    "playing",
    "position",
    "queue",
    "remove_from_queue",
    "repeat",
    "skip",
    "tick",
    "toggle",
    "turn_repeat",
]

_NAMES = {"id": "_id", "track_number": "track", "data": "_data", "album_name": "album", "artist_name": "artist"}
"""Columns of ``playing_queue`` that have another name than in ``SongEntity``."""

_OWN = ("song_key", "playlist_creator_id")


def fresh_player() -> Data:
    """Return a player that has nothing to play."""
    return {"place": 0, "playing": False, "since": 0, "offset": 0, "repeat": "off"}


def queue(phone: Phone) -> list[Row]:
    """Return the rows of ``playing_queue`` in its order."""
    return phone.data(KEY)["playing_queue"]


def current(phone: Phone) -> Row | None:
    """Return the row of the queue that is played or held; None if the queue is empty."""
    rows = queue(phone)
    return rows[min(_player(phone)["place"], len(rows) - 1)] if rows else None


def playing(phone: Phone) -> bool:
    """Whether something is heard."""
    return _player(phone)["playing"] and bool(queue(phone))


def position(phone: Phone) -> int:
    """Return how far the song is, in milliseconds."""
    player = _player(phone)
    passed = (phone.state["now"] - player["since"]) * 1000 if playing(phone) else 0
    return player["offset"] + passed


def repeat(phone: Phone) -> str:
    """Return "off", "all" or "one"."""
    return _player(phone)["repeat"]


def play(phone: Phone, rows: Sequence[Row], place: int = 0) -> None:
    """Let songs be the queue, and play from one of them on; nothing without songs."""
    if rows:
        _set(phone, [_queued(row) for row in rows])
        _start(phone, place)


def enqueue(phone: Phone, rows: Sequence[Row]) -> None:
    """Put songs at the end of the queue."""
    _set(phone, [*queue(phone), *map(_queued, rows)])


def play_next(phone: Phone, rows: Sequence[Row]) -> None:
    """Put songs into the queue behind the one that is played."""
    kept = queue(phone)
    place = min(_player(phone)["place"] + 1, len(kept))
    _set(phone, [*kept[:place], *map(_queued, rows), *kept[place:]])


def remove_from_queue(phone: Phone, place: int) -> None:
    """Take a song out of the queue; the one after it is played if it was being played."""
    player, rows = _player(phone), queue(phone)
    _set(phone, rows[:place] + rows[place + 1 :])
    if place < player["place"]:
        player["place"] -= 1
    elif place == player["place"]:
        was = playing(phone) and place < len(queue(phone))
        _start(phone, min(place, max(0, len(queue(phone)) - 1)))
        player["playing"] = was


def move_in_queue(phone: Phone, place: int, by: int) -> None:
    """Let a song of the queue change places with the one before (-1) or after (1) it."""
    player, rows = _player(phone), list(queue(phone))
    other = place + by
    if not (0 <= other < len(rows) and 0 <= place < len(rows)):
        return
    rows[place], rows[other] = rows[other], rows[place]
    _set(phone, rows)
    if player["place"] in (place, other):
        player["place"] = place + other - player["place"]


def clear_queue(phone: Phone) -> None:
    """Stop, and take all songs out of the queue."""
    _set(phone, [])
    _player(phone).update(place=0, playing=False, since=0, offset=0)


def toggle(phone: Phone) -> None:
    """Pause, or play on."""
    if queue(phone):
        _player(phone).update(offset=position(phone), since=phone.state["now"], playing=not playing(phone))


def skip(phone: Phone, by: int) -> None:
    """Play the next song (1) or the one before (-1); from the last one on, the first."""
    rows = queue(phone)
    if rows:
        _start(phone, (_player(phone)["place"] + by) % len(rows))


def turn_repeat(phone: Phone) -> None:
    """Go on from repeating nothing to all, to one, to nothing."""
    player = _player(phone)
    player["repeat"] = {"off": "all", "all": "one", "one": "off"}[player["repeat"]]


def tick(phone: Phone) -> None:
    """Go on to the next song where one has ended."""
    player, rows = _player(phone), queue(phone)
    while playing(phone) and position(phone) >= (whole := _length(phone)):
        last = player["place"] == len(rows) - 1
        if last and player["repeat"] == "off":
            player.update(place=0, playing=False, offset=0)
            return
        if player["repeat"] != "one":
            player["place"] = (player["place"] + 1) % len(rows)
        player["offset"] -= whole


def _length(phone: Phone) -> int:
    """Return how long the present song is, in milliseconds; at least a second, so that time passes in songs of none."""
    row = current(phone)
    return max(1000, row["duration"] if row else 0)


def _player(phone: Phone) -> Data:
    return phone.data(KEY)["player"]


def _start(phone: Phone, place: int) -> None:
    _player(phone).update(place=place, playing=bool(queue(phone)), since=phone.state["now"], offset=0)


def _set(phone: Phone, rows: list[Row]) -> None:
    data = phone.data(KEY)
    data["playing_queue"], data["original_playing_queue"] = rows, [dict(row) for row in rows]


def _queued(row: Row) -> Row:
    return {_NAMES.get(name, name): value for name, value in row.items() if name not in _OWN}
