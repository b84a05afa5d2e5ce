# SPDX-License-Identifier: MIT
"""Whether counts of samples agree with what is known: the one place that says how far they may be
off.  All tests of samples ask here, for where samples fall changes with each build.

Of n samples, each of which finds a function with probability p, the function has n p, give or take
the standard error sqrt(n p (1 - p)).  What has fewer than 25 expected samples counts together.
"""

from collections import Counter
from math import sqrt
from typing import Mapping

ERRORS = 5  # Chance alone takes a count further once in 1.7 million times.
POOLED = 4  # For all samples of a proof, which are compared once: once in 16,000 times.
ENOUGH = 25
ONE_IN_A_MILLION = 4.753  # Quantiles of the normal distribution,
ONE_IN_10_000 = 3.719  # also for all samples of a proof.


def pooled(counts: Mapping[str, int], truth: Mapping[str, float]) -> tuple[Counter, Counter]:
    """Both with the small ones as one; `truth` in any unit, as probabilities afterwards."""
    n, whole = sum(counts.values()), sum(truth.values())
    found, expected = Counter(), Counter()
    for name in set(counts) | set(truth):
        share = truth.get(name, 0) / whole
        place = name if n * share >= ENOUGH else "(small)"
        found[place] += counts.get(name, 0)
        expected[place] += share
    return found, expected


def errors(counts: Mapping[str, int], truth: Mapping[str, float]) -> dict[str, float]:
    """How many standard errors each place is off."""
    found, expected = pooled(counts, truth)
    n = sum(found.values())
    return {place: (found[place] - n * p) / sqrt(max(n * p * (1 - p), 1.0))
            for place, p in expected.items()}


def worst(counts: Mapping[str, int], truth: Mapping[str, float]) -> tuple[float, str]:
    return max((abs(error), place) for place, error in errors(counts, truth).items())


def check(counts: Mapping[str, int], truth: Mapping[str, float], most: float = ERRORS) -> None:
    assert worst(counts, truth)[0] <= most, (errors(counts, truth), counts)


def check_few(part: int, whole: int, share: float) -> None:
    """That no more than this share of all are of one kind."""
    allowed = whole * share + ERRORS * sqrt(whole * share * (1 - share))
    assert part <= allowed, (part, whole, share)


def check_times(samples: int, expected: float, in_turn: bool = False) -> None:
    """That a clock of random intervals took so many: each is as likely half as one and a half of
    the mean, so that their number has a standard error of sqrt(n / 12); at either end is a part
    of one.  Those of CPUs that run in turn have no memory, and a standard error of sqrt(n)."""
    variance = expected if in_turn else expected / 12
    assert abs(samples - expected) <= ERRORS * sqrt(variance) + 1, (samples, expected)


def critical(free: int, quantile: float = ONE_IN_A_MILLION) -> float:
    """What chi-square exceeds by chance that seldom, with so many degrees of freedom: Wilson and
    Hilferty's approximation."""
    part = 2 / (9 * free)
    return free * (1 - part + quantile * sqrt(part)) ** 3


def chi_square(counts: Mapping[str, int], truth: Mapping[str, float]) -> float:
    """As a part of what it may be for all samples of a proof."""
    found, expected = pooled(counts, truth)
    n, free = sum(found.values()), len(expected) - 1
    value = sum((found[place] - n * p) ** 2 / (n * p) for place, p in expected.items() if p > 0)
    return value / critical(free, ONE_IN_10_000)


def difference(one: int, of_one: int, other: int, of_other: int) -> float:
    """Of two shares that were both found by samples, in standard errors."""
    p = (one + other) / (of_one + of_other)
    error = sqrt(p * (1 - p) * (1 / of_one + 1 / of_other))
    return abs(one / of_one - other / of_other) / error
