"""q_phi, the posterior behind EAPO's exploration reward: what it is asked, and how it answers; exact counts as one answer.

q_phi(e, m | s) is how likely a successful trajectory writes the explore text e and the memory text m in state s. An agent's
texts that are likely under it look like those of success, which is what EAPO (arXiv 2605.08978, Eqs. 6-9) rewards.
`backtrail.training.posterior_lm` has the one that is a language model.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from backtrail.training.config import Config
from backtrail.training.transition import Transition

__all__ = ["Insight", "Posterior", "Replay", "Scores", "TabularPosterior", "held_out", "insights"]

_Text = tuple[str, str]  # explore and memory

FORMAT = 1
"""Rises with every change of the files posteriors save."""


@dataclass(frozen=True, slots=True)
class Insight:
    """What the posterior is asked about: texts, and the state they are in.

    Attributes:
        state: The goal and the observation, as plain text.
        explore: The explore text.
        memory: The memory text.
    """

    state: str
    explore: str
    memory: str

    @property
    def target(self) -> str:
        """The text whose probability is asked for, in the form of EAPO's released code."""
        return f"<explore>{self.explore}</explore>\n<memory>{self.memory}</memory>"


@dataclass(frozen=True, slots=True)
class Scores:
    """Log-probabilities of n texts, in nats.

    Attributes:
        logq: Of the whole text under the posterior, (n,) float64.
        tokens: Tokens of the text, (n,) int64.
        prior: As logq, under the frozen prior; None if it was not asked for.
    """

    logq: np.ndarray
    tokens: np.ndarray
    prior: np.ndarray | None = None


def insights(
    transitions: Sequence[Transition], config: Config, cut: Callable[[str], str] = str
) -> tuple[list[Insight | None], list[Insight | None]]:
    """Return what both terms of EAPO Eq. 6 ask about, for each transition.

    The first term asks about a step's texts in s_t; the second about the same with s_{t+1} appended to the memory. With
    `config.reading` "current" the texts are e_t and m_t (the released code), with "previous" e_{t-1} and m_{t-1} (the
    formula). A reflection acts in no state, so neither term exists; without a next observation the second does not.

    Args:
        transitions: The steps.
        config: Its reading.
        cut: Shortens a next observation; `Posterior.cut`.
    """
    now: list[Insight | None] = []
    following: list[Insight | None] = []
    for row in transitions:
        if row.reflection:
            now.append(None)
            following.append(None)
            continue
        current = config.reading == "current"
        explore, memory = (row.explore, row.memory) if current else (row.explore_before, row.memory_before)
        state = f"{row.goal}\n{row.observation}"
        now.append(Insight(state, explore, memory))
        seen = cut(row.next_observation)
        extended = f"{memory}\n{seen}" if memory else seen
        following.append(Insight(state, explore, extended) if seen.strip() else None)
    return now, following


class Posterior(ABC):
    """Scores explore and memory texts, and learns from how their trajectories ended."""

    def cut(self, text: str) -> str:
        """Return the beginning of an observation that is to be appended to a memory; all of it by default."""
        return text

    @abstractmethod
    def score(self, items: Sequence[Insight], *, prior: bool = False) -> Scores:
        """Return how likely the texts are now, without learning.

        Args:
            items: What to score, n.
            prior: Whether to score under the prior as well.
        """

    @abstractmethod
    def update(self, items: Sequence[Insight], outcomes: np.ndarray, tasks: Sequence[str]) -> dict[str, float]:
        """Learn from a batch after it was scored.

        Args:
            items: The texts, n, of both terms: texts with an appended observation are judged well only if seen in training.
            outcomes: How the trajectory of each ended, (n,), from 0 (lost) to 1 (won).
            tasks: The task of each, n.

        Returns:
            What there is to log.
        """

    @abstractmethod
    def score_released(
        self, now: Sequence[Insight], following: Sequence[Insight | None], outcomes: np.ndarray
    ) -> tuple[Scores, Scores]:
        """Learn from each sample, then score it at once, in order, as EAPO's released code does.

        Args:
            now: The texts of the first term, n.
            following: Those of the second, n; None is neither learned nor scored.
            outcomes: As in `update`.

        Returns:
            The scores of both, with the prior; NaN and 0 tokens for None.
        """

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Write all that is needed to go on exactly; an interrupted write leaves the old file."""

    @abstractmethod
    def restore(self, folder: str | Path) -> None:
        """Go on from what `save` wrote.

        Raises:
            ValueError: If it is something else, or of another model.
        """

    def close(self) -> None:  # noqa: B027  # most have nothing to free
        """Free what is held; the posterior is of no use afterwards."""


def held_out(task: str) -> bool:
    """Return whether a task is among the tenth that is never trained on: by a hash, the same in every run."""
    return int.from_bytes(hashlib.sha256(task.encode()).digest()[:8], "big") % 10 == 0


class Replay:
    """The latest different successful texts of each task; what leaves a full buffer is the oldest.

    The bound for each task keeps an easy task from drowning the others, as do equal texts that count once.

    Example:
        >>> replay = Replay(per_task=2)
        >>> for memory in ("a", "b", "b", "c"):
        ...     replay.add("task", Insight("s", "e", memory))
        >>> [item.memory for item in replay.items()]
        ['b', 'c']
    """

    def __init__(self, per_task: int = 32, tasks: int = 1024):
        """Start empty.

        Args:
            per_task: Texts kept for a task.
            tasks: Tasks kept; the one that succeeded least recently leaves.
        """
        self._per_task, self._tasks = per_task, tasks
        self._buffers: dict[str, deque[Insight]] = {}

    def add(self, task: str, item: Insight) -> None:
        """Keep a text, unless it is there."""
        buffer = self._buffers.pop(task, None) or deque(maxlen=self._per_task)
        self._buffers[task] = buffer  # to the end: the latest
        if item not in buffer:
            buffer.append(item)
        if len(self._buffers) > self._tasks:
            del self._buffers[next(iter(self._buffers))]

    def items(self) -> list[Insight]:
        """Return all texts, those of the latest task last."""
        return [item for buffer in self._buffers.values() for item in buffer]

    def draw(self, count: int, rng: np.random.Generator) -> list[Insight]:
        """Draw different texts, all as likely; as many as there are if there are fewer than count."""
        items = self.items()
        places = rng.choice(len(items), min(count, len(items)), replace=False) if items else []
        return [items[place] for place in places]

    def to_json(self) -> list[list[Any]]:
        """Return plain values, as JSON takes them."""
        return [[task, [astuple(item) for item in buffer]] for task, buffer in self._buffers.items()]

    def from_json(self, rows: list[list[Any]]) -> None:
        """Hold what `to_json` returned instead."""
        self._buffers = {task: deque((Insight(*item) for item in items), maxlen=self._per_task) for task, items in rows}


class TabularPosterior(Posterior):
    """Counts instead of a model: exact and deterministic, for tests and for worlds with few texts.

    With c_s(e, m) the number of successes among the updates' texts (e, m) in state s, C_s their sum over texts and V the
    number of different texts seen in any state,

        q(e, m | s) = (c_s(e, m) + 1) / (C_s + V + 1)

    which is Laplace's rule with one more place for all texts never seen. The prior is the same over all outcomes. A text is
    one token, so its probability is the same per token and in whole.

    Example:
        >>> posterior = TabularPosterior()
        >>> item = Insight("s", "e", "m")
        >>> posterior.update([item, item], np.array([1.0, 0.0]), ["a", "a"])["posterior/texts"]
        1.0
        >>> scores = posterior.score([item, Insight("s", "e", "other")], prior=True)
        >>> np.exp(scores.logq).round(3).tolist(), np.exp(scores.prior).round(3).tolist()
        ([0.667, 0.333], [0.75, 0.25])
    """

    FILE = "posterior.json"

    def __init__(self):
        """Start with no counts: every text has probability 1."""
        self._won: dict[str, dict[_Text, float]] = {}  # by state
        self._all: dict[str, dict[_Text, float]] = {}
        self._texts: set[_Text] = set()

    def score(self, items: Sequence[Insight], *, prior: bool = False) -> Scores:
        """See `Posterior.score`."""
        tokens = np.ones(len(items), np.int64)
        return Scores(
            self._frequencies(self._won, items), tokens, self._frequencies(self._all, items) if prior else None
        )

    def _frequencies(self, counts: dict[str, dict[_Text, float]], items: Sequence[Insight]) -> np.ndarray:
        logs: list[float] = []
        for item in items:
            texts = counts.get(item.state, {})
            count = texts.get((item.explore, item.memory), 0.0)
            logs.append(math.log((count + 1) / (math.fsum(texts.values()) + len(self._texts) + 1)))
        return np.array(logs, np.float64)

    def update(self, items: Sequence[Insight], outcomes: np.ndarray, tasks: Sequence[str]) -> dict[str, float]:
        """See `Posterior.update`; an outcome between 0 and 1 counts as that part of a success."""
        for item, outcome, _ in zip(items, outcomes, tasks, strict=True):
            self._count(item, float(outcome))
        return {"posterior/texts": float(len(self._texts))}

    def score_released(
        self, now: Sequence[Insight], following: Sequence[Insight | None], outcomes: np.ndarray
    ) -> tuple[Scores, Scores]:
        """See `Posterior.score_released`."""
        rows: list[tuple[Scores, Scores]] = []
        none = Scores(np.array([np.nan]), np.zeros(1, np.int64), np.array([np.nan]))
        for item, extended, outcome in zip(now, following, outcomes, strict=True):
            self._count(item, float(outcome))
            if extended is not None:
                self._count(extended, float(outcome))
            then = none if extended is None else self.score([extended], prior=True)
            rows.append((self.score([item], prior=True), then))
        return _joined([row[0] for row in rows]), _joined([row[1] for row in rows])

    def _count(self, item: Insight, outcome: float) -> None:
        text = (item.explore, item.memory)
        self._texts.add(text)
        for counts, amount in ((self._won, outcome), (self._all, 1.0)):
            texts = counts.setdefault(item.state, {})
            texts[text] = texts.get(text, 0.0) + amount

    def save(self, folder: str | Path) -> None:
        """See `Posterior.save`."""
        path = Path(folder) / self.FILE
        draft = path.with_name(path.name + ".part")
        rows = [
            [state, *text, self._won[state][text], count]
            for state, texts in self._all.items()
            for text, count in texts.items()
        ]
        draft.write_text(json.dumps({"format": FORMAT, "counts": rows}), "utf-8")
        os.replace(draft, path)

    def restore(self, folder: str | Path) -> None:
        """See `Posterior.restore`."""
        path = Path(folder) / self.FILE
        try:
            saved = json.loads(path.read_text("utf-8"))
            if saved["format"] != FORMAT:
                raise ValueError(f"format {saved['format']!r}")
            won: dict[str, dict[_Text, float]] = {}
            every: dict[str, dict[_Text, float]] = {}
            for state, explore, memory, successes, count in saved["counts"]:
                won.setdefault(state, {})[explore, memory] = float(successes)
                every.setdefault(state, {})[explore, memory] = float(count)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"Expected the counts of a posterior (format {FORMAT}) in {path}: {error!r}") from error
        self._won, self._all = won, every
        self._texts = {text for texts in every.values() for text in texts}


def _joined(rows: Sequence[Scores]) -> Scores:
    priors = [row.prior for row in rows if row.prior is not None]
    if not rows:
        return Scores(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))
    return Scores(
        np.concatenate([row.logq for row in rows]), np.concatenate([row.tokens for row in rows]), np.concatenate(priors)
    )
