"""EAPO's exploration reward for a batch: what the posterior is asked, what follows from its scores, and when it learns."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from backtrail.training.config import Config
from backtrail.training.posterior import Insight, Posterior, Scores, insights
from backtrail.training.rewards import explore_reward, may_explore
from backtrail.training.transition import Transition

__all__ = ["Exploration", "auc"]


def auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the probability that a random positive scores higher than a random negative, a tie counting half.

    From the ranks, ties sharing their mean (Mann and Whitney, 1947): (sum of the positives' ranks - p (p + 1) / 2) / (p n).

    Args:
        scores: (k,) finite.
        labels: (k,) bool.

    Returns:
        0 to 1; NaN if all labels are the same.
    """
    labels = np.asarray(labels, bool)
    positives, negatives = int(labels.sum()), int((~labels).sum())
    if not positives or not negatives:
        return math.nan
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    return float((rank[labels].sum() - positives * (positives + 1) / 2) / (positives * negatives))


class Exploration:
    """Rewards the steps of a batch for their explore and memory texts, and lets the posterior learn from it.

    With `config.posterior_update` "batch_after" all steps are scored by the posterior of the batches before; with
    "sample_before" each is learned, then scored (the released code).
    """

    def __init__(self, posterior: Posterior, config: Config):
        """Start; what changes during training is all in the posterior."""
        self.posterior, self._config = posterior, config

    def reward(self, transitions: Sequence[Transition], iteration: int) -> tuple[np.ndarray, dict[str, float]]:
        """Return the exploration reward of each step, neither weighted nor centred, and what there is to log.

        A reflection earns 0 and teaches nothing; with `config.gate` so does a step whose response is invalid or whose
        explore or memory text, as the reward reads it, is empty.

        Args:
            transitions: The batch, n; both terms of a step are learned with its success.
            iteration: From 0; the posterior learns in every `config.posterior_every`-th, the first among them.

        Returns:
            (n,) float64, and by name: "explore/scored" (share of steps), "explore/first_share" (of the scored, where the
            first term was larger), "explore/auc" (of the reward for telling scored steps of won from lost trajectories),
            "explore/won", "explore/lost" (mean rewards of scored steps), "seconds/posterior_score" and
            "seconds/posterior_update" (one sum under the former, when every sample is learned before it is scored), and
            the posterior's own. NaN for the mean of nothing.
        """
        now, following = insights(transitions, self._config, self.posterior.cut)
        places = [place for place, step in enumerate(transitions) if may_explore(step, self._config)]
        items = [item for place in places if (item := now[place]) is not None]
        then = [following[place] for place in places]
        won = np.array([transitions[place].success for place in places], bool)
        learn = iteration % self._config.posterior_every == 0
        started = time.perf_counter()
        if self._config.posterior_update == "sample_before" and learn:
            first, second = self.posterior.score_released(items, then, won.astype(np.float64))
        else:
            first, second = self._score(items, then)
        scored = time.perf_counter()
        earned, is_first = self._from_scores(first, second)
        metrics = {
            "explore/scored": len(places) / len(transitions) if transitions else math.nan,
            "explore/first_share": _mean(is_first),
            "explore/auc": auc(earned, won),
            "explore/won": _mean(earned[won]),
            "explore/lost": _mean(earned[~won]),
            "seconds/posterior_score": scored - started,
        }
        if self._config.posterior_update == "batch_after" and learn:
            tasks = [transitions[place].task_id for place in places]
            there = [place for place, item in enumerate(then) if item is not None]
            metrics |= self.posterior.update(
                items + [item for item in then if item is not None],
                np.concatenate([won, won[there]]).astype(np.float64),
                tasks + [tasks[place] for place in there],
            )
        metrics["seconds/posterior_update"] = time.perf_counter() - scored
        rewards = np.zeros(len(transitions))
        rewards[places] = earned
        return rewards, metrics

    def _score(self, items: Sequence[Insight], then: Sequence[Insight | None]) -> tuple[Scores, Scores]:
        """Score both terms in one call, so that rows of like length share a forward pass."""
        there = [place for place, item in enumerate(then) if item is not None]
        every = [*items, *(item for item in then if item is not None)]
        scores = self.posterior.score(every, prior=self._config.probability == "ratio")
        count = len(items)
        logq, tokens = np.full(count, np.nan), np.zeros(count, np.int64)
        logq[there], tokens[there] = scores.logq[count:], scores.tokens[count:]
        if scores.prior is None:
            return Scores(scores.logq[:count], scores.tokens[:count]), Scores(logq, tokens)
        prior = np.full(count, np.nan)
        prior[there] = scores.prior[count:]
        return Scores(scores.logq[:count], scores.tokens[:count], scores.prior[:count]), Scores(logq, tokens, prior)

    def _from_scores(self, first: Scores, second: Scores) -> tuple[np.ndarray, np.ndarray]:
        ratio = self._config.probability == "ratio"
        return explore_reward(
            first.logq,
            first.tokens,
            second.logq,
            second.tokens,
            gamma=self._config.gamma_explore,
            probability=self._config.probability,
            prior_now=first.prior if ratio else None,
            prior_next=second.prior if ratio else None,
        )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else math.nan
