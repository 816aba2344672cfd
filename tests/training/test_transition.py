"""Transitions: what is refused, the order of trajectories, and files that read back exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from making_transitions import batches, rollout, transition

from backtrail.training.transition import Transition, load_transitions, save_transitions, trajectories

TEXTS = st.text(st.characters(exclude_categories=()))  # line ends of every kind, and surrogates without a partner


@pytest.mark.parametrize(
    "wrong",
    [
        {"token_ids": ()},
        {"prompt_ids": ()},
        {"logprobs": (-0.5,)},
        {"temperatures": (1.0,) * 3},
        {"logprobs": (-0.5, float("nan"))},
        {"logprobs": (-0.5, -float("inf"))},
        {"logprobs": (-0.5, 0.1)},
        {"step": -1},
        {"visits": -1},
        {"attempt": -1},
        {"reward": float("inf")},
        {"mode": "neutral"},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]):
    with pytest.raises(ValueError, match="Expected"):
        transition(**wrong)


@settings(max_examples=20)
@given(batches(attempts=3))
def test_trajectories_are_a_partition_in_the_order_of_steps(steps: list[Transition]):
    paths = trajectories(steps)
    assert sorted(place for places in paths for place in places) == list(range(len(steps)))
    for places in paths:
        assert [steps[place].step for place in places] == list(range(len(places)))
        assert len({steps[place].episode for place in places}) == 1
    assert len({steps[places[0]].episode for places in paths}) == len(paths)


@pytest.mark.parametrize("places", [(1, 2), (0, 2), (0, 0, 1)])
def test_a_trajectory_with_a_gap_or_a_double_is_refused(places: tuple[int, ...]):
    steps = rollout("one", [0.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="episode 'one'"):
        trajectories([steps[place] for place in places])


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches(attempts=2), st.data())
def test_files_read_back_exactly(tmp_path: Path, steps: list[Transition], data: st.DataObject):
    said = [transition(episode=str(place), memory=data.draw(TEXTS)) for place in range(2)]
    numbers = data.draw(st.lists(st.floats(allow_nan=False), min_size=len(steps) + 2, max_size=len(steps) + 2))
    save_transitions(tmp_path / "steps.jsonl", [*steps, *said], advantage=numbers)
    assert load_transitions(tmp_path / "steps.jsonl") == ([*steps, *said], {"advantage": numbers})
    assert [path.name for path in tmp_path.iterdir()] == ["steps.jsonl"]


def test_log_probabilities_keep_every_bit(tmp_path: Path):
    values = (-1 / 3, -1e-300, -0.0)
    save_transitions(tmp_path / "steps.jsonl", [transition(token_ids=(1, 2, 3), logprobs=values)])
    assert load_transitions(tmp_path / "steps.jsonl")[0][0].logprobs == values


@pytest.mark.parametrize("columns", [{"explore": [0.5, 0.5]}, {"advantage": [0.5]}, {"advantage": [0.5] * 3}])
def test_columns_that_hide_a_field_or_do_not_fit_are_refused(tmp_path: Path, columns: dict[str, list[float]]):
    with pytest.raises(ValueError, match=next(iter(columns))):
        save_transitions(tmp_path / "steps.jsonl", rollout("one", [0.0, 1.0]), **columns)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "steps.jsonl"
    save_transitions(path, [transition()])
    with pytest.raises(TypeError):
        save_transitions(path, [transition()], thing=[object()])
    assert load_transitions(path)[0] == [transition()]


def damage(lines: list[str], how: str) -> list[str]:
    row = json.loads(lines[1])
    match how:
        case "cut off":
            return [*lines[:-1], lines[-1][:50]]
        case "a row is missing":
            return lines[:-1]
        case "another format":
            return [lines[0].replace('"format": 1', '"format": 99'), *lines[1:]]
        case "no head":
            return lines[1:]
        case "empty":
            return []
        case "a field is missing":
            del row["attempt"]
        case "a field is wrong":
            row["logprobs"] = row["logprobs"][1:]
        case "a column is missing":
            del row["advantage"]
    return [lines[0], json.dumps(row), *lines[2:]]


@pytest.mark.parametrize(
    "how",
    [
        "cut off",
        "a row is missing",
        "another format",
        "no head",
        "empty",
        "a field is missing",
        "a field is wrong",
        "a column is missing",
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, how: str):
    path = tmp_path / "steps.jsonl"
    save_transitions(path, rollout("one", [0.0, 1.0]), advantage=[0.0, 1.0])
    path.write_text("\n".join(damage(path.read_text("utf-8").splitlines(), how)), "utf-8")
    with pytest.raises(ValueError, match=r"Expected transitions \(format 1\) in .*steps\.jsonl"):
        load_transitions(path)
