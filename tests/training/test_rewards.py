"""Reward parts against hand-computed values and against a slow implementation of their definitions."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making_transitions import batches, transition

from backtrail.training.config import Config
from backtrail.training.rewards import (
    RewardParts,
    assemble,
    centre_explore,
    explore_reward,
    shaped_reward,
    step_reward,
    task_reward,
)
from backtrail.training.transition import Transition

Probability = Literal["token_mean", "sequence", "ratio"]
PROBABILITIES: list[Probability] = ["token_mean", "sequence", "ratio"]


def bare(**changes: Any) -> Config:
    """A config in which nothing is weighed, gated or centred unless asked for."""
    return Config(**({"alpha_format": 1.0, "alpha_explore": 1.0, "gate": False, "centre_explore": False} | changes))


# ---- the exploration reward -------------------------------------------------------------------------


def slow_terms(
    now: tuple[float, int, float], later: tuple[float, int, float] | None, gamma: float, probability: Probability
) -> tuple[float, float]:
    """The two terms of the definition as plain probabilities; a text is (log q, tokens, log prior)."""

    def plain(text: tuple[float, int, float]) -> float:
        logq, tokens, prior = text
        if probability == "sequence":
            return max(math.exp(logq), math.exp(-60))
        if probability == "token_mean":
            return max(math.exp(logq) ** (1 / tokens), math.exp(-60))
        return min(1.0, max((math.exp(logq) / math.exp(prior)) ** (1 / tokens), math.exp(-60)))

    return plain(now), gamma * gamma * plain(later) if later else -1.0


texts = st.tuples(st.floats(-90, 0), st.integers(1, 40), st.floats(-90, 0))


@given(
    st.lists(st.tuples(texts, st.none() | texts), min_size=1, max_size=5),
    st.floats(0.05, 1),
    st.sampled_from(PROBABILITIES),
)
def test_exploration_reward_is_its_definition(pairs: list, gamma: float, probability: Probability) -> None:
    nothing = (math.nan, 0, math.nan)
    now, later = (np.array(column, float) for column in zip(*((a, b or nothing) for a, b in pairs), strict=True))
    reward, first = explore_reward(
        *(now[:, 0], now[:, 1], later[:, 0], later[:, 1]),
        gamma=gamma,
        probability=probability,
        prior_now=now[:, 2],
        prior_next=later[:, 2],
    )
    for place, (a, b) in enumerate(pairs):
        terms = slow_terms(a, b, gamma, probability)
        assert reward[place] == pytest.approx(max(terms), rel=1e-9)
        if not math.isclose(*terms, rel_tol=1e-9):  # rounding decides a tie
            assert first[place] == (terms[0] > terms[1])
    assert ((reward >= 0) & (reward <= 1)).all()


@pytest.mark.parametrize(
    ("probability", "expected", "first"),
    [
        ("token_mean", 0.81 * math.exp(-0.5), False),  # against exp(-1)
        ("sequence", 0.81 * math.exp(-5), False),  # against exp(-6)
        ("ratio", 1.0, True),  # capped exp(2/6), against 0.81 * exp(-1/10)
    ],
)
def test_exploration_reward_by_hand(probability: Probability, expected: float, first: bool) -> None:
    reward, won = explore_reward(
        [-6.0], [6], [-5.0], [10], gamma=0.9, probability=probability, prior_now=[-8.0], prior_next=[-4.0]
    )
    assert reward[0] == pytest.approx(expected) and bool(won[0]) is first


def test_the_discount_lowers_the_second_term_whatever_the_sign() -> None:
    """0.81 times a log-probability would raise it."""
    equal, first = explore_reward([-3.0], [3], [-3.0], [3], gamma=0.9, probability="token_mean")
    assert first[0] and equal[0] == pytest.approx(math.exp(-1))
    tie, first = explore_reward([-3.0], [3], [-3.0], [3], gamma=1.0, probability="token_mean")
    assert first[0] and tie[0] == pytest.approx(math.exp(-1)), "a tie goes to the first"
    nothing, first = explore_reward([-30.0], [3], [0.0], [3], gamma=0.0, probability="token_mean")
    assert first[0] and nothing[0] == pytest.approx(math.exp(-10))


def test_a_joint_probability_is_held_at_exp_minus_60() -> None:
    reward, first = explore_reward([-1e4, -1e4], [9, 9], [-2e4, math.nan], [9, 0], gamma=0.9, probability="sequence")
    assert reward == pytest.approx([math.exp(-60)] * 2) and first.all()


def test_appending_text_that_the_prior_knows_gains_nothing_as_a_ratio() -> None:
    plain, plain_first = explore_reward([-12.0], [10], [-13.0], [40], gamma=0.9, probability="token_mean")
    ratio, first = explore_reward(
        [-12.0], [10], [-13.0], [40], gamma=0.9, probability="ratio", prior_now=[-11.0], prior_next=[-12.0]
    )
    assert plain[0] > math.exp(-1.2) and not plain_first[0]
    assert ratio[0] == pytest.approx(math.exp(-0.1)) and first[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gamma": 1.5}, "gamma from 0 to 1"),
        ({"probability": "log_prob"}, "Expected a probability of"),
        ({"logq_now": [math.nan]}, "NaN in logq_now"),
        ({"tokens_next": [0]}, "1 or more tokens"),
        ({"tokens_now": [1, 2]}, "one shape"),
        ({"logq_next": [-1.0, -1.0], "tokens_next": [1, 1]}, "one length"),
        ({"probability": "ratio"}, "prior_now"),
        ({"probability": "ratio", "prior_now": [-1.0], "prior_next": [math.nan]}, "a prior if any"),
    ],
)
def test_faults_of_the_exploration_reward_are_named(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"logq_now": [-1.0], "tokens_now": [1], "logq_next": [-1.0], "tokens_next": [1]}
    with pytest.raises(ValueError, match=message):
        explore_reward(**({"gamma": 0.9, "probability": "token_mean"} | given | changes))


# ---- parts ------------------------------------------------------------------------------------------


def slow_parts(rows: list[Transition], config: Config, explore: list[float] | None) -> list[RewardParts]:
    raw = []
    for place, row in enumerate(rows):
        value = 0.0
        if config.explore == "posterior":
            assert explore is not None
            value = explore[place]
        elif config.explore == "novelty" and row.visits == 0:
            value = 1.0
        written = row.explore, row.memory
        if config.reading == "previous":
            written = row.explore_before, row.memory_before
        if config.gate and (not row.valid or "" in [text.strip() for text in written]):
            value = 0.0
        raw.append(0.0 if row.reflection else value)
    parts = []
    for place, row in enumerate(rows):
        value = raw[place]
        if config.centre_explore and not row.reflection:
            task = [p for p, other in enumerate(rows) if other.task_id == row.task_id and not other.reflection]
            state = [p for p in task if rows[p].fingerprint == row.fingerprint]
            peers = task if len(state) == 1 else state
            value -= sum(raw[p] for p in peers) / len(peers)
        form = {"bonus": 1.0 if row.valid else 0.0, "penalty": 0.0 if row.valid else -1.0}[config.format_reward]
        length, free = len(row.token_ids), config.max_tokens - config.overlong
        late = 0.0
        if config.overlong and length > free:
            late = -1.0 if length > config.max_tokens else (free - length) / config.overlong
        parts.append(RewardParts(row.reward, 0.0 if row.reflection else form, value, late))
    return parts


@settings(max_examples=60)
@given(
    batches(attempts=2),
    st.builds(
        Config,
        explore=st.sampled_from(["none", "posterior", "novelty"]),
        gate=st.booleans(),
        reading=st.sampled_from(["current", "previous"]),
        centre_explore=st.booleans(),
        format_reward=st.sampled_from(["bonus", "penalty"]),
        max_tokens=st.just(8),
        overlong=st.integers(0, 5),
    ),
    st.randoms(use_true_random=False),
)
def test_parts_are_their_definition(rows: list[Transition], config: Config, random: Any) -> None:
    explore = [random.random() for _ in rows] if config.explore == "posterior" else None
    for got, expected in zip(assemble(rows, config, explore), slow_parts(rows, config, explore), strict=True):
        assert (got.task, got.format, got.overlong) == (expected.task, expected.format, expected.overlong)
        assert got.explore == pytest.approx(expected.explore, abs=1e-12)


def test_the_format_part_by_hand() -> None:
    rows = [transition(valid=True), transition(valid=False, step=1), transition(valid=False, reflection=True, step=2)]
    assert [part.format for part in assemble(rows, bare(format_reward="bonus"))] == [1, 0, 0]
    assert [part.format for part in assemble(rows, bare(format_reward="penalty"))] == [0, -1, 0]


def test_the_overlong_part_by_hand() -> None:
    """DAPO: 0 up to 6 of 10 tokens, then linearly to -1; a reflection is as long as it is."""
    config = bare(max_tokens=10, overlong=4)
    rows = [transition(tokens=tokens, reflection=tokens == 8) for tokens in (1, 6, 7, 8, 10, 12)]
    assert [part.overlong for part in assemble(rows, config)] == [0, 0, -0.25, -0.5, -1, -1]
    assert all(part.overlong == 0 for part in assemble(rows, bare(max_tokens=10)))


@pytest.mark.parametrize(
    ("changes", "current", "previous"),
    [
        ({}, 0.5, 0.5),
        ({"valid": False}, 0, 0),
        ({"explore": " \n"}, 0, 0.5),
        ({"memory": ""}, 0, 0.5),
        ({"explore_before": ""}, 0.5, 0),
        ({"memory_before": ""}, 0.5, 0),
        ({"reflection": True}, 0, 0),
    ],
)
def test_the_gate_asks_for_the_texts_that_are_scored(changes: dict, current: float, previous: float) -> None:
    row = transition(**changes)
    for reading, expected in (("current", current), ("previous", previous)):
        config = bare(explore="posterior", gate=True, reading=reading)
        assert assemble([row], config, [0.5])[0].explore == expected
    ungated = assemble([row], bare(explore="posterior"), [0.5])[0].explore
    assert ungated == (0 if row.reflection else 0.5)


def test_novelty_is_the_first_sight_of_a_state() -> None:
    rows = [transition(step=step, visits=visits) for step, visits in enumerate((0, 1, 0, 4))]
    assert [part.explore for part in assemble(rows, bare(explore="novelty"))] == [1, 0, 1, 0]


def test_centring_by_hand() -> None:
    rows = [
        transition(fingerprint="x"),
        transition(fingerprint="x", episode="other"),
        transition(fingerprint="y", step=1),
        transition(fingerprint="x", task_id="another task"),
        transition(fingerprint="x", reflection=True, step=2),
    ]
    centred = centre_explore(rows, [0.2, 0.6, 0.7, 0.9, 0.4])
    assert centred == pytest.approx([-0.2, 0.2, 0.7 - 0.5, 0.0, 0.4])


@given(batches(), st.integers(-50, 50))
def test_centred_exploration_does_not_depend_on_its_level_nor_pay_in_sum(rows: list[Transition], shift: int) -> None:
    values = np.array([math.sin(place) for place in range(len(rows))])
    centred = centre_explore(rows, values)
    assert centred == pytest.approx(centre_explore(rows, values + shift), abs=1e-9)
    states = {(row.task_id, row.fingerprint): 0 for row in rows}
    for state in states:
        places = [place for place, row in enumerate(rows) if (row.task_id, row.fingerprint) == state]
        if len(places) > 1:
            assert centred[places].sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("kind", "explore"), [("posterior", None), ("none", [1.0]), ("novelty", [1.0])])
def test_exploration_rewards_are_for_the_posterior_only(kind: Any, explore: Any) -> None:
    with pytest.raises(ValueError, match="for 'posterior' only"):
        assemble([transition()], bare(explore=kind), explore)


@pytest.mark.parametrize("explore", [[1.0, 1.0], [math.nan], [math.inf]])
def test_faulty_exploration_rewards_are_refused(explore: list[float]) -> None:
    with pytest.raises(ValueError, match="Expected 1 finite exploration rewards"):
        assemble([transition()], bare(explore="posterior"), explore)


# ---- weights ----------------------------------------------------------------------------------------


def test_weights_by_hand() -> None:
    parts = RewardParts(task=1.0, format=1.0, explore=0.4, overlong=-0.25)
    config = Config(alpha_task=2.0, alpha_format=0.5, alpha_explore=1.0, gamma_explore=0.9)
    assert task_reward(parts, config) == 2.0
    assert shaped_reward(parts, config) == pytest.approx(0.5 + 0.4 - 0.25)
    assert step_reward(parts, config) == pytest.approx(2.65)


def test_the_released_code_counts_format_twice_and_exploration_1_81_times() -> None:
    """With its weights 0.5 and 1, the effective ones are 1 and 1 + 0.9^2."""
    config = Config(alpha_format=0.5, alpha_explore=1.0, gamma_explore=0.9, count_twice=True)
    assert step_reward(RewardParts(task=1.0), config) == 1.0
    assert step_reward(RewardParts(format=1.0), config) == pytest.approx(1.0)
    assert step_reward(RewardParts(explore=1.0), config) == pytest.approx(1.81)
    assert step_reward(RewardParts(overlong=-1.0), config) == -1.0


@given(*[st.floats(-1, 1)] * 5, st.booleans())
def test_weights_add(task: float, form: float, explore: float, overlong: float, weight: float, twice: bool) -> None:
    config = Config(alpha_task=weight, alpha_format=weight, alpha_explore=weight, count_twice=twice)
    apart = [
        RewardParts(task=task),
        RewardParts(format=form),
        RewardParts(explore=explore),
        RewardParts(overlong=overlong),
    ]
    together = step_reward(RewardParts(task, form, explore, overlong), config)
    assert together == pytest.approx(sum(step_reward(parts, config) for parts in apart), abs=1e-12)
