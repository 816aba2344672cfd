"""The generated games: the same bytes everywhere, official form and sizes, and none that cannot be won."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.envs.alfworld.expert import shortest_plan
from backtrail.envs.alfworld.generate import SPLITS, TASK_TYPES, VERSION, GeneratedGame, generate, task_ids
from backtrail.envs.alfworld.goal import parse_goal
from backtrail.envs.alfworld.rooms import room, room_names
from backtrail.envs.alfworld.tables import CONTAINS, FIXED, OBJECT_TYPES, TOOLS, TRAITS
from backtrail.envs.alfworld.tasks import Tasks

ALL = [task_id for split in SPLITS for task_id in task_ids(split)]
SOME = [f"{split}/{task_type}/{number:04}" for split in SPLITS for task_type in TASK_TYPES for number in (0, 7, 49)]
DIGEST = "10e35f7d66cd4a05f998a50a978096524658704ac5b0d894d705b12c604d9ae0"
"""Of the games of SOME. If it changes, so must VERSION."""

# Receptacles and objects in the official games (ALFWorld json_2.1.3, 3827 games): mean, fewest, most.
OFFICIAL_RECEPTACLES = {
    "bathroom": (14.3, 10, 21),
    "bedroom": (14.6, 7, 27),
    "kitchen": (33.1, 20, 54),
    "living": (15.0, 6, 35),
}
OFFICIAL_OBJECTS = {
    "bathroom": (24.4, 17, 37),
    "bedroom": (33.0, 20, 51),
    "kitchen": (54.4, 38, 73),
    "living": (32.5, 19, 52),
}

Facts = dict[str, list[tuple[str, ...]]]


def read(game: GeneratedGame) -> Facts:
    """Return the facts of a game's start by predicate."""
    start = game.problem[game.problem.index("(:init") + 6 : game.problem.index("(:goal")]
    facts: Facts = defaultdict(list)
    for fact in re.findall(r"\(([^()]+)\)", start):
        predicate, *arguments = fact.split()
        facts[predicate].append(tuple(arguments))
    return facts


def mapping(rows: list[tuple[str, ...]]) -> dict[str, str]:
    """Return the facts of a predicate with two arguments, which has one fact for each first argument."""
    found = {each[0]: each[1] for each in rows}
    assert len(found) == len(rows)
    return found


def declared(game: GeneratedGame) -> list[tuple[str, str]]:
    """Return the names and PDDL types of a game's objects section."""
    section = game.problem[game.problem.index("(:objects") + 9 : game.problem.index("(:init")]
    return re.findall(r"(\S+) - (\w+)", section)


def goal_types(game: GeneratedGame) -> tuple[str, str]:
    """Return the object type of a game's goal and the type of its receptacle or lamp, in lower case."""
    goal = parse_goal(game.problem[game.problem.index("(:goal") :].lower())
    assert goal.task_type == game.task_type
    return goal.object_type, goal.lamp_type or goal.receptacle_type


@cache
def sizes() -> dict[str, list[tuple[int, int]]]:
    """Return the numbers of receptacles and objects in every fourth game by kind of room."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for task_id in ALL[::4]:
        game = generate(task_id)
        facts = read(game)
        found[game.room.partition("-")[0]].append((len(facts["receptacleType"]), len(facts["objectType"])))
    return found


def digest(ids: list[str]) -> str:
    return hashlib.sha256("\n".join(repr(generate(task_id)) for task_id in ids).encode()).hexdigest()


def test_the_bytes_of_this_version():
    assert VERSION == "v1"
    assert digest(SOME) == DIGEST


@pytest.mark.parametrize("hash_seed", ["1", "2024"])
def test_another_process_makes_the_same_games(hash_seed: str):
    code = (
        "import sys, hashlib; from backtrail.envs.alfworld.generate import generate; "
        "print(hashlib.sha256('\\n'.join(repr(generate(i)) for i in sys.argv[1:]).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    backwards = SOME[::-1]  # neither does the order matter in which games are made
    run = subprocess.run(
        [sys.executable, "-c", code, *backwards], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == digest(backwards)


def test_ids_are_sorted_and_complete():
    for split, number in SPLITS.items():
        ids = task_ids(split)
        assert ids == sorted(ids)
        assert len(set(ids)) == len(ids) == number * len(TASK_TYPES)
        assert all(generate(task_id).task_id == task_id for task_id in ids[:: number // 10])
    assert (
        task_ids("valid_seen", ["pick_heat_then_place_in_recep"])[7] == "valid_seen/pick_heat_then_place_in_recep/0007"
    )


def test_no_two_games_are_the_same():
    assert len({generate(task_id).problem.partition("(:domain")[2] for task_id in ALL[::10]}) == len(ALL[::10])


@pytest.mark.parametrize(
    "task_id",
    [
        "",
        "valid_seen",
        "valid_seen/pick_heat_then_place_in_recep",
        "valid_seen/pick_heat_then_place_in_recep/7",
        "valid_seen/pick_heat_then_place_in_recep/0050",
        "valid_seen/pick_heat_then_place_in_recep/0007\n",
        "valid_seen/pick_heat_then_place_in_recep/\u0660\u0660\u0660\u0667",
        "test/pick_heat_then_place_in_recep/0007",
        "valid_seen/pick_heat/0007",
        "train/pick_heat_then_place_in_recep/1000",
    ],
)
def test_unknown_ids_are_refused(task_id: str):
    with pytest.raises(ValueError, match=r"valid_unseen .*pick_two_obj_and_place, got"):
        generate(task_id)


def test_unknown_splits_and_types_are_refused():
    with pytest.raises(ValueError, match=r"train, valid_seen, valid_unseen, got 'test'"):
        task_ids("test")
    with pytest.raises(ValueError, match=r"pick_two_obj_and_place.*, got 'pick_heat'"):
        task_ids("train", ["pick_heat"])


def test_unseen_rooms_are_never_met_in_training():
    rooms = {split: {generate(task_id).room for task_id in task_ids(split)[::2]} for split in SPLITS}
    assert not rooms["train"] & rooms["valid_unseen"]
    assert rooms["valid_seen"] <= rooms["train"]
    assert len(rooms["train"]) > 80
    layouts = [
        room(name).receptacles for kind in OFFICIAL_OBJECTS for split in SPLITS for name in room_names(split, kind)
    ]
    assert len({tuple(each.name for each in layout) for layout in layouts}) == 4 * (24 + 6)


@pytest.mark.parametrize("kind", OFFICIAL_RECEPTACLES)
def test_rooms_are_as_large_as_official_ones(kind: str):
    for numbers, (mean, fewest, most) in zip(
        zip(*sizes()[kind], strict=True), (OFFICIAL_RECEPTACLES[kind], OFFICIAL_OBJECTS[kind]), strict=True
    ):
        assert sum(numbers) / len(numbers) == pytest.approx(mean, rel=0.15)
        assert fewest - 2 <= min(numbers)
        assert max(numbers) <= most + 3


def test_three_rooms_in_four_have_receptacles_that_share_a_place():
    shared = [len({each for _, each in read(generate(i))["receptacleAtLocation"]}) for i in ALL[::20]]
    total = [len(read(generate(i))["receptacleAtLocation"]) for i in ALL[::20]]
    assert sum(a < b for a, b in zip(shared, total, strict=True)) / len(total) == pytest.approx(0.74, abs=0.1)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(ALL))
def test_a_problem_holds_together(task_id: str):
    game = generate(task_id)
    facts, names = read(game), declared(game)
    kinds = dict(names)
    assert len(kinds) == len(names)
    objects, receptacles = mapping(facts["objectType"]), mapping(facts["receptacleType"])
    locations = {name for name, kind in names if kind == "location"}
    assert set(objects) == {name for name, kind in names if kind == "object"}
    assert set(receptacles) == {name for name, kind in names if kind == "receptacle"}
    assert {name[:-4] for name, kind in names if kind == "otype"} == set(OBJECT_TYPES)
    assert {name[:-4] for name, kind in names if kind == "rtype"} == set(CONTAINS)
    assert all(argument in kinds for each in facts.values() for arguments in each for argument in arguments)
    assert all(len(set(each)) == len(each) for each in facts.values())

    place = mapping(facts["receptacleAtLocation"])
    assert set(place) == set(receptacles) and set(place.values()) <= locations
    whereabouts = mapping(facts["objectAtLocation"])
    assert set(whereabouts) == set(objects) and set(whereabouts.values()) <= locations
    assert all(whereabouts[thing] == place[holder] for thing, holder in facts["inReceptacle"])
    ((agent, start),) = facts["atLocation"]
    assert agent == "agent1" and start in locations - set(place.values())

    assert set(facts["canContain"]) == {
        (f"{holder}Type", f"{held}Type")
        for holder in CONTAINS
        for held in CONTAINS[holder]
        if f"{holder}Type" in receptacles.values() and f"{held}Type" in objects.values()
    }
    for trait, types in TRAITS.items():
        assert {name for (name,) in facts[trait]} == {name for name, kind in objects.items() if kind[:-4] in types}
    assert {name for (name,) in facts["pickupable"]} == {n for n, kind in objects.items() if kind[:-4] not in FIXED}
    assert {receptacles[name] for (name,) in facts["openable"]} <= {
        f"{name}Type" for name in ("Cabinet", "Drawer", "Fridge", "Microwave", "Safe")
    }


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(ALL))
def test_a_goal_can_be_reached_and_is_not_reached_yet(task_id: str):
    game = generate(task_id)
    facts = read(game)
    target, place = goal_types(game)
    things = {name: kind.lower() for name, kind in facts["objectType"]}
    holders = {name: kind.lower() for name, kind in facts["receptacleType"]}
    inside = {thing: holders[holder] for thing, holder in facts["inReceptacle"]}
    pickupable = {name for (name,) in facts["pickupable"]}
    starts = [inside[name] for name, kind in things.items() if kind == target and name in inside and name in pickupable]
    away = [start for start in starts if start != place]
    assert len(away) >= (2 if game.task_type == "pick_two_obj_and_place" else 1)

    tool = TOOLS.get(game.task_type)
    if tool:
        assert f"{tool}type".lower() in holders.values()
        assert f"{tool}type".lower() not in starts
    else:
        assert away == starts
    if game.task_type == "look_at_obj_in_light":
        assert any(kind == place and name in inside for name, kind in things.items())
    else:
        assert place in holders.values()
        assert (place, target) in {(holder.lower(), held.lower()) for holder, held in facts["canContain"]}
    assert not any(facts[state] for state in ("isClean", "isHot", "isCool", "isToggled", "holds", "opened"))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(ALL))
def test_the_sentence_names_what_the_goal_is_about(task_id: str):
    game = generate(task_id)
    target, place = (name.removesuffix("type") for name in goal_types(game))
    assert re.fullmatch(r"[a-z]+( [a-z]+)+", game.task)
    assert {target, place} <= set(game.task.split())


@pytest.mark.parametrize("task_id", SOME)
def test_the_shortest_plan_wins(task_id: str):
    engine = Tasks("generated", task_id.partition("/")[0], None, "numbered").engine(task_id)
    plan = shortest_plan(engine)
    assert plan
    assert 3 <= len(plan) <= 11
    state = engine.start
    for command in plan:
        assert not engine.won(state)
        state, _, _ = engine.step(state, command)
    assert engine.won(state)
