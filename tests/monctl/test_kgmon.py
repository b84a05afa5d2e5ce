# SPDX-License-Identifier: MIT
"""kgmon: the kernel's own profile, by its words, its files, and a program of 4.4BSD's kind."""

import re
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import Iterable

import pytest
from assay import OUT
from assay.files import Files, Get, Put
from libprof.gmon_reader import Gmon, parse, pcs, values
from libprof.gmon_reader import calls as arcs_of

KERNEL = OUT / "mach_kernel"
RUNNING, OFF = "kgmon: kernel profiling is running.", "kgmon: kernel profiling is off."
FOUR = "for i in 1 2 3 4; do callbench >/dev/null; done"
CALLS = f"({FOUR}) & ({FOUR}); wait"  # So that each CPU has some of them.

COMMANDS = {
    "before": "kgmon; sysctl -n kern.prof.state; uname -v",
    "begin": "kgmon -b; sysctl -n kern.prof.state; uname -v",
    "again": "kgmon -b",
    "work": f"{CALLS}; sleep 0.2; kgmon -p; mv gmon.out running",
    "halt": "kgmon -h; uname -v; kgmon -p; mv gmon.out off; kgmon -p -i; mv gmon.out busy",
    "cpus": "kgmon -p -c all; mv gmon-0.out cpu0; mv gmon-1.out cpu1; kgmon -p -c 1; "
            "cmp gmon-1.out cpu1; ls",
    "bsd": "/tmp/bsd_kgmon bsd",
    "nobody else": "cd /tmp; su student -c '/sbin/kgmon -b -p -r; echo $?; ls gmon.out'",
    "other kernel": "kgmon -p -N /bin/sh; echo $?; kgmon -p -N /none; kgmon -p -N /mach_kernel",
    "longer kernel": "kgmon -p -N /tmp/longer; echo $?",
    "planted": "mkdir /tmp/p; cd /tmp/p; echo mine >it; ln -s it gmon.out; kgmon -p; cat it; ls",
    "unwritable": "mkdir /tmp/d; cd /tmp/d; mkdir gmon.out; kgmon -p -r; echo $?",
    "wrong": "kgmon -b -h; kgmon -x; kgmon word; kgmon -i; kgmon -c 0; kgmon -p -c 7",
    "by hand": "sysctl -w kern.prof.state=0; kgmon; sysctl -w kern.prof.state=3; kgmon; "
               "sysctl -w kern.prof.state=2",
    "reset": "kgmon -r; kgmon -p; mv gmon.out zeroed",
}
NAMES = ("running", "off", "busy", "cpu0", "cpu1", "bsd", "zeroed")


def longer_kernel(file: Path) -> Path:
    """As the kernel that runs, but that its text is a page longer; without what is for a debugger,
    for which the disk has no room."""
    subprocess.run(["strip", "-o", file, KERNEL], check=True)
    image = bytearray(file.read_bytes())
    first, = struct.unpack_from("<I", image, 28)
    sizes = struct.unpack_from("<II", image, first + 16)  # In the file, and in memory.
    struct.pack_into("<II", image, first + 16, *(size + 4096 for size in sizes))
    file.write_bytes(image)
    return file


@pytest.fixture(name="said", scope="module")
def said_fixture(run_cases, tmp_path_factory):
    """What each command said, and the files, all of one machine with two CPUs."""
    folder = tmp_path_factory.mktemp("kernel_profile")
    program = folder / "bsd_kgmon"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
                    Path(__file__).parent / "programs" / "bsd_kgmon.c"], check=True)
    files = Files(put=(Put(program, "/tmp/bsd_kgmon"),
                       Put(longer_kernel(folder / "longer"), "/tmp/longer")),
                  get=tuple(Get(f"/root/{name}", folder / name) for name in NAMES))
    return run_cases(COMMANDS, user="root", cpus=2, files=files), folder


def read(said, name: str) -> Gmon:
    return parse((said[1] / name).read_bytes())


def ticks(gmon: Gmon) -> list[int]:
    """By bin, of all records of the one range."""
    ranges = {(low, high, rate) for low, high, rate, _, _ in gmon.histograms}
    assert len(ranges) == 1 and {rate for _, _, rate in ranges} == {1000}
    return [sum(counts) for counts in zip(*(bins for *_, bins in gmon.histograms))]


def seconds(file: Path) -> dict[str, float]:
    """By function, as GNU gprof prints it."""
    text = subprocess.run(["gprof", "-b", "-p", KERNEL, file], check=True, text=True,
                          capture_output=True).stdout
    rows = [row.split() for row in text.splitlines() if re.match(r" *\d+\.\d+ ", row)]
    return {row[-1]: float(row[2]) for row in rows}


def test_what_it_says(said) -> None:
    text = {name: one.text.splitlines() for name, one in said[0].items()}
    assert [text["before"][0], text["before"][1]] == [OFF, "3"]
    assert not text["before"][2].endswith("PROFILE")
    assert [text["begin"][0], text["begin"][1]] == [RUNNING, "0"]
    assert text["begin"][2] == text["before"][2] + " PROFILE"
    assert (text["again"], text["work"]) == ([RUNNING], [RUNNING])
    assert text["halt"] == [OFF, text["before"][2], OFF, OFF]
    assert text["by hand"] == ["kern.prof.state = 0", RUNNING, "kern.prof.state = 3", OFF,
                               "sysctl: kern.prof.state: it cannot have this value"]


def test_who_may_what(said) -> None:
    assert said[0]["nobody else"].text.splitlines() == [
        "kgmon: kernel read-only: only root may do -b, -h and -r", OFF, "6", "gmon.out"]


def test_what_goes_wrong_is_said(said) -> None:
    assert said[0]["other kernel"].text.splitlines() == [
        "kgmon: /bin/sh: not the kernel that runs: say by -N which file that is", OFF, "10",
        "kgmon: /none: No such file or directory", OFF, OFF]
    assert said[0]["longer kernel"].text.splitlines() == [
        "kgmon: /tmp/longer: not the kernel that runs: say by -N which file that is", OFF, "10"]
    assert said[0]["unwritable"].text.splitlines() == ["kgmon: gmon.out: Is a directory", OFF, "8"]
    usage = "usage: kgmon [-b | -h] [-p [-i] [-c CPU|all] [-N SYSTEM]] [-r]"
    assert said[0]["wrong"].text.count(usage) == 5
    assert "kgmon: -c 7: there is no such CPU: say 0 to 1, or all" in said[0]["wrong"].text


def test_a_link_that_was_planted_is_not_written_through(said) -> None:
    assert said[0]["planted"].text.splitlines() == [OFF, "mine", "gmon.out  it"]


def test_it_collects_while_it_runs_and_not_when_it_is_off(said) -> None:
    running, off = (sum(ticks(read(said, name))) for name in ("running", "off"))
    assert 0 < running <= off < running + 50
    assert sum(ticks(read(said, "zeroed"))) == 0
    assert said[0]["reset"].text.splitlines() == [OFF, OFF]


def test_the_cpus_are_all(said) -> None:
    parts = [ticks(read(said, name)) for name in ("cpu0", "cpu1")]
    assert [one + two for one, two in zip(*parts)] == ticks(read(said, "off"))
    assert all(map(sum, parts))
    assert "gmon.out" not in said[0]["cpus"].text.split()


def test_idle_time_is_the_idle_function_s(said) -> None:
    with_idle, without = (seconds(said[1] / name) for name in ("off", "busy"))
    assert with_idle["sched_idle"] >= 0.2  # It slept for so long, with two CPUs.
    assert with_idle["sched_idle"] - without.get("sched_idle", 0) >= 0.2
    others = [name for name in with_idle if name != "sched_idle"]
    assert {name: with_idle[name] for name in others} == {
        name: without[name] for name in without if name != "sched_idle"}
    assert "trap_mach_msg" in others


def test_a_program_of_4_4bsd_reads_the_same(said) -> None:
    assert said[0]["bsd"].text == "state 3"
    assert seconds(said[1] / "bsd") == seconds(said[1] / "off")


Arcs = Iterable[tuple[int, int, int]]


def calls(arcs: Arcs, piece: int = 1) -> Counter:
    """By the function that was called and the place from where, in pieces of so many bytes."""
    found: Counter = Counter()
    for source, function, count in arcs:
        found[(source // piece, function)] += count
    return found


def bsd_arcs(data: bytes) -> Arcs:
    """Of a file of 4.4BSD's: behind as many bytes as its third word says."""
    return struct.iter_unpack("<3I", data[struct.unpack_from("<I", data, 8)[0]:])


def test_calls_are_the_same_whoever_reads_them(said) -> None:
    """4.4BSD's tables know a caller to four bytes."""
    bsd = bsd_arcs((said[1] / "bsd").read_bytes())
    assert calls(bsd, piece=4) == calls(arcs_of(read(said, "off")), piece=4)
    both = calls(arcs_of(read(said, "cpu0"))) + calls(arcs_of(read(said, "cpu1")))
    assert both == calls(arcs_of(read(said, "off")))


def test_calls_are_those_of_the_load(said) -> None:
    """Eight programs, each with its messages: GNU's gprof names whom they called."""
    text = subprocess.run(["gprof", "-b", "-p", KERNEL, said[1] / "off"], check=True, text=True,
                          capture_output=True).stdout
    rows = [row.split() for row in text.splitlines()]
    counted = {row[-1]: int(row[3]) for row in rows
               if len(row) >= 5 and re.fullmatch(r"\d+", row[3])}
    assert counted["trap_mach_msg"] > 1000 and counted["trap_task_create"] >= 8
    assert not arcs_of(read(said, "zeroed"))


def test_our_gprof_reads_it(said) -> None:
    text = subprocess.run([OUT / "bin" / "gprof", "-b", KERNEL, said[1] / "off"], check=True,
                          text=True, capture_output=True).stdout
    assert "each sample hit is of one address" in text and "sched_idle" in text
    assert "lost: 0; missed by the clock: " in text and "does not add up" not in text


DUE, FIRED, MISSED, IDLE, ELSEWHERE, TAKEN, ALL_TAKEN, DELIVERED, LOST, BUFFERED = range(9, 19)
OTHERS, PARKED = 23, 26  # include/gmon.h


def test_nothing_is_missing_in_silence(said) -> None:
    """Each due time of the clock is a tick, idle time, or of user mode, or counted as missed."""
    said_of = {name: values(read(said, name)) for name in NAMES if name != "bsd"}
    off = said_of["off"]
    assert off[DUE] == off[FIRED] + off[MISSED] + off[PARKED] > 500
    assert off[FIRED] == off[IDLE] + off[ELSEWHERE] + off[TAKEN]
    assert (off[ALL_TAKEN], off[LOST], off[BUFFERED]) == (off[DELIVERED], 0, 0)
    assert off[DELIVERED] == off[OTHERS] + sum(ticks(read(said, "busy")))
    assert off[IDLE] == sum(ticks(read(said, "off"))) - sum(ticks(read(said, "busy")))
    each = said_of["cpu0"], said_of["cpu1"]
    for what in (DUE, ALL_TAKEN, DELIVERED, LOST, BUFFERED, OTHERS):
        assert off[what] == sum(one[what] for one in each)
    assert all(one[ALL_TAKEN] == one[TAKEN] == one[DELIVERED] > 0 for one in each)
    assert said_of["zeroed"][DUE] == said_of["zeroed"][ALL_TAKEN] == 0


def test_exact_places_are_those_of_the_histogram(said) -> None:
    gmon = read(said, "off")
    low = gmon.histograms[0][0]
    bins = Counter()
    for pc, count in pcs(gmon, 0).items():
        bins[(pc - low) // 4] += count
    assert bins == +Counter(dict(enumerate(ticks(gmon))))


def test_it_can_be_begun_with_the_machine(unix_machine) -> None:
    result = unix_machine("sysctl -n kern.prof.state; uname -v", limit=20,
                          append="profile=kernel")
    log = result.log.decode() if isinstance(result.log, bytes) else result.log
    said = re.search(r"ux: Profiling kernel, textsize=(\d+) \[([0-9a-f]{8})\.\.([0-9a-f]{8})\]",
                     log)
    assert said and int(said[1]) == int(said[3], 16) - int(said[2], 16)
    assert result.output.decode().splitlines()[0] == "0"
    assert result.output.decode().endswith("PROFILE\n")
