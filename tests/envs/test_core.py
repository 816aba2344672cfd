"""Snapshots are plain data; restore passes through wrappers."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.wrappers import TimeLimit, TransformObservation
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs import ExplorableEnv, Fingerprint, Snapshot, SnapshotError, VisitCount, restore
from backtrail.envs.core import digest, sanitize_action
from backtrail.envs.testing import Corridor

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
)


@given(plain)
def test_bytes_and_back(payload: Any) -> None:
    place = Snapshot("env/1", "world", payload)
    assert Snapshot.from_bytes(place.to_bytes()) == place


@pytest.mark.parametrize("payload", [object(), {"a": 1}, [1], b"x", ({},), (lambda: 0,)])
def test_payloads_that_are_not_plain_are_refused(payload: Any) -> None:
    with pytest.raises(SnapshotError, match="plain values"):
        Snapshot("env/1", "world", payload).to_bytes()


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    with pytest.raises(SnapshotError):
        Snapshot.from_bytes(data)


@given(st.data())
def test_any_flipped_byte_is_noticed(data: st.DataObject) -> None:
    good = Snapshot("env/1", "world", (1, "two", (3.5, None))).to_bytes()
    at = data.draw(st.integers(0, len(good) - 1))
    bad = bytearray(good)
    bad[at] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(SnapshotError):
        assert Snapshot.from_bytes(bytes(bad)) == Snapshot.from_bytes(good)  # e.g. an escaped form of the same text


def test_a_later_format_is_refused() -> None:
    body = json.loads(Snapshot("env/1", "world", ()).to_bytes())
    body[1] = 99
    with pytest.raises(SnapshotError, match="format 99"):
        Snapshot.from_bytes(json.dumps(body).encode())


def test_digest_is_the_same_everywhere() -> None:
    assert digest("backtrail") == "0ca1af64eb817341e785d6d345036421"


def test_restore_goes_through_the_wrappers_and_leaves_the_clock() -> None:
    def shout(observation: dict[str, str]) -> dict[str, str]:
        return {key: text.upper() for key, text in observation.items()}

    limit = TimeLimit(Corridor(5), 10)
    env = VisitCount(Fingerprint(TransformObservation(limit, shout, limit.observation_space)))
    first, _ = env.reset(seed=0)
    bottom = env.unwrapped
    assert isinstance(bottom, ExplorableEnv)
    place = bottom.snapshot()
    env.step("right")
    observation, info = restore(env, place)
    assert observation == first
    assert info["visits"] == 1
    assert info["fingerprint"] == bottom.fingerprint()
    assert limit._elapsed_steps == 1


def test_restore_needs_an_explorable_environment() -> None:
    with pytest.raises(TypeError, match="CartPole"):
        restore(gym.make("CartPole-v1"), Snapshot("a", "b", ()))


def test_an_environment_without_snapshots_says_so() -> None:
    class Stateless(ExplorableEnv[Any, Any]):
        def fingerprint(self) -> str:
            return ""

    for call in (Stateless().snapshot, lambda: Stateless().restore(Snapshot("", "", ())), Stateless().facts):
        with pytest.raises(NotImplementedError, match="Stateless"):
            call()
    assert Stateless().undo_actions() == []


def test_actions_are_strings_of_bounded_length() -> None:
    assert sanitize_action("go", 5) == ("go", "")
    command, error = sanitize_action("x" * 1_000_000, 1024)
    assert command == "" and "1,000,000" in error
    for wrong in (3, None, b"go", ["go"]):
        with pytest.raises(gym.error.InvalidAction, match="Nothing was done"):
            sanitize_action(wrong, 5)


@pytest.mark.parametrize(
    "body", ["{", "[1,2]", "5", "[" * 9000, '[["x"],"w",[]]', '["e","w",{"a":1}]', "[" + "9" * 5000 + ",1,1]"]
)
def test_a_right_checksum_over_a_wrong_body_is_refused(body: str) -> None:
    data = json.dumps(["backtrail-snapshot", 1, digest(body), body]).encode()
    with pytest.raises(SnapshotError):
        Snapshot.from_bytes(data)


def test_what_is_too_deep_cannot_be_written() -> None:
    deep: Any = ()
    for _ in range(5000):
        deep = (deep,)
    with pytest.raises(SnapshotError):
        Snapshot("a", "b", deep).to_bytes()


def test_the_kind_of_an_action_is_its_first_word() -> None:
    actions = ("go to desk 1", "Click[< prev]", "{", "")
    assert [Corridor(3).action_kind(action) for action in actions] == ["go", "click", "other", "other"]
