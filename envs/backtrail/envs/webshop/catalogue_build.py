"""Building a catalogue: products are read once, as a stream, and what is asked for later is laid out on disk."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from backtrail.envs.webshop import bm25
from backtrail.envs.webshop.catalogue import (
    ASIN_TYPE,
    META,
    SCHEMA,
    Catalogue,
    digest_of,
    open_catalogue,
    pack,
    sha256_of,
    unpack,
)
from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.goals import SOURCES, GoalWriter
from backtrail.envs.webshop.items import Product
from backtrail.envs.webshop.loader import Listing, Row, listings
from backtrail.envs.webshop.nouns import Nouns
from backtrail.envs.webshop.records import Records, RecordWriter, save_array
from backtrail.envs.webshop.source import OfficialFiles, Progress

__all__ = ["build", "document"]

_CHUNK = 256
_TRIES = 5


def build(
    rows: Iterable[Row] | OfficialFiles,
    folder: str | os.PathLike[str],
    *,
    nouns: Nouns | str,
    label: str | None = None,
    price_seed: int = 0,
    goal_seed: int | None = None,
    shuffle_seed: int = 233,
    progress: Progress | None = None,
) -> Catalogue:
    """Build a catalogue and open it.

    It is built in a temporary folder beside ``folder`` and renamed when it is whole. A catalogue at ``folder`` is kept if it
    is equal and undamaged, else replaced; who has it open keeps the old one. A build that was killed leaves its temporary
    folder, ``.NAME-*``, which may be removed. Memory grows by about 250 bytes a product and 30 bytes a goal, besides what
    the search index takes.

    Args:
        rows: One for each product, or the official files.
        folder: Where it goes.
        nouns: Finds the nouns of titles; or a name, if the rows bring their nouns.
        label: Which data this is; official files know it themselves.
        price_seed: Of the draws of prices and then of price limits; the original leaves them to chance.
        goal_seed: Of the draws of price limits; None goes on after the prices, as the original does. AgentGym has 233.
        shuffle_seed: Of the order of the goals; the original's by default.
        progress: Called with what is being done, how much of it is done, and of how much (0 if that is not known).

    Raises:
        CatalogueError: If a row has another form, there are no products or no goals, or ``folder`` holds something else.
        ValueError: If there is no label.
    """
    if label is None and not isinstance(rows, OfficialFiles):
        raise ValueError("Expected a label: only official files know theirs")
    target = Path(folder).expanduser().resolve()
    if target.exists() and not (target / META).is_file() and not (target.is_dir() and not any(target.iterdir())):
        raise CatalogueError(f"{target} is there and is no catalogue: choose another folder, or remove it")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent, ignore_cleanup_errors=True) as aside:
        draft = Path(aside) / "catalogue"
        draft.mkdir()
        seeds = {"price": price_seed, "goal": goal_seed, "shuffle": shuffle_seed}
        with closing(_Draft(draft, nouns, seeds, progress or (lambda stage, done, total: None))) as writer:
            writer.read(rows)
            digest = writer.finish(rows, label)
        _publish(draft, target, digest)
    return open_catalogue(target)


def document(product: Product) -> str:
    """Return what the search index reads of a product: title, description, first bullet and options, in lower case."""
    options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in product.options)
    return " ".join([product.title, product.description, product.bullets[0], options]).lower()


class _Draft:
    """A catalogue that is being written."""

    def __init__(self, folder: Path, nouns: Nouns | str, seeds: dict[str, Any], tell: Progress):
        self._folder, self._nouns, self._seeds, self._tell = folder, nouns, seeds, tell
        self._rng = random.Random(seeds["price"])
        self._products = RecordWriter(folder, "products")
        self._goals = {source: GoalWriter(folder / "goals", source) for source in SOURCES}
        self._asins = bytearray()
        self._names: dict[str, dict[str, int]] = {"category": {}, "query": {}}
        self._numbers = {"category": array("I"), "query": array("I")}
        self._noun_hash = hashlib.sha256()

    def close(self) -> None:
        with ExitStack() as stack:
            for writer in (self._products, *self._goals.values()):
                stack.callback(writer.close)

    def read(self, rows: Iterable[Row] | OfficialFiles) -> None:
        """Write the products and collect the rest."""
        if isinstance(rows, OfficialFiles):
            found = listings(rows.rows(self._tell), str(rows.products))
        else:
            found = listings(rows)
        while chunk := list(itertools.islice(found, _CHUNK)):
            for (_, listing), nouns in zip(chunk, self._nouns_of(chunk), strict=True):
                self._add(listing, nouns)
            if not isinstance(rows, OfficialFiles):
                self._tell("Reading products", len(self._products), 0)
        if not len(self._products):
            raise CatalogueError("Expected products, the source has none")

    def finish(self, rows: Iterable[Row] | OfficialFiles, label: str | None) -> str:
        """Write everything else; return the digest."""
        self._products.finish()
        counts = {"products": len(self._products)} | self._draw_goals()
        self._write_arrays()
        bm25.Index.build(self._documents(), self._folder.parent).save(self._folder / "search")
        official = isinstance(rows, OfficialFiles)
        name = self._nouns if isinstance(self._nouns, str) else self._nouns.name
        meta: dict[str, Any] = {
            "schema": SCHEMA,
            "analyzer": bm25.VERSION,
            "label": rows.label if label is None and official else label,
            "counts": counts,
            "names": {kind: list(names) for kind, names in self._names.items()},
            "seeds": self._seeds,
            "nouns": {"name": name, "sha256": self._noun_hash.hexdigest()},
            "sources": rows.sha256 if official else {},
            "files": self._files(),
        }
        meta["digest"] = digest_of(meta)
        (self._folder / META).write_text(json.dumps(meta, indent=1), encoding="utf-8")
        return meta["digest"]

    def _add(self, listing: Listing, nouns: tuple[str, ...]) -> None:
        pricing = listing.pricing
        price = pricing[0] if len(pricing) == 1 else self._rng.uniform(*pricing)
        product = replace(listing.product, price=price, nouns=nouns)
        number = len(self._products)
        self._products.add(pack(product))
        self._asins += product.asin.encode().ljust(np.dtype(ASIN_TYPE).itemsize, b"\0")
        for kind, numbers in self._numbers.items():
            names = self._names[kind]
            numbers.append(names.setdefault(getattr(product, kind), len(names)))
        self._noun_hash.update(json.dumps(nouns).encode())
        if listing.instruction is not None:
            self._goals["synthetic"].add(number, product, listing.instruction, listing.asked)
        for text, asked, options in listing.human:
            if asked:
                self._goals["human"].add(number, product, text, asked, options)

    def _nouns_of(self, chunk: list[tuple[Row, Listing]]) -> list[tuple[str, ...]]:
        if isinstance(self._nouns, Nouns):
            return self._nouns.of([listing.product.title for _, listing in chunk])
        if missing := [listing.product.asin for row, listing in chunk if "nouns" not in row]:
            raise CatalogueError(f"The row of {missing[0]} has no nouns: give a way to find them")
        return [listing.product.nouns for _, listing in chunk]

    def _draw_goals(self) -> dict[str, int]:
        """Draw the goals of both sources, each as if it were the only one; return their numbers."""
        after_prices, counts = self._rng.getstate(), {}
        for source, writer in self._goals.items():
            self._tell(f"Drawing {source} goals", 0, 0)
            rng = random.Random(self._seeds["goal"])
            if self._seeds["goal"] is None:
                rng.setstate(after_prices)
            counts[source] = writer.finish(rng, self._seeds["shuffle"])
        if not any(counts.values()):
            raise CatalogueError("Expected goals: no product has an instruction")
        return counts

    def _write_arrays(self) -> None:
        asins = np.frombuffer(bytes(self._asins), ASIN_TYPE)
        order = np.argsort(asins, kind="stable")
        save_array(self._folder / "asin.npy", asins, ASIN_TYPE)
        save_array(self._folder / "asin_sorted.npy", asins[order], ASIN_TYPE)
        save_array(self._folder / "asin_number.npy", order, "<u4")
        for kind, numbers in self._numbers.items():
            save_array(self._folder / f"{kind}.npy", numbers, "<u4")

    def _documents(self) -> Iterator[tuple[str, str]]:
        """Read the products again, for the index."""
        total = len(self._products)
        for number, values in enumerate(Records(self._folder, "products")):
            if not number % _CHUNK:
                self._tell("Indexing products", number, total)
            product = unpack(values)
            yield product.asin, document(product)
        self._tell("Indexing products", total, total)

    def _files(self) -> dict[str, tuple[int, str]]:
        """Return the size and the checksum of every file."""
        paths = sorted(path for path in self._folder.rglob("*") if path.is_file())
        return {p.relative_to(self._folder).as_posix(): (p.stat().st_size, sha256_of(p)) for p in paths}


def _publish(draft: Path, target: Path, digest: str) -> None:
    """Put a whole catalogue in its place, unless an equal one is there."""
    for number in range(_TRIES):
        if _is_there(target, digest):
            return
        try:
            if target.exists():
                target.rename(draft.parent / f"replaced-{number}")
            draft.rename(target)
        except OSError:  # another process is doing the same
            continue
        return
    raise CatalogueError(f"{target} cannot be put in place: another process keeps replacing it, or it is not allowed")


def _is_there(target: Path, digest: str) -> bool:
    try:
        there = Catalogue(target)
        if there.digest == digest:
            there.verify()
            return True
    except CatalogueError:
        pass
    return False
