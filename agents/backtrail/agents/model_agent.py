"""`ModelAgent`: an agent that asks a language model for every action, alone or many in one call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from backtrail.agents.base import Agent, Task, Turn
from backtrail.agents.models.base import Completion, Model, ModelError, Prompt, Sampling
from backtrail.agents.prompts import load_prompts
from backtrail.agents.response import Parsed, parse
from backtrail.envs.core import digest

__all__ = ["ModelAgent", "act_all"]

_CHARS_PER_TOKEN = 3  # a low estimate for English, so that history goes before a model's limit is met


class ModelAgent(Agent):
    """Shows a model the goal, the observation and what it carries forward, and reads the action from the response.

    An act has two halves, `request` and `read`, so that many agents can share one call of the model (`act_all`). Of
    ``info`` only the admissible actions are read, and only if the prompt shows them. The action is passed on as the model
    wrote it: what to make of one that does not exist is the environment's business.

    Subclasses say what is carried forward (`carried`) and kept from a step (`keep`).

    Attributes:
        model: Shared with other agents perhaps; whoever made it closes it.
        prompt_hash: SHA-256 over the templates of the prompt.
    """

    template: ClassVar[str]
    """Its set of templates in the folder ``prompts``."""

    required: ClassVar[tuple[str, ...]]
    """The parts that a valid response has, as `backtrail.agents.response.parse` names them."""

    def __init__(
        self,
        model: Model,
        sampling: Sampling | None = None,
        *,
        benchmark: str = "general",
        rollback: bool = False,
        show_admissible: bool = False,
        max_prompt_chars: int | None = None,
    ):
        """Make the agent.

        Args:
            model: Answers the prompts.
            sampling: How responses are drawn; its seed is replaced by one per step.
            benchmark: Whose actions the prompt describes: "alfworld", or "general".
            rollback: Whether the prompt offers the rollback action: the environment must be wrapped in `Rollback`.
            show_admissible: Whether the prompt lists the admissible actions.
            max_prompt_chars: Longest prompt, in characters over all messages. The oldest steps of the history are left out
                to keep to it. None: estimated from ``model.details["max_prompt_tokens"]`` if that is there, else unlimited.

        Raises:
            ValueError: If there are no prompts for the benchmark.
            gymnasium.error.DependencyNotInstalled: If jinja2 is missing.
        """
        self.model, self.sampling = model, sampling or Sampling()
        self._prompts = load_prompts(self.template, benchmark)
        self.prompt_hash = self._prompts.hash
        self._rollback, self._show_admissible, self._limit = rollback, show_admissible, max_prompt_chars

    @abstractmethod
    def carried(self) -> dict[str, Any]:
        """Return the variables of the prompt that come from earlier steps; ``history`` may be shortened, oldest first."""

    @abstractmethod
    def keep(self, text: str, parsed: Parsed) -> None:
        """Keep of a step (the observation's text, and what was read from the response) what is carried forward."""

    def reset(self, task: Task) -> None:
        """Begin an episode; forget the last one."""
        super().reset(task)
        self._step = 0
        self._text: str | None = None

    def request(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> tuple[Prompt, Sampling]:
        """Return what to ask the model; asking again changes nothing.

        The seed depends on the task's seed and the number of the step alone, so that a response does not depend on which
        others are drawn in the same call.

        Raises:
            ModelError: If the prompt is too long even without history.
        """
        self._text = observation.get("text", "")
        variables = {"goal": observation.get("goal") or self.task.goal, "text": self._text, **self.carried()}
        if self._show_admissible:
            variables["admissible"] = info.get("admissible_actions")
        images = (observation["screenshot"],) if "screenshot" in observation else ()
        seed = int(digest(f"{self.task.seed} {self._step}")[:8], 16)
        return self._fitting(variables, images), replace(self.sampling, seed=seed)

    def read(self, completion: Completion) -> Turn:
        """Return the turn that a response to the last `request` means, and go on to the next step.

        Raises:
            RuntimeError: If nothing was requested.
        """
        parsed = parse(completion.text, self.required, cut=completion.finish == "length")
        self.follow(parsed)
        return Turn(
            parsed.action,
            response=completion.text,
            explore=parsed.explore,
            memory=parsed.memory,
            valid=parsed.valid,
            usage=_usage(completion),
            completion=completion,
        )

    def follow(self, parsed: Parsed) -> None:
        """Go on to the next step as if the model had answered the last `request` with this.

        Raises:
            RuntimeError: If nothing was requested.
        """
        if self._text is None:
            raise RuntimeError("Expected request() before read() or follow()")
        self.keep(self._text, parsed)
        self._step, self._text = self._step + 1, None

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> Turn:
        """Ask the model for the next action.

        Raises:
            ModelError: If the model cannot answer, or the prompt is too long.
        """
        return act_all([self], [observation], [info])[0]

    def _fitting(self, variables: dict[str, Any], images: Sequence[Any]) -> Prompt:
        """Return the prompt with as much history as the limit allows."""
        limit, tokens = self._limit, self.model.details.get("max_prompt_tokens")
        if limit is None and tokens is not None:
            limit = _CHARS_PER_TOKEN * tokens
        history = variables.get("history", [])
        while True:
            prompt = self._prompts.render(variables, rollback=self._rollback, images=images)
            size = sum(len(message.content) for message in prompt)
            if limit is None or size <= limit:
                return prompt
            if not history:
                break
            history = variables["history"] = history[1:]
        if self._limit is None:
            return prompt  # the limit is an estimate, and the model knows better
        raise ModelError(
            f"The prompt of {self.name} has {size} characters without any history: expected at most {limit}. "
            "Raise max_prompt_chars, or lower max_tokens so that less is carried forward."
        )


def _usage(completion: Completion) -> dict[str, Any]:
    cost = getattr(completion, "cost", None)  # of servers with prices
    usage = {"prompt_tokens": completion.prompt_tokens, "completion_tokens": completion.completion_tokens}
    return usage | ({"cost_usd": cost} if cost is not None else {})


def act_all(
    agents: Sequence[ModelAgent], observations: Sequence[Mapping[str, Any]], infos: Sequence[Mapping[str, Any]]
) -> list[Turn]:
    """Act in many environments with one call of the model that the agents share.

    One fault is a fault of all. To let the other agents go on, call `ModelAgent.request` and `ModelAgent.read` yourself.

    Raises:
        ValueError: If the agents do not share one model, or the lengths differ.
        ModelError: If the model cannot answer, or a prompt is too long; the agents are at the same step as before then.
    """
    if not agents:
        return []
    model = agents[0].model
    if any(agent.model is not model for agent in agents):
        raise ValueError("Expected agents that share one model, got several models")
    requests = [agent.request(*seen) for agent, *seen in zip(agents, observations, infos, strict=True)]
    completions = model.generate([prompt for prompt, _ in requests], [sampling for _, sampling in requests])
    if len(completions) != len(agents):
        raise ModelError(f"Expected {len(agents)} responses from {model.name}, got {len(completions)}")
    return [agent.read(completion) for agent, completion in zip(agents, completions, strict=True)]
