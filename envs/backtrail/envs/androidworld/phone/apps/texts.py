"""Text messages, in rows as the telephony provider's ``sms`` table has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backtrail.envs.androidworld.phone.apps.extras import same_number

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone.app import Data
    from backtrail.envs.androidworld.phone.device import Phone

__all__ = [
    "FAILED", "KEY", "RECEIVED", "SENT", "delete_messages", "delete_thread", "fresh", "mark", "messages", "open_thread",
    "receive", "receive_later", "send", "sent", "thread_of", "threads",
]  # fmt: skip

KEY = "sms"

RECEIVED, SENT, FAILED = 1, 2, 5
"""Types of messages, with Android's codes."""


def fresh() -> Data:
    """Return the tables of a phone without messages; "coming" are those that will arrive at "at" (s)."""
    return {"sms": [], "coming": []}


def messages(phone: Phone, thread: int | None = None) -> list[dict[str, Any]]:
    """Return the messages, oldest first, all or those of one thread."""
    rows = [row for row in phone.data(KEY)["sms"] if thread is None or row["thread_id"] == thread]
    return sorted(rows, key=lambda row: (row["date"], row["_id"]))


def threads(phone: Phone) -> list[Mapping[str, Any]]:
    """Return the last message of each thread, latest first."""
    last = {row["thread_id"]: row for row in messages(phone)}
    return sorted(last.values(), key=lambda row: (-row["date"], -row["_id"]))


def sent(phone: Phone) -> list[Mapping[str, Any]]:
    """Return the messages that were sent, latest first."""
    return [row for row in reversed(messages(phone)) if row["type"] == SENT]


def thread_of(phone: Phone, address: str) -> int:
    """Return the id of the thread with a number or sender; 0 if there is none yet."""
    return next((row["thread_id"] for row in phone.data(KEY)["sms"] if _same(row["address"], address)), 0)


def receive(phone: Phone, address: str, body: str, seconds_ago: int = 0) -> int:
    """Let a message arrive (or have arrived) and return its id; it is unread until its thread is looked at."""
    return _add(phone, address, body, RECEIVED, phone.state["now"] - seconds_ago)


def receive_later(phone: Phone, seconds: int, address: str, body: str) -> None:
    """Let a message arrive after some seconds of the phone's clock."""
    phone.data(KEY)["coming"].append({"at": phone.state["now"] + seconds, "address": address, "body": body})


def send(phone: Phone, address: str, body: str, seconds_ago: int = 0) -> int:
    """Send a message and return its id; in airplane mode it fails and stays in its thread."""
    off = phone.settings["global"].get("airplane_mode_on") == "1"
    return _add(phone, address, body, FAILED if off else SENT, phone.state["now"] - seconds_ago)


def delete_messages(phone: Phone, ids: list[int]) -> None:
    """Delete messages by their ids."""
    data = phone.data(KEY)
    data["sms"] = [row for row in data["sms"] if row["_id"] not in ids]


def delete_thread(phone: Phone, thread: int) -> None:
    """Delete all messages of a thread."""
    delete_messages(phone, [row["_id"] for row in messages(phone, thread)])


def mark(phone: Phone, thread: int, read: bool) -> None:
    """Mark a thread as read, or its last message as unread."""
    rows = messages(phone, thread)
    for row in rows if read else rows[-1:]:
        row["read"] = row["seen"] = int(read)


def open_thread(phone: Phone, address: str) -> None:
    """Show the thread with a number, above the present page."""
    if KEY in phone.apps:
        phone.hand_over(KEY, "thread", address=address)
    else:
        phone.toast("No app can send messages")


def _same(one: str, other: str) -> bool:
    """Whether two senders are the same: numbers by their digits, names as they are."""
    return one == other or (any(c.isdigit() for c in one) and same_number(one, other))


def _add(phone: Phone, address: str, body: str, kind: int, seconds: int) -> int:
    thread = thread_of(phone, address) or phone.new_id()
    read = int(kind != RECEIVED)
    row = {
        "_id": phone.new_id(), "thread_id": thread, "address": address, "person": None, "date": seconds * 1000,
        "date_sent": seconds * 1000 if kind == RECEIVED else 0, "protocol": 0 if kind == RECEIVED else None, "read": read,
        "status": -1, "type": kind, "reply_path_present": 0, "subject": None, "body": body, "service_center": None,
        "locked": 0, "sub_id": 1, "error_code": 0, "creator": "com.simplemobiletools.smsmessenger", "seen": read,
    }  # fmt: skip
    phone.data(KEY)["sms"].append(row)
    return row["_id"]
