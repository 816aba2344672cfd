"""Language models run by transformers, in this process: any causal model, and vision-language models for pictures."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from backtrail.agents.models.base import Completion, Message, Model, ModelError, Prompt, Sampling, UnsupportedError
from backtrail.agents.models.hf_load import Loaded, end_ids, import_transformers, load
from backtrail.agents.models.logprobs import Rows
from backtrail.agents.models.mixed import MarkerTable, SpanState, token_pieces

if TYPE_CHECKING:
    import torch

__all__ = ["HFModel", "Loaded", "Steering"]

Steering = Callable[[Any, Sequence[int], Rows], AbstractContextManager[Callable[[Any, Any], Any]]]
"""What changes logits before they are drawn from: entered once a batch with the model, the places of the batch's prompts in
the call and the rows being drawn, it gives a logits processor. A batch that does not fit is entered again, in halves."""


@dataclass(frozen=True, slots=True)
class _Request:
    """One prompt as the model takes it."""

    place: int
    ids: list[int]
    sampling: Sampling
    before: str
    steering: Steering | None = None
    extras: dict[str, torch.Tensor] = field(default_factory=dict)

    @property
    def kind(self) -> tuple[Any, ...]:
        """What requests of one batch have in common: the inputs beside text, and their shapes."""
        return tuple((name, *self._fixed(name)) for name in sorted(self.extras))

    def _fixed(self, name: str) -> tuple[int, ...]:
        return () if self.per_token(name) else tuple(self.extras[name].shape[1:])

    def per_token(self, name: str) -> bool:
        """Whether an input has one value a token, so that it is padded as tokens are."""
        return tuple(self.extras[name].shape) == (1, len(self.ids))


class HFModel(Model):
    """A transformers model, from a folder or by name.

    Prompts go through the tokenizer's chat template if it has one, else they are joined by blank lines. Batches are sorted by
    length, padded on the left, and split so that rows times columns stay within a budget. The sampling is our own
    (`Rows`); defaults in the model's ``generation_config`` (top-k, repetition penalty) are not applied.

    With one seed one prompt gives one response whatever the batch, up to rounding: a kernel may round otherwise for another
    batch size, which in float32 moves log-probabilities by about 1e-6 and in bfloat16 by far more.

    ``token_ids`` hold every token drawn, also those of a stop string, which ``text`` ends before. At temperature 0
    ``logprobs`` are those at temperature 1.
    """

    def __init__(
        self,
        source: str | Path | Loaded,
        *,
        device: str | None = None,
        dtype: str = "auto",
        revision: str | None = None,
        local_files_only: bool = False,
        batch_tokens: int = 32768,
        template: Mapping[str, Any] | None = None,
    ):
        """Load the weights.

        Args:
            source: A folder, a name on the Hugging Face hub, or weights in memory.
            device: E.g. "cuda:1"; by default the first GPU, or the CPU. Weights in memory stay where they are.
            dtype: E.g. "bfloat16"; "auto" for that of the files.
            revision: A commit, tag or branch on the hub.
            local_files_only: Whether to use only what is on the disk.
            batch_tokens: The most rows times columns (prompt and response) of one batch.
            template: Further variables for the chat template, e.g. ``{"enable_thinking": False}``.

        Raises:
            gymnasium.error.DependencyNotInstalled: If torch or transformers is missing.
            ModelError: If there is no such model.
        """
        transformers = import_transformers()
        if not isinstance(source, Loaded):
            source = load(str(source), device, dtype, revision, local_files_only)
        self.name = f"hf:{source.name}"
        self._model: Any = source.model
        self._tokenizer: Any = source.tokenizer
        self._processor: Any = source.processor
        self._budget, self._template = batch_tokens, dict(template or {})
        chat = getattr(self._processor, "chat_template", None) or self._tokenizer.chat_template
        self._chat = chat is not None
        config = self._model.config
        self.details = {
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "device": str(self._model.device),
            "revision": getattr(config, "_commit_hash", None),
            "chat_template": hashlib.sha256(str(chat).encode()).hexdigest()[:16] if chat else None,
            "template": self._template,
            "transformers": transformers.__version__,
        }
        self._limit: int | None = getattr(config.get_text_config(), "max_position_embeddings", None)
        if self._limit is not None:
            self.details["max_prompt_tokens"] = self._limit - 1
        self._end_ids = end_ids(self._model, self._tokenizer)
        self._pieces: list[str] | None = None
        self._tables: dict[tuple[str, str], MarkerTable] = {}

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Completion]:
        """Answer many prompts at once, each with its own sampling, in the order of the prompts.

        A response that would outgrow the model's context is cut there ("length").

        Raises:
            UnsupportedError: For pictures, if the model takes none; for markers that are not ASCII.
            ModelError: If a prompt fills the context, the memory is exhausted, or the model was closed.
            ValueError: If a sampling makes no sense.
        """
        return self.steered(prompts, sampling, None)

    def steered(
        self, prompts: Sequence[Prompt], sampling: Sequence[Sampling], steering: Steering | None
    ) -> list[Completion]:
        """Answer as `generate` does, from logits that are changed first; log-probabilities are those of the changed ones."""
        if self._model is None:
            raise ModelError(f"{self.name} was closed")
        began = time.perf_counter()
        requests = [
            replace(self._request(place, prompt, one), steering=steering)
            for place, (prompt, one) in enumerate(zip(prompts, sampling, strict=True))
        ]
        answers: dict[int, Completion] = {}
        for batch in _batches(requests, self._budget):
            answered = self._answer(batch)
            seconds = time.perf_counter() - began
            answers |= {place: replace(completion, seconds=seconds) for place, completion in answered.items()}
        return [answers[place] for place in range(len(requests))]

    def close(self) -> None:
        """Let go of the weights."""
        self._model = self._processor = None

    # ---- prompts

    def _request(self, place: int, prompt: Prompt, sampling: Sampling) -> _Request:
        _check(sampling)
        ids, extras = self._encode(prompt)
        room = sampling.max_tokens if self._limit is None else self._limit - len(ids)
        if room < 1:
            raise ModelError(
                f"Expected a prompt shorter than the context of {self.name}, {self._limit} tokens; "
                f"prompt {place} has {len(ids)}: shorten the history or take another model"
            )
        before = prompt[-1].content if prompt[-1].role == "assistant" else ""
        return _Request(place, ids, replace(sampling, max_tokens=min(sampling.max_tokens, room)), before, extras=extras)

    def _encode(self, prompt: Prompt) -> tuple[list[int], dict[str, torch.Tensor]]:
        images = [Image.fromarray(image) for message in prompt for image in message.images]
        if images and self._processor is None:
            raise UnsupportedError(f"{self.name} takes no pictures: use a vision-language model, or leave them out")
        text = self._render(prompt)
        if not images:
            return self._tokenizer(text, add_special_tokens=not self._chat)["input_ids"], {}
        inputs = self._processor(text=[text], images=[images], return_tensors="pt", add_special_tokens=not self._chat)
        ids = inputs["input_ids"][0].tolist()
        return ids, {name: value for name, value in inputs.items() if name not in ("input_ids", "attention_mask")}

    def _render(self, prompt: Prompt) -> str:
        goes_on = prompt[-1].role == "assistant"
        if not self._chat:
            if any(message.images for message in prompt):
                raise UnsupportedError(f"{self.name} has no chat template to place pictures with")
            return "\n\n".join(message.content for message in prompt) + ("" if goes_on else "\n\n")
        if self._processor is None:
            messages = [{"role": message.role, "content": message.content} for message in prompt]
        else:
            messages = [{"role": message.role, "content": _parts(message)} for message in prompt]
        return (self._processor or self._tokenizer).apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=not goes_on,
            continue_final_message=goes_on,
            **self._template,
        )

    # ---- batches

    def _answer(self, batch: Sequence[_Request]) -> dict[int, Completion]:
        """Run one batch, in halves if the memory does not hold it."""
        import torch

        try:
            return self._run(batch)
        except torch.OutOfMemoryError as error:
            if len(batch) == 1:
                raise ModelError(f"{self.name} has no memory for one prompt of {len(batch[0].ids)} tokens") from error
        half = len(batch) // 2
        return self._answer(batch[:half]) | self._answer(batch[half:])

    def _run(self, batch: Sequence[_Request]) -> dict[int, Completion]:
        import torch
        from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

        model, longest = self._model, max(len(request.ids) for request in batch)
        rows = Rows(
            [request.sampling for request in batch],
            [_seed(request.sampling.seed, request.ids) for request in batch],
            self._spans(batch),
            longest,
            self._end_ids,
            self._decode,
            model.device,
        )
        steering, places = batch[0].steering, [request.place for request in batch]
        defaults, training = model.generation_config, model.training
        model.generation_config = GenerationConfig()  # the model's own would add processors
        model.eval()
        try:
            with torch.inference_mode(), steering(model, places, rows) if steering else nullcontext() as change:
                output = model.generate(
                    **self._inputs(batch, longest),
                    do_sample=False,
                    use_cache=True,
                    max_new_tokens=max(request.sampling.max_tokens for request in batch),
                    logits_processor=LogitsProcessorList([*([change] if change else []), rows.draw]),  # pyright: ignore[reportArgumentType]
                    stopping_criteria=StoppingCriteriaList([rows.stop]),  # pyright: ignore[reportArgumentType]
                )
        finally:
            model.generation_config = defaults
            model.train(training)
        drawn = output[:, longest:].tolist()
        return {
            request.place: self._completion(request, drawn[row][: rows.lengths[row]], rows, row)
            for row, request in enumerate(batch)
        }

    def _inputs(self, batch: Sequence[_Request], longest: int) -> dict[str, torch.Tensor]:
        import torch

        def padded(values: Sequence[torch.Tensor]) -> torch.Tensor:
            return torch.stack([torch.nn.functional.pad(value, (longest - len(value), 0)) for value in values])

        inputs = {
            "input_ids": padded([torch.tensor(request.ids) for request in batch]),
            "attention_mask": padded([torch.ones(len(request.ids), dtype=torch.long) for request in batch]),
        }
        for name in batch[0].extras:
            values = [request.extras[name] for request in batch]
            together = batch[0].per_token(name)
            inputs[name] = padded([value[0] for value in values]) if together else torch.cat(values)
        return {name: value.to(self._model.device) for name, value in inputs.items()}

    def _spans(self, batch: Sequence[_Request]) -> list[tuple[list[int], SpanState]]:
        rows: dict[tuple[str, str], list[int]] = {}
        for row, request in enumerate(batch):
            if mixed := request.sampling.mixed:
                rows.setdefault((mixed.open, mixed.close), []).append(row)
        return [
            (members, SpanState(self._table(*markers), [batch[row].before for row in members]))
            for markers, members in rows.items()
        ]

    def _table(self, open: str, close: str) -> MarkerTable:
        if self._pieces is None:
            self._pieces = token_pieces(self._tokenizer, self._model.get_output_embeddings().weight.shape[0])
        if (open, close) not in self._tables:
            self._tables[open, close] = MarkerTable(self._pieces, open, close)
        return self._tables[open, close]

    def _completion(self, request: _Request, tokens: list[int], rows: Rows, row: int) -> Completion:
        shown = tokens[:-1] if tokens[-1] in self._end_ids else tokens
        text, finish = self._decode(shown), rows.finish[row] or "length"
        if finish == "length":
            text = text.rstrip("\ufffd")  # half a character, cut off; servers leave it out, too
        ends = [place for stop in request.sampling.stop if (place := text.find(stop)) >= 0]
        if ends:
            text, finish = text[: min(ends)], "stop"
        logprobs, temperatures = rows.drawn(row)
        return Completion(
            text,
            finish,
            len(request.ids),
            len(tokens),
            prompt_ids=tuple(request.ids),
            token_ids=tuple(tokens),
            logprobs=logprobs,
            temperatures=temperatures,
        )

    def _decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def _seed(seed: int | None, ids: Sequence[int]) -> int | None:
    """Return the seed of a row's draws; it depends on the prompt, or all steps of an episode would share their luck."""
    if seed is None:
        return None
    return int.from_bytes(hashlib.sha256(repr((seed, *ids)).encode()).digest()[:7], "big")


def _parts(message: Message) -> list[dict[str, str]]:
    return [{"type": "image"}] * len(message.images) + [{"type": "text", "text": message.content}]


def _check(sampling: Sampling) -> None:
    heat = [sampling.temperature, *([sampling.mixed.hot] if sampling.mixed else [])]
    if not all(np.isfinite(value) and value >= 0 for value in heat):
        raise ValueError(f"Expected temperatures of 0 or more, got {heat}")
    if not (0 < sampling.top_p <= 1 and sampling.top_k >= 0 and 0 <= sampling.min_p <= 1 and sampling.max_tokens >= 1):
        raise ValueError(f"Expected 0 < top_p <= 1, top_k >= 0, 0 <= min_p <= 1 and max_tokens >= 1, got {sampling}")
    if "" in sampling.stop:
        raise ValueError("Expected stop strings that are not empty")


def _batches(requests: Sequence[_Request], budget: int) -> Iterator[list[_Request]]:
    """Yield requests of one kind and of similar length, rows times columns within the budget."""
    batch: list[_Request] = []
    for request in sorted(requests, key=lambda request: (repr(request.kind), len(request.ids), request.place)):
        response = max(member.sampling.max_tokens for member in [*batch, request])
        if batch and (request.kind != batch[0].kind or (len(request.ids) + response) * (len(batch) + 1) > budget):
            yield batch
            batch = []
        batch.append(request)
    if batch:
        yield batch
