"""Fingerprint: on explorable environments the state, elsewhere the observation or what the user says."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from backtrail.envs import Fingerprint
from backtrail.envs.testing import Corridor
from backtrail.envs.wrappers import fingerprint_of

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(values, values)
def test_equal_exactly_where_the_values_are(one: Any, other: Any) -> None:
    assert (fingerprint_of(one) == fingerprint_of(other)) == (repr(_sorted(one)) == repr(_sorted(other)))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def test_mappings_have_no_order_and_arrays_have_shape_and_type() -> None:
    assert fingerprint_of({"a": 1, "b": 2}) == fingerprint_of({"b": 2, "a": 1})
    zeros = [np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.zeros(4, np.int64), [0.0] * 4]
    assert len({fingerprint_of(value) for value in zeros}) == len(zeros)
    assert fingerprint_of(np.arange(6)[::2]) == fingerprint_of(np.array([0, 2, 4]))
    assert fingerprint_of(np.array([1, 2], ">i4")) == fingerprint_of(np.array([1, 2], "<i4"))


def test_what_has_no_stable_identity_is_refused() -> None:
    for value in (object(), {1, 2}, np.array([object()])):
        with pytest.raises(TypeError, match="fn="):
            fingerprint_of(value)


def test_the_digest_does_not_depend_on_the_process() -> None:
    code = "from backtrail.envs.wrappers import fingerprint_of as f; print(f({'b': 'x', 'a': [1, 2.5, None, b'z']}))"
    for seed in ("0", "77"):
        out = subprocess.check_output(
            [sys.executable, "-c", code], text=True, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        assert out.strip() == fingerprint_of({"b": "x", "a": [1, 2.5, None, b"z"]})


def test_an_explorable_environment_speaks_for_itself() -> None:
    env = Fingerprint(Corridor(3))
    _, info = env.reset(seed=0)
    assert info["fingerprint"] == env.unwrapped.fingerprint()  # pyright: ignore[reportAttributeAccessIssue]


def test_others_are_known_by_what_they_show() -> None:
    env = Fingerprint(gym.make("CartPole-v1"))
    observation, info = env.reset(seed=0)
    assert info["fingerprint"] == fingerprint_of(observation)
    observation, *_, info = env.step(1)
    assert info["fingerprint"] == fingerprint_of(observation)


def test_a_function_says_better() -> None:
    env = Fingerprint(gym.make("FrozenLake-v1"), fn=lambda env, observation: f"square {env.unwrapped.s}")  # pyright: ignore
    assert env.reset(seed=0)[1]["fingerprint"] == "square 0"
    env = Fingerprint(gym.make("FrozenLake-v1"), fn=lambda env, observation: [int(observation) % 2])
    assert env.reset(seed=0)[1]["fingerprint"] == fingerprint_of([0])


def test_minigrid_needs_a_function_because_its_view_is_partial() -> None:
    minigrid = pytest.importorskip("minigrid")
    assert minigrid
    make = lambda: gym.make("MiniGrid-Empty-16x16-v0")
    place = lambda env, _: [*map(int, env.unwrapped.agent_pos), int(env.unwrapped.agent_dir)]
    seen, exact = Fingerprint(make()), Fingerprint(make(), fn=place)
    prints = {"seen": set(), "exact": set()}
    for name, env in (("seen", seen), ("exact", exact)):
        _, info = env.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(600):
            prints[name].add(info["fingerprint"])
            _, _, terminated, truncated, info = env.step(int(rng.integers(3)))
            if terminated or truncated:
                _, info = env.reset(seed=0)
    assert len(prints["seen"]) < len(prints["exact"]) <= 14 * 14 * 4


def test_dict_observations_and_info_stay_what_they_were() -> None:
    class Both(gym.Env):
        observation_space = spaces.Dict(view=spaces.Box(0, 255, (2, 2, 3), np.uint8), pose=spaces.Discrete(4))
        action_space = spaces.Discrete(2)
        kept: dict[str, Any] = {"lap": 1}

        def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict[str, Any]]:
            super().reset(seed=seed)
            return {"view": np.zeros((2, 2, 3), np.uint8), "pose": 2}, self.kept

    env = Fingerprint(Both())
    observation, info = env.reset()
    assert info["lap"] == 1 and info["fingerprint"] == fingerprint_of(observation)
    assert Both.kept == {"lap": 1}, "the wrapper wrote into the info of the environment"
