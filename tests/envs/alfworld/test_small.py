"""Small rooms: the same game with less to search, and none that cannot be won."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import gymnasium as gym
import pytest

import backtrail.envs  # noqa: F401  # registers the environment
from backtrail.envs.alfworld.expert import shortest_plan
from backtrail.envs.alfworld.generate import SMALL_SPLITS, SPLITS, TASK_TYPES, generate, task_ids
from backtrail.envs.alfworld.small import RECEPTACLES, VERSION
from backtrail.envs.alfworld.tasks import Tasks
from backtrail.envs.testing import check_explorable

LAST = {split: number - 1 for split, number in SMALL_SPLITS.items()}
SOME = [
    f"{split}/{task_type}/{number:04}"
    for split in SPLITS
    for task_type in TASK_TYPES
    for number in sorted({0, 7, 31, LAST[split] // 2, LAST[split]})
]
DIGEST = "3c56d45c944a7de3ba9452737d1f0b4ab14c64f06a61c3da6a7598bf79f86988"
"""Of the small games of SOME. If it changes, so must VERSION."""

DIGESTS = """\
import hashlib, sys
from backtrail.envs.alfworld.generate import generate
games = [generate(task_id, True) for task_id in sys.argv[1:]]
print(hashlib.sha256("".join(game.problem + game.task for game in games).encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def tasks() -> Tasks:
    return Tasks("generated-small", "train", None, "numbered")


def receptacles(problem: str) -> int:
    return problem[problem.index("(:init") : problem.index("(:goal")].count("(receptacleType ")


def test_there_are_at_most_seven_receptacles_and_fewer_things():
    assert all(1 < receptacles(generate(task_id, True).problem) <= RECEPTACLES for task_id in SOME)
    both = [task_id for task_id in SOME if task_id.endswith("0007")]
    assert all(len(generate(task_id, True).problem) < len(generate(task_id).problem) for task_id in both)


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_every_game_starts_unwon_and_can_be_won(tasks: Tasks, task_type: str):
    for task_id in SOME:
        if f"/{task_type}/" in task_id:
            engine = tasks.engine(task_id)
            assert not engine.won(engine.start), task_id
            plan = shortest_plan(engine, engine.start)
            assert plan, task_id
            state, won = engine.start, False
            for command in plan:
                state, _, won = engine.step(state, command)
            assert won, task_id


def test_another_process_makes_the_same_bytes():
    environment = os.environ | {"PYTHONHASHSEED": "5"}
    command = [sys.executable, "-c", DIGESTS, *SOME]
    there = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()
    games = [generate(task_id, True) for task_id in SOME]
    here = hashlib.sha256("".join(game.problem + game.task for game in games).encode()).hexdigest()
    assert here == there == DIGEST and VERSION == "v1"


def test_there_are_ten_thousand_of_each_type_to_train_on(tasks: Tasks):
    assert len(tasks.ids) == 10_000 * len(TASK_TYPES) == len(set(tasks.ids)) and tasks.ids == tuple(sorted(tasks.ids))
    last = "train/pick_and_place_simple/9999"
    assert tasks.check(last) == last and generate(last, True).task_id == last
    assert {split: len(task_ids(split, small=True)) // len(TASK_TYPES) for split in SPLITS} == SMALL_SPLITS
    for wrong, small in (
        (last, False),
        ("train/pick_and_place_simple/10000", True),
        (f"valid_seen/look_at_obj_in_light/{SMALL_SPLITS['valid_seen']:04}", True),
    ):
        with pytest.raises(ValueError, match="Expected a task id"):
            generate(wrong, small)
    with pytest.raises(ValueError, match="Unknown task id"):
        Tasks("generated", "train", None, "numbered").check(last)


def test_results_say_that_rooms_were_small():
    env = gym.make("backtrail/ALFWorld-v0", data="generated-small", split="valid_seen")
    observation, info = env.reset(seed=0)
    assert info["data"] == "generated-small:v1.v1" and info["task_id"].startswith("valid_seen/")
    assert 1 < observation["text"].split("you see ")[1].count(", a") <= RECEPTACLES
    env.close()


def test_it_keeps_the_laws_of_an_explorable_environment():
    check_explorable(
        lambda: gym.make("backtrail/ALFWorld-v0", data="generated-small").unwrapped, seeds=(0, 1), length=10
    )
