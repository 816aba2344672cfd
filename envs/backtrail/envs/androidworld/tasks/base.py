"""A task on the simulated phone: what is asked, how the phone is prepared, what counts as done, and one way to do it."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from backtrail.envs.androidworld.phone import Phone
    from backtrail.envs.androidworld.tasks.oracle import Oracle

__all__ = ["PhoneTask"]


class PhoneTask(ABC):
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
    def prepare(self, phone: Phone) -> None:
        """Put onto a fresh phone what the task needs, also what may confuse; the goal must not hold afterwards."""

    @abstractmethod
    def done(self, phone: Phone) -> bool:
        """Whether the goal holds, by the state of the phone alone (and ``phone.state["answer"]`` if it is a question)."""

    @abstractmethod
    def solve(self, oracle: Oracle) -> None:
        """Do the task through the screen; from any state of the phone in which it is not harder than from the start."""
