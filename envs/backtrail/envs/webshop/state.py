"""A place in the shop: everything that an episode needs to go on from there, in immutable plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from backtrail.envs.core import SnapshotError

__all__ = ["PAGES", "SUB_PAGES", "State", "pack", "unpack"]

PAGES = ("index", "results", "item", "sub", "done")
SUB_PAGES = ("Description", "Features", "Reviews", "Attributes")


@dataclass(frozen=True, slots=True)
class State:
    """Where a buyer is. Undo is keeping the earlier state.

    Attributes:
        goal: Place of the goal in the list of goals.
        session: Identifier of the visit, which the address shows.
        page: One of `PAGES`.
        keywords: The words of the last search; None before one.
        number: Page of the results, from 1; None before a search.
        drawn: Numbers of the products that the search "<r>" drew; empty after any other search.
        asin: The product that is open.
        options: Chosen options as (name, value), in the order of the first choice.
        sub: One of `SUB_PAGES` on such a page, else "".
        visited: ASINs opened since the visit began or came back to the search page, sorted.
        actions: How often each kind of action was done, in the order of the first time.
        done: Whether something was ever bought in this visit.
        reward: What the last purchase was worth.
        details: The parts of that reward, by name.
    """

    goal: int
    session: str
    page: str = "index"
    keywords: tuple[str, ...] | None = None
    number: int | None = None
    drawn: tuple[int, ...] = ()
    asin: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    sub: str = ""
    visited: tuple[str, ...] = ()
    actions: tuple[tuple[str, int], ...] = ()
    done: bool = False
    reward: float | None = None
    details: tuple[tuple[str, float | bool], ...] = ()


_NAMES = tuple(field.name for field in fields(State))
_values: Callable[[State], tuple[Any, ...]] = attrgetter(*_NAMES)


def pack(state: State) -> tuple[Any, ...]:
    """Return the state as a tuple of plain values and tuples, which `backtrail.envs.core.Snapshot` can write."""
    return _values(state)


def unpack(payload: Any) -> State:
    """Return the state of a payload that `pack` made. Whether a shop has such a place, `Shop.check` says.

    Raises:
        SnapshotError: If the payload is no state.
    """
    if not isinstance(payload, tuple) or len(payload) != len(_NAMES):
        raise SnapshotError("The payload of the snapshot is no state of a WebShop visit")
    for name, value in zip(_NAMES, payload, strict=True):
        if not _FITS[name](value):
            raise SnapshotError(f"The payload of the snapshot has no good {name}: {str(value)[:60]!r}")
    state = State(*payload)
    searched, opened = state.keywords is not None, state.asin is not None
    fits = {
        "index": not searched and not opened and not state.options,
        "results": searched and not opened and not state.options,
        "item": searched and opened,
        "sub": searched and opened,
        "done": searched and opened and state.done,
    }
    if (
        not fits[state.page]
        or (state.sub in SUB_PAGES) != (state.page == "sub")
        or (state.number is not None) != searched
        or (state.reward is not None) != state.done
    ):
        raise SnapshotError("The payload of the snapshot contradicts itself: no visit to WebShop leads there")
    return state


def _whole(value: Any) -> bool:
    return type(value) is int


def _words(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(word, str) for word in value)


def _pairs(value: Any, *types: type) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) in types
        for pair in value
    )


_FITS: dict[str, Callable[[Any], bool]] = {
    "goal": lambda value: _whole(value) and value >= 0,
    "session": lambda value: isinstance(value, str),
    "page": lambda value: value in PAGES,
    "keywords": lambda value: value is None or (_words(value) and len(value) > 0),
    "number": lambda value: value is None or (_whole(value) and value >= 0),
    "drawn": lambda value: isinstance(value, tuple) and all(_whole(number) and number >= 0 for number in value),
    "asin": lambda value: value is None or isinstance(value, str),
    "options": lambda value: _pairs(value, str),
    "sub": lambda value: value == "" or value in SUB_PAGES,
    "visited": lambda value: _words(value) and list(value) == sorted(set(value)),
    "actions": lambda value: _pairs(value, int),
    "done": lambda value: isinstance(value, bool),
    "reward": lambda value: value is None or isinstance(value, float),
    "details": lambda value: _pairs(value, float, bool),
}
