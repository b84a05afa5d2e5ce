# SPDX-License-Identifier: MIT
"""gprof's cost: n log n, and far less than GNU's.

Time is the processor's own, and bounds are wide; `make bench-gprof` shows the figures.
"""

from pathlib import Path

import pytest
from gprof import speed
from gprof.gmon import GNU, GPROF

FEW, MANY = 2000, 16_000
RUNS = 2
TRIES = 4  # What else the host does may double a time; hardly four times one after the other.


def least(*arguments: str | Path) -> speed.Cost:
    return min(speed.measure(GPROF, *arguments) for _ in range(RUNS))


def is_as_n_log_n(few: list[str | Path], many: list[str | Path]) -> bool:
    return least(*many).seconds < 25 * max(least(*few).seconds, 0.01)


@pytest.mark.parametrize(("graph", "options"), [
    ("layers", []), ("cycle", []), ("cycle", ["-C", "5"]), ("events", [])], ids=str)
def test_cost_grows_as_n_log_n(graph: str, options: list[str], tmp_path: Path) -> None:
    """Eight times the functions: 10 times the time by n log n, 64 times if it were quadratic."""
    few = [*options, *speed.make_files(tmp_path, FEW, graph)]
    many = [*options, *speed.make_files(tmp_path, MANY, graph)]
    assert any(is_as_n_log_n(few, many) for _ in range(TRIES))
    assert least(*many).mib < 40


def test_gnu_needs_five_times_as_long(tmp_path: Path) -> None:
    """On a graph of one great cycle; it is ended, since it would need forty times as long."""
    files = speed.make_files(tmp_path, MANY, "cycle")
    ours = least(*files)
    theirs = speed.measure(GNU, *files, limit=2 * speed.FACTOR * ours.seconds)
    assert theirs.is_ended and theirs.seconds >= speed.FACTOR * ours.seconds
    assert theirs.mib > ours.mib
