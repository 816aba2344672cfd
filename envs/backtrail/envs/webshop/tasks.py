"""Which goals there are to shop for: of one catalogue, source and split, named by task ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, get_args, overload
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from backtrail.envs.webshop.catalogue import Catalogue
from backtrail.envs.webshop.goals import Source

__all__ = ["DEPARTMENTS", "SPLITS", "Source", "SplitBy", "Tasks"]

SPLITS = ("train", "valid", "test")
DEPARTMENTS = ("beauty", "electronics", "fashion", "garden", "grocery")

SplitBy = Literal["product", "princeton", "agentbench", "agentgym", "verl-agent", "ragen"]

_RANGES: dict[str, dict[str, tuple[int, int | None]]] = {
    "princeton": {"test": (0, 500), "valid": (500, 1500), "train": (1500, None)},
    "agentbench": {"test": (0, 200), "train": (1000, 12000)},
    "agentgym": {"test": (0, None), "valid": (0, None), "train": (0, None)},
    "verl-agent": {"test": (0, 500), "train": (500, None)},
    "ragen": {"test": (0, 500), "valid": (500, 1500), "train": (1500, None)},
}
"""Published splits: places in the shuffled list of goals."""

_TENTHS = {"test": (0, 1), "valid": (1, 2), "train": (2, 10)}
"""The split by product: tenths of the products, by a hash of their ASINs."""


class Ids(Sequence[str]):
    """Task ids, made when they are looked at: a large catalogue has millions."""

    def __init__(self, split: str, source: Source, goals: NDArray[np.int64], departments: NDArray[np.uint8]):
        """Name ``goals``, places in the list of goals, whose products are in ``departments`` (places in `DEPARTMENTS`)."""
        self._split, self._source, self._goals, self._departments = split, source, goals, departments

    def __len__(self) -> int:
        return len(self._goals)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        """Return an id, or a list of them."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        department = DEPARTMENTS[self._departments[place]]
        return f"{self._split}/{department}/{self._source}-{self._goals[place]}"


class Tasks:
    """The goals of one catalogue, source and split.

    Attributes:
        ids: The task ids, in the order of the goals: ``split/department/source-number``, the number being the goal's place.
        goals: The places of these goals.
        cumulative: Running sums of their weights, from 0; one more than there are goals.
    """

    def __init__(
        self, catalogue: Catalogue, source: Source, split: str, split_by: SplitBy, departments: Sequence[str] | None
    ):
        """Choose the goals.

        Args:
            catalogue: Where they are from.
            source: "human" or "synthetic".
            split: "train", "valid" or "test".
            split_by: "product" (no product has goals in two splits), or the places of a published set-up.
            departments: Only goals for products of these; None for all.

        Raises:
            ValueError: On an unknown name, or if no goal is left.
        """
        checks: list[tuple[str, Sequence[str]]] = [
            (source, get_args(Source)),
            (split, SPLITS),
            (split_by, get_args(SplitBy)),
            *((each, DEPARTMENTS) for each in departments or ()),
        ]
        for value, allowed in checks:
            if value not in allowed:
                raise ValueError(f"Expected one of {', '.join(allowed)}, got {value!r}")
        self._catalogue, self._split_by = catalogue, split_by
        self._source: Source = source
        chosen = self._holds(split, np.arange(len(catalogue.goals(source))))
        if departments is not None:
            chosen = chosen & np.isin(
                _departments(catalogue, source), [DEPARTMENTS.index(each) for each in departments]
            )
        self.goals: NDArray[np.int64] = np.flatnonzero(chosen)
        if not len(self.goals):
            raise ValueError(
                f"None of the {len(catalogue.goals(source)):,} {source} goals of {catalogue.label} is in the split {split!r} "
                f"of {split_by!r} and the departments {departments}: choose another split, source or catalogue"
            )
        self.ids: Sequence[str] = Ids(split, source, self.goals, _departments(catalogue, source)[self.goals])
        weights = np.diff(catalogue.cumulative_weights(source))[self.goals]
        self.cumulative: NDArray[np.float64] = np.concatenate([[0.0], np.cumsum(weights)])

    def check(self, task_id: object) -> str:
        """Return ``task_id`` if there is such a task, of whatever split.

        Raises:
            ValueError: If there is not; the message shows what ids look like.
        """
        if isinstance(task_id, str):
            split, _, rest = task_id.partition("/")
            department, _, goal = rest.partition("/")
            source, _, number = goal.partition("-")
            if split in SPLITS and source == self._source and number.isascii() and number.isdigit():
                place, departments = int(number), _departments(self._catalogue, self._source)
                known = len(number) < 19 and number == str(place) and place < len(departments)
                if known and DEPARTMENTS[departments[place]] == department and self._holds(split, np.array([place]))[0]:
                    return task_id
        raise ValueError(
            f"Unknown task id {task_id!r} among the {self._source} goals of {self._catalogue.label}; ids look like "
            f"{self.ids[0]!r}"
        )

    def goal(self, task_id: str) -> int:
        """Return the place of a task's goal in the list of goals."""
        return int(task_id.rpartition("-")[2])

    def pick(self, chance: float) -> str:
        """Return the task at ``chance``, from 0 to below 1, of the way through the goals' weights."""
        place = int(np.searchsorted(self.cumulative, chance * self.cumulative[-1], "right")) - 1
        return self.ids[min(place, len(self.ids) - 1)]

    def _holds(self, split: str, goals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some goals, given by their places, are in a split."""
        if self._split_by == "product":
            numbers, (first, end) = _tenths(self._catalogue, self._source)[goals], _TENTHS[split]
        else:
            numbers, (first, end) = goals, _RANGES[self._split_by].get(split, (0, 0))
        return (first <= numbers) & (numbers < (len(self._catalogue.goals(self._source)) if end is None else end))


@lru_cache(maxsize=8)
def _departments(catalogue: Catalogue, source: Source) -> NDArray[np.uint8]:
    """Return the department of each goal's product, as places in `DEPARTMENTS`.

    Raises:
        ValueError: If the catalogue has others.
    """
    if other := set(catalogue.categories) - set(DEPARTMENTS):
        raise ValueError(
            f"Expected products of {', '.join(DEPARTMENTS)}, {catalogue.label} has {', '.join(sorted(other))}"
        )
    places = np.array([DEPARTMENTS.index(name) for name in catalogue.categories], np.uint8)
    return places[catalogue.category_numbers[catalogue.goals(source).products]]


@lru_cache(maxsize=8)
def _tenths(catalogue: Catalogue, source: Source) -> NDArray[np.uint8]:
    """Return the tenth of the products that each goal's product is in, 0 to 9."""
    products = catalogue.goals(source).products
    numbers, back = np.unique(products, return_inverse=True)
    tenths = np.array([crc32(catalogue.asin(int(number)).encode()) % 10 for number in numbers], np.uint8)
    return tenths[back] if len(tenths) else np.zeros(0, np.uint8)
