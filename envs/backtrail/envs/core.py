"""What an explorable environment can do: say where it is, remember the place, and go back to it.

An environment becomes explorable by subclassing `ExplorableEnv`. The laws it then keeps are written out, and can be run,
in `backtrail.envs.testing`.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import gymnasium as gym

__all__ = ["ExplorableEnv", "Snapshot", "SnapshotError", "annotate", "digest", "restore", "sanitize_action"]

ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")

SnapshotKind = Literal["native", "copy", "replay", "none"]

_MAGIC = "backtrail-snapshot"
_FORMAT = 1


class SnapshotError(gym.error.Error):
    """A snapshot is damaged, of another format, or belongs to another environment or game."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A place in an environment that can be gone back to.

    Attributes:
        env: The environment family and its snapshot version, e.g. ``"alfworld/1"``.
        world: Identity of the game, shop or device the state belongs to; another world refuses it.
        payload: The state, made of None, bool, int, float, str and (nested) tuples of these.
    """

    env: str
    world: str
    payload: Any

    def to_bytes(self) -> bytes:
        """Return the snapshot as UTF-8 JSON with a checksum.

        Raises:
            SnapshotError: If the payload holds anything but plain values and tuples.
        """
        try:
            body = json.dumps([self.env, self.world, _plain(self.payload)], separators=(",", ":"))
        except (ValueError, RecursionError) as error:
            raise SnapshotError(f"The payload cannot be written as JSON: {error}") from None
        return json.dumps([_MAGIC, _FORMAT, digest(body), body], separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        """Read what `to_bytes` wrote. No code is executed, whatever the bytes are.

        Raises:
            SnapshotError: If the bytes are not an intact snapshot of this format.
        """
        try:
            magic, version, checksum, body = json.loads(data)
            if magic != _MAGIC or version != _FORMAT:
                raise SnapshotError(f"Expected {_MAGIC} format {_FORMAT}, got {magic!r} format {version!r}")
            if digest(body) != checksum:
                raise SnapshotError("The snapshot is damaged: its checksum does not fit. Take it again.")
            env, world, payload = json.loads(body)
            if not isinstance(env, str) or not isinstance(world, str):
                raise SnapshotError(f"Expected the names of environment and world, got {env!r} and {world!r}")
            return cls(env, world, _tuples(payload))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise SnapshotError(f"Expected the bytes of a snapshot, got {len(data)} that are not: {error}") from None

    def check(self, env: str, world: str) -> None:
        """Raise `SnapshotError` unless the snapshot belongs to this environment family and world."""
        if self.env != env:
            raise SnapshotError(f"Expected a snapshot of {env!r}, got one of {self.env!r}")
        if self.world != world:
            raise SnapshotError(
                f"The snapshot belongs to another game: expected {world!r}, got {self.world!r}. "
                "Reset the environment to that game's task_id first."
            )


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    raise SnapshotError(f"A snapshot payload holds plain values and tuples only, got {type(value).__name__}")


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        raise SnapshotError("A snapshot payload holds plain values and tuples only, got a mapping")
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def digest(text: str) -> str:
    """Return the 128-bit BLAKE2b digest of ``text`` in hexadecimal: the same in every process and on every machine."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class ExplorableEnv(gym.Env[ObsType, ActType], Generic[ObsType, ActType]):
    """A Gymnasium environment that knows its state, can keep it, and can return to it.

    Subclasses set `snapshot_kind` and implement `fingerprint`, `snapshot` and `restore`; `undo_actions` is optional.
    """

    snapshot_kind: SnapshotKind = "none"
    """How `restore` works: ``native`` (the state is put back), ``copy``, ``replay`` (actions are repeated) or ``none``."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Return the identity of the state: equal exactly where the future is equal, stable across processes."""

    def snapshot(self) -> Snapshot:
        """Return the present place, to be given to `restore`."""
        raise NotImplementedError(f"{type(self).__name__} declares snapshot_kind={self.snapshot_kind!r}")

    def restore(self, snapshot: Snapshot) -> tuple[ObsType, dict[str, Any]]:
        """Put the world back as it was and return the observation and a fresh info of that place.

        Raises:
            SnapshotError: If the snapshot belongs to another environment or game; nothing has changed then.
        """
        raise NotImplementedError(f"{type(self).__name__} declares snapshot_kind={self.snapshot_kind!r}")

    def undo_actions(self) -> list[ActType]:
        """Return actions that may take the last step back, the likeliest first; empty if none can."""
        return []

    def action_kind(self, action: ActType) -> str:
        """Return which kind of action one would be here, for tables and even draws: its first word by default."""
        word = re.search(r"\w+", str(action))
        return word[0].lower() if word else "other"

    def facts(self) -> frozenset[str]:
        """Return all that is true of the state and can change, written out: what an audit holds the fingerprint against."""
        raise NotImplementedError(f"{type(self).__name__} does not write out its state")


def restore(env: gym.Env, snapshot: Snapshot) -> tuple[Any, dict[str, Any]]:
    """Restore the explorable environment at the bottom of ``env`` and pass the result up through its wrappers.

    Gymnasium's observation wrappers transform the observation and wrappers with a ``restored(observation, info)`` method
    (all of Backtrail's) annotate it; all others are passed by, so that clocks and statistics stay as they are.

    Raises:
        SnapshotError: If the snapshot belongs to another environment or game; nothing has changed then.
        TypeError: If there is no explorable environment, or a wrapper makes observations of earlier ones (a stack of frames):
            `backtrail.envs.Rollback` keeps the state of such wrappers, this function cannot.
    """
    if isinstance(env, ExplorableEnv):
        return env.restore(snapshot)
    if not isinstance(env, gym.Wrapper):
        raise TypeError(f"Expected an ExplorableEnv below the wrappers, got {type(env).__name__}")
    if not isinstance(env, gym.ObservationWrapper) and env.observation_space is not env.env.observation_space:
        raise TypeError(
            f"Expected wrappers whose observations can be made anew, got {type(env).__name__}: use Rollback"
        )
    observation, info = restore(env.env, snapshot)
    if isinstance(env, gym.ObservationWrapper):
        return env.observation(observation), info
    restored = getattr(env, "restored", None)
    return restored(observation, info) if restored else (observation, info)


def annotate(env: gym.Env, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
    """Let the wrappers of ``env`` that annotate info see a place that was reached without a step, innermost first."""
    if isinstance(env, gym.Wrapper):
        info = annotate(env.env, observation, info)
        restored = getattr(env, "restored", None)
        if restored:
            _, info = restored(observation, info)
    return info


def sanitize_action(action: Any, max_length: int) -> tuple[str, str]:
    """Split any action of a text environment into ``(command, error)``; the command is "" where there is an error.

    Raises:
        gymnasium.error.InvalidAction: If the action is not a string.
    """
    if not isinstance(action, str):
        raise gym.error.InvalidAction(
            f"Expected the action as a string, got {type(action).__name__}. Nothing was done; pass one command as text."
        )
    if len(action) > max_length:
        return "", f"expected at most {max_length:,} characters, got {len(action):,}: shorten the action"
    return str(action), ""
