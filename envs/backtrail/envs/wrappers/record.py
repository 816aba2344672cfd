"""`Record`: every episode on disk, step by step, and `replay`: the proof that the record is right."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from PIL import Image

from backtrail.envs.wrappers.fingerprint import fingerprint_of

__all__ = ["Record", "Replay", "read_episode", "replay"]

ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")

_FORMAT = "backtrail-episode-1"

_HEAD = {"env", "seed", "options", "generator", "observation", "digest", "info"}
_STEP = {"action", "reward", "terminated", "truncated", "observation", "digest", "info"}

_COMPOSED = (spaces.Dict, spaces.Tuple)
"""Spaces whose JSON form of a batch is not a list over the batch."""


class Record(gym.Wrapper[ObsType, ActType, ObsType, ActType], gym.utils.RecordConstructorArgs):
    """Writes each episode as ``episode-NNNNNN.jsonl``, images of the observation as PNG beside it. Put it outermost.

    The first line describes the episode (seed, options, environment, versions, first observation and info), every further
    line is a step. Lines are flushed as they are written, so a killed process loses at most the line it was writing.

    Example:
        >>> import tempfile, gymnasium as gym
        >>> from backtrail.envs.wrappers import Fingerprint, Record, replay
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     env = Record(Fingerprint(gym.make("FrozenLake-v1")), folder)
        ...     _ = env.reset(seed=0)
        ...     for action in (2, 2, 1):
        ...         _ = env.step(action)
        ...     env.close()
        ...     replay(env.path, env).exact
        True
    """

    def __init__(self, env: gym.Env[ObsType, ActType], folder: str | Path):
        """Wrap an environment.

        Args:
            env: Any environment; with `Fingerprint` inside, the record can be checked state by state.
            folder: Where the episodes go; made if need be. Numbers go on after those that are there.
        """
        gym.utils.RecordConstructorArgs.__init__(self, folder=str(folder))
        gym.Wrapper.__init__(self, env)
        self._folder = Path(folder)
        self._file: Any = None
        self._note: dict[str, Any] = {}
        self.path: Path | None = None
        """The file of the running or last episode."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Reset the environment and begin a file."""
        source = getattr(self.env.unwrapped.np_random, "bit_generator", None)  # some bring a generator of their own
        generator = _plain(source.state) if seed is None and source is not None else None
        observation, info = self.env.reset(seed=seed, options=options)
        self._open()
        head = {"format": _FORMAT, "backtrail": version("backtrail"), "gymnasium": gym.__version__}
        start = {"env": str(self.env), "seed": seed, "options": _plain(options), "generator": generator}
        self._write({**head, **start, **self._shown(observation, info)})
        return observation, info

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Step the environment and write a line."""
        taken = _encode(self.action_space, action)
        observation, reward, terminated, truncated, info = self.env.step(action)
        result = {"reward": float(reward), "terminated": bool(terminated), "truncated": bool(truncated)}
        self._write({"action": taken, **result, **self._shown(observation, info)})
        return observation, reward, terminated, truncated, info

    def rollback(self, steps: int = 1) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Go back by the `Rollback` inside, as a trainer does, and write a line; wrappers between the two do not see it."""
        observation, reward, terminated, truncated, info = self.env.get_wrapper_attr("rollback")(steps)
        result = {"reward": float(reward), "terminated": bool(terminated), "truncated": bool(truncated)}
        self._write({"action": None, "rollback": steps, **result, **self._shown(observation, info)})
        return observation, reward, terminated, truncated, info

    def annotate(self, **note: Any) -> None:
        """Add plain values to the line of the next step, under ``note`` (an agent's words, a model's usage)."""
        self._note |= note

    def close(self) -> None:
        """Close the file and the environment."""
        if self._file is not None:
            self._file.close()
            self._file = None
        super().close()

    def _open(self) -> None:
        if self._file is not None:
            self._file.close()
        self._folder.mkdir(parents=True, exist_ok=True)
        found = (re.fullmatch(r"episode-(\d{6})\.jsonl", path.name) for path in self._folder.iterdir())
        number = max((int(match[1]) + 1 for match in found if match), default=0)
        while True:
            self.path = self._folder / f"episode-{number:06d}.jsonl"
            try:
                self._file, self._line = self.path.open("x", encoding="utf-8"), 0
                return
            except FileExistsError:  # another process records into the same folder
                number += 1

    def _write(self, row: dict[str, Any]) -> None:
        if self._file is None:
            raise gym.error.ResetNeeded("Expected reset() before step(): there is no episode to record")
        if self._note:
            row["note"], self._note = _plain(self._note), {}
        self._file.write(json.dumps(row, separators=(",", ":")) + "\n")
        self._file.flush()
        self._line += 1

    def _shown(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        shown = self._save_images(self.observation_space, observation, "")
        return {"observation": shown, "digest": fingerprint_of(observation), "info": _plain(info)}

    def _save_images(self, space: spaces.Space, observation: Any, name: str) -> Any:
        """Return the observation with images replaced by the names of the PNG files they were written to."""
        if isinstance(space, spaces.Dict):
            parts = {key: f"{name}-{re.sub('[^A-Za-z0-9_]', '_', str(key))}" for key in space}
            return {key: self._save_images(part, observation[key], parts[key]) for key, part in space.items()}
        if isinstance(observation, np.ndarray) and observation.dtype == np.uint8 and observation.shape[2:] == (3,):
            assert self.path is not None
            picture = self.path.with_name(f"{self.path.stem}-{self._line:06d}{name}.png")
            Image.fromarray(observation).save(picture)
            return {"png": picture.name}
        return _encode(space, observation)


@dataclass
class Replay:
    """What a replay found.

    Attributes:
        steps: How many steps were taken again.
        differences: One line for each thing that came out differently.
    """

    steps: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def exact(self) -> bool:
        """Whether everything came out the same."""
        return not self.differences


def replay(path: str | Path, env: gym.Env) -> Replay:
    """Play a recorded episode again and compare observations, rewards, endings and fingerprints.

    Args:
        path: A file that `Record` wrote.
        env: An environment made as the recorded one was (its `Record` may be on it or not).

    Raises:
        ValueError: If the file holds no recorded episode, or one of another environment or stack of wrappers.
    """
    while isinstance(env, Record):
        env = env.env
    head, *steps = read_episode(path)
    if head["env"] != str(env):
        raise ValueError(f"The episode was recorded with {head['env']}; replay it with the same, not with {env}")
    if head["generator"] is not None:
        env.unwrapped.np_random.bit_generator.state = copy.deepcopy(head["generator"])
    found = Replay()
    observation, info = env.reset(seed=head["seed"], options=head["options"])
    _compare(found, 0, head, observation, info)
    for step in steps:
        if "rollback" in step:
            result = env.get_wrapper_attr("rollback")(step["rollback"])
        else:
            result = env.step(_decode(env.action_space, step["action"]))
        observation, reward, terminated, truncated, info = result
        found.steps += 1
        result = {"reward": float(reward), "terminated": bool(terminated), "truncated": bool(truncated)}
        found.differences += [
            f"step {found.steps}: {key} was {step[key]}, is {value}"
            for key, value in result.items()
            if step[key] != value
        ]
        _compare(found, found.steps, step, observation, info)
    return found


def read_episode(path: str | Path) -> list[dict[str, Any]]:
    """Read the lines of a recorded episode; a last line that was cut off by a crash is left out.

    Raises:
        ValueError: If the file holds no recorded episode, or is damaged before its last line.
    """
    rows = list(_rows(Path(path)))
    if not rows or rows[0].get("format") != _FORMAT or not all(set(row) >= _HEAD for row in rows[:1]):
        raise ValueError(f"Expected an episode recorded in format {_FORMAT!r} in {path}, found something else")
    if broken := [number for number, row in enumerate(rows[1:], 2) if not set(row) >= _STEP]:
        raise ValueError(f"{path}, line {broken[0]}, is no step of an episode: expected {', '.join(sorted(_STEP))}")
    return rows


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}, line {number}, is damaged: {error}") from None
        if not isinstance(row, dict) or not isinstance(row.get("info"), dict):
            fault = f"is no line of an episode recorded in format {_FORMAT!r}"
            raise ValueError(f"{path}, line {number}, {fault}")  # noqa: TRY004  # the file is at fault, not the caller
        yield row


def _compare(found: Replay, step: int, row: dict[str, Any], observation: Any, info: dict[str, Any]) -> None:
    if row["digest"] != fingerprint_of(observation):
        found.differences.append(f"step {step}: the observation differs")
    was, now = row["info"].get("fingerprint"), info.get("fingerprint")
    if was != now:
        found.differences.append(f"step {step}: the fingerprint was {was}, is {now}")


def _encode(space: spaces.Space, value: Any) -> Any:
    """Return a member of a space as JSON, or what there was if it is no member (a wrong action is a fact to record)."""
    if isinstance(space, spaces.Box):
        array = np.asarray(value)  # a list is no member, yet environments take it; another precision is another action
        return array.tolist() if array.dtype == space.dtype else {"dtype": str(array.dtype), "values": array.tolist()}
    if not space.contains(value):
        return _plain(value)
    batch = space.to_jsonable([value])
    return _plain(batch if isinstance(space, _COMPOSED) else batch[0])


def _decode(space: spaces.Space, value: Any) -> Any:
    if isinstance(space, spaces.Box) and isinstance(value, dict):
        return np.array(value["values"], value["dtype"])
    return space.from_jsonable(value if isinstance(space, _COMPOSED) else [value])[0]


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; what it cannot hold as its repr."""
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in (sorted(value, key=repr) if isinstance(value, set | frozenset) else value)]
    return repr(value)
