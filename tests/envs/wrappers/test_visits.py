"""VisitCount: earlier visits to this state, by episode or for life."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs import Fingerprint, VisitCount
from backtrail.envs.testing import Corridor


def make(scope: str = "episode") -> VisitCount:
    return VisitCount(Fingerprint(Corridor(4)), scope)  # pyright: ignore[reportArgumentType]


@given(st.lists(st.sampled_from(["left", "right", "sing"]), max_size=30), st.integers(0, 9))
def test_counts_add_up_to_the_steps(actions: list[str], seed: int) -> None:
    env = make()
    _, info = env.reset(seed=seed)
    seen: Counter[str] = Counter()
    for step in [None, *actions]:
        if step:
            *_, info = env.step(step)
        assert info["visits"] == seen[info["fingerprint"]]
        seen[info["fingerprint"]] += 1
    assert env.counts == seen
    assert env.counts.total() == 1 + len(actions)


def test_an_episode_forgets_and_a_lifetime_does_not() -> None:
    for scope, expected in (("episode", 0), ("lifetime", 2)):
        env = make(scope)
        env.reset(seed=0)
        env.step("sing")
        _, info = env.reset(seed=0)
        assert info["visits"] == expected


def test_save_load_merge(tmp_path: Path) -> None:
    one, other, third = make("lifetime"), make("lifetime"), make("lifetime")
    one.reset(seed=0)
    one.step("sing")
    other.reset(seed=0)
    one.save(tmp_path / "one.json")
    third.load(tmp_path / "one.json")
    assert third.counts == one.counts
    third.merge(other, tmp_path / "one.json")
    assert third.counts == one.counts + other.counts + one.counts
    assert [path.name for path in tmp_path.iterdir()] == ["one.json"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "other", "counts": {}}', '{"format": "backtrail-visits-1", "counts": {"a": -1}}'],
)
def test_a_wrong_file_is_refused_and_the_counts_stay(tmp_path: Path, text: str) -> None:
    path = tmp_path / "counts.json"
    path.write_text(text)
    env = make("lifetime")
    env.reset(seed=0)
    before = Counter(env.counts)
    for call in (env.load, env.merge):
        with pytest.raises(ValueError, match="counts"):
            call(path)
    assert env.counts == before


def test_the_file_is_plain_json(tmp_path: Path) -> None:
    env = make("lifetime")
    env.reset(seed=0)
    env.save(tmp_path / "counts.json")
    assert json.loads((tmp_path / "counts.json").read_text())["counts"] == dict(env.counts)


def test_it_needs_a_fingerprint_and_a_known_scope() -> None:
    with pytest.raises(KeyError, match="wrap the environment in Fingerprint"):
        VisitCount(gym.make("CartPole-v1")).reset()
    with pytest.raises(ValueError, match="lifetime"):
        make("week")
