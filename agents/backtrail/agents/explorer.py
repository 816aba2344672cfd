"""`Explorer`: the agent that says what it would explore and remembers in its own words."""

from __future__ import annotations

from typing import Any

from backtrail.agents.base import Task
from backtrail.agents.model_agent import ModelAgent
from backtrail.agents.response import Parsed

__all__ = ["BriefExplorer", "Explorer"]


class Explorer(ModelAgent):
    """Carries only the last explore and the last memory forward, so that the prompt stays bounded.

    The prompt is the extended state of EAPO (arXiv 2605.08978): goal, observation, explore and memory of the step before.
    A response without one of them leaves the one before it in force.
    """

    name = "explorer"
    template = "explorer"
    required = ("explore", "memory", "action")

    def reset(self, task: Task) -> None:
        """Begin an episode with nothing explored or remembered."""
        super().reset(task)
        self._explore = self._memory = ""

    def carried(self) -> dict[str, Any]:
        """Return the last explore and memory."""
        return {"explore": self._explore, "memory": self._memory}

    def keep(self, text: str, parsed: Parsed) -> None:
        """Keep explore and memory, and nothing of the observation."""
        self._explore = parsed.explore or self._explore
        self._memory = parsed.memory or self._memory


class BriefExplorer(Explorer):
    """The explorer with a prompt of a few words: no instructions, for models that have been trained on the format.

    With a small model most of the time goes into reading prompts; this one is ten times shorter.
    """

    name = "brief"
    template = "brief"
