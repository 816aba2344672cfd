"""The searcher: finds things in small rooms, from what it is shown alone; and the brief prompt it demonstrates on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import pytest

import backtrail.envs  # noqa: F401  # registers the environment
from backtrail.agents.base import AgentError, Task, Turn
from backtrail.agents.prompts import Prompts
from backtrail.agents.response import parse
from backtrail.agents.searcher import Searcher
from backtrail.envs.alfworld.generate import TASK_TYPES

THING = re.compile(r"\b[a-z]+ \d+\b")
EPISODES = 100


class Poison(Mapping[str, Any]):
    """An info that may not be read, but for the names given."""

    def __init__(self, info: Mapping[str, Any], allowed: tuple[str, ...] = ()):
        self._info, self._allowed = info, allowed

    def __getitem__(self, key: str) -> Any:
        assert key in self._allowed, f"read info[{key!r}]"
        return self._info[key]

    def __iter__(self) -> Any:
        raise AssertionError("listed info")

    def __len__(self) -> int:
        raise AssertionError("counted info")


def make(*types: str) -> gym.Env:
    return gym.make("backtrail/ALFWorld-v0", data="generated-small", task_types=types or None)


def play(
    env: gym.Env, searcher: Searcher, seed: int, allowed: tuple[str, ...] = ()
) -> tuple[list[Turn], list[str], bool]:
    """Play an episode; return the turns, the texts it was shown before each, and how it ended."""
    observation, info = env.reset(seed=seed)
    searcher.reset(Task("", info["task_id"], observation["goal"], seed))
    turns, texts, done = [], [], False
    while not done:
        texts.append(f"{observation['goal']}\n{observation['text']}")
        turns.append(searcher.act(observation, Poison(info, allowed)))
        observation, _, terminated, truncated, info = env.step(turns[-1].action)
        done = terminated or truncated
    return turns, texts, info["success"]


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_it_succeeds_in_small_rooms_and_never_reads_info(task_type: str):
    env = make(task_type)
    won = sum(play(env, Searcher(), seed)[2] for seed in range(EPISODES))
    env.close()
    assert won >= 95


def test_it_names_only_what_it_was_shown_in_valid_responses():
    env = make()
    for seed in range(30):
        turns, texts, _ = play(env, Searcher(), seed)
        seen = ""
        for turn, text in zip(turns, texts, strict=True):
            seen += f"\n{text}"
            named = set(THING.findall(f"{turn.explore}\n{turn.memory}\n{turn.action}"))
            assert named <= set(THING.findall(seen)), turn
            assert turn.explore.strip() and turn.memory.strip()
            parsed = parse(turn.response)
            assert parsed.valid
            assert (parsed.explore, parsed.memory, parsed.action) == (turn.explore, turn.memory, turn.action)
    env.close()


def test_what_is_left_to_explore_shrinks_as_it_looks():
    env = make("pick_and_place_simple")
    for seed in range(10):
        turns, _, won = play(env, Searcher(), seed)
        left = [len(turn.explore.split(",")) for turn in turns if turn.explore != "nothing"]
        assert won and left == sorted(left, reverse=True)
    env.close()


def test_faults_are_drawn_from_the_seed_of_the_task():
    env = make()
    allowed = ("admissible_actions",)  # what is random is taken from them
    careless = [
        [(turn.action, turn.explore) for turn in play(env, Searcher(0.5, 0.3), seed, allowed)[0]] for seed in range(12)
    ]
    again = [
        [(turn.action, turn.explore) for turn in play(env, Searcher(0.5, 0.3), seed, allowed)[0]] for seed in range(12)
    ]
    careful = [[(turn.action, turn.explore) for turn in play(env, Searcher(), seed)[0]] for seed in range(12)]
    env.close()
    assert careless == again
    same = sum(ours == theirs for ours, theirs in zip(careless, careful, strict=True))
    assert 0 < same < 12, "some episodes are forgetful, and only those are noisy"


def test_the_forgetful_do_worse():
    env = make()
    won = {share: sum(play(env, Searcher(share), seed)[2] for seed in range(20)) for share in (0.0, 1.0)}
    env.close()
    assert won[1.0] <= won[0.0]


def test_another_world_is_an_error():
    searcher = Searcher()
    searcher.reset(Task("", "", "find a pen"))
    with pytest.raises(AgentError, match="plays ALFWorld only"):
        searcher.act({"text": "You are in a shop."}, {})


def test_the_brief_prompt_is_one_short_message_of_the_user():
    words = {"goal": "find a pen", "text": "You see a desk 1.", "explore": "bed 1, desk 1", "memory": "found nothing"}
    for explore in ("", "bed 1, desk 1"):
        (message,) = Prompts("brief", "alfworld").render(words | {"explore": explore})
        assert message.role == "user" and all(
            value in message.content for value in {**words, "explore": explore}.values()
        )
        assert len(message.content) < sum(map(len, words.values())) + 80
    long = Prompts("explorer", "alfworld").render(words)
    assert sum(len(each.content) for each in long) > 5 * len(message.content)
