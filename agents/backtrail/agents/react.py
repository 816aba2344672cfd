"""`ReAct`: the baseline that thinks before it acts."""

from __future__ import annotations

from backtrail.agents.direct import Direct

__all__ = ["ReAct"]


class ReAct(Direct):
    """Answers with a thought and an action; the prompt shows the last steps: observations, thoughts and actions.

    Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models", ICLR 2023 (arXiv 2210.03629). The thought of a
    step is carried forward, what a model writes between ``<think>`` and ``</think>`` is not.
    """

    name = "react"
    template = "react"
    required = ("thought", "action")
