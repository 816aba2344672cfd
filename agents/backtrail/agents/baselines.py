"""Agents without a model: the floor, the ceiling, and hands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backtrail.agents.base import Agent, AgentError, Task, Turn
from backtrail.envs.wrappers.record import read_episode

__all__ = ["Expert", "Human", "Null", "Random", "Replay"]


class Null(Agent):
    """Says nothing at every step. On a sound benchmark it never succeeds."""

    name = "null"

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Turn:
        """Return the empty action."""
        return Turn("")


class Random(Agent):
    """Draws from the admissible actions, evenly, by the seed of the task."""

    name = "random"

    def reset(self, task: Task) -> None:
        """Begin an episode with the task's seed."""
        super().reset(task)
        self._generator = np.random.default_rng(task.seed)

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Turn:
        """Return one of ``info["admissible_actions"]``.

        Raises:
            AgentError: If the environment lists none.
        """
        possible = info.get("admissible_actions")
        if not possible:
            raise AgentError('The random agent draws from info["admissible_actions"], and this environment lists none')
        return Turn(possible[int(self._generator.integers(len(possible)))])


class Expert(Agent):
    """Follows the environment's own shortest plan. It reads the hidden state: an oracle, not a competitor."""

    name = "expert"
    env_options = {"expert": True}

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Turn:
        """Return the first command of ``info["expert_plan"]``.

        Raises:
            AgentError: If the environment offers no plan.
        """
        if "expert_plan" not in info:
            raise AgentError('The expert needs info["expert_plan"]: this environment has no expert')
        return Turn(info["expert_plan"][0] if info["expert_plan"] else "")


class Replay(Agent):
    """Repeats the actions of recorded episodes, found by task id; says nothing once they are used up."""

    name = "replay"

    def __init__(self, folder: str | Path):
        """Index the recorded episodes (``*.jsonl`` files written by `Record`) under a folder.

        Raises:
            AgentError: If there is none.
        """
        self._found: dict[str, list[tuple[int | None, Path]]] = {}
        for path in sorted(path for path in Path(folder).rglob("*.jsonl") if path.is_file()):
            try:
                head = read_episode(path)[0]
            except ValueError:
                continue  # another kind of JSONL, as in a run folder
            self._found.setdefault(str(head["info"].get("task_id", "")), []).append((head["seed"], path))
        if not self._found:
            raise AgentError(f"Expected recorded episodes under {folder}, found none")

    def reset(self, task: Task) -> None:
        """Begin the recorded episode of the task: the one with its seed, else the first.

        Raises:
            AgentError: If the task was not recorded.
        """
        super().reset(task)
        found = self._found.get(task.task_id)
        if not found:
            raise AgentError(f"No recorded episode of {task.task_id!r}")
        path = next((path for seed, path in found if seed == task.seed), found[0][1])
        self._actions = iter([row["action"] for row in read_episode(path)[1:]])

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Turn:
        """Return the next recorded action."""
        return Turn(next(self._actions, ""))


class Human(Agent):
    """Asks a person at a terminal: shows the text, reads one line."""

    name = "human"

    def __init__(self, ask: Callable[[str], str] = input):
        """Make the agent; ``ask`` shows a prompt and returns a line."""
        self._ask = ask

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Turn:
        """Return what the person typed; ``?`` lists the admissible actions.

        Raises:
            AgentError: If there is no more input.
        """
        sys.stderr.write(f"\n{observation['text']}\n")
        if info.get("action_error"):
            sys.stderr.write(f"({info['action_error']})\n")
        while True:
            try:
                line = self._ask("> ").strip()
            except EOFError:
                raise AgentError("The terminal was closed") from None
            if line != "?":
                return Turn(line)
            sys.stderr.write("\n".join(info.get("admissible_actions") or ["this environment lists no actions"]) + "\n")
