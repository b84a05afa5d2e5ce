# SPDX-License-Identifier: MIT
"""shares.py lets pass what chance makes, and nothing else."""

import random

import pytest

from prof import shares

TRUTH = {"ten": 10, "twenty": 20, "thirty": 30, "forty": 40}


def draw(samples: int, truth: dict[str, int] | None = None) -> dict[str, int]:
    random_, names = random.Random(samples), list(TRUTH)
    drawn = random_.choices(names, [(truth or TRUTH)[name] for name in names], k=samples)
    return {name: drawn.count(name) for name in names}


@pytest.mark.parametrize("samples", [1, 30, 100, 1000, 100_000])
def test_shares_that_are_true(samples: int) -> None:
    shares.check(draw(samples), TRUTH)


def test_shares_that_are_not() -> None:
    for counts in (draw(100_000, TRUTH | {"ten": 12, "forty": 38}), draw(1000) | {"other": 30}):
        with pytest.raises(AssertionError):
            shares.check(counts, TRUTH)


def count_times(random_: random.Random, length: float) -> int:
    """Of a clock whose intervals are 1 on average."""
    times, now = -1, 0.0
    while now <= length:
        now += random_.uniform(0.5, 1.5)
        times += 1
    return times


@pytest.mark.parametrize("length", [1, 10, 1000])
def test_times(length: int) -> None:
    random_ = random.Random(length)
    for _ in range(1000 if length < 1000 else 100):
        shares.check_times(count_times(random_, length), length)
    with pytest.raises(AssertionError):
        shares.check_times(2 * length + 3, length)


def test_few() -> None:
    shares.check_few(2, 60, 0.01)
    shares.check_few(130, 10_000, 0.01)
    for part, whole in (6, 60), (160, 10_000):
        with pytest.raises(AssertionError):
            shares.check_few(part, whole, 0.01)


def test_chi_square_of_one_in_a_million() -> None:
    """The formula, which is an approximation, against what is exact."""
    for free, exact in (4, 33.38), (20, 65.42), (40, 97.65):
        assert exact <= shares.critical(free) < 1.06 * exact
