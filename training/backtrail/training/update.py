"""One policy update: the clipped loss over the transitions that teach something, in minibatches."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from backtrail.agents.models.mixed import token_pieces
from backtrail.training.config import Config
from backtrail.training.learner import Learner, Row, forward
from backtrail.training.loss import aggregate, kl_penalty, normaliser, policy_loss
from backtrail.training.transition import Transition

__all__ = ["Spans", "StaleWeightsError", "improve", "probe", "rows_of"]

SPANS = ("explore", "memory", "action", "other")


class StaleWeightsError(RuntimeError):
    """The sampler draws from other weights than the learner trains."""


def rows_of(transitions: Sequence[Transition]) -> list[Row]:
    """Return the rows of transitions: tokens as they were drawn, with their temperatures."""
    return [Row(step.prompt_ids, step.token_ids, step.temperatures) for step in transitions]


def probe(learner: Learner, transitions: Sequence[Transition], tolerance: float, rows: int = 64) -> float:
    """Compare the sampler with the learner on responses drawn since the last weight sync.

    Args:
        learner: Holds the weights as they are now.
        transitions: Fresh ones.
        tolerance: The largest difference allowed, in nats.
        rows: How many to compare, evenly spread.

    Returns:
        The largest difference between the log-probabilities of a token, in nats.

    Raises:
        StaleWeightsError: If it is above the tolerance.
    """
    chosen = [transitions[int(place)] for place in np.linspace(0, len(transitions) - 1, min(rows, len(transitions)))]
    found = learner.logprobs(rows_of(chosen))
    # np.max and not max: NaN must not get lost
    worst = float(np.max([np.abs(ours - step.logprobs).max() for ours, step in zip(found, chosen, strict=True)]))
    if not worst <= tolerance:
        raise StaleWeightsError(
            f"Sampler and learner differ by {worst:.2g} nats on what was just drawn: expected at most {tolerance:g}. Either "
            "the sampler's weights are stale or it computes in another precision; in bfloat16 raise probe_tolerance."
        )
    return worst


def improve(
    learner: Learner,
    transitions: Sequence[Transition],
    advantages: np.ndarray,
    config: Config,
    *,
    lr: float,
    seed: Sequence[int],
    reference: Any = None,
    spans: Spans | None = None,
) -> dict[str, float]:
    """Take the optimiser steps of one iteration.

    Transitions with an advantage of 0 are left out unless a KL is asked for: they have no gradient. The old
    log-probabilities are the sampler's own.

    Args:
        learner: Whose weights change.
        transitions: The batch; the same on all processes.
        advantages: One for each transition.
        config: The loss, epochs and minibatches.
        lr: Learning rate.
        seed: Of the order of the transitions.
        reference: The frozen model that the KL is to, if ``config.kl``.
        spans: Tells the parts of a response apart, for their entropies; None for none.

    Returns:
        Means over tokens and steps: "loss", "grad_norm", "clipped_low", "clipped_high", "kl_old", "kl_reference" and, with
        spans, "entropy/<part>"; the largest ratio, "ratio_max"; and how many transitions were used, "rows".
    """
    import torch

    rows, rng = rows_of(transitions), np.random.default_rng(list(seed))
    used = np.array([place for place in range(len(rows)) if config.kl or advantages[place] != 0.0], np.int64)
    metrics: dict[str, list[float]] = defaultdict(list)
    entropies = np.zeros((len(SPANS), 2))
    device = learner.loaded.model.device
    for _ in range(config.epochs):
        for part in np.array_split(rng.permutation(used), config.minibatches):
            if not len(part):
                continue
            batch = [rows[place] for place in part]
            divisors = normaliser(
                [len(row.token_ids) for row in batch],
                config.aggregation,
                max_tokens=config.max_tokens,
                episodes=[transitions[place].episode for place in part],
            )
            learner.loaded.model.train()
            sums = np.zeros(6)
            for places in learner.micro(batch):
                chosen = [batch[place] for place in places]
                where = [int(part[place]) for place in places]
                scored = forward(learner.loaded.model, chosen, entropy=spans is not None)
                divisor = torch.tensor(divisors[places], device=device)
                loss, statistics = policy_loss(
                    scored.logprobs,
                    _padded([transitions[place].logprobs for place in where], scored.mask),
                    torch.tensor(advantages[where], dtype=torch.float32, device=device),
                    scored.mask,
                    clip_low=config.clip_low,
                    clip_high=config.clip_high,
                    dual_clip=config.dual_clip,
                    normaliser=divisor,
                )
                away = 0.0
                if config.kl:
                    with torch.no_grad():
                        calm = forward(reference, chosen).logprobs
                    penalty = aggregate(kl_penalty(scored.logprobs, calm, scored.mask), scored.mask, divisor)
                    loss, away = loss + config.kl * penalty, float(penalty.detach())
                loss.backward()
                counts = (statistics.tokens, statistics.clipped_low, statistics.clipped_high, statistics.kl)
                sums += np.array([float(loss.detach()), away, *(float(value) for value in counts)])
                metrics["ratio_max"].append(float(statistics.ratio_max))
                if spans is not None:
                    entropies += spans.sums(chosen, scored.entropy.cpu().numpy())
            metrics["grad_norm"].append(learner.step(lr))
            loss_sum, away_sum, tokens, low, high, kl = learner.summed(sums.tolist())
            metrics["loss"].append(loss_sum)
            metrics["kl_reference"].append(away_sum)
            for name, value in (("clipped_low", low), ("clipped_high", high), ("kl_old", kl)):
                metrics[name].append(value / max(tokens, 1.0))
    found = {name: float(np.mean(values)) for name, values in metrics.items()} | {"rows": float(len(used))}
    if ratios := learner.gathered(metrics["ratio_max"]):
        found["ratio_max"] = float(np.max(ratios))
    if spans is not None:
        entropies = np.reshape(learner.summed(entropies.ravel().tolist()), entropies.shape)
        for name, (total, count) in zip(SPANS, entropies, strict=True):
            if count:
                found[f"entropy/{name}"] = float(total / count)
    return found


def _padded(values: Sequence[Sequence[float]], like: Any) -> Any:
    """Return rows of numbers as a tensor of a shape, padded with zeros on the right."""
    import torch

    padded = torch.zeros(like.shape)
    for row, numbers in enumerate(values):
        padded[row, : len(numbers)] = torch.tensor(numbers)
    return padded.to(like)


class Spans:
    """Tells which part of a response each token belongs to: explore, memory, action, or none of them."""

    _TAG = re.compile(r"<(/?)(explore|memory|action)>")

    def __init__(self, tokenizer: Any, size: int):
        """Prepare for a tokenizer; ``size`` is how many ids the model has."""
        self._pieces = token_pieces(tokenizer, size)

    def of(self, token_ids: Sequence[int]) -> list[int]:
        """Return for each token the place of its part in `SPANS`, by the last tag that stands complete before it."""
        text, parts, part = "", [], SPANS.index("other")
        for token in token_ids:
            parts.append(part)
            text = text[-16:] + self._pieces[token]
            for slash, name in self._TAG.findall(text):
                part = SPANS.index("other") if slash else SPANS.index(name)
        return parts

    def sums(self, rows: Sequence[Row], values: np.ndarray) -> np.ndarray:
        """Return the sum of values and the number of tokens for each part, (parts, 2)."""
        found = np.zeros((len(SPANS), 2))
        for place, row in enumerate(rows):
            parts = self.of(row.token_ids)
            np.add.at(found[:, 0], parts, values[place, : len(parts)])
            np.add.at(found[:, 1], parts, 1.0)
        return found
