"""Rollback: the world goes back, verified; the clock, the visits and the rewards do not."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import FrameStackObservation, RecordEpisodeStatistics, TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.envs import Fingerprint, Rollback, VisitCount, restore
from backtrail.envs.testing import Corridor
from backtrail.envs.wrappers import fingerprint_of


class Both(gym.Env):
    """A Dict observation (a picture and a number), randomness at every step, arrays that are written in place."""

    observation_space = spaces.Dict(
        view=spaces.Box(0, 255, (3, 3, 3), np.uint8), sum=spaces.Box(-99, 99, (1,), np.float64)
    )
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        super().reset(seed=seed)
        self.view, self.sum = np.zeros((3, 3, 3), np.uint8), np.zeros(1)
        return {"view": self.view, "sum": self.sum}, {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        self.view[action, int(self.np_random.integers(3))] += 9
        self.sum += self.np_random.normal()
        return {"view": self.view, "sum": self.sum}, float(self.sum[0]), False, False, {}


class Remote(gym.Env):
    """Keeps its state outside Python's reach: copying the object copies nothing."""

    server: dict[str, int] = {}
    observation_space = spaces.Discrete(1000)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[int, dict]:
        super().reset(seed=seed)
        Remote.server["count"] = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict]:
        Remote.server["count"] += 1 + action
        return Remote.server["count"], 0.0, False, False, {}


class Coins(Corridor):
    """A coin lies in every room but pays at every arrival; singing costs."""

    def step(self, action: str) -> Any:
        before = self._room
        observation, _, terminated, truncated, info = super().step(action)
        return observation, -0.5 if action == "sing" else float(self._room != before), terminated, truncated, info


OTHERS: dict[str, Callable[[], gym.Env]] = {
    "FrozenLake": lambda: gym.make("FrozenLake-v1", is_slippery=True),
    "CartPole": lambda: gym.make("CartPole-v1"),
    "MiniGrid": lambda: gym.make("MiniGrid-DoorKey-5x5-v0"),
    "Dict": Both,
    "Stack": lambda: FrameStackObservation(gym.make("CartPole-v1"), 3),
}


@pytest.fixture(autouse=True)
def _minigrid() -> None:
    pytest.importorskip("minigrid")


@pytest.mark.parametrize("method", ["restore", "replay"])
@pytest.mark.parametrize("name", OTHERS)
def test_any_environment_goes_back_exactly_and_goes_on_the_same(name: str, method: Any) -> None:
    env = Rollback(OTHERS[name](), methods=(method,))
    for seed in (0, None):
        seen = [fingerprint_of(env.reset(seed=seed)[0])]
        rng = np.random.default_rng(5)
        actions = [int(a) for a in rng.integers(env.env.action_space.n, size=6)]  # pyright: ignore[reportAttributeAccessIssue]
        done = 0
        for action in actions:
            observation, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                break
            seen.append(fingerprint_of(observation))
            done += 1
        else:
            assert done == 6
        back = max(1, done // 2)
        observation, reward, terminated, truncated, info = env.rollback(back)
        assert info["rollback"] == {"status": "exact", "method": method, "steps": back}
        assert fingerprint_of(observation) == seen[len(env._path)]
        assert (reward, terminated) == (0.0, False)
        again = [fingerprint_of(env.step(action)[0]) for action in actions[len(env._path) : done]]
        assert again == seen[len(seen) - len(again) :], "the same actions no longer lead to the same places"


@settings(max_examples=60)
@given(
    st.integers(0, 20), st.lists(st.integers(0, 4), max_size=30), st.sampled_from([("restore",), ("act",), ("replay",)])
)
def test_against_a_stack_of_states(seed: int, script: list[int], methods: Any) -> None:
    """Whatever is done, going back arrives where the surviving path was, or says that it did not."""
    env = Rollback(Corridor(4), methods=methods)
    env.reset(seed=seed)
    bottom = env.unwrapped
    assert isinstance(bottom, Corridor)
    path = [bottom.fingerprint()]
    for choice in script:
        if choice < 3:
            *_, info = env.step(["left", "right", "sing"][choice])
            path.append(info.get("fingerprint", bottom.fingerprint()))
            continue
        steps = choice - 2
        here = bottom.fingerprint()
        *_, info = env.rollback(steps)
        if steps >= len(path):
            assert info["rollback"] == {"status": "unsupported", "method": None, "steps": steps}
            assert bottom.fingerprint() == here
        else:
            assert info["rollback"]["status"] == "exact"
            del path[len(path) - steps :]
            assert bottom.fingerprint() == path[-1]


def test_it_costs_a_step_and_the_time_limit_counts_it() -> None:
    for methods in (("restore",), ("act",), ("replay",)):
        env = Rollback(TimeLimit(Corridor(5), 3), methods=methods)  # pyright: ignore[reportArgumentType]
        env.reset(seed=1)
        assert not env.step("right")[3]
        assert not env.step("rollback")[3]
        assert env.step("rollback")[3], (
            f"{methods}: the third step is the last, also where there is nothing to go back to"
        )


def test_visits_do_not_go_back() -> None:
    orders: list[Callable[[Any], gym.Env]] = [
        lambda methods: Rollback(VisitCount(Fingerprint(Corridor(5))), methods=methods),
        lambda methods: VisitCount(Fingerprint(Rollback(Corridor(5), methods=methods))),
    ]
    for methods in (("restore",), ("act",), ("replay",)):
        for order in orders:
            env = order(methods)
            script = ("right", "rollback", "right", "rollback", "rollback")
            visits = [env.reset(seed=1)[1]["visits"], *[env.step(action)[4]["visits"] for action in script]]
            assert visits == [0, 0, 1, 1, 2, 3], f"{methods}: a rollback is a visit to the place it arrives at"


def test_visits_and_statistics_of_a_copied_environment_do_not_go_back() -> None:
    for method in ("restore", "replay"):
        counted = VisitCount(Fingerprint(RecordEpisodeStatistics(gym.make("FrozenLake-v1", is_slippery=False))))
        env = Rollback(counted, methods=(method,))
        env.reset(seed=0)
        assert [env.step(2)[4]["visits"], env.rollback()[4]["visits"], env.step(2)[4]["visits"]] == [0, 1, 1]
        assert counted.get_wrapper_attr("episode_lengths") == 2


def test_rewards_are_not_paid_twice() -> None:
    for methods in (("restore",), ("act",), ("replay",)):
        env = Rollback(Coins(5), methods=methods)  # pyright: ignore[reportArgumentType]
        env.reset(seed=3)  # room 0 or thereabouts: there is a way to the right
        script = ["right", "rollback", "right", "rollback", "sing", "right", "right"]
        paid = [env.step(action)[1] for action in script]
        walked = [reward for action, reward in zip(script, paid, strict=True) if action == "right"]
        assert walked[:3] == [1.0, 0.0, 0.0], f"{methods}: the first step right is paid once: {paid}"
        assert paid[4] == -0.5, "a penalty is paid whenever it is earned"
        if methods != ("act",):
            assert paid[1] == paid[3] == 0.0


def test_acting_is_verified() -> None:
    env = Rollback(Corridor(5), methods=("act",))
    env.reset(seed=1)
    env.step("right")
    *_, info = env.step("rollback")
    assert info["rollback"] == {"status": "exact", "method": "act", "steps": 1}

    class OneWay(Corridor):
        def undo_actions(self) -> list[str]:
            return ["right"]

    class Stuck(Corridor):
        def undo_actions(self) -> list[str]:
            return ["sing"]

    class Mute(Corridor):
        def undo_actions(self) -> list[str]:
            return []

    for kind, status in ((OneWay, "approximate"), (Stuck, "failed"), (Mute, "unsupported")):
        env = Rollback(kind(6), methods=("act",))
        env.reset(seed=1)
        env.step("right")
        *_, info = env.rollback()
        assert info["rollback"]["status"] == status
        assert (info["rollback"]["method"] is None) == (status != "approximate")


def test_methods_are_tried_in_turn() -> None:
    class Mute(Corridor):
        def undo_actions(self) -> list[str]:
            return []

    env = Rollback(Mute(6), methods=("act", "replay"))
    env.reset(seed=1)
    env.step("right")
    assert env.rollback()[4]["rollback"] == {"status": "exact", "method": "replay", "steps": 1}


def test_a_copy_that_shares_the_world_gives_itself_away() -> None:
    env = Rollback(Remote(), methods=("restore",))
    env.reset(seed=0)
    env.step(1)
    env.step(1)
    assert env.rollback()[4]["rollback"]["status"] == "approximate"
    env = Rollback(Remote(), methods=("restore", "replay"))
    env.reset(seed=0)
    env.step(1)
    env.step(1)
    observation, *_, info = env.rollback()
    assert (observation, info["rollback"]["status"], info["rollback"]["method"]) == (2, "exact", "replay")


def test_what_cannot_be_copied_is_not_claimed() -> None:
    class Socket(Both):
        def __init__(self) -> None:
            self.wire = socket.socket()

    env = Rollback(Socket(), methods=("restore",))
    env.reset(seed=0)
    env.step(0)
    assert env.rollback()[4]["rollback"]["status"] == "unsupported"
    env.unwrapped.wire.close()  # pyright: ignore[reportAttributeAccessIssue]


def test_environments_that_copy_into_a_fresh_one_are_copied_by_their_attributes() -> None:
    class Forgets(gym.utils.EzPickle, Both):
        def __init__(self) -> None:
            gym.utils.EzPickle.__init__(self)
            Both.__init__(self)

    env = Rollback(Forgets(), methods=("restore",))
    env.reset(seed=0)
    before = fingerprint_of(env.step(1)[0])
    env.step(2)
    observation, *_, info = env.rollback()
    assert info["rollback"]["status"] == "exact" and fingerprint_of(observation) == before


def test_the_sampler_of_actions_is_not_wound_back() -> None:
    env = Rollback(gym.make("CartPole-v1"), action=None)
    env.reset(seed=0)
    env.action_space.seed(0)
    drawn = []
    for _ in range(24):
        drawn.append(int(env.action_space.sample()))
        env.step(drawn[-1])
        env.rollback()
    assert len(set(drawn)) == 2 and drawn[:8] * 3 != drawn


def test_the_agent_has_one_action_more() -> None:
    env = Rollback(gym.make("FrozenLake-v1", is_slippery=False))
    assert env.action_space == spaces.Discrete(5)
    start, _ = env.reset(seed=0)
    env.step(2)
    assert env.step(4)[0] == start
    text = Rollback(Corridor(5))
    _, info = text.reset(seed=1)
    assert "rollback" not in info["admissible_actions"], "there is nothing to go back to"
    assert "rollback" in text.step("right")[4]["admissible_actions"]
    assert "rollback" not in text.step(" rollback ")[4]["admissible_actions"]
    closed = Rollback(Corridor(5), action=None)
    closed.reset(seed=1)
    assert closed.step("rollback")[4]["action_error"]


def test_depth_limits_what_is_kept() -> None:
    env = Rollback(Corridor(5), depth=2)
    env.reset(seed=1)
    for _ in range(4):
        env.step("sing")
    assert env.rollback(3)[4]["rollback"]["status"] == "unsupported"
    assert env.rollback(2)[4]["rollback"]["status"] == "exact"


def test_after_a_restore_from_outside_a_new_path_begins() -> None:
    env = Rollback(Corridor(5), methods=("restore", "replay"))
    env.reset(seed=1)
    bottom = env.unwrapped
    assert isinstance(bottom, Corridor)
    place, here = bottom.snapshot(), bottom.fingerprint()
    env.step("right")
    restore(env, place)
    assert env.rollback()[4]["rollback"]["status"] == "unsupported"
    env.step("right")
    assert env.rollback()[4]["rollback"]["status"] == "exact" and bottom.fingerprint() == here


def test_a_trainer_can_go_back_from_an_ended_episode() -> None:
    env = Rollback(Corridor(2))
    env.reset(seed=0)
    env.step("right")
    assert env.step("open")[2]
    _, _, terminated, _, info = env.rollback()
    assert not terminated and info["rollback"]["status"] == "exact"


def test_wrong_use_is_said_clearly() -> None:
    with pytest.raises(gym.error.ResetNeeded):
        Rollback(Corridor(3)).rollback()
    env = Rollback(Corridor(3))
    env.reset()
    with pytest.raises(ValueError, match="at least 1"):
        env.rollback(0)
    wrongs: list[dict[str, Any]] = [{"methods": ()}, {"methods": ("teleport",)}, {"depth": 0}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="Expected"):
            Rollback(Corridor(3), **wrong)


class Door(Remote):
    """Its observation never changes; the state lies outside Python."""

    def step(self, action: int) -> tuple[int, float, bool, bool, dict]:
        super().step(action)
        return 0, float(Remote.server["count"]), False, False, {}


def test_a_fingerprint_of_ones_own_is_taken_anew_after_a_copy_is_put_back() -> None:
    def count(env: gym.Env, _: Any) -> str:
        return f"count {Remote.server['count']}"

    for methods, status in ((("restore",), "approximate"), (("restore", "replay"), "exact")):
        env = Rollback(Fingerprint(Door(), fn=count), methods=methods)  # pyright: ignore[reportArgumentType]
        env.reset(seed=0)
        env.step(1)
        env.step(1)
        assert env.rollback()[4]["rollback"]["status"] == status


def test_failed_is_never_said_of_a_world_that_may_have_moved() -> None:
    env = Rollback(Door(), methods=("restore",))  # same observation everywhere: only the reward gives the copy away
    env.reset(seed=0)
    env.step(0)
    assert env.rollback()[4]["rollback"]["status"] == "approximate"


@pytest.mark.parametrize("kind", [float, np.float32, np.float16, np.float64])
def test_rewards_are_untouched_while_nobody_goes_back(kind: Any) -> None:
    rewards = iter([0.1, 1e4, 0.01, 0.1, -0.3, 0.1, float("nan"), float("inf"), 0.5])

    class Payer(Both):
        def step(self, action: int) -> Any:
            observation, _, terminated, truncated, info = super().step(action)
            return observation, kind(next(rewards)), terminated, truncated, info

    env = Rollback(Payer(), methods=("replay",))
    env.reset(seed=0)
    paid = [env.step(0)[1] for _ in range(9)]
    expected = [kind(value) for value in (0.1, 1e4, 0.01, 0.1, -0.3, 0.1, float("nan"), float("inf"), 0.5)]
    assert np.array_equal(paid, expected, equal_nan=True) and all(type(value) is kind for value in paid)


def test_a_reward_may_come_as_an_array_of_one() -> None:
    class Wrapped(Both):
        def step(self, action: int) -> Any:
            observation, reward, *rest = super().step(action)
            return observation, np.array([abs(reward)]), *rest

    env = Rollback(Wrapped())
    env.reset(seed=0)
    env.step(1)
    assert env.rollback()[4]["rollback"]["status"] == "exact"


class Gauge(Corridor):
    """A corridor that is seen as a number."""

    def __init__(self) -> None:
        super().__init__(6)
        self.observation_space = spaces.Box(0, 9, (1,), np.float32)  # pyright: ignore[reportAttributeAccessIssue]

    def _observe(self) -> Any:
        return np.array([self._room], np.float32)


def test_wrappers_that_remember_go_back_with_an_explorable_world() -> None:
    env = Rollback(FrameStackObservation(Gauge(), 3), methods=("restore",))
    seen = [env.reset(seed=1)[0]]
    seen += [env.step(action)[0] for action in ("right", "left", "right")]
    for before in (seen[2], seen[1]):
        observation, *_, info = env.rollback()
        assert info["rollback"]["status"] == "exact" and observation in env.observation_space
        assert (observation == before).all()
    assert (env.step("left")[0] == seen[2]).all()
    with pytest.raises(TypeError, match="use Rollback"):
        restore(env.env, env.unwrapped.snapshot())  # pyright: ignore[reportAttributeAccessIssue]


def test_arriving_by_a_loop_forgets_the_steps_that_were_undone() -> None:
    class OneSided(Corridor):
        def undo_actions(self) -> list[str]:
            return ["left"] if self._last == 1 else []

    env = Rollback(OneSided(5), methods=("act",))
    env.reset(seed=1)
    for action in ("right", "left", "sing"):
        env.step(action)
    assert env.rollback(3)[4]["rollback"]["status"] == "exact"
    assert env.rollback()[4]["rollback"]["status"] == "unsupported", "there is nothing left to go back over"


def test_what_is_returned_is_the_callers() -> None:
    env = Rollback(VisitCount(Fingerprint(Corridor(5))))
    observation, info = env.reset(seed=1)
    observation.clear()
    info["admissible_actions"].clear()
    info.clear()
    env.step("right")[4].clear()
    observation, *_, info = env.rollback()
    assert observation["text"] and info["task_id"] and info["admissible_actions"]


def test_a_discrete_space_is_offered_its_number() -> None:
    class Listing(Both):
        def step(self, action: int) -> Any:
            observation, reward, terminated, truncated, _ = super().step(action)
            return observation, reward, terminated, truncated, {"admissible_actions": [0, 1, 2]}

    env = Rollback(Listing())
    env.reset(seed=0)
    possible = env.step(0)[4]["admissible_actions"]
    assert possible == [0, 1, 2, 3] and all(action in env.action_space for action in possible)


def test_stacks_that_cannot_be_right_are_refused(tmp_path: Any) -> None:
    from backtrail.envs import Record

    for inside in (Rollback(Corridor(3)), Record(Corridor(3), tmp_path), TimeLimit(Rollback(Corridor(3)), 9)):
        with pytest.raises(ValueError, match="inside Rollback"):
            Rollback(inside)


def test_lifetime_counts_are_not_copied_at_every_step() -> None:
    counted = VisitCount(Fingerprint(gym.make("CartPole-v1")), scope="lifetime")
    env = Rollback(counted)
    env.reset(seed=0)
    env.step(0)
    mark = env._trail[0].place
    assert mark is not None and mark.marks[0] is None


def test_a_generator_of_its_own_is_no_obstacle() -> None:
    import random

    class Own(Both):
        np_random: Any = random.Random(0)

        def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
            self.view, self.sum = np.zeros((3, 3, 3), np.uint8), np.zeros(1)
            return {"view": self.view, "sum": self.sum}, {}

        def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
            self.view[action] += 1
            return {"view": self.view, "sum": self.sum}, 0.0, False, False, {}

    env = Rollback(Own(), methods=("restore",))
    env.reset()
    env.step(1)
    assert env.rollback()[4]["rollback"]["status"] == "exact"
