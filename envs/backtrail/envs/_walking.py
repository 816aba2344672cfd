"""Walks for the conformance kit: numbers that choose actions, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from backtrail.envs.core import ExplorableEnv, Snapshot, SnapshotError
from backtrail.envs.wrappers.fingerprint import fingerprint_of

Walk = Sequence[int]


def trace(env: gym.Env, seed: int, walk: Walk) -> Iterator[str]:
    """Yield a digest of all that reset and each step of a walk return, until the episode ends."""
    observation, info = env.reset(seed=seed)
    yield digest_of((observation, info))
    yield from map(digest_of, steps_of(env, info, walk))


def steps_of(env: gym.Env, info: dict[str, Any], walk: Walk) -> Iterator[tuple[Any, ...]]:
    for pick in walk:
        step = env.step(choose(env, info, pick))
        info = step[4]
        yield step
        if step[2] or step[3]:
            return


def go(env: gym.Env, seed: int, walk: Walk) -> dict[str, Any]:
    """Reset and walk, stopping before a step that ends the episode; return the last info."""
    _, info = env.reset(seed=seed)
    bottom = explorable(env)
    for pick in walk:
        place = bottom.snapshot()
        _, _, terminated, truncated, after = env.step(choose(env, info, pick))
        if terminated or truncated:
            return bottom.restore(place)[1]
        info = after
    return info


def choose(env: gym.Env, info: dict[str, Any], pick: int) -> Any:
    possible = info.get("admissible_actions")
    if possible:
        return possible[pick % len(possible)]
    env.action_space.seed(pick % 16)
    return env.action_space.sample()


def digest_of(result: tuple[Any, ...]) -> str:
    return fingerprint_of(list(result))


def explorable(env: gym.Env) -> ExplorableEnv:
    bottom = env.unwrapped
    assert isinstance(bottom, ExplorableEnv), f"expected an ExplorableEnv, got {type(bottom).__name__}"
    return bottom


def refused(attempt: Callable[[], Any]) -> None:
    try:
        attempt()
    except SnapshotError:
        return
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise AssertionError(
            f"a foreign or damaged snapshot has to raise SnapshotError, it raised {error!r}"
        ) from error
    raise AssertionError("a foreign or damaged snapshot was not refused with SnapshotError")


def check_mutations(bottom: ExplorableEnv, place: Snapshot, tries: int = 200) -> None:
    """Change single values of a payload: the snapshot is refused, or it is a place from which everything goes on."""
    rng = np.random.default_rng(0)
    here = bottom.fingerprint()
    for _ in range(tries):
        try:
            _, info = bottom.restore(Snapshot(place.env, place.world, mutated(rng, place.payload)))
        except SnapshotError:
            assert bottom.fingerprint() == here, "a refused snapshot changed the state"
            continue
        for step in steps_of(bottom, info, rng.integers(1 << 16, size=4).tolist()):
            assert step[0] in bottom.observation_space, "a changed snapshot leads out of the observation space"
        bottom.undo_actions()
        bottom.restore(place)


def mutated(rng: np.random.Generator, payload: Any) -> Any:
    """Return a payload with one value in it changed."""
    others = (None, True, -1, 1 << 70, 0.5, "", "x" * 9, (), (1, 2))
    if isinstance(payload, tuple) and payload and rng.random() < 0.9:
        at = int(rng.integers(len(payload)))
        return (*payload[:at], mutated(rng, payload[at]), *payload[at + 1 :])
    if isinstance(payload, int) and rng.random() < 0.3:
        return payload + int(rng.integers(-2, 3))
    return others[int(rng.integers(len(others)))]
