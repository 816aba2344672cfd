"""Where tasks come from, and tasks under way: our own, and those of the package android_world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from backtrail.envs.androidworld.backend import DeviceBackend
from backtrail.envs.androidworld.simulated import SimulatedBackend
from backtrail.envs.androidworld.tasks.base import OwnTask
from backtrail.envs.androidworld.tasks.oracle import NotThere, Oracle
from backtrail.envs.androidworld.tasks.pack import Instances, Tasks, portable_kinds, task_kinds

if TYPE_CHECKING:
    from backtrail.envs.androidworld.emulator import EmulatorBackend
    from backtrail.envs.androidworld.world import World, WorldTask

__all__ = ["TASKS", "Running", "Source", "TaskSet", "make_source", "on_the_phone"]

TaskSet = Literal["own", "portable", "android_world"]
TASKS: tuple[TaskSet, ...] = get_args(TaskSet)


class Running(Protocol):
    """A task under way on a device."""

    goal: str
    family: str
    steps: int

    def score(self, status: str, answer: str) -> float:
        """Return from 0 to 1 how well it was done, when the agent says that it is over.

        Args:
            status: "complete" or "infeasible".
            answer: What the agent answered last.

        Raises:
            DeviceError: If that cannot be found out.
        """
        ...

    def plan(self) -> list[str]:
        """Return actions that were tried out on the device, put back afterwards, and reach the goal; empty if none do."""
        ...

    def close(self) -> None:
        """Take from the device what the task put there."""
        ...


class Source(Protocol):
    """The tasks of one split on one device."""

    ids: tuple[str, ...]

    def check(self, task_id: object) -> str:
        """Return ``task_id`` if there is such a task, of whatever split.

        Raises:
            ValueError: If there is not; the message shows what ids look like.
        """
        ...

    def begin(self, task_id: str) -> Running:
        """Prepare a task on the device, which was reset.

        Raises:
            DeviceError: If it cannot be prepared.
        """
        ...

    def close(self) -> None:
        """Let go of what was started for the tasks; may be called twice."""
        ...


def make_source(
    tasks: TaskSet, device: SimulatedBackend | EmulatorBackend, split: str, families: Sequence[str] | None
) -> Source:
    """Return the tasks of a split on a device.

    Raises:
        ValueError: On an unknown name.
        gymnasium.error.DependencyNotInstalled: If they need the package android_world and it is missing.
    """
    if tasks == "android_world":
        return WorldTasks(device, split, families)
    return OwnTasks(tasks, device, split, families)


class OwnTasks(Tasks):
    """Tasks of our own on a device."""

    def __init__(self, tasks: TaskSet, device: DeviceBackend, split: str, families: Sequence[str] | None):
        """See `make_source`."""
        super().__init__(split, families, task_kinds() if tasks == "own" else portable_kinds())
        self._device = device

    def begin(self, task_id: str) -> OwnRunning:
        """Prepare a task on the device, which was reset."""
        return OwnRunning(self.make(task_id), self._device)

    def close(self) -> None:
        """Nothing was started."""


class OwnRunning:
    """A task of our own under way."""

    def __init__(self, task: OwnTask, device: DeviceBackend):
        """Prepare it."""
        self.task, self._device = task, device
        self.goal, self.family, self.steps = task.goal, task.family, task.steps
        task.begin(device)

    def score(self, status: str, answer: str) -> float:
        """Return 1 if it is done, or cannot be and the agent says so, else 0."""
        if self.task.infeasible:
            return float(status == "infeasible")
        return float(status == "complete" and self.task.holds(self._device, answer))

    def plan(self) -> list[str]:
        """Return actions that were tried out and reach the goal."""
        kept = self._device.save()
        try:
            return self._solved(first_home=False) or self._solved(first_home=True)
        finally:
            self._device.restore(kept)

    def close(self) -> None:
        """Nothing: the next reset puts the device back."""

    def _solved(self, *, first_home: bool) -> list[str]:
        """Solve it; return the actions, none if it did not work. The device is not put back."""
        oracle = Oracle(self._device)
        try:
            if first_home:
                oracle.home()
            if self.task.infeasible or not self.task.holds(self._device, oracle.answered):
                self.task.solve(oracle)
        except (NotThere, ValueError):
            return []
        if not (self.task.infeasible or self.task.holds(self._device, oracle.answered)):
            return []
        oracle.finish("infeasible" if self.task.infeasible else "complete")
        return oracle.actions


_FAMILY = "android_world"
_EMULATOR_ONLY = "MarkorTranscribeVideo"
"""AndroidWorld's task that the simulated phone cannot have: what it asks for is in the moving pictures of a film."""


def on_the_phone(name: str) -> bool:
    """Whether a task of AndroidWorld's, by the name of its class, runs on the simulated phone."""
    return name != _EMULATOR_ONLY


class WorldTasks(Instances):
    """AndroidWorld's own tasks on a device; ids are ``split/android_world/Name-seed``."""

    def __init__(self, device: SimulatedBackend | EmulatorBackend, split: str, families: Sequence[str] | None):
        """See `make_source`."""
        from backtrail.envs.androidworld.world import World, task_names

        simulated = isinstance(device, SimulatedBackend)
        names = [name for name in task_names() if on_the_phone(name) or not simulated]
        super().__init__(split, families, dict.fromkeys(names, _FAMILY))
        self._make = lambda: World(device)
        self._world: World | None = None

    def check(self, task_id: object) -> str:
        """Return ``task_id`` if there is such a task, of whatever split."""
        try:
            return super().check(task_id)
        except ValueError as error:
            raise ValueError(f"{error}; tasks of {', '.join(_EMULATOR_ONLY)} need an emulator") from None

    def begin(self, task_id: str) -> WorldRunning:
        """Prepare a task on the device, which was reset."""
        world = self._world = self._world or self._make()
        return WorldRunning(world.prepare(*self.parts(task_id)))

    def close(self) -> None:
        """Stop the package's environment."""
        if self._world is not None:
            self._world.close()
            self._world = None


class WorldRunning:
    """A task of AndroidWorld's under way."""

    def __init__(self, task: WorldTask):
        """Take over a task that is prepared."""
        self.goal, self.family, self.steps = task.goal, _FAMILY, task.steps
        self._task = task

    def score(self, status: str, answer: str) -> float:
        """Return the task's own score; 0 if the agent gave up, for all of them can be done."""
        return self._task.score(answer) if status == "complete" else 0.0

    def plan(self) -> list[str]:
        """Return nothing: how they are done is not written down here."""
        return []

    def close(self) -> None:
        """Let the task clean up."""
        self._task.tear_down()
