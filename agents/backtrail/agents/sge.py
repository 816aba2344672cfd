"""Strategy-guided exploration (SGE) as a way of sampling that any agent can use.

The agent writes a strategy first; its span is drawn hot and the rest cool, in one response. In training, some rollouts are
also shown the strategies of an earlier episode of the same task: failed ones to criticise, successful ones as inspiration.

A rollout follows a `Plan`. `training_plan` needs the buffers of `Strategies` and may put a `Reflection` in it;
`evaluation_plan` is given no buffers, so an evaluation cannot reflect. docs/sge.md lists what is the paper's and what ours.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from backtrail.agents.models.base import Message, MixedTemperature, Prompt, Sampling

__all__ = [
    "PRESETS",
    "Plan",
    "Preset",
    "Reflection",
    "Strategies",
    "evaluation_plan",
    "min_p",
    "reflect",
    "sampling",
    "training_plan",
]

Sign = Literal["negative", "positive"]

_FORMAT = 1  # of saved buffers


@dataclass(frozen=True, slots=True)
class Preset:
    """Values of SGE for one benchmark.

    Attributes:
        token_temperature: Of everything but the strategy.
        strategy_temperature: Of the strategy.
        negative: Probability that a rollout of training is shown a failed episode.
        positive: Probability that it is shown a successful one.
        size: Episodes a buffer keeps, for each task and sign.
        source: Where the values are from.

    Raises:
        ValueError: If the values make no sense.
    """

    token_temperature: float = 0.7
    strategy_temperature: float = 1.2
    negative: float = 0.25
    positive: float = 0.1
    size: int = 32
    source: str = "ours"

    def __post_init__(self):
        if self.negative < 0 or self.positive < 0 or self.negative + self.positive > 1:
            raise ValueError(f"Expected probabilities with a sum of at most 1, got {self.negative} and {self.positive}")
        if self.token_temperature < 0 or self.strategy_temperature < 0 or self.size < 1:
            raise ValueError(f"Expected temperatures of 0 or more and a size of 1 or more, got {self}")


_PAPER = "SGE, Table 2 and reflection probabilities"

PRESETS: dict[str, Preset] = {
    "code": Preset(source=_PAPER),
    "androidworld": Preset(source=_PAPER),
    "langr": Preset(token_temperature=0.6, strategy_temperature=1.0, source=_PAPER),
    "appworld": Preset(positive=0.5, source=_PAPER),
    # not in the paper: the values of its nearest benchmark
    "alfworld": Preset(token_temperature=0.6, strategy_temperature=1.0, source="ours, after langr (household, text)"),
    "webshop": Preset(source="ours, after code (text)"),
    "osworld": Preset(source="ours, after androidworld (screen)"),
}
"""Benchmark to its preset."""


@dataclass(frozen=True, slots=True)
class Reflection:
    """An earlier episode of the same task that a rollout is shown.

    Attributes:
        sign: "negative" for a failed episode, "positive" for a successful one.
        strategies: Its strategy at each step.
        feedback: What the environment said about the whole episode, "" for nothing.
    """

    sign: Sign
    strategies: tuple[str, ...]
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """How one rollout is sampled, from its first step to its last.

    Attributes:
        sampling: How each response is drawn.
        reflection: What its prompts also show, None for nothing.
    """

    sampling: Sampling
    reflection: Reflection | None = None


def sampling(preset: Preset, base: Sampling, open: str, close: str) -> Sampling:
    """Return a sampling with a hot strategy.

    Args:
        preset: The temperatures.
        base: Everything else.
        open: The marker before the strategy, e.g. ``<explore>``.
        close: The marker after it.
    """
    mixed = MixedTemperature(open, close, preset.strategy_temperature)
    return replace(base, temperature=preset.token_temperature, mixed=mixed)


def min_p(base: Sampling, threshold: float = 0.05) -> Sampling:
    """Return the min-p baseline's sampling (arXiv 2407.01082); the default threshold is ours."""
    return replace(base, min_p=threshold)


def evaluation_plan(preset: Preset, base: Sampling, open: str, close: str) -> Plan:
    """Return the plan of a rollout that is measured: mixed temperature, nothing to reflect on."""
    return Plan(sampling(preset, base, open, close))


def training_plan(
    preset: Preset,
    base: Sampling,
    open: str,
    close: str,
    *,
    strategies: Strategies,
    task_id: str,
    rng: np.random.Generator,
) -> Plan:
    """Return the plan of a rollout to learn from: mixed temperature, and perhaps an episode to reflect on."""
    return Plan(sampling(preset, base, open, close), strategies.draw(task_id, rng))


class Strategies:
    """Strategies of past episodes, by task and outcome; what leaves a full buffer is the oldest.

    For training only. Entries are added once the rewards of a batch are known, before the next is collected; leave out
    episodes that were cut off or broke the response format.

    Example:
        >>> strategies = Strategies(Preset(negative=1.0, positive=0.0))
        >>> strategies.add("task", success=False, strategies=["try the fridge"], feedback="")
        >>> strategies.draw("task", np.random.default_rng(0))
        Reflection(sign='negative', strategies=('try the fridge',), feedback='')
        >>> strategies.draw("another", np.random.default_rng(0)) is None
        True
    """

    def __init__(self, preset: Preset):
        """Start with empty buffers."""
        self.preset = preset
        self._buffers: dict[tuple[str, Sign], deque[Reflection]] = {}

    def add(self, task_id: str, success: bool, strategies: Sequence[str], feedback: str = "") -> None:
        """Keep the strategies of one episode, one a step; an episode without any is not kept."""
        sign: Sign = "positive" if success else "negative"
        if kept := tuple(text for text in strategies if text.strip()):
            buffer = self._buffers.setdefault((task_id, sign), deque(maxlen=self.preset.size))
            buffer.append(Reflection(sign, kept, feedback))

    def draw(self, task_id: str, rng: np.random.Generator) -> Reflection | None:
        """Draw what one rollout is shown: once per rollout, held for all its steps.

        One draw chooses negative, positive or nothing; an empty buffer gives nothing, without another draw; within a buffer
        every episode is as likely.

        Args:
            task_id: The task of the rollout.
            rng: The generator to draw from.
        """
        chance = rng.random()
        sign: Sign = "negative" if chance < self.preset.negative else "positive"
        if chance >= self.preset.negative + self.preset.positive:
            return None
        buffer = self._buffers.get((task_id, sign))
        return buffer[int(rng.integers(len(buffer)))] if buffer else None

    def sizes(self, task_id: str) -> dict[Sign, int]:
        """Return how many episodes of a task are kept, by sign."""
        return {sign: len(self._buffers.get((task_id, sign), ())) for sign in ("negative", "positive")}

    def save(self, path: str | Path) -> None:
        """Write everything as JSON; an interrupted write leaves the old file."""
        rows = [
            {"task_id": task_id, "sign": sign, "episodes": [_plain(entry) for entry in buffer]}
            for (task_id, sign), buffer in self._buffers.items()
        ]
        path = Path(path)
        draft = path.with_name(path.name + ".part")
        draft.write_text(json.dumps({"format": _FORMAT, "preset": asdict(self.preset), "buffers": rows}), "utf-8")
        os.replace(draft, path)

    @classmethod
    def load(cls, path: str | Path) -> Strategies:
        """Read what `save` wrote.

        Raises:
            ValueError: If the file is something else.
        """
        try:
            saved = json.loads(Path(path).read_text("utf-8"))
            if saved["format"] != _FORMAT:
                raise ValueError(f"format {saved['format']!r}")
            strategies = cls(Preset(**saved["preset"]))
            for row in saved["buffers"]:
                if row["sign"] not in ("negative", "positive"):
                    raise ValueError(f"sign {row['sign']!r}")
                for entry in row["episodes"]:
                    strategies.add(row["task_id"], row["sign"] == "positive", **_entry(entry))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"Expected strategy buffers (format {_FORMAT}) in {path}: {error!r}") from error
        return strategies


def _plain(entry: Reflection) -> dict[str, Any]:
    return {"strategies": list(entry.strategies), "feedback": entry.feedback}


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    strategies, feedback = row["strategies"], row["feedback"]
    if not isinstance(strategies, list) or not all(isinstance(text, str) for text in [*strategies, feedback]):
        raise ValueError(f"episode {row!r}")
    return {"strategies": strategies, "feedback": feedback}


_WORDS: dict[Sign, tuple[str, str]] = {
    "negative": (
        "In an earlier attempt at this task these strategies were followed, and the attempt failed:",
        "Before you act, name precisely what was wrong with them. Then follow a better strategy that is simple to carry out.",
    ),
    "positive": (
        "In an earlier attempt at this task these strategies were followed, and the attempt succeeded:",
        "Let them inspire your own strategy.",
    ),
}


def reflect(prompt: Prompt, reflection: Reflection | None) -> Prompt:
    """Return a prompt whose last user message also shows an earlier episode.

    The loss of such a rollout is taken under this prompt, the one it was drawn from.

    Args:
        prompt: The prompt of a step.
        reflection: What to show; None leaves the prompt as it is.

    Raises:
        ValueError: If the prompt has no user message.
    """
    if reflection is None:
        return prompt
    place = max((place for place, message in enumerate(prompt) if message.role == "user"), default=None)
    if place is None:
        raise ValueError("Expected a prompt with a user message")
    before, after = _WORDS[reflection.sign]
    steps = [f"{number}. {strategy}" for number, strategy in enumerate(reflection.strategies, 1)]
    said = [f"The outcome was reported as: {reflection.feedback}"] if reflection.feedback else []
    message: Message = prompt[place]
    content = "\n".join([message.content, "", before, *steps, *said, after])
    return [*prompt[:place], replace(message, content=content), *prompt[place + 1 :]]
