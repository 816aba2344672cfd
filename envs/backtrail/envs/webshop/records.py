"""Many small JSON values in one file, each found by its number without reading the others."""

from __future__ import annotations

import json
import mmap
from array import array
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from backtrail.envs.webshop.errors import CatalogueError

__all__ = ["RecordWriter", "Records", "load_array", "save_array"]

_AGAIN = "Build it again: backtrail data webshop SOURCE"


class RecordWriter:
    """Writes values one after the other: ``NAME.bin`` holds them, ``NAME.npy`` where each begins."""

    def __init__(self, folder: Path, name: str):
        self._file = (folder / f"{name}.bin").open("wb")
        self._offsets = array("q", [0])
        self._table = folder / f"{name}.npy"

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def add(self, value: Any) -> None:
        """Write one value."""
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        size = self._file.write(text.encode("utf-8", "surrogatepass"))  # scraped text has halves of surrogate pairs
        self._offsets.append(self._offsets[-1] + size)

    def finish(self) -> None:
        """Write the table; nothing can be added any more."""
        self.close()
        save_array(self._table, self._offsets, "<i8")

    def close(self) -> None:
        """Close the file; what has no table is no use."""
        self._file.close()


class Records:
    """Reads the values of a `RecordWriter`, memory-mapped: processes share the pages."""

    def __init__(self, folder: Path, name: str):
        """Open the files of ``name``.

        Raises:
            CatalogueError: If they do not belong together.
        """
        self._path = path = folder / f"{name}.bin"
        self._offsets = load_array(folder / f"{name}.npy", "<i8")
        size = path.stat().st_size
        if not len(self._offsets) or self._offsets[-1] != size:
            raise CatalogueError(f"{path} does not have the size that its table says: it is damaged. {_AGAIN}")
        with path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> Any:
        """Return a value.

        Raises:
            CatalogueError: If its bytes are damaged.
        """
        start, end = self._offsets[number : number + 2]
        try:
            return json.loads(self._bytes[start:end])
        except ValueError as error:
            raise CatalogueError(f"Record {number} of {self._path} is damaged. {_AGAIN}") from error

    def __iter__(self) -> Iterator[Any]:
        with self._path.open("rb") as file:  # what is read through the mapping counts as the process's memory
            for size in np.diff(self._offsets):
                yield json.loads(file.read(size))


def save_array(path: Path, values: Any, dtype: str) -> None:
    """Write numbers (or byte strings) as an array of ``dtype``, byte order included."""
    np.save(path, np.asarray(values).astype(dtype, copy=False), allow_pickle=False)


def load_array(path: Path, *dtypes: DTypeLike) -> NDArray[Any]:
    """Map a row of numbers (or byte strings) into memory, read-only.

    Raises:
        CatalogueError: If the file is no row of one of ``dtypes``.
    """
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (
        OSError,
        ValueError,
        EOFError,
        TypeError,
        SyntaxError,
        TokenError,
    ) as error:  # numpy reads headers as Python
        raise CatalogueError(f"{path} cannot be read ({error}): it is damaged. {_AGAIN}") from error
    if mapped.ndim != 1 or mapped.dtype not in [np.dtype(dtype) for dtype in dtypes]:
        wanted = " or ".join(np.dtype(dtype).name for dtype in dtypes)
        raise CatalogueError(
            f"{path} is damaged: expected a row of {wanted}, got {mapped.dtype} of shape {mapped.shape}. {_AGAIN}"
        )
    return mapped.view(np.ndarray)  # the mapping's own class is slow to index
