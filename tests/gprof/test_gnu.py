# SPDX-License-Identifier: MIT
"""Against GNU gprof 2.40: the same numbers on random call graphs."""

import random
from pathlib import Path

import pytest
from gprof.gmon import (FUNCTION_BYTES, GNU, KERNEL, USER, Profile, make_program, output,
                        read_graph)

FUNCTIONS = 40
GRAPHS = 150  # At each of two places.


def random_profile(random_: random.Random, text: int) -> Profile:
    """Ticks and calls among some of the functions; few nodes and many arcs make cycles."""
    n = random_.randint(2, FUNCTIONS)
    bins = [0] * (FUNCTIONS * FUNCTION_BYTES // 2)
    for _ in range(random_.randint(1, 3 * n)):
        bins[random_.randrange(n * FUNCTION_BYTES // 2)] += random_.choice([1, 7, 300, 65535])
    bins = [min(count, 65535) for count in bins]
    arcs = {}
    for _ in range(random_.randint(1, 2 * n)):
        from_, to = random_.randrange(n), random_.randrange(n)
        if random_.random() < 0.7:
            from_, to = sorted((from_, to))
        place = (text + from_ * FUNCTION_BYTES + random_.randrange(1, FUNCTION_BYTES),
                 text + to * FUNCTION_BYTES + random_.choice([0, 0, 5]))
        arcs[place] = random_.choice([1, 2, 3, 1000, 1 << 30])
    return Profile(text, bins, [(*place, count) for place, count in arcs.items()])


def differences(program: Path, file: Path, *options: str) -> list[str]:
    ours = read_graph(output("-b", *options, program, file))
    if not any(option.startswith("-q") for option in options):
        options = ("-q", *options)
    theirs = read_graph(output("-b", *options, program, file, gprof=GNU))
    # GNU numbers a cycle that nobody outside calls, and then does not print its entry.
    uncalled = {name for name, entry in ours.items() if name[:6] == "cycle " and not entry.calls}
    found = [f"{name}: {ours.get(name)}, GNU's {theirs.get(name)}"
             for name in sorted(ours.keys() ^ theirs.keys()) if name not in uncalled]
    for name in ours.keys() & theirs.keys():
        one, other = ours[name], theirs[name]
        if abs(one.self - other.self) > 0.011 or abs(one.child - other.child) > 0.011 or \
                (one.calls, one.self_calls) != (other.calls, other.self_calls):
            found.append(f"{name}: {one}, GNU's {other}")
    return found


@pytest.mark.parametrize("text", [USER, KERNEL], ids=["user", "kernel"])
def test_random_graphs(tmp_path: Path, text: int) -> None:
    program = make_program(tmp_path / "program", [f"f{i}" for i in range(FUNCTIONS)], text)
    file = tmp_path / "gmon.out"
    for seed in range(GRAPHS):
        file.write_bytes(random_profile(random.Random(seed), text).gnu())
        assert not differences(program, file), f"seed {seed}"
