# SPDX-License-Identifier: MIT
"""Ends of programs: whatever their threads are doing, the status is right and nothing is left."""

import pytest

STATUS = 7
BAD_ACCESS, BAD_INSTRUCTION = 129, 130

CASES = {
    "at_once": STATUS,
    "after_a_while": STATUS,
    "by_another_thread": STATUS,
    "by_an_exception": BAD_INSTRUCTION,
    "thread_by_thread": 0,
    "by_all_at_once": STATUS,
    "by_a_thread_without_code": BAD_ACCESS,
}

MACHINES = [(1, 0), (2, 0), (4, 0), (2, 2), (2, 3), (4, 4), (4, 5)]  # CPUs and seed.


def check(result, status: int) -> None:
    assert (result.outcome, result.status) == ("exit", status)
    assert not [count for count in result.counts if count.before != count.after]
    assert result.output == b""


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("cpus", "seed"), [(2, 1)])
def test_end(machine, name: str, cpus: int, seed: int):
    """One program, alone."""
    check(machine([f"kern/exits {name}"], cpus=cpus, seed=seed, limit=20), CASES[name])


@pytest.mark.parametrize(("cpus", "seed"), MACHINES)
def test_ends_side_by_side(machine, cpus: int, seed: int):
    """All at the same time; the status is the first one's."""
    programs = [f"kern/exits {name}" for name in CASES]
    check(machine(programs, cpus=cpus, seed=seed, limit=20), STATUS)
