"""An environment for TRL's ``GRPOTrainer(environment_factory=...)`` (TRL 1.16, where that is experimental).

TRL makes one instance for each rollout of a batch, keeps it and resets it with the columns of the dataset's row, shows the
model every public method but ``reset`` and ``get_reward`` as a tool, and asks for one reward when the model stops calling
tools. That is one growing conversation a rollout: no reward of a step, no state groups. For these use our own trainer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backtrail.training.workers import EnvRecipe, Observed, Serial, Workers

__all__ = ["TRLEnvironment"]

_OVER = "The episode is over."


class TRLEnvironment:
    """One environment with the tool ``act``; ``functools.partial(TRLEnvironment, recipe)`` is the factory.

    The dataset needs a column ``task_id`` or ``seed``: all rollouts of a row play that task.

    Example:
        >>> env = TRLEnvironment(EnvRecipe("backtrail/ALFWorld-v0"))
        >>> shown = env.reset(prompt=[{"role": "user", "content": "Play."}], task_id="valid_seen/pick_and_place_simple/0000")
        >>> shown.strip()[:6], env.act("dance"), env.get_reward()
        ('Goal: ', 'Nothing happens.', 0.0)
    """

    # No further public methods: the model could call them.

    def __init__(self, recipe: EnvRecipe, workers: Callable[[EnvRecipe, int], Workers] = Serial):
        """Prepare the environment.

        Args:
            recipe: How to make it.
            workers: What runs it; `Processes` or `Threads` where it may hang or die.
        """
        self._workers = workers(recipe, 1)
        self.observed: list[Observed] = []
        """The episode so far, for reward functions, which TRL gives the ``environments``."""

    def reset(self, *, task_id: str | None = None, seed: int | None = None, **columns: Any) -> str:
        """Begin an episode; return what TRL appends to the last message of the prompt.

        Raises:
            ValueError: If the row has neither task_id nor seed.
        """
        if task_id is None and seed is None:
            raise ValueError(
                "Expected a column task_id or seed in the dataset, so that all rollouts of a prompt play one task; got "
                f"{', '.join(columns) or 'none'}"
            )
        self.observed = [self._workers.reset([(0, seed or 0, task_id)])[0]]
        return f"\n\nGoal: {self.observed[0].observation.get('goal', '')}\n\n{self._said()}"

    def act(self, action: str) -> str:
        """Carry out one action in the environment.

        Args:
            action: The action, in the words of the environment.

        Returns:
            What is observed after the action.
        """
        if self.observed[-1].done:
            return _OVER
        self.observed.append(self._workers.step({0: action})[0])
        return self._said()

    def get_reward(self) -> float | None:
        """Return the sum of the rewards; None after a fault, with which TRL leaves the rollout out of the baseline."""
        return None if self.observed[-1].fault else sum((observed.reward for observed in self.observed), 0.0)

    def _said(self) -> str:
        last = self.observed[-1]
        text = last.observation.get("text", "")
        return f"{text}\n\n{_OVER}".strip() if last.done else text
