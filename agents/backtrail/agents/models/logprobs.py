"""Log-probabilities at per-token temperatures: of tokens that were drawn earlier, and of tokens being drawn.

The distribution of a token with logits z drawn at temperature T is softmax(z / T). Temperature 0 is greedy: the likeliest
token is taken, and the log-probability given for it is the one at temperature 1, since that of a certain event says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from backtrail.agents.models.base import Finish, Sampling
from backtrail.agents.models.mixed import SpanState

if TYPE_CHECKING:
    import torch

__all__ = ["Rows", "pick", "scaled_logprobs", "token_logprobs", "truncate"]


def scaled_logprobs(logits: torch.Tensor, temperatures: torch.Tensor) -> torch.Tensor:
    """Return log softmax(z / T) in float32, for logits (..., vocabulary) and temperatures (...)."""
    scale = temperatures.float().masked_fill(temperatures == 0, 1.0)
    return (logits.float() / scale.unsqueeze(-1)).log_softmax(-1)


def token_logprobs(
    model: Any,
    prompt_ids: Sequence[Sequence[int]],
    token_ids: Sequence[Sequence[int]],
    temperatures: Sequence[Sequence[float]],
    **features: torch.Tensor,
) -> list[torch.Tensor]:
    """Score responses with one plain forward pass, at the temperatures their tokens were drawn at.

    Differentiable unless the caller turns gradients off. The model's mode (training or not) is left as it is.

    Args:
        model: A transformers causal language model.
        prompt_ids: The prompt of each row.
        token_ids: The response of each row, as it was sampled.
        temperatures: The temperature of each token of each response.
        **features: Further inputs of the model for these rows (pictures).

    Returns:
        For each row the natural log-probability of each token of its response, (tokens,) float32.

    Raises:
        ValueError: If the rows do not fit together, or a prompt is empty.
    """
    import torch

    rows = list(zip(prompt_ids, token_ids, temperatures, strict=True))
    if any(len(tokens) != len(heat) or not prompt for prompt, tokens, heat in rows):
        raise ValueError("Expected a prompt, and as many temperatures as tokens, in every row")
    if not rows:
        return []
    device, longest = model.device, max(len(prompt) + len(tokens) for prompt, tokens, _ in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, (prompt, tokens, _) in enumerate(rows):
        ids[row, : len(prompt) + len(tokens)] = torch.tensor([*prompt, *tokens])
        mask[row, : len(prompt) + len(tokens)] = 1
    first = (
        min(len(prompt) for prompt, _, _ in rows) - 1
    )  # logits before the shortest prompt's last token are not needed
    logits = model(
        input_ids=ids.to(device),
        attention_mask=mask.to(device),
        use_cache=False,
        logits_to_keep=longest - first,
        **features,
    ).logits
    scores: list[torch.Tensor] = []
    for row, (prompt, tokens, heat) in enumerate(rows):
        begin = len(prompt) - 1 - first
        scaled = scaled_logprobs(logits[row, begin : begin + len(tokens)], torch.tensor(heat, device=device))
        scores.append(scaled.gather(-1, torch.tensor(tokens, dtype=torch.long, device=device)[:, None])[:, 0])
    return scores


def truncate(logprobs: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor, min_p: torch.Tensor) -> torch.Tensor:
    """Return probabilities (rows, vocabulary) with the unlikely tokens of each row at 0, not renormalised.

    In the order min-p (p >= min_p max p, arXiv 2407.01082), top-k, top-p (the smallest set of the likeliest tokens whose
    share of what is left reaches top_p, arXiv 1904.09751).

    Args:
        logprobs: (rows, vocabulary), temperature applied.
        top_k: (rows,) int, 0 for all.
        top_p: (rows,) float, 1 for all.
        min_p: (rows,) float, 0 for all.
    """
    import torch

    probabilities = logprobs.exp()
    if bool((min_p > 0).any()):
        floor = min_p[:, None] * probabilities.amax(-1, keepdim=True)
        probabilities = probabilities.where(probabilities >= floor, 0.0)
    if not bool((top_k > 0).any() or (top_p < 1).any()):
        return probabilities
    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    rank = torch.arange(ordered.shape[-1], device=ordered.device)
    kept = ordered.where((rank < top_k[:, None]) | (top_k[:, None] == 0), 0.0)
    before = (kept.cumsum(-1) - kept) / kept.sum(-1, keepdim=True)  # what the likelier tokens hold
    kept = kept.where((before < top_p[:, None]) | (top_p[:, None] >= 1), 0.0)
    return torch.zeros_like(kept).scatter(-1, order, kept)


def pick(probabilities: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Draw a token a row by inversion: the first whose cumulated probability exceeds u times the sum.

    Args:
        probabilities: (rows, vocabulary), not negative, need not sum to 1.
        uniform: (rows,) float64 in [0, 1).

    Returns:
        Token ids, (rows,).
    """
    import torch

    cumulated = probabilities.double().cumsum(-1)
    total = cumulated[:, -1:]
    # below the sum even if the product rounds up to it, or a token of probability 0 could be drawn
    target = (uniform[:, None] * total).minimum(total.nextafter(total.new_zeros(())))
    return torch.searchsorted(cumulated, target, right=True)[:, 0]


class Rows:
    """Draws every row of a batch by its own sampling, inside transformers' ``generate``.

    ``generate`` runs greedily; `draw`, its logits processor, leaves one token a row to choose from, and `stop`, its stopping
    criterion, ends each row by its own rules. A row takes one number of its own generator for each token, so what it draws
    does not depend on the other rows, except where rounding moves a logit.

    Attributes:
        lengths: Tokens of each row's response.
        finish: "stop" or "length" for each row.
    """

    def __init__(
        self,
        samplings: Sequence[Sampling],
        seeds: Sequence[int | None],
        spans: Sequence[tuple[Sequence[int], SpanState]],
        prompt_length: int,
        end_ids: Collection[int],
        decode: Callable[[list[int]], str],
        device: Any,
    ):
        """Start a batch.

        Args:
            samplings: One a row; its seed is not used.
            seeds: Seed of each row's generator, None for one from the operating system.
            spans: Rows and the state of their hot spans; rows with the same markers share one.
            prompt_length: Columns of the padded prompts.
            end_ids: Tokens that end a response.
            decode: Turns token ids into text.
            device: Where the logits are.
        """
        import torch

        self._samplings, self._spans, self._start = samplings, spans, prompt_length
        self._end_ids, self._decode = end_ids, decode
        self._generators = [_generator(seed) for seed in seeds]

        def column(values: list[float], dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.tensor(values, dtype=dtype, device=device)

        self._cold = column([s.temperature for s in samplings])
        self._hot = column([s.mixed.hot if s.mixed else s.temperature for s in samplings])
        self._top_k = column([s.top_k for s in samplings], torch.long)
        self._top_p, self._min_p = column([s.top_p for s in samplings]), column([s.min_p for s in samplings])
        self._logprobs: list[torch.Tensor] = []
        self._inside: list[torch.Tensor] = []
        self.lengths = [0] * len(samplings)
        self.finish: list[Finish | None] = [None] * len(samplings)

    def draw(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return scores with one possible token a row; keep its log-probability and temperature."""
        import torch

        inside = self._in_span(input_ids[:, self._start :])
        temperatures = self._hot.where(inside, self._cold)
        logprobs = scaled_logprobs(scores, temperatures)
        uniform = torch.stack([torch.rand((), generator=g, dtype=torch.float64) for g in self._generators])
        drawn = pick(truncate(logprobs, self._top_k, self._top_p, self._min_p), uniform.to(scores.device))
        tokens = torch.where(temperatures == 0, scores.argmax(-1), drawn)[:, None]
        self._logprobs.append(logprobs.gather(-1, tokens)[:, 0])
        self._inside.append(inside)
        return torch.full_like(scores, -torch.inf).scatter(-1, tokens, 0.0)

    def _in_span(self, generated: torch.Tensor) -> torch.Tensor:
        inside = generated.new_zeros(len(generated)).bool()
        for rows, span in self._spans:
            inside[list(rows)] = span.inside(generated[list(rows)])
        return inside

    def stop(self, input_ids: torch.Tensor, scores: Any = None, **_: Any) -> torch.Tensor:
        """Return (rows,) bool: which rows have ended."""
        import torch

        generated = input_ids[:, self._start :]
        for row, tokens in enumerate(generated.tolist()):
            if self.finish[row] is None:
                self.lengths[row] = len(tokens)
                self.finish[row] = self._ending(tokens, self._samplings[row])
        return torch.tensor([finish is not None for finish in self.finish], device=input_ids.device)

    def _ending(self, tokens: list[int], sampling: Sampling) -> Finish | None:
        if tokens[-1] in self._end_ids:
            return "stop"
        if sampling.stop:
            # a token is a byte or more; twice that leaves room for tokens that show no text
            tail = self._decode(tokens[-2 * max(len(text.encode()) for text in sampling.stop) - 8 :])
            if any(text in tail for text in sampling.stop):
                return "stop"
        return "length" if len(tokens) >= sampling.max_tokens else None

    def drawn(self, row: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the log-probability and the temperature of each token of a row's response."""
        sampling, length = self._samplings[row], self.lengths[row]
        hot = sampling.mixed.hot if sampling.mixed else sampling.temperature
        return (
            tuple(float(step[row]) for step in self._logprobs[:length]),
            tuple(hot if step[row] else sampling.temperature for step in self._inside[:length]),
        )


def _generator(seed: int | None) -> torch.Generator:
    import torch

    generator = torch.Generator()
    if seed is None:
        generator.seed()  # from the operating system
    else:
        generator.manual_seed(seed)
    return generator
