"""LoRA adapters: of the policy, and of the posterior on frozen weights."""

from __future__ import annotations

import copy
import math
from typing import Any

from gymnasium.error import DependencyNotInstalled

__all__ = ["is_adapted", "plain_copy", "with_adapter"]


def with_adapter(model: Any, rank: int, seed: int) -> Any:
    """Add an adapter to all linear layers, which changes nothing yet, and freeze the rest.

    B is 0, and A is drawn as nn.Linear's weights are, by a generator of its own.

    Raises:
        gymnasium.error.DependencyNotInstalled: If torch or peft is missing.
    """
    try:
        import peft
        import torch
    except ImportError as error:
        raise DependencyNotInstalled('LoRA needs torch and peft. Run: pip install "backtrail[train]"') from error
    settings = peft.LoraConfig(
        r=rank, lora_alpha=2 * rank, lora_dropout=0.0, bias="none", target_modules="all-linear", task_type="CAUSAL_LM"
    )
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):  # peft draws from the global generator
        adapted = peft.get_peft_model(model, settings).eval()
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in adapted.named_parameters():
        if "lora_A" in name:
            bound = 1 / math.sqrt(parameter.shape[1])
            parameter.data.copy_(torch.rand(parameter.shape, generator=generator) * 2 * bound - bound)
    return adapted


def is_adapted(model: Any) -> bool:
    """Say whether a model has an adapter of peft's."""
    return type(model).__module__.startswith("peft.")


def plain_copy(model: Any) -> Any:
    """Return a copy of a model, an adapter merged into its weights."""
    twin = copy.deepcopy(model)
    return twin.merge_and_unload() if is_adapted(twin) else twin
