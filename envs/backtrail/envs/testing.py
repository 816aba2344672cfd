"""A conformance kit: the laws of an explorable environment, to be run on your own.

Inherit `ExplorableTests` in a pytest module, or call `check_explorable`, or single laws with walks of your own making (they
suit property testing). A walk is a list of non-negative integers; each picks one of the admissible actions, or one of a
few sampled actions where the environment does not list any.

Example:
    >>> check_explorable(lambda: Corridor(5))
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from backtrail.envs.core import ExplorableEnv, Snapshot, SnapshotError, digest, sanitize_action
from backtrail.envs.spaces import FreeText
from backtrail.envs.wrappers.fingerprint import fingerprint_of
from backtrail.envs.wrappers.rollback import Rollback

__all__ = ["Corridor", "ExplorableTests", "check_explorable", "trace"]

Make = Callable[[], gym.Env]
Walk = Sequence[int]

NOISE = ("", " ", "\x00", "é中\n", "{'action': 1}", "$(touch /tmp/x); `id`", "a" * 1_000_000, "rollback", "\ud800")
"""Actions that no text environment lists, some of them hostile."""


def check_explorable(make: Make, seeds: Sequence[int] = (0, 1, 2), length: int = 20) -> None:
    """Run every law on ``make()`` with a random walk for each seed; raise AssertionError at the first that is broken."""
    check_gymnasium(make)
    check_foreign_snapshot(make)
    for seed in seeds:
        walk = [int(n) for n in np.random.default_rng(seed).integers(1 << 16, size=length)]
        for law in (check_deterministic, check_restore, check_bytes, check_fresh_info, check_undo, check_noise):
            law(make, seed, walk)


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


# -- laws -------------------------------------------------------------------------------------------------


def check_gymnasium(make: Make) -> None:
    """`gymnasium.utils.env_checker.check_env` passes without a single warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make()
        check_env(env.unwrapped, skip_render_check=env.spec is None)  # without a spec it cannot make others
        env.close()


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
    bottom = _explorable(env)
    info = _go(env, seed, walk[:-10])
    place, here, admissible = bottom.snapshot(), bottom.fingerprint(), info.get("admissible_actions")
    future = [_bytes(step) for step in _steps(bottom, info, walk[-10:])]
    for _ in range(2):
        observation, info = bottom.restore(place)
        assert observation in env.observation_space, "restore returned an observation that is not in the space"
        assert bottom.fingerprint() == here, "restore arrived in another state"
        assert info.get("admissible_actions") == admissible, "restore offers other actions"
        assert fingerprint_of(bottom.snapshot().payload) == fingerprint_of(place.payload), "a snapshot of it differs"
        again = [_bytes(step) for step in _steps(bottom, info, walk[-10:])]
        assert again == future, "the steps after restore differ from the steps before"


def check_bytes(make: Make, seed: int, walk: Walk) -> None:
    """A snapshot survives as plain bytes, and another environment of the same task restores it."""
    env, other = make(), make()
    info = _go(env, seed, walk)
    bottom, far = _explorable(env), _explorable(other)
    data = bottom.snapshot().to_bytes()
    assert Snapshot.from_bytes(data) == bottom.snapshot(), "a snapshot changes on the way through bytes"
    _go(other, seed, [])
    _, there = far.restore(Snapshot.from_bytes(data))
    assert far.fingerprint() == bottom.fingerprint(), "the restored snapshot is another state"
    after, before = (list(map(_bytes, _steps(b, i, walk[:10]))) for b, i in ((far, there), (bottom, info)))
    assert after == before, "the steps after a restore from bytes differ"


def check_foreign_snapshot(make: Make) -> None:
    """A snapshot of another environment or world, or a damaged one, is refused and changes nothing."""
    env = make()
    bottom = _explorable(env)
    _go(env, 0, [3, 1])
    here, place = bottom.fingerprint(), bottom.snapshot()
    wrong = (
        Snapshot("another-environment/1", place.world, place.payload),
        Snapshot(place.env, "another world", place.payload),
        Snapshot(place.env, place.world, ("not", "a", "state")),
    )
    for foreign in wrong:
        _refused(lambda foreign=foreign: bottom.restore(foreign))
        assert bottom.fingerprint() == here, "a refused snapshot changed the state"
    data = place.to_bytes()
    for damaged in (b"", data[:-9], data.replace(b"1", b"2"), pickle.dumps(place.payload)):
        _refused(lambda damaged=damaged: Snapshot.from_bytes(damaged))


def check_fresh_info(make: Make, seed: int, walk: Walk) -> None:
    """Info is a fresh dict at every step: what a caller does to one shows in no other."""
    env = make()
    _, info = env.reset(seed=seed)
    plain = list(trace(make(), seed, walk))
    seen = [_bytes((env.reset(seed=seed)[0], info))]
    for pick in walk:
        action = _choose(env, info, pick)
        for value in info.values():
            if isinstance(value, list):
                value.clear()
        info.clear()
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(_bytes((observation, reward, terminated, truncated, info)))
        if terminated or truncated:
            break
    assert seen == plain, "changing a returned info changes what comes later"


def check_undo(make: Make, seed: int, walk: Walk) -> None:
    """`undo_actions` are actions of the space, and `Rollback` by acting claims *exact* only where the state is the old one."""
    env = Rollback(make(), action=None, methods=("act",))
    bottom = _explorable(env)
    _, info = env.reset(seed=seed)
    for pick in walk:
        before = bottom.fingerprint()
        action = _choose(env.env, info, pick)
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return
        after = bottom.fingerprint()
        assert all(undo in env.action_space for undo in bottom.undo_actions()), (
            "undo_actions are not in the action space"
        )
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
    info = _go(env, seed, walk)
    for noise in NOISE:
        before = _explorable(env).fingerprint()
        observation, _, terminated, _, info = env.step(noise)
        assert observation in env.observation_space
        assert info["action_error"], f"no action_error for {noise[:20]!r}"
        assert _explorable(env).fingerprint() == before, f"{noise[:20]!r} changed the state"
        if terminated:
            return


# -- tools ------------------------------------------------------------------------------------------------


def trace(env: gym.Env, seed: int, walk: Walk) -> Iterator[str]:
    """Yield a digest of all that reset and each step of a walk return, until the episode ends."""
    observation, info = env.reset(seed=seed)
    yield _bytes((observation, info))
    yield from map(_bytes, _steps(env, info, walk))


def _steps(env: gym.Env, info: dict[str, Any], walk: Walk) -> Iterator[tuple[Any, ...]]:
    for pick in walk:
        step = env.step(_choose(env, info, pick))
        info = step[4]
        yield step
        if step[2] or step[3]:
            return


def _go(env: gym.Env, seed: int, walk: Walk) -> dict[str, Any]:
    """Reset and walk, stopping before a step that ends the episode; return the last info."""
    _, info = env.reset(seed=seed)
    bottom = _explorable(env)
    for pick in walk:
        place = bottom.snapshot()
        _, _, terminated, truncated, after = env.step(_choose(env, info, pick))
        if terminated or truncated:
            return bottom.restore(place)[1]
        info = after
    return info


def _choose(env: gym.Env, info: dict[str, Any], pick: int) -> Any:
    possible = info.get("admissible_actions")
    if possible:
        return possible[pick % len(possible)]
    env.action_space.seed(pick % 16)
    return env.action_space.sample()


def _bytes(result: tuple[Any, ...]) -> str:
    return fingerprint_of(list(result))


def _explorable(env: gym.Env) -> ExplorableEnv:
    bottom = env.unwrapped
    assert isinstance(bottom, ExplorableEnv), f"expected an ExplorableEnv, got {type(bottom).__name__}"
    return bottom


def _refused(attempt: Callable[[], Any]) -> None:
    try:
        attempt()
    except SnapshotError:
        return
    raise AssertionError("a foreign or damaged snapshot was not refused with SnapshotError")


class Corridor(ExplorableEnv[dict[str, str], str]):
    """A corridor of rooms with a door at the far end: the smallest explorable environment, for tests and examples.

    Actions are ``left``, ``right`` and ``open`` (at the last room, which wins).
    """

    metadata = {"render_modes": []}
    snapshot_kind = "native"

    def __init__(self, rooms: int = 5):
        """Make a corridor of ``rooms`` rooms; episodes begin in one of all but the last."""
        self.rooms = rooms
        space = spaces.Dict({"goal": FreeText(64), "text": FreeText(64)})
        self.observation_space = space  # pyright: ignore[reportAttributeAccessIssue]  # Gymnasium types Dict by its spaces
        self.action_space = FreeText(64)
        self._room, self._last = -1, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Begin somewhere."""
        super().reset(seed=seed)
        self._room, self._last = int(self.np_random.integers(self.rooms - 1)), 0
        return self._observe(), self._info("")

    def step(self, action: str) -> tuple[dict[str, str], float, bool, bool, dict[str, Any]]:
        """Walk, or open the door."""
        if self._room < 0:
            raise gym.error.ResetNeeded("Expected reset() before step()")
        command, error = sanitize_action(action, 64)
        before, won = self._room, False
        if command in self._possible():
            self._room += {"left": -1, "right": 1}.get(command, 0)
            won = command == "open"
        else:
            error = error or f"expected one of {', '.join(self._possible())}, got {command!r}"
        self._last = self._room - before
        return self._observe(), float(won), won, False, self._info(error, won)

    def fingerprint(self) -> str:
        """Return the digest of the room."""
        return f"corridor-1:{digest(f'{self.rooms} {self._room}')}"

    def snapshot(self) -> Snapshot:
        """Return the room and the last step."""
        return Snapshot("corridor/1", str(self.rooms), (self._room, self._last))

    def restore(self, snapshot: Snapshot) -> tuple[dict[str, str], dict[str, Any]]:
        """Go to the room of a snapshot."""
        snapshot.check("corridor/1", str(self.rooms))
        match snapshot.payload:
            case (int(room), int(last)) if 0 <= room < self.rooms:
                self._room, self._last = room, last
            case other:
                raise SnapshotError(f"Expected a room below {self.rooms} and a step, got {other!r}")
        return self._observe(), self._info("")

    def undo_actions(self) -> list[str]:
        """Return the opposite step."""
        return {1: ["left"], -1: ["right"]}.get(self._last, [])

    def facts(self) -> frozenset[str]:
        """Return where the agent is."""
        return frozenset({f"in room {self._room}"})

    def _possible(self) -> list[str]:
        last = self._room == self.rooms - 1
        return [*(["left"] if self._room else []), "open" if last else "right"]

    def _observe(self) -> dict[str, str]:
        return {"goal": "find the door and open it", "text": f"room {self._room}"}

    def _info(self, error: str, won: bool = False) -> dict[str, Any]:
        common = {"task_id": f"corridor/{self.rooms}", "data": "corridor", "success": won}
        return {**common, "admissible_actions": self._possible(), "action_error": error}
