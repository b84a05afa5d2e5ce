# SPDX-License-Identifier: MIT
"""What is searched for in graphs, beside all that there is to try: -C's arcs, guessed stacks."""

import itertools
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from gprof.gmon import FUNCTION_BYTES, USER, Profile, make_program, output

Arc = tuple[int, int]


def place(function: int, into: int = 0) -> int:
    return USER + function * FUNCTION_BYTES + into


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory):
    """Makes a program of so many functions, each size once."""
    folder, made = tmp_path_factory.mktemp("programs"), {}

    def program(functions: int) -> Path:
        if functions not in made:
            made[functions] = make_program(folder / f"of{functions}",
                                           [f"f{i}" for i in range(functions)])
        return made[functions]

    return program


def write(path: Path, functions: int, calls: dict[Arc, int], samples: dict[int, int]) -> Path:
    bins = [0] * (functions * FUNCTION_BYTES // 2)
    for function, count in samples.items():
        bins[function * FUNCTION_BYTES // 2] = count
    path.write_bytes(Profile(USER, bins, [(place(one, 5), place(other), count)
                                          for (one, other), count in calls.items()]).gnu())
    return path


# ---------------- -C ----------------

def largest_cycle(functions: int, arcs: set[Arc]) -> int:
    """By who reaches whom."""
    called = {one: {other for caller, other in arcs if caller == one} for one in range(functions)}
    reached = {}
    for one in range(functions):
        seen, more = set(), [one]
        while more:
            more += [other for other in called[more.pop()] if other not in seen and
                     not seen.add(other)]
        reached[one] = seen
    return max(sum(other in reached[one] and one in reached[other] for other in range(functions))
               for one in range(functions)) or 1


def taken_out(text: str) -> set[Arc]:
    return {(int(one), int(other)) for one, other in
            re.findall(r"^-C: arc taken out: f(\d+) calls f(\d+) ", text, re.MULTILINE)}


def fewest(functions: int, arcs: set[Arc], size: int) -> int:
    return next(n for n in itertools.count() for out in itertools.combinations(arcs, n)
                if largest_cycle(functions, arcs - set(out)) < size)


@pytest.mark.parametrize("seed", range(40))
def test_as_few_arcs_as_there_can_be(program, tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    functions, size = choose.randint(3, 6), choose.randint(2, 4)
    arcs = {(one, other) for one in range(functions) for other in range(functions)
            if one != other and choose.random() < 0.35}
    file = write(tmp_path / "gmon.out", functions, dict.fromkeys(arcs, 3), {0: 1})
    out = taken_out(output("-b", "-C", str(size), program(functions), file))
    assert out <= arcs and largest_cycle(functions, arcs - out) < size
    assert len(out) == fewest(functions, arcs, size)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [2, 6])
def test_of_very_many_arcs_few(program, tmp_path: Path, size: int, seed: int) -> None:
    """Some circles have nothing in common but that calls lead from one to the other and, by a few
    arcs, back: those few are enough, and one of each circle."""
    choose, functions, circles = random.Random(seed), 120, 10
    length = functions // circles
    ring = {(i * length + j, i * length + (j + 1) % length)
            for i in range(circles) for j in range(length)}
    arcs = set(ring)
    while len(arcs) < 420:
        one, other = sorted(choose.sample(range(functions), 2))
        if one // length != other // length:
            arcs.add((one, other))
    back = {(choose.randrange(100, 120), choose.randrange(20)) for _ in range(4)}
    calls = {arc: choose.randrange(1, 50) for arc in arcs | back}
    names = list(range(functions))
    choose.shuffle(names)  # The order of the functions tells nothing.
    calls = {(names[one], names[other]): count for (one, other), count in calls.items()}
    file = write(tmp_path / "gmon.out", functions, calls, {0: 1})
    out = taken_out(output("-b", "-C", str(size), program(functions), file))
    left = calls.keys() - out
    assert largest_cycle(functions, left) < size
    assert len(out) <= 2 * (circles + len(back))
    # None too many.
    assert all(largest_cycle(functions, left | {arc}) >= size for arc in out) or size > 2


# ---------------- Guessed stacks ----------------

def stacks_of(callers: dict[int, dict[int, int]], leaf: int, count: Fraction, path: tuple[int, ...]
              ) -> dict[tuple[int, ...], Fraction]:
    """All stacks that end in a path, with what of the samples each call would have."""
    open_ = {one: n for one, n in callers[path[-1]].items() if one not in path}
    if not open_:
        return {path: count}
    found = {}
    for one, n in open_.items():
        found |= stacks_of(callers, leaf, count * n / sum(open_.values()), (*path, one))
    return found


@pytest.mark.parametrize("seed", range(25))
def test_samples_are_dealt_out_by_calls(program, tmp_path: Path, seed: int) -> None:
    """Beside all stacks that there can be, with fractions: off by less than one at each call."""
    choose = random.Random(seed)
    functions = choose.randint(2, 7)
    calls = {(one, other): choose.randrange(1, 9) for one in range(functions)
             for other in range(functions) if choose.random() < 0.3}
    samples = {i: choose.choice([0, 1, 5, 1000, 60000]) for i in range(functions)}
    callers = {i: {one: n for (one, other), n in calls.items() if other == i}
               for i in range(functions)}
    file = write(tmp_path / "gmon.out", functions, calls, samples)
    lines = output("--view=folded", program(functions), file).splitlines()
    found = {}
    for line in lines:
        names, count = line.rsplit(" ", 1)
        path = tuple(int(name[1:]) for name in reversed(names.split(";")))
        found[path] = found.get(path, 0) + int(count)
    total = sum(samples.values())
    unit = -(-total // 100_000)
    for leaf, count in samples.items():
        assert sum(n for path, n in found.items() if path[0] == leaf) == count
        expected = stacks_of(callers, leaf, Fraction(count), (leaf,))
        assert {path for path in found if path[0] == leaf} <= expected.keys()
        for path, part in expected.items():
            assert abs(found.get(path, 0) - part) <= unit * len(path)


def test_very_many_callers_and_samples(program, tmp_path: Path) -> None:
    """Under a function that a thousand call: each of a thousand that it calls."""
    callers, below = 1000, 1000
    functions = callers + below + 1
    calls = {(1 + i, 0): 1 + i % 7 for i in range(callers)}
    calls |= {(0, 1 + callers + i): 3 for i in range(below)}
    samples = {1 + callers + i: 65535 for i in range(below)}
    file = write(tmp_path / "gmon.out", functions, calls, samples)
    lines = output("--view=folded", program(functions), file).splitlines()
    assert len(lines) < 150_000
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == 65535 * below
    share = sum(int(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("f7;"))
    assert share == pytest.approx(65535 * below * 7 / sum(1 + i % 7 for i in range(callers)),
                                  rel=0.1)
