"""A conformance kit: the laws of an explorable environment, to be run on your own.

Inherit `ExplorableTests` in a pytest module, or call `check_explorable`, or single laws with walks of your own making (they
suit property testing). A walk is a list of non-negative integers; each picks one of the admissible actions, or one of a
few sampled actions where the environment does not list any.

Example:
    >>> check_explorable(lambda: Corridor(5))
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import cloudpickle  # a dependency of gymnasium
import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from backtrail.envs._walking import Walk, check_mutations, choose, digest_of, explorable, go, refused, steps_of, trace
from backtrail.envs.core import Snapshot
from backtrail.envs.corridor import Corridor
from backtrail.envs.wrappers.fingerprint import fingerprint_of
from backtrail.envs.wrappers.rollback import Rollback

__all__ = ["Corridor", "ExplorableTests", "check_explorable", "trace"]

Make = Callable[[], gym.Env]

NOISE = ("", " ", "\x00", "é中\n", "{'action': 1}", "$(touch /tmp/x); `id`", "a" * 1_000_000, "rollback", "\ud800")
"""Actions that no text environment lists, some of them hostile."""


def check_explorable(make: Make, seeds: Sequence[int] = (0, 1, 2), length: int = 20) -> None:
    """Run every law on ``make()`` with a random walk for each seed; raise AssertionError at the first that is broken.

    Args:
        make: A function (or class) that returns a new environment.
        seeds: Seeds of the environment and of the walks.
        length: Length of the walks.
    """
    if not callable(make):
        raise TypeError(f"Expected a function or class that makes an environment, got {type(make).__name__}")
    check_gymnasium(make)
    check_foreign_snapshot(make)
    laws = (
        check_info, check_fingerprint, check_deterministic, check_restore, check_bytes, check_fresh_info, check_undo, check_noise,
    )  # fmt: skip
    for seed in seeds:
        walk = [int(n) for n in np.random.default_rng(seed).integers(1 << 16, size=length)]
        for law in laws:
            try:
                law(make, seed, walk)
            except Exception as error:  # ok: raised again, with a note
                error.add_note(f"The law {law.__name__} was broken with seed={seed}, walk={walk}")
                raise


class ExplorableTests:
    """Inherit this in a pytest module and define ``make`` to test an explorable environment of your own.

    Example::

        class TestMine(ExplorableTests):
            def make(self):
                return MyEnv()
    """

    seeds: ClassVar[Sequence[int]] = (0, 1, 2)
    length: ClassVar[int] = 20

    def make(self) -> gym.Env:
        """Return a new environment."""
        raise NotImplementedError("Define make() to return the environment to test")

    def test_gymnasium(self) -> None:
        """Gymnasium's checker finds nothing."""
        check_gymnasium(self.make)

    def test_laws(self) -> None:
        """Every law holds on random walks."""
        check_explorable(self.make, self.seeds, self.length)

    def test_processes(self) -> None:
        """Another process comes to the same fingerprints."""
        check_processes(self.make, self.seeds)


# -- laws -------------------------------------------------------------------------------------------------


def check_gymnasium(make: Make) -> None:
    """`gymnasium.utils.env_checker.check_env` passes without a single warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make()
        check_env(env.unwrapped, skip_render_check=env.spec is None)  # without a spec it cannot make others
        env.close()


def check_info(make: Make, seed: int, walk: Walk) -> None:
    """Info tells what results need: task_id, data, admissible_actions (a list or None), action_error and success."""
    env = make()
    for info in (env.reset(seed=seed)[1], go(env, seed, walk)):
        missing = {"task_id", "data", "admissible_actions", "action_error", "success"} - set(info)
        assert not missing, f"info has no {', '.join(sorted(missing))}"
        assert isinstance(info["admissible_actions"], list | None), "admissible_actions is neither a list nor None"


def check_fingerprint(make: Make, seed: int, walk: Walk) -> None:
    """Where fingerprints are equal, the same actions are admissible and each leads to the same fingerprint and reward.

    Walks of many lengths are taken from one start, so that states are met again by other ways.
    """
    env = make()
    bottom = explorable(env)
    first: dict[str, tuple[Any, dict[Any, tuple[Any, ...]]]] = {}
    for length in range(len(walk)):
        info = go(env, seed, [*walk[length:], *walk[:length]])
        here = bottom.fingerprint()
        assert isinstance(here, str), f"a fingerprint is a string, got {type(here).__name__}"
        assert bottom.fingerprint() == here, "the fingerprint changes from one call to the next"
        possible = info.get("admissible_actions")
        known, futures = first.setdefault(here, (possible, {}))
        assert known == possible, f"the fingerprint {here} stands for places with other admissible actions"
        for pick in walk[:5]:
            place, action = bottom.snapshot(), choose(env, info, pick)
            _, reward, terminated, _, _ = bottom.step(action)
            future = (bottom.fingerprint(), float(reward), terminated)
            bottom.restore(place)
            was = futures.setdefault(repr(action), future)
            assert was == future, (
                f"from the fingerprint {here} the action {action!r} once led to {was}, now to {future}"
            )


def check_processes(make: Make, seeds: Sequence[int] = (0,)) -> None:
    """Two other processes with other hash seeds come to the same fingerprints; ``make`` is sent to them by cloudpickle."""
    program = (
        "import sys, cloudpickle; make, seeds = cloudpickle.load(sys.stdin.buffer)\n"
        "for seed in seeds: env = make(); env.reset(seed=seed); print(env.unwrapped.fingerprint())"
    )
    said = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", program]
        load = cloudpickle.dumps((make, list(seeds)))
        said.append(subprocess.run(command, input=load, env=environment, capture_output=True, check=True).stdout)
    assert said[0] == said[1], "the fingerprint depends on the process (on hash() or the order of a set, perhaps)"


def check_deterministic(make: Make, seed: int, walk: Walk) -> None:
    """Two environments with one seed and one action list give the same bytes, also when their steps alternate."""
    together = list(zip(trace(make(), seed, walk), trace(make(), seed, walk), strict=True))
    for step, (one, other) in enumerate(together):
        assert one == other, f"step {step} differs between two environments with seed {seed}"
    alone = list(trace(make(), seed, walk))
    assert alone == [one for one, _ in together], "another environment in the process changes the outcome"


def check_restore(make: Make, seed: int, walk: Walk) -> None:
    """``restore(snapshot())`` is the identity: on fingerprint, observation, info, and on the next ten steps."""
    env = make()
    bottom = explorable(env)
    info = go(env, seed, walk[:-10])
    place, here, admissible = bottom.snapshot(), bottom.fingerprint(), info.get("admissible_actions")
    future = [digest_of(step) for step in steps_of(bottom, info, walk[-10:])]
    for _ in range(2):
        returned = bottom.restore(place)
        assert isinstance(returned, tuple) and len(returned) == 2, "restore returns (observation, info)"
        observation, info = returned
        assert observation in env.observation_space, "restore returned an observation that is not in the space"
        assert bottom.fingerprint() == here, "restore arrived in another state"
        assert info.get("admissible_actions") == admissible, "restore offers other actions"
        assert fingerprint_of(bottom.snapshot().payload) == fingerprint_of(place.payload), "a snapshot of it differs"
        again = [digest_of(step) for step in steps_of(bottom, info, walk[-10:])]
        assert again == future, "the steps after restore differ from the steps before"


def check_bytes(make: Make, seed: int, walk: Walk) -> None:
    """A snapshot survives as plain bytes, and another environment of the same task restores it."""
    env, other = make(), make()
    info = go(env, seed, walk)
    bottom, far = explorable(env), explorable(other)
    data = bottom.snapshot().to_bytes()
    assert Snapshot.from_bytes(data) == bottom.snapshot(), "a snapshot changes on the way through bytes"
    go(other, seed, [])
    _, there = far.restore(Snapshot.from_bytes(data))
    assert far.fingerprint() == bottom.fingerprint(), "the restored snapshot is another state"
    after, before = (list(map(digest_of, steps_of(b, i, walk[:10]))) for b, i in ((far, there), (bottom, info)))
    assert after == before, "the steps after a restore from bytes differ"


def check_foreign_snapshot(make: Make) -> None:
    """A snapshot of another environment or world, or a damaged one, is refused and changes nothing."""
    env = make()
    bottom = explorable(env)
    go(env, 0, [3, 1])
    here, place = bottom.fingerprint(), bottom.snapshot()
    wrong = (
        Snapshot("another-environment/1", place.world, place.payload),
        Snapshot(place.env, "another world", place.payload),
        Snapshot(place.env, place.world, ("not", "a", "state")),
    )
    for foreign in wrong:
        refused(lambda foreign=foreign: bottom.restore(foreign))
        assert bottom.fingerprint() == here, "a refused snapshot changed the state"
    check_mutations(bottom, place)
    data = place.to_bytes()
    for damaged in (b"", data[:-9], data.replace(b"1", b"2"), pickle.dumps(place.payload)):
        refused(lambda damaged=damaged: Snapshot.from_bytes(damaged))


def check_fresh_info(make: Make, seed: int, walk: Walk) -> None:
    """Info is a fresh dict at every step: what a caller does to one shows in no other."""
    env = make()
    _, info = env.reset(seed=seed)
    plain = list(trace(make(), seed, walk))
    seen = [digest_of((env.reset(seed=seed)[0], info))]
    for pick in walk:
        action = choose(env, info, pick)
        for value in info.values():
            if isinstance(value, list):
                value.clear()
        info.clear()
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(digest_of((observation, reward, terminated, truncated, info)))
        if terminated or truncated:
            break
    assert seen == plain, "changing a returned info changes what comes later"


def check_undo(make: Make, seed: int, walk: Walk) -> None:
    """`undo_actions` are actions of the space, and `Rollback` by acting claims *exact* only where the state is the old one."""
    env = Rollback(make(), action=None, methods=("act",))
    bottom = explorable(env)
    _, info = env.reset(seed=seed)
    for pick in walk:
        before = bottom.fingerprint()
        action = choose(env.env, info, pick)
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return
        after = bottom.fingerprint()
        allowed = info.get("admissible_actions")
        for undo in bottom.undo_actions():
            assert undo in env.action_space, f"undo_actions offers {undo!r}, which is not in the action space"
            assert allowed is None or undo in allowed, f"undo_actions offers {undo!r}, which is not admissible"
        _, _, terminated, truncated, info = env.rollback()
        status, now = info["rollback"]["status"], bottom.fingerprint()
        assert (status == "exact") == (now == before), f"Rollback says {status!r}, the state says otherwise"
        assert status not in ("failed", "unsupported") or now == after, (
            f"Rollback says {status!r}, but the state changed"
        )
        if terminated or truncated:
            return


def check_noise(make: Make, seed: int, walk: Walk) -> None:
    """Where actions are text, any string is survivable: it changes nothing unless it is admissible, and info says why."""
    env = make()
    if not isinstance(env.action_space, spaces.Text):
        return
    info = go(env, seed, walk)
    for noise in NOISE:
        before = explorable(env).fingerprint()
        observation, _, terminated, _, info = env.step(noise)
        assert observation in env.observation_space
        assert info["action_error"], f"no action_error for {noise[:20]!r}"
        now = explorable(env).fingerprint()
        assert now == before, f"the action {noise[:20]!r} is not admissible and changed the fingerprint"
        if terminated:
            return
