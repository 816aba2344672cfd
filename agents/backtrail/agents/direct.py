"""`Direct`: the baseline that writes nothing but actions."""

from __future__ import annotations

from collections import deque
from typing import Any

from backtrail.agents.base import Task
from backtrail.agents.model_agent import ModelAgent
from backtrail.agents.models.base import Model, Sampling
from backtrail.agents.response import Parsed

__all__ = ["Direct"]


class Direct(ModelAgent):
    """Answers with an action only; the prompt shows the last steps: observations and actions."""

    name = "direct"
    template = "direct"
    required = ("action",)

    def __init__(self, model: Model, sampling: Sampling | None = None, *, history: int = 50, **options: Any):
        """Make the agent.

        Args:
            model: Answers the prompts.
            sampling: How responses are drawn.
            history: How many earlier steps the prompt shows at most; 50 are a whole episode of ALFWorld.
            options: As for `ModelAgent`.

        Raises:
            ValueError: If ``history`` is negative, or there are no prompts for the benchmark.
            gymnasium.error.DependencyNotInstalled: If jinja2 is missing.
        """
        if history < 0:
            raise ValueError(f"Expected a history of at least 0 steps, got {history}")
        super().__init__(model, sampling, **options)
        self._history: deque[dict[str, str]] = deque(maxlen=history)

    def reset(self, task: Task) -> None:
        """Begin an episode without history."""
        super().reset(task)
        self._history.clear()

    def carried(self) -> dict[str, Any]:
        """Return the last steps, oldest first."""
        return {"history": list(self._history)}

    def keep(self, text: str, parsed: Parsed) -> None:
        """Keep the step."""
        self._history.append({"text": text, "thought": parsed.thought, "action": parsed.action})
