"""Mixed temperature (SGE): which temperature a token is drawn at, from the text that stands before it.

The rule: a token is drawn hot if, of the markers that stand complete in the tokens before it, the one that ended last is the
opening one; else cold. So every token of the opening marker is cold, every token of the closing marker hot, and the token
that completes a marker belongs to it as a whole, whatever else it holds.

Two readings of "marker", one rule:

- as token ids (`temperatures`): exact where the markers are tokens of their own;
- as text (`piece_temperatures`): a tokenizer may merge the end of a marker with what follows it (``>`` and a line break) or
  its beginning with what precedes it, and then the marker's ids never occur. Here each token is the piece of text it adds
  (`token_pieces`), and markers are found in the concatenation, across the borders of tokens. The back-ends use this.

`MarkerTable` is the second reading as a table over the vocabulary, for whole batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from backtrail.agents.models.base import UnsupportedError

if TYPE_CHECKING:
    import torch

__all__ = ["MarkerTable", "SpanState", "piece_temperatures", "temperatures", "token_pieces"]


def temperatures(
    token_ids: Sequence[int],
    open_ids: Sequence[int],
    close_ids: Sequence[int],
    hot: float,
    cold: float,
    *,
    before: Sequence[int] = (),
) -> list[float]:
    """Return the temperature each token of a response is drawn at; markers are sequences of token ids.

    Args:
        token_ids: The response.
        open_ids: The marker that begins the hot span.
        close_ids: The marker that ends it.
        hot: The temperature inside.
        cold: The temperature outside.
        before: Tokens of the response that were given, not drawn (an assistant message the model goes on with).

    Raises:
        ValueError: If a marker is empty, or one ends with the other, so that both could end at once.

    Example:
        >>> temperatures([7, 1, 2, 8, 9, 3, 8], open_ids=[1, 2], close_ids=[3], hot=1.2, cold=0.7)
        [0.7, 0.7, 0.7, 1.2, 1.2, 1.2, 0.7]
    """
    _check(tuple(open_ids), tuple(close_ids))
    inside = _inside([(token,) for token in (*before, *token_ids)], tuple(open_ids), tuple(close_ids))
    return [hot if hot_here else cold for hot_here in list(inside)[len(before) :]]


def piece_temperatures(
    pieces: Sequence[str], open: str, close: str, hot: float, cold: float, *, before: str = ""
) -> list[float]:
    """Return the temperature each token of a response is drawn at; markers are text.

    Args:
        pieces: The text that each token adds.
        open: The marker that begins the hot span.
        close: The marker that ends it.
        hot: The temperature inside.
        cold: The temperature outside.
        before: Text of the response that was given, not drawn.

    Raises:
        ValueError: If a marker is empty, or one ends with the other.

    Example:
        >>> piece_temperatures(["<", "e>, ", "try", "</e", ">"], "<e>", "</e>", hot=1.2, cold=0.7)
        [0.7, 0.7, 1.2, 1.2, 1.2]
    """
    _check(tuple(open), tuple(close))
    inside = _inside([tuple(before), *map(tuple, pieces)], tuple(open), tuple(close))
    return [hot if hot_here else cold for hot_here in list(inside)[1:]]


def _check(open: Sequence[object], close: Sequence[object]) -> None:
    if not open or not close:
        raise ValueError("Expected two markers, one is empty")
    if open[-len(close) :] == close or close[-len(open) :] == open:
        raise ValueError(f"Expected markers that cannot end at once, got {open!r} and {close!r}")


def _inside(pieces: Sequence[tuple[Any, ...]], open: tuple[Any, ...], close: tuple[Any, ...]) -> Iterator[bool]:
    """Say for each piece whether the last marker that ended before it is the opening one."""
    inside, seen = False, []
    for piece in pieces:
        yield inside
        for symbol in piece:
            seen.append(symbol)
            if tuple(seen[-len(open) :]) == open:
                inside = True
            elif tuple(seen[-len(close) :]) == close:
                inside = False


def token_pieces(tokenizer: Any, size: int) -> list[str]:
    """Return the text that each token of a vocabulary adds to the text before it.

    Characters that span several tokens become U+FFFD in each of them, which is why markers must be ASCII. Tokens that mark
    words by a leading space keep it: each is decoded behind another token, because decoders drop a space at the start.

    Args:
        tokenizer: A transformers tokenizer.
        size: How many ids the model has; ids beyond the tokenizer's add "".
    """
    anchor = tokenizer("a", add_special_tokens=False)["input_ids"]
    known = range(min(size, len(tokenizer)))
    texts = tokenizer.batch_decode(
        [[*anchor, token] for token in known], skip_special_tokens=False, clean_up_tokenization_spaces=False
    )
    skip = len(tokenizer.decode(anchor))
    return [text[skip:] for text in texts] + [""] * (size - len(known))


class MarkerTable:
    """The automaton that reads two markers (Aho and Corasick, 1975), stepped by whole tokens.

    A state is what has been read of a marker that has not ended. A table is built once per vocabulary and pair of markers.

    Attributes:
        next: (states, vocabulary) int16, the state after a token.
        event: (states, vocabulary) int8, the marker that ended last within the token: 0 none, 1 opening, 2 closing.
    """

    def __init__(self, pieces: Sequence[str], open: str, close: str):
        """Build the table.

        Args:
            pieces: The text of each token, as `token_pieces` returns it.
            open: The marker that begins the hot span.
            close: The marker that ends it.

        Raises:
            ValueError: If a marker is empty, or one ends with the other.
            UnsupportedError: If a marker is not ASCII.
        """
        _check(tuple(open), tuple(close))
        if not (open + close).isascii():
            raise UnsupportedError(f"Expected markers in ASCII, got {open!r} and {close!r}")
        step, ends = _automaton(open.encode(), close.encode())
        texts = [piece.encode() for piece in pieces]
        lengths = np.array([len(text) for text in texts])
        states = len(step)
        self.next = np.repeat(np.arange(states, dtype=np.int16)[:, None], len(texts), axis=1)
        self.event = np.zeros((states, len(texts)), dtype=np.int8)
        for column in range(int(lengths.max(initial=0))):
            rows = np.flatnonzero(lengths > column)
            symbols = np.array([texts[row][column] for row in rows])
            reached = step[self.next[:, rows], symbols]
            self.next[:, rows] = reached
            self.event[:, rows] = np.where(ends[reached] > 0, ends[reached], self.event[:, rows])
        self._step, self._ends = step, ends

    def start(self, before: str = "") -> tuple[int, bool]:
        """Return the state, and whether it is inside the span, after text that was given."""
        state, inside = 0, False
        for symbol in before.encode():
            state = int(self._step[state, symbol])
            inside = bool(self._ends[state] == 1) if self._ends[state] else inside
        return state, inside

    def advance(self, state: int, inside: bool, token: int) -> tuple[int, bool]:
        """Return the state, and whether it is inside the span, after one more token."""
        event = self.event[state, token]
        return int(self.next[state, token]), bool(event == 1) if event else inside


def _automaton(open: bytes, close: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return the transitions, (states, 256), and the marker that ends in each state: 0 none, 1 opening, 2 closing."""
    names = sorted(
        {marker[:end] for marker in (open, close) for end in range(len(marker) + 1)}, key=lambda n: (len(n), n)
    )
    index = {name: number for number, name in enumerate(names)}
    step = np.zeros((len(names), 256), dtype=np.int16)
    for name in names:
        for symbol in range(256):
            text = name + bytes([symbol])
            while text not in index:
                text = text[1:]
            step[index[name], symbol] = index[text]
    ends = np.array([1 if name.endswith(open) else 2 if name.endswith(close) else 0 for name in names], dtype=np.int8)
    return step, ends


class SpanState:
    """Says for every row of a batch whether its next token is inside the hot span.

    The answer depends on the tokens alone. What was worked out for earlier columns is used again only if those columns are
    still the same, so reordered or compacted batches cannot desynchronise it.
    """

    def __init__(self, table: MarkerTable, before: Sequence[str]):
        """Start a batch; ``before`` is the given text of each row."""
        self._table, self._before = table, before
        self._tensors: dict[Any, tuple[torch.Tensor, torch.Tensor]] = {}
        self._seen: torch.Tensor | None = None
        self._state: tuple[torch.Tensor, torch.Tensor] | None = None

    def inside(self, generated: torch.Tensor) -> torch.Tensor:
        """Return (rows,) bool from the tokens drawn so far, (rows, length)."""
        seen, past = self._seen, 0
        if self._state is not None and seen is not None and seen.shape[0] == generated.shape[0]:
            past = seen.shape[1] if generated[:, : seen.shape[1]].equal(seen) else 0
        state, inside = self._state if past and self._state is not None else self._begin(generated)
        following, events = self._on(generated)
        for column in range(past, generated.shape[1]):
            tokens = generated[:, column]
            event = events[state, tokens]
            inside = (event == 1) | (inside & (event == 0))
            state = following[state, tokens].long()
        self._seen, self._state = generated.clone(), (state, inside)
        return inside

    def _begin(self, generated: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        starts = np.array([self._table.start(text) for text in self._before], dtype=np.int64).reshape(-1, 2)
        began = generated.new_tensor(starts.tolist())
        return began[:, 0], began[:, 1].bool()

    def _on(self, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the table's tensors on the device of another."""
        if like.device not in self._tensors:
            import torch

            self._tensors[like.device] = (
                torch.from_numpy(self._table.next).to(like.device),
                torch.from_numpy(self._table.event).to(like.device),
            )
        return self._tensors[like.device]
