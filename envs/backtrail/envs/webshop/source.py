"""The official files of WebShop, read as a stream of rows: the product file does not fit into memory."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import gymnasium as gym

from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.loader import Row, field

__all__ = ["OfficialFiles", "Progress"]

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much (0 if that is not known)."""

_PRODUCTS = ("items_shuffle.json", "items_shuffle_1000.json")
_DRIVE = {
    "items_shuffle.json": "1A2whVgOO0euk5O13n2iYDM0bQRkkRduB",
    "items_ins_v2.json": "1s2j6NgHljiZzQNL3veZaAiyW_qDEgBNi",
    "items_shuffle_1000.json": "1EgHdxQ_YxqIQlvvq5iKlCrkEKR6-j0Ib",
    "items_ins_v2_1000.json": "1IduG0xl544V_A_jv3tHXC0kyFi7PnyBu",
    "items_human_ins.json": "14Kb5SPBk_jfdLZ_CDBNitW98QLDlKR5O",
}
"""Official files on Google Drive, as WebShop's own setup.sh names them."""

_HUMAN = ("asin", "instruction", "attributes", "options", "instruction_attributes", "instruction_options")
"""What is read of a human instruction; the official file also says which worker wrote it."""

_SMALL = "f1c1ebb8d93116cbe0009c8601f75e0cc9ae5d930c50848d147c1dc0e2765828"
"""Digest of the ASINs of the official 1,000 products, in their order."""

_FULL = 1_181_436
"""Rows of the official file of all products."""


class OfficialFiles:
    """The official files in a local folder.

    Attributes:
        sha256: File name to checksum; filled while the rows are read.
    """

    def __init__(self, path: Path):
        """Find the files.

        Args:
            path: A folder with ``items_shuffle.json`` or ``items_shuffle_1000.json``, the ``items_ins_v2`` file of the same
                set and perhaps ``items_human_ins.json``; or the product file itself, if there are several.

        Raises:
            CatalogueError: If one is missing or empty.
        """
        path = path.expanduser()
        folder = path if path.is_dir() else path.parent
        self.products = _product_file(path)
        suffix = self.products.stem.removeprefix("items_shuffle")
        self.attributes = _beside(folder, "items_ins_v2", suffix) or _missing(folder / f"items_ins_v2{suffix}.json")
        self.human = _beside(folder, "items_human_ins", suffix)
        self.sha256: dict[str, str] = {}
        self._label = ""

    @property
    def label(self) -> str:
        """Which set this is, by number and order of the products; known when all rows are read."""
        if not self._label:
            raise RuntimeError("The label is known when all rows have been read")
        return self._label

    def rows(self, progress: Progress | None = None) -> Iterator[Row]:
        """Read the rows in the order of the file; it is never held as a whole.

        Raises:
            CatalogueError: If a file is damaged or in another form.
            gymnasium.error.DependencyNotInstalled: If ijson is missing.
        """
        tell = progress or (lambda stage, done, total: None)
        asins, count, known = hashlib.sha256(), 0, 0
        with closing(_Entries()) as attributes, closing(_Entries()) as human:
            attributes.fill(self._values(self.attributes, "{", tell))
            if self.human is not None:
                human.fill(self._values(self.human, "{", tell))
            for product in self._values(self.products, "[", tell):
                asin = field(product, "asin", str, f"{self.products}, row {count + 1}")
                entry = attributes.get(asin)
                row = {"product": product, "attributes": entry or {}, "human": _anonymous(human.get(asin) or [])}
                asins.update(f"{asin}\n".encode("utf-8", "surrogatepass"))
                count, known = count + 1, known + (entry is not None)
                yield row
        if not count:
            raise CatalogueError(f"{self.products} holds no products. {_remedy(self.products)}")
        if not known:
            raise CatalogueError(
                f"{self.attributes} has no entry for any product of {self.products}: take both of one set."
            )
        small = asins.hexdigest() == _SMALL
        self._label = "webshop:1k" if small else "webshop:full" if count == _FULL else f"webshop:own-{count}"

    def _values(self, path: Path, opening: str, tell: Progress) -> Iterator[Any]:
        """Read the elements of a JSON list, or the (key, value) pairs of a JSON object, one at a time."""
        try:
            import ijson
        except ImportError as error:
            raise gym.error.DependencyNotInstalled(
                'Reading the official files needs ijson. Run: pip install "backtrail[webshop]"'
            ) from error
        size, number = path.stat().st_size, 0
        with path.open("rb") as raw:
            file = _Hashing(raw)
            start = raw.read(64).lstrip()
            raw.seek(0)
            if not start.startswith(opening.encode()):
                kind = "list" if opening == "[" else "object"
                raise CatalogueError(f"{path}: expected a JSON {kind}, it begins with {start[:40]!r}. {_remedy(path)}")
            parse, prefix = (ijson.items, "item") if opening == "[" else (ijson.kvitems, "")
            try:
                for value in parse(file, prefix, use_float=True):
                    number += 1
                    if not number % 256:
                        tell(f"Reading {path.name}", raw.tell(), size)
                    yield value
            except (ijson.JSONError, UnicodeDecodeError) as error:
                reason = " ".join(str(error).split())[:120]
                raise CatalogueError(
                    f"{path} is damaged or cut off after entry {number}, before byte {raw.tell()} of {size}: {reason}. "
                    f"{_remedy(path)}"
                ) from error
            self.sha256[path.name] = file.hexdigest()
        tell(f"Reading {path.name}", size, size)


class _Hashing:
    """A file that is hashed while it is read."""

    def __init__(self, file: BinaryIO):
        self._file, self._hash = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self._hash.update(block)
        return block

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


class _Entries:
    """The entries of a JSON object by key, in a temporary file: as Python objects the official ones take gigabytes."""

    def __init__(self):
        self._table = sqlite3.connect("")
        self._table.execute("pragma journal_mode = off")
        self._table.execute("pragma cache_size = -65536")  # KiB
        self._table.execute("create table entries (key blob primary key, entry text) without rowid")

    def fill(self, pairs: Iterable[tuple[str, Any]]) -> None:
        rows = ((_key(key), json.dumps(entry)) for key, entry in pairs)
        self._table.executemany(
            "insert or replace into entries values (?, ?)", rows
        )  # of repeated keys the last counts

    def get(self, key: str) -> Any:
        found = self._table.execute("select entry from entries where key = ?", (_key(key),)).fetchone()
        return None if found is None else json.loads(found[0])

    def close(self) -> None:
        self._table.close()


def _key(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _anonymous(entries: Any) -> Any:
    """Return human instructions without what says who wrote them."""
    if not isinstance(entries, list):
        return entries  # refused where the row is read
    return [{k: e[k] for k in _HUMAN if k in e} if isinstance(e, dict) else e for e in entries]


def _product_file(path: Path) -> Path:
    """Return the file of products in a folder, or ``path`` if it is one."""
    if path.is_file():
        if not path.name.startswith("items_shuffle"):
            raise CatalogueError(f"Expected {' or '.join(_PRODUCTS)}, or a folder that holds one of them, got {path}")
        return _not_empty(path)
    found = [path / name for name in _PRODUCTS if (path / name).is_file()]
    if len(found) > 1:
        raise CatalogueError(
            f"{path} holds two sets of products ({' and '.join(_PRODUCTS)}): name the file that you mean"
        )
    return _not_empty(found[0]) if found else _missing(path / _PRODUCTS[1])


def _beside(folder: Path, name: str, suffix: str) -> Path | None:
    """Return the file of a set, or the one for all sets, if it is there."""
    for path in (folder / f"{name}{suffix}.json", folder / f"{name}.json"):
        if path.is_file():
            return _not_empty(path)
    return None


def _not_empty(path: Path) -> Path:
    if not path.stat().st_size:
        raise CatalogueError(f"{path} is empty. {_remedy(path)}")
    return path


def _missing(path: Path) -> Path:
    raise CatalogueError(f"Expected {path}, it is not there. {_remedy(path)}")


def _remedy(path: Path) -> str:
    """Say where a file can be had."""
    where = (
        f"https://drive.google.com/uc?id={_DRIVE[path.name]}" if path.name in _DRIVE else "where the others came from"
    )
    return f"Fetch {path.name} (again) from {where}; WebShop's setup.sh names the same sources."
