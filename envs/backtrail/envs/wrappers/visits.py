"""`VisitCount`: how often the agent has been here."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, Literal, TypeVar

import gymnasium as gym

__all__ = ["VisitCount"]

ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")

_FORMAT = "backtrail-visits-1"


class VisitCount(gym.Wrapper[ObsType, ActType, ObsType, ActType], gym.utils.RecordConstructorArgs):
    """Puts the number of earlier visits to the present state into ``info["visits"]`` (0 at first sight).

    Every reset and every step is a visit to the state it ends in, a rollback too. With ``scope="episode"`` this is kappa of
    EAPO, the depth of a visit; with ``scope="lifetime"`` counts go on over episodes and can be saved, loaded and merged.

    Example:
        >>> import gymnasium as gym
        >>> from backtrail.envs.wrappers import Fingerprint, VisitCount
        >>> env = VisitCount(Fingerprint(gym.make("FrozenLake-v1", is_slippery=False)))
        >>> _, info = env.reset(seed=0)
        >>> [info["visits"], *[env.step(action)[-1]["visits"] for action in (2, 0, 2, 0)]]
        [0, 0, 1, 1, 2]
    """

    def __init__(self, env: gym.Env[ObsType, ActType], scope: Literal["episode", "lifetime"] = "episode"):
        """Wrap an environment whose info has a ``fingerprint``.

        Args:
            env: An environment wrapped in `Fingerprint`.
            scope: "episode" or "lifetime".

        Raises:
            ValueError: On another scope.
        """
        if scope not in ("episode", "lifetime"):
            raise ValueError(f'Expected scope "episode" or "lifetime", got {scope!r}')
        gym.utils.RecordConstructorArgs.__init__(self, scope=scope)
        gym.Wrapper.__init__(self, env)
        self._scope = scope
        self.counts: Counter[str] = Counter()
        """Visits so far by fingerprint."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Reset the environment; forgets the counts unless they are for life."""
        observation, info = self.env.reset(seed=seed, options=options)
        if self._scope == "episode":
            self.counts = Counter()
        return self.restored(observation, info)

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Step the environment and count."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        observation, info = self.restored(observation, info)
        return observation, reward, terminated, truncated, info

    def restored(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Count a visit (also called where a place was gone back to without a step).

        Raises:
            KeyError: If info has no fingerprint.
        """
        if "fingerprint" not in info:
            raise KeyError('VisitCount needs info["fingerprint"]: wrap the environment in Fingerprint first')
        earlier = self.counts[info["fingerprint"]]
        self.counts[info["fingerprint"]] = earlier + 1
        return observation, {**info, "visits": earlier}

    def save(self, path: str | Path) -> None:
        """Write the counts as JSON; the file is there whole or not at all."""
        path = Path(path)
        draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        draft.write_text(json.dumps({"format": _FORMAT, "counts": dict(sorted(self.counts.items()))}), encoding="utf-8")
        draft.replace(path)

    def load(self, path: str | Path) -> None:
        """Replace the counts by saved ones."""
        self.counts = _read(Path(path))

    def merge(self, *others: VisitCount | str | Path) -> None:
        """Add the counts of other wrappers or saved files, e.g. of parallel workers; all of them, or none on an error."""
        counts = [other.counts if isinstance(other, VisitCount) else _read(Path(other)) for other in others]
        self.counts = sum(counts, self.counts)


def _read(path: Path) -> Counter[str]:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved["format"] == _FORMAT and all(isinstance(n, int) and n >= 0 for n in saved["counts"].values()):
            return Counter(saved["counts"])
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # answered below, in one voice
    raise ValueError(f"{path} holds no visit counts: expected JSON with format {_FORMAT!r} and counts of at least 0")
