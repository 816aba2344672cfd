"""The PDDL problem of a generated game, in the form of the official game files.

Goals keep the official structure to the letter: engines recognise the six task types by it.
"""

from __future__ import annotations

from collections.abc import Sequence

from backtrail.envs.alfworld.rooms import Receptacle, Thing
from backtrail.envs.alfworld.tables import CONTAINS, FIXED, OBJECT_TYPES, TRAITS

_TYPES = [
    "agent1 - agent",
    *(f"{name}Type - otype" for name in OBJECT_TYPES),
    *(f"{name}Type - rtype" for name in CONTAINS),
]

_LOOK_GOAL = """\
(and
    (exists (?ot - object
             ?r - receptacle
             ?a - agent
             ?l - location)
        (and
            (objectType ?ot {place}Type)
            (toggleable ?ot)
            (isToggled ?ot)
            (receptacleAtLocation ?r ?l)
            (atLocation ?a ?l)
            (inReceptacle ?ot ?r)
        )
    )
    (exists (?o - object
             ?a - agent)
        (and
            (objectType ?o {target}Type)
            (holds ?a ?o)
        )
    )
)"""

_PLACE_GOAL = """\
(and
    (exists (?r - receptacle)
        (exists (?o - object)
            (and
                (inReceptacle ?o ?r)
                (objectType ?o {target}Type)
                (receptacleType ?r {place}Type)
            )
        )
    )
)"""

_TREAT_GOAL = """\
(and
    (exists (?r - receptacle)
        (exists (?o - object)
            (and
                ({able} ?o)
                (objectType ?o {target}Type)
                (receptacleType ?r {place}Type)
                ({state} ?o)
                (inReceptacle ?o ?r)
            )
        )
    )
)"""

_TWO_GOAL = """\
(and
    (exists (?r - receptacle)
        (exists (?o1 - object)
            (and
                (objectType ?o1 {target}Type)
                (receptacleType ?r {place}Type)
                (inReceptacle ?o1 ?r)
                (exists (?o2 - object)
                    (and
                        (not (= ?o1 ?o2))
                        (objectType ?o2 {target}Type)
                        (receptacleType ?r {place}Type)
                        (inReceptacle ?o2 ?r)
                    )
                )
            )
        )
    )
)"""

_GOALS = {
    "look_at_obj_in_light": (_LOOK_GOAL, {}),
    "pick_and_place_simple": (_PLACE_GOAL, {}),
    "pick_clean_then_place_in_recep": (_TREAT_GOAL, {"able": "cleanable", "state": "isClean"}),
    "pick_cool_then_place_in_recep": (_TREAT_GOAL, {"able": "coolable", "state": "isCool"}),
    "pick_heat_then_place_in_recep": (_TREAT_GOAL, {"able": "heatable", "state": "isHot"}),
    "pick_two_obj_and_place": (_TWO_GOAL, {}),
}


def problem_text(
    task_id: str,
    task_type: str,
    target: str,
    place: str,
    receptacles: Sequence[Receptacle],
    things: Sequence[Thing],
    start: str,
) -> str:
    """Return the problem of a game.

    Args:
        task_id: Becomes the problem's name.
        task_type: Which of the six goals it has.
        target: The object type the goal is about.
        place: The receptacle type of the goal; the lamp's type if the goal is to look at something.
        receptacles: The furniture.
        things: All objects, whether or not they can be picked up.
        start: The agent's location, none of the receptacles'.
    """
    goal, words = _GOALS[task_type]
    locations = sorted({start}.union((each.location for each in receptacles), (each.location for each in things)))
    declared = [
        *_TYPES,
        *sorted([f"{each.name} - receptacle" for each in receptacles] + [f"{each.name} - object" for each in things]),
        *(f"{location} - location" for location in locations),
    ]
    lines = [
        f"(define (problem plan_{task_id.replace('/', '_')})",
        "(:domain alfred)",
        "(:objects",
        *declared,
        ")",
        "(:init",
        *(f"({fact})" for fact in _facts(receptacles, things, start)),
        ")",
        f"(:goal\n{goal.format(target=target, place=place, **words)}\n)",
        ")",
    ]
    return "\n".join(lines) + "\n"


def _facts(receptacles: Sequence[Receptacle], things: Sequence[Thing], start: str) -> list[str]:
    holders = sorted({each.type for each in receptacles})
    present = {each.type for each in things}
    return [
        *(f"receptacleType {each.name} {each.type}Type" for each in receptacles),
        *(f"objectType {each.name} {each.type}Type" for each in things),
        *(f"canContain {holder}Type {held}Type" for holder in holders for held in CONTAINS[holder] if held in present),
        *(f"pickupable {each.name}" for each in things if each.type not in FIXED),
        *(f"openable {each.name}" for each in receptacles if each.openable),
        f"atLocation agent1 {start}",
        *(f"{trait} {each.name}" for trait, types in TRAITS.items() for each in things if each.type in types),
        *(f"inReceptacle {each.name} {each.receptacle}" for each in things if each.receptacle),
        *(f"receptacleAtLocation {each.name} {each.location}" for each in receptacles),
        *(f"objectAtLocation {each.name} {each.location}" for each in things),
    ]
