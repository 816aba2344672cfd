"""Telephony: the call that is going on and the call log, in rows as Android's call log database has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps.extras import digits
from backtrail.envs.androidworld.phone.apps.people import name_of

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "INCOMING", "KEY", "MISSED", "OUTGOING", "REJECTED", "answer", "call_state", "calls", "clear_calls", "current", "fresh",
    "hang_up", "log_call", "open_call", "place_call", "ring",
]  # fmt: skip

KEY = "phone"

INCOMING, OUTGOING, MISSED, REJECTED = 1, 2, 3, 5
"""Types of calls in the log, with Android's codes."""

PICK_UP = 4
"""After how many seconds the other side answers."""


def fresh() -> Data:
    """Return the data of a phone that never called."""
    return {"calls": [], "call": None}


def calls(phone: Phone) -> list[Mapping[str, Any]]:
    """Return the log, latest first: "number", "date" (ms), "duration" (s), "type", "new"."""
    return sorted(phone.data(KEY)["calls"], key=lambda row: (-row["date"], -row["_id"]))


def log_call(phone: Phone, number: str, kind: int, seconds_ago: int = 0, duration: int = 0) -> int:
    """Add a past call to the log and return its id.

    Args:
        phone: The phone.
        number: Of the other side.
        kind: `INCOMING`, `OUTGOING`, `MISSED` or `REJECTED`.
        seconds_ago: When it began.
        duration: In seconds.
    """
    date = (phone.state["now"] - seconds_ago) * 1000
    row = {
        "_id": phone.new_id(), "number": number, "date": date, "duration": duration, "type": kind,
        "new": int(kind == MISSED), "name": name_of(phone, number), "is_read": int(kind != MISSED),
    }  # fmt: skip
    phone.data(KEY)["calls"].append(row)
    return row["_id"]


def clear_calls(phone: Phone, number: str = "") -> None:
    """Delete the log, or the calls with one number."""
    data = phone.data(KEY)
    data["calls"] = [row for row in data["calls"] if number and digits(row["number"]) != digits(number)]


def current(phone: Phone) -> dict[str, Any] | None:
    """Return the call that is going on: "number", "incoming", "ringing", "begun" and "since" (s; None before the answer)."""
    return phone.data(KEY)["call"]


def call_state(phone: Phone) -> str:
    """Return "IDLE", "RINGING" (somebody calls) or "OFFHOOK" (dialling or talking), as Android names them."""
    call = current(phone)
    return "IDLE" if call is None else "RINGING" if call["ringing"] else "OFFHOOK"


def place_call(phone: Phone, number: str) -> None:
    """Call a number and show the call, unless another is going on or the phone is in airplane mode."""
    if KEY not in phone.apps:
        phone.toast("No app can make calls")
    elif phone.settings["global"].get("airplane_mode_on") == "1":
        phone.toast("Turn off airplane mode to make a call")
    elif current(phone) is not None:
        phone.toast("You are already in a call")
    else:
        _begin(phone, number, ringing=False)


def ring(phone: Phone, number: str) -> None:
    """Let somebody call: the phone rings until it is answered, declined or hung up."""
    if current(phone) is None:
        _begin(phone, number, ringing=True)
    else:
        log_call(phone, number, MISSED)


def answer(phone: Phone) -> None:
    """Answer the call that rings."""
    call = current(phone)
    if call is not None and call["ringing"]:
        call["ringing"], call["since"] = False, phone.state["now"]


def hang_up(phone: Phone, by_caller: bool = False) -> None:
    """End the call and log it; one that still rings is declined, or missed if the caller gives up."""
    call = current(phone)
    if call is None:
        return
    now = phone.state["now"]
    kind = OUTGOING if not call["incoming"] else INCOMING
    if call["ringing"]:
        kind = MISSED if by_caller else REJECTED
    duration = now - call["since"] if call["since"] is not None else 0
    log_call(phone, call["number"], kind, now - call["begun"], duration)
    phone.data(KEY)["call"] = None
    shown = phone.top["app"] == KEY and phone.top["page"] == "call"
    phone.state["stack"] = [page for page in phone.state["stack"] if (page["app"], page["page"]) != (KEY, "call")]
    if shown:
        phone.toast("Call ended")


def open_call(phone: Phone) -> None:
    """Show the call that is going on."""
    phone.hand_over(KEY, "call")


def _begin(phone: Phone, number: str, ringing: bool) -> None:
    phone.data(KEY)["call"] = {
        "number": number, "incoming": ringing, "ringing": ringing, "begun": phone.state["now"], "since": None,
        "muted": False, "speaker": False, "held": False, "keypad": False, "tones": "",
    }  # fmt: skip
    open_call(phone)
