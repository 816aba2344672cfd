"""The shop's search: Lucene's BM25 over memory-mapped arrays, equal to Lucene in every score and every tie.

S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, as Lucene 9 computes it
with Anserini's parameters. A document's score is the sum over the query's terms of ``w - w / (1 + count * norm)``, with
``w = times * ln(1 + (n - df + 0.5) / (df + 0.5))`` and ``norm = 1 / (k1 * (1 - b + b * length / average))``. Lucene
keeps four bits of a length, works in single precision, and sums in double precision; so does this module.
"""

from __future__ import annotations

import json
import math
import tempfile
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from numpy.typing import DTypeLike, NDArray

from backtrail.envs.webshop.analysis import analyze
from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.postings import Postings, edges
from backtrail.envs.webshop.records import load_array

__all__ = ["VERSION", "Index"]

VERSION = "lucene-english-bm25-1"
"""Of the analyser, the formula and the files together: an index of another version is not opened."""

NUMBA_FROM = 20_000_000
"""An index of so many postings is searched with numba, if that is installed; for fewer, loading it is not worth it."""

_K1, _B, _ONE = np.float32(0.9), np.float32(0.4), np.float32(1)
_LAYOUT: dict[str, tuple[DTypeLike, ...]] = {
    "documents": (np.uint32,),  # of each posting; a term's postings follow each other, by document number
    "counts": (np.uint8, np.uint16, np.uint32),  # of each posting: how often the document has the term
    "starts": (np.int64,),  # of each term: its first posting; and the end of all
    "norms": (np.float32,),  # of each document
    "ranks": (np.uint32,),  # of each document: its place among the sorted ids, which breaks ties
    "spellings": (np.uint8,),  # all terms in UTF-8, sorted, one after the other
    "edges": (np.int64,),  # where each begins; and the end of all
    "numbers": (np.uint32,),  # which term each is
}

_REMEDY = "Build it again: backtrail data webshop SOURCE"

Array = NDArray[Any]
Engine = Literal["auto", "numpy", "numba"]
Hits = tuple[NDArray[np.uint32], NDArray[np.float32]]


class Index:
    """Which documents have which terms. Holds no state of a search: threads and environments may share it.

    Attributes:
        engine: What searches: "numpy", "numba", or "auto", which takes numba for a large index (`NUMBA_FROM`) where it
            is installed. The results are the same.
    """

    def __init__(self, arrays: dict[str, Array], texts: int):
        """Take the arrays as they are; use `build` or `open`.

        Args:
            arrays: One for each name in the layout above.
            texts: Number of documents that have any term.
        """
        self._arrays, self._texts = arrays, texts
        self._starts, self._edges = arrays["starts"].data, arrays["edges"].data
        self._numbers, self._spellings = arrays["numbers"].data, arrays["spellings"].data
        self.engine: Engine = "auto"

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._arrays["norms"])

    # -- searching ----------------------------------------------------------------------------------------

    def search(self, query: str, k: int = 50) -> list[int]:
        """Return the numbers of the ``k`` best documents, the best first; equal scores are ordered by id."""
        return self.rank(query, k)[0].tolist()

    def rank(self, query: str, k: int = 50) -> Hits:
        """Return the numbers and the scores of the ``k`` best documents, the best first.

        Raises:
            ValueError: If ``k`` is less than 1.
            CatalogueError: If the index turns out to be damaged.
            DependencyNotInstalled: If `engine` was set to "numba" and that is not installed.
        """
        if k < 1:
            raise ValueError(f"Expected k to be at least 1, got {k}")
        ranker, a = self._ranker(), self._arrays
        begins, ends, weights = [], [], []
        try:
            for term, times in Counter(analyze(query)).items():
                begin, end = self._find(term)
                if begin < end:
                    begins.append(begin)
                    ends.append(end)
                    weights.append(np.float32(times) * self._rarity(end - begin))
            spans = np.array(begins, np.int64), np.array(ends, np.int64), np.array(weights, np.float32)
            return ranker(a["documents"], a["counts"], a["norms"], a["ranks"], *spans, min(k, len(self)))
        except IndexError as error:
            raise CatalogueError(f"The search index is damaged: it points outside its arrays. {_REMEDY}") from error

    def _ranker(self) -> Callable[..., Hits]:
        if self.engine == "numpy" or (self.engine == "auto" and len(self._arrays["documents"]) < NUMBA_FROM):
            return _numpy_rank
        compiled = _compiled_rank()
        if compiled is None and self.engine == "numba":
            raise gym.error.DependencyNotInstalled('numba cannot be imported: pip install "backtrail[webshop]"')
        return compiled or _numpy_rank

    def _rarity(self, found: int) -> np.float32:
        """Return the weight of a term that so many documents have."""
        return np.float32(math.log(1 + (self._texts - found + 0.5) / (found + 0.5)))

    def _find(self, term: str) -> tuple[int, int]:
        """Return where the postings of a term begin and end."""
        spelling, bounds, count = term.encode(), self._edges, len(self._numbers)
        place = bisect_left(range(count), spelling, key=lambda i: bytes(self._spellings[bounds[i] : bounds[i + 1]]))
        if place == count or self._spellings[bounds[place] : bounds[place + 1]] != spelling:
            return 0, 0
        number = self._numbers[place]
        return self._starts[number], self._starts[number + 1]

    # -- making, saving, opening --------------------------------------------------------------------------

    @classmethod
    def build(cls, documents: Iterable[tuple[str, str]], scratch: Path | None = None) -> Index:
        """Make an index of ids and texts; documents are numbered as they come.

        Postings go through temporary files: memory is needed for the vocabulary, the ids and one block of postings.

        Args:
            documents: Pairs of id and text. The ids should differ; equal ones count as ordered as they come.
            scratch: Folder for the temporary files (17 to 20 bytes a posting); None for the system's.

        Raises:
            CatalogueError: If there are no documents.
        """
        vocabulary: defaultdict[str, int] = defaultdict()
        vocabulary.default_factory = vocabulary.__len__
        ids, lengths = [], array("Q")
        with tempfile.TemporaryFile(dir=scratch) as file:
            postings = Postings(file)
            for name, text in documents:
                tally = Counter(analyze(text))
                postings.add([vocabulary[term] for term in tally], tally.values())
                ids.append(name)
                lengths.append(tally.total())
            if not ids:
                raise CatalogueError("Expected documents to search in, got none: check the source")
            arrays = postings.finish(len(vocabulary), scratch)
        ranks = np.empty(len(ids), np.uint32)
        ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids), dtype=np.uint32)
        terms = sorted(vocabulary)  # by code point: the order of UTF-8 too
        arrays |= {
            "norms": _norms(np.frombuffer(lengths, np.uint64)),
            "ranks": ranks,
            "spellings": np.frombuffer("".join(terms).encode(), np.uint8),
            "edges": edges([len(term.encode()) for term in terms]),
            "numbers": np.array([vocabulary[term] for term in terms], np.uint32),
        }
        return cls(arrays, int(np.count_nonzero(lengths)))

    def save(self, folder: Path) -> None:
        """Write the index into a folder, which is made if need be."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in self._arrays.items():
            np.save(folder / f"{name}.npy", values, allow_pickle=False)
        meta = {"version": VERSION, "documents": len(self), "texts": self._texts}
        (folder / "meta.json").write_text(json.dumps(meta) + "\n", encoding="utf-8")

    @classmethod
    def open(cls, folder: Path) -> Index:
        """Map a saved index into memory, read-only: processes share its pages.

        Raises:
            CatalogueError: If a file is missing or damaged, or the index is of another version.
        """
        try:
            meta = json.loads((folder / "meta.json").read_bytes())
            version, documents, texts = meta["version"], int(meta["documents"]), int(meta["texts"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise _damaged(folder, f"meta.json cannot be read ({error!r})") from error
        if version != VERSION:
            raise _damaged(folder, f"expected version {VERSION!r}, got {version!r}")
        arrays = {name: load_array(folder / f"{name}.npy", *kinds) for name, kinds in _LAYOUT.items()}
        size = {name: len(values) for name, values in arrays.items()}
        if not (
            size["norms"] == size["ranks"] == documents >= max(texts, 1)
            and size["documents"] == size["counts"] == _total(arrays["starts"])
            and size["spellings"] == _total(arrays["edges"])
            and size["numbers"] + 1 == size["starts"] == size["edges"]
        ):
            raise _damaged(folder, f"the arrays do not belong together: {documents} documents, lengths {size}")
        return cls(arrays, texts)


def _norms(lengths: Array) -> Array:
    """Return what the length of each document does to its counts."""
    average = np.float32(lengths.sum() / max(np.count_nonzero(lengths), 1)) or _ONE
    # Lucene writes a length into one byte: exact up to 39, above that four bits of what exceeds 24
    beyond = np.maximum(lengths.astype(np.int64) - 24, 0)
    lost = np.maximum(np.frexp(beyond.astype(np.float64))[1] - 4, 0)
    kept = np.where(lengths > 24, 24 + (beyond >> lost << lost), lengths).astype(np.float32)
    return _ONE / (_K1 * ((_ONE - _B) + _B * kept / average))


def _total(bounds: Array) -> int:
    """Return where the last of some things in a row ends, -1 if they are in no order."""
    return int(bounds[-1]) if len(bounds) and bounds[0] == 0 and (bounds[1:] >= bounds[:-1]).all() else -1


def _damaged(folder: Path, what: str) -> CatalogueError:
    return CatalogueError(f"The search index in {folder} cannot be used: {what}. {_REMEDY}")


def _numpy_rank(
    documents: Array, counts: Array, norms: Array, ranks: Array, begins: Array, ends: Array, weights: Array, k: int
) -> Hits:
    """Score with numpy: the same as `_rank`."""
    parts, scores = [], []
    for begin, end, weight in zip(begins, ends, weights, strict=True):
        part = documents[begin:end]
        parts.append(part)
        scores.append(weight - weight / (_ONE + counts[begin:end].astype(np.float32) * norms[part]))
    if not parts:
        return np.empty(0, np.uint32), np.empty(0, np.float32)
    totals = np.bincount(np.concatenate(parts), np.concatenate(scores)).astype(np.float32)
    found = np.flatnonzero(totals)
    if len(found) > k:
        least = np.partition(totals[found], -k)[-k]
        found = found[totals[found] >= least]
    best = found[np.lexsort((ranks[found], -totals[found]))[:k]]
    return best.astype(np.uint32), totals[best]


def _rank(
    documents: Array, counts: Array, norms: Array, ranks: Array, begins: Array, ends: Array, weights: Array, k: int
) -> Hits:
    """Score one posting after the other; written for numba, which makes machine code of it."""
    totals = np.zeros(len(norms))
    for i in range(len(weights)):
        weight = weights[i]
        for j in range(begins[i], ends[i]):
            document = documents[j]
            if document >= len(totals):  # numba would write there
                raise IndexError
            totals[document] += weight - weight / (np.float32(1) + np.float32(counts[j]) * norms[document])
    best, scores, found = np.empty(k, np.uint32), np.empty(k, np.float32), 0
    for document in range(len(totals)):
        score = np.float32(totals[document])
        if score == 0 or (found == k and score < scores[k - 1]):
            continue
        if found < k:
            found += 1
        elif score == scores[k - 1] and ranks[document] > ranks[best[k - 1]]:
            continue
        place = found - 1
        while place and (
            score > scores[place - 1] or (score == scores[place - 1] and ranks[document] < ranks[best[place - 1]])
        ):
            best[place], scores[place] = best[place - 1], scores[place - 1]
            place -= 1
        best[place], scores[place] = document, score
    return best[:found], scores[:found]


@lru_cache(1)
def _compiled_rank() -> Callable[..., Hits] | None:
    """Return `_rank` in machine code, or None without numba."""
    try:
        import numba
    except ImportError:
        return None
    try:
        return numba.njit(cache=True)(_rank)
    except RuntimeError:  # nowhere to keep the machine code: each process makes it again
        return numba.njit(_rank)
