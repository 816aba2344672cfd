"""Returns and advantages against hand-computed values, their definitions written out slowly, and laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, stdev
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making_transitions import batches, rollout, transition

from backtrail.training.advantage import episode_returns, grouped_advantage, step_returns, uninformative_tasks
from backtrail.training.config import Config, Key
from backtrail.training.rewards import RewardParts, assemble, shaped_reward, task_reward
from backtrail.training.transition import Transition

KEYS: tuple[Key, ...] = get_args(Key)

keys = st.sampled_from(KEYS)
configs = st.builds(
    Config,
    returns=st.sampled_from(["episode", "to_go", "lamer"]),
    groups=st.lists(st.tuples(keys, st.sampled_from([0.5, 1.0, 2.0])), min_size=1, max_size=3).map(tuple),
    fallback=st.lists(keys, max_size=3).map(tuple),
    min_group=st.integers(1, 4),
    singleton=st.sampled_from(["zero", "raw"]),
    norm=st.sampled_from(["none", "group", "batch"]),
    alpha_format=st.sampled_from([0.0, 0.5]),
    explore=st.just("novelty"),
    alpha_explore=st.sampled_from([0.0, 1.0]),
)


def both(rows: Sequence[Transition], config: Config) -> tuple[np.ndarray, np.ndarray]:
    parts = assemble(rows, config)
    return step_returns(rows, parts, config), episode_returns(rows, parts, config)


def advantages(rows: Sequence[Transition], config: Config) -> list[float]:
    return grouped_advantage(rows, *both(rows, config), config).values.tolist()


# ---- the slow way -----------------------------------------------------------------------------------


def slow_episode_return(
    rows: Sequence[Transition], parts: Sequence[RewardParts], config: Config, episode: str
) -> float:
    own = [place for place, row in enumerate(rows) if row.episode == episode]
    last = max(rows[place].attempt for place in own)
    task = [task_reward(parts[p], config) for p in own if rows[p].attempt == last and not rows[p].reflection]
    return sum(task) + mean(shaped_reward(parts[place], config) for place in own)


def slow_step_return(rows: Sequence[Transition], parts: Sequence[RewardParts], config: Config, place: int) -> float:
    row = rows[place]
    own = sorted((p for p, other in enumerate(rows) if other.episode == row.episode), key=lambda p: rows[p].step)
    shaped = shaped_reward(parts[place], config)
    if config.returns == "episode":
        return slow_episode_return(rows, parts, config, row.episode)
    if config.returns == "to_go":
        ahead = [p for p in own if rows[p].step >= row.step]
        return sum(config.gamma**k * task_reward(parts[p], config) for k, p in enumerate(ahead)) + shaped

    def within(attempt: int, since: int) -> float:
        """Discounted reward of an attempt from a step on."""
        acting = [p for p in own if rows[p].attempt == attempt and not rows[p].reflection and rows[p].step >= since]
        return sum(config.gamma**k * task_reward(parts[p], config) for k, p in enumerate(acting))

    last = max(rows[p].attempt for p in own)
    later = sum(config.attempt_gamma ** (m - row.attempt) * within(m, 0) for m in range(row.attempt + 1, last + 1))
    return later + shaped + (0 if row.reflection else within(row.attempt, row.step))


def slow_members(
    rows: Sequence[Transition], returns: Sequence[float], episodes: Sequence[float], key: str, place: int
) -> tuple[float, list[float]]:
    """The value a transition has under a key, and the values of its group's members; none if it is in no group."""
    row = rows[place]
    if key in ("task", "batch"):
        peers = [p for p, other in enumerate(rows) if key == "batch" or other.task_id == row.task_id]
        return episodes[place], list({rows[p].episode: episodes[p] for p in peers}.values())
    if key == "task_attempt":
        starts: dict[str, tuple[int, float]] = {}
        for p, other in enumerate(rows):
            if (other.task_id, other.attempt, other.reflection) == (row.task_id, row.attempt, row.reflection):
                starts[other.episode] = min(starts.get(other.episode, (10**9, 0.0)), (other.step, returns[p]))
        return starts[row.episode][1], [value for _, value in starts.values()]
    if key == "episode":
        return returns[place], [returns[p] for p, other in enumerate(rows) if other.episode == row.episode]
    if row.reflection:
        return returns[place], []
    peers = [
        returns[p]
        for p, other in enumerate(rows)
        if not other.reflection and (other.task_id, other.fingerprint) == (row.task_id, row.fingerprint)
        if key == "state" or min(other.visits, 5) == min(row.visits, 5)
    ]
    return returns[place], peers


def slow_advantages(
    rows: Sequence[Transition], returns: Sequence[float], episodes: Sequence[float], config: Config
) -> list[float]:
    out = []
    for place in range(len(rows)):
        total = 0.0
        for key, weight in config.groups:
            term = slow_members(rows, returns, episodes, key, place)[0] if config.singleton == "raw" else 0.0
            for level in (key, *config.fallback):
                value, members = slow_members(rows, returns, episodes, level, place)
                if len(members) >= config.min_group:
                    term = value - mean(members)
                    if max(members) - min(members) < 1e-8:
                        term = 0.0
                    elif config.norm == "group":
                        term /= stdev(members) + 1e-6
                    break
            total += weight * term
        out.append(total)
    learning = [value for value in out if abs(value) >= 1e-8]
    if config.norm == "batch" and len(learning) > 1 and max(learning) - min(learning) >= 1e-8:
        scale = stdev(learning) + 1e-6
        out = [value / scale for value in out]
    return out


@settings(max_examples=60)
@given(batches(attempts=3), configs)
def test_returns_are_their_definition(rows: list[Transition], config: Config) -> None:
    parts = assemble(rows, config)
    steps = [slow_step_return(rows, parts, config, place) for place in range(len(rows))]
    assert step_returns(rows, parts, config) == pytest.approx(steps)
    episodes = [slow_episode_return(rows, parts, config, row.episode) for row in rows]
    assert episode_returns(rows, parts, config) == pytest.approx(episodes)


@settings(max_examples=100)
@given(batches(attempts=3), configs)
def test_advantages_are_their_definition(rows: list[Transition], config: Config) -> None:
    steps, episodes = both(rows, config)
    expected = slow_advantages(rows, steps.tolist(), episodes.tolist(), config)
    assert advantages(rows, config) == pytest.approx(expected, rel=1e-6, abs=1e-6)


# ---- returns by hand --------------------------------------------------------------------------------


def test_an_episode_return_adds_the_mean_of_the_shaped_parts() -> None:
    rows = rollout("e", [0, 0, 1])
    parts = [RewardParts(format=-1.0), RewardParts(), RewardParts(task=1.0, overlong=-0.5)]
    config = Config(alpha_format=0.1, returns="episode")
    assert step_returns(rows, parts, config) == pytest.approx([1 - 0.6 / 3] * 3)


def test_a_longer_trajectory_is_not_paid_for_its_length() -> None:
    config = Config(format_reward="bonus", alpha_format=0.5)
    rows = rollout("short", [0, 1]) + rollout("long", [0] * 9 + [1])
    assert both(rows, config)[1] == pytest.approx([1.5] * 12)


def test_a_return_to_go_keeps_the_shaped_parts_at_their_step() -> None:
    rows = rollout("e", [0, 0, 1])
    parts = [RewardParts(format=1.0), RewardParts(explore=0.4, overlong=-0.1), RewardParts(task=1.0)]
    config = Config(returns="to_go", gamma=0.5, alpha_format=0.1, alpha_explore=2.0)
    assert step_returns(rows, parts, config) == pytest.approx([0.25 + 0.1, 0.5 + 0.8 - 0.1, 1.0])


def two_attempts(success: float = 1.0, failure: float = 0.0) -> list[Transition]:
    first = rollout("e", [0, failure])
    reflection = transition(episode="e", step=2, reflection=True)
    return [*first, reflection, *rollout("e", [0, success], attempt=1, step=3)]


def test_a_lamer_return_crosses_attempts_and_pays_the_reflection() -> None:
    config = Config(returns="lamer", gamma=0.5, attempt_gamma=0.6, alpha_format=0.0)
    rows = two_attempts()
    assert both(rows, config)[0] == pytest.approx([0.3, 0.3, 0.3, 0.5, 1.0])
    graded = two_attempts(failure=0.8)
    assert both(graded, config)[0] == pytest.approx([0.4 + 0.3, 0.8 + 0.3, 0.3, 0.5, 1.0])
    alone = [*rollout("e", [0]), transition(episode="e", step=1, reflection=True)]
    assert both(alone, config)[0].tolist() == [0, 0], "no attempt follows this reflection"


def test_the_last_attempt_is_what_an_episode_earned() -> None:
    config = Config(alpha_format=0.0)
    assert both(two_attempts(), config)[1].tolist() == [1.0] * 5
    assert both(two_attempts(success=0.5, failure=0.4), config)[1].tolist() == [0.5] * 5


def test_parts_must_fit() -> None:
    with pytest.raises(ValueError, match="reward parts for 1 transitions, got 0"):
        step_returns([transition()], [], Config(returns="to_go"))
    with pytest.raises(ValueError, match="Expected steps 0 to 0"):
        step_returns([transition(step=3)], [RewardParts()], Config())


# ---- advantages by hand -----------------------------------------------------------------------------


def test_grpo_by_hand() -> None:
    """Three rollouts earn 1, 0, 0; however long, each is one value: mean 1/3, standard deviation sqrt(1/3)."""
    rows = rollout("won", [0, 0, 0, 0, 1]) + rollout("lost", [0]) + rollout("lost too", [0, 0])
    deviation = math.sqrt(1 / 3) + 1e-6
    expected = [2 / 3 / deviation] * 5 + [-1 / 3 / deviation] * 3
    assert advantages(rows, Config(alpha_format=0.0)) == pytest.approx(expected)
    assert advantages(rows, Config(alpha_format=0.0, norm="none")) == pytest.approx([2 / 3] * 5 + [-1 / 3] * 3)


def test_batch_norm_divides_by_the_deviation_of_what_is_not_zero() -> None:
    rows = rollout("a", [1]) + rollout("b", [0]) + rollout("c", [0.5])
    values = advantages(rows, Config(alpha_format=0.0, norm="batch"))
    assert values == pytest.approx([0.5 / (math.sqrt(0.5) + 1e-6), -0.5 / (math.sqrt(0.5) + 1e-6), 0])
    single = Config(alpha_format=0.0, norm="batch", singleton="raw")
    assert advantages(rollout("a", [1]), single) == [1.0], "one value has no deviation"


def test_noise_of_floats_is_no_difference() -> None:
    rows = rollout("a", [0]) + rollout("b", [0]) + rollout("c", [0])
    result = grouped_advantage(rows, [0.0] * 3, [0.1 + 0.2, 0.3, 0.3], Config())
    assert result.values.tolist() == [0, 0, 0]
    assert result.shares["zero_variance"] == result.shares["zero_advantage"] == 1


def test_terms_that_cancel_but_for_rounding_are_zero() -> None:
    config = Config(groups=(("task", 0.1), ("task", 0.2), ("task", -0.3)), norm="batch", alpha_format=0.0)
    rows = rollout("a", [1]) + rollout("b", [0])
    assert advantages(rows, config) == [0, 0], "and not 5e-17, divided by its deviation"


def test_attempts_are_compared_with_attempts_and_reflections_with_reflections() -> None:
    config = Config(returns="lamer", gamma=0.5, attempt_gamma=0.6, alpha_format=0.0, norm="none")
    config = replace(config, groups=(("task_attempt", 1.0),))
    other = [replace(row, episode="f", reward=0.0) for row in two_attempts()]
    expected = [0.15, 0.15, 0.15, 0.25, 0.25]
    assert advantages(two_attempts() + other, config) == pytest.approx(expected + [-value for value in expected])


def test_a_reflection_is_in_no_state() -> None:
    config = Config(groups=(("state", 1.0),), alpha_format=0.0, norm="none", returns="lamer", attempt_gamma=0.5)
    rows = [*two_attempts(), *rollout("f", [0.0], states=["hall"])]  # the reflection's fingerprint is "hall" too
    result = grouped_advantage(rows, *both(rows, config), config)
    assert result.values[2] == 0 and result.values[5] == 0
    assert result.shares["singleton"] == result.shares["level/none"] == 2 / 6, "the reflection, and f's hall without it"


def test_deep_visits_meet_from_the_fifth_on() -> None:
    config = Config(groups=(("state_visits", 1.0),), norm="none", alpha_format=0.0, returns="to_go")
    rows = [transition(episode=str(n), visits=visits, reward=n) for n, visits in enumerate((4, 5, 9, 4))]
    assert advantages(rows, config) == pytest.approx([-1.5, -0.5, 0.5, 1.5])


def test_fallbacks_by_hand() -> None:
    """The hall at first sight is a group; its second visit falls to the state, a room seen once to the task."""
    config = Config(
        groups=(("state_visits", 1.0),),
        fallback=("state", "task"),
        norm="none",
        returns="to_go",
        gamma=1.0,
        alpha_format=0.0,
    )
    rows = rollout("a", [0, 0, 1], states=["hall", "hall", "room"]) + rollout("b", [0], states=["hall"])
    rows += rollout("c", [1], states=["cave"], task_id="other")
    result = grouped_advantage(rows, *both(rows, config), config)
    assert result.values == pytest.approx([0.5, 1 - 2 / 3, 0.5, -0.5, 0])
    assert result.shares == pytest.approx(
        {
            "level/state_visits": 2 / 5,
            "level/state": 1 / 5,
            "level/task": 1 / 5,
            "level/none": 1 / 5,
            "singleton": 3 / 5,
            "zero_variance": 0,
            "zero_advantage": 1 / 5,
            "groups/state_visits": 4,
            "size/state_visits": 5 / 4,
            "groups/state": 3,
            "size/state": 5 / 3,
            "groups/task": 2,
            "size/task": 3 / 2,
        }
    )
    raw = advantages(rows, replace(config, singleton="raw"))
    assert raw == pytest.approx([0.5, 1 - 2 / 3, 0.5, -0.5, 1])


def test_a_fallback_takes_the_weight_of_its_own_key() -> None:
    rows = rollout("a", [1], states=["x"]) + rollout("b", [0], states=["y"])
    config = Config(groups=(("task", 1.0), ("state", 0.5)), fallback=("task",), norm="none", alpha_format=0.0)
    assert advantages(rows, config) == pytest.approx([0.75, -0.75])


def test_the_released_code_by_hand() -> None:
    """Format and exploration counted twice, groups by state and depth alone, and a lone step pushed by all it earned."""
    config = Config(
        returns="to_go",
        gamma=0.5,
        alpha_format=0.5,
        alpha_explore=1.0,
        format_reward="bonus",
        count_twice=True,
        centre_explore=False,
        gate=False,
        explore="posterior",
        groups=(("state_visits", 1.0),),
        singleton="raw",
    )
    rows = rollout("a", [0, 1], states=["hall", "hall"]) + rollout("b", [0], states=["hall"])
    parts = assemble(rows, config, [0.1, 0.2, 0.3])
    steps = step_returns(rows, parts, config)
    assert steps == pytest.approx([0.5 + 1 + 0.181, 1 + 1 + 0.362, 0 + 1 + 0.543])
    values = grouped_advantage(rows, steps, episode_returns(rows, parts, config), config).values
    gap, deviation = (1.681 - 1.543) / 2, (1.681 - 1.543) / math.sqrt(2)
    assert values == pytest.approx([gap / (deviation + 1e-6), 2.362, -gap / (deviation + 1e-6)])


# ---- GiGPO ------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(batches(), st.booleans(), st.sampled_from([0.5, 1.0]))
def test_gigpo_is_its_definition(rows: list[Transition], divided: bool, omega: float) -> None:
    """The episode term over the trajectories of a task, plus the discounted return compared at equal states."""
    config = Config(
        returns="to_go",
        gamma=0.95,
        groups=(("task", 1.0), ("state", omega)),
        norm="group" if divided else "none",
        alpha_format=0.0,
    )

    def normalised(value: float, group: list[float]) -> float:
        if len(group) == 1 or len(set(group)) == 1:
            return 0.0
        return (value - mean(group)) / (stdev(group) + 1e-6 if divided else 1)

    total = {row.episode: sum(other.reward for other in rows if other.episode == row.episode) for row in rows}
    to_go = [
        sum(o.reward * 0.95 ** (o.step - row.step) for o in sorted(rows, key=lambda o: o.step) if o.step >= row.step
            if o.episode == row.episode)
        for row in rows
    ]  # fmt: skip
    expected = []
    for row, value in zip(rows, to_go, strict=True):
        of_task = {other.episode: total[other.episode] for other in rows if other.task_id == row.task_id}
        at_state = [
            back
            for other, back in zip(rows, to_go, strict=True)
            if (other.task_id, other.fingerprint) == (row.task_id, row.fingerprint)
        ]
        if max(at_state) - min(at_state) < 1e-8:
            at_state = [value]
        expected.append(normalised(total[row.episode], [*of_task.values()]) + omega * normalised(value, at_state))
    assert advantages(rows, config) == pytest.approx(expected, rel=1e-6, abs=1e-6)


# ---- laws -------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(batches(attempts=2), configs, st.integers(-8, 8))
def test_a_constant_added_to_all_returns_changes_nothing(rows: list[Transition], config: Config, shift: int) -> None:
    config = replace(config, singleton="zero")
    steps, episodes = both(rows, config)
    moved = grouped_advantage(rows, steps + shift, episodes + shift, config).values
    assert moved == pytest.approx(advantages(rows, config), rel=1e-6, abs=1e-6)


@settings(max_examples=60)
@given(batches(attempts=2), configs)
def test_weighted_keys_add(rows: list[Transition], config: Config) -> None:
    config = replace(config, norm="group" if config.norm == "batch" else config.norm)
    apart = [
        np.array(advantages(rows, replace(config, groups=((key, 1.0),)))) * weight for key, weight in config.groups
    ]
    assert advantages(rows, config) == pytest.approx(sum(apart), abs=1e-7)


@settings(max_examples=60)
@given(batches(attempts=2), configs, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[Transition], config: Config, random: Any) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = [rows[place] for place in order]
    expected = np.array(advantages(rows, config))[order]
    assert advantages(shuffled, config) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@settings(max_examples=60)
@given(batches(attempts=2), configs)
def test_shares_are_shares(rows: list[Transition], config: Config) -> None:
    result = grouped_advantage(rows, *both(rows, config), config)
    levels = {name: share for name, share in result.shares.items() if name.startswith("level/")}
    assert sum(levels.values()) == pytest.approx(1)
    assert set(levels) == {f"level/{key}" for key in [*dict(config.groups), *config.fallback, "none"]}
    fractions = [*levels.values(), *(result.shares[name] for name in ("singleton", "zero_variance", "zero_advantage"))]
    assert all(0 <= share <= 1 for share in fractions)
    assert levels["level/none"] <= result.shares["singleton"] + 1e-12
    assert result.shares["zero_advantage"] == np.mean(result.values == 0)


@given(batches(attempts=2), st.sampled_from(["task", "batch", "episode", "state", "state_visits"]))
def test_members_of_a_group_are_better_and_worse_in_equal_measure(rows: list[Transition], key: Key) -> None:
    config = Config(groups=((key, 1.0),), norm="none", returns="to_go")
    values = advantages(rows, config)
    if key in ("task", "batch"):  # one value per trajectory
        values = [*{row.episode: value for row, value in zip(rows, values, strict=True)}.values()]
    assert sum(values) == pytest.approx(0, abs=1e-9)


# ---- tasks that teach nothing, and faults -----------------------------------------------------------


def test_uninformative_tasks() -> None:
    rows = [transition(task_id=task, episode=str(n)) for n, task in enumerate("aabbccd")]
    assert uninformative_tasks(rows, [0, 1, 1, 1, 0.1 + 0.2, 0.3, 1]) == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("rows", "returns", "changes", "message"),
    [
        (0, [], {}, "Expected transitions, got none"),
        (1, [1.0, 2.0], {}, "finite returns for 1 transitions"),
        (1, [math.nan], {}, "finite returns"),
        (1, [1.0], {"groups": (("goal", 1.0),)}, "Expected a key of the table"),
    ],
)
def test_faults_are_named(rows: int, returns: list[float], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grouped_advantage([transition()] * rows, returns, returns, replace(Config(), **changes))
