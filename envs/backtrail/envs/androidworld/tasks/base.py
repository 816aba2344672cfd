"""A task of our own: what is asked, how the phone is prepared, what counts as done, and one way to do it."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from backtrail.envs.androidworld.actions import Action
from backtrail.envs.androidworld.simulated import SimulatedBackend

if TYPE_CHECKING:
    from backtrail.envs.androidworld.backend import DeviceBackend
    from backtrail.envs.androidworld.phone import Phone
    from backtrail.envs.androidworld.tasks.oracle import Oracle

__all__ = ["OwnTask", "PhoneTask", "PortableTask"]


class OwnTask(ABC):
    """One kind of task; its parameters make an instance of it.

    Everything random comes from the generator that `draw` is given, so an instance is its name and a seed.

    Attributes:
        family: Which group it belongs to, e.g. "contacts".
        apps: Labels of the apps that it is about.
        template: The goal, with parameters in braces.
        steps: How many steps an agent gets.
        infeasible: Whether it cannot be done: then saying so (status infeasible) is the only success.
        answers: Whether the goal is a question, answered by the action "answer".
    """

    family: ClassVar[str] = ""
    apps: ClassVar[tuple[str, ...]] = ()
    template: ClassVar[str] = ""
    steps: ClassVar[int] = 20
    infeasible: ClassVar[bool] = False
    answers: ClassVar[bool] = False

    def __init__(self, seed: int):
        """Draw the parameters of an instance."""
        self.rng = random.Random(f"{type(self).__name__} {seed}")
        self.parameters: dict[str, Any] = self.draw(self.rng)

    @property
    def goal(self) -> str:
        """The goal in words."""
        return self.template.format(**self.parameters)

    @abstractmethod
    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Return the parameters of an instance: plain values."""

    @abstractmethod
    def begin(self, device: DeviceBackend) -> None:
        """Put onto a reset device what the task needs, and go to its home screen."""

    @abstractmethod
    def holds(self, device: DeviceBackend, answer: str) -> bool:
        """Whether the goal holds; ``answer`` is what the agent answered last."""

    @abstractmethod
    def solve(self, oracle: Oracle) -> None:
        """Do the task through the screen; from any state of the phone in which it is not harder than from the start."""


class PhoneTask(OwnTask):
    """A task that only the simulated phone can have: it is prepared and judged by the phone's whole state."""

    def begin(self, device: DeviceBackend) -> None:
        """Prepare the phone of a simulated device, and go home."""
        phone = _phone(device)
        self.prepare(phone)
        phone.home()
        phone.changed()

    def holds(self, device: DeviceBackend, answer: str) -> bool:
        """Whether the goal holds; the phone keeps the answer itself."""
        return self.done(_phone(device))

    @abstractmethod
    def prepare(self, phone: Phone) -> None:
        """Put onto a fresh phone what the task needs, also what may confuse; the goal must not hold afterwards."""

    @abstractmethod
    def done(self, phone: Phone) -> bool:
        """Whether the goal holds, by the state of the phone alone (and ``phone.state["answer"]`` if it is a question)."""


class PortableTask(OwnTask):
    """A task for every Android device: it is prepared and judged through the shell and by what the screen shows.

    It says nothing of what else was changed. How it is solved is written down for the simulated phone's apps.
    """

    def begin(self, device: DeviceBackend) -> None:
        """Prepare the device, and go home."""
        self.prepare(device)
        device.act(Action("navigate_home"))

    def holds(self, device: DeviceBackend, answer: str) -> bool:
        """Whether the goal holds."""
        return self.done(device, answer)

    @abstractmethod
    def prepare(self, device: DeviceBackend) -> None:
        """Put onto a reset device what the task needs; the goal must not hold afterwards."""

    @abstractmethod
    def done(self, device: DeviceBackend, answer: str) -> bool:
        """Whether the goal holds, by the device and what the agent answered last ("" if nothing)."""


def _phone(device: DeviceBackend) -> Phone:
    if not isinstance(device, SimulatedBackend):
        raise TypeError(
            f"Expected the simulated phone, got {type(device).__name__}: its state is what the task is about"
        )
    return device.phone
