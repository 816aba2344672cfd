"""What state a phone is in: all of it, but for when and under which numbers things came about."""

from __future__ import annotations

import json
import re
from typing import Any

from backtrail.envs.androidworld.phone.device import Phone
from backtrail.envs.core import digest

__all__ = ["phone_facts", "phone_fingerprint"]

_LEFT_OUT = frozenset({"now", "next", "toast"})

_CLOCK = re.compile(r"\d{8}_\d{6}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
"""Day and time in the names that apps give to files, and in what they write about them."""


def phone_fingerprint(phone: Phone, world: str) -> str:
    """Return the identity of a phone's state.

    Left out are the clock, numbers and dates of rows (each app declares these columns), times in the names of files, and
    messages that vanish by themselves. Kept are all data, settings and files, the pages that are open, what is typed, scrolled and has the cursor.
    """
    written = json.dumps(_identity(phone), sort_keys=True, ensure_ascii=False)
    return f"androidworld-1:{digest(world + _CLOCK.sub('<time>', written))}"


def phone_facts(phone: Phone) -> frozenset[str]:
    """Return what is true of a phone, written out: one string for each value, with the way that leads to it."""
    return frozenset(_CLOCK.sub("<time>", fact) for fact in _written(_identity(phone), ""))


def _identity(phone: Phone) -> dict[str, Any]:
    state = {name: value for name, value in phone.state.items() if name not in _LEFT_OUT}
    now = phone.state["now"]
    apps = {
        key: _plain(state["apps"][key], app.volatile, app.deadlines, now) for key, app in sorted(phone.apps.items())
    }
    return {**state, "apps": apps}


def _plain(value: Any, volatile: frozenset[str], deadlines: frozenset[str], now: float) -> Any:
    if isinstance(value, dict):
        return {
            name: each - now
            if name in deadlines and isinstance(each, int | float) and each
            else _plain(each, volatile, deadlines, now)
            for name, each in value.items()
            if name not in volatile
        }
    return [_plain(each, volatile, deadlines, now) for each in value] if isinstance(value, list) else value


def _written(value: Any, way: str) -> list[str]:
    if isinstance(value, dict):
        return [fact for name, each in value.items() for fact in _written(each, f"{way}/{name}")]
    if isinstance(value, list):
        return [fact for place, each in enumerate(value) for fact in _written(each, f"{way}/{place}")]
    return [f"{way}: {value!r}"]
