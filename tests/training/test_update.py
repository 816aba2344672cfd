"""The policy update: which way it moves what, what it must not depend on, and that a stale sampler is caught."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from making_runs import jobs, loaded, roll

from backtrail.agents.models.base import Message, MixedTemperature, Sampling
from backtrail.agents.models.hf import HFModel
from backtrail.agents.response import Response, render
from backtrail.agents.sge import Plan
from backtrail.training.config import Config
from backtrail.training.demonstrations import encode
from backtrail.training.learner import Learner
from backtrail.training.transition import Transition
from backtrail.training.update import SPANS, Spans, StaleWeightsError, improve, probe, rows_of

MIXED = Sampling(0.6, max_tokens=40, mixed=MixedTemperature("<explore>", "</explore>", 1.2))
ONCE = Config(minibatches=1, epochs=1)
SEED = (0, 3, 0)


@pytest.fixture(scope="module")
def steps(warm: Path) -> list[Transition]:
    """What the model of the folder draws, with two temperatures in a response."""
    found = roll(HFModel(loaded(warm)), jobs(6), plan=lambda task_id, job: Plan(MIXED)).transitions
    assert {heat for step in found for heat in step.temperatures} == {0.6, 1.2}
    return found


def learner(folder: Path, config: Config = ONCE) -> Learner:
    return Learner(loaded(folder), config)


def weights(learner: Learner) -> Any:
    return torch.cat([parameter.detach().flatten() for parameter in learner.parameters])


def score(learner: Learner, steps: Sequence[Transition]) -> float:
    return float(sum(row.sum() for row in learner.logprobs(rows_of(steps))))


def some(steps: Sequence[Transition]) -> np.ndarray:
    """Return advantages of both signs."""
    return np.random.default_rng(0).normal(size=len(steps))


# ---- the first step


def test_at_the_first_step_nothing_has_moved(warm: Path, steps: list[Transition]):
    found = improve(learner(warm), steps, some(steps), ONCE, lr=1e-4, seed=SEED)
    assert found["clipped_low"] == found["clipped_high"] == 0.0
    assert 0 <= found["kl_old"] < 1e-8 and found["ratio_max"] == pytest.approx(1.0, abs=1e-4)
    assert found["rows"] == len(steps) and found["grad_norm"] > 0 and found["kl_reference"] == 0.0


def test_the_first_loss_is_the_mean_advantage_of_a_token(warm: Path, steps: list[Transition]):
    advantages = some(steps)
    found = improve(learner(warm), steps, advantages, replace(ONCE, aggregation="token"), lr=0.0, seed=SEED)
    lengths = [len(step.token_ids) for step in steps]
    assert found["loss"] == pytest.approx(-np.average(advantages, weights=lengths), abs=1e-4)


def test_no_advantage_leaves_the_weights(warm: Path, steps: list[Transition]):
    ours = learner(warm)
    before = weights(ours)
    assert improve(ours, steps, np.zeros(len(steps)), ONCE, lr=1e-2, seed=SEED) == {"rows": 0.0}
    assert torch.equal(weights(ours), before) and ours.version == 0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_advantage_moves_the_probability_of_a_response(warm: Path, steps: list[Transition], sign: float):
    ours, other = learner(warm), steps[len(steps) // 2]
    advantages = np.array([sign * (step is other) for step in steps])
    before = score(ours, [other])
    found = improve(ours, steps, advantages, ONCE, lr=1e-4, seed=SEED)
    assert sign * (score(ours, [other]) - before) > 0 and found["rows"] == 1.0


# ---- what the result does not depend on


def test_micro_batches_do_not_change_the_result(warm: Path, steps: list[Transition]):
    found = []
    for budget in (1, 600, 100_000):
        config = replace(ONCE, micro_tokens=budget, kl=0.1, minibatches=2)
        ours = learner(warm, config)
        numbers = improve(ours, steps, some(steps), config, lr=1e-5, seed=SEED, reference=loaded(warm).model)
        found.append((weights(ours), numbers))
    for values, numbers in found[1:]:
        assert float((values - found[0][0]).abs().max()) < 2e-5  # Adam's first step is lr, whatever the gradient's size
        assert numbers == pytest.approx(found[0][1], rel=1e-3, abs=1e-5)


def test_the_seed_orders_the_rows_and_nothing_else_does(warm: Path, steps: list[Transition]):
    config = replace(ONCE, minibatches=3)

    def after(seed: tuple[int, ...]) -> Any:
        ours = learner(warm, config)
        improve(ours, steps, some(steps), config, lr=1e-3, seed=seed)
        return weights(ours)

    assert torch.equal(after((1, 3, 5)), after((1, 3, 5)))
    assert not torch.equal(after((1, 3, 5)), after((1, 3, 6)))


@pytest.mark.parametrize("aggregation", ["token", "sequence", "constant", "trajectory"])
def test_epochs_and_minibatches_are_optimiser_steps(warm: Path, steps: list[Transition], aggregation: Any):
    config = Config(epochs=2, minibatches=3, aggregation=aggregation, dual_clip=3.0, max_tokens=40)
    ours = learner(warm, config)
    found = improve(ours, steps, some(steps), config, lr=3e-3, seed=SEED)
    assert ours.version == 6
    assert found["kl_old"] > 1e-5 and found["ratio_max"] > 1.05 and 0 < found["clipped_low"] + found["clipped_high"] < 1
    assert all(np.isfinite(value) for value in found.values())


def test_more_minibatches_than_rows_take_as_many_steps_as_rows(warm: Path, steps: list[Transition]):
    config = replace(ONCE, minibatches=8)
    ours = learner(warm, config)
    improve(ours, steps[:2], np.array([1.0, -1.0]), config, lr=1e-4, seed=SEED)
    assert ours.version == 2


def test_a_kl_pulls_back_to_the_reference(warm: Path, steps: list[Transition]):
    config = replace(ONCE, kl=1.0)
    ours, reference = learner(warm, config), loaded(warm).model
    for _ in range(3):
        ours.imitate(rows_of(steps[:2]), 1e-3)
    calm = np.concatenate(ours.logprobs(rows_of(steps), model=reference))
    frozen_before = copy.deepcopy(reference.state_dict())

    def away() -> float:
        return float(np.abs(np.concatenate(ours.logprobs(rows_of(steps))) - calm).mean())

    before, kls = away(), []
    for _ in range(6):
        found = improve(ours, steps, np.zeros(len(steps)), config, lr=3e-4, seed=SEED, reference=reference)
        assert found["rows"] == len(steps), "without an advantage there is a KL still"
        kls.append(found["kl_reference"])
    assert away() < 0.8 * before and kls[-1] < kls[0] and min(kls) > 0
    assert all(torch.equal(value, frozen_before[name]) for name, value in reference.state_dict().items())


# ---- spans


@pytest.fixture(scope="module")
def spans(tiny: Path) -> Spans:
    ready = loaded(tiny)
    return Spans(ready.tokenizer, ready.model.get_output_embeddings().weight.shape[0])


def shown(spans: Spans, tokenizer: Any, text: str) -> dict[str, str]:
    """Return the text of each part."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    found: dict[str, str] = dict.fromkeys(SPANS, "")
    for token, part in zip(ids, spans.of(ids), strict=True):
        found[SPANS[part]] += tokenizer.decode([token])
    return found


@pytest.mark.parametrize("words", [("desk 1, bed 2", "found nothing", "go to desk 1"), ("a", "b", "c")])
def test_a_rendered_response_has_each_part_with_its_closing_tag(tiny: Path, spans: Spans, words: tuple[str, ...]):
    tokenizer = loaded(tiny).tokenizer
    found = shown(spans, tokenizer, render(Response(*words)))
    for part, text in zip(SPANS, words, strict=False):
        inside, close, rest = found[part].partition(f"</{part}>")
        assert inside.split() == text.split() and close and not rest
    assert found["other"].split() == ["<explore>", "<memory>", "<action>"] or "<explore>" in found["other"]


def test_tags_of_several_tokens_and_broken_ones(spans: Spans, tiny: Path):
    tokenizer = loaded(tiny).tokenizer
    assert shown(spans, tokenizer, "no tags at all")["other"].split() == ["no", "tags", "at", "all"]
    left_open = shown(spans, tokenizer, "<action>go to bed 1")
    assert left_open["action"].split() == ["go", "to", "bed", "1"]
    # a tag that is drawn letter by letter counts from its last letter on
    ids = tokenizer.convert_tokens_to_ids(list("<memory>so</memory>."))
    assert [SPANS[part] for part in spans.of(ids)][len("<memory>") : -1] == ["memory"] * len("so</memory>")
    assert SPANS[spans.of(ids)[-1]] == "other"


def test_entropies_are_told_by_part(warm: Path, steps: list[Transition], spans: Spans):
    found = improve(learner(warm), steps, some(steps), ONCE, lr=0.0, seed=SEED, spans=spans)
    assert {f"entropy/{name}" for name in ("explore", "memory", "action")} <= found.keys()
    assert all(0 <= value < 8 for name, value in found.items() if name.startswith("entropy/"))


# ---- the probe


def test_sampler_and_learner_agree_on_mixed_temperatures(warm: Path, steps: list[Transition]):
    assert probe(learner(warm), steps, 1e-4) < 1e-4


def test_they_agree_after_every_sync(warm: Path):
    ours = learner(warm)
    for iteration in range(3):
        drawn = roll(HFModel(ours.loaded), jobs(3), plan=lambda task_id, job: Plan(MIXED)).transitions
        assert probe(ours, drawn, 1e-4) < 1e-4
        improve(ours, drawn, some(drawn), ONCE, lr=1e-3, seed=(0, 3, iteration))


def test_an_adapter_is_sampled_as_it_is_trained(warm: Path):
    pytest.importorskip("peft")
    ours = learner(warm, replace(ONCE, lora_rank=4))
    ours.imitate([encode(ours.loaded.tokenizer, (Message("user", "go"),), "so")], 1e-2)
    assert probe(ours, roll(HFModel(ours.loaded), jobs(2)).transitions, 1e-4) < 1e-4


def test_a_sampler_with_old_weights_is_caught(warm: Path):
    ours = learner(warm)
    stale = HFModel(replace(ours.loaded, model=copy.deepcopy(ours.loaded.model)))
    drawn = roll(stale, jobs(2)).transitions
    probe(ours, drawn, 1e-4)  # not stale yet
    improve(ours, drawn, some(drawn), ONCE, lr=1e-4, seed=SEED)
    with pytest.raises(StaleWeightsError, match="Sampler and learner differ by"):
        probe(ours, roll(stale, jobs(2)).transitions, 1e-4)


def test_one_stale_weight_is_caught(warm: Path):
    """Such as an output layer that was not sent because it is tied to the embeddings."""
    ours = learner(warm)
    stale = copy.deepcopy(ours.loaded.model)
    with torch.no_grad():
        ours.loaded.model.model.norm.weight *= 1.001
    with pytest.raises(StaleWeightsError):
        probe(ours, roll(HFModel(replace(ours.loaded, model=stale)), jobs(2)).transitions, 1e-4)


def test_what_is_no_number_is_caught_wherever_it_is(warm: Path, steps: list[Transition]):
    ours = learner(warm)
    found = ours.logprobs(rows_of(steps))
    found[-1][-1] = np.nan
    ours.logprobs = lambda rows, model=None: found  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(StaleWeightsError, match="nan"):
        probe(ours, steps, 1e-4, rows=len(steps))
