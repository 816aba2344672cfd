"""Goals: what buyers ask for, made from instructions, options and prices with the original's random draws.

The original draws in this order from one generator: a price for every product with a range, in the order of the file; then a
price limit for every human instruction or, if it runs on synthetic ones, for every product that has one; then it starts the
generator again with 233 and shuffles the goals. A synthetic instruction gives one goal for every combination of options.

On disk a goal is four bytes, its place before the shuffle; everything else is kept once for each instruction.
"""

from __future__ import annotations

import itertools
import math
import random
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from backtrail.envs.webshop.errors import CatalogueError
from backtrail.envs.webshop.items import Goal, Product
from backtrail.envs.webshop.records import Records, RecordWriter, load_array, save_array

__all__ = ["NO_LIMIT", "SOURCES", "GoalWriter", "Goals", "Source", "price_limit"]

Source = Literal["human", "synthetic"]

SOURCES: tuple[Source, ...] = ("human", "synthetic")

NO_LIMIT = 1_000_000.0
"""Price limit of an instruction that names none, in dollars."""

_LIMITS = [10.0 * k for k in range(1, 100)]
_MOST_GOALS = 1 << 32


def price_limit(price: float, rng: random.Random) -> float:
    """Draw a price limit in dollars: the larger of two among the next four tens; `NO_LIMIT` if fewer than two are left."""
    first = bisect_right(_LIMITS, price)
    above = _LIMITS[first : first + 4]
    return max(rng.sample(above, 2)) if len(above) >= 2 else NO_LIMIT


class GoalWriter:
    """Collects the instructions of one source while products are read, then draws and writes the goals."""

    def __init__(self, folder: Path, source: Source):
        self._folder, self._source = folder / source, source
        self._folder.mkdir(parents=True)
        self._texts = RecordWriter(self._folder, "instruction")
        self._products, self._prices, self._starts = array("I"), array("d"), array("q", [0])
        self._names: dict[str, int] = {}
        self._asked, self._ends = array("I"), array("q")

    def add(self, number: int, product: Product, text: str, asked: Sequence[str], options: Sequence[str] = ()) -> None:
        """Add an instruction.

        Args:
            number: The product's number.
            product: The product, with its price.
            text: The instruction without options and price limit.
            asked: Attributes that it asks for.
            options: Option values that it asks for; synthetic ones ask for those of the product instead.
        """
        self._texts.add([text, asked, options])
        self._products.append(number)
        self._prices.append(product.price)
        size = 1 if self._source == "human" else math.prod(len(values) for _, values in product.options)
        self._starts.append(self._starts[-1] + size)
        self._asked.extend(self._names.setdefault(name, len(self._names)) for name in asked)
        self._ends.append(len(self._asked))

    def finish(self, rng: random.Random, shuffle_seed: int) -> int:
        """Draw the price limits from ``rng``, shuffle, write; return the number of goals.

        Raises:
            CatalogueError: If there are more goals than can be numbered.
        """
        total = self._starts[-1]
        if total >= _MOST_GOALS:
            raise CatalogueError(f"Expected fewer than {_MOST_GOALS:,} goals, the options combine to {total:,}")
        order = array("I", range(total))
        random.Random(shuffle_seed).shuffle(order)
        weights = np.array(self._weights())
        starts, places = np.array(self._starts), np.array(order)
        of_goals = weights[np.searchsorted(starts, places, "right") - 1]
        self._texts.finish()
        self._save("product", self._products, "<u4")
        self._save("price_upper", [price_limit(price, rng) for price in self._prices], "<f8")
        self._save("weight", weights, "<f8")
        self._save("start", starts, "<i8")
        self._save("order", places, "<u4")
        self._save("cumulative", np.concatenate([[0.0], np.cumsum(of_goals)]), "<f8")
        return total

    def close(self) -> None:
        """Close the file; what is not finished is no use."""
        self._texts.close()

    def _save(self, name: str, values: Any, dtype: str) -> None:
        save_array(self._folder / f"{name}.npy", values, dtype)

    def _weights(self) -> list[float]:
        """Return each instruction's weight: 1 of human ones, else the mean over its attributes of 1 / goals that ask for it."""
        if self._source == "human":
            return [1.0] * len(self._products)
        counts: Counter[int] = Counter()
        bounds = list(itertools.pairwise([0, *self._ends]))
        for (first, end), size in zip(bounds, np.diff(self._starts).tolist(), strict=True):
            for name in self._asked[first:end]:
                counts[name] += size
        weights = []
        for first, end in bounds:
            total = 0.0
            for name in self._asked[first:end]:
                total += 1.0 / counts[name] if counts[name] else 0.0  # `sum` rounds otherwise since Python 3.12
            weights.append(total / (end - first))
        return weights


class Goals(Sequence[Goal]):
    """The shuffled goals of one source, made when they are looked at."""

    def __init__(self, folder: Path, source: Source, product: Callable[[int], Product]):
        """Open the goals of a catalogue.

        Args:
            folder: Where its goals are.
            source: Human or synthetic ones.
            product: Gives a product by its number.

        Raises:
            CatalogueError: If a file is damaged.
        """
        folder = folder / source
        self.source: Source = source
        self.cumulative: NDArray[np.float64] = load_array(folder / "cumulative.npy", "<f8")
        self._product = product
        self._texts = Records(folder, "instruction")
        self._products = load_array(folder / "product.npy", "<u4")
        self._limits = load_array(folder / "price_upper.npy", "<f8")
        self._weights = load_array(folder / "weight.npy", "<f8")
        self._starts = load_array(folder / "start.npy", "<i8")
        self._order = load_array(folder / "order.npy", "<u4")
        rows = len(self._texts)
        sizes = (len(self._products), len(self._limits), len(self._weights), len(self._starts) - 1)
        if sizes != (rows,) * 4 or not self._starts[-1] == len(self._order) == len(self.cumulative) - 1:
            raise CatalogueError(f"The files in {folder} do not belong together: they are damaged. Build it again.")

    @property
    def products(self) -> NDArray[np.int64]:
        """The number of each goal's product; made anew each time, eight bytes a goal."""
        rows = np.searchsorted(self._starts, self._order, "right") - 1
        return self._products[rows].astype(np.int64)

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Goal: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Goal]: ...
    def __getitem__(self, index: int | slice) -> Goal | Sequence[Goal]:
        """Return a goal, or several."""
        places = range(len(self))[index]
        return self._make(places) if isinstance(places, int) else [self._make(place) for place in places]

    def _make(self, index: int) -> Goal:
        place = self._order[index]
        row = int(np.searchsorted(self._starts, place, "right")) - 1
        product = self._product(int(self._products[row]))
        text, asked, options = self._texts[row]
        if self.source == "human":
            text, chosen = text.strip("."), tuple(options)
        else:
            chosen = _combination(product.options, int(place - self._starts[row]))
            text += " with " * bool(chosen) + ", and ".join(f"{name}: {value}" for name, value in chosen)
        limit = float(self._limits[row])
        if limit != NO_LIMIT:
            text += f", and price lower than {limit:.2f} dollars"
        return Goal(index, product.asin, text, tuple(asked), chosen, limit, float(self._weights[row]))


def _combination(options: Sequence[tuple[str, tuple[str, ...]]], number: int) -> tuple[tuple[str, str], ...]:
    """Return one of the combinations that ``itertools.product`` gives over the values, names sorted."""
    chosen: list[tuple[str, str]] = []
    for name, values in sorted(options, reverse=True):
        number, k = divmod(number, len(values))
        chosen.append((name, values[k]))
    return tuple(reversed(chosen))
