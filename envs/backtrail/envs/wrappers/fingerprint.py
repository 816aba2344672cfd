"""`Fingerprint`: where the agent is, in every info."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np

from backtrail.envs.core import ExplorableEnv

__all__ = ["Fingerprint", "fingerprint_of"]

ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")


def fingerprint_of(value: Any) -> str:
    """Return a digest of an observation: equal for equal content, in every process and on every machine.

    Arrays count with shape and dtype (byte order aside), mappings without their order, NumPy scalars as Python's.

    Args:
        value: None, a bool, number, string, bytes, NumPy array or scalar, or lists, tuples and mappings of these.

    Raises:
        TypeError: On anything else.

    Example:
        >>> fingerprint_of({"a": 1, "b": np.zeros(2)}) == fingerprint_of({"b": np.zeros(2), "a": 1})
        True
        >>> fingerprint_of(np.zeros(2)) == fingerprint_of(np.zeros(2, np.float32))
        False
    """
    state = hashlib.blake2b(digest_size=16)
    _feed(state.update, value)
    return f"observation-1:{state.hexdigest()}"


def _feed(update: Callable[[bytes], None], value: Any) -> None:
    if isinstance(value, np.generic):
        value = value.item()  # an environment may return 3 here and np.int64(3) there
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError("An array of Python objects has no stable fingerprint: pass fn= to Fingerprint")
        array = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        if array.dtype.kind in "fc":
            array = array + 0.0  # minus zero is zero
        update(f"a{array.dtype.str}{value.shape}".encode() + array.tobytes())
    elif isinstance(value, Mapping):
        update(f"m{len(value)}".encode())
        for key in sorted(value, key=str):
            _feed(update, key)
            _feed(update, value[key])
    elif isinstance(value, list | tuple):
        update(f"l{len(value)}".encode())
        for item in value:
            _feed(update, item)
    elif isinstance(value, str | bytes):
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        update(f"{'s' if isinstance(value, str) else 'b'}{len(data)}:".encode() + data)
    elif value is None or isinstance(value, bool | int | float):
        update(f"{type(value).__name__}{value + 0.0 if isinstance(value, float) else value!r};".encode())
    else:
        raise TypeError(f"{type(value).__name__} has no stable fingerprint: pass fn= to Fingerprint")


class Fingerprint(gym.Wrapper[ObsType, ActType, ObsType, ActType], gym.utils.RecordConstructorArgs):
    """Puts the identity of the state into ``info["fingerprint"]``, after every reset and step.

    Of an `ExplorableEnv` that is its own fingerprint; of any other environment a digest of the observation, unless ``fn``
    says better. An observation that hides part of the state (a partial view) gives one fingerprint to several states.

    Example:
        >>> import gymnasium as gym
        >>> from backtrail.envs.wrappers import Fingerprint
        >>> env = Fingerprint(gym.make("FrozenLake-v1", is_slippery=False))
        >>> _, start = env.reset(seed=0)
        >>> _, _, _, _, there = env.step(2)
        >>> _, _, _, _, back = env.step(0)
        >>> start["fingerprint"] == back["fingerprint"] != there["fingerprint"]
        True
    """

    def __init__(self, env: gym.Env[ObsType, ActType], fn: Callable[[gym.Env, Any], Any] | None = None):
        """Wrap an environment.

        Args:
            env: Any environment.
            fn: ``fn(env, observation)`` returns what identifies the state: a string, taken as it is, or anything
                `fingerprint_of` can digest. ``env`` is the wrapped environment.
        """
        gym.utils.RecordConstructorArgs.__init__(self, fn=fn)
        gym.Wrapper.__init__(self, env)
        self._fn = fn

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Reset the environment."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "fingerprint": self._identify(observation)}

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Step the environment."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, {**info, "fingerprint": self._identify(observation)}

    def restored(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Annotate a place that was gone back to (`backtrail.envs.restore` calls this)."""
        if self._fn is None and not isinstance(self.env.unwrapped, ExplorableEnv) and "fingerprint" in info:
            return observation, info  # of the observation at this place in the stack, which is not seen here
        return observation, {**info, "fingerprint": self._identify(observation)}

    def _identify(self, observation: Any) -> str:
        if self._fn is not None:
            identity = self._fn(self.env, observation)
            return identity if isinstance(identity, str) else fingerprint_of(identity)
        bottom = self.env.unwrapped
        return bottom.fingerprint() if isinstance(bottom, ExplorableEnv) else fingerprint_of(observation)
