"""ALFWorld's six goals, recognised by the structure of their PDDL and tested on states."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Treatment = Literal["", "clean", "heat", "cool"]

TASK_TYPES = (
    "look_at_obj_in_light",
    "pick_and_place_simple",
    "pick_clean_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_two_obj_and_place",
)
"""The task types as ALFRED and ALFWorld name them, sorted."""


class GoalError(ValueError):
    """A goal is none of ALFWorld's six."""


class Goal(NamedTuple):
    """What has to be true for the game to be won.

    An object of type `object_type` in a receptacle of type `receptacle_type`, treated first if `treatment` is set, two of
    them in the same receptacle if `quantity` is 2; or, if `lamp_type` is set, held beside a lamp that has been switched on.
    """

    task_type: str
    object_type: str
    receptacle_type: str = ""
    lamp_type: str = ""
    treatment: Treatment = ""
    quantity: int = 1


_TYPED = re.compile(r"(objecttype|receptacletype) (\?\w+) (\w+)")


def _treated(able: str, state: str) -> str:
    return (
        f"(:goal (and (exists (?r - receptacle) (exists (?o - object) (and ({able} ?o) (objecttype ?o) "
        f"(receptacletype ?r) ({state} ?o) (inreceptacle ?o ?r))))))"
    )


_STRUCTURES: dict[str, tuple[str, Treatment]] = {
    "(:goal (and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and (objecttype ?ot) (toggleable ?ot) "
    "(istoggled ?ot) (receptacleatlocation ?r ?l) (atlocation ?a ?l) (inreceptacle ?ot ?r))) (exists (?o - object ?a - agent) "
    "(and (objecttype ?o) (holds ?a ?o)))))": ("look_at_obj_in_light", ""),
    "(:goal (and (exists (?r - receptacle) (exists (?o - object) (and (inreceptacle ?o ?r) (objecttype ?o) "
    "(receptacletype ?r))))))": ("pick_and_place_simple", ""),
    "(:goal (and (exists (?r - receptacle) (exists (?o1 - object) (and (objecttype ?o1) (receptacletype ?r) (inreceptacle "
    "?o1 ?r) (exists (?o2 - object) (and (not (= ?o1 ?o2)) (objecttype ?o2) (receptacletype ?r) (inreceptacle ?o2 "
    "?r))))))))": ("pick_two_obj_and_place", ""),
    _treated("cleanable", "isclean"): ("pick_clean_then_place_in_recep", "clean"),
    _treated("coolable", "iscool"): ("pick_cool_then_place_in_recep", "cool"),
    _treated("heatable", "ishot"): ("pick_heat_then_place_in_recep", "heat"),
}
"""Goal PDDL with the types taken out -> (task type, treatment)."""


def parse_goal(text: str) -> Goal:
    """Read the lower-case ``(:goal ...`` end of a PDDL problem.

    Raises:
        GoalError: If its structure is none of the six.
    """
    types: dict[str, set[str]] = {"objecttype": set(), "receptacletype": set(), "lamp": set()}

    def strip(match: re.Match[str]) -> str:
        types["lamp" if match[2] == "?ot" else match[1]].add(match[3])
        return f"{match[1]} {match[2]}"

    skeleton = re.sub(r"\s+", " ", _TYPED.sub(strip, text)).replace(" )", ")").strip()
    known = _STRUCTURES.get(skeleton.removesuffix(")"))  # the problem's own closing bracket follows the goal's
    if known is None:
        raise GoalError(f"the goal is none of ALFWorld's six: {skeleton[:160]}")
    task_type, treatment = known
    place = "lamp" if task_type == "look_at_obj_in_light" else "receptacletype"
    if {kind for kind, found in types.items() if found} != {"objecttype", place} or len(types[place]) != 1:
        raise GoalError(f"the goal of {task_type} does not name one type for each thing: {text[:160]}")
    if len(types["objecttype"]) != 1:
        raise GoalError(f"the goal of {task_type} does not name one type of object: {text[:160]}")
    return Goal(
        task_type,
        *types["objecttype"],
        receptacle_type="".join(types["receptacletype"]),
        lamp_type="".join(types["lamp"]),
        treatment=treatment,
        quantity=2 if task_type == "pick_two_obj_and_place" else 1,
    )
