# SPDX-License-Identifier: MIT
"""monctl -clients: behind a server's stack that of the program that it works for.

A program has the Unix server work in two ways, each from a function of its own, so that for any of
the server's routines it is known which function must stand behind it.  The recording is read by the
tests' own reader, which looks addresses up as perf does, in what is mapped in the sample's process.
"""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, recorded, unix
from assay.files import Files, Get, Put
from assay.hot import Image

from monctl import perf_data

PROGRAMS = Path(__file__).resolve().parent / "programs"
LIMIT = 60
COMMANDS = """cd
monctl -for all -clients -rate 10000 -record all & M=$!
monctl -help >/dev/null  # Which comes to its turn only after it.
/tmp/two_ways 12000
kill $M; wait $M"""
ROUTINES = {"_Xread": "only_reads", "_Xstat": "only_looks_up"}
IN_MACHINE = {"startup": OUT / "servers/ux", "snames": OUT / "servers/snames",
              "mach_kernel": OUT / "mach_kernel"}
UPPER = 1 << 32


class Frame(NamedTuple):
    program: str
    function: str


class Case(NamedTuple):
    file: Path
    programs: Path  # A folder with what ran, where it lay in the machine.
    recording: perf_data.Recording


def compiled(folder: Path) -> Path:
    program = folder / "two_ways"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
                    PROGRAMS / "two_ways.c"], check=True)
    return program


@pytest.fixture(name="case", scope="module")
def case_fixture(tmp_path_factory) -> Case:
    folder = tmp_path_factory.mktemp("clients")
    file, programs = folder / "all", folder / "programs"
    put = Put(compiled(folder), "/tmp/two_ways")
    result = unix.run(COMMANDS, user="root", limit=LIMIT,
                      files=Files(put=(put,), get=(Get("/root/all", file),)))
    assert (result.outcome, result.status) == ("exit", 0), result.log.decode()
    assert b"12000 times" in result.output
    programs.mkdir()
    recorded.link_programs(file, programs)
    return Case(file, programs, perf_data.read(file.read_bytes()))


class Places:
    """Names of addresses, as perf finds them."""

    def __init__(self, case: Case):
        self.case = case
        self.images: dict[str, Image] = {}

    def image(self, path: str) -> Image:
        if path not in self.images:
            self.images[path] = Image(path, self.case.programs / path.lstrip("/"))
        return self.images[path]

    def place(self, sample: perf_data.Sample, address: int, is_return: bool) -> Frame:
        inside = address - is_return
        recording = self.case.recording
        found = [(time, place, one)
                 for place, (one, time) in enumerate(zip(recording.maps, recording.map_times))
                 if (one.misc, one.pid) == (perf_data.USER_MODE, sample.pid) and
                 time <= sample.time and 0 <= inside - one.start < one.length]
        assert found, (hex(address), sample)
        one = max(found)[2]
        function = self.image(one.path).function_at(inside % UPPER)
        return Frame(one.path.rpartition("/")[2], function.name if function else "?")

    def stack(self, sample: perf_data.Sample) -> list[Frame]:
        """The user's part, innermost first.  Where a client waits is no return address."""
        user = sample.user()[:-1] if is_lost(sample) else sample.user()
        firsts = [0] + [at for at in range(1, len(user))
                        if user[at] // UPPER != user[at - 1] // UPPER]
        return [self.place(sample, address, at not in firsts) for at, address in enumerate(user)]


def is_lost(sample: perf_data.Sample) -> bool:
    """Its client was not found: only whose label it has is known."""
    return sample.user() and sample.user()[-1] == sample.label * UPPER


@pytest.fixture(name="served", scope="module")
def served_fixture(case: Case) -> list[tuple[perf_data.Sample, list[Frame]]]:
    """What the Unix server did for the program, as far as its client was found."""
    places, recording = Places(case), case.recording
    return [(sample, places.stack(sample)) for sample in recording.samples
            if recording.commands[sample.pid, sample.tid] == "ux" and not is_lost(sample)
            and recording.labels[sample.label].endswith(":two_ways")]


def functions(stack: list[Frame], program: str) -> set[str]:
    return {frame.function for frame in stack if frame.program == program}


def test_each_has_its_client(case: Case, served) -> None:
    """Back to the program's first function."""
    labels = {sample.label for sample, _ in served}
    assert len(served) > 200 and len(labels) == 1
    for sample, stack in served:
        assert stack[-1] == ("two_ways", "_start"), stack
        clients = {address // UPPER for address in sample.user() if address >= UPPER}
        assert clients == labels
    assert case.recording.counts["options"] & 0x12 == 0x12


def test_who_called_which_routine(served) -> None:
    found: Counter = Counter()
    for _, stack in served:
        ways = functions(stack, "two_ways") & set(ROUTINES.values())
        for routine in functions(stack, "startup") & set(ROUTINES):
            assert ways == {ROUTINES[routine]}, stack
            found[routine] += 1
    assert all(found[routine] > 50 for routine in ROUTINES), found


def test_nothing_is_behind_what_serves_nobody(case: Case) -> None:
    """Programs have no clients, and a server that works for itself has none."""
    own = [sample for sample in case.recording.samples
           if case.recording.commands[sample.pid, sample.tid] not in ("ux", "pager", "snames")]
    assert len(own) > 100
    assert not [sample for sample in own for address in sample.user() if address >= UPPER]


def test_who_is_not_found(case: Case, served) -> None:
    """Next to nobody: also of a server that has answered and gives the CPU away it is known.  Only
    one that has provided a page is still at work when nobody waits for it any more."""
    places, recording = Places(case), case.recording
    lost = [sample for sample in recording.samples if is_lost(sample)
            and recording.labels[sample.label].endswith(":two_ways")]
    for sample in lost:
        stack = places.stack(sample)
        assert sample.in_kernel or functions(stack, "startup") & {"paging_serve"}, stack
    assert len(lost) * 100 <= len(served), (len(lost), len(served))


def gprof(case: Case, *options: str) -> bytes:
    return subprocess.run([OUT / "bin/gprof", "--any-date", f"--programs={case.programs}", *options,
                           OUT / "mach_kernel", case.file], check=True, capture_output=True).stdout


def test_gprof_has_the_same_stacks(case: Case, served) -> None:
    """The folded view, of what was in user mode: function by function what our reader has."""
    expected = Counter(";".join(frame.function for frame in reversed(stack))
                       for sample, stack in served if not sample.in_kernel)
    lines = [line.rpartition(" ") for line in gprof(case, "--view=folded").decode().splitlines()]
    found = Counter({stack: int(count) for stack, _, count in lines if stack in expected})
    assert found == expected


def perf_script(case: Case, file: Path) -> str:
    """What perf makes of the stacks in user mode."""
    return subprocess.run(["perf", "script", "-i", file, "--symfs", case.programs, "-F",
                           "comm,time,ip,sym,dso"], check=True, capture_output=True,
                          text=True).stdout


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed: ./setup viewers")
@pytest.mark.parametrize("who", ["monctl", "gprof"])
def test_perf_shows_whole_stacks(case: Case, tmp_path: Path, served, who: str) -> None:
    """Unmodified perf finds the client's functions, in what monctl wrote and in gprof's view."""
    file = case.file
    if who == "gprof":
        file = tmp_path / "view"
        file.write_bytes(gprof(case, "--view=perf-data"))
    shown = perf_script(case, file)
    blocks = [block for block in shown.split("\n\n") if block.startswith("ux ")]
    ours = [block for block in blocks if re.search(r"\b_start \(\S*/two_ways\)", block)]
    assert len(ours) == len(served)
    for block in ours:
        for routine, way in ROUTINES.items():
            if f" {routine} (" in block:
                assert re.search(rf"\b{way} \(\S*/two_ways\)", block), block


def test_what_goes_together(cases) -> None:
    said = cases({
        "no record": "monctl -for all -clients -live 1",
        "nobody": "monctl -clients -record f -run true",
    }, user="root")
    assert said["no record"].status == said["nobody"].status == 2
    assert "-clients goes with -record only" in said["no record"].text
    assert "-clients goes with -for" in said["nobody"].text
