"""The protocol between an agent and a language model, whatever runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from backtrail.agents.base import AgentError

__all__ = ["Completion", "Message", "MixedTemperature", "Model", "ModelError", "Prompt", "Sampling", "UnsupportedError"]

Finish = Literal["stop", "length"]


class ModelError(AgentError):
    """A model cannot answer for a reason outside the task (a server down, out of memory): never scored as a failure."""


class UnsupportedError(ModelError):
    """A back-end was asked for what it cannot do."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt.

    Attributes:
        role: "system", "user" or "assistant".
        content: The text.
        images: Pictures shown before the text, each (H, W, 3) uint8.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[np.ndarray, ...] = ()


Prompt = Sequence[Message]
"""Messages, oldest first; if the last is the assistant's, the model goes on with it."""


@dataclass(frozen=True, slots=True)
class MixedTemperature:
    """Two temperatures in one response (SGE): the span between two markers is sampled hot, all else cool.

    The closing marker is drawn hot, because the span has not ended before it is there; the opening marker cool. For every
    token the temperature it was drawn at is stored with it, and used again wherever its probability is.

    Attributes:
        open: The marker that begins the hot span, e.g. ``<explore>``; may be several tokens.
        close: The marker that ends it.
        hot: The temperature of the span. The rest has `Sampling.temperature`.
    """

    open: str
    close: str
    hot: float


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a response is drawn.

    Attributes:
        temperature: 0 is greedy.
        top_p: Nucleus; 1 for none.
        top_k: The k likeliest tokens only; 0 for all.
        min_p: Only tokens at least this likely relative to the likeliest (arXiv 2407.01082); 0 for none.
        max_tokens: Longest response, in tokens.
        stop: The response ends before any of these.
        seed: Seed of the draw where the back-end takes one; with one seed, one prompt gives one response.
        mixed: A hot span.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    seed: int | None = None
    mixed: MixedTemperature | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered.

    Attributes:
        text: The response.
        finish: "stop" if the model ended it, "length" if ``max_tokens`` did.
        prompt_tokens: Length of the prompt.
        completion_tokens: Length of the response.
        seconds: Time from request to answer, shared by a batch.
        prompt_ids: Token ids of the prompt, None where the back-end does not say.
        token_ids: Token ids of the response as sampled, the end token included; None where the back-end does not say.
        logprobs: Natural log-probability of each under the distribution it was drawn from (temperature applied; before
            truncation by top-p, top-k or min-p); None where the back-end does not say.
        temperatures: The temperature each was drawn at.
    """

    text: str
    finish: Finish
    prompt_tokens: int
    completion_tokens: int
    seconds: float = 0.0
    prompt_ids: tuple[int, ...] | None = None
    token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    temperatures: tuple[float, ...] | None = None


class Model(ABC):
    """A language model behind one method.

    Attributes:
        name: What results call it, e.g. ``hf:Qwen/Qwen3-1.7B``.
        details: What else a recipe must say (dtype, revision, server address, chat template digest).
    """

    name: str
    details: dict[str, Any]

    @abstractmethod
    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
        """Answer many prompts at once, each with its own sampling, in the order of the prompts.

        Raises:
            UnsupportedError: If the back-end cannot sample like that.
            ModelError: If it cannot answer at all.
        """

    def close(self) -> None:  # noqa: B027  # most have nothing to free
        """Free what the model holds; safe to call twice."""
