"""Environment workers: many environments that step in parallel, where a fault costs one trajectory and not the run.

`Serial` steps them in this process (tests, tiny runs). `backtrail.training.workers_process` has the kinds with time-outs:
`Processes` for what computes, such as text games, `Threads` for what waits, such as emulators. What they return for the
same seeds and actions is the same.
"""

from __future__ import annotations

import contextlib
import copy
import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, cast

import gymnasium as gym

import backtrail.envs  # noqa: F401  # registers the ids
from backtrail.envs import Fingerprint, Rollback, VisitCount
from backtrail.envs.wrappers.rollback import Method

__all__ = ["Call", "Cell", "EnvRecipe", "Observed", "Serial", "Workers", "lost"]

_NEUTRAL: Mapping[str, Any] = {
    "task_id": "",
    "data": "unknown",
    "fingerprint": "",
    "visits": 0,
    "admissible_actions": None,
    "action_error": "",
    "success": False,
}
"""The keys of info that are always there, with what they are if the environment does not say."""

_OPTIONAL = ("task_type", "rollback", "expert_plan")
"""The keys that are there if the environment says them; all others are left behind, they would only travel for nothing."""


@dataclass(frozen=True)
class EnvRecipe:
    """How to make an environment, as plain values that travel to other processes and machines.

    Attributes:
        env_id: Gymnasium's id; ``module:Name-v0`` imports the module that registers it.
        options: Arguments of ``gymnasium.make``, as JSON takes them.
        max_steps: Steps of an episode; 0 for the environment's own limit.
        rollback: Methods of the wrapper `Rollback`, ("act",) to offer the agent the rollback action; () leaves the wrapper out.

    Raises:
        ValueError: If max_steps is negative, or the options are not plain values.

    Example:
        >>> env = EnvRecipe("backtrail/ALFWorld-v0", max_steps=30, rollback=("act",)).make()
        >>> sorted(env.reset(seed=0)[1])[-2:]
        ['task_type', 'visits']
    """

    env_id: str
    options: Mapping[str, Any] = field(default_factory=dict)
    max_steps: int = 0
    rollback: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_steps < 0:
            raise ValueError(f"Expected max_steps of 0 (the environment's own limit) or more, got {self.max_steps}")
        try:
            json.dumps(dict(self.options))
        except (TypeError, ValueError) as error:
            raise ValueError(f"Expected options that JSON can hold, got {self.options!r}: {error}") from error

    def make(self) -> gym.Env:
        """Return the environment with `Fingerprint`, `VisitCount` and, if asked for, `Rollback` around it."""
        limit = {"max_episode_steps": self.max_steps} if self.max_steps else {}
        env: gym.Env = VisitCount(Fingerprint(gym.make(self.env_id, **limit, **self.options)))
        return Rollback(env, methods=cast("tuple[Method, ...]", self.rollback)) if self.rollback else env


@dataclass(frozen=True, slots=True)
class Observed:
    """What came of a reset or a step.

    Attributes:
        observation: With ``goal``, ``text`` and perhaps ``screenshot``; empty texts after a fault.
        info: Always with task_id, data, fingerprint, visits, admissible_actions, action_error and success; with task_type,
            rollback and expert_plan where the environment gives them; nothing else.
        reward: The environment's reward; 0 for a reset and after a fault.
        terminated: Whether the episode ended.
        truncated: Whether it was cut off: by a limit, or by a fault.
        fault: "", or what went wrong with the environment. Its slot has no episode until the next reset.
        seconds: Time in the environment; after a time-out or a death the time waited.
    """

    observation: Mapping[str, Any]
    info: Mapping[str, Any]
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    fault: str = ""
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated


def lost(fault: str, seconds: float = 0.0) -> Observed:
    """Return what is observed of an environment that failed: nothing, with the reason."""
    return Observed({"goal": "", "text": ""}, dict(_NEUTRAL), truncated=True, fault=fault, seconds=seconds)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a `Cell`: the name of the method, and its arguments, of which the first is the slot."""

    method: Literal["reset", "step"]
    arguments: tuple[Any, ...]


class Cell:
    """Some environments that share a process, each in a slot; made when a slot is first reset.

    Arguments and results are plain values, so a cell serves behind a pipe as well as in an actor:
    ``ray.remote(Cell).options(max_restarts=-1).remote(recipe)``, one future for each ``reset`` or ``step``, and `lost` for
    a future that fails or is late. An exception of an environment becomes a fault; its slot is made anew at its next reset.
    """

    def __init__(self, recipe: EnvRecipe):
        """Make a cell without environments."""
        self._recipe = recipe
        self._envs: dict[int, gym.Env] = {}

    def reset(self, slot: int, seed: int, task_id: str | None = None) -> Observed:
        """Begin an episode in a slot, of the given task or of one that the seed picks."""
        options = None if task_id is None else {"task_id": task_id}

        def play() -> tuple[Any, float, bool, bool, dict[str, Any]]:
            if slot not in self._envs:
                self._envs[slot] = self._recipe.make()
            observation, info = self._envs[slot].reset(seed=seed, options=options)
            return observation, 0.0, False, False, info

        return self._observe(slot, play)

    def step(self, slot: int, action: str) -> Observed:
        """Take a step in a slot."""
        return self._observe(slot, lambda: self._envs[slot].step(action))

    def do(self, call: Call) -> Observed:
        """Carry out a call."""
        return self.reset(*call.arguments) if call.method == "reset" else self.step(*call.arguments)

    def close(self) -> None:
        """Close all environments."""
        for slot in list(self._envs):
            self._drop(slot)

    def _observe(self, slot: int, play: Callable[[], tuple[Any, Any, Any, Any, dict[str, Any]]]) -> Observed:
        started = time.perf_counter()
        try:
            observation, reward, terminated, truncated, info = play()
            seconds = time.perf_counter() - started
            return Observed(
                _plain(observation), _kept(info), _finite(reward), bool(terminated), bool(truncated), "", seconds
            )
        except Exception as fault:  # noqa: BLE001  # ok: environments are foreign code, and a fault costs a trajectory
            self._drop(slot)
            return lost(f"{type(fault).__name__}: {fault}", time.perf_counter() - started)

    def _drop(self, slot: int) -> None:
        env = self._envs.pop(slot, None)
        if env is not None:
            with contextlib.suppress(Exception):  # ok: what is broken may fail to close, too
                env.close()


def _plain(observation: Any) -> dict[str, Any]:
    if not isinstance(observation, Mapping):
        raise TypeError(
            f"Expected an observation with goal and text, got {type(observation).__name__}: put a wrapper around the "
            "environment that writes its observation as text"
        )
    # Some environments write the next observation into the last; a string cannot change.
    return {key: value if isinstance(value, str) else copy.deepcopy(value) for key, value in observation.items()}


def _kept(info: Mapping[str, Any]) -> dict[str, Any]:
    return {**_NEUTRAL, **{key: info[key] for key in (*_NEUTRAL, *_OPTIONAL) if key in info}}


def _finite(reward: Any) -> float:
    if not math.isfinite(reward):
        raise ValueError(f"Expected a finite reward, got {reward}")
    return float(reward)


class Workers(ABC):
    """Environments in numbered slots, any subset of which advances in one call, all at the same time.

    A time-out, a death or an exception in an environment is reported in `Observed.fault` of its slot, with truncated=True.
    The slot is as good as new at its next reset. Mistakes of the caller raise.
    """

    def __init__(self, recipe: EnvRecipe, slots: int):
        """Prepare ``slots`` environments; they are made when they are first reset.

        Raises:
            ValueError: If there is no slot.
        """
        if slots < 1:
            raise ValueError(f"Expected at least 1 slot, got {slots}")
        self.recipe, self.slots = recipe, slots
        self._open: set[int] = set()  # slots in an episode
        self._lost: dict[int, str] = {}  # slots whose episode had a fault, and which

    def reset(self, requests: Iterable[tuple[int, int, str | None]]) -> dict[int, Observed]:
        """Begin episodes.

        Args:
            requests: Slot, seed and task of each; None lets the seed pick the task.

        Returns:
            What was observed by slot, in the order of the requests.

        Raises:
            ValueError: If there is no such slot, or one occurs twice.
        """
        calls: dict[int, Call] = {}
        for request in requests:
            if request[0] in calls:
                raise ValueError(f"Expected each slot once, got slot {request[0]} twice")
            calls[request[0]] = Call("reset", tuple(request))
        self._check(calls)
        self._open -= calls.keys()
        for slot in calls:
            self._lost.pop(slot, None)
        return self._seen(calls, calls)

    def step(self, actions: Mapping[int, str]) -> dict[int, Observed]:
        """Take a step in each of some slots. A slot whose episode had a fault says so again.

        Args:
            actions: The action by slot.

        Returns:
            What was observed by slot, in the order of the actions.

        Raises:
            ValueError: If there is no such slot.
            gymnasium.error.ResetNeeded: If a slot has no episode, or its episode is over.
        """
        self._check(actions)
        if idle := [slot for slot in actions if slot not in self._open and slot not in self._lost]:
            raise gym.error.ResetNeeded(f"Expected slots in an episode, got {idle}: reset them first")
        calls = {slot: Call("step", (slot, action)) for slot, action in actions.items() if slot not in self._lost}
        return self._seen(actions, calls)

    @abstractmethod
    def _run(self, calls: Mapping[int, Call]) -> dict[int, Observed]:
        """Carry out all calls at the same time; slots that are lost without a call of theirs go into ``_lost``."""

    @abstractmethod
    def close(self) -> None:
        """Free everything; safe to call twice. A later reset starts anew."""
        self._open.clear()
        self._lost.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, slots: Iterable[int]) -> None:
        if wrong := [slot for slot in slots if not 0 <= slot < self.slots]:
            raise ValueError(f"Expected slots from 0 to {self.slots - 1}, got {wrong}")

    def _seen(self, slots: Iterable[int], calls: Mapping[int, Call]) -> dict[int, Observed]:
        """Carry out calls and keep the books."""
        earlier = {slot: lost(self._lost[slot]) for slot in slots if slot not in calls}
        seen = self._run(calls) if calls else {}
        for slot, observed in seen.items():
            if observed.fault:
                self._lost[slot] = observed.fault
            if observed.done or slot in self._lost:
                self._open.discard(slot)
            else:
                self._open.add(slot)
        self._open -= self._lost.keys()
        return {slot: earlier[slot] if slot in earlier else seen[slot] for slot in slots}


class Serial(Workers):
    """One environment after another, in this process: no time-outs, and a crash is the end.

    Example:
        >>> with Serial(EnvRecipe("backtrail/ALFWorld-v0"), slots=2) as workers:
        ...     begun = workers.reset([(0, 7, None), (1, 7, None)])
        ...     seen = workers.step({1: "look"})
        >>> begun[0].info["fingerprint"] == begun[1].info["fingerprint"], seen[1].info["visits"]
        (True, 1)
    """

    def __init__(self, recipe: EnvRecipe, slots: int):
        """Prepare ``slots`` environments."""
        super().__init__(recipe, slots)
        self._cell = Cell(recipe)

    def _run(self, calls: Mapping[int, Call]) -> dict[int, Observed]:
        return {slot: self._cell.do(call) for slot, call in calls.items()}

    def close(self) -> None:
        """Close the environments."""
        super().close()
        self._cell.close()
