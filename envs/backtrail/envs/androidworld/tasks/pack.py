"""The tasks of our own: which there are, and their instances by split."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from backtrail.envs.androidworld.tasks.base import PhoneTask
from backtrail.envs.androidworld.tasks.catalog import ALL_TASKS

__all__ = ["FAMILIES", "SPLITS", "Tasks", "task_kinds"]

_SEEDS = {"train": range(20), "valid": range(1000, 1005), "test": range(2000, 2005)}
"""Seeds of the instances of each kind of task: no two splits share parameters by construction of the seed."""

SPLITS = tuple(_SEEDS)


@cache
def task_kinds() -> dict[str, type[PhoneTask]]:
    """Return the kinds of tasks by name."""
    return {kind.__name__: kind for kind in ALL_TASKS}


FAMILIES = tuple(sorted({kind.family for kind in ALL_TASKS}))


class Tasks:
    """The instances of one split.

    Attributes:
        ids: ``split/family/Name-seed``, in the order of families and names.
    """

    def __init__(self, split: str, families: Sequence[str] | None = None):
        """List the instances.

        Args:
            split: "train", "valid" or "test".
            families: Only tasks of these; None for all.

        Raises:
            ValueError: On an unknown name.
        """
        if split not in _SEEDS:
            raise ValueError(f"Expected split to be one of {', '.join(SPLITS)}, got {split!r}")
        if unknown := set(families or ()) - set(FAMILIES):
            raise ValueError(f"Expected task_types among {', '.join(FAMILIES)}, got {', '.join(sorted(unknown))}")
        self.ids = _ids(split, tuple(families) if families is not None else FAMILIES)
        if not self.ids:
            raise ValueError("Expected at least one task type, or None for all")

    def check(self, task_id: object) -> str:
        """Return ``task_id`` if there is such a task, of whatever split.

        Raises:
            ValueError: If there is not; the message shows what ids look like.
        """
        if isinstance(task_id, str) and any(task_id in _ids(split, FAMILIES) for split in SPLITS):
            return task_id
        raise ValueError(f"Unknown task id {task_id!r}; ids look like {self.ids[0]!r}")

    def make(self, task_id: str) -> PhoneTask:
        """Return a new instance of a task."""
        name, _, seed = task_id.rpartition("/")[2].rpartition("-")
        return task_kinds()[name](int(seed))


@cache
def _ids(split: str, families: tuple[str, ...]) -> tuple[str, ...]:
    kinds = sorted((kind for kind in ALL_TASKS if kind.family in families), key=lambda k: (k.family, k.__name__))
    return tuple(f"{split}/{kind.family}/{kind.__name__}-{seed}" for kind in kinds for seed in _SEEDS[split])
