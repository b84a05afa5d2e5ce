# SPDX-License-Identifier: MIT
"""Waits, which have lengths, and time as it passed (--flavor=wall): what ran and what waited.

The files are made here, of clients that wait for a server and of what it does meanwhile, so that it
is known what is left of each wait.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from gprof import perf_file
from gprof.gmon import FUNCTION_BYTES, GPROF, USER, make_program, output, run

FUNCTIONS = [f"f{i}" for i in range(8)]
CLOCK, RECEIVE, PAGE = 1, 0x20200, 0x40200  # Events.
CLIENT, SERVER = 7, 8  # Tasks, and labels.
PID = {CLIENT: 137, SERVER: 138}
PERIOD = 1_000_000
CLIENTS = 0x10  # In the options.


def address(function: int) -> int:
    return USER + function * FUNCTION_BYTES + 5


def of_client(*functions: int) -> list[int]:
    """As they stand behind a server's frames."""
    return [CLIENT << 32 | address(function) for function in functions]


def taken(event: int, task: int, stack: list[int], time: int, thread: int = 0) -> perf_file.Sample:
    return perf_file.Sample(event, PID[task], thread or PID[task], CLIENT, stack, time=time)


def wait(task: int, stack: list[int], begin: int, end: int, event: int = RECEIVE,
         thread: int = 0) -> tuple[perf_file.Sample, int]:
    return taken(event, task, stack, end, thread), end - begin


def sample(task: int, stack: list[int], time: int) -> tuple[perf_file.Sample, int]:
    return taken(CLOCK, task, stack, time), PERIOD


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    return make_program(tmp_path_factory.mktemp("program") / "prog", FUNCTIONS)


def write(path: Path, program: Path, samples: list[tuple[perf_file.Sample, int]],
          waits: bool = True) -> Path:
    length = len(FUNCTIONS) * FUNCTION_BYTES
    events = [perf_file.event(CLOCK, "periodic", PERIOD)]
    if waits:
        events += [perf_file.event(RECEIVE, "wait-receive", 1, length=True),
                   perf_file.event(PAGE, "wait-page", 1, length=True)]
    path.write_bytes(b"".join([
        perf_file.header(), *events, perf_file.counts(options=CLIENTS),
        *(perf_file.task(task, pid, f"p{pid}", []) for task, pid in PID.items()),
        *(perf_file.image(pid, USER, length, 0x1000, str(program)) for pid in PID.values()),
        *(perf_file.sample(one, period) for one, period in samples),
        perf_file.counts(options=CLIENTS, lost=0), perf_file.round_end()]))
    return path


def folded(program: Path, file: Path, flavor: str = "wall") -> Counter:
    lines = output("--view=folded", f"--flavor={flavor}", program, file).splitlines()
    return Counter({line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines})


def test_what_ran_and_what_waited(program: Path, tmp_path: Path) -> None:
    stack = [address(1), address(0)]
    file = write(tmp_path / "f", program, [
        sample(CLIENT, stack, 5_000_000), wait(CLIENT, stack, 6_000_000, 9_000_000),
        wait(CLIENT, stack, 9_500_000, 9_700_000, PAGE)])
    assert folded(program, file) == {"f0;f1": PERIOD, "f0;f1;wait-receive": 3_000_000,
                                     "f0;f1;wait-page": 200_000}
    assert folded(program, file, "wait-page") == {"f0;f1": 200_000}
    assert folded(program, file, "periodic") == {"f0;f1": 1}


def test_what_a_server_does_is_part_of_the_wait(program: Path, tmp_path: Path) -> None:
    """A wait of the server's and a sample; what is left is the client's own."""
    client = [address(1), address(0)]
    behind = of_client(1, 0)
    file = write(tmp_path / "f", program, [
        wait(CLIENT, client, 0, 10_000_000),
        wait(SERVER, [address(2), *behind], 2_000_000, 5_000_000, PAGE),
        sample(SERVER, [address(3), *behind], 6_000_000)])
    found = folded(program, file)
    assert found == {"f0;f1;wait-receive": 6_000_000, "f0;f1;f2;wait-page": 3_000_000,
                     "f0;f1;f3": PERIOD}
    assert sum(found.values()) == 10_000_000


def test_a_server_behind_a_server(program: Path, tmp_path: Path) -> None:
    """Its time is taken from the nearest wait alone, which counts in full towards the next."""
    behind = of_client(1, 0)
    middle = [address(2), *behind]
    inner = [address(4), SERVER << 32 | address(2), *behind]
    file = write(tmp_path / "f", program, [
        wait(CLIENT, [address(1), address(0)], 0, 10_000_000),
        wait(SERVER, middle, 1_000_000, 9_000_000),
        wait(SERVER, inner, 2_000_000, 5_000_000, PAGE, thread=9)])
    assert folded(program, file) == {
        "f0;f1;wait-receive": 2_000_000, "f0;f1;f2;wait-receive": 5_000_000,
        "f0;f1;f2;f4;wait-page": 3_000_000}


def test_too_much_is_taken_from_the_next_wait(program: Path, tmp_path: Path) -> None:
    """Two samples in a wait that is shorter than they stand for; but of no other thread's."""
    client, behind = [address(1), address(0)], of_client(1, 0)
    file = write(tmp_path / "f", program, [
        wait(CLIENT, client, 0, 1_500_000), wait(CLIENT, client, 2_000_000, 7_000_000),
        wait(CLIENT, [address(5), address(0)], 0, 3_000_000, thread=99),
        sample(SERVER, [address(3), *behind], 100_000),
        sample(SERVER, [address(3), *behind], 1_100_000)])
    assert folded(program, file) == {"f0;f1;wait-receive": 4_500_000, "f0;f1;f3": 2 * PERIOD,
                                     "f0;f5;wait-receive": 3_000_000}


@pytest.mark.parametrize("behind, time", [
    (of_client(6, 0), 1_000_000),        # Another stack,
    (of_client(1), 1_000_000),           # a part of it,
    (of_client(1, 0, 0), 1_000_000),     # more than it,
    (of_client(1, 0), 20_000_000),       # or another time.
])
def test_nothing_is_taken_from_other_waits(program: Path, tmp_path: Path, behind: list[int],
                                           time: int) -> None:
    file = write(tmp_path / "f", program, [
        wait(CLIENT, [address(1), address(0)], 0, 10_000_000),
        sample(SERVER, [address(3), *behind], time)])
    assert folded(program, file)["f0;f1;wait-receive"] == 10_000_000


def test_tables_have_times(program: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "f", program, [
        wait(CLIENT, [address(1), address(0)], 0, 1_500_000_000),
        wait(CLIENT, [address(2), address(0)], 0, 500_000_000, PAGE)])
    flat = output("-b", "-p", "--flavor=wall", program, file)
    assert re.search(r"^ *75\.0\d* +1\.5\d* +1\.5\d* .*f1$", flat, re.M), flat
    graph = output("-b", "-q", "--flavor=wait-page", program, file)
    assert re.search(r"0\.50* +.*f2", graph), graph


def test_without_waits_it_is_said(program: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "f", program, [sample(CLIENT, [address(1)], 5)], waits=False)
    done = run(GPROF, "--view=folded", "--flavor=wall", program, file)
    assert done.returncode == 1
    assert "the profile has no waits; monctl -on periodic,wait -record has them" in done.stderr
