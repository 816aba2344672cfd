"""Seeded games for ALFWorld's six task types: official form, own rooms, solvable by construction.

A task id such as ``valid_seen/pick_heat_then_place_in_recep/0007`` is the whole seed: the same id gives the same bytes on
every machine and Python version. The types of goals, objects and furniture, and how many of each there are, follow the
official games; no official game is copied or needed.

Example:
    >>> from backtrail.envs.alfworld.generate import generate
    >>> game = generate("valid_seen/pick_heat_then_place_in_recep/0007")
    >>> game.task_type
    'pick_heat_then_place_in_recep'
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, product
from typing import NamedTuple

from backtrail.envs.alfworld.furniture import ROOMINESS, SINGLE
from backtrail.envs.alfworld.goal import TASK_TYPES
from backtrail.envs.alfworld.problem import problem_text
from backtrail.envs.alfworld.rooms import (
    VERSION,
    Draw,
    Receptacle,
    Room,
    Thing,
    entity,
    free_location,
    nearby,
    room,
    room_names,
    somewhere,
)
from backtrail.envs.alfworld.small import THINGS, smaller
from backtrail.envs.alfworld.small import VERSION as SMALL_VERSION
from backtrail.envs.alfworld.tables import CONTAINS, GOALS, TOOLS, GoalWeights

__all__ = ["SMALL_VERSION", "SPLITS", "TASK_TYPES", "VERSION", "GeneratedGame", "generate", "task_ids"]

SPLITS: dict[str, int] = {"train": 1000, "valid_seen": 50, "valid_unseen": 50}
"""Split to its number of games of each task type."""

SMALL_SPLITS: dict[str, int] = {"train": 10_000, "valid_seen": 500, "valid_unseen": 500}
"""The same for small rooms, which are learned from on a laptop."""

_LOOK, _TWO = "look_at_obj_in_light", "pick_two_obj_and_place"

_SENTENCES = {
    "pick_and_place_simple": (
        "bring one {target} to the {place}",
        "carry one {target} over to the {place} and leave it there",
        "see to it that one {target} is at the {place}",
    ),
    "look_at_obj_in_light": (
        "switch on the {place} and hold one {target} next to it",
        "take one {target} to the {place} and inspect it with the light on",
        "inspect one {target} by the light of the {place}",
    ),
    "pick_clean_then_place_in_recep": (
        "bring one washed {target} to the {place}",
        "wash one {target} and leave it at the {place}",
        "see to it that one {target} is washed and then stored at the {place}",
    ),
    "pick_heat_then_place_in_recep": (
        "bring one warmed {target} to the {place}",
        "warm up one {target} and leave it at the {place}",
        "see to it that one {target} is warmed up and then stored at the {place}",
    ),
    "pick_cool_then_place_in_recep": (
        "bring one chilled {target} to the {place}",
        "chill one {target} and leave it at the {place}",
        "see to it that one {target} is chilled and then stored at the {place}",
    ),
    "pick_two_obj_and_place": (
        "bring a pair of {target} items to the same {place}",
        "gather two {target} items at one {place}",
        "see to it that one {place} holds at least two {target} items",
    ),
}


@dataclass(frozen=True, slots=True)
class GeneratedGame:
    """One game.

    Attributes:
        task_id: ``split/task_type/number``.
        task_type: One of `TASK_TYPES`.
        room: The room it plays in, such as ``kitchen-07``.
        problem: The PDDL problem, in the form of the official game files.
        task: The instruction: a lower-case sentence without a full stop.
    """

    task_id: str
    task_type: str
    room: str
    problem: str
    task: str


class _Setting(NamedTuple):
    """What a game is about: an object type, the receptacle (or lamp) type of the goal, and the rooms that have both."""

    target: str
    place: str
    rooms: tuple[str, ...]


def task_ids(split: str, task_types: Sequence[str] = TASK_TYPES, small: bool = False) -> list[str]:
    """Return the ids of a split's games of the given types, sorted; those of small rooms, if asked for.

    Raises:
        ValueError: On an unknown split or task type; the message names the valid ones.
    """
    if split not in SPLITS:
        raise ValueError(f"Expected split to be one of {', '.join(SPLITS)}, got {split!r}")
    if unknown := sorted(set(task_types) - set(TASK_TYPES)):
        raise ValueError(f"Expected task_types among {', '.join(TASK_TYPES)}, got {', '.join(map(repr, unknown))}")
    games = (SMALL_SPLITS if small else SPLITS)[split]
    return [f"{split}/{name}/{number:04}" for name in sorted(set(task_types)) for number in range(games)]


def generate(task_id: str, small: bool = False) -> GeneratedGame:
    """Make the game of that id.

    Args:
        task_id: One of `task_ids`.
        small: Whether to leave only a few receptacles and things in the room.

    Raises:
        ValueError: If there is no such game.
    """
    split, task_type = _parse(task_id, SMALL_SPLITS if small else SPLITS)
    draw = Draw(task_id)
    chances, settings = _small_settings(split, task_type) if small else _settings(split, task_type)
    setting = settings[bisect_right(chances, draw.unit() * chances[-1])]
    where = room(draw.pick(setting.rooms))
    if small:
        needed = tuple(filter(None, (setting.place, TOOLS.get(task_type, ""))))
        where = smaller(where, setting.target, needed, _needed(task_type), Draw(f"{task_id}/small-{SMALL_VERSION}"))
    things = _scatter(where, task_type, setting, draw)
    taken = {each.location for each in (*where.receptacles, *things)}
    start = free_location(somewhere(draw), draw, taken)
    words = {"target": setting.target.lower(), "place": setting.place.lower()}
    return GeneratedGame(
        task_id,
        task_type,
        where.name,
        problem_text(task_id, task_type, setting.target, setting.place, where.receptacles, things, start),
        draw.pick(_SENTENCES[task_type]).format_map(words),
    )


def _parse(task_id: str, games: dict[str, int]) -> tuple[str, str]:
    match = re.fullmatch(r"([a-z_]+)/([a-z_]+)/([0-9]{4})", task_id)
    if not match or match[1] not in games or match[2] not in TASK_TYPES or int(match[3]) >= games[match[1]]:
        sizes = ", ".join(f"{split} (0000 to {number - 1:04})" for split, number in games.items())
        raise ValueError(
            f"Expected a task id split/task_type/number with a split and number of {sizes} and a task type of "
            f"{', '.join(TASK_TYPES)}, got {task_id!r}"
        )
    return match[1], match[2]


@cache
def _settings(split: str, task_type: str) -> tuple[list[float], list[_Setting]]:
    """List what a split's games of one type can be about, with cumulative weights."""
    total, chances, settings = 0.0, [], []
    for goals in GOALS[task_type]:
        rooms = [room(name) for name in room_names(split, goals.kind)]
        pairs = {
            (target, place): fitting
            for place, target in product(goals.receptacles, goals.objects)
            if (fitting := tuple(each.name for each in rooms if _possible(each, task_type, target, place)))
        }
        # Fitted weights add up to this. Adding up floats would give other last digits from Python 3.12 on.
        whole = sum(goals.receptacles[place] for place in dict.fromkeys(place for _, place in pairs))
        for ((target, place), fitting), weight in zip(pairs.items(), _fit(list(pairs), goals), strict=True):
            total += goals.weight * weight / whole
            chances.append(total)
            settings.append(_Setting(target, place, fitting))
    return chances, settings


@cache
def _small_settings(split: str, task_type: str) -> tuple[list[float], list[_Setting]]:
    """List what small games can be about: the things that small rooms have."""
    chances, settings = _settings(split, task_type)
    weights = [after - before for before, after in zip([0.0, *chances], chances, strict=False)]
    kept = [place for place, setting in enumerate(settings) if setting.target in THINGS]
    return list(accumulate(weights[place] for place in kept)), [settings[place] for place in kept]


def _fit(pairs: Sequence[tuple[str, str]], goals: GoalWeights) -> list[float]:
    """Weigh pairs of object and receptacle so that both are met about as often as `goals` wants.

    Iterative proportional fitting: a product of the two weights would favour the few objects (a mug) that fit an unusual
    receptacle (a coffee machine).
    """
    weights = [1.0] * len(pairs)
    for _ in range(10):
        for side, wanted in enumerate((goals.objects, goals.receptacles)):
            sums = dict.fromkeys(wanted, 0.0)
            for pair, weight in zip(pairs, weights, strict=True):
                sums[pair[side]] += weight
            weights = [
                weight * wanted[pair[side]] / sums[pair[side]] for pair, weight in zip(pairs, weights, strict=True)
            ]
    return weights


def _possible(where: Room, task_type: str, target: str, place: str) -> bool:
    """Return whether a room has all that the goal needs, and space for the target away from where it must go."""
    tool = TOOLS.get(task_type, place)
    if task_type == _LOOK:
        has_place = any(each.type == place and each.receptacle for each in where.scenery)
    else:
        has_place = target in CONTAINS[place] and {place, tool} <= {each.type for each in where.receptacles}
    starts = [host for host in _hosts(where, target) if host.type not in (place, tool)]
    space = sum(1 if host.type in SINGLE else 2 for host in starts)
    return has_place and target in where.contents and space >= _needed(task_type)


def _needed(task_type: str) -> int:
    return 2 if task_type == _TWO else 1


def _hosts(where: Room, thing: str) -> tuple[Receptacle, ...]:
    """Return the receptacles of a room that can hold things of a type."""
    return tuple(host for host in where.receptacles if thing in CONTAINS[host.type])


def _scatter(where: Room, task_type: str, setting: _Setting, draw: Draw) -> list[Thing]:
    """Put the things of one game into a room: the targets first, while there is space, never where they win."""
    things = list(where.scenery)
    taken = {thing.name for thing in things}
    full: set[str] = set()
    for name, number, avoid in _numbers(where, task_type, setting, draw):
        hosts = [host for host in _hosts(where, name) if host.type not in avoid]
        for _ in range(number):
            host = _weighted(hosts, full, draw)
            if not host:
                break
            if host.type in SINGLE:
                full.add(host.name)
            identifier = entity(name, nearby(host.position, draw))
            while identifier in taken:
                identifier = entity(name, nearby(host.position, draw))
            taken.add(identifier)
            things.append(Thing(identifier, name, host.location, host.name))
    return sorted(things, key=lambda thing: thing.name)


def _numbers(where: Room, task_type: str, setting: _Setting, draw: Draw) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yield object types, how many of them there are, and the receptacle types they do not start in."""
    target, place = setting.target, setting.place
    tool = TOOLS.get(task_type, "")
    yield target, _needed(task_type), (place, tool)
    # More of the target's type may lie about; untreated ones, even where a treated one has to go, win nothing.
    yield target, int(draw.pick(where.contents[target])) - 1, (tool or place,)
    for name, counts in where.contents.items():
        if name != target:
            yield name, int(draw.pick(counts)), ()


def _weighted(hosts: Sequence[Receptacle], full: set[str], draw: Draw) -> Receptacle | None:
    """Return one of the receptacles that are not full, by how readily things lie there."""
    weights = [0 if host.name in full else ROOMINESS[host.type] for host in hosts]
    left = int(draw.unit() * sum(weights))
    for host, weight in zip(hosts, weights, strict=True):
        if left < weight:
            return host
        left -= weight
    return None
