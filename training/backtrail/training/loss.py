"""The clipped policy loss, as sums over tokens divided by what the whole update holds.

A micro-batch sees some of the rows of an update. Its loss is divided by numbers that belong to the update, `normaliser`, so
the losses of micro-batches add up to the loss of the update, and so do their gradients. Ranks add up the same way; where a
wrapper averages gradients over ranks (DDP, FSDP), multiply the loss by their number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Statistics", "aggregate", "kl_penalty", "normaliser", "policy_loss"]

LOG_RATIO = 20.0
"""Log-ratios are held within this: exp(20) is far outside of any clip, and still far from overflow."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over the response tokens of a micro-batch, detached; add those of all micro-batches, then divide by `tokens`.

    Attributes:
        tokens: Number of tokens.
        clipped_low: How many have a ratio below the clip and a negative advantage: their gradient is 0.
        clipped_high: How many have a ratio above the clip and a positive advantage: likewise.
        kl: Sum of the k3 estimates of KL(old || new), from 0, in nats.
        ratio_max: The largest ratio of new to old; of several micro-batches the largest, not the sum.
    """

    tokens: Tensor
    clipped_low: Tensor
    clipped_high: Tensor
    kl: Tensor
    ratio_max: Tensor

    def __add__(self, other: Statistics) -> Statistics:
        """Return the statistics of both micro-batches."""
        return Statistics(
            self.tokens + other.tokens,
            self.clipped_low + other.clipped_low,
            self.clipped_high + other.clipped_high,
            self.kl + other.kl,
            self.ratio_max.maximum(other.ratio_max),
        )

    def means(self) -> dict[str, float]:
        """Return shares and means per token under the names of the fields, for the log."""
        tokens = max(1.0, float(self.tokens))
        means = {name: float(getattr(self, name)) / tokens for name in ("clipped_low", "clipped_high", "kl")}
        return means | {"ratio_max": float(self.ratio_max)}


def normaliser(
    lengths: Sequence[int],
    aggregation: Literal["token", "sequence", "constant", "trajectory"],
    *,
    max_tokens: int = 0,
    episodes: Sequence[Hashable] = (),
) -> NDArray[np.float64]:
    """Return what the loss of each row, summed over its tokens, is divided by.

    "token" is DAPO's mean over all tokens of the update, "sequence" GRPO's mean within each response and then over
    responses, "constant" Dr. GRPO's longest response times the number of responses. "trajectory" is the mean within each
    trajectory and then over trajectories: with "sequence" a trajectory weighs as much as it has steps, here each is one.

    Args:
        lengths: Response tokens of all rows of the update, on all ranks.
        aggregation: One of the four.
        max_tokens: Longest response, for "constant".
        episodes: The trajectory of each row, for "trajectory".

    Returns:
        One divisor per row, (rows,), to be given to `policy_loss` with the row.

    Raises:
        ValueError: If a row has no tokens, or what the aggregation needs is missing.

    Example:
        >>> normaliser([1, 3], "token").tolist(), normaliser([1, 3], "sequence").tolist()
        ([4.0, 4.0], [2.0, 6.0])
        >>> normaliser([1, 3], "constant", max_tokens=5).tolist()
        [10.0, 10.0]
        >>> normaliser([1, 3, 2], "trajectory", episodes=["a", "a", "b"]).tolist()
        [8.0, 8.0, 4.0]
    """
    tokens = np.asarray(lengths, np.float64)
    if not tokens.size or tokens.min() < 1:
        raise ValueError(f"Expected rows of 1 token or more, got lengths {list(lengths)}; leave empty rows out")
    match aggregation:
        case "token":
            return np.full_like(tokens, tokens.sum())
        case "sequence":
            return tokens * len(tokens)
        case "constant":
            if max_tokens < 1:
                raise ValueError(f"Expected max_tokens of 1 or more for 'constant', got {max_tokens}")
            return np.full_like(tokens, len(tokens) * max_tokens)
        case "trajectory":
            if len(episodes) != len(tokens):
                raise ValueError(f"Expected the episode of each of {len(tokens)} rows, got {len(episodes)}")
            totals: defaultdict[Hashable, float] = defaultdict(float)
            for episode, number in zip(episodes, tokens.tolist(), strict=True):
                totals[episode] += number
            return np.array([totals[episode] * len(totals) for episode in episodes])
    raise ValueError(f"Expected an aggregation of token, sequence, constant, trajectory, got {aggregation!r}")


def aggregate(values: Tensor, mask: Tensor, normaliser: Tensor) -> Tensor:
    """Return the sum over rows of the sum over a row's tokens divided by its normaliser, a scalar.

    Args:
        values: One value per token, (rows, tokens).
        mask: True or 1 at response tokens, (rows, tokens); elsewhere values may be anything, NaN too.
        normaliser: Of `normaliser`, for these rows, (rows,).
    """
    import torch

    return (torch.where(mask.bool(), values, 0.0).sum(1) / normaliser.to(values)).sum()


def policy_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    clip_low: float,
    clip_high: float,
    dual_clip: float = 0.0,
    normaliser: Tensor,
) -> tuple[Tensor, Statistics]:
    """Return PPO's clipped loss per token, as in GRPO and DAPO, aggregated.

    With r the ratio of new to old probability and A the advantage, a token's loss is -min(r A, clip(r) A). The clip is
    from 1 - clip_low to 1 + clip_high; DAPO's is higher above. With dual_clip = c, as in verl, a negative advantage costs
    at most -c A.

    Args:
        logprobs: Natural log-probabilities of the response tokens now, at the temperature each was drawn at, (rows, tokens),
            float32 or wider.
        old_logprobs: The same when they were drawn, (rows, tokens).
        advantages: One per row, (rows,).
        mask: True or 1 at response tokens, (rows, tokens).
        clip_low: Clip below 1.
        clip_high: Clip above 1.
        dual_clip: 0 for none, else more than 1.
        normaliser: Of `normaliser`, for these rows, (rows,).

    Returns:
        The loss of these rows, a scalar, and its statistics. Beyond a log-ratio of 20 either way the gradient is 0.

    Raises:
        ValueError: If shapes do not fit or a clip makes no sense.
    """
    import torch

    _require_shapes(logprobs, old_logprobs, mask)
    rows = logprobs.shape[:1]
    if advantages.shape != rows or normaliser.shape != rows:
        raise ValueError(
            f"Expected an advantage and a normaliser for each of {rows[0]} rows, got shapes {tuple(advantages.shape)} and "
            f"{tuple(normaliser.shape)}"
        )
    if not 0 <= clip_low <= 1 or clip_high < 0 or (dual_clip and dual_clip <= 1):
        raise ValueError(
            f"Expected clip_low from 0 to 1, clip_high of 0 or more and dual_clip of 0 or above 1, got {clip_low}, "
            f"{clip_high} and {dual_clip}"
        )
    keep, advantage = mask.bool(), advantages.to(logprobs)[:, None]
    log_ratio = _log_ratio(logprobs, old_logprobs, keep)
    ratio = log_ratio.exp()
    losses = -torch.minimum(ratio * advantage, ratio.clamp(1 - clip_low, 1 + clip_high) * advantage)
    if dual_clip:
        losses = torch.where(advantage < 0, torch.minimum(losses, -dual_clip * advantage), losses)
    with torch.no_grad():
        statistics = Statistics(
            keep.sum(),
            (keep & (ratio < 1 - clip_low) & (advantage < 0)).sum(),
            (keep & (ratio > 1 + clip_high) & (advantage > 0)).sum(),
            (ratio - 1 - log_ratio).sum(),  # 0 outside of the mask, where the ratio is 1
            torch.where(keep, ratio, 0.0).max().detach(),
        )
    return aggregate(losses, mask, normaliser), statistics


def kl_penalty(logprobs: Tensor, reference_logprobs: Tensor, mask: Tensor) -> Tensor:
    """Return the k3 estimate of KL(policy || reference) at each token, in nats, from 0; 0 outside of the mask.

    With x the log-ratio of reference to policy it is exp(x) - x - 1, GRPO's form of the penalty. Give it to `aggregate`.

    Args:
        logprobs: Natural log-probabilities under the policy, (rows, tokens).
        reference_logprobs: The same under the reference, at the same temperatures, (rows, tokens).
        mask: True or 1 at response tokens, (rows, tokens).

    Raises:
        ValueError: If shapes do not fit.
    """
    _require_shapes(logprobs, reference_logprobs, mask)
    log_ratio = _log_ratio(reference_logprobs, logprobs, mask.bool())
    return log_ratio.exp() - log_ratio - 1


def _log_ratio(above: Tensor, below: Tensor, keep: Tensor) -> Tensor:
    import torch

    return torch.where(keep, above - below, 0.0).clamp(-LOG_RATIO, LOG_RATIO)


def _require_shapes(logprobs: Tensor, other: Tensor, mask: Tensor) -> None:
    if logprobs.dim() != 2 or not logprobs.shape == other.shape == mask.shape:
        raise ValueError(
            f"Expected log-probabilities and a mask of one shape (rows, tokens), got {tuple(logprobs.shape)}, "
            f"{tuple(other.shape)} and {tuple(mask.shape)}"
        )
