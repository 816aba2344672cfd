"""The tasks of our own: which there are, and their instances by split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from backtrail.envs.androidworld.tasks.base import OwnTask, PhoneTask, PortableTask
from backtrail.envs.androidworld.tasks.catalog import ALL_TASKS
from backtrail.envs.androidworld.tasks.portable import PORTABLE_TASKS

__all__ = ["FAMILIES", "SEEDS", "SPLITS", "Instances", "Tasks", "portable_kinds", "task_kinds"]

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


class Instances:
    """The instances of one split of some kinds of tasks.

    Attributes:
        ids: ``split/family/Name-seed``, in the order of the kinds.
    """

    def __init__(self, split: str, families: Sequence[str] | None, family_of: Mapping[str, str]):
        """List the instances.

        Args:
            split: "train", "valid" or "test".
            families: Only tasks of these; None for all.
            family_of: The family of each kind, by its name.

        Raises:
            ValueError: On an unknown name.
        """
        if split not in SEEDS:
            raise ValueError(f"Expected split to be one of {', '.join(SPLITS)}, got {split!r}")
        if isinstance(families, str):
            raise ValueError(f"Expected task_types to be a list such as [{families!r}], got a string")  # noqa: TRY004
        known = set(family_of.values())
        if unknown := set(families or ()) - known:
            raise ValueError(f"Expected task_types among {', '.join(sorted(known))}, got {', '.join(sorted(unknown))}")
        wanted = known if families is None else set(families)
        self._family_of = family_of
        self.ids = tuple(
            f"{split}/{family}/{name}-{seed}"
            for name, family in family_of.items()
            if family in wanted
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
            if self._family_of.get(name) == family and seed in map(str, SEEDS.get(split, ())):
                return task_id
        raise ValueError(f"Unknown task id {task_id!r}; ids look like {self.ids[0]!r}")

    @staticmethod
    def parts(task_id: str) -> tuple[str, int]:
        """Return the kind's name and the seed of a task."""
        name, _, seed = task_id.rpartition("/")[2].rpartition("-")
        return name, int(seed)


class Tasks(Instances):
    """The instances of one split of tasks of our own."""

    def __init__(
        self, split: str, families: Sequence[str] | None = None, kinds: Mapping[str, type[OwnTask]] | None = None
    ):
        """List the instances of ``kinds``, those for the simulated phone by default; see `Instances`."""
        self._kinds = task_kinds() if kinds is None else kinds
        super().__init__(split, families, {name: kind.family for name, kind in self._kinds.items()})

    def make(self, task_id: str) -> OwnTask:
        """Return a new instance of a task."""
        name, seed = self.parts(task_id)
        return self._kinds[name](seed)


def _order(kind: type[OwnTask]) -> tuple[str, str]:
    return kind.family, kind.__name__
