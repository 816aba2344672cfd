"""From reward parts to one advantage per transition: returns, and groups with a baseline.

GRPO, Dr. GRPO, GiGPO, EAPO and LaMer differ in four switches of `Config`: which return, which groups with which weights,
what a group that is too small falls back to, and what the difference from the baseline is divided by.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from backtrail.training.config import Config, Key
from backtrail.training.rewards import RewardParts, shaped_reward, task_reward
from backtrail.training.transition import Transition, trajectories

__all__ = ["Advantages", "episode_returns", "grouped_advantage", "step_returns", "uninformative_tasks"]

FLAT = 1e-8
"""Returns closer than this are the same return: 0.1 + 0.2 and 0.3 are no success and failure."""

EPSILON = 1e-6
"""Added to every standard deviation, as in verl and in the released EAPO code."""

DEEPEST = 5
"""Visits from which on "state_visits" makes no difference, so that deep revisits still meet. Ours."""


@dataclass(frozen=True, slots=True)
class Advantages:
    """Advantages and how they came about.

    A transition has one baseline for each weighted key; shares of baselines are over both.

    Attributes:
        values: One advantage per transition, (n,), float64.
        shares: For the log. ``level/<key>``: share of baselines found at this key, with ``level/none`` for those found
            at no key; they sum to 1. ``singleton``: share whose own key's group was too small, before any fallback.
            ``zero_variance``: share from a group that all earned the same. ``zero_advantage``: share of transitions
            with an advantage of 0, which teach nothing. ``groups/<key>`` and ``size/<key>``: how many groups there are
            and how many members they have on average, in the units of the key.
    """

    values: NDArray[np.float64]
    shares: dict[str, float]


def episode_returns(
    transitions: Sequence[Transition], parts: Sequence[RewardParts], config: Config
) -> NDArray[np.float64]:
    """Return what each transition's trajectory earned, (n,), the same at each of its steps.

    It is the sum of the task rewards plus the mean over all steps of the other parts; the mean is ours, and keeps a
    trajectory from being paid for its length. Of several attempts the last alone counts: attempts end with the first
    success, so with a reward of 0 or 1 this is the sum, and with a graded one the sum would pay for failing more often.

    Args:
        transitions: n transitions, each trajectory complete.
        parts: Their n reward parts.
        config: The weights.

    Raises:
        ValueError: If the lengths differ or a trajectory has gaps.
    """
    task, shaped = _weighted(transitions, parts, config)
    returns = np.zeros(len(transitions))
    for places in trajectories(transitions):
        acting = [place for place in places if not transitions[place].reflection]
        last = transitions[acting[-1]].attempt if acting else 0
        total = sum(task[place] for place in acting if transitions[place].attempt == last)
        returns[places] = total + shaped[places].mean()
    return returns


def step_returns(
    transitions: Sequence[Transition], parts: Sequence[RewardParts], config: Config
) -> NDArray[np.float64]:
    """Return the return of each transition, (n,), as ``config.returns`` has it.

    - "episode" (GRPO): `episode_returns`.
    - "to_go" (GiGPO, gamma 0.95): the sum of gamma^(k-t) times the task reward of step k, for k from t to the end of the
      trajectory, plus the other parts of step t alone. That those do not reach back to earlier steps is ours: what
      is paid at every step would otherwise reward dawdling. EAPO does not say what a step that does not end the episode
      earns of the task reward; this is our reading.
    - "lamer" (LaMer): within an attempt like "to_go", and then attempt_gamma times the return at the start of the next
      attempt; a reflection earns attempt_gamma times the return at the start of the attempt after it. The other parts
      again belong to their step alone.

    Args:
        transitions: n transitions, each trajectory complete.
        parts: Their n reward parts.
        config: ``returns``, ``gamma``, ``attempt_gamma`` and the weights.

    Raises:
        ValueError: If the lengths differ or a trajectory has gaps.
    """
    if config.returns == "episode":
        return episode_returns(transitions, parts, config)
    task, returns = _weighted(transitions, parts, config)
    for places in trajectories(transitions):
        if config.returns == "to_go":
            gains = _to_go(task[places].tolist(), config.gamma)
        else:
            gains = _across_attempts([transitions[place] for place in places], task[places].tolist(), config)
        returns[places] += gains
    return returns


def _weighted(
    transitions: Sequence[Transition], parts: Sequence[RewardParts], config: Config
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if len(parts) != len(transitions):
        raise ValueError(f"Expected reward parts for {len(transitions)} transitions, got {len(parts)}")
    task = np.array([task_reward(part, config) for part in parts], np.float64)
    return task, np.array([shaped_reward(part, config) for part in parts], np.float64)


def _to_go(rewards: Sequence[float], gamma: float) -> list[float]:
    gains, gain = [], 0.0
    for reward in reversed(rewards):
        gain = reward + gamma * gain
        gains.append(gain)
    return gains[::-1]


def _across_attempts(steps: Sequence[Transition], rewards: Sequence[float], config: Config) -> list[float]:
    """Return LaMer's returns of one trajectory, walking back from its end."""
    gains: list[float] = []
    attempt = steps[-1].attempt
    within = later = start = 0.0  # start: the return at the first step seen so far of the attempt
    for step, reward in zip(reversed(steps), reversed(rewards), strict=True):
        if step.reflection:
            gains.append(config.attempt_gamma * start)
            continue
        if step.attempt != attempt:
            attempt, within, later = step.attempt, 0.0, config.attempt_gamma * start
        within = reward + config.gamma * within
        start = within + later
        gains.append(start)
    return gains[::-1]


def uninformative_tasks(transitions: Sequence[Transition], episode_returns: ArrayLike) -> list[str]:
    """Return the tasks whose rollouts all earned the same, which DAPO's dynamic sampling replaces.

    Args:
        transitions: n transitions.
        episode_returns: What their trajectories earned, (n,). DAPO compares correctness alone; with other parts hardly
            any two are the same. ``[RewardParts(task=part.task) for part in parts]`` leaves those out.
    """
    earned: defaultdict[str, list[float]] = defaultdict(list)
    for transition, value in zip(transitions, np.asarray(episode_returns, np.float64).tolist(), strict=True):
        earned[transition.task_id].append(value)
    return [task_id for task_id, values in earned.items() if max(values) - min(values) < FLAT]


def grouped_advantage(
    transitions: Sequence[Transition], returns: ArrayLike, episode_returns: ArrayLike, config: Config
) -> Advantages:
    """Return the weighted sum, over ``config.groups``, of each transition's return less the mean of its group.

    The members of a group, its units, and what is compared:

    | key | group | unit | value |
    | --- | --- | --- | --- |
    | task | task_id | trajectory | episode return |
    | batch | everything | trajectory | episode return |
    | task_attempt | task_id, attempt, acting or reflecting | that part of a trajectory | return at its first step |
    | episode | trajectory | step | its return |
    | state | task_id, fingerprint | step | its return |
    | state_visits | task_id, fingerprint, visits (5 stands for more) | step | its return |

    A trajectory is one value however long it is, so long ones do not dominate a baseline, and all its steps share the
    advantage. Reflections are in no state. The size of a group is its number of units; steps of one trajectory that meet
    in a state count one by one, since visits of one trajectory differ in how it went on.

    A group smaller than ``min_group`` has no baseline: its members take theirs from the first key of ``fallback`` whose
    group is large enough, and failing that ``singleton``: nothing, or the value itself. This happens for each weighted
    key apart.

    GRPO and DAPO are (("task", 1),) with norm "group"; Dr. GRPO has norm "none". GiGPO is (("task", 1), ("state", 1)) with
    "to_go" returns: its episode term compares episode returns still, and a state met once adds 0. EAPO's Eq. 14 is
    (("state_visits", 1),), where the released code has singleton "raw"; the fallback and the task in the key are ours.

    Args:
        transitions: n transitions.
        returns: Of `step_returns`, (n,).
        episode_returns: Of `episode_returns`, (n,).
        config: ``groups``, ``fallback``, ``min_group``, ``singleton`` and ``norm``. "group" divides by the group's
            standard deviation (unbiased) plus 1e-6. "batch" divides the finished advantages by the standard deviation
            (unbiased, plus 1e-6) of those that are not 0, unless all of these are the same.

    Raises:
        ValueError: If there are no transitions, the lengths differ, a return is not finite, or a key is none.
    """
    count = len(transitions)
    steps, episodes = np.asarray(returns, np.float64), np.asarray(episode_returns, np.float64)
    if not count:
        raise ValueError("Expected transitions, got none")
    if not steps.shape == episodes.shape == (count,) or not np.isfinite([steps, episodes]).all():
        raise ValueError(f"Expected finite returns for {count} transitions, got {steps} and {episodes}")
    keys: list[Key] = list(dict.fromkeys([*(key for key, _ in config.groups), *config.fallback]))
    baselines = {key: _baseline(key, transitions, steps, episodes, config) for key in keys}
    values = np.zeros(count)
    found: Counter[str] = Counter(dict.fromkeys([*keys, "none"], 0))
    small = flat = 0
    for key, weight in config.groups:
        term = baselines[key].values.copy() if config.singleton == "raw" else np.zeros(count)
        left = np.ones(count, bool)
        for level in (key, *config.fallback):
            baseline = baselines[level]
            helped = left & baseline.enough
            term[helped] = baseline.advantages[helped]
            left &= ~helped
            found[level] += int(helped.sum())
            flat += int((helped & baseline.flat).sum())
        found["none"] += int(left.sum())
        small += int((~baselines[key].enough).sum())
        values += weight * term
    values[np.abs(values) < FLAT] = 0.0  # terms that cancel, but for rounding
    if config.norm == "batch":
        values = _scaled(values)
    pairs = count * len(config.groups)
    shares = {f"level/{level}": number / pairs for level, number in found.items()}
    shares |= {"singleton": small / pairs, "zero_variance": flat / pairs}
    shares["zero_advantage"] = float((values == 0).mean())
    for key, baseline in baselines.items():
        shares[f"groups/{key}"] = float(len(baseline.sizes))
        shares[f"size/{key}"] = float(np.mean(baseline.sizes)) if baseline.sizes else 0.0
    return Advantages(values, shares)


@dataclass(frozen=True, slots=True)
class _Baseline:
    """What one key says: for each transition, (n,), and the size of each group."""

    values: NDArray[np.float64]
    advantages: NDArray[np.float64]
    enough: NDArray[np.bool_]
    flat: NDArray[np.bool_]
    sizes: list[int]


def _baseline(
    key: Key,
    transitions: Sequence[Transition],
    returns: NDArray[np.float64],
    episode_returns: NDArray[np.float64],
    config: Config,
) -> _Baseline:
    source = episode_returns if key in ("task", "batch") else returns
    groups: defaultdict[Hashable, defaultdict[Hashable, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place in sorted(range(len(transitions)), key=lambda place: transitions[place].step):
        transition = transitions[place]
        if (group := _group(key, transition)) is not None:
            groups[group][_unit(key, place, transition)].append(place)
    values, advantages = source.copy(), np.zeros(len(transitions))
    enough, flat = np.zeros(len(transitions), bool), np.zeros(len(transitions), bool)
    for units in groups.values():
        earned = np.array([source[places[0]] for places in units.values()])  # places are in the order of steps
        same = bool(np.ptp(earned) < FLAT)
        centred = np.zeros_like(earned) if same else earned - earned.mean()
        if config.norm == "group" and not same:
            centred /= earned.std(ddof=1) + EPSILON
        for places, value, advantage in zip(units.values(), earned, centred, strict=True):
            values[places], advantages[places] = value, advantage
            enough[places], flat[places] = len(units) >= config.min_group, same
    return _Baseline(values, advantages, enough, flat, [len(units) for units in groups.values()])


def _group(key: Key, transition: Transition) -> Hashable | None:
    """Return which group of a key a transition is in, None for none."""
    match key:
        case "task":
            return transition.task_id
        case "batch":
            return "batch"
        case "task_attempt":
            return transition.task_id, transition.attempt, transition.reflection
        case "episode":
            return transition.episode
        case "state":
            return None if transition.reflection else (transition.task_id, transition.fingerprint)
        case "state_visits":
            depth = min(transition.visits, DEEPEST)
            return None if transition.reflection else (transition.task_id, transition.fingerprint, depth)
    raise ValueError(f"Expected a key of the table of grouped_advantage, got {key!r}")


def _unit(key: Key, place: int, transition: Transition) -> Hashable:
    """Return which member of its group a transition belongs to."""
    if key in ("task", "batch"):
        return transition.episode
    if key == "task_attempt":
        return transition.episode, transition.attempt, transition.reflection
    return place


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    learning = values[values != 0]
    if len(learning) < 2 or np.ptp(learning) < FLAT:
        return values
    return values / (learning.std(ddof=1) + EPSILON)
