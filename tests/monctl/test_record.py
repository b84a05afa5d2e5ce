# SPDX-License-Identifier: MIT
"""monctl -record: a file of perf's with every sample and all that is known of it."""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import OUT, ROOT, unix
from assay.files import Files, Get
from assay.hot import Image

from monctl import perf_data
from prof import shares

LIMIT = 60
RUN = "monctl -on periodic,any -stack -record file -run slowprog 100"
SHARES = {"ten": 0.1, "twenty": 0.2, "thirty": 0.3, "forty": 0.4}
PERIODIC, ANY = 0x1, 0x100
SECOND = 1_000_000_000  # Nanoseconds.
YEAR_2026 = 1_767_225_600 * SECOND  # When the machine is switched on.
SLOWPROG = OUT / "user" / "slowprog"


@pytest.fixture(name="recorded", scope="module")
def recorded_fixture(tmp_path_factory):
    """The file of one run, and what the shell saw."""
    folder = tmp_path_factory.mktemp("record")
    result = unix.run(f"cd; {RUN} 2>said; echo $?; cat said", limit=LIMIT,
                      files=Files(get=(Get("/home/student/file", folder / "file"),)))
    assert result.outcome == "exit", (result.message, result.output)
    return folder / "file", result.output.decode()


@pytest.fixture(name="recording")
def recording_fixture(recorded) -> perf_data.Recording:
    return perf_data.read(recorded[0].read_bytes())


def function_of(image: Image, address: int) -> str:
    found = image.function_at(address)
    return found.name if found else "?"


def test_the_command_is_as_without(recorded) -> None:
    lines = recorded[1].splitlines()
    assert lines[0].startswith("slowprog: ten 10 %")
    assert lines[1] == "0"
    assert re.fullmatch(r"monctl: process \d+", lines[2])
    assert re.fullmatch(r"process \d+: \d+ samples, 0 lost, file", lines[3])


def test_when_the_clock_of_samples_began(recording) -> None:
    """By it samples are of the machine's time of day, which begins with 2026."""
    first, last = recording.samples[0].time, recording.samples[-1].time
    assert YEAR_2026 <= recording.counts["wall"] + first <= YEAR_2026 + last + SECOND


def test_events_and_names(recording) -> None:
    assert recording.events == {PERIODIC: "periodic", ANY: "faults-any"}
    assert recording.periods == {PERIODIC: 1_000_000, ANY: 1}
    users = [sample for sample in recording.samples if not sample.in_kernel]
    assert len({(sample.pid, sample.tid, sample.label) for sample in users}) == 1
    pid, label = users[0].pid, users[0].label
    assert recording.labels[label] == f"/{pid}:slowprog"
    assert recording.commands[pid, users[0].tid] == "slowprog"
    program = next(one for one in recording.maps if one.misc == 2 and one.pid == pid)
    kernel = next(one for one in recording.maps if one.misc == 1)
    assert (program.pid, program.start, program.offset, program.path) == (
        pid, 0x08048000, 0, "/bin/slowprog")
    assert kernel.path == "/mach_kernel"
    assert all(kernel.start <= sample.ip < kernel.start + kernel.length
               for sample in recording.samples if sample.in_kernel)


def test_from_the_first_instruction(recording) -> None:
    """The first fault is that of the first instruction's page."""
    first = next(sample for sample in recording.samples if sample.flavor == ANY)
    assert first.user()[0] == Image("slowprog", SLOWPROG).entry


def test_shares_and_callers(recording) -> None:
    image = Image("slowprog", SLOWPROG)
    samples = [sample for sample in recording.samples
               if sample.flavor == PERIODIC and not sample.in_kernel]
    found = Counter(function_of(image, sample.ip) for sample in samples)
    shares.check({name: found[name] for name in SHARES}, SHARES)
    for sample in samples:
        names = [function_of(image, address) for address in sample.user()]
        assert sample.user()[0] == sample.ip
        if names[0] in SHARES:
            assert "__libc_start" in names, names


def test_nothing_is_missing(recording) -> None:
    counts = recording.counts
    assert counts["due"] == counts["fired"] + counts["missed"] + counts["parked"]
    assert counts["fired"] == counts["idle"] + counts["elsewhere"] + counts["taken"]
    assert counts["all-taken"] == counts["delivered"] == len(recording.samples)
    assert (counts["lost"], counts["buffered"], recording.lost) == (0, 0, 0)
    assert counts["taken"] == sum(sample.flavor == PERIODIC for sample in recording.samples)
    assert (counts["rate"], counts["interval"]) == (1000, 1_000_000)


def test_every_beginning_can_be_read(recorded, recording) -> None:
    data = recorded[0].read_bytes()
    assert recording.pieces[-1] == len(data) and len(recording.pieces) > 1
    for end in recording.pieces:
        beginning = perf_data.read(data[:end])
        assert beginning.counts["delivered"] == len(beginning.samples)


def perf(*words: object) -> subprocess.CompletedProcess:
    return subprocess.run([ROOT / "tools" / "perf", *map(str, words)], capture_output=True,
                          text=True, timeout=LIMIT, check=False)


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed: ./setup viewers")
def test_perf_reads_it(recorded, recording) -> None:
    shown = perf(recorded[0], "report", "--stdio", "--no-children", "-g", "none", "--sort",
                 "comm,dso,sym")
    assert shown.returncode == 0, shown.stderr
    shares = {name: float(share) for share, name in
              re.findall(r"^ +(\d+\.\d+)% +slowprog +slowprog +\[\.\] (\w+)", shown.stdout, re.M)}
    image = Image("slowprog", SLOWPROG)
    periodic = [sample for sample in recording.samples if sample.flavor == PERIODIC]
    found = Counter(function_of(image, sample.ip) for sample in periodic if not sample.in_kernel)
    for name in SHARES:
        assert abs(shares[name] - 100 * found[name] / len(periodic)) < 0.01, shown.stdout
    assert perf(recorded[0], "report", "--stdio", "--sort", "cgroup").stdout.count(":slowprog")
    header = perf(recorded[0], "report", "--stdio", "--header")
    assert f"delivered={len(recording.samples)}" in header.stdout


def test_perf_is_told_what_is_no_recording(tmp_path: Path) -> None:
    if shutil.which("perf") is None:
        assert "./setup viewers" in perf(SLOWPROG).stderr
        return
    assert perf("").stderr == "perf: of which recording?  make perf F=FILE\n"
    assert "not a file of `monctl -record`" in perf(SLOWPROG).stderr
    assert perf(tmp_path / "none").returncode == 1


# A shell waits for what has ended before it goes on: so the last slowprog works for longer than a
# turn, and its shell has become another program by then.
ALL = """
cd; monctl -for all -on periodic,any -record all & M=$!; monctl -help >/dev/null
slowprog 40; readprog /bin/sh
(n=0; while [ $n -lt 2000 ]; do n=$((n + 1)); done; exec slowprog 10) & E=$!; wait $E
echo executed $E
sh -c 'slowprog 40 & exec sleep 1000' &
until ps -a | grep ' Z .*slowprog'; do sleep 0.01; done
kill $M; wait $M
"""


@pytest.fixture(name="whole", scope="module")
def whole_fixture(tmp_path_factory):
    """The file of a whole machine, what is in it, and what the shell saw."""
    file = tmp_path_factory.mktemp("whole") / "all"
    result = unix.run(ALL, user="root", limit=LIMIT, files=Files(get=(Get("/root/all", file),)))
    assert result.outcome == "exit", (result.message, result.output)
    return file, perf_data.read(file.read_bytes()), result.output.decode()


def test_the_whole_machine(whole) -> None:
    """Of everybody, on everybody's behalf: what the server did for a program has its label."""
    recording = whole[1]
    commands = {recording.commands[sample.pid, sample.tid] for sample in recording.samples}
    assert {"slowprog", "ux"} <= commands
    served = Counter(recording.labels[sample.label].partition(":")[2]
                     for sample in recording.samples
                     if recording.commands[sample.pid, sample.tid] == "ux")
    assert set(served) & {"readprog", "slowprog", "sh", "ls", "monctl"}, served
    assert recording.counts["delivered"] == len(recording.samples)


def test_a_process_goes_on_with_another_program(whole) -> None:
    """Each sample's program is the one that was there then, though some come a second late."""
    _, recording, output = whole
    pid = int(re.search(r"executed (\d+)", output)[1])
    (time,) = [one[0] for one in recording.executed if one[1:] == (pid, "slowprog")]
    for is_after, program in ((False, "/bin/sh"), (True, "/bin/slowprog")):
        part = [one for one in recording.samples
                if one.pid == pid and (one.time >= time) == is_after and not one.in_kernel]
        assert {one.flavor for one in part} == {PERIODIC, ANY} and len(part) > 20
        assert {recording.program_of(one) for one in part} == {program}


def test_what_was_not_waited_for(whole) -> None:
    """A process that has ended, and still has a number, has its name and its program's map."""
    _, recording, output = whole
    pid = int(re.search(r"^\S+ +(\d+) .* Z .*slowprog", output, re.M)[1])
    # Before that it was its shell's child, if only for a moment.
    since = max((one[0] for one in recording.executed if one[1:] == (pid, "slowprog")), default=0)
    part = [one for one in recording.samples
            if one.pid == pid and one.flavor == PERIODIC and one.time >= since]
    assert len(part) > 5 and {recording.commands[pid, one.tid] for one in part} == {"slowprog"}
    assert {recording.program_of(one) for one in part} == {"/bin/slowprog"}


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed: ./setup viewers")
def test_perf_shows_nobody_in_another_s_program(whole) -> None:
    shown = perf(whole[0], "report", "--stdio", "--no-children", "-g", "none", "--sort",
                 "comm,dso").stdout
    rows = set(re.findall(r"^ +\d+\.\d+% +(\S+) +(\S+)", shown, re.M))
    assert {("sh", "sh"), ("slowprog", "slowprog")} <= rows
    strange = {row for row in rows if row[1] != "mach_kernel" and row[0] != row[1]}
    assert strange == {("ux", "startup")}, shown


def test_what_ends_before_anybody_asks(unix_machine, tmp_path: Path) -> None:
    """Programs that are over sooner than their samples are delivered have their names and files."""
    commands = ("cd; monctl -for all -on zfill -record file & M=$!; monctl -help >/dev/null; "
                "for n in 1 2 3; do vmprog 50; done; kill $M; wait $M")
    result = unix_machine(commands, user="root", limit=LIMIT,
                          files=Files(get=(Get("/root/file", tmp_path / "file"),)))
    assert (result.outcome, result.status) == ("exit", 0)
    done = subprocess.run([OUT / "bin/gprof", "-b", "--view=folded", OUT / "user/vmprog",
                           tmp_path / "file"], text=True, capture_output=True, check=True)
    assert re.findall(r"touch_new (\d+)$", done.stdout, re.MULTILINE) == ["150"]  # One program.
    recording = perf_data.read((tmp_path / "file").read_bytes())
    programs = {recording.labels[sample.label] for sample in recording.samples}
    assert not [name for name in programs if "task-" in name]


def test_for_one_by_its_name(unix_machine, tmp_path: Path) -> None:
    """One that no other process has; of several the numbers are said."""
    result = unix_machine(
        "cd; slowprog 200 >/dev/null & P=$!; monctl -for slowprog -record for 2>/dev/null; "
        "echo $P; sleep 100 & Q=$!; sleep 100 & monctl -for sleep -live 1 2>&1; "
        "echo status $? $Q $!",
        user="root", limit=LIMIT, files=Files(get=(Get("/root/for", tmp_path / "for"),)))
    assert result.outcome == "exit", (result.message, result.output)
    output = result.output.decode()
    said = re.search(r"several processes are called so: (.*); say the number of one\n"
                     r"status 2 (.*)\n", output)
    assert said and said[1] == said[2], output
    recording = perf_data.read((tmp_path / "for").read_bytes())
    assert len(recording.samples) > 100
    assert {recording.labels[sample.label] for sample in recording.samples} == {
        f"/{re.search(r'^([0-9]+)$', output, re.M)[1]}:slowprog"}


def test_for_one(unix_machine, tmp_path: Path) -> None:
    """What a program does, and what the server does for it; both end with the program."""
    result = unix_machine(
        "cd; sh -c 'sleep 0.3; n=0; while [ $n -lt 100 ]; do n=$((n + 1)); echo >f; done; :' & P=$!"
        "; monctl -for $P -on periodic -rate 10000 -record for; echo $P",
        user="root", limit=LIMIT, files=Files(get=(Get("/root/for", tmp_path / "for"),)))
    assert result.outcome == "exit", (result.message, result.output)
    recording = perf_data.read((tmp_path / "for").read_bytes())
    pid = result.output.split()[-1].decode()
    assert {recording.labels[sample.label] for sample in recording.samples} == {f"/{pid}:sh"}
    found = Counter(recording.commands[sample.pid, sample.tid] for sample in recording.samples)
    assert found["sh"] and found["ux"], found
