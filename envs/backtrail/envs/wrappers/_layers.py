"""Keeping and putting back an environment that offers no snapshots: the Python state of it and of its wrappers."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit

from backtrail.envs.wrappers.fingerprint import Fingerprint
from backtrail.envs.wrappers.visits import VisitCount

_CLOCKS = (TimeLimit, VisitCount, RecordEpisodeStatistics, OrderEnforcing, PassiveEnvChecker)
"""Wrappers that count what happened. What happened is not undone by going back."""

_SHARED = ("action_space", "observation_space", "_action_space", "_observation_space", "spec", "_cached_spec")
"""Attributes that are no part of the world. A space holds a sampler: wound back, it would draw the same actions again."""

Marks = list[dict[str, Any] | None]

_STATELESS = (gym.ObservationWrapper, gym.ActionWrapper, gym.RewardWrapper)


def layers(env: gym.Env) -> list[gym.Env]:
    """Return the environment and its wrappers, outermost first."""
    found = [env]
    while isinstance(env, gym.Wrapper):
        env = env.env
        found.append(env)
    return found


def remembering(env: gym.Env) -> list[gym.Env]:
    """Return the wrappers that may hold a part of the world, such as earlier frames: neither clocks nor plain transforms."""
    known = (*_CLOCKS, *_STATELESS, Fingerprint)
    return [layer for layer in layers(env)[:-1] if not isinstance(layer, known)]


def keep(stack: Sequence[gym.Env], *, counting: bool = False) -> Marks | None:
    """Return a deep copy of the state of layers, or None if one of them cannot be copied.

    The attributes are copied, not the objects: classes built on EzPickle copy themselves into a fresh, just constructed
    environment. Wrappers that count are left out unless ``counting``.
    """
    memo: dict[int, Any] = {id(layer): layer for env in stack for layer in layers(env)}
    for layer in stack:
        memo |= {id(vars(layer)[name]): vars(layer)[name] for name in _SHARED if name in vars(layer)}
    try:
        return [
            copy.deepcopy(vars(layer), memo) if counting or not isinstance(layer, _CLOCKS) else None for layer in stack
        ]
    except (TypeError, ValueError, NotImplementedError, RuntimeError, AttributeError, copy.Error, pickle.PicklingError):
        return None  # a window, a socket, a native handle: there is no general way to copy those


def put_back(stack: Sequence[gym.Env], marks: Marks) -> None:
    """Put layers back as they were; the marks stay good."""
    memo: dict[int, Any] = {id(layer): layer for env in stack for layer in layers(env)}
    for layer, mark in zip(stack, marks, strict=True):
        if mark is not None:
            memo |= {id(mark[name]): mark[name] for name in _SHARED if name in mark}
            fresh = copy.deepcopy(mark, memo)
            vars(layer).clear()
            vars(layer).update(fresh)


def clocks(env: gym.Env) -> list[gym.Env]:
    """Return the wrappers that count."""
    return [layer for layer in layers(env) if isinstance(layer, _CLOCKS)]


def spend_step(env: gym.Env) -> bool:
    """Count one step in every time limit of ``env``, for a rollback it did not see; return whether one has run out."""
    truncated = False
    for layer in layers(env):
        if isinstance(layer, TimeLimit) and layer._elapsed_steps is not None:
            layer._elapsed_steps += 1
            truncated |= layer._elapsed_steps >= layer._max_episode_steps
    return truncated
