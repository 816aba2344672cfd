"""LaMer's prompts (arXiv 2512.16848): a remark after an attempt that failed, shown in the attempts that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backtrail.agents.models.base import Message, Prompt

__all__ = ["reflection_prompt", "with_remarks"]

LONGEST = 2000
"""Characters of a remark that are kept."""


def reflection_prompt(goal: str, actions: Sequence[str], memory: str) -> Prompt:
    """Return the prompt that asks for a remark on an attempt that failed.

    Args:
        goal: The instruction.
        actions: What was done, in order.
        memory: What was remembered at the end.
    """
    lines = [
        f"goal: {goal}",
        f"memory: {memory or 'none'}",
        f"done: {'; '.join(actions)}",
        "This attempt failed. Say briefly what went wrong and what to do differently in the next attempt.",
    ]
    return (Message("user", "\n".join(lines)),)


def with_remarks(prompt: Prompt, remarks: Sequence[str]) -> Prompt:
    """Return a prompt whose user message also shows the remarks on earlier attempts.

    Raises:
        ValueError: If the prompt does not end with a user message.
    """
    if not remarks:
        return prompt
    if prompt[-1].role != "user":
        raise ValueError(f"Expected a prompt that ends with a user message, got one of {prompt[-1].role}")
    shown = [f"attempt {number}: {remark[:LONGEST]}" for number, remark in enumerate(remarks, 1)]
    content = "\n".join(["Remarks on earlier attempts:", *shown, "", prompt[-1].content])
    return [*prompt[:-1], replace(prompt[-1], content=content)]
