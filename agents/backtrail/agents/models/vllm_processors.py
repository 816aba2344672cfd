"""Mixed temperature inside vLLM: logits processors for both generations of its model runner.

A request that wants a hot span is sent with temperature 1, and the processor divides each row of logits by the temperature
of the token about to be drawn. With ``logprobs_mode="processed_logprobs"`` the engine's log-probabilities are then those of
the distribution the token came from.

The V1 runner (CPU, and GPU before 0.27 or so) keeps requests in rows that move, and hands over the tokens drawn as live
lists. The V2 runner keeps them in slots, on the device. Both classes look markers up as `MarkerTable` does. Speculative
decoding is refused: by vLLM itself on V1, and here on V2, because draft rows see tokens that are not in the history.

They can be given to vLLM's own server too, for clients that send `extra_args` as ``vllm_xargs``::

    vllm serve MODEL --logprobs-mode processed_logprobs \
        --logits-processors backtrail.agents.models.vllm_processors:MixedTemperatureV1
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backtrail.agents.models.base import MixedTemperature, UnsupportedError
from backtrail.agents.models.mixed import MarkerTable, token_pieces

__all__ = ["MixedTemperatureV1", "MixedTemperatureV2", "extra_args"]

_COLDEST = 1e-5  # greedy in all but name; dividing logits by it stays far from float32's limits


def _base(module: str) -> Any:
    """Return vLLM's class to derive from, or object where there is no vLLM, so that this module can always be imported."""
    try:
        return importlib.import_module(module).LogitsProcessor
    except ImportError:
        return object


def extra_args(mixed: MixedTemperature, cold: float, before: str = "") -> dict[str, str | float]:
    """Return what a request must carry for a hot span; flat, because servers take no nested values.

    Args:
        mixed: The markers and the hot temperature.
        cold: The temperature of the rest.
        before: Text of the response that was given, not drawn.
    """
    return {
        "mixed_open": mixed.open,
        "mixed_close": mixed.close,
        "mixed_hot": float(mixed.hot),
        "mixed_cold": float(cold),
        "mixed_before": before,
    }


@dataclass(frozen=True, slots=True)
class _Spans:
    """What a request asked for."""

    open: str
    close: str
    hot: float
    cold: float
    before: str

    @staticmethod
    def of(params: Any) -> _Spans | None:
        given: Mapping[str, Any] = (params.extra_args if params is not None else None) or {}
        if "mixed_open" not in given:
            return None
        hot, cold = (max(float(given[name]), _COLDEST) for name in ("mixed_hot", "mixed_cold"))
        return _Spans(given["mixed_open"], given["mixed_close"], hot, cold, given.get("mixed_before", ""))


def _validate(params: Any) -> None:
    """Refuse a request before it reaches the sampler, where an error would end the engine."""
    if (spans := _Spans.of(params)) is None:
        return
    try:
        MarkerTable([""], spans.open, spans.close)
    except UnsupportedError as error:
        raise ValueError(str(error)) from error
    if params.temperature != 1.0:
        raise ValueError(f"Expected temperature 1 beside mixed temperatures, got {params.temperature}")
    if min(float(params.extra_args[name]) for name in ("mixed_hot", "mixed_cold")) < 0:
        raise ValueError("Expected mixed temperatures of at least 0")


class _Tables:
    """Marker tables of one model, built when first asked for."""

    def __init__(self, config: Any):
        self._model, self._pieces = config.model_config, None
        self._tables: dict[tuple[str, str], MarkerTable] = {}

    def get(self, spans: _Spans) -> MarkerTable:
        if self._pieces is None:
            tokenizer = importlib.import_module("transformers").AutoTokenizer.from_pretrained(
                self._model.tokenizer,
                revision=self._model.tokenizer_revision,
                trust_remote_code=self._model.trust_remote_code,
            )
            self._pieces = token_pieces(tokenizer, max(len(tokenizer), self._model.get_vocab_size()))
        key = (spans.open, spans.close)
        if key not in self._tables:
            self._tables[key] = MarkerTable(self._pieces, *key)
        return self._tables[key]


class _Row:
    """One request of the V1 runner, read token by token."""

    def __init__(self, spans: _Spans, table: MarkerTable, drawn: Sequence[int]):
        self.spans, self.table, self.drawn = spans, table, drawn
        self.read = 0
        self.state, self.inside = table.start(spans.before)

    def temperature(self) -> float:
        """Read what was drawn since the last call and return the temperature of the next token."""
        while self.read < len(self.drawn) and self.drawn[self.read] >= 0:  # -1: not back from the device yet
            self.state, self.inside = self.table.advance(self.state, self.inside, self.drawn[self.read])
            self.read += 1
        return self.spans.hot if self.inside else self.spans.cold


class MixedTemperatureV1(_base("vllm.v1.sample.logits_processor")):
    """Hot spans on vLLM's V1 model runner."""

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a request that cannot be drawn as asked."""
        _validate(sampling_params)

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool):
        self._tables = _Tables(vllm_config)
        self._rows: dict[int, _Row] = {}

    def is_argmax_invariant(self) -> bool:
        """Return True: dividing by a positive number keeps the largest logit the largest."""
        return True

    def update_state(self, batch_update: Any) -> None:
        """Follow requests that enter, leave and move; vLLM wants them in the order removed, added, moved."""
        if batch_update is None:
            return
        for row in batch_update.removed:
            self._rows.pop(row, None)
        for row, params, _, drawn in batch_update.added:
            self._rows.pop(row, None)
            if spans := _Spans.of(params):
                self._rows[row] = _Row(spans, self._tables.get(spans), drawn)
        for old, new, how in batch_update.moved:
            here, there = self._rows.pop(old, None), self._rows.pop(new, None)
            if here is not None:
                self._rows[new] = here
            if there is not None and how.name == "SWAP":
                self._rows[old] = there

    def apply(self, logits: Any) -> Any:
        """Divide each row by its temperature.

        The tokens are read here, not in `update_state`: with asynchronous scheduling the last one is filled in just before.
        """
        if not self._rows:
            return logits
        temperatures = np.ones(len(logits), dtype=np.float32)
        for index, row in self._rows.items():
            temperatures[index] = row.temperature()
        return logits.div_(logits.new_tensor(temperatures.tolist()).unsqueeze(1))


class MixedTemperatureV2(_base("vllm.v1.worker.gpu.sample.logits_processor")):
    """Hot spans on vLLM's V2 model runner.

    Per slot: where the automaton stands and how many positions it has read. A request that was preempted enters its slot
    anew and is read again from the end of its prompt, so nothing is lost.
    """

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a request that cannot be drawn as asked."""
        _validate(sampling_params)

    def __init__(self, vllm_config: Any, req_states: Any):
        if getattr(vllm_config, "speculative_config", None) is not None:
            raise ValueError("Mixed temperatures do not work together with speculative decoding")
        self._tables, self._requests = _Tables(vllm_config), req_states
        self._slots: dict[int, tuple[_Spans, MarkerTable]] = {}
        self._read: dict[int, int] = {}  # positions read; absent until the first step of a request
        self._on_device: dict[int, tuple[Any, Any]] = {}
        torch = importlib.import_module("torch")
        self._state = torch.zeros(req_states.max_num_reqs, dtype=torch.long, device=req_states.device)
        self._inside = torch.zeros(req_states.max_num_reqs, dtype=torch.bool, device=req_states.device)

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Begin a request in a slot; return whether it has a hot span."""
        self._slots.pop(req_idx, None)
        self._read.pop(req_idx, None)
        if spans := _Spans.of(sampling_params):
            self._slots[req_idx] = (spans, self._tables.get(spans))
        return req_idx in self._slots

    def apply(self, logits: Any, ctx: Any) -> Any:
        """Divide each row by its temperature; one row a request, since nothing is speculative."""
        slots = ctx.idx_mapping_np.tolist()
        lengths = dict(zip(slots, ctx.seq_lens_upper_bound_np.tolist(), strict=False))
        rows = [row for row, slot in enumerate(slots) if slot in self._slots]
        if not rows:
            return logits
        mine = [slots[row] for row in rows]
        for table in {id(self._slots[slot][1]): self._slots[slot][1] for slot in mine}.values():
            self._advance(table, [slot for slot in mine if self._slots[slot][1] is table], lengths)
        hot, cold = (
            logits.new_tensor([getattr(self._slots[slot][0], name) for slot in mine]) for name in ("hot", "cold")
        )
        scale = logits.new_ones(len(logits))
        scale[rows] = hot.where(self._inside[mine], cold)
        return logits.div_(scale.unsqueeze(1))

    def _advance(self, table: MarkerTable, slots: Sequence[int], lengths: Mapping[int, int]) -> None:
        """Read the tokens of slots up to their lengths, position by position; one on most steps."""
        for slot in slots:
            if slot not in self._read:
                self._state[slot], self._inside[slot] = table.start(self._slots[slot][0].before)
                self._read[slot] = int(self._requests.prompt_len.np[slot])
        following, events = self._tensors(table)
        while live := [slot for slot in slots if self._read[slot] < lengths[slot]]:
            tokens = self._requests.all_token_ids.gpu[live, [self._read[slot] for slot in live]].long()
            state, inside = self._state[live], self._inside[live]
            event = events[state, tokens]
            self._inside[live] = (event == 1) | (inside & (event == 0))
            self._state[live] = following[state, tokens]
            for slot in live:
                self._read[slot] += 1

    def _tensors(self, table: MarkerTable) -> tuple[Any, Any]:
        if id(table) not in self._on_device:
            torch, device = importlib.import_module("torch"), self._requests.device
            arrays = (table.next, table.event)
            self._on_device[id(table)] = tuple(torch.from_numpy(array).long().to(device) for array in arrays)
        return self._on_device[id(table)]
