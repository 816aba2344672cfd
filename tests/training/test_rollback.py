"""The learning-to-rollback stage: every pair is checked by playing it again from the reset, on another environment."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backtrail.agents.base import Task
from backtrail.agents.explorer import BriefExplorer, Explorer
from backtrail.agents.models.base import Completion, Model, Prompt, Sampling
from backtrail.agents.response import Response, parse, render
from backtrail.benchmarks.statistics import wilson
from backtrail.envs.core import ExplorableEnv, SnapshotKind
from backtrail.envs.corridor import Corridor
from backtrail.training.rollback import (
    ModelTeacher,
    RollbackPair,
    RollbackStep,
    as_demonstrations,
    collect,
    heldout,
    load_pairs,
    measure,
    rollback_prompt,
    save_pairs,
    to_dataset,
)
from backtrail.training.rollback_collect import Walk, _capped
from backtrail.training.workers import EnvRecipe

ALFWORLD = EnvRecipe("backtrail/ALFWorld-v0", {"data": "generated-small"})
CORRIDOR = EnvRecipe("rollback-test/Corridor-v0")
ONE_WAY = EnvRecipe("rollback-test/OneWay-v0")
STEP = RollbackStep(
    goal="find a pen",
    before_text="You arrive at drawer 2. The drawer 2 is closed.",
    after_text="You open the drawer 2. The drawer 2 is open. In it, you see nothing.",
    action_taken="open drawer 2",
)


class OneWay(Corridor):
    """A corridor that cannot be put back."""

    snapshot_kind: ClassVar[SnapshotKind] = "none"  # pyright: ignore[reportIncompatibleVariableOverride]

    def snapshot(self) -> Any:
        raise AssertionError("nobody may ask for a snapshot that was declared impossible")


@pytest.fixture(autouse=True, scope="module")
def _registered() -> Iterator[None]:
    gym.register("rollback-test/Corridor-v0", entry_point=lambda **options: Corridor(**options), max_episode_steps=20)
    gym.register("rollback-test/OneWay-v0", entry_point=lambda **options: OneWay(**options), max_episode_steps=20)
    yield
    for name in ("Corridor", "OneWay"):
        del gym.registry[f"rollback-test/{name}-v0"]


class Scripted(Model):
    """Answers from a list, again and again, and keeps what it was asked."""

    def __init__(self, answers: Sequence[str]):
        self.name, self.details = "scripted", {}
        self.answers, self.place = answers, 0
        self.asked: list[Prompt] = []
        self.sampled: list[Sampling] = []
        self.calls = 0

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
        self.calls += 1
        self.asked += prompts
        self.sampled += sampling
        found: list[Completion] = []
        for _ in prompts:
            found.append(Completion(self.answers[self.place % len(self.answers)], "stop", 1, 1))
            self.place += 1
        return found


def replayed(recipe: EnvRecipe, pair: RollbackPair) -> list[str]:
    """The fingerprints before the step, after it and after the way back, played from the reset."""
    env = replace(recipe, max_steps=1000, rollback=()).make()
    _, info = env.reset(seed=pair.seed)
    assert info["task_id"] == pair.task_id
    bottom = env.unwrapped
    assert isinstance(bottom, ExplorableEnv)
    for action in pair.trail:
        env.step(action)
    seen = [bottom.fingerprint()]
    for action in (pair.action_taken, pair.action):
        _, _, terminated, _, _ = env.step(action)
        assert not terminated
        seen.append(bottom.fingerprint())
    return seen


@pytest.fixture(scope="module")
def pairs() -> list[RollbackPair]:
    return collect(ALFWORLD, 300, 5, walk="mixed")[0]


# ---- collecting -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recipe", "walk"),
    [
        (ALFWORLD, "random"),
        (ALFWORLD, "searcher"),
        (EnvRecipe("backtrail/ALFWorld-v0", {"data": "generated"}), "mixed"),
        (replace(ALFWORLD, rollback=("act",)), "random"),
        (CORRIDOR, "random"),
        (ONE_WAY, "random"),
    ],
)
def test_every_pair_leads_back_when_played_again_from_the_reset(recipe: EnvRecipe, walk: Walk) -> None:
    found, report = collect(recipe, 60, 3, walk=walk)
    for pair in found:
        before, after, back = replayed(recipe, pair)
        assert (before, after, back) == (pair.fingerprint_before, pair.fingerprint_after, pair.fingerprint_before)
        assert before != after
        assert pair.kind == pair.action_taken.split()[0]
        assert pair.teacher == "rule"
    assert sum(count.kept for count in report.kinds.values()) == len(found)
    assert all(count.kept <= count.verified <= count.tried for count in report.kinds.values())


def test_a_small_world_is_exhausted_and_gives_each_pair_once() -> None:
    for recipe in (CORRIDOR, ONE_WAY):  # four doors between five rooms, both ways
        found, report = collect(recipe, 1000, 0)
        assert (
            len({(pair.fingerprint_before, pair.fingerprint_after, pair.action) for pair in found}) == len(found) == 8
        )
        assert {kind: count.kept for kind, count in report.kinds.items()} == {"left": 4, "right": 4}
        assert report.irreversible == ()


def test_a_world_that_cannot_be_put_back_is_walked_on_after_each_rollback() -> None:
    model = Scripted(["<action>jump</action>", "<action>left</action>", "<action>right</action>"])
    found, _ = collect(ONE_WAY, 40, 0, teacher=ModelTeacher(model))
    rights = [pair for pair in found if pair.kind == "right"]
    assert len(rights) == 4
    assert all(replayed(ONE_WAY, pair)[2] == pair.fingerprint_before for pair in found)
    went = [pair.trail[:4] for pair in found if pair.trail[:1] == ("right",)]
    assert went and set(went) == {("right", "jump", "left", "right")}


def test_no_pair_occurs_twice(pairs: list[RollbackPair]) -> None:
    assert len({(pair.fingerprint_before, pair.fingerprint_after, pair.action) for pair in pairs}) == len(pairs) == 300


def test_what_cannot_be_undone_is_counted_and_never_in_the_pairs() -> None:
    for task_type, verb in (("pick_heat_then_place_in_recep", "heat"), ("pick_clean_then_place_in_recep", "clean")):
        recipe = EnvRecipe("backtrail/ALFWorld-v0", {"data": "generated-small", "task_types": [task_type]})
        found, report = collect(recipe, 150, 0, walk="searcher")
        assert report.kinds[verb].tried > 0
        assert report.kinds[verb].verified == report.kinds[verb].kept == 0
        assert verb in report.irreversible
        assert not {"heat", "clean", "cool", "slice"} & {pair.kind for pair in found}
        assert not {"heat", "clean", "cool", "slice"} & {pair.action.split()[0] for pair in found}


def test_the_way_back_names_only_what_the_prompt_shows(pairs: list[RollbackPair]) -> None:
    agent = BriefExplorer(Scripted([""]))
    for pair in pairs:
        shown = rollback_prompt(agent, replace(pair, explore_before="", memory_before=""))[-1].content
        assert all(name in shown for name in re.findall(r"[a-z]+ [0-9]+", pair.action)), pair


def test_the_same_seed_gives_the_same_pairs_with_or_without_the_rollback_wrapper(pairs: list[RollbackPair]) -> None:
    assert collect(replace(ALFWORLD, rollback=("act",)), 300, 5, walk="mixed")[0] == pairs
    assert collect(ALFWORLD, 300, 6, walk="mixed")[0] != pairs


def test_the_searcher_carries_its_texts_and_the_random_walk_none() -> None:
    random, searching = (collect(ALFWORLD, 60, 1, walk=walk)[0] for walk in ("random", "searcher"))
    assert not any(pair.explore_before or pair.memory_before for pair in random)
    assert all(pair.memory_before for pair in searching if pair.trail)


def test_balance_evens_out_the_kinds() -> None:
    even, odd = (Counter(pair.kind for pair in collect(ALFWORLD, 200, 0, balance=flag)[0]) for flag in (True, False))
    assert even.total() == odd.total() == 200
    assert even.most_common()[0][1] < 0.3 * 200 and odd.most_common()[0][1] > 0.6 * 200


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=40), st.integers(1, 50))
def test_the_cap_is_as_low_as_the_number_of_pairs_allows(kinds: list[str], wanted: int) -> None:
    found = [_pair(kind, number) for number, kind in enumerate(kinds)]
    kept = _capped(found, wanted)
    assert len(kept) == min(wanted, len(found))
    assert [pair.seed for pair in kept] == sorted({pair.seed for pair in kept})
    sizes, shares = Counter(kinds), Counter(pair.kind for pair in kept)
    highest = max(shares.values())
    slack = sum(shares[kind] < min(sizes[kind], highest) for kind in sizes)  # kinds that might have given one more
    assert all(shares[kind] >= min(sizes[kind], highest) - slack for kind in sizes)


def _pair(kind: str, number: int) -> RollbackPair:
    return RollbackPair(
        goal="g",
        before_text="b",
        after_text="a",
        action_taken=f"{kind} it",
        task_id=f"task/{number}",
        action="undo it",
        kind=kind,
        teacher="rule",
        fingerprint_before="f",
        fingerprint_after=f"f{number}",
        seed=number,
        trail=(),
    )


def test_one_in_twenty_tasks_is_held_out_whole(pairs: list[RollbackPair]) -> None:
    assert 60 <= sum(heldout(_pair("go", number)) for number in range(2000)) <= 140
    held, trained = ({pair.task_id for pair in pairs if heldout(pair) is flag} for flag in (True, False))
    assert held and trained and not held & trained


def test_what_cannot_be_collected_is_refused() -> None:
    with pytest.raises(TypeError, match="ExplorableEnv, got CartPole"):
        collect(EnvRecipe("CartPole-v1"), 1, 0)
    with pytest.raises(ValueError, match="pairs=0"):
        collect(CORRIDOR, 0, 0)


# ---- the model as teacher -------------------------------------------------------------------------------


def test_wrong_proposals_of_a_model_are_dropped() -> None:
    model = Scripted(["<action>left</action>", "<action>fly</action>", "I would say\nleft"])
    found, report = collect(CORRIDOR, 1000, 0, teacher=ModelTeacher(model))
    assert {(pair.kind, pair.action, pair.teacher) for pair in found} == {("right", "left", "scripted")}
    assert len(found) == 4
    assert report.irreversible == ("left",)
    assert all(replayed(CORRIDOR, pair)[2] == pair.fingerprint_before for pair in found)


def test_a_teacher_is_shown_both_states_and_asked_with_different_seeds() -> None:
    model = Scripted(["<action>left</action>", "<action>left</action>", "<action></action>"])
    assert ModelTeacher(model)("win", "room 1", "room 2", "right", ["left", "right"]) == ["left"]
    assert len({sampling.seed for sampling in model.sampled}) == 3
    assert all(text in model.asked[0][0].content for text in ("win", "room 1", "room 2", "right", "left; right"))


def test_attempts_are_counted() -> None:
    model = Scripted(["<action>fly</action>", "<action>left</action>", "<action>right</action>"])
    for recipe in (CORRIDOR, ONE_WAY):
        assert collect(recipe, 10, 0, teacher=ModelTeacher(model), attempts=1)[0] == []
        both = collect(recipe, 10, 0, teacher=ModelTeacher(model), attempts=3)[0]
        assert {pair.kind for pair in both} >= {"right"}


# ---- what the model reads and writes --------------------------------------------------------------------


def test_the_prompt_says_what_was_done_from_where_and_carries_the_earlier_texts() -> None:
    agent = BriefExplorer(Scripted([""]))
    (message,) = rollback_prompt(agent, STEP)
    assert "explore: go back\nmemory: was at drawer 2, did open drawer 2\n" in message.content
    (message,) = rollback_prompt(agent, replace(STEP, explore_before="shelf 1", memory_before="found nothing"))
    expected = "explore: go back; shelf 1\nmemory: found nothing; was at drawer 2, did open drawer 2\n"
    assert expected in message.content
    (message,) = rollback_prompt(agent, replace(STEP, before_text="room 2! Dark."))
    assert "memory: was: room 2!, did open drawer 2" in message.content


def test_asking_leaves_a_running_agent_where_it_is() -> None:
    agent = Explorer(Scripted([render(Response("e", "m", "look"))]), show_admissible=True)
    agent.reset(Task("id", "task", "find a pen"))
    agent.act({"goal": "find a pen", "text": "x"}, {"admissible_actions": ["look"]})
    prompt = rollback_prompt(agent, replace(STEP, admissible=("close drawer 2", "look")))
    assert "close drawer 2" in prompt[-1].content
    assert agent.carried() == {"explore": "e", "memory": "m"}
    assert agent.task.task_id == "task"


def test_demonstrations_show_the_prompt_of_measuring_and_answer_in_full(pairs: list[RollbackPair]) -> None:
    agent = BriefExplorer(Scripted([""]))
    for pair, shown in zip(pairs, as_demonstrations(pairs, agent), strict=True):
        parsed = parse(shown.response)
        assert parsed.valid and parsed.action == pair.action
        assert (parsed.explore, parsed.memory) == (pair.explore_before or "nothing", pair.memory_before or "nothing")
        assert shown.prompt == rollback_prompt(agent, pair)
        assert shown.task_id == pair.task_id and shown.success
        text = shown.prompt[-1].content
        assert all(part in ("", "nothing") or part in text for part in (pair.explore_before, pair.memory_before))


# ---- files ----------------------------------------------------------------------------------------------


def test_pairs_come_back_from_a_file(pairs: list[RollbackPair], tmp_path: Path) -> None:
    odd = replace(pairs[0], goal="naïve\u2028“goal”")
    save_pairs(tmp_path / "pairs.jsonl", [*pairs, odd])
    assert load_pairs(tmp_path / "pairs.jsonl") == [*pairs, odd]
    with (tmp_path / "pairs.jsonl").open("a") as file:
        file.write('{"goal": "no pair"}\n')
    with pytest.raises(ValueError, match="line 302"):
        load_pairs(tmp_path / "pairs.jsonl")


def test_pairs_become_a_dataset(pairs: list[RollbackPair]) -> None:
    pytest.importorskip("datasets")
    agent = Explorer(Scripted([""]), benchmark="alfworld")
    rows = to_dataset(pairs[:40], agent)
    assert len(rows) == 40
    first, shown = rows[0], as_demonstrations(pairs[:1], agent)[0]
    assert [message["role"] for message in first["messages"]] == ["system", "user", "assistant"]
    assert [message["content"] for message in first["messages"]] == [*(m.content for m in shown.prompt), shown.response]
    assert rows["task_id"][:] == [pair.task_id for pair in pairs[:40]]
    assert rows["heldout"][:] == [heldout(pair) for pair in pairs[:40]]


# ---- measuring ------------------------------------------------------------------------------------------


def test_a_model_that_is_right_half_of_the_time_measures_as_that(pairs: list[RollbackPair]) -> None:
    some = pairs[:40]
    right = [render(Response("nothing", "nothing", pair.action)) for pair in some]
    model = Scripted([answer if number % 2 else "<action>look</action>" for number, answer in enumerate(right)])
    rate = measure(model, BriefExplorer, ALFWORLD, some, 0, batch=16)
    assert rate.total[:2] == (20, 40)
    assert rate.valid == 20
    assert rate.total[2:] == pytest.approx(wilson(20, 40)[1:], abs=1e-6)
    expected, asked = Counter(pair.kind for pair in some[1::2]), Counter(pair.kind for pair in some)
    assert {kind: each[:2] for kind, each in rate.kinds.items()} == {
        kind: (expected[kind], asked[kind]) for kind in asked
    }
    assert model.calls == 3
    assert model.asked == [rollback_prompt(BriefExplorer(model), pair) for pair in some]
    assert len({sampling.seed for sampling in model.sampled}) == 40


def test_steps_to_measure_on_are_found_by_the_seed() -> None:
    fresh = EnvRecipe("backtrail/ALFWorld-v0", {"data": "generated-small", "split": "valid_unseen"})
    shown = collect(fresh, 30, 9)[0]
    assert all(pair.task_id.startswith("valid_unseen/") for pair in shown)
    model = Scripted([render(Response("e", "m", pair.action)) for pair in shown])
    rate = measure(model, BriefExplorer, fresh, 30, 9)
    assert rate.total[:2] == (30, 30) and rate.total.high == 1.0


def test_the_word_rollback_is_no_way_back_and_one_way_worlds_are_played_again() -> None:
    said = Scripted([render(Response("e", "m", "rollback"))])
    assert measure(said, BriefExplorer, replace(ALFWORLD, rollback=("act",)), 20, 0).total[:2] == (0, 20)
    left = Scripted([render(Response("e", "m", "left"))])
    assert measure(left, BriefExplorer, ONE_WAY, 8, 0).total[:2] == (4, 8)


def test_pairs_of_another_recipe_and_no_pairs_are_refused(pairs: list[RollbackPair]) -> None:
    other = EnvRecipe("backtrail/ALFWorld-v0", {"data": "generated-small", "split": "valid_unseen"})
    with pytest.raises(ValueError, match="pairs of the same recipe"):
        measure(Scripted([""]), BriefExplorer, other, pairs[:5], 0)
    with pytest.raises(ValueError, match="got none"):
        measure(Scripted([""]), BriefExplorer, other, [], 0)
