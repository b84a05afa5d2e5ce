# SPDX-License-Identifier: MIT
"""A profile of a program that ran in the machine, printed there by /bin/gprof and on the host."""

import os
import re
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, unix
from assay.files import Files, Get, Put
from assay.hot import Image
from gprof.gmon import GNU, GPROF, MADE, output, read_flat, read_graph
from gprof.test_gnu import differences
from monctl import perf_data
from prof import shares

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "user/work"
COMMANDS = """\
cd /tmp
work 30 > /dev/null
gprof -b /bin/work gmon.out > tables
gprof -b -c -z -N /bin/work gmon.out > events
gprof -b -x forty /bin/work gmon.out > exact
gprof -b -pforty -qmain -Qten --no-time=twenty -w 50 /bin/work gmon.out > chosen
gprof -i /bin/work gmon.out > info
mv gmon.out first; work 60 > /dev/null; mv gmon.out second; cp first gmon.out
gprof --diff /bin/work first second > diff
gprof /bin/work /bin/work 2> refused; echo status $?
gprof -l /bin/work gmon.out 2>> refused; echo status $?
monctl -on periodic,zfill,any -rate 10000 -monfile flavors -run vmprog 1000 > /dev/null
monctl -on periodic,zfill -rate 10000 -stack -record own -run vmprog 2000 > /dev/null
gprof -b -N --kernel=/mach_kernel /bin/vmprog own > kernel
gprof --tree=9 --kernel=/mach_kernel /bin/vmprog own > paths
gprof --tree /bin/work gmon.out > tree
monctl -on periodic,zfill -rate 10000 -for all -record all & M=$!
monctl -help > /dev/null
sh client 30 & sh client 60 & wait $!
kill $M; wait $M
"""
CLIENT = """sleep 0.2
n=0
while [ $n -lt $1 ]; do n=$((n + 1)); echo $n > file$1; done
sleep 0.2
"""
FILES = ("gmon.out", "tables", "events", "exact", "chosen", "info", "first", "second",
         "diff", "refused", "flavors", "own", "kernel", "paths", "tree", "all")
SHARES = {"ten": 10, "twenty": 20, "thirty": 30, "forty": 40}
COUNTING = ("mcount", "mcountaux")
HISTOGRAM = 21  # Where the first histogram is: behind the header and its tag.
EXTRA_END = 0x1000  # <gmon.h>: arcs from below are none.


class Ran(NamedTuple):
    folder: Path
    output: str

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()

    def gprof(self, *options: str, gprof: str | Path = GPROF) -> str:
        return output("-b", *options, "work", "gmon.out", gprof=gprof, cwd=self.folder)


@pytest.fixture(name="plain", autouse=True)
def plain_fixture(monkeypatch) -> None:
    """Trees are drawn with ASCII, as in the machine."""
    monkeypatch.setenv("LC_ALL", "C")


@pytest.fixture(name="ran", scope="module")
def ran_fixture(tmp_path_factory) -> Ran:
    folder = tmp_path_factory.mktemp("guest")
    subprocess.run([OUT / "sdk/bin/ux-cc", "-pg", "-g", "-O1", "-o", folder / "work",
                    WORK / "slowprog.c"], check=True)
    os.utime(folder / "work", (MADE, MADE))
    (folder / "client").write_text(CLIENT)
    files = Files(put=(Put(folder / "work", "/bin/work"), Put(folder / "client", "/tmp/client")),
                  get=tuple(Get(f"/tmp/{name}", folder / name) for name in FILES))
    result = unix.run(COMMANDS, files=files, icount=True, user="root")
    assert result.outcome == "exit", result.output
    return Ran(folder, result.output.decode())


def test_guest_and_host_print_the_same(ran: Ran) -> None:
    assert ran.text("tables") == ran.gprof()
    assert ran.text("events") == ran.gprof("-c", "-z", "-N")
    assert ran.text("chosen") == ran.gprof("-pforty", "-qmain", "-Qten", "--no-time=twenty", "-w",
                                           "50")
    assert ran.text("info") == ran.gprof("-i")
    assert ran.text("tree") == ran.gprof("--tree")
    assert "- forty\n" in ran.text("tree")
    assert ran.text("diff").replace("/bin/work", "work") == \
        output("--diff", "work", "first", "second", cwd=ran.folder)
    marked = set(re.findall(r"\d\*.* (\w+)$", ran.text("diff"), re.MULTILINE))
    assert {"thirty", "forty"} <= marked <= set(SHARES)
    assert "status 1\nstatus 1\n" in ran.output
    assert ran.text("refused").splitlines() == [
        "gprof: /bin/work: is not a profile, or is damaged: its header fits no kind of gmon.out",
        "gprof: -l: lines are not known here: take the profile to the host"]


def test_shares_are_as_the_names_say(ran: Ran) -> None:
    flat = read_flat(ran.gprof("-N"))
    shares.check({name: flat[name][0] for name in SHARES}, SHARES)
    assert all(flat[name][1] == 30 for name in SHARES), "calls are exact"


def test_addresses_sum_to_the_routine(ran: Ran) -> None:
    """Bytes in the guest, instructions on the host; the counts are the same.  Those of the kernel,
    at the address that it was called from, are not in the routine's row."""
    row = re.compile(r"^([0-9a-f]{8}) +\+\d+ +(\d+) +[\d.]+ +(<kernel>)?", re.MULTILINE)
    guest, host = row.findall(ran.text("exact")), row.findall(ran.gprof("-x", "forty"))
    assert guest == host and guest
    own = sum(int(count) for _, count, kernel in guest if not kernel)
    assert own == read_flat(ran.gprof("-N"))["forty"][0]


def test_gnu_says_the_same(ran: Ran) -> None:
    """But for what it drops: mcount's ticks, the kernel's, and unknown callers."""
    ours, theirs = read_graph(ran.gprof("-N")), read_graph(ran.gprof("-q", gprof=GNU))
    rate = 1000
    for name in SHARES:
        assert ours[name].self == pytest.approx(theirs[name].self * rate, abs=0.005 * rate)
        assert (ours[name].calls, ours[name].self_calls) == \
            (theirs[name].calls, theirs[name].self_calls)
    assert not ours.keys() & set(COUNTING)


def in_ticks(data: bytes) -> bytes:
    """The file as GNU's gprof takes it, with a tick for a second, since it prints two decimals."""
    low, high, bins, _ = struct.unpack_from("<4I", data, HISTOGRAM)
    arcs = HISTOGRAM + 32 + 2 * bins
    head = struct.pack("<4I15sc", low, high, bins, 1, b"ticks", b"t")
    kept = (data[at:at + 13] for at in range(arcs, len(data), 13)
            if struct.unpack_from("<I", data, at + 1)[0] >= EXTRA_END)
    return data[:HISTOGRAM] + head + data[HISTOGRAM + 32:arcs] + b"".join(kept)


def test_gnu_says_the_same_of_all(ran: Ran) -> None:
    """To 0.01 tick: own, inherited and calls of every function; mcount is in neither graph."""
    file = ran.folder / "ticks"
    file.write_bytes(in_ticks((ran.folder / "gmon.out").read_bytes()))
    assert not differences(ran.folder / "work", file)
    graph = read_graph(output("-b", ran.folder / "work", file))
    assert {"main", *SHARES} <= graph.keys() and not graph.keys() & set(COUNTING)
    assert sum(row[0] for row in read_flat(output("-b", ran.folder / "work", file)).values()) > 100


def test_nothing_is_missing(ran: Ran) -> None:
    text = ran.gprof()
    assert "lost: 0; missed by the clock: 0 of " in text and "does not add up" not in text


# ---------------- Files of monctl ----------------

COLUMNS = re.compile(r"^ +((?:[\d.]+ +[\d.]+ +)+)(\d* +)?(\S+)$", re.MULTILINE)


def read_columns(text: str) -> dict[str, list[float]]:
    """The amounts of each flavor's column in the flat profile, by function."""
    flat = text[text.index("Flat profile"):text.index("Index by")]
    return {match[3]: [float(word) for word in match[1].split()[1::2]]
            for match in COLUMNS.finditer(flat)}


def test_flavors_of_a_run(ran: Ran) -> None:
    """gmon.out of a program without -pg: the columns, and each of them alone."""
    program, file = OUT / "user/vmprog", ran.folder / "flavors"
    text = output("-b", "-N", program, file)
    assert re.search(r"^ +periodic +zfill +faults-any$", text, re.MULTILINE)
    columns = read_columns(text)
    assert columns["touch_new"][1] == 1000
    for column, flavor in enumerate(("periodic", "zfill", "faults-any")):
        alone = read_flat(output("-b", "-N", f"--flavor={flavor}", program, file))
        assert {name: row[0] for name, row in alone.items() if row[0]} == \
            {name: row[column] for name, row in columns.items() if row[column]}, flavor


def read_samples(path: Path, program: Path) -> Counter:
    """Samples of the clock by (label's pid, whether in the kernel, function): as another reader of
    the file and of symbols has them."""
    recording = perf_data.read(path.read_bytes())
    images = Image(program.name, program), Image("kernel", OUT / "mach_kernel")
    found: Counter = Counter()
    for sample in recording.samples:
        if recording.commands[sample.pid, sample.tid] == program.name and sample.flavor == 1:
            function = images[sample.in_kernel].function_at(sample.ip)
            pid = recording.labels[sample.label].split(":")[0].strip("/")
            found[pid, sample.in_kernel, function.name if function else "<outside>"] += 1
    return found


def test_on_behalf_of_each(ran: Ran) -> None:
    """What the server did for each of its clients, of a recording of the whole machine."""
    server, file = OUT / "servers/ux", ran.folder / "all"
    found: Counter = Counter()
    for (pid, in_kernel, name), count in read_samples(file, server).items():
        found[pid, "<kernel>" if in_kernel else name] += count
    pids = {pid for pid, _ in found if pid.isdecimal()}
    assert len(pids) > 2
    for pid in pids:
        flat = read_flat(output("-b", "-N", "--flavor=periodic", f"--for={pid}", server, file))
        assert {name: row[0] for name, row in flat.items() if row[0]} == \
            {name: count for (one, name), count in found.items() if one == pid}
    sums: Counter = Counter()
    for (_, name), count in found.items():
        sums[name] += count
    text = output("-b", "-N", "--flavor=periodic", "--for=each", server, file)
    assert {name: sum(row) for name, row in read_columns(text).items() if sum(row)} == sums


def test_functions_of_the_kernel(ran: Ran) -> None:
    """The same on the host and in the machine, and as another reader finds them."""
    program, file = OUT / "user/vmprog", ran.folder / "own"
    options = ("-b", "-N", f"--kernel={OUT / 'mach_kernel'}")
    assert ran.text("kernel") == output(*options, program, file)
    assert ran.text("paths") == output("--tree=9", *options[2:], program, file)
    assert "- kernel:" in ran.text("paths") and "nothing is divided" in ran.text("paths")
    flat = read_flat(output(*options, "--flavor=periodic", program, file))
    found = {f"kernel:{name}": count for (_, in_kernel, name), count in
             read_samples(file, program).items() if in_kernel}
    assert {name: row[0] for name, row in flat.items()
            if name.startswith("kernel:") and row[0]} == found
    assert len(found) > 5 and sum(found.values()) > 20
