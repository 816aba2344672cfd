"""The audit of an environment: are the scores sound, is the fingerprint the state, does going back arrive?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from backtrail.agents import Agent, Expert, Null, Task
from backtrail.envs import ExplorableEnv, Rollback, restore
from backtrail.envs.wrappers import fingerprint_of

__all__ = [
    "FingerprintAudit",
    "RollbackAudit",
    "ScoreAudit",
    "audit_fingerprints",
    "audit_rollback",
    "audit_scores",
    "merge_rollbacks",
]

_EXPERT_SHARE = 0.25

Tick = Callable[[int], None]
"""Called with the number of units of work done since the last call."""


def _untimed(env_id: str, kwargs: Mapping[str, Any]) -> gym.Env:
    return gym.make(env_id, max_episode_steps=1_000_000_000, **kwargs)


def _bottom(env: gym.Env) -> ExplorableEnv:
    bottom = env.unwrapped
    if not isinstance(bottom, ExplorableEnv):
        raise TypeError(f"Expected an explorable environment, got {type(bottom).__name__}")
    return bottom


def _draw(bottom: ExplorableEnv, rng: np.random.Generator, possible: Sequence[str]) -> str:
    """Draw a kind of action, then an action of that kind: even chances would see little but walking."""
    kinds = {action: bottom.action_kind(action) for action in possible}
    names = sorted(set(kinds.values()))
    name = names[int(rng.integers(len(names)))]
    actions = [action for action in possible if kinds[action] == name]
    return actions[int(rng.integers(len(actions)))]


# -- scores -----------------------------------------------------------------------------------------------


@dataclass
class ScoreAudit:
    """What the null agent and the oracle scored.

    Attributes:
        tasks: Tasks played by both.
        null_wins: Tasks the agent that does nothing won: each is a defect of the task.
        oracle_losses: Tasks the oracle did not win within the time limit.
        plan_lengths: How many steps the oracle needed -> in how many tasks.
    """

    tasks: int = 0
    null_wins: list[str] = field(default_factory=list)
    oracle_losses: list[str] = field(default_factory=list)
    plan_lengths: Counter[int] = field(default_factory=Counter)

    @property
    def sound(self) -> bool:
        """Whether the null agent won nothing and the oracle everything."""
        return not self.null_wins and not self.oracle_losses


def audit_scores(
    env_id: str, task_ids: Iterable[str], kwargs: Mapping[str, Any], tick: Tick = lambda n: None
) -> ScoreAudit:
    """Play every task with the null agent (which must score 0) and with the oracle (which must score 1)."""
    found = ScoreAudit()
    null, oracle = Null(), Expert()
    plain, knowing = gym.make(env_id, **kwargs), gym.make(env_id, **{**kwargs, **oracle.env_options})
    for task_id in task_ids:
        won, _ = _play(plain, null, task_id)
        if won:
            found.null_wins.append(task_id)
        won, steps = _play(knowing, oracle, task_id)
        if won:
            found.plan_lengths[steps] += 1
        else:
            found.oracle_losses.append(task_id)
        found.tasks += 1
        tick(1)
    return found


def _play(env: gym.Env, agent: Agent, task_id: str) -> tuple[bool, int]:
    observation, info = env.reset(seed=0, options={"task_id": task_id})
    agent.reset(Task(str(env.spec and env.spec.id), task_id, observation["goal"]))
    for steps in range(1, 1_000_000):
        observation, _, terminated, truncated, info = env.step(agent.act(observation, info).action)
        if terminated or truncated:
            return bool(info["success"]), steps
    raise AssertionError("unreachable: every registered environment has a time limit")


# -- fingerprints -----------------------------------------------------------------------------------------


@dataclass
class FingerprintAudit:
    """How a fingerprint compares with the true state and the true future.

    Attributes:
        level: Which fingerprint.
        steps: Steps walked.
        states: True states seen, by their facts.
        fingerprints: Fingerprints seen.
        collisions: Fingerprints that stood for more than one true state.
        splits: True states that had more than one fingerprint.
        futures: Pairs (fingerprint, action) that were followed at least twice.
        forks: Such pairs that led to different fingerprints, rewards, endings or admissible actions.
    """

    level: str
    steps: int = 0
    states: int = 0
    fingerprints: int = 0
    collisions: int = 0
    splits: int = 0
    futures: int = 0
    forks: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing collided, split or forked."""
        return not (self.collisions or self.splits or self.forks)

    def __add__(self, other: FingerprintAudit) -> FingerprintAudit:
        """Return the findings of two walks over different tasks together."""
        counts = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self) if f.name != "level"}
        return FingerprintAudit(self.level, **counts)


def audit_fingerprints(
    env_id: str,
    level: str,
    steps: int,
    kwargs: Mapping[str, Any],
    *,
    seed: int = 0,
    per_task: int = 100,
    probes: int = 3,
    tick: Tick = lambda n: None,
) -> FingerprintAudit:
    """Walk at random and hold the fingerprint against the facts that are true, and against what happens next.

    Wherever the walk is, a few actions are also tried out and taken back (the state is restored), so that the same action is
    seen to follow the same fingerprint many times.

    Args:
        env_id: The environment; it must write out its facts.
        level: Value of the environment's ``fingerprint`` option.
        steps: Steps of the walk.
        kwargs: Further options of the environment.
        seed: Seed of the walk.
        per_task: Steps in one task.
        probes: Actions tried out at each step.
        tick: Progress.
    """
    env = _untimed(env_id, {**kwargs, "fingerprint": level})
    bottom, rng = _bottom(env), np.random.default_rng(seed)
    facts_of: dict[str, set[str]] = defaultdict(set)
    prints_of: dict[str, set[str]] = defaultdict(set)
    futures: dict[tuple[str, str], set[str]] = defaultdict(set)
    followed: Counter[tuple[str, str]] = Counter()
    done = 0
    while done < steps:
        _, info = env.reset(seed=int(rng.integers(2**31)))
        for _ in range(min(per_task, steps - done)):
            if not info["admissible_actions"]:
                break  # nothing can be done after the episode's end
            here, world = bottom.fingerprint(), info["task_id"]
            truth = fingerprint_of([world, *sorted(bottom.facts())])
            facts_of[here].add(truth)
            prints_of[truth].add(here)
            possible, place = info["admissible_actions"], bottom.snapshot()
            for tried in [_draw(bottom, rng, possible) for _ in range(probes + 1)]:
                bottom.restore(place)
                _, reward, terminated, _, info = bottom.step(tried)
                future = [bottom.fingerprint(), reward, terminated, info["admissible_actions"]]
                futures[here, tried].add(fingerprint_of(future))
                followed[here, tried] += 1
            done += 1
            tick(1)
    return FingerprintAudit(
        level,
        steps,
        states=len(prints_of),
        fingerprints=len(facts_of),
        collisions=sum(len(truths) > 1 for truths in facts_of.values()),
        splits=sum(len(prints) > 1 for prints in prints_of.values()),
        futures=sum(count > 1 for count in followed.values()),
        forks=sum(len(outcomes) > 1 for outcomes in futures.values()),
    )


# -- rollback ---------------------------------------------------------------------------------------------


class RollbackAudit(NamedTuple):
    """How going back one step went, by what the step did: kind of action -> status -> count."""

    method: str
    verbs: dict[str, Counter[str]]

    @property
    def totals(self) -> Counter[str]:
        """Count by status."""
        return sum(self.verbs.values(), Counter())


def merge_rollbacks(parts: Sequence[RollbackAudit]) -> RollbackAudit:
    """Return the findings of several audits of one method together."""
    verbs = sorted({verb for part in parts for verb in part.verbs})
    return RollbackAudit(
        parts[0].method,
        {verb: sum((part.verbs.get(verb, Counter()) for part in parts), Counter[str]()) for verb in verbs},
    )


def audit_rollback(
    env_id: str,
    method: str,
    pairs: int,
    kwargs: Mapping[str, Any],
    *,
    seed: int = 0,
    per_task: int = 50,
    tick: Tick = lambda n: None,
) -> RollbackAudit:
    """Take random admissible steps, go back over each, and count the verified status by the kind of action.

    One environment walks, at random with a share of the expert's steps (else little would be heated or cleaned); a second is
    put where the first is, takes the step and goes back.
    """
    walker = _untimed(env_id, {**kwargs, **Expert.env_options})
    env = Rollback(_untimed(env_id, kwargs), methods=(method,))  # pyright: ignore[reportArgumentType]
    bottom, rng = _bottom(walker), np.random.default_rng(seed)
    verbs: dict[str, Counter[str]] = defaultdict(Counter)
    done = 0
    while done < pairs:
        _, info = walker.reset(seed=int(rng.integers(2**31)))
        env.reset(options={"task_id": info["task_id"]})
        for _ in range(min(per_task, pairs - done)):
            action = _draw(bottom, rng, info["admissible_actions"])
            if info["expert_plan"] and rng.random() < _EXPERT_SHARE:
                action = info["expert_plan"][0]
            restore(env, bottom.snapshot())
            kind = bottom.action_kind(action)
            env.step(action)
            _, _, _, _, back = env.rollback()
            verbs[kind][back["rollback"]["status"]] += 1
            _, _, terminated, _, info = walker.step(action)
            done += 1
            tick(1)
            if terminated:
                break
    return RollbackAudit(method, dict(sorted(verbs.items())))
