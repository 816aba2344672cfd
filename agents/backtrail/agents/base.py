"""The protocol between an agent and whoever runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

__all__ = ["Agent", "AgentError", "Task", "Turn"]


class AgentError(RuntimeError):
    """An agent cannot act for a reason outside the task (a server down, a record missing): never scored as a failure."""


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is told before an episode.

    Attributes:
        env_id: The environment, e.g. ``backtrail/ALFWorld-v0``.
        task_id: The task within it.
        goal: The instruction.
        seed: The seed of whatever the agent draws in this episode.
    """

    env_id: str
    task_id: str
    goal: str
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """What an agent says in one step.

    Attributes:
        action: The action for the environment.
        response: All that a model wrote; "" for agents without one.
        explore: What is unknown and worth trying, in the agent's words.
        memory: What has been seen, in the agent's words.
        valid: Whether the response had the required form.
        usage: Counts, e.g. ``{"prompt_tokens": 812, "completion_tokens": 60}``.
        completion: The `backtrail.agents.models.base.Completion` behind it; None for agents without a model.
    """

    action: str
    response: str = ""
    explore: str = ""
    memory: str = ""
    valid: bool = True
    usage: Mapping[str, float] = field(default_factory=dict)
    completion: Any = None


class Agent(ABC):
    """Acts in one environment at a time.

    Example:
        >>> class Looker(Agent):
        ...     name = "looker"
        ...     def act(self, observation, info):
        ...         return Turn("look")
        >>> Looker().act({"goal": "", "text": ""}, {}).action
        'look'
    """

    name: ClassVar[str]
    """What results call it."""

    env_options: ClassVar[Mapping[str, Any]] = {}
    """Options its environment must be made with, e.g. ``{"expert": True}``."""

    def reset(self, task: Task) -> None:
        """Begin an episode; forget the last one."""
        self.task = task

    @abstractmethod
    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Turn:
        """Choose the next action.

        Args:
            observation: As the environment returned it (``goal``, ``text`` and perhaps ``screenshot``).
            info: As the environment returned it.

        Raises:
            AgentError: If it cannot, for a reason outside the task.
        """

    def close(self) -> None:  # noqa: B027  # most agents hold nothing
        """Free what the agent holds; safe to call twice."""
