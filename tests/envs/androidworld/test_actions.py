"""Actions: JSON in, checked actions out, and for anything else the reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs.androidworld.actions import ACTION_TYPES, Action, ActionError, read_action

SIZE = (2400, 1080)


def read(**fields: object) -> Action:
    return read_action(json.dumps(fields), 10, SIZE)


@pytest.mark.parametrize(
    ("fields", "action"),
    [
        ({"action_type": "click", "index": 4}, Action("click", index=4)),
        ({"action_type": "click", "index": "4"}, Action("click", index=4)),
        ({"action_type": "click", "index": 0}, Action("click", index=0)),
        ({"action_type": "long_press", "x": 10, "y": 2399.0}, Action("long_press", x=10, y=2399)),
        ({"action_type": "input_text", "text": "", "index": None}, Action("input_text", text="")),
        ({"action_type": "scroll", "direction": "down"}, Action("scroll", direction="down")),
        ({"action_type": "open_app", "app_name": "Clock"}, Action("open_app", app_name="Clock")),
        ({"action_type": "status", "goal_status": "infeasible"}, Action("status", goal_status="infeasible")),
        ({"action_type": "wait"}, Action("wait")),
    ],
)
def test_actions_are_read(fields: dict[str, object], action: Action) -> None:
    assert read(**fields) == action
    assert read_action(action.to_json(), 10, SIZE) == action


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a JSON object"),
        ("click 4", "expected a JSON object"),
        ("[1]", "expected a JSON object"),
        ('{"action_type": "fly"}', "click, double_tap, long_press"),
        ("{}", "expected action_type"),
        ('{"action_type": "click"}', "index, or x and y"),
        ('{"action_type": "click", "index": 10}', "from 0 to 9, got 10"),
        ('{"action_type": "click", "index": -1}', "from 0 to 9, got -1"),
        ('{"action_type": "click", "index": true}', "whole number, got True"),
        ('{"action_type": "click", "index": 1.5}', "whole number, got 1.5"),
        ('{"action_type": "click", "index": 1, "x": 2, "y": 3}', "got both"),
        ('{"action_type": "click", "x": 2}', "got one of them"),
        ('{"action_type": "click", "x": 1080, "y": 0}', "1080 x 2400"),
        ('{"action_type": "click", "index": 1, "colour": "red"}', "'colour'"),
        ('{"action_type": "input_text"}', "expected input_text with text"),
        ('{"action_type": "input_text", "text": 5}', "text to be a string"),
        ('{"action_type": "input_text", "text": "a", "clear_text": "yes"}', "true or false"),
        ('{"action_type": "scroll"}', "up, down, left, right"),
        ('{"action_type": "scroll", "direction": "north"}', "'north'"),
        ('{"action_type": "open_app"}', "app_name"),
        ('{"action_type": "status", "goal_status": "done"}', "complete or infeasible"),
        ('{"action_type": "answer"}', "expected answer with text"),
        ('{"action_type": "answer", "text": "' + "a" * 5000 + '"}', "at most 4,096"),
        ("[" * 100_000, "expected a JSON object"),
    ],
)
def test_what_is_no_action_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ActionError) as raised:
        read_action(text, 10, SIZE)
    assert reason in str(raised.value)


def test_a_screen_without_elements_has_no_index() -> None:
    with pytest.raises(ActionError, match="the screen has none"):
        read_action('{"action_type": "click", "index": 0}', 0, SIZE)


@given(st.text(max_size=60), st.dictionaries(st.text(max_size=12), st.none() | st.integers() | st.text(max_size=5)))
def test_anything_else_raises_nothing_else(text: str, fields: dict[str, object]) -> None:
    for given_text in (
        text,
        json.dumps(fields),
        *(json.dumps(fields | {"action_type": kind}) for kind in ACTION_TYPES),
    ):
        try:
            read_action(given_text, 3, SIZE)
        except ActionError as error:
            assert str(error)
