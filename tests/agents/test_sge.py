"""SGE's buffers, draws and plans."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import backtrail.benchmarks
from backtrail.agents.models import Message, MixedTemperature, Sampling
from backtrail.agents.sge import (
    PRESETS,
    Preset,
    Reflection,
    Strategies,
    evaluation_plan,
    min_p,
    reflect,
    sampling,
    training_plan,
)

DRAWS = 10_000


def filled(preset: Preset, failures: int = 4, successes: int = 4) -> Strategies:
    strategies = Strategies(preset)
    for number in range(failures):
        strategies.add("task", False, [f"failure {number}"])
    for number in range(successes):
        strategies.add("task", True, [f"success {number}"])
    return strategies


def within(count: int, probability: float, draws: int = DRAWS) -> bool:
    """Whether a count is within five standard deviations of a binomial's mean."""
    return abs(count - draws * probability) <= 5 * np.sqrt(draws * probability * (1 - probability)) + 1e-9


@pytest.mark.parametrize("name", PRESETS)
def test_draws_match_the_definition(name: str) -> None:
    preset, rng = PRESETS[name], np.random.default_rng(0)
    strategies = filled(preset)
    drawn = Counter(strategies.draw("task", rng) for _ in range(DRAWS))
    signs = Counter(
        {sign: sum(n for r, n in drawn.items() if r and r.sign == sign) for sign in ("negative", "positive")}
    )
    assert within(signs["negative"], preset.negative)
    assert within(signs["positive"], preset.positive)
    assert within(drawn[None], 1 - preset.negative - preset.positive)
    for reflection, count in drawn.items():
        if reflection:
            assert within(count, getattr(preset, reflection.sign) / 4), "every episode of a buffer is as likely"


def test_an_empty_buffer_gives_a_plain_rollout_and_no_second_draw() -> None:
    preset, rng = PRESETS["appworld"], np.random.default_rng(1)
    drawn = Counter(r.sign if r else None for r in (filled(preset, 0).draw("task", rng) for _ in range(DRAWS)))
    assert drawn["negative"] == 0 and within(drawn["positive"], 0.5) and within(drawn[None], 0.5)
    assert all(Strategies(preset).draw("task", rng) is None for _ in range(100))


def test_a_buffer_keeps_the_last_32_of_each_task_and_sign() -> None:
    strategies = Strategies(Preset(negative=0.5, positive=0.5))
    for number in range(40):
        strategies.add("a", False, [f"a{number}"])
        strategies.add("b", True, [f"b{number}"])
    assert strategies.sizes("a") == {"negative": 32, "positive": 0}
    assert strategies.sizes("b") == {"negative": 0, "positive": 32}
    rng = np.random.default_rng(2)
    seen = {r.strategies[0] for r in (strategies.draw("a", rng) for _ in range(4000)) if r}
    assert seen == {f"a{number}" for number in range(8, 40)}


def test_an_entry_is_the_whole_episode() -> None:
    strategies = Strategies(Preset(negative=1, positive=0))
    strategies.add("task", False, ["first", " ", "second"], "two tests failed")
    strategies.add("task", False, ["", "\n"])
    assert strategies.sizes("task") == {"negative": 1, "positive": 0}
    drawn = strategies.draw("task", np.random.default_rng(0))
    assert drawn == Reflection("negative", ("first", "second"), "two tests failed")


@given(st.lists(st.tuples(st.text(max_size=5), st.booleans(), st.lists(st.text(), max_size=3), st.text()), max_size=20))
def test_saved_buffers_draw_the_same(tmp_path_factory: pytest.TempPathFactory, added: list) -> None:
    strategies = Strategies(Preset(negative=0.5, positive=0.5, size=2))
    for entry in added:
        strategies.add(*entry)
    path = tmp_path_factory.mktemp("sge") / "strategies.json"
    strategies.save(path)
    again = Strategies.load(path)
    assert again.preset == strategies.preset
    for task_id, *_ in added:
        assert again.sizes(task_id) == strategies.sizes(task_id)
        rngs = np.random.default_rng(3), np.random.default_rng(3)
        assert all(strategies.draw(task_id, rngs[0]) == again.draw(task_id, rngs[1]) for _ in range(10))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        json.dumps({"format": 2, "preset": {}, "buffers": []}),
        json.dumps({"format": 1, "preset": {"other": 1}, "buffers": []}),
        json.dumps({"format": 1, "preset": {}, "buffers": [{"task_id": "a", "sign": "odd", "episodes": []}]}),
        json.dumps(
            {
                "format": 1,
                "preset": {},
                "buffers": [{"task_id": "a", "sign": "positive", "episodes": [{"strategies": "abc", "feedback": ""}]}],
            }
        ),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "strategies.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="Expected strategy buffers"):
        Strategies.load(path)


def test_evaluation_never_reflects() -> None:
    preset = Preset(negative=0.5, positive=0.5)
    trained = training_plan(
        preset, Sampling(), "<s>", "</s>", strategies=filled(preset), task_id="task", rng=np.random.default_rng(0)
    )
    measured = evaluation_plan(preset, Sampling(), "<s>", "</s>")
    assert trained.reflection is not None and measured.reflection is None
    assert trained.sampling == measured.sampling
    assert not {"strategies", "task_id", "rng"} & set(inspect.signature(evaluation_plan).parameters)


def test_what_measures_holds_no_buffers() -> None:
    for folder in backtrail.benchmarks.__path__:
        for path in Path(folder).rglob("*.py"):
            text = path.read_text("utf-8")
            assert "training_plan" not in text and "Strategies" not in text, f"{path} could reflect"


def test_the_papers_values() -> None:
    """SGE, Table 2 and the reflection probabilities."""
    values = {
        name: (p.token_temperature, p.strategy_temperature, p.negative, p.positive, p.size)
        for name, p in PRESETS.items()
    }
    assert values["code"] == values["androidworld"] == (0.7, 1.2, 0.25, 0.1, 32)
    assert values["langr"] == (0.6, 1.0, 0.25, 0.1, 32)
    assert values["appworld"] == (0.7, 1.2, 0.25, 0.5, 32)
    assert {name for name, p in PRESETS.items() if p.source.startswith("ours")} == {"alfworld", "webshop", "osworld"}
    with pytest.raises(ValueError, match="sum of at most 1"):
        Preset(negative=0.6, positive=0.5)


def test_only_the_temperatures_change() -> None:
    base = Sampling(temperature=0.3, max_tokens=7, stop=("x",), seed=5)
    assert sampling(PRESETS["langr"], base, "<e>", "</e>") == Sampling(
        temperature=0.6, max_tokens=7, stop=("x",), seed=5, mixed=MixedTemperature("<e>", "</e>", 1.0)
    )
    assert min_p(base, 0.1) == Sampling(temperature=0.3, min_p=0.1, max_tokens=7, stop=("x",), seed=5)


def test_a_reflection_is_added_to_the_last_user_message() -> None:
    prompt = [Message("system", "S"), Message("user", "U"), Message("assistant", "<e>")]
    shown = reflect(prompt, Reflection("negative", ("look", "go"), "not there"))
    assert [message.role for message in shown] == ["system", "user", "assistant"]
    text = shown[1].content
    assert text.startswith("U\n") and "failed" in text and "1. look\n2. go\n" in text and "not there" in text
    assert shown[0] == prompt[0] and shown[2] == prompt[2] and prompt[1].content == "U"
    assert "succeeded" in reflect(prompt, Reflection("positive", ("look",)))[1].content
    assert reflect(prompt, None) is prompt
    with pytest.raises(ValueError, match="user message"):
        reflect(prompt[:1], Reflection("positive", ("look",)))
