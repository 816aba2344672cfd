"""The environment: options, rewards, bad input, going back."""

from __future__ import annotations

import itertools
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import backtrail.envs  # noqa: F401  # registers the ids
from backtrail.envs import Rollback, Snapshot, SnapshotError
from backtrail.envs.testing import ExplorableTests
from backtrail.envs.webshop import WebShopEnv, preset
from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.presets import PRESETS


def make(**options: Any) -> WebShopEnv:
    env = gym.make("backtrail/WebShop-v0", **options).unwrapped
    assert isinstance(env, WebShopEnv)
    return env


def follow_plan(env: WebShopEnv, stop: int | None = None) -> tuple[float, dict[str, Any]]:
    """Carry out the oracle's plan but for the last ``stop`` actions; return the last reward and info."""
    reward, info = 0.0, {}
    for action in env.expert_plan()[:stop]:
        _, reward, _, _, info = env.step(action)
        assert not info["action_error"]
    return reward, info


def choose_options(env: WebShopEnv) -> None:
    """Begin an episode whose goal asks for options, and do all but buy."""
    for task_id in env.tasks.ids:
        if env.shop.goal(env.tasks.goal(task_id)).options:
            env.reset(options={"task_id": task_id})
            follow_plan(env, -1)
            return


class TestTextRich(ExplorableTests):
    def make(self) -> gym.Env:
        return gym.make("backtrail/WebShop-v0", observation="text_rich", fingerprint="exact")


class TestHtml(ExplorableTests):
    def make(self) -> gym.Env:
        return gym.make("backtrail/WebShop-v0", observation="html", goals="human")


@pytest.mark.parametrize("goals", ["human", "synthetic"])
def test_the_oracle_earns_everything(goals: str) -> None:
    env = make(split="train", goals=goals)
    for task_id in env.tasks.ids[:: max(1, len(env.tasks.ids) // 150)]:
        env.reset(options={"task_id": task_id})
        reward, info = follow_plan(env)
        assert reward == 1.0 and info["success"] and info["score"] == 1.0


def test_the_oracle_finds_its_way_from_anywhere() -> None:
    env, rng = make(), np.random.default_rng(0)
    for seed in range(40):
        _, info = env.reset(seed=seed)
        for _ in range(int(rng.integers(12))):
            possible = [action for action in info["admissible_actions"] if action != "click[buy now]"]
            _, _, _, _, info = env.step(possible[int(rng.integers(len(possible)))])
        assert follow_plan(env)[0] == 1.0


def test_reward_maps() -> None:
    earned = {}
    for name in ("score", "tenfold", "win"):
        env = make(reward=name)
        found = []
        for seed in range(20):
            env.reset(seed=seed)
            follow_plan(env, -1)
            product = env.shop.catalogue.asin(seed)
            for action in ("click[back to search]", f"search[{env.catalogue.product(product).title.lower()}]"):
                env.step(action)
            env.step(f"click[{product.lower()}]")
            _, reward, terminated, _, info = env.step("click[buy now]")
            assert terminated and info["success"] == (info["score"] == 1)
            found.append((reward, info["score"]))
        earned[name] = found
    scores = [score for _, score in earned["score"]]
    assert any(0 < score < 1 for score in scores)
    assert [reward for reward, _ in earned["score"]] == scores
    assert [reward for reward, _ in earned["tenfold"]] == [10 * score for score in scores]
    assert [reward for reward, _ in earned["win"]] == [10.0 * (score == 1) for score in scores]


def test_info_says_what_it_is_about() -> None:
    env = make(split="test")
    _, info = env.reset(seed=1)
    split, department, goal = info["task_id"].split("/")
    assert (split, info["task_type"], info["data"], info["nouns"]) == (
        "test",
        department,
        "generated:v1",
        "generated:v1",
    )
    assert goal.startswith("synthetic-") and info["score"] == 0 and info["score_parts"] == {} and not info["success"]
    follow_plan(env, -1)
    _, _, _, _, info = env.step("click[buy now]")
    assert {"r_type", "r_att", "r_price", "title_score"} <= set(info["score_parts"])


def test_observation_modes() -> None:
    shown = {}
    for mode in ("text", "text_rich", "html"):
        env = make(observation=mode)
        choose_options(env)
        shown[mode] = env.restore(env.snapshot())[0]["text"]
    assert " [SEP] Buy Now" in shown["text"]
    assert "[button] Buy Now [button_]" in shown["text_rich"] and "You have clicked" in shown["text_rich"]
    assert shown["html"].startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("", "the action is empty"),
        ("search[]", "the search is empty"),
        ("search", "the search is empty"),
        ("Search[tea]", "small letters"),
        ("buy[tea]", "unknown action 'buy'"),
        ("click[b000000000]", "nothing to click on the search page"),
        ("click[a [b]]", "one pair of brackets"),
        ("search[tea] click[buy now]", "one action"),
    ],
)
def test_bad_actions_change_nothing_and_say_why(action: str, said: str) -> None:
    env = make()
    observation, _ = env.reset(seed=0)
    here = env.fingerprint()
    after, reward, terminated, _, info = env.step(action)
    assert (after, reward, terminated, env.fingerprint()) == (observation, 0.0, False, here)
    assert said in info["action_error"]


def test_a_search_without_words_or_hits_is_a_search() -> None:
    env = make()
    env.reset(seed=0)
    for action in ("search[  ]", "search[qqqqzzzz]", "search[the of and]"):
        observation, _, _, _, info = env.step(action)
        assert "Total results: 0" in observation["text"] and not info["action_error"]
        assert info["admissible_actions"] == ["click[back to search]", "click[next >]"]


def test_nothing_can_be_clicked_after_the_purchase() -> None:
    env = make()
    env.reset(seed=0)
    follow_plan(env)
    here = env.fingerprint()
    _, reward, terminated, _, info = env.step("click[buy now]")
    assert (reward, terminated, env.fingerprint()) == (0.0, False, here)
    assert "the purchase is made" in info["action_error"] and info["admissible_actions"] == []
    assert env.expert_plan() == []


def test_what_is_unknown_is_refused() -> None:
    for options, said in (
        ({"observation": "pixels"}, "text_rich"),
        ({"reward": "x"}, "tenfold"),
        ({"fingerprint": "x"}, "physical"),
        ({"split": "valid_seen"}, "train, valid, test"),
        ({"split_by": "luck"}, "product"),
        ({"goals": "x"}, "human"),
        ({"task_types": ["toys"]}, "beauty"),
        ({"data": "generated:none"}, "generated:N"),
        ({"data": "generated:0"}, "generated:N"),
        ({"task_id": "test/beauty/synthetic-99999999"}, "ids look like"),
    ):
        with pytest.raises(ValueError, match=said):
            make(**options)
    with pytest.raises(CatalogueError, match="backtrail data webshop"):
        make(data="/no/such/folder")
    with pytest.raises(ValueError, match="Expected a preset among"):
        preset("luck")


@pytest.mark.parametrize("name", PRESETS)
def test_presets_play(name: str) -> None:
    env = gym.make("backtrail/WebShop-v0", split="test", **preset(name))
    env.reset(seed=0)
    limit = preset(name)["max_episode_steps"]
    assert [env.step("")[3] for _ in range(limit)] == [False] * (limit - 1) + [True]


def test_no_product_is_in_two_splits() -> None:
    for goals in ("human", "synthetic"):
        sold = [
            {env.shop.goal(env.tasks.goal(task_id)).asin for task_id in env.tasks.ids}
            for env in (make(split=split, goals=goals) for split in ("train", "valid", "test"))
        ]
        assert all(sold) and not any(one & other for one, other in itertools.combinations(sold, 2))
        assert len(sold[0]) > 3 * len(sold[1])


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), walk=st.lists(st.integers(0, 10_000), max_size=25))
def test_clicks_that_undo_lead_back(seed: int, walk: list[int]) -> None:
    env = make(observation="text_rich")
    _, info = env.reset(seed=seed)
    for pick in walk:
        possible = info["admissible_actions"]
        if not possible:
            break
        before = env.fingerprint()
        _, _, _, _, info = env.step(possible[pick % len(possible)])
        place = env.snapshot()
        for action in env.undo_actions():
            _, back = env.restore(place)
            assert action in back["admissible_actions"]
            env.step(action)
            assert env.fingerprint() == before
        _, info = env.restore(place)


def test_what_can_be_taken_back_by_acting() -> None:
    env = Rollback(gym.make("backtrail/WebShop-v0"), action=None, methods=("act",))
    bottom = env.unwrapped
    assert isinstance(bottom, WebShopEnv)
    env.reset(seed=5)
    bottom.step("search[tea]")
    product = next(action for action in bottom.shop.admissible(bottom._here) if action.startswith("click[b0"))
    env.reset(seed=5)
    for action, status in (
        ("search[tea]", "exact"),
        ("search[tea]", None),
        ("click[next >]", "exact"),
        (product, "exact"),
        (product, None),
        ("click[features]", "exact"),
        ("click[features]", None),
        ("click[< prev]", "exact"),
        ("click[< prev]", None),
    ):
        _, _, _, _, info = env.step(action)
        assert not info["action_error"], action
        if status:
            assert env.rollback()[4]["rollback"]["status"] == status, action


def test_options_do_not_show_in_text_but_in_the_fingerprint() -> None:
    env = make()
    choose_options(env)
    before, text = env.fingerprint(), env.shop.text(env._here)
    name, value = env._here.options[0]
    other = next(
        v
        for n, values in env.catalogue.product(env._here.asin or "").options
        if n == name
        for v in values
        if v != value
    )
    observation, *_ = env.step(f"click[{other}]")
    assert observation["text"] == text and env.fingerprint() != before
    assert f"click[{value}]" in env.undo_actions()


def test_snapshots_of_other_visits_are_refused() -> None:
    env, other = make(), make(goals="human")
    env.reset(seed=0)
    here = env.snapshot()
    other.reset(seed=0)
    with pytest.raises(SnapshotError):
        other.restore(here)
    stranger = Snapshot(here.env, here.world, ((("x",) * 14), None, ""))
    with pytest.raises(SnapshotError):
        env.restore(stranger)
    assert env.snapshot() == here


def test_kinds_of_actions() -> None:
    env = make()
    env.reset(seed=0)
    assert env.action_kind("search[tea]") == "search"
    env.step("search[tea]")
    kinds = {env.action_kind(action) for action in env.shop.admissible(env._here)}
    assert kinds == {"product", "next >", "back to search"}
    assert env.action_kind("click[no such thing]") == "click"
