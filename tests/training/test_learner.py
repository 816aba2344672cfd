"""The learner: log-probabilities as transformers computes them, and gradient steps that do not depend on how rows are cut."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from making_runs import loaded

from backtrail.agents.models.hf import HFModel
from backtrail.agents.models.hf_load import Loaded
from backtrail.agents.models.logprobs import token_logprobs
from backtrail.training.config import Config
from backtrail.training.learner import Learner, Row, forward, micro_batches
from backtrail.training.run import save_model

HEAT = st.sampled_from([0.0, 0.4, 1.0, 1.2])


@pytest.fixture(scope="module")
def model(tiny: Path) -> Any:
    return loaded(tiny).model


@st.composite
def some_rows(draw: st.DrawFn) -> list[Row]:
    ids = st.integers(0, 900)
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        tokens = tuple(draw(st.lists(ids, min_size=1, max_size=8)))
        heat = tuple(draw(st.lists(HEAT, min_size=len(tokens), max_size=len(tokens))))
        rows.append(Row(tuple(draw(st.lists(ids, min_size=1, max_size=12))), tokens, draw(st.sampled_from([heat, ()]))))
    return rows


def rows(*lengths: tuple[int, int]) -> list[Row]:
    rng = np.random.default_rng(sum(map(sum, lengths)))
    ids = [[tuple(rng.integers(900, size=size).tolist()) for size in pair] for pair in lengths]
    return [Row(prompt, response, (0.7,) * len(response)) for prompt, response in ids]


MIXED = rows((9, 4), (3, 7), (5, 1), (12, 2), (4, 4))


def plain(model: Any, row: Row) -> tuple[list[float], list[float]]:
    """Return log-probabilities and entropies of one row without padding, token by token."""
    with torch.no_grad():
        logits = model(torch.tensor([[*row.prompt_ids, *row.token_ids]])).logits[0].double()
    found, spread = [], []
    for place, token in enumerate(row.token_ids):
        heat = row.temperatures[place] if row.temperatures else 1.0
        scores = logits[len(row.prompt_ids) - 1 + place] / (heat or 1.0)
        chances = torch.softmax(scores, -1)
        found.append(math.log(float(chances[token])))
        spread.append(-sum(float(chance) * math.log(float(chance)) for chance in chances if chance > 0))
    return found, spread


@settings(max_examples=8)
@given(some_rows())
def test_forward_scores_each_row_as_if_it_were_alone(model: Any, some: list[Row]):
    scored = forward(model, some)
    assert scored.logprobs.shape == scored.mask.shape == (len(some), max(len(row.token_ids) for row in some))
    heat = [row.temperatures or (1.0,) * len(row.token_ids) for row in some]
    other = token_logprobs(model, [row.prompt_ids for row in some], [row.token_ids for row in some], heat)
    for row, found, mask, theirs in zip(some, scored.logprobs.tolist(), scored.mask.tolist(), other, strict=True):
        length = len(row.token_ids)
        assert mask == [1.0] * length + [0.0] * (len(mask) - length)
        assert found[length:] == [0.0] * (len(mask) - length)
        np.testing.assert_allclose(found[:length], theirs.tolist(), atol=2e-5)
        np.testing.assert_allclose(found[:length], plain(model, row)[0], atol=2e-5)
    assert not scored.entropy.any(), "nobody asked for it"


@settings(max_examples=3)
@given(some_rows())
def test_entropy_is_that_of_the_distribution_a_token_was_drawn_from(model: Any, some: list[Row]):
    scored = forward(model, some, entropy=True)
    assert not scored.entropy.requires_grad
    for row, found in zip(some, scored.entropy.tolist(), strict=True):
        length = len(row.token_ids)
        np.testing.assert_allclose(found[:length], plain(model, row)[1], atol=1e-4)
        assert found[length:] == [0.0] * (len(found) - length)


@settings(max_examples=30)
@given(some_rows(), st.integers(1, 60))
def test_micro_batches_are_a_partition_within_the_budget(some: list[Row], budget: int):
    batches = list(micro_batches(some, budget))
    assert sorted(place for batch in batches for place in batch) == list(range(len(some)))
    for batch in batches:
        wide = max(len(some[place].prompt_ids) for place in batch) + max(len(some[place].token_ids) for place in batch)
        assert len(batch) == 1 or wide * len(batch) <= budget


def weights(learner: Learner) -> dict[str, Any]:
    return {name: value.detach().clone() for name, value in learner.loaded.model.named_parameters()}


def largest(a: dict[str, Any], b: dict[str, Any]) -> float:
    return max(float((a[name] - b[name]).abs().max()) for name in a)


def test_the_size_of_micro_batches_changes_no_gradient(tiny: Path):
    found = []
    for budget in (1, 40, 8192):
        learner = Learner(loaded(tiny), Config(micro_tokens=budget))
        for places in learner.micro(MIXED):
            forward(learner.loaded.model, [MIXED[place] for place in places]).logprobs.sum().backward()
        found.append([parameter.grad.clone() for parameter in learner.parameters])
    for gradients in found[1:]:
        for ours, theirs in zip(gradients, found[0], strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_the_first_loss_of_imitation_is_the_mean_over_tokens(tiny: Path):
    learner = Learner(loaded(tiny), Config())
    expected = -np.concatenate(learner.logprobs(MIXED)).mean()
    assert learner.imitate(MIXED, 1e-3) == pytest.approx(expected, rel=1e-5)


def test_imitation_lowers_the_loss_and_counts_versions(tiny: Path):
    learner = Learner(loaded(tiny), Config())
    losses = [learner.imitate(MIXED, 1e-3) for _ in range(8)]
    assert losses[-1] < 0.5 * losses[0] and learner.version == 8


def test_a_gradient_that_is_not_finite_leaves_weights_and_version(tiny: Path):
    learner = Learner(loaded(tiny), Config())
    before = weights(learner)
    (torch.stack([parameter.sum() for parameter in learner.parameters]).sum() * math.nan).backward()
    assert not math.isfinite(learner.step(1e-3))
    assert largest(before, weights(learner)) == 0.0 and learner.version == 0
    assert all(parameter.grad is None for parameter in learner.parameters)
    learner.imitate(MIXED, 1e-3)
    after = weights(learner)
    assert largest(before, after) > 0 and all(torch.isfinite(value).all() for value in after.values())


def test_logprobs_leave_the_mode_and_are_those_of_forward(tiny: Path):
    learner = Learner(loaded(tiny), Config(micro_tokens=30))
    learner.loaded.model.train()
    found = learner.logprobs(MIXED)
    assert learner.loaded.model.training
    scored = forward(learner.loaded.model, MIXED).logprobs.tolist()
    for row, ours, theirs in zip(MIXED, found, scored, strict=True):
        assert ours.dtype == np.float32 and len(ours) == len(row.token_ids)
        np.testing.assert_allclose(ours, theirs[: len(ours)], atol=2e-5)


# ---- weights for samplers


def test_tied_embeddings_are_sent_under_both_names(tiny: Path):
    learner = Learner(loaded(tiny), Config())
    sent = dict(learner.weights())
    assert sent.keys() == learner.loaded.model.state_dict().keys()
    assert torch.equal(sent["lm_head.weight"], sent["model.embed_tokens.weight"])
    assert sent["lm_head.weight"].data_ptr() != learner.loaded.model.lm_head.weight.data_ptr(), "a copy"


@pytest.fixture
def adapted(tiny: Path) -> Learner:
    """A learner with an adapter that is no longer zero."""
    pytest.importorskip("peft")
    learner = Learner(loaded(tiny), Config(lora_rank=4))
    for _ in range(3):
        learner.imitate(MIXED, 1e-2)
    return learner


def as_plain(tiny: Path, sent: dict[str, Any]) -> Loaded:
    other = loaded(tiny)
    other.model.load_state_dict(sent)
    return other


def test_an_adapter_is_sent_merged(tiny: Path, adapted: Learner):
    sent = dict(adapted.weights())
    other = Learner(as_plain(tiny, sent), Config())
    assert sent.keys() == other.loaded.model.state_dict().keys()
    ours, theirs = adapted.logprobs(MIXED), other.logprobs(MIXED)
    np.testing.assert_allclose(np.concatenate(ours), np.concatenate(theirs), atol=1e-4)
    base = Learner(loaded(tiny), Config()).logprobs(MIXED)
    assert np.abs(np.concatenate(ours) - np.concatenate(base)).max() > 0.01


def test_sending_changes_no_bit_however_often_and_if_broken_off(adapted: Learner):
    before = weights(adapted)
    for _ in range(3):
        list(adapted.weights())
    next(adapted.weights())
    assert largest(before, weights(adapted)) == 0.0


def test_an_adapter_trains_alone_and_a_later_stage_goes_on_with_it(tiny: Path, adapted: Learner):
    frozen = {name: value for name, value in weights(adapted).items() if ".lora_" not in name}
    later = Learner(adapted.loaded, Config(lora_rank=4))
    assert later.loaded is adapted.loaded
    later.imitate(MIXED, 1e-2)
    assert largest(frozen, {name: value for name, value in weights(later).items() if name in frozen}) == 0.0
    assert len(later.parameters) == len(adapted.parameters) == len(weights(later)) - len(frozen)
    assert dict(later.weights()).keys() == loaded(tiny).model.state_dict().keys()


def test_an_adapter_starts_the_same_each_time_and_changes_nothing(tiny: Path):
    pytest.importorskip("peft")
    before = torch.get_rng_state()
    one, two = (Learner(loaded(tiny), Config(lora_rank=4)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert largest(weights(one), weights(two)) == 0.0
    base = Learner(loaded(tiny), Config()).logprobs(MIXED)
    np.testing.assert_array_equal(np.concatenate(one.logprobs(MIXED)), np.concatenate(base))


def test_a_saved_model_is_merged_and_loads_as_any_other(tiny: Path, adapted: Learner, tmp_path: Path):
    before = weights(adapted)
    save_model(adapted, tmp_path / "model")
    assert largest(before, weights(adapted)) == 0.0
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    other = loaded(tmp_path / "model")
    assert type(other.model).__name__ == "Qwen3ForCausalLM"
    np.testing.assert_allclose(
        np.concatenate(Learner(other, Config()).logprobs(MIXED)), np.concatenate(adapted.logprobs(MIXED)), atol=1e-4
    )
    assert HFModel(other).details["chat_template"] == HFModel(adapted.loaded).details["chat_template"]
