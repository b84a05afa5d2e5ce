# SPDX-License-Identifier: MIT
"""gprof's cost: n log n, and far less than GNU's.

Time is the processor's own, and bounds are wide; `make bench-gprof` shows the figures.  A host that
does much else can double a time: what failed by time is judged by instructions, which it cannot.
"""

import re
import subprocess
from pathlib import Path

import pytest
from assay import viewers
from gprof import speed
from gprof.gmon import GNU, GPROF

FEW, MANY = 2000, 16_000
RUNS = 2
TRIES = 4  # By time alone.
MOST = 25  # How much more eight times the functions may be: by n log n it is 10 times, or 64.


def least(*arguments: str | Path) -> speed.Cost:
    return min(speed.measure(GPROF, *arguments) for _ in range(RUNS))


def instructions(arguments: list[str | Path]) -> int:
    """As valgrind counts them, which takes fifty times as long."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", GPROF,
                           "-b", *arguments], check=True, text=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def is_so_by_time(few: list[str | Path], many: list[str | Path]) -> bool:
    return least(*many).seconds < MOST * max(least(*few).seconds, 0.01)


def is_as_n_log_n(few: list[str | Path], many: list[str | Path]) -> bool:
    if is_so_by_time(few, many):
        return True
    if viewers.missing("valgrind"):
        return any(is_so_by_time(few, many) for _ in range(TRIES))
    return instructions(many) < MOST * instructions(few)


@pytest.mark.parametrize(("graph", "options"), [
    ("layers", []), ("cycle", []), ("cycle", ["-C", "5"]), ("events", [])], ids=str)
def test_cost_grows_as_n_log_n(graph: str, options: list[str], tmp_path: Path) -> None:
    few = [*options, *speed.make_files(tmp_path, FEW, graph)]
    many = [*options, *speed.make_files(tmp_path, MANY, graph)]
    assert is_as_n_log_n(few, many)
    assert least(*many).mib < 40


def test_gnu_needs_five_times_as_long(tmp_path: Path) -> None:
    """On a graph of one great cycle; it is ended, since it would need forty times as long."""
    files = speed.make_files(tmp_path, MANY, "cycle")
    ours = least(*files)
    theirs = speed.measure(GNU, *files, limit=2 * speed.FACTOR * ours.seconds)
    assert theirs.is_ended and theirs.seconds >= speed.FACTOR * ours.seconds
    assert theirs.mib > ours.mib
