"""Shortest plans: the oracle of the audit, the source of demonstrations, and ``info["expert_plan"]`` on request.

A shortest plan handles one object (two for the pick-two tasks), one goal receptacle, one lamp and one tool. So every such
choice is searched by A* with nothing else in sight, the most promising first, under the length of the best plan so far.
Something else in the hand has to be put down first: here, on the way, or at one other receptacle (any other is as far).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain, combinations, count, permutations, product
from typing import Any

from backtrail.envs.alfworld.engine import Action, Engine
from backtrail.envs.alfworld.game import Game, State
from backtrail.envs.alfworld.text import bits

_FREE = frozenset({"look", "help", "inventory", "examine", "inspect", "slice", "close"})
"""Verbs that no shortest plan needs."""

_UNBOUNDED = 1_000

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
    for bound, _, choice in sorted((choice.left(state), k, choice) for k, choice in enumerate(_choices(engine, state))):
        length = len(best) if best else _UNBOUNDED
        if bound >= length:
            break
        best = _search(engine, state, choice, length) or best
    return best


class _Choice:
    """The things one search may touch: objects, the goal receptacle, the tool, the lamp, and the places they are at."""

    __slots__ = ("game", "lamp", "objects", "places", "receptacles", "target", "tool", "treatment")

    def __init__(self, game: Game, state: State, objects: tuple[int, ...], target: int, tool: int, lamp: int):
        self.game, self.objects, self.target, self.tool, self.lamp = game, objects, target, tool, lamp
        self.treatment = game.goal.treatment
        things = sum(1 << k for k in objects) | (1 << lamp if lamp >= 0 else 0)
        holding = [r for r, content in enumerate(state.contents) if content & things]
        self.receptacles = frozenset(r for r in (*holding, target, tool) if r >= 0)
        if state.held >= 0 and state.held not in objects:
            near = {r for place in (*self._places(self.receptacles), state.location) for r in game.at[place]}
            self.receptacles |= near | set(_elsewhere(game, state, near)[:1])
        self.places = self._places(self.receptacles)

    def wants(self, action: Action, foreign: bool) -> bool:
        """Whether the search follows an action; ``foreign``: the hand holds something to be put down first."""
        verb, first, second = action
        if verb in _FREE:
            return False
        if verb == "go":
            return self.game.location_of[first] in self.places
        if verb == "open":
            return first in self.receptacles
        if verb == "take":
            return first in self.objects
        if verb == "move":
            return foreign or second == self.target
        if verb == "use":
            return first == self.lamp
        return verb == self.treatment

    def left(self, state: State) -> int:
        """Return how many commands are still needed at least: each verb, each lid, and the walks between their places."""
        held = state.held
        pending = self._pending(state)
        others = [k for k in pending if k != held]
        verbs = len(others) + (held >= 0 and held not in self.objects)
        lids = {holders[0] for holders in (self._holders(state, k) for k in others) if len(holders) == 1}
        if self.lamp >= 0:
            verbs += not state.toggled >> self.lamp & 1
            stages = [*self._stages(state, others), self._places(self._holders(state, self.lamp))]
            walks = _walks(state.location, stages)
        else:
            moved = [k for k in pending if self._to_be_moved(state, k)]
            verbs += len(moved) + sum(self._untreated(state, k) for k in pending)
            lids |= {self.target} if moved else set()
            orders = permutations(pending)
            walks = min(_walks(state.location, list(self._stages(state, order))) for order in orders)
        return verbs + walks + sum(self.game.openable >> r & 1 and not state.opened >> r & 1 for r in lids)

    def _pending(self, state: State) -> list[int]:
        """Return the objects that are not yet where they belong."""
        if self.lamp >= 0:
            return list(self.objects)
        content = state.contents[self.target]
        return [k for k in self.objects if not content >> k & 1 or self._untreated(state, k)]

    def _untreated(self, state: State, k: int) -> bool:
        done = {"": -1, "clean": state.clean, "heat": state.hot, "cool": state.cool}[self.treatment]
        return not done >> k & 1

    def _stages(self, state: State, objects: Iterable[int]) -> Iterator[frozenset[int]]:
        """Yield the places to be at, one after the other, to handle the objects in this order."""
        for k in objects:
            if k != state.held:
                yield self._places(self._holders(state, k))
            if self.target >= 0:
                if self._untreated(state, k):
                    yield frozenset({self.game.location_of[self.tool]})
                if self._to_be_moved(state, k):
                    yield frozenset({self.game.location_of[self.target]})

    def _to_be_moved(self, state: State, k: int) -> bool:
        # official games have objects in two receptacles at once; taken from one, it stays in the other
        there = state.contents[self.target] >> k & 1
        return not there or (k != state.held and len(self._holders(state, k)) == 1)

    def _holders(self, state: State, k: int) -> list[int]:
        return [r for r in self.receptacles if state.contents[r] >> k & 1]

    def _places(self, receptacles: Iterable[int]) -> frozenset[int]:
        return frozenset(self.game.location_of[r] for r in receptacles)


def _walks(here: int, stages: Sequence[frozenset[int]]) -> int:
    """Return the fewest walks that visit the stages in order; a stage is a set of places that will do."""
    walks, where = 0, frozenset({here})
    for stage in stages:
        if where & stage:
            where &= stage
        else:
            walks, where = walks + 1, stage
    return walks


def _elsewhere(game: Game, state: State, near: set[int]) -> list[int]:
    """Return the receptacles away from the path that can hold what is in the hand, those that are not closed first."""
    far = [r for r, fits in enumerate(game.fits) if r not in near and fits >> state.held & 1]
    return sorted(far, key=lambda r: game.openable >> r & 1 and not state.opened >> r & 1)


def _choices(engine: Engine, state: State) -> Iterator[_Choice]:
    game, goal = engine.game, engine.game.goal
    within_reach = {k for content in state.contents for k in bits(content)} | {state.held}
    objects = [k for k, kind in enumerate(game.object_types) if kind == goal.object_type and k in within_reach]
    targets = [r for r, kind in enumerate(game.receptacle_types) if kind == goal.receptacle_type] or [-1]
    tools, lamps = [-1], [-1]
    if goal.treatment:
        objects = [k for k in objects if game.treatable[goal.treatment] >> k & 1]
        tools = list(bits(game.tools[goal.treatment]))
    if goal.lamp_type:
        lamps = [k for k in bits(game.toggleable) if game.object_types[k] == goal.lamp_type]
    stuck = state.held >= 0 and not any(fits >> state.held & 1 for fits in game.fits)
    for chosen, target, tool, lamp in product(combinations(objects, goal.quantity), targets, tools, lamps):
        if not stuck or state.held in chosen:
            yield _Choice(game, state, chosen, target, tool, lamp)


def _search(engine: Engine, start: State, choice: _Choice, bound: int) -> list[str] | None:
    """Search for a plan shorter than ``bound``."""
    best = {start[:-1]: 0}
    order = count()
    frontier: list[tuple[int, int, int, State, _Path]] = [(choice.left(start), next(order), 0, start, None)]
    while frontier:
        _, _, length, state, path = heappop(frontier)
        if engine.won(state):
            return _unwind(path)
        if length > best[state[:-1]]:
            continue
        foreign = state.held >= 0 and state.held not in choice.objects
        options = engine.options(state)
        for command, action in chain(options.here.items(), options.walks.items()):
            if not choice.wants(action, foreign):
                continue
            after, _ = engine.apply(state, action)
            at_least = length + 1 + choice.left(after)
            if at_least < bound and length + 1 < best.get(after[:-1], bound):
                best[after[:-1]] = length + 1
                heappush(frontier, (at_least, -next(order), length + 1, after, (command, path)))
    return None


def _unwind(path: _Path) -> list[str]:
    commands: list[str] = []
    while path:
        commands.append(path[0])
        path = path[1]
    return commands[::-1]
