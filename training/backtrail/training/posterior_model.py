"""The networks of a language-model posterior: frozen copies, adapters, and log-probabilities of targets."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

if TYPE_CHECKING:
    import torch

__all__ = [
    "Row",
    "chunks",
    "fingerprint",
    "frozen_copy",
    "kl_per_token",
    "target_logprobs",
    "target_sums",
    "with_adapter",
]

Row = tuple[list[int], list[int]]
"""Token ids of a prompt and of its target."""


def target_logprobs(model: Any, rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Run one forward pass over all rows.

    Returns:
        The log-distribution at every target token, (tokens, vocabulary) float32, rows one after another; and that of the
        token that is there, (tokens,).
    """
    import torch

    longest, first = max(len(p) + len(t) for p, t in rows), min(len(p) for p, _ in rows) - 1
    ids, mask = torch.zeros(2, len(rows), longest, dtype=torch.long)
    owner: list[int] = []
    column: list[int] = []
    for place, (prompt, target) in enumerate(rows):
        ids[place, : len(prompt) + len(target)] = torch.tensor([*prompt, *target])
        mask[place, : len(prompt) + len(target)] = 1
        owner += [place] * len(target)
        column += range(len(prompt) - 1 - first, len(prompt) - 1 - first + len(target))
    logits = model(
        input_ids=ids.to(model.device),
        attention_mask=mask.to(model.device),
        use_cache=False,
        logits_to_keep=longest - first,  # those before the shortest prompt's last token are not needed
    ).logits
    logprobs = logits[owner, column].float().log_softmax(-1)
    chosen = torch.tensor([token for _, target in rows for token in target], device=logprobs.device)
    return logprobs, logprobs.gather(-1, chosen[:, None])[:, 0]


def target_sums(model: Any, rows: Sequence[Row], budget: int) -> np.ndarray:
    """Return the log-probability of each target, (rows,) float64, without gradients and with chunks of like length."""
    import torch

    sums = np.zeros(len(rows))
    with torch.no_grad():
        for chunk in chunks(rows, budget):
            part = [rows[place] for place in chunk]
            chosen = target_logprobs(model, part)[1].double()
            sums[chunk] = torch.stack([row.sum() for row in chosen.split([len(t) for _, t in part])]).cpu().numpy()
    return sums


def _peft() -> Any:
    try:
        import peft
    except ImportError as error:
        raise DependencyNotInstalled(
            'A posterior with an adapter needs peft: pip install "backtrail[train]"'
        ) from error
    return peft


def frozen_copy(model: Any) -> Any:
    """Return a frozen copy of plain weights."""
    base = copy.deepcopy(model)
    if type(base).__module__.startswith("peft."):  # an adapter's rank and dropout are the policy's own affair
        base = base.merge_and_unload()
    return base.requires_grad_(False).eval()


def with_adapter(base: Any, rank: int, seed: int) -> Any:
    """Add an adapter that changes nothing yet: B is 0, A as nn.Linear is initialised, with a generator of its own."""
    import torch

    peft = _peft()
    settings = peft.LoraConfig(
        r=rank, lora_alpha=2 * rank, lora_dropout=0.0, bias="none", target_modules="all-linear", task_type="CAUSAL_LM"
    )
    devices = [base.device] if base.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):  # peft draws from the global generator
        model = peft.get_peft_model(base, settings).eval()
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if "lora_A" in name:
            bound = 1 / math.sqrt(parameter.shape[1])
            drawn = torch.rand(parameter.shape, generator=generator) * 2 * bound - bound
            parameter.data.copy_(drawn)
    return model


def fingerprint(model: Any) -> str:
    """Return what tells the weights from those of another model or a later step: a hash of each tensor's beginning."""
    digest = hashlib.sha256()
    for name, parameter in model.named_parameters():
        digest.update(f"{name} {tuple(parameter.shape)} ".encode())
        digest.update(parameter.detach().flatten()[:1024].float().cpu().numpy().tobytes())
    return digest.hexdigest()


def chunks(rows: Sequence[Row], budget: int) -> list[list[int]]:
    """Group rows of like length, so that rows times columns is at most the budget; a longer row is alone."""
    lengths = [len(prompt) + len(target) for prompt, target in rows]
    grouped: list[list[int]] = []
    for place in sorted(range(len(rows)), key=lambda place: lengths[place]):
        if grouped and (len(grouped[-1]) + 1) * lengths[place] <= budget:
            grouped[-1].append(place)
        else:
            grouped.append([place])
    return grouped


def kl_per_token(logq: torch.Tensor, logp: torch.Tensor) -> torch.Tensor:
    """Return KL(q || p) of each position, exact over the vocabulary."""
    return (logq.exp() * (logq - logp)).sum(-1)
