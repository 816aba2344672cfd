"""Why a command did nothing, and how a step might be taken back: what ALFWorld itself never says."""

from __future__ import annotations

import re

from backtrail.envs.alfworld.engine import Action, Engine
from backtrail.envs.alfworld.game import Game, State
from backtrail.envs.alfworld.text import bits

_FORMS = (
    ("go", re.compile(r"go to (.+)")),
    ("open", re.compile(r"open (.+)")),
    ("close", re.compile(r"close (.+)")),
    ("take", re.compile(r"take (.+) from (.+)")),
    ("move", re.compile(r"move (.+) to (.+)")),
    ("treat", re.compile(r"(?:clean|heat|cool) (.+) with (.+)")),
    ("slice", re.compile(r"slice (.+) with (.+)")),
    ("use", re.compile(r"use (.+)")),
    ("examine", re.compile(r"examine (.+)")),
)
_GRAMMAR = (
    "look, inventory, help, go to, open, close, take .. from .., move .. to .., use, clean/heat/cool/slice .. with .."
)


def why_not(engine: Engine, state: State, command: str) -> str:
    """Say in one sentence why a command that is not admissible does nothing."""
    command = command.strip()
    if not command:
        return "the action is empty: expected one command such as 'look'"
    if engine.options(state).find(command.lower()):
        return f"commands are lower case: expected {command.lower()!r}"
    for verb, form in _FORMS:
        found = form.fullmatch(command)
        if found:
            return _reason(engine.game, state, verb, command.split()[0], *found.groups())
    put = re.fullmatch(r"put (.+) (?:in/on|in|on|into|onto) (.+)", command)
    if put:
        return f"this version of the game says 'move {put[1]} to {put[2]}'"
    shown = command if len(command) <= 60 else f"{command[:57]}..."
    return f"unknown command {shown!r}: expected one of {_GRAMMAR}"


def _reason(game: Game, state: State, verb: str, word: str, first: str, second: str = "") -> str:
    if verb in ("go", "open", "close"):
        return _about_receptacle(game, state, verb, first)
    if verb in ("use", "examine"):
        return _about_thing(game, state, verb, first)
    if first not in game.objects:
        return f"there is no {first}"
    if verb == "slice":
        return _about_slicing(game, state, game.objects.index(first), second)
    if second not in game.receptacles:
        return f"there is no {second}"
    k, r = game.objects.index(first), game.receptacles.index(second)
    if game.location_of[r] != state.location:
        return f"you are not at {second}"
    closed = game.openable >> r & 1 and not state.opened >> r & 1
    if verb == "take":
        return _about_taking(game, state, k, r, bool(closed))
    if state.held != k:
        return f"you are not holding {first}"
    if verb == "move":
        return f"{second} is closed" if closed else f"{second} cannot hold {first}"
    if not game.tools[word] >> r & 1:
        return f"{second} cannot {word} things"
    return f"{first} cannot be {word}ed"


def _about_receptacle(game: Game, state: State, verb: str, name: str) -> str:
    if name not in game.receptacles:
        return f"there is no {name}"
    r = game.receptacles.index(name)
    if verb == "go":
        return f"you are already at {name}"  # also where two receptacles share one place
    if game.location_of[r] != state.location:
        return f"you are not at {name}"
    if not game.openable >> r & 1:
        return f"{name} cannot be opened or closed"
    return f"{name} is already {'open' if verb == 'open' else 'closed'}"


def _about_thing(game: Game, state: State, verb: str, name: str) -> str:
    if name in game.receptacles:
        if verb == "use":
            return f"{name} cannot be used"
        return f"you are not at {name}"
    if name not in game.objects:
        return f"there is no {name}"
    if verb == "use" and not game.toggleable >> game.objects.index(name) & 1:
        return f"{name} cannot be switched on"
    return f"{name} is not within reach" if verb == "use" else f"only what is in your hand can be examined, not {name}"


def _about_taking(game: Game, state: State, k: int, r: int, closed: bool) -> str:
    if state.held >= 0:
        return f"your hand is full: you hold {game.objects[state.held]}"
    if closed:
        return f"{game.receptacles[r]} is closed"
    if not state.contents[r] >> k & 1:
        return f"{game.objects[k]} is not in or on {game.receptacles[r]}"
    return f"{game.objects[k]} cannot be picked up"


def _about_slicing(game: Game, state: State, k: int, tool: str) -> str:
    held = game.objects[state.held] if state.held >= 0 else ""
    if tool != held or not game.knives >> state.held & 1:
        return "slicing needs a knife or butterknife in your hand"
    if not game.sliceable >> k & 1:
        return f"{game.objects[k]} cannot be sliced"
    return f"{game.objects[k]} is not here"


def inverses(engine: Engine, before: State, action: Action, after: State) -> list[str]:
    """Return the admissible commands of ``after`` that may lead back to ``before``, the likeliest first.

    Empty where nothing changed and where the change is for good (heat, cool, clean, slice, the first use of a lamp, and
    leaving the spot in the middle of the room, which has no name to go to).
    """
    if before[:-1] == after[:-1]:
        return []
    game, (verb, first, second) = engine.game, action
    wanted: list[str] = []
    if verb == "go":
        wanted = [f"go to {game.receptacles[r]}" for r in game.at[before.location]][:1]
    elif verb in ("open", "close"):
        wanted = [f"{'close' if verb == 'open' else 'open'} {game.receptacles[first]}"]
    elif verb == "take":
        wanted = [f"move {game.objects[first]} to {game.receptacles[second]}"]
    elif verb == "move":
        wanted = [f"take {game.objects[first]} from {game.receptacles[second]}"]
    elif verb == "use" and before.toggled == after.toggled:
        wanted = [f"use {game.objects[first]}"]
    options = engine.options(after)
    return [command for command in wanted if options.find(command)]


def facts(game: Game, state: State) -> frozenset[str]:
    """Return the ground PDDL facts that hold and can change: the true physical state, written out."""
    holding = [f"holds {game.object_ids[state.held]}"] if state.held >= 0 else []
    here = [f"atlocation {game.location_ids[state.location]}"]
    stored = [
        f"inreceptacle {game.object_ids[k]} {game.receptacle_ids[r]}"
        for r, c in enumerate(state.contents)
        for k in bits(c)
    ]
    lying = [
        f"objectatlocation {game.object_ids[k]} {game.location_ids[p]}"
        for p, c in enumerate(state.floor)
        for k in bits(c)
    ]
    opened = [f"opened {game.receptacle_ids[r]}" for r in bits(state.opened)]
    flags = {"isclean": state.clean, "ishot": state.hot, "iscool": state.cool}
    flags |= {"ison": state.on, "istoggled": state.toggled, "issliced": state.sliced}
    marks = [f"{name} {game.object_ids[k]}" for name, mask in flags.items() for k in bits(mask)]
    return frozenset((*holding, *here, *stored, *lying, *opened, *marks))
