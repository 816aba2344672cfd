"""`Rollback`: going back, verified."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import gymnasium as gym
from gymnasium import spaces

from backtrail.envs.core import ExplorableEnv, Snapshot, annotate, restore
from backtrail.envs.wrappers import _layers
from backtrail.envs.wrappers.fingerprint import fingerprint_of

__all__ = ["Rollback"]

ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")

Method = Literal["restore", "act", "replay"]
Status = Literal["exact", "approximate", "failed", "unsupported"]


class _Seen(NamedTuple):
    """What the agent was last shown, and where."""

    observation: Any
    info: dict[str, Any]
    fingerprint: str
    terminated: bool


@dataclass(slots=True)
class _Passage:
    """One step of the surviving path: where it set out from and what is needed to go back there."""

    before: _Seen
    action: Any
    place: Snapshot | _layers.Marks | None
    undo: list[Any]
    outcome: str
    gain: float


@dataclass(slots=True)
class _Journey:
    """What a rollback has cost and earned so far, and whether the wrappers below have been told of the new place."""

    reward: Any = 0.0
    truncated: bool = False
    acts: int = 0
    told: bool = False


class Rollback(gym.Wrapper[ObsType, ActType, ObsType, ActType], gym.utils.RecordConstructorArgs):
    """Lets the agent go back, by an action, and the trainer, by `rollback`. Every return is verified by fingerprint.

    The methods are tried in turn until one arrives:

    * ``restore`` puts the world back: `ExplorableEnv.restore`, or a deep copy of any other environment. The copy counts as
      arrived only if taking the undone step once more, on trial, shows the same observation and reward.
    * ``act`` takes the environment's own `undo_actions`, each a real step. The default for training EAPO: its agent goes back
      by acting, restoring is a feature of the harness.
    * ``replay`` resets with the same seed and repeats the actions.

    ``info["rollback"]`` tells what came of it: ``{"status", "method", "steps"}``. The status is *exact* if the fingerprint
    is the one of the place to go back to, *approximate* if the world moved somewhere else, *failed* if it stayed where it
    was, *unsupported* if no method applied; method is None for these two.

    A rollback costs a step. The world goes back; time limits, visit counts and statistics do not. What was gained on the
    way that is undone is not paid again: positive rewards are paid only where they lift the sum along the surviving path
    above all it has been before. Penalties stay paid.

    Example:
        >>> import gymnasium as gym
        >>> from backtrail.envs.wrappers import Rollback
        >>> env = Rollback(gym.make("CartPole-v1"))
        >>> before, _ = env.reset(seed=0)
        >>> _ = env.step(1)
        >>> after, reward, _, _, info = env.step(2)  # one action more than CartPole has: go back
        >>> bool((after == before).all()), reward, info["rollback"]
        (True, 0.0, {'status': 'exact', 'method': 'restore', 'steps': 1})
    """

    def __init__(
        self,
        env: gym.Env[ObsType, ActType],
        action: str | None = "rollback",
        methods: Sequence[Method] = ("restore", "act", "replay"),
        depth: int = 64,
    ):
        """Wrap an environment.

        Args:
            env: Any environment. Put `Fingerprint` inside if its observation does not show the whole state.
            action: What the agent says to go back where actions are text. A Discrete action space gets one action more,
                its last. None: only the trainer can go back.
            methods: Ways to go back, in the order to try them.
            depth: How many steps can be gone back over.

        Raises:
            ValueError: On an unknown method, none, or a depth below 1.
        """
        if not methods or set(methods) - {"restore", "act", "replay"}:
            raise ValueError(f'Expected methods among "restore", "act" and "replay", got {methods!r}')
        if depth < 1:
            raise ValueError(f"Expected a depth of at least 1, got {depth}")
        gym.utils.RecordConstructorArgs.__init__(self, action=action, methods=list(methods), depth=depth)
        gym.Wrapper.__init__(self, env)
        self._methods, self._depth, self._word = tuple(methods), depth, action
        self._number: int | None = None
        if action is not None and isinstance(env.action_space, spaces.Discrete):
            space = env.action_space
            self._number = int(space.start + space.n)
            self.action_space = spaces.Discrete(int(space.n) + 1, start=int(space.start))  # pyright: ignore[reportAttributeAccessIssue]
        bottom = env.unwrapped
        self._explorable = bottom if isinstance(bottom, ExplorableEnv) else None
        self._copies = self._explorable is None
        self._seen: _Seen | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Reset the environment; there is nothing to go back to then."""
        bottom = self.env.unwrapped
        generator = (
            copy.deepcopy(bottom.np_random.bit_generator.state) if seed is None and "replay" in self._methods else None
        )
        observation, info = self.env.reset(seed=seed, options=options)
        self._start: tuple[Any, Any, Any] | None = (seed, copy.deepcopy(options), generator)
        self._trail: list[_Passage] = []
        self._path: list[Any] = []
        self._gain = self._paid = 0.0
        self._see(observation, info, terminated=False)
        return observation, info

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Step the environment, or go back one step if the action says so."""
        if self._means_back(action):
            return self.rollback()
        paid, truncated = self._advance(action)
        del self._trail[: -self._depth]
        return self._now.observation, paid, self._now.terminated, truncated, self._offer(self._now.info)

    def rollback(self, steps: int = 1) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Go back over the last ``steps`` steps of the surviving path.

        Returns:
            A step: the observation there, what ``act`` earned or cost (else 0), whether the episode is over, and info with
            ``rollback``.

        Raises:
            gymnasium.error.ResetNeeded: Before the first reset.
            ValueError: If ``steps`` is below 1.
        """
        if steps < 1:
            raise ValueError(f"Expected to go back at least 1 step, got {steps}")
        origin, journey = self._now, _Journey()
        status: Status = "unsupported"
        method: Method | None = None
        if steps <= len(self._trail):
            status, method = self._travel(origin, journey, steps)
        if not journey.told:  # nothing below saw this step, and it is a visit all the same
            self._seen = origin._replace(info=annotate(self.env, origin.observation, _bare(origin.info)))
        if not journey.acts:
            journey.truncated = _layers.spend_step(self.env)
        del self._trail[: -self._depth]
        info = {**self._now.info, "rollback": {"status": status, "method": method, "steps": steps}}
        return self._now.observation, journey.reward, self._now.terminated, journey.truncated, self._offer(info)

    def restored(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Begin a new path where somebody else has put the world (`backtrail.envs.restore`); replay cannot reach it."""
        self._trail, self._path, self._start = [], [], None
        self._see(observation, info, terminated=False)
        return observation, info

    # -- the three ways back ------------------------------------------------------------------------------

    def _travel(self, origin: _Seen, journey: _Journey, steps: int) -> tuple[Status, Method | None]:
        """Try the methods in turn; return what came of it and the method that did it."""
        index, prefix = len(self._trail) - steps, self._path[: len(self._path) - steps]
        target = self._trail[index]
        used: Method | None = None
        arrived = False
        for method in self._methods:
            if method == "act":
                applied = self._now.fingerprint == origin.fingerprint and self._act(index, journey)
            else:
                applied = self._restore(target, journey) if method == "restore" else self._replay(prefix, journey)
            if not applied:
                continue
            used = method
            arrived = self._now.fingerprint == target.before.fingerprint
            if arrived and method == "restore" and not self._explorable:
                arrived = self._retaken(target)
            if arrived:
                break
        if used is None:
            return "unsupported", None
        if not arrived and self._now.fingerprint == origin.fingerprint:
            return "failed", None
        if used != "act":
            del self._trail[index:]
            self._path, self._gain = prefix, target.gain
        return "exact" if arrived else "approximate", used

    def _restore(self, target: _Passage, journey: _Journey) -> bool:
        if isinstance(target.place, Snapshot):
            observation, info = restore(self.env, target.place)
        elif target.place is not None:
            _layers.put_back(self.env, target.place, clocks=False)
            observation = copy.deepcopy(target.before.observation)
            info = annotate(self.env, observation, _bare(target.before.info))
        else:
            return False
        self._see(observation, info, terminated=False)
        journey.told = True
        return True

    def _retaken(self, target: _Passage) -> bool:
        """Take the undone step once more, on trial: a copy that shares something outside Python gives itself away."""
        here = _layers.keep(self.env)
        if here is None:
            return False
        observation, reward, terminated, _, _ = self.env.step(copy.deepcopy(target.action))
        _layers.put_back(self.env, here, clocks=True)
        return _outcome(observation, reward, terminated) == target.outcome

    def _act(self, index: int, journey: _Journey) -> bool:
        """Undo passage after passage by acting; return whether anything was there to be done."""
        applied = False
        while len(self._trail) > index:
            at, passage = len(self._trail) - 1, self._trail[-1]
            goal = passage.before.fingerprint
            for action in passage.undo if self._now.fingerprint != goal else ():
                if self._now.terminated or journey.truncated:
                    break
                start = self._now.fingerprint
                paid, journey.truncated = self._advance(action)
                journey.reward += paid
                journey.acts += 1
                journey.told = applied = True
                if self._now.fingerprint != start:
                    break
            if self._now.fingerprint != goal:
                break
            applied = True
            self._path = self._path[: len(self._path) - (len(self._trail) - at)]
            self._gain = passage.gain
            del self._trail[at:]
        return applied

    def _replay(self, prefix: list[Any], journey: _Journey) -> bool:
        if self._start is None:
            return False
        seed, options, generator = self._start
        clocks = _layers.keep_clocks(self.env)
        if generator is not None:
            self.env.unwrapped.np_random.bit_generator.state = generator
        observation, info = self.env.reset(seed=seed, options=copy.deepcopy(options))
        terminated = False
        for action in prefix:
            if terminated:
                break
            observation, _, terminated, _, info = self.env.step(copy.deepcopy(action))
        _layers.put_back_clocks(clocks)
        self._see(observation, annotate(self.env, observation, _bare(info)), terminated)
        journey.told = True
        return True

    # -- book-keeping -------------------------------------------------------------------------------------

    def _advance(self, action: Any) -> tuple[Any, bool]:
        """Take a step and remember the way back; return what is paid for it and whether time is up."""
        before, place = self._now, self._keep()
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._see(observation, info, terminated)
        undo = self._explorable.undo_actions() if self._explorable and "act" in self._methods else []
        outcome = "" if self._explorable or place is None else _outcome(observation, reward, terminated)
        self._trail.append(_Passage(before, copy.deepcopy(action), place, undo, outcome, self._gain))
        self._path.append(self._trail[-1].action)
        return self._pay(reward), truncated

    def _keep(self) -> Snapshot | _layers.Marks | None:
        if "restore" not in self._methods:
            return None
        if self._explorable:
            return self._explorable.snapshot() if self._explorable.snapshot_kind != "none" else None
        place = _layers.keep(self.env) if self._copies else None
        self._copies = place is not None
        return place

    def _pay(self, reward: Any) -> Any:
        """Return what is paid of a reward: gains only above the most that any path of the episode has gained."""
        if reward <= 0:
            return reward
        self._gain += reward
        paid = min(reward, max(0.0, self._gain - self._paid))
        self._paid = max(self._paid, self._gain)
        return paid

    def _see(self, observation: Any, info: dict[str, Any], terminated: bool) -> None:
        identity = info.get("fingerprint")
        if identity is None:
            identity = self._explorable.fingerprint() if self._explorable else fingerprint_of(observation)
        if not self._explorable:
            observation = copy.deepcopy(observation)  # some environments write into the array they returned
        self._seen = _Seen(observation, info, identity, terminated)

    @property
    def _now(self) -> _Seen:
        if self._seen is None:
            raise gym.error.ResetNeeded("Expected reset() before step() or rollback()")
        return self._seen

    def _means_back(self, action: Any) -> bool:
        if isinstance(action, str):
            return self._word is not None and action.strip() == self._word
        return self._number is not None and action == self._number

    def _offer(self, info: dict[str, Any]) -> dict[str, Any]:
        """Add the rollback action to the admissible ones while there is a step to go back over."""
        possible = info.get("admissible_actions")
        if self._word is None or possible is None or not self._trail:
            return info
        return {**info, "admissible_actions": [*possible, self._word]}


def _outcome(observation: Any, reward: Any, terminated: bool) -> str:
    return fingerprint_of([observation, float(reward), bool(terminated)])


def _bare(info: dict[str, Any]) -> dict[str, Any]:
    """Return info without what was said about the visit and the way there."""
    return {key: value for key, value in info.items() if key not in ("visits", "rollback")}
