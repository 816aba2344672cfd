"""The exploration reward of a batch: gates, both terms, the order of scoring and learning, and what is logged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making_transitions import transition

from backtrail.training.config import Config
from backtrail.training.explore import Exploration, auc
from backtrail.training.posterior import Insight, Posterior, Scores, TabularPosterior
from backtrail.training.transition import Transition


def step(number: int = 0, **changes: Any) -> Transition:
    texts: dict[str, Any] = {
        "goal": "g",
        "observation": "o",
        "next_observation": "then",
        "explore": "x",
        "memory": "m",
        "success": True,
    }
    first: dict[str, Any] = {"episode": f"e{number}", "explore_before": "", "memory_before": ""}
    return transition(**(texts | first | changes))


class Script(Posterior):
    """Scores a text by a table and keeps what it was asked and taught."""

    def __init__(self, logq: dict[str, float], prior: dict[str, float] | None = None):
        self.logq, self.prior = logq, prior or {}
        self.calls: list[tuple[str, Any]] = []

    def cut(self, text: str) -> str:
        return text[:4]

    def score(self, items: Sequence[Insight], *, prior: bool = False) -> Scores:
        self.calls.append(("score", (list(items), prior)))
        logq = np.array([self.logq[item.memory] for item in items])
        logp = np.array([self.prior[item.memory] for item in items]) if prior else None
        return Scores(logq, np.full(len(items), 2), logp)

    def update(self, items: Sequence[Insight], outcomes: np.ndarray, tasks: Sequence[str]) -> dict[str, float]:
        self.calls.append(("update", (list(items), outcomes.tolist(), list(tasks))))
        return {"posterior/steps": 1.0}

    def score_released(
        self, now: Sequence[Insight], following: Sequence[Insight | None], outcomes: np.ndarray
    ) -> tuple[Scores, Scores]:
        self.calls.append(("released", (list(now), list(following), outcomes.tolist())))
        count = len(now)
        return (
            Scores(np.full(count, -1.0), np.ones(count, int), np.full(count, -1.0)),
            Scores(np.full(count, np.nan), np.zeros(count, int), np.full(count, np.nan)),
        )

    def save(self, folder: str | Path) -> None: ...

    def restore(self, folder: str | Path) -> None: ...


def test_the_reward_is_the_larger_term() -> None:
    posterior = Script({"m": -2.0, "m\nthen": -1.0, "n": -1.0, "n\nthen": -1.0})
    rows = [step(0), step(1, memory="n", success=False), step(2, next_observation="")]
    rewards, metrics = Exploration(posterior, Config(gamma_explore=0.9)).reward(rows, 0)
    assert rewards == pytest.approx([0.81 * math.exp(-0.5), math.exp(-0.5), math.exp(-1.0)])
    assert metrics["explore/first_share"] == pytest.approx(2 / 3)
    assert metrics["explore/won"] == pytest.approx((0.81 * math.exp(-0.5) + math.exp(-1.0)) / 2)
    assert metrics["explore/lost"] == pytest.approx(math.exp(-0.5))
    assert metrics["explore/auc"] == 0 and metrics["explore/scored"] == 1 and metrics["posterior/steps"] == 1
    assert metrics["seconds/posterior_score"] >= 0 and metrics["seconds/posterior_update"] >= 0


def test_scores_come_before_the_update_on_both_terms() -> None:
    posterior = Script({"m": -2.0, "m\nthen": -1.0})
    rows = [step(0, task_id="a", next_observation="", success=False), step(1, task_id="b")]
    Exploration(posterior, Config()).reward(rows, 0)
    (first, asked), (second, taught) = posterior.calls
    now, then = Insight("g\no", "x", "m"), Insight("g\no", "x", "m\nthen")
    assert (first, second) == ("score", "update")
    assert asked == ([now, now, then], False)
    assert taught == ([now, now, then], [0.0, 1.0, 1.0], ["a", "b", "b"])


def test_the_ratio_asks_for_the_prior() -> None:
    posterior = Script({"m": -2.0, "m\nthen": -5.0}, {"m": -1.0, "m\nthen": -6.0})
    rewards, _ = Exploration(posterior, Config(probability="ratio", gamma_explore=0.9)).reward([step()], 0)
    assert posterior.calls[0][1][1] is True
    assert rewards == pytest.approx([max(math.exp(-0.5), 0.81)])


GATED = [
    step(0),
    step(1, valid=False),
    step(2, explore=" "),
    step(3, memory=""),
    step(4, reflection=True),
    step(5, next_observation=""),
]


def test_the_gate_closes_on_what_says_nothing() -> None:
    posterior = Script({"m": -1.0, "m\nthen": -9.0})
    rewards, metrics = Exploration(posterior, Config(gate=True)).reward(GATED, 0)
    assert (rewards > 0).tolist() == [True, False, False, False, False, True]
    assert metrics["explore/scored"] == pytest.approx(2 / 6)
    assert len(posterior.calls[1][1][0]) == 3, "nor is it learned"


def test_without_a_gate_only_reflections_earn_nothing() -> None:
    posterior = Script({"m": -1.0, "m\nthen": -9.0, "": -1.0, "then": -9.0})
    rewards, _ = Exploration(posterior, Config(gate=False)).reward(GATED, 0)
    assert (rewards > 0).tolist() == [True, True, True, True, False, True]


def test_the_previous_reading_gates_by_the_texts_it_reads() -> None:
    posterior = Script({"p": -1.0, "p\nthen": -9.0})
    rows = [step(0), step(1, explore_before="x", memory_before="p", memory="")]
    rewards, _ = Exploration(posterior, Config(reading="previous")).reward(rows, 0)
    assert (rewards > 0).tolist() == [False, True]


def test_it_learns_every_few_iterations() -> None:
    orders: list[tuple[Any, str]] = [("batch_after", "update"), ("sample_before", "released")]
    for order, learned in orders:
        posterior = Script({"m": -1.0, "m\nthen": -1.0})
        exploration = Exploration(posterior, Config(posterior_every=3, posterior_update=order))
        kinds: list[list[str]] = []
        for iteration in range(5):
            posterior.calls.clear()
            exploration.reward([step()], iteration)
            kinds.append([kind for kind, _ in posterior.calls])
        both = ["score", "update"] if learned == "update" else ["released"]
        assert kinds == [both, ["score"], ["score"], both, ["score"]]


def test_the_released_order_changes_the_reward() -> None:
    rows = [step(0), step(1, memory="n"), step(2)]
    after, _ = Exploration(TabularPosterior(), Config()).reward(rows, 0)
    before, metrics = Exploration(TabularPosterior(), Config(posterior_update="sample_before")).reward(rows, 0)
    assert after.tolist() == [1.0, 1.0, 1.0], "an empty table knows one place for all texts"
    assert before == pytest.approx([2 / 5, 2 / 9, 3 / 11])
    assert "posterior/texts" not in metrics


def test_the_next_batch_is_scored_by_what_was_learned() -> None:
    exploration = Exploration(TabularPosterior(), Config())
    rows = [step(0), step(1, memory="n", success=False)]
    exploration.reward(rows, 0)
    rewards, metrics = exploration.reward(rows, 1)
    assert rewards == pytest.approx([2 / 7, 1 / 7]) and metrics["explore/auc"] == 1


@pytest.mark.parametrize("rows", [[], [step(reflection=True)], [step(valid=False)]])
@pytest.mark.parametrize("order", ["batch_after", "sample_before"])
def test_a_batch_with_nothing_to_score(rows: list[Transition], order: Any) -> None:
    rewards, metrics = Exploration(TabularPosterior(), Config(posterior_update=order)).reward(rows, 0)
    assert rewards.tolist() == [0.0] * len(rows)
    assert math.isnan(metrics["explore/auc"]) and math.isnan(metrics["explore/first_share"])


@given(st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0]) | st.floats(-1e6, 1e6), st.booleans())))
def test_auc_is_the_share_of_pairs_in_order(pairs: list[tuple[float, bool]]) -> None:
    got = auc(np.array([score for score, _ in pairs]), np.array([label for _, label in pairs], bool))
    won = [score for score, label in pairs if label]
    lost = [score for score, label in pairs if not label]
    if not won or not lost:
        assert math.isnan(got)
    else:
        ordered = sum((high > low) + 0.5 * (high == low) for high in won for low in lost)
        assert got == pytest.approx(ordered / (len(won) * len(lost)), abs=1e-12)
