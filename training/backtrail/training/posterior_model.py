"""What a language-model posterior needs of its network: log-probabilities of targets, divergences, and an identity."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from backtrail.training.learner import Row, distributions, forward, micro_batches

if TYPE_CHECKING:
    import torch

__all__ = ["fingerprint", "kl_per_token", "target_logprobs", "target_sums"]


def target_logprobs(model: Any, rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Run one forward pass over all rows.

    Returns:
        The log-distribution at every target token, (tokens, vocabulary) float32, rows one after another; and that of the
        token that is there, (tokens,).
    """
    scaled, tokens, mask = distributions(model, rows)
    there = mask.bool()
    logprobs = scaled[there]
    return logprobs, logprobs.gather(-1, tokens[there][:, None])[:, 0]


def target_sums(model: Any, rows: Sequence[Row], budget: int) -> np.ndarray:
    """Return the log-probability of each target, (rows,) float64, without gradients and with rows of like length."""
    import torch

    sums = np.zeros(len(rows))
    with torch.no_grad():
        for places in micro_batches(rows, budget):
            sums[places] = forward(model, [rows[place] for place in places]).logprobs.double().sum(1).cpu().numpy()
    return sums


def fingerprint(model: Any) -> str:
    """Return what tells the weights from those of another model or a later step: a hash of each tensor's beginning."""
    digest = hashlib.sha256()
    for name, parameter in model.named_parameters():
        digest.update(f"{name} {tuple(parameter.shape)} ".encode())
        digest.update(parameter.detach().flatten()[:1024].float().cpu().numpy().tobytes())
    return digest.hexdigest()


def kl_per_token(logq: torch.Tensor, logp: torch.Tensor) -> torch.Tensor:
    """Return KL(q || p) of each position, exact over the vocabulary."""
    return (logq.exp() * (logq - logp)).sum(-1)
