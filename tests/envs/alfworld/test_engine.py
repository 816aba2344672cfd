"""The engine: files in, sentences out; the rules that are easy to get wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.envs.alfworld import generate
from backtrail.envs.alfworld.engine import Engine
from backtrail.envs.alfworld.expert import shortest_plan
from backtrail.envs.alfworld.explain import facts
from backtrail.envs.alfworld.game import Game, GameError, State, load_game, parse_game, read_state
from backtrail.envs.alfworld.goal import TASK_TYPES, GoalError, parse_goal
from backtrail.envs.alfworld.tasks import Tasks

TASKS = Tasks("generated", "valid_seen", None, "numbered")
games = st.sampled_from(TASKS.ids).map(lambda task_id: TASKS.engine(task_id))
walks = st.lists(st.integers(0, 1 << 16), max_size=40)


def follow(engine: Engine, walk: list[int]) -> State:
    state = engine.start
    for pick in walk:
        commands = engine.options(state).commands if pick % 3 else tuple(engine.options(state).here)
        state, _, _ = engine.step(state, commands[pick % len(commands)])
    return state


KITCHEN = """(define (problem small) (:domain alfred) (:objects
  Mug_bar_1 - object Apple_bar_2 - object Knife_bar_3 - object DeskLamp_bar_4 - object Pen_bar_5 - object
  Fridge_bar_1 - receptacle CounterTop_bar_2 - receptacle Microwave_bar_3 - receptacle Sink_bar_4_bar_SinkBasin - receptacle
  Drawer_bar_5 - receptacle Drawer_bar_6 - receptacle)
(:init
  (receptacleType Fridge_bar_1 FridgeType) (receptacleType CounterTop_bar_2 CounterTopType)
  (receptacleType Microwave_bar_3 MicrowaveType) (receptacleType Sink_bar_4_bar_SinkBasin SinkBasinType)
  (receptacleType Drawer_bar_5 DrawerType) (receptacleType Drawer_bar_6 DrawerType)
  (objectType Mug_bar_1 MugType) (objectType Apple_bar_2 AppleType) (objectType Knife_bar_3 KnifeType)
  (objectType DeskLamp_bar_4 DeskLampType) (objectType Pen_bar_5 PenType)
  (canContain FridgeType AppleType) (canContain CounterTopType AppleType) (canContain CounterTopType KnifeType)
  (canContain CounterTopType MugType) (canContain MicrowaveType AppleType) (canContain SinkBasinType AppleType)
  (pickupable Mug_bar_1) (pickupable Apple_bar_2) (pickupable Knife_bar_3)
  (isReceptacleObject Mug_bar_1) (inReceptacleObject Pen_bar_5 Mug_bar_1)
  (openable Fridge_bar_1) (openable Microwave_bar_3) (openable Drawer_bar_5)
  (cleanable Apple_bar_2) (heatable Apple_bar_2) (coolable Apple_bar_2) (sliceable Apple_bar_2) (toggleable DeskLamp_bar_4)
  (atLocation agent1 loc_bar_0)
  (inReceptacle Apple_bar_2 CounterTop_bar_2) (inReceptacle Mug_bar_1 CounterTop_bar_2)
  (inReceptacle Knife_bar_3 CounterTop_bar_2) (inReceptacle DeskLamp_bar_4 CounterTop_bar_2)
  (objectAtLocation Apple_bar_2 loc_bar_2) (objectAtLocation Mug_bar_1 loc_bar_2) (objectAtLocation Knife_bar_3 loc_bar_2)
  (objectAtLocation DeskLamp_bar_4 loc_bar_2) (objectAtLocation Pen_bar_5 loc_bar_2)
  (receptacleAtLocation Fridge_bar_1 loc_bar_1) (receptacleAtLocation CounterTop_bar_2 loc_bar_2)
  (receptacleAtLocation Microwave_bar_3 loc_bar_3) (receptacleAtLocation Sink_bar_4_bar_SinkBasin loc_bar_4)
  (receptacleAtLocation Drawer_bar_5 loc_bar_1) (receptacleAtLocation Drawer_bar_6 loc_bar_5))
(:goal (and (exists (?r - receptacle) (exists (?o - object)
  (and (heatable ?o) (objectType ?o AppleType) (receptacleType ?r FridgeType) (isHot ?o) (inReceptacle ?o ?r))))))) """


def kitchen(**kwargs: str) -> Engine:
    return Engine(parse_game(KITCHEN, "warm an apple for the fridge.", "generated:v1", **kwargs))  # pyright: ignore[reportArgumentType]


def play(engine: Engine, *commands: str) -> tuple[State, str, bool]:
    state, said, won = engine.start, "", False
    for command in commands:
        state, said, won = engine.step(state, command)
    return state, said, won


GET_APPLE = ("go to countertop 1", "take apple 1 from countertop 1")


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (("look",), "You are in the middle of a room. Looking quickly around you, you see nothing."),
        (("inventory",), "You are not carrying anything."),
        (
            ("go to countertop 1",),
            "You arrive at countertop 1. On the countertop 1, you see a apple 1, a desklamp 1, a knife 1, and a mug 1.",
        ),
        (("go to fridge 1",), "You arrive at fridge 1. The fridge 1 is closed."),
        (("go to fridge 1", "open fridge 1"), "You open the fridge 1. The fridge 1 is open. In it, you see nothing."),
        (("go to fridge 1", "go to drawer 2"), "Nothing happens."),  # they share a place
        (("go to fridge 1", "look"), "You are facing the drawer 2, and fridge 1. Next to it, you see nothing."),
        (("go to fridge 1", "open drawer 2", "close drawer 2"), "You close the drawer 2."),
        (
            (" go to countertop 1 ", "examine countertop 1 "),
            "On the countertop 1, you see a apple 1, a desklamp 1, a knife 1, and a mug 1.",
        ),
        (("go to countertop 1", "examine apple 1"), "Nothing happens."),  # only what is held can be examined
        ((*GET_APPLE, "examine apple 1"), "There's nothing special about apple 1."),
        ((*GET_APPLE, "inventory"), "You are carrying: a apple 1."),
        ((*GET_APPLE, "take mug 1 from countertop 1"), "Nothing happens."),
        (
            (*GET_APPLE, "move apple 1 to countertop 1", "look"),
            "You are facing the countertop 1. Next to it, you see nothing.",
        ),
        (
            ("go to countertop 1", "take mug 1 from countertop 1", "examine mug 1"),
            "This is a normal mug 1. In it, you see a pen 1.",
        ),
        (("go to countertop 1", "use desklamp 1", "use desklamp 1"), "You turn on the desklamp 1."),
        (
            ("go to countertop 1", "take knife 1 from countertop 1", "slice apple 1 with knife 1"),
            "You sliced the apple 1 with the knife 1.",
        ),
        (
            (*GET_APPLE, "go to microwave 1", "heat apple 1 with microwave 1", "examine apple 1"),
            "This is a hot apple 1.",
        ),
        ((*GET_APPLE, "go to fridge 1", "cool apple 1 with fridge 1", "examine apple 1"), "This is a cold apple 1."),
        (
            (*GET_APPLE, "go to sinkbasin 1", "clean apple 1 with sinkbasin 1", "examine apple 1"),
            "This is a clean apple 1.",
        ),
        (("Look",), "Nothing happens."),
        (("",), "Nothing happens."),
    ],
)
def test_what_the_game_says(commands: tuple[str, ...], said: str) -> None:
    assert play(kitchen(), *commands)[1] == said


def test_marks_of_an_object() -> None:
    engine = kitchen()
    clean, hot, cool, cut = (1 << engine.game.objects.index("apple 1") for _ in range(4))
    held = engine.game.objects.index("apple 1")
    expected = {
        (0, 0, 0, 1): "a sliced apple 1",
        (0, 0, 1, 1): "a cool sliced apple 1",
        (0, 1, 0, 1): "a hot sliced apple 1",
        (1, 0, 0, 1): "a clean sliced apple 1",
        (1, 0, 1, 0): "a cool and clean apple 1",
        (1, 0, 1, 1): "a cool and clean sliced apple 1",
        (1, 1, 0, 0): "a hot and clean apple 1",
        (1, 1, 0, 1): "a hot and clean sliced apple 1",
    }
    for (is_clean, is_hot, is_cool, is_cut), words in expected.items():
        state = engine.start._replace(
            held=held, clean=clean * is_clean, hot=hot * is_hot, cool=cool * is_cool, sliced=cut * is_cut
        )
        assert engine.step(state, "examine apple 1")[1] == f"This is {words}."


def test_winning_goes_on() -> None:
    heated = (*GET_APPLE, "go to microwave 1", "heat apple 1 with microwave 1", "go to fridge 1", "open fridge 1")
    engine = kitchen()
    assert not play(engine, *heated)[2]
    state, _, won = play(engine, *heated, "move apple 1 to fridge 1")
    assert won and engine.step(state, "nonsense")[2]
    state, _, won = engine.step(state, "take apple 1 from fridge 1")
    assert not won


def test_cooling_takes_the_heat_away() -> None:
    state, _, _ = play(
        kitchen(),
        *GET_APPLE,
        "go to microwave 1",
        "heat apple 1 with microwave 1",
        "go to fridge 1",
        "cool apple 1 with fridge 1",
    )
    assert state.cool and not state.hot


def test_identifiers_can_be_shown_as_textworld_does() -> None:
    said = play(kitchen(names="textworld"), "go to countertop_bar_2")[1]
    assert said.startswith("You arrive at countertop_bar_2. On the countertop_bar_2, you see a apple_bar_2, ")


@settings(max_examples=60, deadline=None)
@given(games, walks)
def test_states_are_values(engine: Engine, walk: list[int]) -> None:
    state = follow(engine, walk)
    assert hash(state) == hash(follow(engine, walk)) and state == follow(engine, walk)
    assert list(engine.options(state).commands) == sorted(set(engine.options(state).commands))
    assert all(engine.options(state).find(command) for command in engine.options(state).commands)


@settings(max_examples=60, deadline=None)
@given(games, walks, walks)
def test_fingerprints_are_equal_exactly_where_the_facts_are(engine: Engine, walk: list[int], other: list[int]) -> None:
    one, two = follow(engine, walk), follow(engine, other)
    same = facts(engine.game, one) == facts(engine.game, two)
    assert (engine.fingerprint(one) == engine.fingerprint(two)) == same
    if same:
        assert engine.options(one).commands == engine.options(two).commands


@settings(max_examples=60, deadline=None)
@given(games, walks)
def test_facts_and_state_say_the_same(engine: Engine, walk: list[int]) -> None:
    game, state = engine.game, follow(engine, walk)
    rows: dict[str, list[list[str]]] = {
        name: [] for name in ("inreceptacle", "objectatlocation", "opened", "holds", "atlocation")
    }
    rows |= {name: [] for name in ("isclean", "ishot", "iscool", "ison", "istoggled", "issliced")}
    for fact in facts(game, state):
        name, *arguments = fact.split()
        rows[name].append(["agent1", *arguments] if name in ("holds", "atlocation") else arguments)
    read = read_state(rows, game.object_ids, game.receptacle_ids, game.location_ids)
    assert read[:-1] == state[:-1]


@settings(max_examples=40, deadline=None)
@given(games, walks, st.text(max_size=30))
def test_any_text_is_survivable_and_changes_nothing(engine: Engine, walk: list[int], text: str) -> None:
    state = follow(engine, walk)
    after, said, won = engine.step(state, text)
    if engine.options(state).find(text.strip()) is None:
        assert (after is state, said, won) == (True, "Nothing happens.", engine.won(state))


def test_going_somewhere_and_back_is_the_same_state() -> None:
    engine = kitchen()
    state, _, _ = play(engine, "go to countertop 1")
    there, _, _ = engine.step(state, "go to fridge 1")
    back, _, _ = engine.step(there, "go to countertop 1")
    assert back == state


# -- files ------------------------------------------------------------------------------------------------


@pytest.fixture
def official_file(official: Path) -> Path:
    return next(path for path in sorted(official.rglob("game.tw-pddl")) if "valid_seen" in path.parts)


@pytest.mark.official
def test_a_file_cut_anywhere_is_refused(official_file: Path, tmp_path: Path) -> None:
    whole = official_file.read_text()
    path = tmp_path / "game.tw-pddl"
    for length in np.random.default_rng(0).integers(len(whole), size=30):
        path.write_text(whole[: int(length)])
        with pytest.raises(GameError, match=str(path)):
            load_game(path)


@pytest.mark.official
def test_a_problem_cut_anywhere_is_refused(official_file: Path, tmp_path: Path) -> None:
    data = json.loads(official_file.read_text())
    path, problem = tmp_path / "game.tw-pddl", data["pddl_problem"]
    for length in [0, 100, *np.random.default_rng(1).integers(len(problem) * 9 // 10, size=30)]:
        path.write_text(json.dumps({**data, "pddl_problem": problem[: int(length)]}))
        with pytest.raises(GameError, match=str(path)):
            load_game(path)


@pytest.mark.official
def test_other_rules_or_another_grammar_are_refused(official_file: Path, tmp_path: Path) -> None:
    data = json.loads(official_file.read_text())
    path = tmp_path / "game.tw-pddl"
    for key in ("pddl_domain", "grammar"):
        path.write_text(json.dumps({**data, key: data[key].replace("open", "unlock", 1)}))
        with pytest.raises(GameError, match='engine="textworld"'):
            load_game(path)
        assert load_game(path, any_rules=True).data == "alfworld:other"


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"pddl_domain": 1, "grammar": "", "pddl_problem": ""}', "\x00\x01"]
)
def test_what_is_no_game_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "game.tw-pddl"
    path.write_text(content)
    with pytest.raises(GameError, match=str(path)):
        load_game(path)
    with pytest.raises(GameError, match="No such file"):
        load_game(tmp_path / "absent")


def test_a_problem_that_contradicts_itself_is_refused() -> None:
    for old, new in (
        ("(inReceptacle Apple_bar_2 CounterTop_bar_2)", "(inReceptacle Apple_bar_2 Shelf_bar_9)"),
        ("(atLocation agent1 loc_bar_0)", ""),
        ("(receptacleAtLocation Fridge_bar_1 loc_bar_1)", ""),
        ("(isHot ?o)", "(isWarm ?o)"),
        ("(receptacleType ?r FridgeType)", "(receptacleType ?r FridgeType) (receptacleType ?r SafeType)"),
    ):
        assert old in KITCHEN
        with pytest.raises(GameError):
            parse_game(KITCHEN.replace(old, new), "task", "generated:v1")


def test_goals_are_known_by_structure() -> None:
    kinds = set()
    for task_id in generate.task_ids("valid_seen"):
        game: Game = TASKS.engine(task_id).game
        kinds.add(game.goal.task_type)
        assert game.goal.task_type == task_id.split("/")[1]
    assert kinds == set(TASK_TYPES)
    with pytest.raises(GoalError, match="none of ALFWorld's six"):
        parse_goal("(:goal (and (holds agent1 apple)))")


@pytest.mark.official
def test_a_problem_with_any_fact_cut_short_is_refused_or_playable(official_file: Path) -> None:
    problem = json.loads(official_file.read_text())["pddl_problem"]
    words = re.findall(r"\S+", problem)
    rng = np.random.default_rng(2)
    for at in rng.integers(len(words), size=150):
        changed = problem.replace(
            words[at], words[at].rstrip(")")[: len(words[at]) // 2] + ")" * words[at].count(")"), 1
        )
        try:
            game = parse_game(changed, "task", "alfworld:json_2.1.3")
        except GameError:
            continue
        engine = Engine(game)
        shortest_plan(engine)
        follow(engine, rng.integers(1 << 16, size=20).tolist())
