"""The expert: shortest from everywhere, and it wins everything."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.envs.alfworld.engine import Engine
from backtrail.envs.alfworld.expert import shortest_plan
from backtrail.envs.alfworld.game import State, load_game, read_file
from backtrail.envs.alfworld.tasks import SPLITS, Tasks

TASKS = Tasks("generated", "train", None, "numbered")
SMALL = [i for i in TASKS.ids[::10] if len(TASKS.engine(i).game.receptacles) <= 9]


def win(engine: Engine, state: State, plan: list[str]) -> bool:
    won = engine.won(state)
    for command in plan:
        assert not won, "the plan goes on after the win"
        state, said, won = engine.step(state, command)
        assert said != "Nothing happens."
    return won


def brute_force(engine: Engine, start: State, longest: int) -> int | None:
    """Return the length of a shortest plan of at most ``longest`` commands, by trying everything."""
    if engine.won(start):
        return 0
    seen, frontier = {start[:-1]}, deque([(start, 0)])
    while frontier:
        state, length = frontier.popleft()
        if length == longest:
            return None
        options = engine.options(state)
        for action in (*options.here.values(), *options.walks.values()):
            after, _ = engine.apply(state, action)
            if after[:-1] not in seen:
                if engine.won(after):
                    return length + 1
                seen.add(after[:-1])
                frontier.append((after, length + 1))
    return None


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SMALL), st.lists(st.integers(0, 1 << 16), max_size=20))
def test_no_plan_is_shorter(task_id: str, walk: list[int]) -> None:
    engine = TASKS.engine(task_id)
    state = engine.start
    for pick in walk:
        options = engine.options(state)
        commands = list(options.here) if pick % 3 else options.commands
        state, _, _ = engine.step(state, commands[pick % len(commands)])
    plan = shortest_plan(engine, state)
    if plan is None:
        assert brute_force(engine, state, 4) is None
    else:
        assert win(engine, state, plan)
        if len(plan) <= 6:  # beyond that, trying everything takes too long
            assert brute_force(engine, state, len(plan)) == len(plan)


def test_what_cannot_be_put_down_is_the_end() -> None:
    engine = TASKS.engine(TASKS.ids[0])
    game = engine.game
    useless = next(
        k
        for k, kind in enumerate(game.object_types)
        if kind != game.goal.object_type and not any(f >> k & 1 for f in game.fits)
    )
    assert shortest_plan(engine, engine.start._replace(held=useless)) is None


def test_a_thousand_generated_games_are_won() -> None:
    tasks = [Tasks("generated", split, None, "numbered") for split in SPLITS]
    ids = [(task, i) for task in tasks for i in task.ids[:: max(1, len(task.ids) // 334)]]
    assert len(ids) >= 900
    for task, task_id in ids:
        engine = Engine(task.game(task_id))
        plan = shortest_plan(engine)
        assert plan and 3 <= len(plan) <= 12 and win(engine, engine.start, plan), task_id


@pytest.mark.official
@pytest.mark.slow
def test_every_official_game_is_won_in_as_many_steps_as_its_walkthrough(official: Path) -> None:
    files = sorted(official.rglob("game.tw-pddl"))
    for path in files:
        engine = Engine(load_game(path))
        plan = shortest_plan(engine)
        assert plan and win(engine, engine.start, plan), path
        assert len(plan) == len(read_file(path)["walkthrough"]), path
    assert len(files) == 3553 + 140 + 134
