"""Collecting verified rollbacks: a walk, at each step of which the way back is tried and compared by fingerprint."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from backtrail.agents.base import Task, Turn
from backtrail.agents.searcher import Searcher
from backtrail.envs.core import ExplorableEnv, digest
from backtrail.training.workers import EnvRecipe

__all__ = ["KindCount", "RollbackPair", "RollbackReport", "RollbackStep", "Teacher", "Walk", "collect", "heldout"]

Walk = Literal["random", "searcher", "mixed"]

_NOISE = 0.5  # share of random actions among the searcher's: it alone hardly ever moves a thing back or closes a door
_PATIENCE = 50  # episodes in a row without a new pair before a small world counts as exhausted
_LONGEST = 160  # characters of a sentence: not all texts have full stops
_PLACE = re.compile(r"\b(?:at|facing the|from the|to the|using the|On the|open the|close the|The) ([a-z]+ \d+)")
_NAME = re.compile(r"[a-z]+ \d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackStep:
    """A step as the agent saw it: what has to be known to ask for its rollback.

    Attributes:
        goal: The instruction.
        before_text: What was seen before the step.
        after_text: What is seen now.
        action_taken: The action of the step.
        explore_before: The explore text that was carried when the step was decided; may be "".
        memory_before: The memory text likewise.
        admissible: What can be done now, for agents whose prompts list it.
    """

    goal: str
    before_text: str
    after_text: str
    action_taken: str
    explore_before: str = ""
    memory_before: str = ""
    admissible: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPair(RollbackStep):
    """A step and an action that was seen to take it back.

    Attributes:
        task_id: The task.
        action: The action that leads back.
        kind: What sort of action the step was, e.g. "open".
        teacher: Who proposed the way back: "rule", or a model's name.
        fingerprint_before: The state before the step, and after the way back.
        fingerprint_after: The state between them.
        seed: The seed of the episode's reset.
        trail: The actions that led from the reset to the state before the step.
    """

    task_id: str
    action: str
    kind: str
    teacher: str
    fingerprint_before: str
    fingerprint_after: str
    seed: int
    trail: tuple[str, ...]


class KindCount(NamedTuple):
    """Steps of one kind that changed the state: how many were tried to take back, went back, and are in the pairs."""

    tried: int
    verified: int
    kept: int


@dataclass(frozen=True, slots=True)
class RollbackReport:
    """What a collection met.

    Attributes:
        kinds: Counts by kind of action, in alphabetical order.
        episodes: Episodes played.
    """

    kinds: Mapping[str, KindCount]
    episodes: int

    @property
    def irreversible(self) -> tuple[str, ...]:
        """The kinds that were tried and never taken back."""
        return tuple(kind for kind, counted in self.kinds.items() if not counted.verified)


class Teacher(Protocol):
    """Proposes actions that may take a step back, the likeliest first."""

    name: str

    def __call__(
        self, goal: str, before_text: str, after_text: str, action_taken: str, admissible: Sequence[str]
    ) -> Sequence[str]:
        """Return the proposals."""
        ...


def collect(
    recipe: EnvRecipe,
    pairs: int,
    seed: int,
    *,
    teacher: Teacher | None = None,
    attempts: int = 3,
    balance: bool = True,
    walk: Walk = "random",
) -> tuple[list[RollbackPair], RollbackReport]:
    """Walk, and at every step that changes the state try how to get back; keep what did.

    Proposals are executed from the state after the step, and the state is put back in between; where the environment
    cannot do that, they are part of the walk, and a step that was taken back is taken again to get on. The first that
    restores the fingerprint is kept, unless the same states and action are there already, or it names something
    ("drawer 2") that a rollback prompt would not show. What a `Rollback` wrapper does on the word of the agent is no
    way back here: the wrapper is left out.

    Args:
        recipe: The environment, explorable, with text to see and text to do.
        pairs: Pairs wanted. Fewer come back if 50 episodes in a row give nothing new.
        seed: Of the first episode; the next ones count up. The same seed gives the same pairs.
        teacher: Proposes ways back; None for the environment's own `undo_actions`.
        attempts: Proposals tried at most, for one step.
        balance: Random steps first draw the kind of action and then one of that kind, twice the pairs wanted are found,
            and of these each kind gives no more than the smallest cap that is enough. Rare kinds stay below the cap.
        walk: "random", "searcher" (ALFWorld: `Searcher`, half of its steps random) or "mixed" (in turns).

    Returns:
        The pairs in the order found, held-out tasks included (`heldout` tells), and the counts.

    Raises:
        TypeError: If the environment is not explorable.
        ValueError: If no pair or no attempt is asked for, or the walk is unknown.
    """
    if pairs < 1 or attempts < 1 or walk not in ("random", "searcher", "mixed"):
        raise ValueError(
            f"Expected pairs and attempts of at least 1 and a walk of random, searcher or mixed, got {pairs=}, "
            f"{attempts=}, {walk=}"
        )
    walker = _Walker(recipe, walk, teacher, attempts, by_kind=balance)
    found: dict[tuple[str, str, str], RollbackPair] = {}
    wanted, dry, episodes = pairs * (1 + balance), 0, 0
    while len(found) < wanted and dry < _PATIENCE:
        walker.reset(seed + episodes)
        earlier = len(found)
        while not walker.done and len(found) < wanted:
            pair = walker.advance()
            if pair is not None and _told(pair):
                found.setdefault((pair.fingerprint_before, pair.fingerprint_after, pair.action), pair)
        dry = 0 if len(found) > earlier else dry + 1
        episodes += 1
    walker.env.close()
    kept = _capped(list(found.values()), pairs) if balance else list(found.values())[:pairs]
    share = Counter(pair.kind for pair in kept)
    kinds = {kind: KindCount(walker.tried[kind], walker.verified[kind], share[kind]) for kind in sorted(walker.tried)}
    return kept, RollbackReport(kinds, episodes)


class _Walker:
    """Walks through episodes, and tries to take each step back."""

    def __init__(self, recipe: EnvRecipe, walk: Walk, teacher: Teacher | None, attempts: int, *, by_kind: bool):
        self._recipe, self._walk, self._by_kind = replace(recipe, rollback=()), walk, by_kind
        self._teacher, self._attempts = teacher, attempts
        self.env = self._recipe.make()
        self._bottom = explorable(self.env.unwrapped)
        self.tried: Counter[str] = Counter()
        self.verified: Counter[str] = Counter()

    def reset(self, seed: int) -> None:
        observation, info = self.env.reset(seed=seed)
        self.env.action_space.seed(seed)
        self._task = Task(self._recipe.env_id, info["task_id"], observation["goal"], seed)
        self._rng = np.random.default_rng([seed, 2])
        searching = self._walk == "searcher" or (self._walk == "mixed" and seed % 2 == 1)
        self._searcher = Searcher(noise=_NOISE) if searching else None
        if self._searcher:
            self._searcher.reset(self._task)
        self._trail: list[str] = []
        self._carried = "", ""
        self._observation, self._info, self.done = observation, info, False

    def advance(self) -> RollbackPair | None:
        """Take a step; return how it was taken back, if it changed anything and was."""
        text, before, trail = self._observation["text"], self._bottom.fingerprint(), tuple(self._trail)
        explore, memory = self._carried
        turn = self._choose()
        kind = self._bottom.action_kind(turn.action)
        self._play(turn.action)
        self._carried = turn.explore, turn.memory
        after, possible = self._bottom.fingerprint(), tuple(self._info.get("admissible_actions") or ())
        if self.done or after == before:
            return None
        goal, seen = self._task.goal, self._observation["text"]
        self.tried[kind] += 1
        teacher = self._teacher
        proposals = teacher(goal, text, seen, turn.action, possible) if teacher else self._bottom.undo_actions()
        action = self._way_back(list(dict.fromkeys(proposals))[: self._attempts], before, turn.action)
        if action is None:
            return None
        self.verified[kind] += 1
        return RollbackPair(
            goal=goal,
            before_text=text,
            after_text=seen,
            action_taken=turn.action,
            explore_before=explore,
            memory_before=memory,
            admissible=possible,
            task_id=self._task.task_id,
            action=action,
            kind=kind,
            teacher=teacher.name if teacher else "rule",
            fingerprint_before=before,
            fingerprint_after=after,
            seed=self._task.seed,
            trail=trail,
        )

    def _choose(self) -> Turn:
        drawn = self._draw()
        if self._searcher:  # the one possible action is what it does when it does something random
            return self._searcher.act(self._observation, {**self._info, "admissible_actions": [drawn]})
        return Turn(drawn)

    def _draw(self) -> str:
        possible = self._info.get("admissible_actions")
        if not possible:
            return self.env.action_space.sample()
        if self._by_kind:
            kinds = {action: self._bottom.action_kind(action) for action in possible}
            names = sorted(set(kinds.values()))
            kind = names[int(self._rng.integers(len(names)))]
            possible = [action for action in possible if kinds[action] == kind]
        return possible[int(self._rng.integers(len(possible)))]

    def _play(self, action: str) -> bool:
        """Take a step of the walk; return whether it ended the episode, other than by a limit."""
        self._observation, _, terminated, truncated, self._info = self.env.step(action)
        self._trail.append(action)
        self.done = terminated or truncated
        return terminated

    def _way_back(self, proposals: Sequence[str], goal: str, taken: str) -> str | None:
        """Return the first proposal that leads from the state after the action ``taken`` to the state ``goal``."""
        bottom, here = self._bottom, self._bottom.fingerprint()
        place = bottom.snapshot() if proposals and bottom.snapshot_kind != "none" else None
        for action in proposals:
            # below the wrappers, so that trials count neither as visits nor against the limit of steps
            over = self._play(action) if place is None else bottom.step(action)[2]
            arrived = not over and bottom.fingerprint() == goal
            if place is not None:
                bottom.restore(place)
            if arrived:
                if place is None and not self.done:
                    self._play(taken)  # or the walk would never leave the place where it began
                return action
            if self.done or bottom.fingerprint() != here:
                break
        return None


def explorable(bottom: Any) -> ExplorableEnv:
    """Return the environment at the bottom, or raise a `TypeError` that says why it will not do."""
    if not isinstance(bottom, ExplorableEnv):
        raise TypeError(
            f"Expected an ExplorableEnv, got {type(bottom).__name__}: a rollback is verified by the state's fingerprint"
        )
    return bottom


def _told(pair: RollbackPair) -> bool:
    """Whether all that the way back names is shown: what was never seen cannot be learned, only guessed."""
    return set(_NAME.findall(pair.action)) <= set(_NAME.findall(f"{note(pair)}. {pair.after_text}"))


def _capped(found: Sequence[RollbackPair], pairs: int) -> list[RollbackPair]:
    """Return so many pairs, as evenly over the kinds as there are pairs of them; of a kind the first."""
    sizes, enough = Counter(pair.kind for pair in found), min(pairs, len(found))
    cap = next(cap for cap in count() if sum(min(size, cap) for size in sizes.values()) >= enough)
    surplus = sum(min(size, cap) for size in sizes.values()) - enough  # fewer than the kinds that reach the cap
    one_less = sorted(kind for kind, size in sizes.items() if size >= cap)[:surplus]
    taken: Counter[str] = Counter(one_less)
    kept: list[RollbackPair] = []
    for pair in found:
        taken[pair.kind] += 1
        if taken[pair.kind] <= cap:
            kept.append(pair)
    return kept


def heldout(pair: RollbackPair) -> bool:
    """Whether the pair's task is among the 5 % that are never trained on: by its name, the same in every run."""
    return int(digest(f"rollback {pair.task_id}"), 16) % 20 == 0


def note(step: RollbackStep) -> str:
    """Say where the agent was and what it did: the first place that the text names, or else its first sentence."""
    place = _PLACE.search(step.before_text)
    sentence = re.split(r"(?<=[.!?])\s|\n", step.before_text.strip(), maxsplit=1)[0].rstrip(".")[:_LONGEST]
    return f"was at {place[1]}, did {step.action_taken}" if place else f"was: {sentence}, did {step.action_taken}"
