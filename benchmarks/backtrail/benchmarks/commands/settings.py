"""Settings of ``backtrail train`` as words, read by the type they have in `backtrail.training.config.Config`."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

__all__ = ["read_settings"]


def read_settings(words: Sequence[str]) -> dict[str, Any]:
    """Read settings such as ``lr=1e-4``, ``groups=task:1,state:1``, ``fallback=state,task``, ``explore_temperature=none``.

    Args:
        words: Each a field of `Config`, "=" and a value of its type.

    Raises:
        ValueError: If there is no such setting, or the value is of another type.
    """
    from backtrail.training.config import Config

    hints, found = get_type_hints(Config), {}
    for word in words:
        key, equals, text = (part.strip() for part in word.partition("="))
        if not equals:
            raise ValueError(f"Expected --set KEY=VALUE, got {word!r}")
        if key not in hints:
            near = [name for name in hints if key and key in name]
            near += [name for name in difflib.get_close_matches(key, hints, cutoff=0.5) if name not in near]
            hint = f"did you mean {', '.join(near)}?" if near else f"expected one of {', '.join(hints)}"
            raise ValueError(f"There is no setting {key!r}: {hint}")
        if key in found:
            raise ValueError(f"Expected each setting once, got {key} twice")
        try:
            found[key] = _read(text, hints[key])
        except ValueError as error:
            raise ValueError(f"Expected --set {key}= to be {_wanted(hints[key])}, got {text!r}") from error
    return found


def _read(text: str, hint: Any) -> Any:
    """Read a value of a type.

    Raises:
        ValueError: If it is of another.
    """
    if get_origin(hint) is Literal:
        return get_args(hint)[get_args(hint).index(text)]
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        return () if text == "none" else tuple(_item(word.strip(), item) for word in text.split(","))
    if type(None) in get_args(hint):
        return None if text == "none" else _read(text, get_args(hint)[0])
    if hint is bool:
        return bool(("false", "true").index(text))
    value = hint(text)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(text)
    return value


def _item(word: str, hint: Any) -> Any:
    """Read a key, or a key and its weight, 1 if none is given."""
    if get_origin(hint) is not tuple:
        return _read(word, hint)
    key, colon, weight = word.partition(":")
    return _read(key, get_args(hint)[0]), _read(weight, get_args(hint)[1]) if colon else 1.0


def _wanted(hint: Any) -> str:
    """Return in words what `_read` takes."""
    if get_origin(hint) is Literal:
        return f"one of {', '.join(get_args(hint))}"
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        weighted = get_origin(item) is tuple
        example = "with weights (task:1,state:1)" if weighted else "(state,task)"
        return f"none or some of {', '.join(get_args(get_args(item)[0] if weighted else item))} {example}"
    if type(None) in get_args(hint):
        return f"none or {_wanted(get_args(hint)[0])}"
    return {bool: "true or false", int: "a whole number of at least 0"}.get(hint, "a number of at least 0")
