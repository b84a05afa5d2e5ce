# SPDX-License-Identifier: MIT
"""A profile of a program that ran in the machine, printed there by /bin/gprof and on the host."""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, unix
from assay.files import Files, Get, Put
from gprof.gmon import GNU, GPROF, output, read_flat, read_graph

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "user/work"
COMMANDS = """\
cd /tmp
work 30 > /dev/null
gprof -b /bin/work gmon.out > tables
gprof -b -c -z -N /bin/work gmon.out > events
gprof -b -x forty /bin/work gmon.out > exact
gprof /bin/work /bin/work 2> refused; echo status $?
gprof -l /bin/work gmon.out 2>> refused; echo status $?
"""
FILES = ("gmon.out", "tables", "events", "exact", "refused")
SHARES = {"ten": 10, "twenty": 20, "thirty": 30, "forty": 40}
COUNTING = ("mcount", "mcountaux")


class Ran(NamedTuple):
    folder: Path
    output: str

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()

    def gprof(self, *options: str, gprof: str | Path = GPROF) -> str:
        return output("-b", *options, "work", "gmon.out", gprof=gprof, cwd=self.folder)


@pytest.fixture(name="ran", scope="module")
def ran_fixture(tmp_path_factory) -> Ran:
    folder = tmp_path_factory.mktemp("guest")
    subprocess.run([OUT / "sdk/bin/ux-cc", "-pg", "-g", "-O1", "-o", folder / "work",
                    WORK / "slowprog.c"], check=True)
    files = Files(put=(Put(folder / "work", "/bin/work"),),
                  get=tuple(Get(f"/tmp/{name}", folder / name) for name in FILES))
    result = unix.run(COMMANDS, files=files, icount=True)
    assert result.outcome == "exit", result.output
    return Ran(folder, result.output.decode())


def test_guest_and_host_print_the_same(ran: Ran) -> None:
    assert ran.text("tables") == ran.gprof()
    assert ran.text("events") == ran.gprof("-c", "-z", "-N")
    assert "status 1\nstatus 1\n" in ran.output
    assert ran.text("refused").splitlines() == [
        "gprof: /bin/work: is not a profile, or is damaged: its header fits no kind of gmon.out",
        "gprof: -l: lines are not known here: take the profile to the host"]


def test_shares_are_as_the_names_say(ran: Ran) -> None:
    flat = read_flat(ran.gprof("-N"))
    total = sum(flat[name][0] for name in SHARES)
    for name, share in SHARES.items():
        error = 3 * (share / 100 * (1 - share / 100) / total) ** 0.5
        assert abs(flat[name][0] / total - share / 100) <= error
        assert flat[name][1] == 30, "calls are exact"


def test_addresses_sum_to_the_routine(ran: Ran) -> None:
    """Bytes in the guest, instructions on the host; the counts are the same."""
    row = re.compile(r"^([0-9a-f]{8}) +\+\d+ +(\d+) ", re.MULTILINE)
    guest, host = row.findall(ran.text("exact")), row.findall(ran.gprof("-x", "forty"))
    assert guest == host and guest
    assert sum(int(count) for _, count in guest) == read_flat(ran.gprof("-N"))["forty"][0]


def test_gnu_says_the_same(ran: Ran) -> None:
    """But for what it drops: mcount's ticks, the kernel's, and unknown callers."""
    ours, theirs = read_graph(ran.gprof("-N")), read_graph(ran.gprof("-q", gprof=GNU))
    rate = 1000
    for name in SHARES:
        assert ours[name].self == pytest.approx(theirs[name].self * rate, abs=0.005 * rate)
        assert (ours[name].calls, ours[name].self_calls) == \
            (theirs[name].calls, theirs[name].self_calls)
    assert not ours.keys() & set(COUNTING)


def test_nothing_is_missing(ran: Ran) -> None:
    text = ran.gprof()
    assert "lost: 0; missed by the clock: 0 of " in text and "does not add up" not in text
