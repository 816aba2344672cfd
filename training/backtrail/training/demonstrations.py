"""Demonstrations for the warm start: what a rule-based searcher would answer to the prompts that the agent is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from backtrail.agents.base import Task, Turn
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
        disturb: Share of steps in which something else is done, or believed, than the demonstrator says: what is
            demonstrated stays right, and shows how to go on from where mistakes lead.
    """
    env, searcher = recipe.make(), Searcher(forgetful, noise)
    found: list[Demonstration] = []
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
            if rng.random() < disturb:
                turn = _disturbed(searcher, turn, info["admissible_actions"], rng)
                searcher.did(turn.action)
            agent.follow(parse(turn.response, agent.required))
            observation, _, terminated, truncated, info = env.step(turn.action)
            done = terminated or truncated
        found += [Demonstration(*step, task.task_id, bool(info["success"])) for step in steps]
    env.close()
    return found


def _disturbed(searcher: Searcher, turn: Turn, possible: Sequence[str], rng: np.random.Generator) -> Turn:
    """Return a turn that goes wrong: a false belief, an action about furniture that is elsewhere, or any action."""
    kind = int(rng.integers(3))
    if kind == 0 and not turn.memory.startswith("holding"):
        return searcher.mistake()
    action = possible[int(rng.integers(len(possible)))]
    return replace(turn, action=action.replace("go to ", "open ") if kind == 1 else action)


def encode(tokenizer: Any, prompt: Prompt, response: str) -> Row:
    """Return a prompt and a response as the tokens a model sees and writes: chat template, end token.

    Args:
        tokenizer: A transformers tokenizer.
        prompt: The prompt.
        response: The response.
    """
    if tokenizer.chat_template is None:
        text = "\n\n".join(message.content for message in prompt) + "\n\n"
    else:
        messages = [{"role": message.role, "content": message.content} for message in prompt]
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    given = tokenizer(text, add_special_tokens=tokenizer.chat_template is None)["input_ids"]
    answer = tokenizer(response, add_special_tokens=False)["input_ids"]
    return Row(tuple(given), (*answer, tokenizer.eos_token_id))
