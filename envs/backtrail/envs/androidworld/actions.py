"""AndroidWorld's actions: one JSON object in a string, read and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["ACTION_TYPES", "DIRECTIONS", "Action", "ActionError", "read_action"]

DIRECTIONS = ("up", "down", "left", "right")

ACTION_TYPES: dict[str, str] = {
    "click": "index, or x and y",
    "double_tap": "index, or x and y",
    "long_press": "index, or x and y",
    "input_text": "text, and where to tap first: index, or x and y; clear_text erases the field before",
    "keyboard_enter": "",
    "navigate_home": "",
    "navigate_back": "",
    "scroll": "direction of the content to see (up, down, left, right); index of what is scrolled",
    "swipe": "direction of the finger (up, down, left, right)",
    "open_app": "app_name",
    "wait": "",
    "answer": "text",
    "status": "goal_status: complete or infeasible",
    "unknown": "",
}
"""Types of actions with what else they need."""

_TARGETED = ("click", "double_tap", "long_press")
_STATUSES = ("complete", "infeasible")
_LONGEST_TEXT = 4096


class ActionError(ValueError):
    """A string is no action, or one that cannot be done on this screen; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action, with the fields of AndroidWorld's ``JSONAction``.

    Attributes:
        action_type: One of `ACTION_TYPES`.
        index: Number of a UI element.
        x: Pixels from the left, instead of an index.
        y: Pixels from the top.
        text: What is typed or answered.
        direction: One of `DIRECTIONS`.
        goal_status: What the agent says of the goal.
        app_name: Label of an app.
        keycode: Accepted and ignored, as in the original.
        clear_text: Whether a field is erased before typing.
    """

    action_type: str
    index: int | None = None
    x: int | None = None
    y: int | None = None
    text: str | None = None
    direction: str | None = None
    goal_status: str | None = None
    app_name: str | None = None
    keycode: str | None = None
    clear_text: bool | None = None

    def to_json(self) -> str:
        """Return the action as an agent would write it."""
        return json.dumps({f.name: v for f in fields(self) if (v := getattr(self, f.name)) is not None})


def read_action(text: str, elements: int, size: tuple[int, int]) -> Action:
    """Read an action and check it against a screen.

    Args:
        text: A JSON object.
        elements: How many UI elements the screen has.
        size: (height, width) of the screen in pixels.

    Raises:
        ActionError: If it is none; the message says what came and what was expected.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ActionError(f"expected a JSON object such as {_EXAMPLE}, got {_short(text)} ({error})") from None
    if not isinstance(found, dict):
        raise ActionError(f"expected a JSON object such as {_EXAMPLE}, got {_short(text)}")
    kind = found.get("action_type")
    if not isinstance(kind, str) or kind not in ACTION_TYPES:
        raise ActionError(f"expected action_type to be one of {', '.join(ACTION_TYPES)}, got {kind!r}")
    if unknown := set(found) - {f.name for f in fields(Action)}:
        raise ActionError(f"expected {_needs(kind)}, got also {', '.join(sorted(map(repr, unknown)))}")
    values = {name: value for name, value in found.items() if value is not None}
    _check_target(kind, values, elements, size)
    _check_rest(kind, values)
    return Action(**values)


_EXAMPLE = '{"action_type": "click", "index": 3}'


def _check_target(kind: str, values: dict[str, Any], elements: int, size: tuple[int, int]) -> None:
    """Check index and point; numbers may come as digits in a string."""
    for name in ("index", "x", "y"):
        if name in values:
            values[name] = _whole(name, values[name])
    point = "x" in values, "y" in values
    if "index" in values and any(point):
        raise ActionError("expected either an index or x and y, got both")
    if any(point) != all(point):
        raise ActionError("expected both x and y, got one of them")
    if kind in _TARGETED and "index" not in values and not any(point):
        raise ActionError(f"expected {_needs(kind)}")
    if "index" in values and not 0 <= values["index"] < elements:
        seen = f"from 0 to {elements - 1}" if elements else "of a UI element, and the screen has none"
        raise ActionError(f"expected an index {seen}, got {values['index']}")
    height, width = size
    if all(point) and not (0 <= values["x"] < width and 0 <= values["y"] < height):
        where = f"({values['x']}, {values['y']})"
        raise ActionError(f"expected a point on the screen of {width} x {height} pixels, got {where}")


def _check_rest(kind: str, values: Mapping[str, Any]) -> None:
    for name in ("text", "direction", "goal_status", "app_name", "keycode"):
        if name in values and not isinstance(values[name], str):
            raise ActionError(f"expected {name} to be a string, got {values[name]!r}")
        if any("\ud800" <= c <= "\udfff" for c in values.get(name, "")):
            raise ActionError(f"expected whole characters in {name}, got half of one (a lone surrogate)")
    if not isinstance(values.get("clear_text", False), bool):
        raise ActionError(f"expected clear_text to be true or false, got {values['clear_text']!r}")
    if kind in ("input_text", "answer") and "text" not in values:
        raise ActionError(f"expected {_needs(kind)}")
    if len(values.get("text", "")) > _LONGEST_TEXT:
        raise ActionError(f"expected a text of at most {_LONGEST_TEXT:,} characters, got {len(values['text']):,}")
    if kind in ("scroll", "swipe") and values.get("direction") not in DIRECTIONS:
        raise ActionError(f"expected a direction among {', '.join(DIRECTIONS)}, got {values.get('direction')!r}")
    if kind == "open_app" and not values.get("app_name"):
        raise ActionError("expected app_name, the label of an app")
    if kind == "status" and values.get("goal_status") not in _STATUSES:
        raise ActionError(f"expected goal_status to be complete or infeasible, got {values.get('goal_status')!r}")


def _whole(name: str, value: Any) -> int:
    if isinstance(value, str) and value.strip().isascii() and value.strip().lstrip("-").isdigit() and len(value) < 12:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ActionError(f"expected {name} to be a whole number, got {value!r}")
    return value


def _needs(kind: str) -> str:
    needs = ACTION_TYPES[kind]
    return f"{kind} with {needs}" if needs else f"{kind} with nothing else"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
