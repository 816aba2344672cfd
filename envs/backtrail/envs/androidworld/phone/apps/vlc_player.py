"""What is played: there is a player only while its page is shown, and it goes on by the phone's clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backtrail.envs.androidworld.phone.app import Data
from backtrail.envs.androidworld.phone.apps import vlc_data as data

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = ["current", "fresh_player", "length", "play", "playing", "position", "seek", "skip", "tick", "toggle"]

_KEPT = 12  # in the history


def fresh_player() -> Data:
    """Return a player that has nothing to play.

    "at" is how far it is while it is held; "ends" is when the present file ends if it plays on, 0 while it is held.
    """
    return {"paths": [], "place": 0, "at": 0, "ends": 0}


def play(phone: Phone, paths: Sequence[str], place: int = 0) -> None:
    """Play files from one of them on, on the player's page; those that are gone are left out."""
    if not phone.files.exists(paths[place]):
        phone.toast("This file is no longer there")
        return
    there = [path for path in paths if phone.files.exists(path)]
    _player(phone)["paths"] = there
    _start(phone, there.index(paths[place]))
    phone.go("player")


def current(phone: Phone) -> str:
    """Return the path of what is played or held; "" if there is none."""
    player = _player(phone)
    return player["paths"][player["place"]] if player["paths"] else ""


def playing(phone: Phone) -> bool:
    """Whether it goes on."""
    return bool(_player(phone)["ends"])


def length(phone: Phone) -> int:
    """Return how long the present file is, in seconds: at least one, so that time passes in files that do not say."""
    return max(1, data.seconds(phone, current(phone)))


def position(phone: Phone) -> int:
    """Return how far it is, in seconds."""
    player = _player(phone)
    return length(phone) - (player["ends"] - phone.state["now"]) if player["ends"] else player["at"]


def toggle(phone: Phone) -> None:
    """Pause, or play on."""
    player = _player(phone)
    if player["ends"]:
        player.update(at=position(phone), ends=0)
    elif player["paths"]:
        player.update(ends=phone.state["now"] + length(phone) - player["at"], at=0)


def skip(phone: Phone, by: int) -> None:
    """Play the next file (1) or the one before (-1); nothing where there is none."""
    player = _player(phone)
    if 0 <= player["place"] + by < len(player["paths"]):
        _start(phone, player["place"] + by)


def seek(phone: Phone, share: float) -> None:
    """Go to a fraction of the present file."""
    player, at = _player(phone), round(share * (length(phone) - 1))
    if player["ends"]:
        player["ends"] = phone.state["now"] + length(phone) - at
    else:
        player["at"] = at


def tick(phone: Phone) -> None:
    """Begin what another app wants to be played; go on to the next file; end when the page was left or all is played."""
    top = phone.top
    if top["app"] == data.KEY and top["page"] == "open":
        path = top["args"]["path"]
        phone.close()
        _open(phone, path)
    player = _player(phone)
    if (phone.top["app"], phone.top["page"]) != (data.KEY, "player"):
        player.update(fresh_player())
    while player["ends"] and phone.state["now"] >= player["ends"]:
        if player["place"] + 1 == len(player["paths"]):
            player.update(fresh_player())
            phone.close()
            return
        player["place"] += 1
        player["ends"] += length(phone)


def _open(phone: Phone, path: str) -> None:
    if phone.files.exists(path):
        _player(phone)["paths"] = [path]
        _start(phone, 0)
        phone.hand_over(data.KEY, "player")


def _start(phone: Phone, place: int) -> None:
    player = _player(phone)
    player.update(place=place, at=0)
    player["ends"] = phone.state["now"] + length(phone)
    known, path = phone.data(data.KEY), current(phone)
    known["history"] = [path, *(each for each in known["history"] if each != path)][:_KEPT]


def _player(phone: Phone) -> Data:
    return phone.data(data.KEY)["player"]
