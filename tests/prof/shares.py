# SPDX-License-Identifier: MIT
"""Whether counts of samples agree with shares that are known.

Of n samples, each of which finds a function with probability p, the function has n p, give or take
the standard error sqrt(n p (1 - p)).  What has fewer than 25 expected samples counts together.
"""

from collections import Counter
from math import sqrt
from typing import Mapping

ENOUGH = 25
Z_9999 = 3.719  # The normal distribution's quantile of 99.99 percent.


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
    return {place: (found[place] - n * p) / max(sqrt(n * p * (1 - p)), 1.0)
            for place, p in expected.items()}


def worst(counts: Mapping[str, int], truth: Mapping[str, float]) -> tuple[float, str]:
    return max((abs(error), place) for place, error in errors(counts, truth).items())


def chi_square(counts: Mapping[str, int], truth: Mapping[str, float]) -> float:
    """As a part of what it may be: chance alone makes more than 1 of it once in 10,000 times."""
    found, expected = pooled(counts, truth)
    n, free = sum(found.values()), len(expected) - 1
    value = sum((found[place] - n * p) ** 2 / (n * p) for place, p in expected.items() if p > 0)
    # Wilson and Hilferty's approximation of the quantile.
    return value / (free * (1 - 2 / (9 * free) + Z_9999 * sqrt(2 / (9 * free))) ** 3)


def difference(one: int, of_one: int, other: int, of_other: int) -> float:
    """Of two shares that were both found by samples, in standard errors."""
    p = (one + other) / (of_one + of_other)
    error = sqrt(p * (1 - p) * (1 / of_one + 1 / of_other))
    return abs(one / of_one - other / of_other) / error
