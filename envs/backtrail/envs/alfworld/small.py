"""Small rooms: a generated room with few of its receptacles and few kinds of things, for training on a laptop.

The rules, the sentences and the task are those of the full room; what shrinks is how much there is to search, and how many
words a small model has to learn.
"""

from __future__ import annotations

from dataclasses import replace

from backtrail.envs.alfworld.furniture import SINGLE
from backtrail.envs.alfworld.rooms import Draw, Room
from backtrail.envs.alfworld.tables import CONTAINS

__all__ = ["RECEPTACLES", "THINGS", "VERSION", "smaller"]

VERSION = "v1"
"""Rises when any byte of any small game changes that does not change the full one."""

RECEPTACLES = 7
"""Receptacles of a small room."""

_THINGS = (
    "Apple Book Candle CellPhone Cloth CreditCard Cup Fork KeyChain Mug Pen Pencil Plate Potato SoapBar ToiletPaper"
)
THINGS = frozenset(_THINGS.split())
"""Types of things that are scattered in small rooms; fixed things are those of the full room."""


def smaller(where: Room, target: str, needed: tuple[str, ...], number: int, draw: Draw) -> Room:
    """Return a room with at most `RECEPTACLES` receptacles in which the task can still be done.

    Args:
        where: The full room, in which the task can be done.
        target: The type of what has to be found.
        needed: The types of receptacles and fixed things of the goal: its place, its tool.
        number: How many targets start away from ``needed``.
        draw: Decides what stays.
    """
    hosts = {thing.receptacle for thing in where.scenery if thing.type in needed}
    kept = [each for each in where.receptacles if each.name in hosts][:1]
    for name in dict.fromkeys(needed):
        options = [each for each in where.receptacles if each.type == name]
        kept += [draw.pick(options)] if options else []
    starts = [each for each in where.receptacles if target in CONTAINS[each.type] and each.type not in needed]
    for _ in range(number):
        free = [each for each in starts if each not in kept]
        enough = sum(1 if each.type in SINGLE else 2 for each in starts if each in kept) >= number
        kept += [] if enough else [draw.pick(free)]
    rest = [each for each in where.receptacles if each not in kept]
    while rest and len(kept) < RECEPTACLES:
        kept.append(rest.pop(int(draw.unit() * len(rest))))
    names, places = {each.name for each in kept}, {each.location for each in kept}
    return replace(
        where,
        receptacles=tuple(each for each in where.receptacles if each.name in names),
        scenery=tuple(
            each
            for each in where.scenery
            if (each.receptacle in names if each.receptacle else each.location in places or each.type in needed)
        ),
        contents={name: counts for name, counts in where.contents.items() if name in THINGS},
    )
