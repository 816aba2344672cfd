"""FreeText: any Unicode string, cheaply, and never through shared memory."""

from __future__ import annotations

import pickle

import gymnasium as gym
import pytest
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv
from gymnasium.vector.utils import create_shared_memory
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs import FreeText
from backtrail.envs.testing import Corridor


@given(st.text(max_size=80), st.integers(0, 60))
def test_membership_is_length_alone(text: str, longest: int) -> None:
    assert (text in FreeText(longest)) == (len(text) <= longest)


@pytest.mark.parametrize("other", [None, 3, b"bytes", ["a"], {"a": 1}])
def test_only_strings_are_members(other: object) -> None:
    assert other not in FreeText(9)


@given(st.integers(0, 200), st.integers(0, 2**32))
def test_samples_are_members_short_and_seeded(longest: int, seed: int) -> None:
    space = FreeText(longest, seed=seed)
    drawn = [space.sample() for _ in range(5)]
    space.seed(seed)
    assert drawn == [space.sample() for _ in range(5)]
    assert all(text in space and len(text) <= 32 for text in drawn)


def test_it_is_small_and_compares_by_length() -> None:
    assert len(pickle.dumps(FreeText(1_000_000))) < 10_000
    assert pickle.loads(pickle.dumps(FreeText(5))) == FreeText(5) != FreeText(6)
    assert FreeText(5) != spaces.Text(5)


def test_shared_memory_is_refused_wherever_the_text_is() -> None:
    for space in (FreeText(5), spaces.Dict(a=FreeText(5)), spaces.Tuple([FreeText(5)])):
        with pytest.raises(ValueError, match="shared_memory=False"):
            create_shared_memory(space, n=2)
    with pytest.raises(ValueError, match="shared_memory=False"):
        AsyncVectorEnv([Corridor, Corridor], shared_memory=True)


def test_gymnasium_itself_still_corrupts_shared_text() -> None:
    """If this fails, Gymnasium has mended its Text sharing and FreeText may use it."""

    class Talker(gym.Env):
        observation_space = spaces.Text(8)
        action_space = spaces.Discrete(2)

        def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[str, dict]:
            super().reset(seed=seed)
            return "hello", {}

    envs = AsyncVectorEnv([Talker], shared_memory=True)
    observations, _ = envs.reset()
    envs.close()
    assert observations != ("hello",)
