"""The ALFWorld text game: commands in, sentences out, exactly as TextWorld plays the same file.

States are immutable tuples, so keeping one is keeping a reference and going back is free. What can be done in a state
depends on the place alone (the hand, what is open here, what lies here), so it is worked out once per place and cached.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import NamedTuple

from backtrail.envs.alfworld import text
from backtrail.envs.alfworld.game import Game, State
from backtrail.envs.alfworld.text import bits
from backtrail.envs.core import digest

FINGERPRINT_VERSION = "alfworld-1"

_CACHED_PLACES = 64  # per game: a walk comes back to few places, and a parsed game should stay under 200 kB

Action = tuple[str, int, int]
"""(verb, object or receptacle, receptacle or tool); unused places are -1."""


class Options(NamedTuple):
    """What can be done in a state."""

    commands: tuple[str, ...]
    """Every admissible command, sorted, as TextWorld lists them."""
    here: dict[str, Action]
    """What the commands that do not walk stand for."""
    walks: dict[str, Action]

    def find(self, command: str) -> Action | None:
        """Return what a command stands for, or None if it is not admissible."""
        return self.here.get(command) or self.walks.get(command)


class Engine:
    """Plays one game. Holds no episode: every method takes the state."""

    def __init__(self, game: Game):
        self.game = game
        self.start = game.start
        self._won = _winning(game)
        walks = sorted((f"go to {name}", ("go", r, -1)) for r, name in enumerate(game.receptacles))
        self._walks: list[tuple[str, Action]] = walks
        self._walks_from: dict[int, dict[str, Action]] = {}
        self._shut = [sum(1 << r for r in here) & game.openable for here in game.at]
        self._cache: dict[tuple[object, ...], Options] = {}
        self._apply: dict[str, Callable[[State, int, int], tuple[State, str]]] = {
            "go": self._go,
            "open": self._open,
            "close": self._close,
            "take": self._take,
            "move": self._move,
            "clean": self._clean,
            "heat": self._heat,
            "cool": self._cool,
            "use": self._use,
            "slice": self._slice,
            "look": lambda s, a, b: (s, text.look(game, s)),
            "help": lambda s, a, b: (s, game.help),
            "inventory": lambda s, a, b: (s, self._inventory(s)),
            "examine": lambda s, a, b: (s, text.examined(game, s, a)),
            "inspect": lambda s, a, b: (s, text.receptacle(game, s, a)),
        }

    def step(self, state: State, command: str) -> tuple[State, str, bool]:
        """Carry out a command.

        Returns:
            The next state (the same object if the command is not admissible), the text, and whether the game is won there.
        """
        action = self.options(state).find(command.strip())
        if action is None:
            return state, text.NOTHING, self._won(state)
        state, said = self.apply(state, action)
        return state, said, self._won(state)

    def apply(self, state: State, action: Action) -> tuple[State, str]:
        """Carry out an action that is admissible in the state."""
        return self._apply[action[0]](state, action[1], action[2])

    def won(self, state: State) -> bool:
        """Whether the goal holds."""
        return self._won(state)

    def fingerprint(self, state: State) -> str:
        """Return the identity of the physical state; `State.taken`, which only ``look`` reads, is left out."""
        return f"{FINGERPRINT_VERSION}:{digest(f'{self.game.digest}{state[:-1]!r}')}"

    # -- what can be done ---------------------------------------------------------------------------------

    def options(self, state: State) -> Options:
        """Return the commands that are admissible in a state."""
        place, held = state.location, state.held
        contents = state.contents
        # the hand, what is open here, what lies in the receptacles here, and (for a knife) what there is to cut
        key = (
            place,
            held,
            state.opened & self._shut[place],
            state.floor[place] if held >= 0 and self.game.knives >> held & 1 else 0,
            *[contents[r] for r in self.game.at[place]],
        )
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) >= _CACHED_PLACES:
                self._cache.clear()
            found = self._cache[key] = self._options(state)
        return found

    def _options(self, state: State) -> Options:
        actions = self._local(state)
        walks = self._walks_from.get(state.location)
        if walks is None:
            there, here = self.game.location_of, state.location
            walks = self._walks_from[here] = {go: action for go, action in self._walks if there[action[1]] != here}
        # "go to ..." is one block in the sorted list, sorted already
        before = sorted(command for command in actions if command < "go to")
        after = sorted(command for command in actions if command > "go to")
        return Options((*before, *walks, *after), actions, walks)

    def _local(self, state: State) -> dict[str, Action]:
        game, held = self.game, state.held
        actions: dict[str, Action] = {
            "help": ("help", -1, -1),
            "inventory": ("inventory", -1, -1),
            "look": ("look", -1, -1),
        }
        for r in game.at[state.location]:
            name = game.receptacles[r]
            actions[f"examine {name}"] = ("inspect", r, -1)
            reachable = True
            if game.openable >> r & 1:
                reachable = bool(state.opened >> r & 1)
                actions[f"{'close' if reachable else 'open'} {name}"] = ("close" if reachable else "open", r, -1)
            for k in bits(state.contents[r] & game.toggleable):
                actions[f"use {game.objects[k]}"] = ("use", k, -1)
            if reachable and held < 0:
                for k in bits(state.contents[r] & game.pickupable):
                    actions[f"take {game.objects[k]} from {name}"] = ("take", k, r)
            if held >= 0:
                thing = game.objects[held]
                if reachable and game.fits[r] >> held & 1:
                    actions[f"move {thing} to {name}"] = ("move", held, r)
                for verb, tools in game.tools.items():
                    if tools >> r & 1 and game.treatable[verb] >> held & 1:
                        actions[f"{verb} {thing} with {name}"] = (verb, held, r)
        if held >= 0:
            # alfred.pddl also means to allow objects in sight, but its "?l - location," declares a type nothing has
            actions[f"examine {game.objects[held]}"] = ("examine", held, -1)
            if game.knives >> held & 1:
                for k in bits(state.floor[state.location] & game.sliceable):
                    actions[f"slice {game.objects[k]} with {game.objects[held]}"] = ("slice", k, held)
        return actions

    # -- what it does -------------------------------------------------------------------------------------

    def _go(self, s: State, r: int, _: int) -> tuple[State, str]:
        s = State(self.game.location_of[r], *s[1:])
        return s, f"You arrive at {self.game.receptacles[r]}. {text.receptacle(self.game, s, r)}"

    def _open(self, s: State, r: int, _: int) -> tuple[State, str]:
        s = s._replace(opened=s.opened | 1 << r)
        return s, f"You open the {self.game.receptacles[r]}. {text.receptacle(self.game, s, r)}"

    def _close(self, s: State, r: int, _: int) -> tuple[State, str]:
        return s._replace(opened=s.opened & ~(1 << r)), f"You close the {self.game.receptacles[r]}."

    def _take(self, s: State, k: int, r: int) -> tuple[State, str]:
        bit, here = 1 << k, s.location
        s = s._replace(
            held=k,
            contents=_with(s.contents, r, s.contents[r] & ~bit),
            floor=_with(s.floor, here, s.floor[here] & ~bit),
            taken=_with(s.taken, r, s.taken[r] | bit),
        )
        return s, f"You pick up the {self.game.objects[k]} from the {self.game.receptacles[r]}."

    def _move(self, s: State, k: int, r: int) -> tuple[State, str]:
        bit, here = 1 << k, s.location
        s = s._replace(
            held=-1,
            contents=_with(s.contents, r, s.contents[r] | bit),
            floor=_with(s.floor, here, s.floor[here] | bit),
            taken=_with(s.taken, r, s.taken[r] & ~bit),
        )
        return s, f"You move the {self.game.objects[k]} to the {self.game.receptacles[r]}."

    def _clean(self, s: State, k: int, r: int) -> tuple[State, str]:
        return s._replace(clean=s.clean | 1 << k), self._treated("clean", k, r)

    def _heat(self, s: State, k: int, r: int) -> tuple[State, str]:
        return s._replace(hot=s.hot | 1 << k, cool=s.cool & ~(1 << k)), self._treated("heat", k, r)

    def _cool(self, s: State, k: int, r: int) -> tuple[State, str]:
        return s._replace(cool=s.cool | 1 << k, hot=s.hot & ~(1 << k)), self._treated("cool", k, r)

    def _treated(self, verb: str, k: int, r: int) -> str:
        return f"You {verb} the {self.game.objects[k]} using the {self.game.receptacles[r]}."

    def _use(self, s: State, k: int, _: int) -> tuple[State, str]:
        # the text says "on" for ever, because it tests istoggled, which is never taken back
        return s._replace(on=s.on ^ 1 << k, toggled=s.toggled | 1 << k), f"You turn on the {self.game.objects[k]}."

    def _slice(self, s: State, k: int, knife: int) -> tuple[State, str]:
        said = f"You sliced the {self.game.objects[k]} with the {self.game.objects[knife]}."
        return s._replace(sliced=s.sliced | 1 << k), said

    def _inventory(self, s: State) -> str:
        return f"You are carrying: a {self.game.objects[s.held]}." if s.held >= 0 else "You are not carrying anything."


def _with(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*values[:index], value, *values[index + 1 :])


def _winning(game: Game) -> Callable[[State], bool]:
    """Return the test of the game's goal."""
    goal = game.goal
    wanted = sum(1 << k for k, kind in enumerate(game.object_types) if kind == goal.object_type)
    if goal.lamp_type:
        lamps = sum(1 << k for k, kind in enumerate(game.object_types) if kind == goal.lamp_type) & game.toggleable

        def lit(s: State) -> bool:
            lit_lamps = s.toggled & lamps
            if not lit_lamps or s.held < 0 or not wanted >> s.held & 1:
                return False
            return any(s.contents[r] & lit_lamps for r in game.at[s.location])

        return lit
    places = [r for r, kind in enumerate(game.receptacle_types) if kind == goal.receptacle_type]
    if goal.quantity == 2:
        return lambda s: any((s.contents[r] & wanted).bit_count() > 1 for r in places)
    if not goal.treatment:
        return lambda s: any(s.contents[r] & wanted for r in places)
    wanted &= game.treatable[goal.treatment]
    marked = operator.attrgetter({"clean": "clean", "heat": "hot", "cool": "cool"}[goal.treatment])

    def treated(s: State) -> bool:
        ready = marked(s) & wanted
        return bool(ready) and any(s.contents[r] & ready for r in places)

    return treated
