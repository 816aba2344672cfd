"""The tasks of our own: which there are, and their instances by split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from backtrail.envs.androidworld.tasks.base import OwnTask, PhoneTask, PortableTask
from backtrail.envs.androidworld.tasks.catalog import ALL_TASKS
from backtrail.envs.androidworld.tasks.portable import PORTABLE_TASKS

__all__ = ["FAMILIES", "SEEDS", "SPLITS", "Tasks", "check_split", "portable_kinds", "task_kinds"]

SEEDS = {"train": range(20), "valid": range(1000, 1005), "test": range(2000, 2005)}
"""Seeds of the instances of each kind of task: no two splits share one, though few-valued parameters may come again."""

SPLITS = tuple(SEEDS)

FAMILIES = tuple(sorted({kind.family for kind in ALL_TASKS}))


@cache
def task_kinds() -> Mapping[str, type[PhoneTask]]:
    """Return the kinds of tasks for the simulated phone by name, in the order of families and names."""
    return {kind.__name__: kind for kind in sorted(ALL_TASKS, key=_order)}


@cache
def portable_kinds() -> Mapping[str, type[PortableTask]]:
    """Return the kinds of tasks for every device by name, in the order of families and names."""
    return {kind.__name__: kind for kind in sorted(PORTABLE_TASKS, key=_order)}


def check_split(split: str) -> None:
    """Complain of an unknown split.

    Raises:
        ValueError: If it is none of `SPLITS`.
    """
    if split not in SEEDS:
        raise ValueError(f"Expected split to be one of {', '.join(SPLITS)}, got {split!r}")


class Tasks:
    """The instances of one split.

    Attributes:
        ids: ``split/family/Name-seed``, in the order of families and names.
    """

    def __init__(
        self, split: str, families: Sequence[str] | None = None, kinds: Mapping[str, type[OwnTask]] | None = None
    ):
        """List the instances.

        Args:
            split: "train", "valid" or "test".
            families: Only tasks of these; None for all.
            kinds: By name; those for the simulated phone by default.

        Raises:
            ValueError: On an unknown name.
        """
        check_split(split)
        if isinstance(families, str):
            raise ValueError(f"Expected task_types to be a list such as [{families!r}], got a string")  # noqa: TRY004
        self._kinds = task_kinds() if kinds is None else kinds
        known = {kind.family for kind in self._kinds.values()}
        if unknown := set(families or ()) - known:
            raise ValueError(f"Expected task_types among {', '.join(sorted(known))}, got {', '.join(sorted(unknown))}")
        wanted = known if families is None else set(families)
        self.ids = tuple(
            f"{split}/{kind.family}/{name}-{seed}"
            for name, kind in self._kinds.items()
            if kind.family in wanted
            for seed in SEEDS[split]
        )
        if not self.ids:
            raise ValueError("Expected at least one task type, or None for all")

    def check(self, task_id: object) -> str:
        """Return ``task_id`` if there is such a task, of whatever split.

        Raises:
            ValueError: If there is not; the message shows what ids look like.
        """
        if isinstance(task_id, str):
            split, _, rest = task_id.partition("/")
            family, _, rest = rest.partition("/")
            name, _, seed = rest.rpartition("-")
            kind = self._kinds.get(name)
            if kind and kind.family == family and seed in map(str, SEEDS.get(split, ())):
                return task_id
        raise ValueError(f"Unknown task id {task_id!r}; ids look like {self.ids[0]!r}")

    def make(self, task_id: str) -> OwnTask:
        """Return a new instance of a task."""
        name, _, seed = task_id.rpartition("/")[2].rpartition("-")
        return self._kinds[name](int(seed))


def _order(kind: type[OwnTask]) -> tuple[str, str]:
    return kind.family, kind.__name__
