"""The statistics, against values worked out by hand or published, and by their laws."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backtrail.benchmarks.statistics import (
    bootstrap_mean,
    effective_size,
    mcnemar,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    wilson,
)

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
attempts = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=30
)
groups = st.lists(st.lists(st.floats(-100, 100), min_size=1, max_size=4), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_intervals(successes, n, low, high):
    found = wilson(successes, n)
    assert found.value == successes / n
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@given(counts)
def test_wilson_holds_its_rate_and_is_symmetric(count):
    successes, n = count
    found, mirrored = wilson(successes, n), wilson(n - successes, n)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-12)
    assert found.low < found.high


@given(counts, st.integers(2, 10))
def test_wilson_narrows_with_more_trials(count, times):
    successes, n = count
    few, many = wilson(successes, n), wilson(successes * times, n * times)
    assert many.high - many.low < few.high - few.low


@pytest.mark.parametrize("arguments", [(1, 0), (-1, 5), (6, 5), (1, 2, 1.0), (1, 2, 0.0)])
def test_wilson_refuses_nonsense(arguments):
    with pytest.raises(ValueError, match="Expected 0 <= successes <= n"):
        wilson(*arguments)


def test_attempts_that_always_agree_are_worth_one_each_task():
    assert effective_size([(3, 3), (0, 3), (3, 3), (0, 3)]) == pytest.approx(4)
    assert effective_size([(3, 3), (3, 3)]) == 2  # all won: nothing shows that they are independent


def test_attempts_as_different_as_chance_has_it_are_worth_all():
    # Two throws of a fair coin at each of four tasks: two heads, one, one, none.
    assert effective_size([(2, 2), (1, 2), (1, 2), (0, 2)]) == pytest.approx(8)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=50))
def test_single_attempts_are_worth_their_number(wins):
    assert effective_size([(win, 1) for win in wins]) == pytest.approx(len(wins))


@given(attempts)
def test_attempts_are_never_worth_more_than_their_number(tried):
    total = sum(n for _, n in tried)
    assert 0 < effective_size(tried) <= total


def test_bootstrap_of_known_values():
    found = bootstrap_mean([[value] for value in range(1, 101)])
    assert found.value == 50.5
    # The mean of 100 draws is nearly normal with standard deviation sqrt((100**2 - 1) / 12) / 10 = 2.887.
    assert found.low == pytest.approx(50.5 - 1.96 * 2.887, abs=0.3)
    assert found.high == pytest.approx(50.5 + 1.96 * 2.887, abs=0.3)


def test_bootstrap_resamples_whole_tasks():
    single = bootstrap_mean([[0.0], [1.0]] * 20)
    repeated = bootstrap_mean([[0.0] * 5, [1.0] * 5] * 20)
    assert repeated == single  # five equal attempts a task say no more than one


@given(groups, st.integers(0, 3))
def test_bootstrap_lies_within_the_values_and_is_repeatable(values, seed):
    found = bootstrap_mean(values, resamples=200, seed=seed)
    flat = [value for group in values for value in group]
    assert min(flat) - 1e-9 <= found.low <= found.high <= max(flat) + 1e-9
    assert found.value == pytest.approx(math.fsum(flat) / len(flat))
    assert bootstrap_mean(values, resamples=200, seed=seed) == found


@pytest.mark.parametrize("values", [[], [[1.0], []]])
def test_bootstrap_refuses_nothing(values):
    with pytest.raises(ValueError, match="at least one"):
        bootstrap_mean(values)


def test_bootstrap_of_many_tasks_in_batches():
    found = bootstrap_mean([[float(i % 2)] for i in range(3553)], resamples=1000)
    assert found.low == pytest.approx(0.5 - 1.96 * 0.5 / math.sqrt(3553), abs=0.003)


@pytest.mark.parametrize(
    ("n", "successes", "k", "at_least_one", "all_of_them"),
    [
        (5, 2, 1, Fraction(2, 5), Fraction(2, 5)),
        (5, 2, 2, 1 - Fraction(3, 10), Fraction(1, 10)),
        (5, 2, 4, Fraction(1), Fraction(0)),
        (4, 0, 3, Fraction(0), Fraction(0)),
        (4, 4, 4, Fraction(1), Fraction(1)),
    ],
)
def test_pass_at_k_and_pass_hat_k_by_hand(n, successes, k, at_least_one, all_of_them):
    assert pass_at_k(n, successes, k) == pytest.approx(float(at_least_one))
    assert pass_hat_k(n, successes, k) == pytest.approx(float(all_of_them))


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_counts_subsets(case):
    n, successes, k = case
    subsets = list(combinations([True] * successes + [False] * (n - successes), k))
    assert pass_at_k(n, successes, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    assert pass_hat_k(n, successes, k) == pytest.approx(sum(map(all, subsets)) / len(subsets))


@pytest.mark.parametrize("arguments", [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)])
def test_pass_at_k_refuses_nonsense(arguments):
    for formula in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="1 <= k <= n"):
            formula(*arguments)


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [(0, 0, 1.0), (1, 1, 1.0), (0, 5, 2 / 32), (5, 0, 2 / 32), (2, 8, 2 * (1 + 10 + 45) / 1024), (0, 6, 2 / 64)],
)
def test_mcnemar_by_hand(only_a, only_b, p):
    assert mcnemar(only_a, only_b) == pytest.approx(p)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_a_symmetric_probability(only_a, only_b):
    p = mcnemar(only_a, only_b)
    assert 0 <= p <= 1
    assert p == mcnemar(only_b, only_a)


@given(*[st.integers(0, 60)] * 4)
def test_paired_difference_has_a_width_and_is_symmetric(both, only_a, only_b, neither):
    if both + only_a + only_b + neither == 0:
        return
    found = paired_difference(both, only_a, only_b, neither)
    mirrored = paired_difference(both, only_b, only_a, neither)
    assert found.value == pytest.approx((only_b - only_a) / (both + only_a + only_b + neither))
    assert -1 - 1e-9 <= found.low < found.value + 1e-9
    assert found.low < found.high <= 1 + 1e-9
    assert (found.low, found.high) == (pytest.approx(-mirrored.high, abs=1e-9), pytest.approx(-mirrored.low, abs=1e-9))


def test_paired_difference_covers_what_it_promises():
    generator = np.random.default_rng(0)
    shares = [0.3, 0.05, 0.15, 0.5]  # the true difference is 0.1
    tables = generator.multinomial(60, shares, size=2000)
    covered = sum(low <= 0.1 <= high for _, low, high in (paired_difference(*map(int, table)) for table in tables))
    assert 0.94 <= covered / len(tables) <= 0.98


def test_paired_difference_refuses_nothing():
    for counts in ((0, 0, 0, 0), (1, -1, 0, 0)):
        with pytest.raises(ValueError, match="at least 0 and a pair"):
            paired_difference(*counts)


def test_mcnemar_refuses_negative_counts():
    with pytest.raises(ValueError, match="at least 0"):
        mcnemar(-1, 2)
