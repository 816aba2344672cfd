"""The catalogue of a shop: built once, never changed, mapped into memory and shared by all environments and processes."""

from __future__ import annotations

import hashlib
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from backtrail.envs.webshop import bm25, generate
from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.goals import SOURCES, Goals, Source
from backtrail.envs.webshop.items import Product
from backtrail.envs.webshop.records import Records, load_array

__all__ = [
    "ASIN_TYPE",
    "META",
    "SCHEMA",
    "Catalogue",
    "default_folder",
    "digest_of",
    "generated",
    "generated_folder",
    "open_catalogue",
    "pack",
    "sha256_of",
    "unpack",
]

SCHEMA = 1
"""Version of the form of the files. What another version wrote is not read."""

META = "meta.json"

ASIN_TYPE = "S10"
"""ASINs on disk: ten bytes."""

_HITS = 50
_CACHED = 1024
_CACHED_LISTS = 8
_COUNT = 1000
_NOT_CONTENT = ("sources", "digest")
_AGAIN = 'Build it again: "backtrail data webshop SOURCE".'

Listed = Literal["category", "query"]


class Catalogue:
    """Products, search index and goals of one shop.

    Products are numbered in the order of their source. What is read stays parsed for a while, and environments share it.

    Attributes:
        folder: Where it is.
        meta: What the build wrote down: counts, seeds, versions, sources.
        digest: Of all its contents; two catalogues with one digest are equal.
        label: Which data this is.
        nouns_name: Where the nouns of the titles came from.
        categories: Names of the departments.
        category_numbers: For each product the place of its department in `categories`.
        index: The search index; its `engine` may be set before the first search.
    """

    def __init__(self, folder: Path):
        """Open a catalogue; `open_catalogue` keeps one for each folder.

        Raises:
            CatalogueError: If there is none, or it is damaged or of another version.
        """
        self.folder = folder
        self.meta = _checked_meta(folder)
        self.digest: str = self.meta["digest"]
        self.label: str = self.meta["label"]
        self.nouns_name: str = self.meta["nouns"]["name"]
        self.categories: tuple[str, ...] = tuple(self.meta["names"]["category"])
        self.category_numbers: NDArray[np.uint32] = load_array(folder / "category.npy", "<u4")
        self._query_numbers: NDArray[np.uint32] = load_array(folder / "query.npy", "<u4")
        self._asins = load_array(folder / "asin.npy", ASIN_TYPE)
        self._sorted = load_array(folder / "asin_sorted.npy", ASIN_TYPE)
        self._numbers = load_array(folder / "asin_number.npy", "<u4")
        self._records = Records(folder, "products")
        self.index = bm25.Index.open(folder / "search")
        self._goals = {source: Goals(folder / "goals", source, self._numbered) for source in SOURCES}
        self._check_counts()
        self._product = lru_cache(maxsize=_CACHED)(self._read_product)
        self._found = lru_cache(maxsize=_CACHED)(self._search)
        self._listed = lru_cache(maxsize=_CACHED_LISTS)(self._list)

    def __len__(self) -> int:
        return len(self._records)

    def __reduce__(self) -> tuple[Any, ...]:
        return open_catalogue, (self.folder,)  # a copied environment, or one sent to a process, maps the same files

    def asin(self, number: int) -> str:
        """Return the ASIN of a product by its number."""
        return self._asins[number].decode()

    def product(self, asin: str) -> Product:
        """Return a product.

        Raises:
            KeyError: If there is none.
        """
        return self._product(asin)

    def search(self, query: str) -> tuple[str, ...]:
        """Return the ASINs of at most 50 products that match a query, the best first."""
        return self._found(query)

    def in_category(self, category: str) -> tuple[str, ...]:
        """Return the ASINs of all products of a department."""
        return self._listed("category", category)

    def of_query(self, query: str) -> tuple[str, ...]:
        """Return the ASINs of all products whose listing was found by a query."""
        return self._listed("query", query)

    def goals(self, source: Source) -> Goals:
        """Return the shuffled goals of a source; there may be none."""
        return self._goals[source]

    def cumulative_weights(self, source: Source) -> NDArray[np.float64]:
        """Return the running sums of the goals' weights, from 0: one more than there are goals."""
        return self._goals[source].cumulative

    def verify(self) -> None:
        """Read everything and compare it with what was built.

        Raises:
            CatalogueError: If a file has changed.
        """
        for name, (_, expected) in self.meta["files"].items():
            path = self.folder / name
            if not path.is_file() or sha256_of(path) != expected:
                raise CatalogueError(f"{path} is not what was built: it is damaged. {_AGAIN}")

    def _numbered(self, number: int) -> Product:
        return self._product(self.asin(number))

    def _read_product(self, asin: str) -> Product:
        key = np.bytes_(asin.encode("ascii", "replace"))
        place = int(np.searchsorted(self._sorted, key.astype(ASIN_TYPE)))
        number = int(self._numbers[min(place, len(self) - 1)])
        if self.asin(number) != asin:
            raise KeyError(asin)
        return unpack(self._records[number])

    def _search(self, query: str) -> tuple[str, ...]:
        return tuple(self.asin(number) for number in self.index.search(query, _HITS))

    def _list(self, kind: Listed, name: str) -> tuple[str, ...]:
        names = self.meta["names"][kind]
        if name not in names:
            return ()
        numbers = self.category_numbers if kind == "category" else self._query_numbers
        return tuple(asin.decode() for asin in self._asins[numbers == names.index(name)])

    def _check_counts(self) -> None:
        """Raise a `CatalogueError` unless all files speak of as many products and goals as the meta file."""
        arrays = (self.category_numbers, self._query_numbers, self._asins, self._sorted, self._numbers)
        found = {"products": len(self), **{source: len(goals) for source, goals in self._goals.items()}}
        if found != self.meta["counts"] or not len(self) or any(len(numbers) != len(self) for numbers in arrays):
            raise CatalogueError(f"{self.folder} holds {found}, it should hold {self.meta['counts']}. {_AGAIN}")


def open_catalogue(folder: str | os.PathLike[str]) -> Catalogue:
    """Open a catalogue: one object for each folder and process, as long as the folder is not built anew.

    Raises:
        CatalogueError: If there is none, or it is damaged or of another version.
    """
    path = Path(folder).expanduser().resolve()
    try:
        stat = (path / META).stat()
    except OSError as error:
        raise CatalogueError(
            f"Expected a catalogue at {path}, there is none. Build one from the official files with "
            '"backtrail data webshop SOURCE", set BACKTRAIL_WEBSHOP to its folder, or use data="generated".'
        ) from error
    return _open(path, (stat.st_ino, stat.st_mtime_ns))


@lru_cache(maxsize=16)
def _open(folder: Path, stamp: tuple[int, int]) -> Catalogue:
    return Catalogue(folder)


def default_folder() -> Path:
    """Return where the official catalogue is kept: ``BACKTRAIL_WEBSHOP``, or the user's cache."""
    return Path(os.environ.get("BACKTRAIL_WEBSHOP") or _cache() / "official")


def generated_folder(count: int, seed: int = 0) -> Path:
    """Return where a generated catalogue is kept, in the user's cache."""
    return _cache() / f"generated-{generate.VERSION}-{count}-{seed}"


def generated(count: int = _COUNT, seed: int = 0) -> Catalogue:
    """Open the generated catalogue of so many products; it is built at first use.

    Processes may call this at the same time: each builds aside, and the first to be ready is used by all.
    """
    folder = generated_folder(count, seed)
    try:
        return open_catalogue(folder)
    except CatalogueError:  # not there yet, or of an earlier version
        from backtrail.envs.webshop.catalogue_build import build

        name = f"generated:{generate.VERSION}"
        other = "" if (count, seed) == (_COUNT, 0) else f".{count}" + f".seed{seed}" * bool(seed)
        return build(generate.rows(count, seed), folder, label=name + other, nouns=name)


def pack(product: Product) -> list[Any]:
    """Return a product as plain values."""
    return [getattr(product, name) for name in Product.__slots__]


def unpack(values: list[Any]) -> Product:
    """Return the product of what `pack` made."""
    asin, title, description, bullets, tag, price, options, attributes, category, query, path, image, nouns = values
    return Product(
        asin=asin,
        title=title,
        description=description,
        bullets=tuple(bullets),
        tag=tag,
        price=price,
        options=tuple((name, tuple(given)) for name, given in options),
        attributes=tuple(attributes),
        category=category,
        query=query,
        product_category=path,
        image=image,
        nouns=tuple(nouns),
    )


def sha256_of(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(meta: dict[str, Any]) -> str:
    """Return the digest of a catalogue: of what its meta file says, checksums of all files included, but not of its sources."""
    content = {name: value for name, value in meta.items() if name not in _NOT_CONTENT}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _cache() -> Path:
    return Path.home() / ".cache" / "backtrail" / "webshop"


def _checked_meta(folder: Path) -> dict[str, Any]:
    """Read the meta file; check the versions, that it is whole, and that all files are there in their sizes."""
    path = folder / META
    try:
        meta = json.loads(path.read_bytes())
        schema, digest = meta["schema"], meta["digest"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CatalogueError(f"{path} cannot be read as the description of a catalogue. {_AGAIN}") from error
    if schema != SCHEMA or meta.get("analyzer") != bm25.VERSION:
        versions = f"schema {schema} and search {meta.get('analyzer')}, expected {SCHEMA} and {bm25.VERSION}"
        raise CatalogueError(f"The catalogue at {folder} is of another version: {versions}. {_AGAIN}")
    if digest != digest_of(meta):
        raise CatalogueError(f"{path} has been changed: its contents do not have its digest. {_AGAIN}")
    for name, (size, _) in meta["files"].items():
        file = folder / name
        found = file.stat().st_size if file.is_file() else None
        if found != size:
            state = "is missing" if found is None else f"has {found:,} bytes, it should have {size:,}"
            raise CatalogueError(f"{file} {state}: the catalogue is damaged. {_AGAIN}")
    return meta
