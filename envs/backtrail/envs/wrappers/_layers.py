"""Keeping and putting back an environment that offers no snapshots: the Python state of it and of its wrappers."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit

from backtrail.envs.wrappers.visits import VisitCount

_CLOCKS = (TimeLimit, VisitCount, RecordEpisodeStatistics, OrderEnforcing, PassiveEnvChecker)
"""Wrappers that count what happened. What happened is not undone by going back."""

_SHARED = ("action_space", "observation_space", "_action_space", "_observation_space", "spec", "_cached_spec")
"""Attributes that are no part of the world. A space holds a sampler: wound back, it would draw the same actions again."""

Marks = list[dict[str, Any]]


def layers(env: gym.Env) -> list[gym.Env]:
    """Return the environment and its wrappers, outermost first."""
    found = [env]
    while isinstance(env, gym.Wrapper):
        env = env.env
        found.append(env)
    return found


def keep(env: gym.Env) -> Marks | None:
    """Return a deep copy of the state of all layers, or None if the environment cannot be copied.

    The attributes are copied, not the objects: classes built on EzPickle copy themselves into a fresh, just constructed
    environment.
    """
    stack = layers(env)
    memo: dict[int, Any] = {id(layer): layer for layer in stack}
    for layer in stack:
        memo |= {id(vars(layer)[name]): vars(layer)[name] for name in _SHARED if name in vars(layer)}
    try:
        return [copy.deepcopy(vars(layer), memo) for layer in stack]
    except (TypeError, ValueError, NotImplementedError, RuntimeError, AttributeError, copy.Error):
        return None  # a window, a socket, a native handle: there is no general way to copy those


def put_back(env: gym.Env, marks: Marks, *, clocks: bool) -> None:
    """Put the layers back as they were; the wrappers that count only if ``clocks``."""
    stack = layers(env)
    memo: dict[int, Any] = {id(layer): layer for layer in stack}
    for layer, mark in zip(stack, marks, strict=True):
        memo |= {id(mark[name]): mark[name] for name in _SHARED if name in mark}
        if clocks or not isinstance(layer, _CLOCKS):
            fresh = copy.deepcopy(mark, memo)
            vars(layer).clear()
            vars(layer).update(fresh)


def keep_clocks(env: gym.Env) -> list[tuple[gym.Env, dict[str, Any]]]:
    """Return the state of the wrappers that count, to be put back with `put_back_clocks` after a replay."""
    stack = layers(env)
    memo: dict[int, Any] = {id(layer): layer for layer in stack}
    return [(layer, copy.deepcopy(vars(layer), memo)) for layer in stack if isinstance(layer, _CLOCKS)]


def put_back_clocks(kept: list[tuple[gym.Env, dict[str, Any]]]) -> None:
    """Put back what `keep_clocks` returned."""
    for layer, state in kept:
        vars(layer).clear()
        vars(layer).update(state)


def spend_step(env: gym.Env) -> bool:
    """Count one step in every time limit of ``env``, for a rollback it did not see; return whether one has run out."""
    truncated = False
    for layer in layers(env):
        if isinstance(layer, TimeLimit) and layer._elapsed_steps is not None:
            layer._elapsed_steps += 1
            truncated |= layer._elapsed_steps >= layer._max_episode_steps
    return truncated
