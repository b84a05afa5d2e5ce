# SPDX-License-Identifier: MIT
"""Several CPUs under the instruction clock, which run in turn: only who executes is measured.

Each of the programs here is told by its own work what is true of it.
"""

import re
import subprocess
from pathlib import Path

import pytest
from assay import OUT, unix
from assay.files import Files, Get, Put

from libprof import gmon_reader
from prof import shares

CPUS = [1, 2, 4, 8]
DUE, FIRED, MISSED, IDLE, ELSEWHERE, TAKEN, PARKED = 9, 10, 11, 12, 13, 14, 26
OPTIONS, LOST, IN_TURN = 6, 17, 0x40000000
EXTRA_CPU = 0x12
# Four threads of so many instructions each, at a nanosecond an instruction.
SPINNERS_NS = 400_000_000
# In turn the next due time may come at once, and so during the interrupt: that takes its time.
MOST_MISSED = 0.07 if OUT.name == "san" else 0.05  # The checked one's takes longer.


def each_time(*cpus: int) -> list:
    """All numbers of CPUs; others than these at night only."""
    return [n if n in cpus else pytest.param(n, marks=pytest.mark.nightly) for n in CPUS]


def run(command: str, cpus: int, tmp_path: Path, **options) -> tuple[str, str, Path]:
    file = tmp_path / f"gmon{cpus}"
    result = unix.run(f"cd /tmp; {command}", cpus=cpus, limit=60,
                      files=Files(get=(Get("/tmp/gmon.out", file),) if "gmon" in command else ()),
                      **options)
    output = result.output.decode()
    assert (result.outcome, result.status) == ("exit", 0), output + result.log.decode()
    return output, result.log.decode(), file


def by_cpu(gmon: gmon_reader.Gmon) -> dict[int, dict[int, int]]:
    counts: dict[int, dict[int, int]] = {}
    for source, place, count in gmon.arcs:
        if source == EXTRA_CPU:
            counts.setdefault(place >> 8, {})[place & 0xff] = count
    return counts


@pytest.mark.parametrize("cpus", CPUS)
def test_a_program_that_only_spins(cpus: int, tmp_path: Path) -> None:
    """It is found as often as it executed, and the kernel as good as never."""
    _, log, file = run("monctl -rate 10000 -monfile gmon.out -run spinners 4", cpus, tmp_path)
    gmon = gmon_reader.parse(file.read_bytes())
    value = gmon_reader.values(gmon)
    in_user = sum(gmon_reader.pcs(gmon, 0).values())
    in_kernel = sum(gmon_reader.pcs(gmon, 1).values())
    shares.check_few(in_kernel, in_user + in_kernel, 0.01)
    shares.check_times(in_user, SPINNERS_NS / 100_000, in_turn=cpus > 1)
    assert value[LOST] == 0
    shares.check_few(value[MISSED], value[DUE] // cpus, MOST_MISSED if cpus > 1 else 0)
    assert (value[OPTIONS] & IN_TURN != 0) == (cpus > 1) == ("cpus: in turn" in log)
    check_cpus(gmon, value, cpus)
    check_rows(subprocess.run([OUT / "bin/gprof", "-b", "-p", OUT / "user/spinners", file],
                              capture_output=True, text=True, check=True).stdout, gmon)


def check_rows(text: str, gmon: gmon_reader.Gmon) -> None:
    """gprof has a row for each of several CPUs, with what the file says."""
    rows = [tuple(map(int, row.split())) for row in
            re.findall(r"^( +\d+(?: +\d+){7})$", text, re.M)]
    assert rows == [(cpu, *(counts[which] for which in
                            (DUE, FIRED, MISSED, PARKED, IDLE, ELSEWHERE, TAKEN)))
                    for cpu, counts in sorted(by_cpu(gmon).items())]


def check_cpus(gmon: gmon_reader.Gmon, value: dict[int, int], cpus: int) -> None:
    """Of each due time all CPUs say what became of it, and one that it was its own."""
    counts = by_cpu(gmon)
    assert set(counts) == (set(range(cpus)) if cpus > 1 else set())
    for which in (DUE, FIRED, MISSED, IDLE, ELSEWHERE, TAKEN, PARKED):
        assert cpus == 1 or sum(each[which] for each in counts.values()) == value[which]
    for each in counts.values():
        assert each[DUE] == each[FIRED] + each[MISSED] + each[PARKED]
        assert each[FIRED] == each[IDLE] + each[ELSEWHERE] + each[TAKEN]
        assert each[DUE] * cpus == value[DUE]
    assert value[FIRED] + value[MISSED] == value[DUE] // cpus


@pytest.mark.parametrize("cpus", each_time(8))
def test_no_sample_of_eight_at_full_rate_is_lost(cpus: int, tmp_path: Path) -> None:
    """Rings of all CPUs are full at the same time: what they bring has room."""
    _, _, file = run("monctl -rate 10000 -monfile gmon.out -run spinners 8", cpus, tmp_path)
    value = gmon_reader.values(gmon_reader.parse(file.read_bytes()))
    assert value[LOST] == 0
    shares.check_few(value[MISSED], value[DUE] // cpus, MOST_MISSED)


@pytest.mark.parametrize("cpus", each_time(8))
def test_time_is_the_same_with_and_without_a_profiler(cpus: int, tmp_path: Path) -> None:
    _, log, _ = run("time spinners 4; time monctl -monfile gmon.out -run spinners 4", cpus,
                    tmp_path)
    found = [float(seconds) for seconds in re.findall(r"^user ([0-9.]+)$", log, re.M)]
    assert len(found) == 2, log
    for seconds in found:
        assert abs(seconds - SPINNERS_NS / 1e9) <= 0.021, log


def test_a_status_says_how_the_cpus_run(tmp_path: Path) -> None:
    output, _, _ = run("slowprog 300 & P=$!; monctl -pid $P -proxy -monfile gmon.out 2>/dev/null & "
                       "until monctl -pid $P -status 2>/dev/null || ! kill -0 $P 2>/dev/null; "
                       "do :; done; kill $P; wait", 2, tmp_path)
    assert re.search(r"^cpus=2\nrun=in turn: .*\n"
                     r"cpu0=due:\d+ fired:\d+ missed:\d+ parked:\d+ idle:\d+ elsewhere:\d+ "
                     r"taken:\d+\ncpu1=", output, re.M), output


@pytest.fixture(name="signals", scope="module")
def signals_fixture(tmp_path_factory) -> Path:
    """25 signals of 10 ms of CPU time each, and the end."""
    source = tmp_path_factory.mktemp("signals") / "signals.c"
    source.write_text("""
#include <signal.h>
#include <sys/time.h>
static volatile sig_atomic_t left = 25;
static void count(int signal) { (void)signal; left--; }
int main(void)
{
	struct itimerval timer = {{0, 10000}, {0, 10000}};
	signal(SIGPROF, count);
	setitimer(ITIMER_PROF, &timer, 0);
	while (left > 0)
		continue;
	return 0;
}
""")
    program = source.with_suffix("")
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", "-o", program, source], check=True)
    return program


@pytest.mark.parametrize("cpus", each_time(2, 8))
def test_signals_of_cpu_time_take_cpu_time(cpus: int, signals: Path) -> None:
    """Four processes of 25 signals take 100 of 10 ms, on however many CPUs."""
    result = unix.run("time sh -c '/tmp/s & /tmp/s & /tmp/s & /tmp/s & wait'", cpus=cpus, limit=60,
                      files=Files(put=(Put(signals, "/tmp/s"),)))
    log = result.log.decode()
    assert (result.outcome, result.status) == ("exit", 0), log
    seconds = float(re.search(r"^real ([0-9.]+)$", log, re.M)[1])
    assert 0.98 <= seconds <= 1.08, log
