"""OverRIDE: several responses to one prompt, each steered away from the one before it.

Source: "Diverse Text Decoding via Iterative Reweighting" (OverRIDE, ICLR 2026), public code shi-rq/OverRIDE. The rule and the
values are from a third party's reading of both, not from the paper itself.

With x the last hidden state (what goes into the output embedding) and z the model's logits at a token, response i has a head

    h_i(x) = U_i D_i x,    D_i: hidden -> rank,  U_i: rank -> vocabulary,  U_i = 0 at the start,

and is drawn from

    q_1 = z,    q_i = z - strength * h_{i-1}(x).

At each token of response i, Adam takes one step on h_i with the loss

    -log softmax(z + h_i(x))[argmax q_i],

so z + h_i imitates what response i says, and response i + 1 avoids it. The model gets no gradient.

Ours, where the reading says nothing:

- a group is the requests of one call that have the same prompt, in their order; its heads are thrown away after the call;
- every head begins anew and is used as it stands once its response has ended;
- one step a token; D_i begins normal with variance 1 / hidden, from a seed of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backtrail.agents.models.base import Completion, Message, Model, Prompt, Sampling, UnsupportedError
from backtrail.agents.models.hf import HFModel
from backtrail.agents.models.logprobs import Rows

if TYPE_CHECKING:
    import torch

__all__ = ["Override", "OverrideValues"]


@dataclass(frozen=True, slots=True)
class OverrideValues:
    """The values of OverRIDE.

    Attributes:
        strength: What the head of the response before is multiplied by; 0 leaves the logits as they are.
        rank: Width of a head.
        lr: Adam's learning rate.
        temperature: The one recommended; requests keep their own, see `sampling`.
        seed: Seed of the heads' first factor (ours).
    """

    strength: float = 50.0
    rank: int = 16
    lr: float = 1e-3
    temperature: float = 0.6
    seed: int = 0

    def __post_init__(self):
        """Refuse values that make no sense."""
        if not (0 <= self.strength < math.inf and self.rank >= 1 and 0 < self.lr < math.inf):
            raise ValueError(f"Expected strength >= 0, rank >= 1 and lr > 0, all finite, got {self}")

    def sampling(self, base: Sampling) -> Sampling:
        """Return a sampling at the recommended temperature."""
        return replace(base, temperature=self.temperature)


class Override(Model):
    """A transformers model whose responses to one prompt avoid each other.

    Requests with the same prompt, whatever their sampling, form a group and are answered one after another; groups run side by
    side. Draws are seeded as by `HFModel`, and ``logprobs`` are those of the changed logits at the temperature of each token.
    Mixed temperature, top-p, top-k and min-p apply to the changed logits. Prompts with pictures are refused.
    """

    def __init__(self, model: HFModel, values: OverrideValues | None = None):
        """Wrap a model.

        Args:
            model: The model that answers; closed with this one.
            values: Those of the method by default.
        """
        self._model, self._values = model, values or OverrideValues()
        self.name = f"{model.name}+override"
        used = {name: getattr(self._values, name) for name in ("strength", "rank", "lr", "seed")}
        self.details = {**model.details, "override": used}

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
        """Answer many prompts, those that are the same one after another, in the order of the prompts.

        Raises:
            UnsupportedError: For pictures, for markers that are not ASCII, for a model without an output embedding.
            ModelError: If a prompt fills the context, the memory is exhausted, or the model was closed.
            ValueError: If a sampling makes no sense.
        """
        began = time.perf_counter()
        requests = list(zip(prompts, sampling, strict=True))
        groups = _groups(prompts)
        answers: dict[int, Completion] = {}
        heads: dict[int, _Head] = {}
        for turn in range(max(map(len, groups), default=0)):
            # the longest groups come first, so a group has the same number in every turn it takes part in
            places = [group[turn] for group in groups if len(group) > turn]
            learners = {number for number in range(len(places)) if len(groups[number]) > turn + 1}
            steering = _Turn(self._values, heads, learners)
            answered = self._model.steered(
                [requests[place][0] for place in places], [requests[place][1] for place in places], steering
            )
            seconds = time.perf_counter() - began
            answers |= {place: replace(one, seconds=seconds) for place, one in zip(places, answered, strict=True)}
            heads = steering.learned
        return [answers[place] for place in range(len(requests))]

    def close(self) -> None:
        """Close the model it wraps."""
        self._model.close()


def _groups(prompts: Sequence[Prompt]) -> list[list[int]]:
    """Return the places of each prompt, the prompt asked most often first."""
    groups: dict[tuple[Message, ...], list[int]] = {}
    for place, prompt in enumerate(prompts):
        if any(message.images for message in prompt):
            raise UnsupportedError(f"OverRIDE takes no pictures, prompt {place} has some: use the model without it")
        groups.setdefault(tuple(prompt), []).append(place)
    return sorted(groups.values(), key=len, reverse=True)


class _Turn:
    """One response of each group: changes its logits by the head before, and trains its own.

    Attributes:
        learned: The head of each group that has a response to come.
    """

    def __init__(self, values: OverrideValues, avoided: dict[int, _Head], learners: set[int]):
        self._values, self._avoided, self._learners = values, avoided, learners
        self.learned: dict[int, _Head] = {}

    @contextmanager
    def __call__(self, model: Any, places: Sequence[int], rows: Rows) -> Generator[Callable[[Any, Any], Any]]:
        """Give the logits processor of one batch, with its heads at their start."""
        output = model.get_output_embeddings()
        if output is None:
            raise UnsupportedError("OverRIDE needs a model with an output embedding")
        size, device = tuple(output.weight.shape), model.device  # where generate puts the logits
        self.learned |= {place: _Head(size, self._values, device) for place in places if place in self._learners}
        seen: list[torch.Tensor] = []

        def keep(_module: Any, inputs: tuple[torch.Tensor, ...], _output: Any) -> None:
            seen[:] = [inputs[0][:, -1]]

        def change(_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            return self._change(seen[0].to(scores), scores, places, rows)

        hook = output.register_forward_hook(keep)
        try:
            yield change
        finally:
            hook.remove()

    def _change(self, hidden: torch.Tensor, scores: torch.Tensor, places: Sequence[int], rows: Rows) -> torch.Tensor:
        changed = scores.clone()
        for row, place in enumerate(places):
            if rows.finish[row] is not None:  # generate goes on with it until the whole batch has ended
                continue
            if avoided := self._avoided.get(place):
                changed[row] -= self._values.strength * avoided(hidden[row])
            if own := self.learned.get(place):
                own.learn(hidden[row], scores[row], changed[row].argmax())
        return changed


class _Head:
    """A low-rank map from a hidden state to a residual of the logits, and its optimiser."""

    def __init__(self, size: tuple[int, int], values: OverrideValues, device: Any):
        """Start at zero; ``size`` is (vocabulary, hidden)."""
        import torch

        vocabulary, width = size
        generator = torch.Generator().manual_seed(values.seed)
        with torch.inference_mode(False):  # tensors made in it cannot be trained
            down = torch.randn(values.rank, width, generator=generator) / width**0.5
            self._down = down.to(device).requires_grad_()
            self._up = torch.zeros(vocabulary, values.rank, device=device, requires_grad=True)
            self._adam = torch.optim.Adam([self._down, self._up], lr=values.lr)

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        return self._up @ (self._down @ hidden)

    def learn(self, hidden: torch.Tensor, logits: torch.Tensor, target: torch.Tensor) -> None:
        """Take one step towards the target, from a hidden state (hidden,) and the model's own logits (vocabulary,)."""
        import torch

        with torch.inference_mode(False), torch.enable_grad():
            hidden, logits, target = hidden.clone(), logits.clone(), target.clone()  # free of inference mode
            loss = torch.nn.functional.cross_entropy(logits + self(hidden), target)
            self._adam.zero_grad()
            loss.backward()
            self._adam.step()
