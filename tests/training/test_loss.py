"""The policy loss against plain loops over tokens, against TRL's real trainer, and laws."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.training.loss import Statistics, aggregate, kl_penalty, normaliser, policy_loss

torch = pytest.importorskip("torch", reason="the loss is computed by torch (extra `train`)")

Aggregation = Literal["token", "sequence", "constant", "trajectory"]
AGGREGATIONS: list[Aggregation] = ["token", "sequence", "constant", "trajectory"]
LONGEST = 6


class Batch:
    """Rows of random log-probabilities in float64, with rubbish where there is no token."""

    def __init__(self, seed: int, rows: int = 5, spread: float = 0.4):
        rng = np.random.default_rng(seed)
        self.lengths = rng.integers(1, LONGEST + 1, rows).tolist()
        self.episodes = rng.integers(0, 2, rows).tolist()
        old = -rng.exponential(1.0, (rows, LONGEST))
        new = old + rng.normal(0, spread, old.shape)
        self.mask = torch.tensor([[float(t < length) for t in range(LONGEST)] for length in self.lengths])
        for values in (old, new):
            values[self.mask.numpy() == 0] = math.nan
        self.new = torch.tensor(new, requires_grad=True)
        self.old = torch.tensor(old)
        self.advantages = torch.tensor(rng.normal(0, 1, rows))

    def normaliser(self, aggregation: Aggregation) -> Any:
        return torch.tensor(normaliser(self.lengths, aggregation, max_tokens=LONGEST, episodes=self.episodes))

    def loss(self, aggregation: Aggregation, rows: slice = slice(None), **changes: Any) -> tuple[Any, Statistics]:
        return policy_loss(
            *(part[rows] for part in (self.new, self.old, self.advantages, self.mask)),
            normaliser=self.normaliser(aggregation)[rows],
            **({"clip_low": 0.2, "clip_high": 0.28} | changes),
        )

    def gradient(self, loss: Any) -> np.ndarray:
        (gradient,) = torch.autograd.grad(loss, self.new, retain_graph=True)
        return gradient.numpy()


def slow_token_loss(new: float, old: float, advantage: float, low: float, high: float, dual: float) -> float:
    ratio = math.exp(new) / math.exp(old)
    clipped = max(1 - low, min(1 + high, ratio))
    gain = min(ratio * advantage, clipped * advantage)
    if dual and advantage < 0:
        gain = max(gain, dual * advantage)
    return -gain


def slow_mean(losses: list[list[float]], episodes: list[int], aggregation: Aggregation) -> float:
    """The mean of ragged token losses that the aggregation names."""
    flat = [value for row in losses for value in row]
    if aggregation == "token":
        return sum(flat) / len(flat)
    if aggregation == "sequence":
        return sum(sum(row) / len(row) for row in losses) / len(losses)
    if aggregation == "constant":
        return sum(sum(row) / LONGEST for row in losses) / len(losses)
    means = []
    for episode in set(episodes):
        own = [value for row, name in zip(losses, episodes, strict=True) if name == episode for value in row]
        means.append(sum(own) / len(own))
    return sum(means) / len(means)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(AGGREGATIONS), st.sampled_from([0.0, 1.5, 3.0]))
def test_the_loss_is_its_definition(seed: int, aggregation: Aggregation, dual: float) -> None:
    batch = Batch(seed, spread=0.8)
    losses = [
        [
            slow_token_loss(new, old, advantage, 0.2, 0.28, dual)
            for new, old in zip(news[:length], olds[:length], strict=True)
        ]
        for news, olds, advantage, length in zip(
            batch.new.tolist(), batch.old.tolist(), batch.advantages.tolist(), batch.lengths, strict=True
        )
    ]
    loss, _ = batch.loss(aggregation, dual_clip=dual)
    assert loss.item() == pytest.approx(slow_mean(losses, batch.episodes, aggregation), abs=1e-9)


@pytest.mark.parametrize(
    ("ratio", "advantage", "dual", "expected", "slope"),
    [
        (1.0, 2.0, 0.0, -2.0, -2.0),
        (1.5, 2.0, 0.0, -2.4, 0.0),  # clipped above
        (0.5, 2.0, 0.0, -1.0, -1.0),  # not clipped: it may still rise
        (0.5, -2.0, 0.0, 1.6, 0.0),  # clipped below
        (1.5, -2.0, 0.0, 3.0, 3.0),  # not clipped: it must fall
        (5.0, -2.0, 0.0, 10.0, 10.0),
        (5.0, -2.0, 3.0, 6.0, 0.0),  # dual clip
        (5.0, 2.0, 3.0, -2.4, 0.0),
    ],
)
def test_a_token_by_hand(ratio: float, advantage: float, dual: float, expected: float, slope: float) -> None:
    """The slope is that in the log-probability, so the ratio's times the ratio."""
    new = torch.tensor([[math.log(ratio) - 9]], dtype=torch.float64, requires_grad=True)
    loss, _ = policy_loss(
        new,
        torch.full_like(new, -9.0),
        torch.tensor([advantage]),
        torch.ones(1, 1),
        clip_low=0.2,
        clip_high=0.2,
        dual_clip=dual,
        normaliser=torch.ones(1),
    )
    assert loss.item() == pytest.approx(expected)
    assert torch.autograd.grad(loss, new)[0].item() == pytest.approx(slope)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_at_ratio_1_the_gradient_is_that_of_reinforce(aggregation: Aggregation) -> None:
    batch = Batch(1, spread=0.0)
    got = batch.gradient(batch.loss(aggregation)[0])
    weights = batch.normaliser(aggregation)[:, None]
    reinforce = aggregate(-batch.new * batch.advantages[:, None], batch.mask, batch.normaliser(aggregation))
    assert got == pytest.approx(batch.gradient(reinforce))
    assert got == pytest.approx((-batch.advantages[:, None] * batch.mask / weights).numpy())


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(AGGREGATIONS), st.integers(1, 4))
def test_micro_batches_add_up(seed: int, aggregation: Aggregation, cut: int) -> None:
    batch = Batch(seed)
    whole, statistics = batch.loss(aggregation, dual_clip=3.0)
    parts = [batch.loss(aggregation, rows, dual_clip=3.0) for rows in (slice(cut), slice(cut, None))]
    assert sum(loss.item() for loss, _ in parts) == pytest.approx(whole.item())
    assert sum(batch.gradient(loss) for loss, _ in parts) == pytest.approx(batch.gradient(whole))
    assert (parts[0][1] + parts[1][1]).means() == pytest.approx(statistics.means())
    assert statistics.tokens.item() == sum(batch.lengths)


def test_padding_may_hold_anything() -> None:
    batch = Batch(3)
    loss, statistics = batch.loss("token")
    gradient = batch.gradient(loss)
    assert math.isfinite(loss.item()) and np.isfinite(gradient).all() and (gradient[batch.mask.numpy() == 0] == 0).all()
    assert all(math.isfinite(value) for value in statistics.means().values())


def test_statistics_by_hand() -> None:
    ratios = torch.tensor([[0.5, 1.0, 3.0], [0.5, 1.5, 9.0]], dtype=torch.float64)
    mask = torch.tensor([[1, 1, 1], [1, 1, 0]])
    new = ratios.log().requires_grad_()
    _, statistics = policy_loss(
        new,
        torch.zeros_like(ratios),
        torch.tensor([1.0, -1.0]),
        mask,
        clip_low=0.2,
        clip_high=0.28,
        normaliser=torch.ones(2),
    )
    kl = [ratio - 1 - math.log(ratio) for ratio in (0.5, 1.0, 3.0, 0.5, 1.5)]
    expected = {"clipped_low": 1 / 5, "clipped_high": 1 / 5, "kl": sum(kl) / 5, "ratio_max": 3.0}
    assert statistics.means() == pytest.approx(expected)
    assert not any(getattr(statistics, name).requires_grad for name in ("tokens", "kl", "ratio_max"))


def test_the_kl_penalty_by_hand() -> None:
    new = torch.tensor([[-1.0, -2.0, math.nan]], requires_grad=True)
    reference = torch.tensor([[-1.0, -1.0, math.nan]])
    penalty = kl_penalty(new, reference, torch.tensor([[True, True, False]]))
    assert penalty[0].tolist() == pytest.approx([0, math.e - 2, 0])
    (gradient,) = torch.autograd.grad(penalty.sum(), new)
    assert gradient[0].tolist() == pytest.approx([0, 1 - math.e, 0])


def test_in_expectation_the_kl_penalty_is_the_divergence() -> None:
    policy, reference = torch.tensor([0.7, 0.2, 0.1]), torch.tensor([0.2, 0.5, 0.3])
    estimates = kl_penalty(policy.log()[None], reference.log()[None], torch.ones(1, 3))[0]
    assert (policy * estimates).sum().item() == pytest.approx((policy * (policy / reference).log()).sum().item())


def test_far_log_ratios_do_not_overflow() -> None:
    new, old, mask = (
        torch.tensor([[-1.0, -900.0]], requires_grad=True),
        torch.tensor([[-900.0, -1.0]]),
        torch.ones(1, 2),
    )
    loss, statistics = policy_loss(
        new, old, torch.tensor([-1.0]), mask, clip_low=0.2, clip_high=0.2, normaliser=torch.ones(1)
    )
    assert statistics.ratio_max.item() == pytest.approx(math.exp(20))
    (gradient,) = torch.autograd.grad(loss + kl_penalty(new, old, mask).sum(), new)
    assert gradient.tolist() == [[0, 0]]


# ---- normalisers and faults -------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(1, LONGEST), st.sampled_from("abc")), min_size=1, max_size=8))
def test_normalisers_make_means(rows: list[tuple[int, str]]) -> None:
    """A loss of 1 at every token has the mean 1, but for "constant", where shorter responses weigh less."""
    lengths, episodes = [length for length, _ in rows], [episode for _, episode in rows]
    for aggregation in AGGREGATIONS:
        divisors = normaliser(lengths, aggregation, max_tokens=LONGEST, episodes=episodes)
        mean = 1.0 if aggregation != "constant" else sum(lengths) / len(lengths) / LONGEST
        assert sum(length / divisor for length, divisor in zip(lengths, divisors, strict=True)) == pytest.approx(mean)


@pytest.mark.parametrize(
    ("lengths", "aggregation", "message"),
    [
        ([], "token", "rows of 1 token or more"),
        ([2, 0], "sequence", "rows of 1 token or more"),
        ([2], "constant", "max_tokens of 1 or more"),
        ([2], "trajectory", "the episode of each of 1 rows"),
        ([2], "mean", "Expected an aggregation"),
    ],
)
def test_faults_of_a_normaliser_are_named(lengths: list[int], aggregation: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        normaliser(lengths, aggregation)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"old_logprobs": torch.zeros(2, 4)}, "one shape"),
        ({"mask": torch.zeros(2)}, "one shape"),
        ({"advantages": torch.zeros(2, 1)}, "an advantage and a normaliser"),
        ({"normaliser": torch.tensor(3.0)}, "an advantage and a normaliser"),
        ({"clip_low": 1.2}, "clip_low from 0 to 1"),
        ({"dual_clip": 0.5}, "dual_clip of 0 or above 1"),
    ],
)
def test_faults_of_the_loss_are_named(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {name: torch.zeros(2, 3) for name in ("logprobs", "old_logprobs", "mask")}
    given |= {"advantages": torch.zeros(2), "normaliser": torch.ones(2), "clip_low": 0.2, "clip_high": 0.2}
    with pytest.raises(ValueError, match=message):
        policy_loss(**(given | changes))


# ---- TRL --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trl_trainer(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A real GRPOTrainer of TRL (written against 1.16.0) around a Qwen3 of a few thousand parameters."""
    trl = pytest.importorskip("trl", reason="the comparison runs TRL's own trainer (not a dependency)")
    transformers = pytest.importorskip("transformers", reason="TRL trains a transformers model")
    datasets = pytest.importorskip("datasets", reason="TRL takes its prompts from a dataset")
    folder = tmp_path_factory.mktemp("trl")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "head_dim": 8}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    config = transformers.Qwen3Config(vocab_size=50, initializer_range=0.5, **shape, **heads)
    arguments = trl.GRPOConfig(
        output_dir=str(folder / "out"),
        report_to=[],
        use_cpu=True,
        bf16=False,
        per_device_train_batch_size=4,
        num_generations=2,
        max_completion_length=LONGEST,
        epsilon=0.2,
        epsilon_high=0.28,
        beta=0.0,
        use_bias_correction_kl=False,  # TRL's default since DeepSeek-V3.2; GRPO's penalty is without
    )
    trainer = trl.GRPOTrainer(
        model=transformers.Qwen3ForCausalLM(config),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=arguments,
        train_dataset=datasets.Dataset.from_list([{"prompt": "look"}] * 4),
        processing_class=tokenizer,
    )
    trainer.current_gradient_accumulation_steps = 1
    trainer.model.train()
    return trainer


@pytest.mark.parametrize("beta", [0.0, 0.1])
@pytest.mark.parametrize(
    ("loss_type", "aggregation"),
    [("grpo", "sequence"), ("dr_grpo", "constant"), ("dapo", "token"), ("bnpo", "token")],
)
def test_the_loss_is_that_of_trl(
    trl_trainer: Any, monkeypatch: pytest.MonkeyPatch, loss_type: str, aggregation: Aggregation, beta: float
) -> None:
    monkeypatch.setattr(trl_trainer, "loss_type", loss_type)
    monkeypatch.setattr(trl_trainer, "beta", beta)
    generator = torch.Generator().manual_seed(7)
    lengths, prompts = [6, 2, 5, 3], [4, 2, 3, 4]
    ids = torch.randint(3, 50, (4, 4 + LONGEST), generator=generator)
    mask = torch.tensor([[int(t < length) for t in range(LONGEST)] for length in lengths])
    before = torch.tensor([[int(t >= 4 - length) for t in range(4)] for length in prompts])  # padded on the left
    model = trl_trainer.model

    def logprobs() -> Any:
        logits = model(input_ids=ids, attention_mask=torch.cat([before, mask], 1)).logits[:, 3:-1]
        return logits.log_softmax(-1).gather(-1, ids[:, 4:, None])[..., 0]

    now = logprobs()
    old = now.detach() + 0.4 * torch.randn(now.shape, generator=generator)
    reference = now.detach() + 0.4 * torch.randn(now.shape, generator=generator)
    advantages = torch.tensor([1.3, -0.7, -1.1, 0.6])
    divisors = torch.tensor(normaliser(lengths, aggregation, max_tokens=LONGEST))
    ours, statistics = policy_loss(now, old, advantages, mask, clip_low=0.2, clip_high=0.28, normaliser=divisors)
    ours = ours + beta * aggregate(kl_penalty(now, reference, mask), mask, divisors)
    theirs = trl_trainer._compute_loss(
        model,
        {
            "prompt_ids": ids[:, :4],
            "prompt_mask": before,
            "completion_ids": ids[:, 4:],
            "completion_mask": mask,
            "advantages": advantages,
            "old_per_token_logps": old,
            "ref_per_token_logps": reference,
            "num_items_in_batch": mask.sum(),
        },
    )
    means = statistics.means()
    metrics = trl_trainer._metrics["train"]
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
    assert means["clipped_low"] == pytest.approx(metrics["clip_ratio/low_mean"][-1]) and means["clipped_low"] > 0
    assert means["clipped_high"] == pytest.approx(metrics["clip_ratio/high_mean"][-1]) and means["clipped_high"] > 0
    weights = list(model.parameters())
    for got, expected in zip(torch.autograd.grad(ours, weights), torch.autograd.grad(theirs, weights), strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-6)
        assert expected.abs().max() > 0
