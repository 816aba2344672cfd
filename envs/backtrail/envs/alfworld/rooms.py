"""Rooms of the generated games: the same name means the same room on every machine.

Games of the splits train and valid_seen share one pool of rooms; valid_unseen has its own, so that none of its rooms is
ever met in training.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, TypeVar

from backtrail.envs.alfworld.furniture import CONTENTS, FIXTURES, FURNITURE, OPENABLE, SCENERY, SHARED, SIZES
from backtrail.envs.alfworld.tables import HOLDS

VERSION = "v1"
"""Part of every seed; it changes when any byte of any game does."""

_SEED = "chalet"
"""Any word would do; another one lays out other rooms."""

SEEN_ROOMS, UNSEEN_ROOMS = 24, 6
"""Rooms of each kind in the two pools."""

Position = tuple[int, int, int]
"""x, height and z in hundredths of a metre."""

_HORIZONS = (45, 45, 45, 60, 60, 60, -30, 30, -15, 0)
"""Degrees that the agent looks down, as often as in the official games."""

_T = TypeVar("_T")


class Draw:
    """Random choices that are the same on every machine and Python version: they rest on ``random()`` alone.

    Attributes:
        unit: Returns the next number from 0 up to, not including, 1.
    """

    def __init__(self, seed: str) -> None:
        self.unit = random.Random(f"backtrail-alfworld-{VERSION}/{seed}").random

    def chance(self, share: float) -> bool:
        """Return whether something that happens in `share` of all cases happens."""
        return self.unit() < share

    def between(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int(self.unit() * (high - low + 1))

    def pick(self, options: Sequence[_T]) -> _T:
        """Return one of the options, all equally likely."""
        return options[int(self.unit() * len(options))]

    def spread(self, options: Sequence[_T], number: int) -> list[_T]:
        """Return `number` of the options in random order, each as many times as its share comes to.

        Picking one by one would leave a few rooms with too much of one thing and too little of another.
        """
        offset = self.unit()
        chosen = [options[int((place + offset) / number * len(options))] for place in range(number)]
        keys = [self.unit() for _ in chosen]
        return [chosen[place] for place in sorted(range(number), key=keys.__getitem__)]


@dataclass(frozen=True, slots=True)
class Receptacle:
    """A piece of furniture that things are put in or on, and the place from where it is reached."""

    name: str
    type: str
    position: Position
    location: str
    openable: bool


@dataclass(frozen=True, slots=True)
class Thing:
    """An object, the place from where it is reached, and the name of the receptacle it is in, if any."""

    name: str
    type: str
    location: str
    receptacle: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """What all games in one room share.

    `contents` maps the types of the things that a game scatters in the room to digits, the likely numbers of them.
    """

    name: str
    kind: str
    receptacles: tuple[Receptacle, ...]
    scenery: tuple[Thing, ...]
    contents: dict[str, str]


class _Plan(NamedTuple):
    """How many receptacles and fixed things of each type a room has, and the contents as in `Room`."""

    furniture: dict[str, int]
    scenery: dict[str, int]
    contents: dict[str, str]


def room_names(split: str, kind: str) -> list[str]:
    """Return the rooms of one kind that games of a split play in."""
    first, last = (SEEN_ROOMS + 1, SEEN_ROOMS + UNSEEN_ROOMS) if split == "valid_unseen" else (1, SEEN_ROOMS)
    return [f"{kind}-{number:02}" for number in range(first, last + 1)]


@cache
def room(name: str) -> Room:
    """Lay out the room of that name, such as ``kitchen-07``."""
    kind, _, number = name.partition("-")
    pool = room_names("train" if int(number) <= SEEN_ROOMS else "valid_unseen", kind)
    plan = _plans(kind, tuple(pool))[pool.index(name)]
    draw = Draw(f"{_SEED}/{name}")
    taken: set[str] = set()
    receptacles = _share_locations(_furnish(plan.furniture, draw, taken), draw)
    scenery = _decorate(plan.scenery, receptacles, draw, taken)
    return Room(name, kind, tuple(receptacles), tuple(scenery), plan.contents)


def entity(type_name: str, position: Position, part: str = "") -> str:
    """Return the PDDL identifier of an object or receptacle, escaped as in the official games."""
    numbers = (f"{value / 100:+06.2f}" if value else "00.00" for value in position)
    return _escape("|".join([type_name, *numbers, *([part] if part else [])]))


def nearby(position: Position, draw: Draw) -> Position:
    """Return a position on or in the receptacle that stands at `position`."""
    x, height, z = position
    return x + draw.between(-30, 30), height + draw.between(2, 30), z + draw.between(-30, 30)


def free_location(position: Position, draw: Draw, taken: set[str]) -> str:
    """Return the PDDL identifier of a place from where `position` is reached, and add it to the `taken` ones."""
    while True:
        x, z = (value // 25 + draw.between(-4, 4) for value in position[::2])
        location = _escape(f"loc|{x}|{z}|{draw.between(0, 3)}|{draw.pick(_HORIZONS)}")
        if location not in taken:
            taken.add(location)
            return location


def somewhere(draw: Draw) -> Position:
    """Return a position anywhere in a room."""
    return draw.between(-400, 400), draw.between(0, 210), draw.between(-400, 400)


def _escape(identifier: str) -> str:
    return identifier.replace("|", "_bar_").replace("-", "_minus_").replace("+", "_plus_").replace(".", "_dot_")


@cache
def _plans(kind: str, names: tuple[str, ...]) -> list[_Plan]:
    """Plan all rooms of a pool together, so that it has its share of everything."""
    draw = Draw(f"{_SEED}/{names[0]}/{names[-1]}")
    number = len(names)
    furniture = _sized(kind, number, draw)
    scenery = {each: draw.spread(counts, number) for each, counts in SCENERY[kind].items()}
    contents = {
        each: [counts if percent < 100 * share else "" for percent in draw.spread(range(100), number)]
        for share, counts, things in CONTENTS[kind]
        for each in things.split()
    }
    return [
        _Plan(
            {each: counts[index] for each, counts in furniture.items()},
            {each: int(counts[index]) for each, counts in scenery.items()},
            {each: counts[index] for each, counts in contents.items() if counts[index]},
        )
        for index in range(number)
    ]


def _sized(kind: str, number: int, draw: Draw) -> dict[str, list[int]]:
    fewest, most = SIZES[kind]
    while True:
        furniture = {each: draw.spread(counts, number) for each, counts in FURNITURE[kind].items()}
        if all(fewest <= sum(counts) <= most for counts in zip(*furniture.values(), strict=True)):
            return furniture


def _furnish(furniture: dict[str, int], draw: Draw, taken: set[str]) -> list[Receptacle]:
    receptacles: list[Receptacle] = []
    for each in [each for each, number in furniture.items() for _ in range(number)]:
        position = somewhere(draw)
        location = free_location(position, draw, taken)
        # Identifiers of basins name the sink or bathtub first and end in the basin's own type.
        whole = FIXTURES[each] if each.endswith("Basin") else each
        identifier = entity(whole, position, each if whole != each else "")
        receptacles.append(Receptacle(identifier, each, position, location, draw.chance(OPENABLE.get(each, 0.0))))
    return receptacles


def _share_locations(receptacles: list[Receptacle], draw: Draw) -> list[Receptacle]:
    """Let some receptacles be reached from where another one is."""
    result = list(receptacles)
    for index, own in enumerate(receptacles):
        share, partners = SHARED.get(own.type, (0.0, ""))
        others = [other for other in result if other.type in partners.split() and other.name != own.name]
        if others and draw.chance(share):
            result[index] = replace(own, location=draw.pick(others).location)
    return result


def _decorate(scenery: dict[str, int], receptacles: list[Receptacle], draw: Draw, taken: set[str]) -> list[Thing]:
    things = [
        Thing(entity(FIXTURES[built.type], built.position), FIXTURES[built.type], built.location)
        for built in receptacles
        if built.type in FIXTURES
    ]
    for each, number in scenery.items():
        hosts = [host for host in receptacles if host.type in HOLDS.get(each, ())]
        for _ in range(number):
            if hosts:
                host = draw.pick(hosts)
                things.append(Thing(entity(each, nearby(host.position, draw)), each, host.location, host.name))
            else:
                position = somewhere(draw)
                things.append(Thing(entity(each, position), each, free_location(position, draw, taken)))
    return things
