"""Intervals, pass@k and paired tests: every number of a summary that is more than a sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

__all__ = [
    "Interval",
    "bootstrap_mean",
    "effective_size",
    "mcnemar",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "success_rate",
    "t_interval",
    "wilson",
]

_DRAWS_AT_ONCE = 1_000_000


class Interval(NamedTuple):
    """An estimate and its confidence interval."""

    value: float
    low: float
    high: float


def wilson(successes: float, n: float, confidence: float = 0.95) -> Interval:
    """Return a success rate with Wilson's score interval.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209-212. Unlike
    the normal approximation it stays within [0, 1] and has a width where all or none succeeded.

    Args:
        successes: How many succeeded; may be a fraction where ``n`` is an effective size.
        n: How many were tried.
        confidence: Coverage wanted, between 0 and 1.

    Raises:
        ValueError: Unless 0 <= successes <= n, n > 0 and 0 < confidence < 1.

    Example:
        >>> [round(x, 3) for x in wilson(8, 10)]
        [0.8, 0.49, 0.943]
    """
    if not (n > 0 and 0 <= successes <= n and 0 < confidence < 1):
        raise ValueError(f"Expected 0 <= successes <= n, n > 0, 0 < confidence < 1, got {successes}, {n}, {confidence}")
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    rate = successes / n
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2) / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    return Interval(rate, max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half)))


def effective_size(attempts: Sequence[tuple[int, int]]) -> float:
    """Return how many independent trials the attempts at several tasks are worth, for the interval of a success rate.

    Attempts at one task resemble each other: an agent that always does the same learns nothing from a second attempt. The
    number of attempts is divided by the design effect (L. Kish, "Survey Sampling", 1965, section 5.4), estimated from how
    far the tasks' successes lie from what the overall rate predicts. With one attempt a task this is the number of tasks.

    Args:
        attempts: For each task (successes, attempts).
    """
    total = sum(n for _, n in attempts)
    rate = sum(c for c, _ in attempts) / total
    if len(attempts) == 1:
        return float(total)  # the one task is all there is to know about
    if rate in (0, 1):
        return float(len(attempts))  # nothing varies, so nothing says that the attempts are independent
    effect = sum((c - rate * n) ** 2 for c, n in attempts) / (total * rate * (1 - rate))
    return total / max(1.0, effect)


def success_rate(attempts: Sequence[tuple[int, int]]) -> Interval:
    """Return a success rate over tasks with Wilson's interval, for the size that the attempts are worth.

    Args:
        attempts: For each task the successes and the attempts.
    """
    successes, n = (sum(column) for column in zip(*attempts, strict=True))
    size = effective_size(attempts)
    return wilson(min(size, successes * size / n), size)


def bootstrap_mean(
    groups: Sequence[Sequence[float]], *, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> Interval:
    """Return the mean of all values with a percentile bootstrap interval that resamples groups (tasks).

    B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979), 1-26; whole groups as in
    A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their Application" (1997), section 3.8. For a paired comparison
    give the differences of the pairs.

    Args:
        groups: The values of each task; one value a task is the ordinary bootstrap.
        confidence: Coverage wanted, between 0 and 1.
        resamples: How many samples to draw.
        seed: Seed of the draw; the same values give the same interval.

    Raises:
        ValueError: If there are no groups, or an empty one.
    """
    if not groups or not all(len(group) for group in groups):
        raise ValueError("Expected at least one group and at least one value in each")
    sums = np.array([math.fsum(group) for group in groups])
    sizes = np.array([len(group) for group in groups])
    generator = np.random.default_rng(seed)
    means: list[np.ndarray] = []
    batch = max(1, _DRAWS_AT_ONCE // len(groups))
    for start in range(0, resamples, batch):
        drawn = generator.integers(len(groups), size=(min(batch, resamples - start), len(groups)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [(1 - confidence) / 2, (1 + confidence) / 2])
    value = math.fsum(sums) / int(sizes.sum())
    return Interval(value, float(low), float(high))


def pass_at_k(n: int, successes: int, k: int) -> float:
    """Return the chance that at least one of ``k`` attempts succeeds, without bias from ``n >= k`` attempts.

    M. Chen et al., "Evaluating large language models trained on code" (2021), equation 1: 1 - C(n - c, k) / C(n, k).

    Raises:
        ValueError: Unless 0 <= successes <= n and 1 <= k <= n.
    """
    _check_attempts(n, successes, k)
    return 1 - math.comb(n - successes, k) / math.comb(n, k)


def pass_hat_k(n: int, successes: int, k: int) -> float:
    """Return the chance that all of ``k`` attempts succeed (pass^k), without bias from ``n >= k`` attempts.

    S. Yao et al., "tau-bench: A benchmark for tool-agent-user interaction in real-world domains" (2024), section 3:
    C(c, k) / C(n, k).

    Raises:
        ValueError: Unless 0 <= successes <= n and 1 <= k <= n.
    """
    _check_attempts(n, successes, k)
    return math.comb(successes, k) / math.comb(n, k)


def _check_attempts(n: int, successes: int, k: int) -> None:
    if not (0 <= successes <= n and 1 <= k <= n):
        raise ValueError(f"Expected 0 <= successes <= n and 1 <= k <= n, got n={n}, successes={successes}, k={k}")


def paired_difference(both: float, only_a: float, only_b: float, neither: float, confidence: float = 0.95) -> Interval:
    """Return the difference of two success rates on the same tasks, B minus A, with Newcombe's score interval.

    R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on paired data",
    Statistics in Medicine 17 (1998), 2635-2650, method 10. It has a width also where the runs do not differ.

    Args:
        both: Pairs in which both succeeded; fractions where the pairs are not independent.
        only_a: Pairs in which only A succeeded.
        only_b: Pairs in which only B succeeded.
        neither: Pairs in which neither did.
        confidence: Coverage wanted, between 0 and 1.

    Raises:
        ValueError: If a count is negative or there are no pairs.
    """
    n = both + only_a + only_b + neither
    if min(both, only_a, only_b, neither) < 0 or not n > 0:
        raise ValueError(f"Expected counts of at least 0 and a pair, got {both}, {only_a}, {only_b}, {neither}")
    a, b = wilson(both + only_a, n, confidence), wilson(both + only_b, n, confidence)
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    cross = both * neither - only_a * only_b
    corrected = min(cross, 0.0) or max(cross - n / 2, 0.0)
    phi = corrected / math.sqrt(margins) if margins else 0.0

    def distance(b_side: float, a_side: float) -> float:
        return math.sqrt(max(0.0, b_side**2 - 2 * phi * b_side * a_side + a_side**2))

    value = b.value - a.value
    return Interval(
        value, value - distance(b.value - b.low, a.high - a.value), value + distance(b.high - b.value, a.value - a.low)
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """Return the two-sided p-value of the exact McNemar test on paired successes.

    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages", Psychometrika
    12 (1947), 153-157; exact form: the sign test on the pairs that differ.

    Args:
        only_a: Pairs in which only A succeeded.
        only_b: Pairs in which only B succeeded.

    Raises:
        ValueError: On a negative count.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"Expected counts of at least 0, got {only_a} and {only_b}")
    n = only_a + only_b
    tail = term = 1  # the binomial coefficients of n up to the smaller count
    for i in range(min(only_a, only_b)):
        term = term * (n - i) // (i + 1)
        tail += term
    return min(1.0, 2 * tail / 2**n)


def t_interval(values: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Return the mean with Student's t interval, None for fewer than two values: one says nothing about its spread.

    "Student", "The probable error of a mean", Biometrika 6 (1908), 1-25: mean +- t(n - 1) s / sqrt(n).

    Example:
        >>> [round(x, 3) for x in t_interval([1.0, 2.0, 3.0])]
        [2.0, -0.484, 4.484]
    """
    if len(values) < 2:
        return None
    mean = float(np.mean(values))
    half = _t_quantile(confidence, len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Interval(mean, mean - half, mean + half)


def _t_quantile(confidence: float, degrees: int) -> float:
    """Return t with P(|T| < t) = confidence, by bisection."""
    low, high = 0.0, 1.0
    while _t_within(high, degrees) < confidence:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_within(middle, degrees) < confidence else (low, middle)
    return high


def _t_within(t: float, degrees: int) -> float:
    """Return P(|T| < t): M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(degrees))
    odd = degrees % 2 == 1
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for k in range(1, degrees // 2 + 1):
        total += term
        term *= math.cos(angle) ** 2 * (2 * k / (2 * k + 1) if odd else (2 * k - 1) / (2 * k))
    sine = math.sin(angle) * total
    return 2 / math.pi * (angle + sine) if odd else sine
