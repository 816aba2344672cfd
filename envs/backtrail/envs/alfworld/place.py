"""A place in a game as the payload of a snapshot, checked on the way back: snapshots come from files and other processes."""

from __future__ import annotations

from typing import Any, NamedTuple

from backtrail.envs.alfworld.engine import Action, Engine
from backtrail.envs.alfworld.game import Game, State
from backtrail.envs.core import SnapshotError

_LONGEST_TEXT = 65_536
_LONGEST_HISTORY = 1_000_000


class Place(NamedTuple):
    """Everything that an episode needs to go on from a state."""

    state: State
    text: str
    error: str
    before: State
    action: Action | None
    history: tuple[str, ...]


def pack(place: Place) -> tuple[Any, ...]:
    """Return a place as plain values; the states stay what they are (tuples), so that `unpack` knows its own."""
    return tuple(place)


def unpack(engine: Engine, payload: Any) -> Place:
    """Return the place of a payload.

    Raises:
        SnapshotError: If the payload is no place of this game.
    """
    match payload:
        case (tuple(state), str(text), str(error), tuple(before), (None | tuple()) as action, tuple(history)):
            pass
        case _:
            raise SnapshotError("The payload of the snapshot is no place of an ALFWorld game")
    if max(len(text), len(error)) > _LONGEST_TEXT or len(history) > _LONGEST_HISTORY:
        raise SnapshotError("The payload of the snapshot is larger than any place of an ALFWorld game")
    if not all(isinstance(command, str) for command in history):
        raise SnapshotError("The payload of the snapshot has commands that are no strings")
    last = _state(engine.game, before)
    if action is not None:
        options = engine.options(last)
        if action not in options.here.values() and action not in options.walks.values():
            raise SnapshotError(f"The payload of the snapshot has an action that was not possible: {action!r}")
    return Place(_state(engine.game, state), text, error, last, action, history)


def _state(game: Game, values: tuple[Any, ...]) -> State:
    if type(values) is State:
        return values  # made here: what comes from bytes is a plain tuple
    objects, receptacles, places = len(game.objects), len(game.receptacles), len(game.location_ids)
    try:
        state = State(*values)
        masks = (state.clean, state.hot, state.cool, state.on, state.toggled, state.sliced)
        good = (
            _in(state.location, 0, places) and _in(state.held, -1, objects) and _in(state.opened, 0, 1 << receptacles)
        )
        for rows, length in (
            (state.contents, receptacles),
            (state.floor, places),
            (state.taken, receptacles),
            (masks, 6),
        ):
            good &= isinstance(rows, tuple) and len(rows) == length and all(_in(mask, 0, 1 << objects) for mask in rows)
    except TypeError:
        good, state = False, game.start
    if not good:
        raise SnapshotError("The payload of the snapshot is no state of this game")
    return state


def _in(value: Any, low: int, end: int) -> bool:
    return type(value) is int and low <= value < end
