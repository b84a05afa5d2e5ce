# SPDX-License-Identifier: MIT
"""<prof/collector.h>: two collectors in one program, each of which knows its own target alone."""

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, unix
from assay.files import Files, Get, Put
from libprof.gmon_reader import Gmon, parse, pcs, values
from libprof.test_library import check_sums
from prof import shares

HERE = Path(__file__).parent
LIB = HERE.parent / "lib"
FLAGS = ("-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{LIB}", f"-I{LIB}/unix")
PERIODIC = 0  # The kind of a sample of time in user mode.
NAME = 0x22


class Half(NamedTuple):
    rate: int
    truth: dict[str, int]  # Milliseconds in each function, of each round.


FIRST, SECOND = Half(1000, {"left": 3, "right": 1}), Half(400, {"left": 1, "right": 4})
HALVES = {"one.out": FIRST, "two.out": SECOND, "three.out": FIRST, "four.out": SECOND}


class Run(NamedTuple):
    functions: list[tuple[int, str]]
    files: dict[str, Gmon]
    used_us: dict[str, int]

    def samples(self, file: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for pc, count in pcs(self.files[file], PERIODIC).items():
            name = [name for start, name in self.functions if start <= pc][-1]
            found[name] = found.get(name, 0) + count
        return found


@pytest.fixture(name="run", scope="module")
def run_fixture(tmp_path_factory) -> Run:
    folder = tmp_path_factory.mktemp("collectors")
    program = folder / "collectors"
    subprocess.run([OUT / "sdk/bin/ux-cc", *FLAGS, HERE / "programs/collectors.c",
                    LIB / "unix/check_unix.c", "-o", program, "-lprof1", "-lnetname"], check=True)
    listing = subprocess.run(["nm", "-n", "--defined-only", program], check=True, text=True,
                             capture_output=True).stdout
    words = [line.split() for line in listing.splitlines()]
    result = unix.run("cd /tmp; ./collectors", limit=40, files=Files(
        put=(Put(program, "/tmp/collectors"),),
        get=tuple(Get(f"/tmp/{name}", folder / name) for name in HALVES)))
    assert (result.outcome, result.status) == ("exit", 0), result.output.decode()
    used = dict(line.split() for line in result.output.decode().splitlines())
    return Run([(int(at, 16), name) for at, kind, name in words if kind in "tT"],
               {name: parse((folder / name).read_bytes()) for name in HALVES},
               {name: int(used[name]) for name in HALVES})


@pytest.mark.parametrize("name", HALVES)
def test_each_histogram_is_of_its_own_process(run: Run, name: str) -> None:
    """The processes do the same in other proportions: samples of one in the other's would show."""
    counts = run.samples(name)
    assert sum(counts.values()) > 100
    shares.check({place: counts.get(place, 0) for place in ("left", "right")}, HALVES[name].truth)
    check_sums(run.files[name])


@pytest.mark.parametrize("name", HALVES)
def test_each_has_its_own_rate(run: Run, name: str) -> None:
    """And all samples of the time that its process has used, by the process's own account."""
    counts, half = run.samples(name), HALVES[name]
    assert run.files[name].histograms[0][2] == half.rate
    shares.check_times(sum(counts.values()), run.used_us[name] * half.rate / 1e6, in_turn=True)


def test_files_are_of_two_processes(run: Run) -> None:
    """By their numbers, which the files say, and by what the kernel calls their tasks."""
    pids = [values(gmon)[7] for gmon in run.files.values()]
    tasks = [values(gmon)[8] for gmon in run.files.values()]
    assert len(set(pids)) == len(set(tasks)) == len(HALVES)
    assert all(any(source == NAME for source, _, _ in gmon.arcs) for gmon in run.files.values())
