"""`make_vec`: many environments at once, in one process or in several."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal

import gymnasium as gym
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

__all__ = ["make_vec"]


def make_vec(
    env: str | Callable[..., gym.Env],
    num_envs: int = 1,
    mode: Literal["sync", "async"] = "sync",
    *,
    wrappers: Sequence[Callable[[gym.Env], gym.Env]] = (),
    context: str | None = None,
    autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
    **kwargs: Any,
) -> VectorEnv:
    """Make a vector environment. Text comes through right: shared memory is never used.

    Args:
        env: An id, or a function that makes an environment.
        num_envs: How many.
        mode: "sync" steps them in this process, the fastest for light environments such as ALFWorld; "async" gives each a
            process of its own.
        wrappers: Put on each environment, the first innermost.
        context: How "async" starts processes ("fork", "spawn", "forkserver"); None for Python's default.
        autoreset_mode: As in Gymnasium.
        **kwargs: Passed to ``gymnasium.make``, or to the function.

    Raises:
        ValueError: On another mode or less than one environment.

    Example:
        >>> envs = make_vec("backtrail/ALFWorld-v0", num_envs=2, task_types=["look_at_obj_in_light"])
        >>> observations, infos = envs.reset(seed=0)
        >>> [text.startswith("-= Welcome") for text in observations["text"]]
        [True, True]
        >>> envs.close()
    """
    if num_envs < 1:
        raise ValueError(f"Expected at least 1 environment, got {num_envs}")
    if mode not in ("sync", "async"):
        raise ValueError(f'Expected mode "sync" or "async", got {mode!r}')
    make = functools.partial(_make, env, tuple(wrappers), kwargs)
    if mode == "sync":
        return SyncVectorEnv([make] * num_envs, autoreset_mode=autoreset_mode)
    return AsyncVectorEnv([make] * num_envs, shared_memory=False, context=context, autoreset_mode=autoreset_mode)


def _make(
    env: str | Callable[..., gym.Env], wrappers: tuple[Callable[[gym.Env], gym.Env], ...], kwargs: dict[str, Any]
) -> gym.Env:
    """Make one environment; a worker that imports this function has our ids registered."""
    made = gym.make(env, **kwargs) if isinstance(env, str) else env(**kwargs)
    for wrapper in wrappers:
        made = wrapper(made)
    return made
