"""Demonstrations for the warm start: what a rule-based searcher would answer to the prompts that the agent is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backtrail.agents.base import Task
from backtrail.agents.explorer import Explorer
from backtrail.agents.models.base import Prompt
from backtrail.agents.response import parse
from backtrail.agents.searcher import Searcher
from backtrail.training.learner import Row
from backtrail.training.workers import EnvRecipe

__all__ = ["Demonstration", "demonstrate", "encode"]


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One demonstrated step.

    Attributes:
        prompt: What the agent is shown, with the demonstrator's own explore and memory carried into it.
        response: What the demonstrator answers.
        task_id: The task.
        success: Whether its episode ended well.
    """

    prompt: Prompt
    response: str
    task_id: str
    success: bool


def demonstrate(
    recipe: EnvRecipe,
    agent: Explorer,
    episodes: int,
    seed: int,
    *,
    forgetful: float = 0.0,
    noise: float = 0.0,
    disturb: float = 0.0,
) -> list[Demonstration]:
    """Let the searcher play, and keep each step in the form the agent will meet it.

    Explore and memory are written by rules from what has been shown, never from hidden state.

    Args:
        recipe: The environment.
        agent: Whose prompts are to be learned; its model is not used.
        episodes: Episodes to play.
        seed: Of tasks and demonstrator.
        forgetful: Share of episodes whose demonstrator forgets where it has looked.
        noise: Share of random actions in those episodes.
        disturb: Share of steps in which something else is done than the demonstrator says, half of it impossible: what is
            demonstrated stays right, and shows how to go on from where mistakes lead.
    """
    env, searcher, found = recipe.make(), Searcher(forgetful, noise), []
    rng = np.random.default_rng([seed, 6])
    for episode in range(episodes):
        observation, info = env.reset(seed=seed + episode)
        task = Task(recipe.env_id, info["task_id"], observation["goal"], seed + episode)
        agent.reset(task)
        searcher.reset(task)
        steps: list[tuple[Prompt, str]] = []
        done = False
        while not done:
            prompt, _ = agent.request(observation, info)
            turn = searcher.act(observation, info)
            steps.append((prompt, turn.response))
            agent.follow(parse(turn.response, agent.required))
            action = turn.action
            if rng.random() < disturb:
                action = _mistake(info["admissible_actions"], rng)
                searcher.did(action)
            observation, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        found += [Demonstration(*step, task.task_id, bool(info["success"])) for step in steps]
    env.close()
    return found


def _mistake(possible: Sequence[str], rng: np.random.Generator) -> str:
    """Return a random action; half of the time one about furniture that is elsewhere, which does nothing."""
    action = possible[int(rng.integers(len(possible)))]
    return action.replace("go to ", "open ") if rng.random() < 0.5 else action


def encode(tokenizer: Any, prompt: Prompt, response: str, template: Mapping[str, Any] | None = None) -> Row:
    """Return a prompt and a response as the tokens a model sees and writes: chat template, end token.

    Args:
        tokenizer: A transformers tokenizer.
        prompt: The prompt.
        response: The response.
        template: Further variables for the chat template.
    """
    messages = [{"role": message.role, "content": message.content} for message in prompt]
    if tokenizer.chat_template is None:
        text = "\n\n".join(message.content for message in prompt) + "\n\n"
    else:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **(template or {}))
    given = tokenizer(text, add_special_tokens=tokenizer.chat_template is None)["input_ids"]
    answer = tokenizer(response, add_special_tokens=False)["input_ids"]
    return Row(tuple(given), (*answer, tokenizer.eos_token_id))
