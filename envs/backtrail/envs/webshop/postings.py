"""Turns what each document holds into where each term occurs, in bounded memory."""

from __future__ import annotations

import tempfile
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Postings", "edges"]

_BLOCK = 1 << 21
"""Postings that are sorted at once while building: about 40 bytes each."""

_POSTING = np.dtype([("term", np.uint32), ("document", np.uint32), ("count", np.uint32)])
Array = NDArray[Any]


class Postings:
    """Which document has which term how often: collected by document, given back by term."""

    def __init__(self, file: IO[bytes]):
        """Use an empty file, open for reading and writing, for what is not in memory; 12 bytes a posting."""
        self._file = file
        self._terms, self._sizes, self._counts = array("I"), array("I"), array("I")
        self._runs: list[int] = []  # their lengths: each is sorted by term, and within a term by document
        self._before, self._most = 0, 0

    def add(self, terms: Sequence[int], counts: Iterable[int]) -> None:
        """Add the next document."""
        self._terms.extend(terms)
        self._counts.extend(counts)
        self._sizes.append(len(terms))
        if len(self._terms) >= _BLOCK:
            self._flush()

    def _flush(self) -> None:
        """Sort what was collected by term and put it away."""
        terms = np.frombuffer(self._terms, np.uint32)
        order = np.argsort(terms, kind="stable")
        run = np.empty(len(terms), _POSTING)
        run["term"] = terms[order]
        run["count"] = np.frombuffer(self._counts, np.uint32)[order]
        numbers = np.arange(self._before, self._before + len(self._sizes), dtype=np.uint32)
        run["document"] = np.repeat(numbers, self._sizes)[order]
        run.tofile(self._file)
        self._runs.append(len(run))
        self._before += len(self._sizes)
        self._most = max(self._most, int(run["count"].max(initial=0)))
        self._terms, self._sizes, self._counts = array("I"), array("I"), array("I")

    def _mapped_runs(self) -> Iterator[Array]:
        """Map one run after the other, so that one at a time takes memory."""
        offset = 0
        for length in self._runs:
            yield _mapped(self._file, _POSTING, offset, length)
            offset += length * _POSTING.itemsize

    def finish(self, terms: int, scratch: Path | None) -> dict[str, Array]:
        """Merge the runs, a range of terms at a time, and return documents, counts and starts.

        Args:
            terms: How many terms there are.
            scratch: Folder for the temporary files behind the arrays, 5 to 8 bytes a posting; None for the system's.
        """
        self._flush()
        found = np.zeros(terms, np.int64)
        for run in self._mapped_runs():
            found += np.bincount(run["term"], minlength=terms)
        starts, total = edges(found), int(found.sum())
        kind = np.min_scalar_type(self._most)
        cuts = np.unique(np.searchsorted(starts, [*range(0, total, _BLOCK), total]))
        with tempfile.TemporaryFile(dir=scratch) as documents, tempfile.TemporaryFile(dir=scratch) as counts:
            for first, end in pairwise(cuts):
                merged = self._merge(first, end, starts[first : end + 1])
                np.ascontiguousarray(merged["document"]).tofile(documents)
                merged["count"].astype(kind).tofile(counts)
            arrays = {"documents": _mapped(documents, np.uint32, 0, total), "counts": _mapped(counts, kind, 0, total)}
        return arrays | {"starts": starts}

    def _merge(self, first: int, end: int, starts: Array) -> Array:
        """Return the postings of some terms, which begin at ``starts``, by term and by document."""
        merged = np.empty(starts[-1] - starts[0], _POSTING)
        free = starts[:-1] - starts[0]  # where the next posting of each term goes
        for run in self._mapped_runs():
            part = run[bisect_left(run["term"], first) : bisect_left(run["term"], end)]
            found = np.bincount(part["term"] - np.uint32(first), minlength=end - first)
            merged[np.repeat(free - edges(found)[:-1], found) + np.arange(len(part))] = part
            free += found
        return merged


def edges(sizes: Sequence[int] | Array) -> Array:
    """Return where each of some things in a row begins, and the end."""
    bounds = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=bounds[1:])
    return bounds


def _mapped(file: IO[bytes], kind: DTypeLike, offset: int, length: int) -> Array:
    """Map a part of an open file into memory; the file may be closed then."""
    if not length:
        return np.empty(0, kind)  # what is empty cannot be mapped
    file.flush()
    return np.memmap(cast(Any, file), kind, "r", offset, (length,)).view(np.ndarray)
