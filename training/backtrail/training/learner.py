"""`Learner`: the weights being trained, and how one optimiser step is taken on rows of tokens."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from backtrail.agents.models.hf_load import Loaded
from backtrail.agents.models.logprobs import scaled_logprobs
from backtrail.training.config import Config
from backtrail.training.lora import is_adapted, with_adapter

if TYPE_CHECKING:
    import torch

__all__ = ["Learner", "Row", "distributions", "forward", "micro_batches"]


@dataclass(frozen=True, slots=True)
class Row:
    """A prompt and a response as token ids.

    Attributes:
        prompt_ids: The prompt.
        token_ids: The response, the end token included.
        temperatures: The temperature of each token of the response; empty for 1 throughout.
    """

    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    temperatures: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.prompt_ids) + len(self.token_ids)


class Scored(NamedTuple):
    """What a forward pass says about the responses of some rows, each (rows, longest response)."""

    logprobs: torch.Tensor
    entropy: torch.Tensor
    mask: torch.Tensor


def distributions(model: Any, rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the distribution that each token of the responses was drawn from, at the temperature it was drawn at.

    Prompts are padded on the left and responses on the right, so that all responses begin in one column and the head of the
    model is applied to them alone.

    Args:
        model: A transformers causal language model.
        rows: The rows.

    Returns:
        Natural log-probabilities (rows, longest response, vocabulary), the tokens that are there and a mask of 1 where there
        is one, both (rows, longest response).
    """
    import torch

    before, after = max(len(row.prompt_ids) for row in rows), max(len(row.token_ids) for row in rows)
    ids = torch.zeros(len(rows), before + after, dtype=torch.long)
    attention = torch.zeros_like(ids)
    temperatures = torch.ones(len(rows), after)
    for place, row in enumerate(rows):
        begin, end = before - len(row.prompt_ids), before + len(row.token_ids)
        ids[place, begin:end] = torch.tensor((*row.prompt_ids, *row.token_ids))
        attention[place, begin:end] = 1
        if row.temperatures:
            temperatures[place, : len(row.temperatures)] = torch.tensor(row.temperatures)
    ids, attention = ids.to(model.device), attention.to(model.device)
    logits = model(
        input_ids=ids,
        attention_mask=attention,
        position_ids=(attention.cumsum(-1) - 1).clamp(min=0),
        use_cache=False,
        logits_to_keep=after + 1,
    ).logits[:, :-1]
    return scaled_logprobs(logits, temperatures.to(model.device)), ids[:, before:], attention[:, before:].float()


def forward(model: Any, rows: Sequence[Row], *, entropy: bool = False) -> Scored:
    """Score responses at the temperatures they were drawn at.

    Args:
        model: A transformers causal language model.
        rows: The rows.
        entropy: Whether the entropy of each token's distribution is wanted, in nats; else zeros.
    """
    import torch

    scaled, tokens, mask = distributions(model, rows)
    logprobs = scaled.gather(-1, tokens[..., None])[..., 0] * mask
    if not entropy:
        return Scored(logprobs, torch.zeros_like(mask), mask)
    with torch.no_grad():
        return Scored(logprobs, -(scaled.exp() * scaled).sum(-1) * mask, mask)


def micro_batches(rows: Sequence[Row], budget: int) -> Iterator[list[int]]:
    """Yield the places of rows of similar length whose padded size, rows times columns, is within a budget of tokens."""
    chosen: list[int] = []
    prompt = response = 0
    for place in sorted(range(len(rows)), key=lambda place: (len(rows[place]), place)):
        wider = max(prompt, len(rows[place].prompt_ids)), max(response, len(rows[place].token_ids))
        if chosen and sum(wider) * (len(chosen) + 1) > budget:
            yield chosen
            chosen, wider = [], (len(rows[place].prompt_ids), len(rows[place].token_ids))
        chosen.append(place)
        prompt, response = wider
    if chosen:
        yield chosen


class Learner:
    """A model, its optimiser, and the gradient steps; alone or one of several processes that hold the same weights.

    Processes are those of accelerate: each computes the gradients of its share of the rows, the shares are added up, and all
    take the same step. Loss normalisers count the rows of all processes.

    Attributes:
        loaded: The model being trained, as the samplers take it.
        version: Optimiser steps taken.
        rank: Which process this is, from 0.
        world: How many there are.
    """

    def __init__(self, loaded: Loaded, config: Config, accelerator: Any = None):
        """Prepare a model for training.

        Args:
            loaded: The model; its weights change in place. An adapter in it is trained on.
            config: Learning rates, LoRA, micro-batches.
            accelerator: accelerate's, made by whoever started the processes; None for one process.

        Raises:
            gymnasium.error.DependencyNotInstalled: If torch, or peft for LoRA, is missing.
        """
        import torch

        if config.lora_rank and not is_adapted(loaded.model):  # else with an earlier stage's adapter
            loaded = replace(loaded, model=with_adapter(loaded.model, config.lora_rank, seed=0))
        self.loaded, self._config, self._accelerator = loaded, config, accelerator
        self.rank = accelerator.process_index if accelerator else 0
        self.world = accelerator.num_processes if accelerator else 1
        self.parameters = [parameter for parameter in loaded.model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(
            self.parameters, config.lr, betas=(0.9, config.beta2), weight_decay=config.weight_decay
        )
        self.version = 0

    def micro(self, rows: Sequence[Row]) -> Iterator[list[int]]:
        """Yield the micro-batches of this process."""
        mine = range(self.rank, len(rows), self.world)
        for chosen in micro_batches([rows[place] for place in mine], self._config.micro_tokens):
            yield [mine[place] for place in chosen]

    def imitate(self, rows: Sequence[Row], lr: float) -> float:
        """Take one step towards the rows' responses (negative log-likelihood, mean over tokens); return the loss."""
        tokens = sum(len(row.token_ids) for row in rows)
        total = 0.0
        self.loaded.model.train()
        for places in self.micro(rows):
            loss = -forward(self.loaded.model, [rows[place] for place in places]).logprobs.sum() / tokens
            loss.backward()
            total += float(loss.detach())
        self.step(lr)
        return self.summed([total])[0]

    def step(self, lr: float) -> float:
        """Take an optimiser step with the gradients of all processes; return the norm before clipping."""
        import torch

        if self.world > 1:
            for parameter in self.parameters:
                if parameter.grad is None:  # no row of this process
                    parameter.grad = torch.zeros_like(parameter)
                parameter.grad = self._accelerator.reduce(parameter.grad, reduction="sum")
        norm = float(torch.nn.utils.clip_grad_norm_(self.parameters, self._config.grad_clip))
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        if math.isfinite(norm):  # one bad batch is no reason to lose the weights; the norm in the metrics tells
            self.optimizer.step()
            self.version += 1
        self.optimizer.zero_grad(set_to_none=True)
        return norm

    def summed(self, values: Sequence[float]) -> list[float]:
        """Return the sums of some numbers over all processes."""
        if self.world == 1:
            return list(values)
        import torch

        return self._accelerator.reduce(
            torch.tensor(values, dtype=torch.float64, device=self._accelerator.device), reduction="sum"
        ).tolist()

    def gathered(self, values: list[Any]) -> list[Any]:
        """Return the lists of all processes, joined in the order of the processes."""
        if self.world == 1:
            return values
        from accelerate.utils import gather_object

        return gather_object(values)

    def logprobs(self, rows: Sequence[Row], *, model: Any = None) -> list[np.ndarray]:
        """Return the log-probability of each token of each row's response, without gradients, (tokens,) float32."""
        import torch

        scorer = model if model is not None else self.loaded.model
        training, found = scorer.training, [np.zeros(0)] * len(rows)
        scorer.eval()
        with torch.no_grad():
            for places in micro_batches(rows, self._config.micro_tokens):
                scored = forward(scorer, [rows[place] for place in places]).logprobs.cpu().numpy()
                for row, place in enumerate(places):
                    found[place] = scored[row, : len(rows[place].token_ids)]
        scorer.train(training)
        return found

    def weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield the full weights by name, LoRA merged, as a sampler of another engine takes them."""
        if not self._config.lora_rank:
            for name, value in self.loaded.model.state_dict().items():
                yield name, value.detach().clone()
            return
        # peft's own merging is taken back by a subtraction, which leaves rounding errors in the weights each time
        base, adapter = self.loaded.model.get_base_model(), self.loaded.model.active_adapter
        for name, value in base.state_dict().items():
            if ".lora_" in name:
                continue
            module, inside, parameter = name.partition(".base_layer.")
            merged = value.detach().clone()
            if inside and parameter == "weight":
                merged += base.get_submodule(module).get_delta_weight(adapter).detach()
            yield name.replace(".base_layer.", "."), merged
