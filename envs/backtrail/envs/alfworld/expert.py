"""Shortest plans: the oracle of the audit, the source of demonstrations, and `info["expert_plan"]` on request.

A shortest plan handles one object (two for the pick-two tasks), one goal receptacle, one lamp and one tool. So each such
choice is searched breadth-first with nothing else in sight, tens of states each, under the length of the best plan so far.
Something else in the hand has to be put down first: here, on the way, or at one other receptacle (any other is as far).
"""

from __future__ import annotations

from collections import deque
from itertools import chain, combinations, product
from typing import Any

from backtrail.envs.alfworld.engine import Action, Engine
from backtrail.envs.alfworld.game import State
from backtrail.envs.alfworld.text import bits

_FREE = frozenset({"look", "help", "inventory", "examine", "inspect", "slice", "close"})
"""Verbs that no shortest plan needs."""

_Path = tuple[str, Any] | None
"""The last command and the path before it."""


def shortest_plan(engine: Engine, state: State | None = None) -> list[str] | None:
    """Return a shortest list of commands that wins from ``state`` (default: the start), or None if nothing wins.

    The plan reads the whole state, also what the agent has not seen. An empty list means that the game is won already.
    """
    state = engine.start if state is None else state
    if engine.won(state):
        return []
    best: list[str] | None = None
    for choice in _choices(engine, state):
        found = _search(engine, state, choice, len(best) - 1 if best else 1_000)
        if found is not None:
            best = found
    return best


class _Choice:
    """The things one search may touch: objects, the goal receptacle, the tool, the lamp, and the places they are at."""

    __slots__ = ("lamp", "objects", "places", "receptacles", "target", "treatment")

    def __init__(self, engine: Engine, state: State, objects: tuple[int, ...], target: int, tool: int, lamp: int):
        game = engine.game
        things = sum(1 << k for k in objects) | (1 << lamp if lamp >= 0 else 0)
        holding = [r for r, content in enumerate(state.contents) if content & things]
        self.objects, self.target, self.lamp = frozenset(objects), target, lamp
        self.treatment = game.goal.treatment
        self.receptacles = frozenset(r for r in (*holding, target, tool) if r >= 0)
        self.places = frozenset(game.location_of[r] for r in self.receptacles)
        if state.held >= 0 and state.held not in self.objects:
            near = frozenset(r for place in (*self.places, state.location) for r in game.at[place])
            self.receptacles |= near | _elsewhere(engine, state, near)
            self.places = frozenset(game.location_of[r] for r in self.receptacles)

    def wants(self, action: Action, place: int, foreign: bool) -> bool:
        """Whether the search follows an action; ``foreign``: the hand holds something to be put down first."""
        verb, first, second = action
        if verb in _FREE:
            return False
        if verb == "go":
            return place in self.places
        if verb == "open":
            return first in self.receptacles
        if verb == "take":
            return first in self.objects
        if verb == "move":
            return foreign or second == self.target
        if verb == "use":
            return first == self.lamp
        return verb == self.treatment


def _elsewhere(engine: Engine, state: State, near: frozenset[int]) -> frozenset[int]:
    """Return one receptacle away from the path that can hold what is in the hand, rather one that is not closed."""
    game = engine.game
    far = [r for r, fits in enumerate(game.fits) if r not in near and fits >> state.held & 1]
    far.sort(key=lambda r: game.openable >> r & 1 and not state.opened >> r & 1)
    return frozenset(far[:1])


def _choices(engine: Engine, state: State) -> list[_Choice]:
    game, goal = engine.game, engine.game.goal
    here = {k for content in state.contents for k in bits(content)} | {state.held}
    objects = [k for k, kind in enumerate(game.object_types) if kind == goal.object_type and k in here]
    targets = [r for r, kind in enumerate(game.receptacle_types) if kind == goal.receptacle_type] or [-1]
    tools = list(bits(game.tools[goal.treatment])) if goal.treatment else [-1]
    lamps = [-1]
    if goal.lamp_type:
        lamps = [k for k in bits(game.toggleable) if game.object_types[k] == goal.lamp_type]
    chosen = product(combinations(objects, goal.count), targets, tools, lamps)
    choices = [_Choice(engine, state, *each) for each in chosen]
    return sorted(choices, key=lambda choice: len(choice.places))  # a good bound early


def _search(engine: Engine, start: State, choice: _Choice, bound: int) -> list[str] | None:
    """Breadth-first search for a plan of at most ``bound`` commands."""
    location_of = engine.game.location_of
    seen = {start[:-1]}
    frontier: deque[tuple[State, int, _Path]] = deque([(start, 0, None)])
    while frontier:
        state, length, path = frontier.popleft()
        if length >= bound:
            return None
        foreign = state.held >= 0 and state.held not in choice.objects
        visited: set[int] = set()
        options = engine.options(state)
        for command, action in chain(options.here.items(), options.walks.items()):
            place = location_of[action[1]] if action[0] == "go" else -1
            if place in visited or not choice.wants(action, place, foreign):
                continue
            if place >= 0:
                visited.add(place)
            after, _ = engine.apply(state, action)
            if engine.won(after):
                return _unwind((command, path))
            if after[:-1] not in seen:
                seen.add(after[:-1])
                frontier.append((after, length + 1, (command, path)))
    return None


def _unwind(path: _Path) -> list[str]:
    commands: list[str] = []
    while path:
        commands.append(path[0])
        path = path[1]
    return commands[::-1]
