"""What a step earns: its parts, kept apart for the log, and the one place where they are weighed.

EAPO Eq. 10 sums task, format and exploration rewards; DAPO adds a penalty for responses that are nearly too long. EAPO's
equations are known from its released code and from a third party's summary; docs/training-maths.md says which is which.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from backtrail.training.config import Config
from backtrail.training.transition import Transition

__all__ = [
    "RewardParts",
    "assemble",
    "centre_explore",
    "explore_reward",
    "may_explore",
    "shaped_reward",
    "step_reward",
    "task_reward",
]

Probability = Literal["token_mean", "sequence", "ratio"]

FLOOR = -60.0
"""Smallest log-probability of a text, the released code's clamp."""


@dataclass(frozen=True, slots=True)
class RewardParts:
    """What one transition earned, before any weight.

    Attributes:
        task: The environment's reward.
        format: 1 or 0 as a bonus, 0 or -1 as a penalty.
        explore: The exploration reward, gated and centred as configured.
        overlong: The penalty for length, from 0 to -1.
    """

    task: float = 0.0
    format: float = 0.0
    explore: float = 0.0
    overlong: float = 0.0


def explore_reward(
    logq_now: ArrayLike,
    tokens_now: ArrayLike,
    logq_next: ArrayLike,
    tokens_next: ArrayLike,
    *,
    gamma: float,
    probability: Probability,
    prior_now: ArrayLike | None = None,
    prior_next: ArrayLike | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return EAPO's exploration reward, max{q(e,m|s), gamma^2 q(e,[m;s']|s)}.

    The discount is a summand in log space, ``log q + 2 log gamma``: multiplying a log-probability, as one mode of the
    released code does, would raise it. The squared gamma is the released code's; the formula as quoted by a third party
    reads gamma_2.

    Args:
        logq_now: Natural log-probability of explore and memory, summed over their tokens. Shape (n,), as of all arrays.
        tokens_now: Their number of tokens, 1 or more.
        logq_next: The same with the next observation appended to the memory; NaN where there is none.
        tokens_next: Their number of tokens; any number where there is none.
        gamma: The discount, from 0 to 1; it counts twice.
        probability: How a sum over tokens becomes a probability. "sequence": the joint. "token_mean": the geometric mean
            over tokens. "ratio" (ours): the geometric mean of q over the prior of the same tokens, at most 1, so that
            appending easy text gains nothing. Each is held within exp(-60) and 1 before it is discounted; for the first
            two this is the released code's clamp.
        prior_now: Summed log-probability of the first text under the prior, for "ratio".
        prior_next: The same of the second text.

    Returns:
        The reward, from 0 to 1, and whether the first term won; it also wins a tie.

    Raises:
        ValueError: If shapes differ, a value is missing, or a number makes no sense.

    Example:
        >>> reward, first = explore_reward([-2.0], [2], [-1.0], [4], gamma=0.9, probability="token_mean")
        >>> round(float(reward[0]), 4), bool(first[0])  # 0.81 * exp(-1/4) against exp(-2/2)
        (0.6308, False)
    """
    if not 0 <= gamma <= 1:
        raise ValueError(f"Expected a gamma from 0 to 1, got {gamma}")
    if probability not in get_args(Probability):
        raise ValueError(f"Expected a probability of {', '.join(get_args(Probability))}, got {probability!r}")
    now = _log_probability("now", logq_now, tokens_now, prior_now, probability)
    later = _log_probability("next", logq_next, tokens_next, prior_next, probability)
    if now.shape != later.shape:
        raise ValueError(f"Expected arrays of one length, got {len(now)} values of now and {len(later)} of next")
    if np.isnan(now).any():
        raise ValueError("Expected a log-probability of explore and memory for every step, got NaN in logq_now")
    discount = 2 * math.log(gamma) if gamma else -math.inf
    second = np.where(np.isnan(later), -np.inf, later + discount)
    return np.exp(np.maximum(now, second)), now >= second


def _log_probability(
    name: str, logq: ArrayLike, tokens: ArrayLike, prior: ArrayLike | None, probability: Probability
) -> NDArray[np.float64]:
    """Return the logarithm of a text's probability, NaN where there is no text."""
    if probability == "ratio" and prior is None:
        raise ValueError(f"Expected prior_{name}, which the ratio divides by; score the same texts under the prior")
    total, count = np.asarray(logq, np.float64), np.asarray(tokens, np.float64)
    base = np.asarray(prior, np.float64) if probability == "ratio" else np.zeros_like(total)
    if total.ndim != 1 or not total.shape == count.shape == base.shape:
        raise ValueError(
            f"Expected arrays of one shape (n,) for {name}, got {total.shape}, {count.shape}, {base.shape}"
        )
    there = ~np.isnan(total)
    if (count[there] < 1).any() or np.isnan(base[there]).any():
        raise ValueError(f"Expected 1 or more tokens, and a prior if any, for each text of {name}")
    if probability != "sequence":
        total = (total - base) / np.where(there, count, 1.0)
    return np.clip(total, FLOOR, 0.0)


def centre_explore(transitions: Sequence[Transition], values: ArrayLike) -> NDArray[np.float64]:
    """Subtract from each exploration reward the mean over its state, so that it cannot pay for longer episodes. Ours.

    The state is (task_id, fingerprint), over all trajectories and visits. A state seen once is centred on the mean of its
    task instead, for it would otherwise earn 0 whatever was written. Reflections are left as they are and count nowhere.

    Args:
        transitions: n transitions.
        values: Their exploration rewards, (n,).

    Returns:
        The centred rewards, (n,).
    """
    values = np.asarray(values, np.float64)
    states: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    tasks: defaultdict[str, list[int]] = defaultdict(list)
    for place, transition in enumerate(transitions):
        if not transition.reflection:
            states[transition.task_id, transition.fingerprint].append(place)
            tasks[transition.task_id].append(place)
    centred = values.copy()
    for (task_id, _), places in states.items():
        centred[places] -= values[places if len(places) > 1 else tasks[task_id]].mean()
    return centred


def assemble(transitions: Sequence[Transition], config: Config, explore: ArrayLike | None = None) -> list[RewardParts]:
    """Return the reward parts of each transition.

    The format part follows EAPO (1 if explore, memory and action are there) or is its mirror image (-1 if one is not). A
    reflection has neither a format nor an exploration part; its length counts like any other.

    "novelty" is 1 at the first visit of a state. Visits are counted within an attempt, so a later attempt at the same
    task sees its states anew.

    Args:
        transitions: n transitions.
        config: Its fields ``explore``, ``gate``, ``reading``, ``centre_explore``, ``format_reward``, ``overlong`` and
            ``max_tokens``. The gate is ours; so is centring, and both are off in the released code.
        explore: The rewards of `explore_reward`, (n,), for ``config.explore == "posterior"`` and for nothing else.

    Raises:
        ValueError: If ``explore`` is missing, unexpected, of another length or not finite.
    """
    earned = _exploration(transitions, config, explore)
    return [
        RewardParts(
            task=transition.reward,
            format=_format(transition, config),
            explore=value,
            overlong=_overlong(len(transition.token_ids), config),
        )
        for transition, value in zip(transitions, earned.tolist(), strict=True)
    ]


def _exploration(transitions: Sequence[Transition], config: Config, explore: ArrayLike | None) -> NDArray[np.float64]:
    if (explore is None) == (config.explore == "posterior"):
        given = "none" if explore is None else "some"
        raise ValueError(f"Expected exploration rewards for 'posterior' only, got {given} for {config.explore!r}")
    if explore is not None:
        values = np.array(explore, np.float64)
    else:
        values = np.array([config.explore == "novelty" and not t.visits for t in transitions], np.float64)
    if values.shape != (len(transitions),) or not np.isfinite(values).all():
        raise ValueError(f"Expected {len(transitions)} finite exploration rewards, got {explore}")
    values[[not may_explore(transition, config) for transition in transitions]] = 0.0
    return centre_explore(transitions, values) if config.centre_explore else values


def may_explore(transition: Transition, config: Config) -> bool:
    """Return whether a step can earn an exploration reward: no reflection, and with `config.gate` the texts it is for."""
    if transition.reflection:
        return False
    if not config.gate:
        return True
    if config.reading == "current":
        explore, memory = transition.explore, transition.memory
    else:
        explore, memory = transition.explore_before, transition.memory_before
    return transition.valid and bool(explore.strip() and memory.strip())


def _format(transition: Transition, config: Config) -> float:
    if transition.reflection:
        return 0.0
    return float(transition.valid) - (config.format_reward == "penalty")


def _overlong(tokens: int, config: Config) -> float:
    """Return DAPO's soft overlong penalty: 0 up to a length, then falling to -1 at the longest response."""
    beyond = tokens - (config.max_tokens - config.overlong)
    return -min(1.0, beyond / config.overlong) if config.overlong and beyond > 0 else 0.0


def task_reward(parts: RewardParts, config: Config) -> float:
    """Return the weighted task reward."""
    return config.alpha_task * parts.task


def shaped_reward(parts: RewardParts, config: Config) -> float:
    """Return the weighted sum of all parts but the task's.

    ``config.count_twice`` is the released EAPO code, which adds 0.5 format + gamma^2 explore to a reward that already
    holds 0.5 format + explore. DAPO's penalty has the weight 1.

    Example:
        >>> parts, config = RewardParts(format=1.0, explore=1.0), Config(alpha_format=0.5, alpha_explore=1.0)
        >>> shaped_reward(parts, config)
        1.5
        >>> round(shaped_reward(parts, Config(alpha_format=0.5, alpha_explore=1.0, count_twice=True)), 9)
        2.81
    """
    format_times, explore_times = (2.0, 1 + config.gamma_explore**2) if config.count_twice else (1.0, 1.0)
    return (
        config.alpha_format * format_times * parts.format
        + config.alpha_explore * explore_times * parts.explore
        + parts.overlong
    )


def step_reward(parts: RewardParts, config: Config) -> float:
    """Return what a step earned in all, EAPO Eq. 10 and DAPO's penalty for length."""
    return task_reward(parts, config) + shaped_reward(parts, config)
