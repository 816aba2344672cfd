"""`Rollback`: going back, verified."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import gymnasium as gym
from gymnasium import spaces

from backtrail.envs.core import ExplorableEnv, annotate, restore
from backtrail.envs.wrappers import _layers
from backtrail.envs.wrappers._trail import Journey, Ledger, Passage, Place, Seen, copied, fresh, number
from backtrail.envs.wrappers.fingerprint import fingerprint_of
from backtrail.envs.wrappers.record import Record

__all__ = ["Rollback"]

ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")

Method = Literal["restore", "act", "replay"]
Status = Literal["exact", "approximate", "failed", "unsupported"]


class Rollback(gym.Wrapper[ObsType, ActType, ObsType, ActType], gym.utils.RecordConstructorArgs):
    """Lets the agent go back, by an action, and the trainer, by `rollback`. Every return is verified by fingerprint.

    The methods are tried in turn until one arrives:

    * ``restore`` puts the world back: `ExplorableEnv.restore`, or a deep copy of any other environment, taken before every
      step. The copy counts as arrived only if taking the undone step once more, on trial, shows the same observation and
      reward. (Where the state lies outside Python the trial is a real step; the status is then *approximate*, and the
      observation the remembered one.)
    * ``act`` takes the environment's own `undo_actions`, each a real step. The default for training EAPO: its agent goes back
      by acting, restoring is a feature of the harness.
    * ``replay`` resets with the same seed and repeats the actions.

    ``info["rollback"]`` tells what came of it: ``{"status", "method", "steps"}``. The status is *exact* if the fingerprint
    is the one of the place to go back to, *approximate* if the world moved somewhere else, *failed* if it stayed where it
    was, *unsupported* if no method applied; method is None for these two.

    A rollback costs a step. The world goes back; time limits, visit counts and statistics do not. What was gained on the
    way that is undone is owed: it is taken off the gains that follow, so that nothing is paid twice. Penalties stay paid.

    One `Rollback` in a stack is enough, and `Record` belongs outside it. A call of `rollback` passes by the wrappers outside.

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
        if wrong := [type(layer).__name__ for layer in _layers.layers(env) if isinstance(layer, Rollback | Record)]:
            raise ValueError(f"Expected no {wrong[0]} inside Rollback: put Record outside, and one Rollback is enough")
        bottom = env.unwrapped
        self._explorable = bottom if isinstance(bottom, ExplorableEnv) else None
        self._kept = _layers.remembering(env) if self._explorable else _layers.layers(env)
        self._copies = True
        self._seen: Seen | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Reset the environment; there is nothing to go back to then."""
        generator = getattr(self.env.unwrapped.np_random, "bit_generator", None)  # some bring a generator of their own
        state = copy.deepcopy(generator.state) if seed is None and generator is not None else None
        repeatable = seed is not None or state is not None
        observation, info = self.env.reset(seed=seed, options=options)
        self._start: tuple[Any, Any, Any] | None = (seed, copy.deepcopy(options), state) if repeatable else None
        self._trail: list[Passage] = []
        self._path: list[Any] = []
        self._ledger = Ledger()
        self._see(observation, info, terminated=False)
        return observation, self._offer(self._now.info)

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """Step the environment, or go back one step if the action says so."""
        if self._means_back(action):
            return self.rollback()
        paid, truncated = self._advance(action)
        del self._trail[: -self._depth]
        return self._shown(), paid, self._now.terminated, truncated, self._offer(self._now.info)

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
        origin, journey = self._now, Journey()
        status: Status = "unsupported"
        method: Method | None = None
        if steps <= len(self._trail):
            status, method = self._travel(origin, journey, steps)
        if not journey.told:  # nothing below saw this step, and it is a visit all the same
            self._see(origin.observation, annotate(self.env, origin.observation, _bare(origin.info)), origin.terminated)
        if not journey.acts:
            journey.truncated = _layers.spend_step(self.env)
        del self._trail[: -self._depth]
        info = {**self._now.info, "rollback": {"status": status, "method": method, "steps": steps}}
        return self._shown(), journey.reward, self._now.terminated, journey.truncated, self._offer(info)

    def restored(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Begin a new path where somebody else has put the world (`backtrail.envs.restore`); replay cannot reach it."""
        self._trail, self._path, self._start, self._ledger = [], [], None, Ledger()
        self._see(observation, info, terminated=False)
        return observation, info

    # -- the three ways back ------------------------------------------------------------------------------

    def _travel(self, origin: Seen, journey: Journey, steps: int) -> tuple[Status, Method | None]:
        """Try the methods in turn; return what came of it and the method that did it."""
        index, prefix = len(self._trail) - steps, self._path[: len(self._path) - steps]
        target = self._trail[index]
        used: Method | None = None
        arrived = moved = False
        for method in self._methods:
            if method == "act":
                applied = not moved and self._act(index, journey)
            else:
                applied = self._restore(target, journey) if method == "restore" else self._replay(prefix, journey)
                moved |= applied
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
        if arrived or moved:
            self._cut(index)
            self._path = prefix
        elif self._now.fingerprint == origin.fingerprint:
            return "failed", None
        return "exact" if arrived else "approximate", used

    def _cut(self, index: int) -> None:
        """Forget the passages from ``index`` on; what they gained is owed."""
        self._ledger.owed += sum(passage.gain for passage in self._trail[index:])
        del self._trail[index:]

    def _restore(self, target: Passage, journey: Journey) -> bool:
        place = target.place
        if place is None:
            return False
        observation = copy.deepcopy(target.before.observation)
        if place.snapshot is not None and not self._kept:
            observation, info = restore(self.env, place.snapshot)
        elif place.snapshot is not None and self._explorable:
            _, info = self._explorable.restore(place.snapshot)
            info = annotate(self.env, observation, info)
        else:
            info = annotate(self.env, observation, _bare(target.before.info))
        _layers.put_back(self._kept, place.marks)
        self._see(observation, info, terminated=False)
        journey.told = True
        return True

    def _retaken(self, target: Passage) -> bool:
        """Take the undone step once more, on trial: a copy that shares something outside Python gives itself away."""
        stack = _layers.layers(self.env)
        here = _layers.keep(stack, counting=True)
        if here is None:
            return False
        observation, reward, terminated, _, _ = self.env.step(copy.deepcopy(target.action))
        same = self._outcome(observation, reward, terminated) == target.outcome
        _layers.put_back(stack, here)
        return same

    def _act(self, index: int, journey: Journey) -> bool:
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
            self._cut(at)
        return applied

    def _replay(self, prefix: list[Any], journey: Journey) -> bool:
        if self._start is None:
            return False
        seed, options, state = self._start
        counting = _layers.clocks(self.env)
        counted = _layers.keep(counting, counting=True)
        if state is not None:
            self.env.unwrapped.np_random.bit_generator.state = copy.deepcopy(state)
        observation, info = self.env.reset(seed=seed, options=copy.deepcopy(options))
        terminated = False
        for action in prefix:
            if terminated:
                break
            observation, _, terminated, _, info = self.env.step(copy.deepcopy(action))
        if counted is not None:
            _layers.put_back(counting, counted)
        self._see(observation, annotate(self.env, observation, _bare(info)), terminated)
        journey.told = True
        return True

    # -- book-keeping -------------------------------------------------------------------------------------

    def _advance(self, action: Any) -> tuple[Any, bool]:
        """Take a step and remember the way back; return what is paid for it and whether time is up."""
        before, place = self._now, self._keep()
        observation, reward, terminated, truncated, info = self.env.step(action)
        outcome = "" if self._explorable or place is None else self._outcome(observation, reward, terminated)
        self._see(observation, info, terminated)
        undo = self._explorable.undo_actions() if self._explorable and "act" in self._methods else []
        paid, gain = self._ledger.pay(reward)
        self._trail.append(Passage(before, copy.deepcopy(action), place, undo, outcome, gain))
        self._path.append(self._trail[-1].action)
        return paid, truncated

    def _keep(self) -> Place | None:
        if "restore" not in self._methods or not self._copies:
            return None
        if self._explorable and self._explorable.snapshot_kind == "none":
            return None
        marks = _layers.keep(self._kept)
        self._copies = marks is not None
        if marks is None:
            return None
        return Place(self._explorable.snapshot() if self._explorable else None, marks)

    def _see(self, observation: Any, info: dict[str, Any], terminated: bool) -> None:
        """Remember what is shown, in copies: the caller may change what it gets, and some environments what they gave."""
        identity = info.get("fingerprint")
        if identity is None:
            identity = self._explorable.fingerprint() if self._explorable else fingerprint_of(observation)
        self._seen = Seen(copied(observation), fresh(info), identity, terminated)

    def _shown(self) -> Any:
        return copied(self._now.observation)

    def _outcome(self, observation: Any, reward: Any, terminated: bool) -> str:
        """Return a digest of a step's result, of its reward alone where the observation has none."""
        seen = [number(reward), bool(terminated)]
        try:
            return fingerprint_of([observation, *seen])
        except TypeError:
            return fingerprint_of(seen)

    @property
    def _now(self) -> Seen:
        if self._seen is None:
            raise gym.error.ResetNeeded("Expected reset() before step() or rollback()")
        return self._seen

    def _means_back(self, action: Any) -> bool:
        if isinstance(action, str):
            return self._word is not None and action.strip() == self._word
        return self._number is not None and action == self._number

    def _offer(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return info for the caller, with the rollback action among the admissible ones while there is a way back."""
        shown = fresh(info)
        word = self._word if self._number is None else self._number
        possible = shown.get("admissible_actions")
        if word is not None and isinstance(possible, list) and self._trail:
            possible.append(word)
        return shown


def _bare(info: dict[str, Any]) -> dict[str, Any]:
    """Return info without what was said about the visit and the way there."""
    return {key: value for key, value in info.items() if key not in ("visits", "rollback")}
