"""A parsed ALFWorld game: the part of the world that never changes, read from an official game file or a generated one.

A ``game.tw-pddl`` file is JSON with a PDDL domain, a text grammar and a PDDL problem. Domain and grammar are the same text
in every official game, so they are recognised by digest and only the problem is read. Objects, receptacles and locations
are numbered in the order of their sorted identifiers; sets of them are integers used as bit masks.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from backtrail.envs.alfworld.goal import Goal, GoalError, parse_goal
from backtrail.envs.core import digest

Names = Literal["numbered", "textworld"]

_FACT = re.compile(r"\((\w+) ([^()]*)\)")
_TASK = re.compile(r'Your task is to: ([^"\n]*)"')
_CAN_CONTAIN = re.compile(r"(?:\(cancontain [^()]*\)\s*)+")

_HELP = re.compile(r'"((?:\s|\\n)*Available[^"]*)"')

# (domain, grammar without the task sentence) of the games that the engine was proved equal to -> the label of such data
_KNOWN = {("70afdcee99f4", "4aa7a6b2445e"): "alfworld:json_2.1.3", ("633084ef4080", "9af6a3d56f5a"): "alfworld:0.4.2"}
_OWN_HELP = "Commands: look, inventory, help, go to R, open R, close R, examine R or O, take O from R, move O to R, use O, \
clean O with R, heat O with R, cool O with R, slice O with O. R is a receptacle such as drawer 1, O an object such as mug 2."


class GameError(ValueError):
    """A game file is missing, damaged, or in a form that the engine does not know."""


class State(NamedTuple):
    """One state of a game. Every field but `taken` is physical; `taken` only shows in what ``look`` lists."""

    location: int
    held: int
    """The object in the hand, or -1."""
    contents: tuple[int, ...]
    """Per receptacle: the objects in it."""
    opened: int
    clean: int
    hot: int
    cool: int
    on: int
    toggled: int
    sliced: int
    floor: tuple[int, ...]
    """Per location: the objects that PDDL's objectAtLocation puts there."""
    taken: tuple[int, ...]
    """Per receptacle: the objects taken out of it and not put back."""


@dataclass(frozen=True, slots=True, eq=False)
class Game:
    """What never changes in a game. Masks over objects unless said otherwise."""

    digest: str
    """Identity of the world: problem, task and rules."""
    data: str
    """Which data the game belongs to, as in ``info["data"]``."""
    task: str
    """The instruction, with the full stop ALFWorld writes."""
    help: str
    """What the command ``help`` answers."""
    goal: Goal
    start: State
    objects: tuple[str, ...]
    object_ids: tuple[str, ...]
    object_types: tuple[str, ...]
    receptacles: tuple[str, ...]
    receptacle_ids: tuple[str, ...]
    receptacle_types: tuple[str, ...]
    location_ids: tuple[str, ...]
    location_of: tuple[int, ...]
    at: tuple[tuple[int, ...], ...]
    """Per location: the receptacles there."""
    fits: tuple[int, ...]
    """Per receptacle: the objects it can contain."""
    inside: dict[int, tuple[int, ...]]
    """Objects that contain others (a mug with a pen), which never changes in the text game."""
    openable: int
    """Mask over receptacles."""
    tools: dict[str, int]
    """"clean", "heat", "cool" -> mask over the receptacles that do it."""
    treatable: dict[str, int]
    """"clean", "heat", "cool" -> the objects it can be done to."""
    pickupable: int
    toggleable: int
    sliceable: int
    knives: int
    containers: int


def read_file(path: str | Path) -> dict[str, str]:
    """Read the JSON of a ``game.tw-pddl`` file and check that it is complete.

    Raises:
        GameError: If the file is missing, damaged or not a game.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise GameError(f"Expected an ALFWorld game at {path}: {error.strerror}") from None
    except ValueError as error:
        raise GameError(
            f"{path} is not a complete ALFWorld game (JSON expected): {error}. Download it again."
        ) from None
    wanted = ("pddl_domain", "grammar", "pddl_problem")
    if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in wanted):
        raise GameError(f"{path} is not an ALFWorld game: expected JSON with the texts {', '.join(wanted)}")
    return data


def load_game(path: str | Path, names: Names = "numbered", *, any_rules: bool = False) -> Game:
    """Read an official ``game.tw-pddl`` file.

    Args:
        path: The file.
        names: As in `parse_game`.
        any_rules: Accept rules and grammars that the native engine does not know (TextWorld plays those).

    Raises:
        GameError: If the file is missing, damaged, or holds rules or a grammar the engine does not know.
    """
    data = read_file(path)
    grammar = data["grammar"]
    try:
        label = _recognise(data["pddl_domain"], grammar)
        if not label and not any_rules:
            raise GameError(
                "the rules or the text grammar are not those of ALFWorld's official games (json_2.1.3) or of the alfworld "
                '0.4.2 package; play it with engine="textworld" (pip install "backtrail[alfworld]")'
            )
        label = label or "alfworld:other"
        return parse_game(data["pddl_problem"], _task(grammar), label, help_text=_help(grammar), names=names)
    except GameError as error:
        raise GameError(f"{path}: {error}") from None


def parse_game(problem: str, task: str, data: str, *, help_text: str = _OWN_HELP, names: Names = "numbered") -> Game:
    """Build a game from the text of a PDDL problem and its task sentence.

    Args:
        problem: The PDDL problem in ALFWorld's form.
        task: The instruction, e.g. ``put a clean mug in desk``.
        data: Which data the game belongs to; in the official games a Sink cleans as a SinkBasin does.
        help_text: What the command ``help`` answers.
        names: "numbered" (``desk 1``: ALFWorld's names) or "textworld" (the identifiers of the problem).

    Raises:
        GameError: If the problem is not complete or its goal is none of ALFWorld's six.
    """
    text = problem.lower()
    begin, end = text.find("(:init"), text.find("(:goal")
    if begin < 0 or end < begin:
        raise GameError("the PDDL problem is not complete: expected (:init ...) followed by (:goal ...)")
    contain = _CAN_CONTAIN.search(text, begin, end)
    start, stop = contain.span() if contain else (begin, begin)
    facts: dict[str, list[list[str]]] = defaultdict(list)
    for name, arguments in _FACT.findall(text[begin + 6 : start] + text[stop:end]):
        facts[name].append(arguments.split())
    try:
        allowed = _allowed(text[start:stop])
        goal = parse_goal(text[end:])
        texts = (task, help_text, data, digest(f"{problem}\n{task}\n{data}"))
        return _build(facts, allowed, goal, texts, names)
    except GoalError as error:
        raise GameError(str(error)) from None
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise GameError(f"the PDDL problem contradicts itself or is not complete: {error!r}") from None


def _help(grammar: str) -> str:
    found = _HELP.search(grammar, grammar.find("action help"))
    return found.group(1).replace("\\n", "\n").lstrip() if found else _OWN_HELP  # TextWorld loses leading blanks


def _task(grammar: str) -> str:
    found = _TASK.search(grammar)
    if found is None:
        raise GameError('the grammar has no sentence "Your task is to: ..."')
    return found.group(1)


@lru_cache(maxsize=8)
def _short(text: str) -> str:
    return digest(text)[:12]


def _recognise(domain: str, grammar: str) -> str:
    """Return which games these rules and this grammar belong to, "" if none that the engine was proved equal to."""
    return _KNOWN.get((_short(domain), _short(_TASK.sub("", grammar))), "")


@lru_cache(maxsize=64)
def _allowed(text: str) -> frozenset[tuple[str, str]]:
    """Parse the canContain facts: a quarter of the file, and the same text in many games."""
    return frozenset((pair[0], pair[1]) for pair in (arguments.split() for _, arguments in _FACT.findall(text)))


def _numbered(ids: list[str]) -> dict[str, str]:
    """Name entities as ALFWorld does: the class and a number, handed out downwards in the order of the identifiers."""
    classes = {i: i.split("_bar_", 1)[0] + ("basin" if "basin" in i else "") for i in ids if "_bar_" in i}
    left = Counter(classes.values())
    names = {}
    for i in ids:
        kind = classes.get(i)
        if kind is None:
            names[i] = f"{i} "
            continue
        names[i] = f"{kind} {left[kind]}"
        left[kind] -= 1
    return names


def _build(
    facts: dict[str, list[list[str]]],
    allowed: frozenset[tuple[str, str]],
    goal: Goal,
    texts: tuple[str, str, str, str],
    names: Names,
) -> Game:
    def first(*predicates: str) -> set[str]:
        return {arguments[0] for predicate in predicates for arguments in facts[predicate]}

    receptacle_ids = sorted(first("receptacletype", "receptacleatlocation"))
    object_ids = sorted(first("objecttype", "objectatlocation", "inreceptacle", "inreceptacleobject"))
    at_facts = facts["receptacleatlocation"] + facts["objectatlocation"] + facts["atlocation"]
    location_ids = sorted({location for _, location in at_facts})
    receptacle = {name: k for k, name in enumerate(receptacle_ids)}
    obj = {name: k for k, name in enumerate(object_ids)}
    location = {name: k for k, name in enumerate(location_ids)}

    def mask(predicate: str) -> int:
        return _mask(facts[predicate], obj)

    object_types = [""] * len(obj)
    for name, kind in facts["objecttype"]:
        object_types[obj[name]] = kind
    receptacle_types = [""] * len(receptacle)
    for name, kind in facts["receptacletype"]:
        receptacle_types[receptacle[name]] = kind
    places = dict(facts["receptacleatlocation"])
    location_of = tuple(location[places[name]] for name in receptacle_ids)
    at: list[tuple[int, ...]] = [()] * len(location)
    for k, place in enumerate(location_of):
        at[place] += (k,)
    of_type: dict[str, int] = defaultdict(int)
    for k, kind in enumerate(object_types):
        of_type[kind] |= 1 << k
    fits = {
        kind: sum(members for other, members in of_type.items() if (kind, other) in allowed)
        for kind in set(receptacle_types)
    }

    def tool(*kinds: str) -> int:
        return sum(1 << k for k, kind in enumerate(receptacle_types) if kind in kinds)

    inside: dict[int, tuple[int, ...]] = defaultdict(tuple)
    for inner, outer in sorted(facts["inreceptacleobject"]):
        inside[obj[outer]] += (obj[inner],)
    named = _numbered(sorted([*receptacle_ids, *object_ids])) if names == "numbered" else {}
    return Game(
        task=texts[0],
        help=texts[1],
        data=texts[2],
        digest=texts[3],
        goal=goal,
        start=read_state(facts, object_ids, receptacle_ids, location_ids),
        objects=tuple(named.get(name, name) for name in object_ids),
        object_ids=tuple(object_ids),
        object_types=tuple(object_types),
        receptacles=tuple(named.get(name, name) for name in receptacle_ids),
        receptacle_ids=tuple(receptacle_ids),
        receptacle_types=tuple(receptacle_types),
        location_ids=tuple(location_ids),
        location_of=location_of,
        at=tuple(at),
        fits=tuple(fits[kind] for kind in receptacle_types),
        inside=dict(inside),
        openable=_mask(facts["openable"], receptacle),
        tools={
            "clean": tool("sinkbasintype", *["sinktype"] * (texts[2] == "alfworld:json_2.1.3")),
            "heat": tool("microwavetype"),
            "cool": tool("fridgetype"),
        },
        treatable={"clean": mask("cleanable"), "heat": mask("heatable"), "cool": mask("coolable")},
        pickupable=mask("pickupable"),
        toggleable=mask("toggleable"),
        sliceable=mask("sliceable"),
        knives=of_type["knifetype"] | of_type["butterknifetype"],
        containers=mask("isreceptacleobject"),
    )


def _mask(rows: list[list[str]], index: dict[str, int]) -> int:
    return sum({1 << index[arguments[0]] for arguments in rows if arguments[0] in index})


def read_state(
    facts: dict[str, list[list[str]]],
    object_ids: Sequence[str],
    receptacle_ids: Sequence[str],
    location_ids: Sequence[str],
) -> State:
    """Build the state in which the given PDDL facts (predicate -> argument lists, lower case) hold."""
    obj = {name: k for k, name in enumerate(object_ids)}
    receptacle = {name: k for k, name in enumerate(receptacle_ids)}
    location = {name: k for k, name in enumerate(location_ids)}
    contents = [0] * len(receptacle)
    for inner, outer in facts["inreceptacle"]:
        contents[receptacle[outer]] |= 1 << obj[inner]
    floor = [0] * len(location)
    for name, place in facts["objectatlocation"]:
        floor[location[place]] |= 1 << obj[name]
    ((_, here),) = facts["atlocation"]
    return State(
        location=location[here],
        held=next((obj[name] for _, name in facts["holds"]), -1),
        contents=tuple(contents),
        opened=_mask(facts["opened"], receptacle),
        clean=_mask(facts["isclean"], obj),
        hot=_mask(facts["ishot"], obj),
        cool=_mask(facts["iscool"], obj),
        on=_mask(facts["ison"], obj),
        toggled=_mask(facts["istoggled"], obj),
        sliced=_mask(facts["issliced"], obj),
        floor=tuple(floor),
        taken=(0,) * len(receptacle),
    )
