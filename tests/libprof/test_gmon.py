# SPDX-License-Identifier: MIT
"""The file that libprof's core writes, read by GNU gprof: with our own records, and without."""

import ctypes
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from libprof.gmon_reader import EXTRA_END, EXTRA_VALUE, parse, pcs, values

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ["libprof/core/collection.c", "libprof/core/pc_table.c", "libprof/core/gmon_file.c",
           "libprof/core/arcs.c", "libprof/core/code.c",
           "tests/lib/libprof/pages.c"]
PERIODIC, ZFILL, COW = 0x1, 0x10, 0x80
GNU, BSD44, BSD = 0, 1, 2
OWN_THREAD = 9
NAMES = ("leaf", "middle", "other", "main")

PROGRAM = """\
int sink;
int leaf(int n) { sink += n; return n; }
int middle(int n)
{
\tif (n > 3)
\t\tsink += leaf(n);
\treturn leaf(n + 1);
}
int other(int n) { return middle(n) + leaf(n); }
int main(void) { return middle(1) + other(2); }
void _start(void) { main(); for (;;) ; }
"""


class Collection(ctypes.Structure):
    """The beginning of struct collection: what it is of."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("low", "high", "pid", "task", "own_thread")]
    _fields_ += [("rest", ctypes.c_char * 8192)]


class Program(NamedTuple):
    """An i386 program, and where its functions are."""

    path: Path
    low: int
    high: int
    at: dict[str, int]


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Program:
    folder = tmp_path_factory.mktemp("program")
    (folder / "prog.c").write_text(PROGRAM)
    subprocess.run(["i686-linux-gnu-gcc", "-g", "-O1", "-fno-inline", "-fno-pie", "-no-pie",
                    "-static", "-nostdlib", "-ffreestanding", "-falign-functions=16",
                    "-Wl,--build-id=none", "-o", "prog", "prog.c"], cwd=folder, check=True)
    lines = subprocess.run(["nm", folder / "prog"], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    at = {line.split()[2]: int(line.split()[0], 16) for line in lines}
    return Program(folder / "prog", at["leaf"] & ~0xfff, at["etext"] if "etext" in at
                   else at["_start"] + 16, at)


@pytest.fixture(name="core", scope="module")
def core_fixture(tmp_path_factory) -> ctypes.CDLL:
    """The core as a library of the host's."""
    library = tmp_path_factory.mktemp("core") / "core.so"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-shared", "-fPIC", "-idirafter", ROOT / "include",
                    "-o", library, *(ROOT / source for source in SOURCES)], check=True)
    core = ctypes.CDLL(str(library))
    for name in ("__gmon_room", "__gmon_write"):
        core[name].restype = ctypes.c_size_t
    return core


# ---------------- Streams ----------------

def record(kind: int, body: bytes) -> bytes:
    return struct.pack("<HBB", 1 + len(body) // 4, kind, 2) + body


def begin(flavors: int = PERIODIC, rate: int = 1000) -> bytes:
    return record(1, struct.pack("<12I", flavors, rate, 10**9 // rate, 0, 0, 1, 5, 1, 0, 0, 0, 0))


def sample(pc: int, kernel_pc: int = 0, thread: int = 1, flavor: int = PERIODIC) -> bytes:
    return record(2, struct.pack("<5IHBBBBHII", pc, kernel_pc, thread, 5, 5, flavor, 0, 0, 0, 0, 0,
                                 0, 0))


def counts(taken: int, lost: int = 0) -> bytes:
    clock = struct.pack("<I7Q", 0, taken + 10, taken + 6, 1, 3, 4, 2, taken)
    stream = struct.pack("<4Q", taken, taken - lost, lost, 0)
    return record(3, clock) + record(4, stream)


class Profile:
    """What a collector has, of the program: filled and written by the core."""

    def __init__(self, core: ctypes.CDLL, program: Program, flavors: int = PERIODIC):
        self.core = core
        self.collection = Collection(low=program.low, high=program.high, pid=12, task=5,
                                     own_thread=OWN_THREAD)
        core["__arcs_clear"]()
        core["__collection_clear"](ctypes.byref(self.collection), flavors)

    def add(self, records: bytes) -> None:
        self.core["__collection_add"](ctypes.byref(self.collection), records,
                                   ctypes.c_size_t(len(records) // 4))

    def call(self, source: int, target: int, count: int = 1) -> None:
        for _ in range(count):
            self.core["mcountaux"](source, target)

    def file(self, form: int = GNU) -> bytes:
        room = self.core["__gmon_room"](ctypes.byref(self.collection), True, form)
        buffer = ctypes.create_string_buffer(room)
        size = self.core["__gmon_write"](ctypes.byref(self.collection), True, form, buffer,
                                      ctypes.c_size_t(room))
        assert size <= room
        return buffer.raw[:size]


def usual(core: ctypes.CDLL, program: Program) -> Profile:
    """Samples in all functions, and calls."""
    profile, at = Profile(core, program), program.at
    profile.add(begin())
    for name, n in zip(NAMES, (40, 30, 20, 10)):
        profile.add(sample(at[name] + 1) * n + sample(at[name] + 4, 0xc0100123) * 3)
    profile.add(sample(at["leaf"], thread=OWN_THREAD) * 5 + sample(0x40000000) * 2 + counts(119))
    profile.call(at["middle"] + 5, at["leaf"], 70)
    profile.call(at["other"] + 5, at["leaf"], 11)
    profile.call(at["other"] + 9, at["middle"], 12)
    profile.call(at["main"] + 9, at["middle"], 3)
    profile.call(at["main"] + 12, at["other"], 2)
    profile.call(0x20, at["main"])
    return profile


# ---------------- The file ----------------

def test_the_file_says_what_was_collected(core, program) -> None:
    gmon, at = parse(usual(core, program).file()), program.at
    (low, high, rate, dimension, bins), = gmon.histograms
    assert (low, high, rate) == (program.low, program.low + 2 * len(bins), 1000)
    assert high - program.high in (0, 1) and dimension == b"seconds".ljust(15, b"\0") + b"s"
    assert [bins[(at[name] + 1 - low) // 2] for name in NAMES] == [40, 30, 20, 10]
    assert sum(bins) == 100  # User mode only.
    assert pcs(gmon, 0) == {0x40000000: 2, **{at[name] + 1: n
                                              for name, n in zip(NAMES, (40, 30, 20, 10))}}
    assert pcs(gmon, 1) == {at[name] + 4: 3 for name in NAMES}
    assert (EXTRA_END, at["main"], 1) in gmon.arcs  # A call from nowhere is no record of ours.
    assert (at["middle"] + 5, at["leaf"], 70) in gmon.arcs


def test_each_address_is_in_its_bin(core, program) -> None:
    profile, first = Profile(core, program), program.at["leaf"]
    profile.add(begin())
    for n in range(16):
        profile.add(sample(first + n) * (n + 1))
    (low, _, _, _, bins), = parse(profile.file()).histograms
    at = (first - low) // 2
    assert list(bins[at:at + 8]) == [4 * n + 3 for n in range(8)]
    assert sum(bins) == sum(range(17))


def test_the_counts_are_in_it(core, program) -> None:
    found = values(parse(usual(core, program).file()))
    assert found == {1: 1, 2: PERIODIC, 3: PERIODIC, 4: 1000, 5: 10**6, 6: 0, 7: 12, 8: 5,
                     9: 129, 10: 125, 11: 1, 12: 4, 13: 2, 14: 119, 15: 119, 16: 119, 17: 0,
                     18: 0, 19: 5, 20: 2, 21: 0, 22: 12, 26: 3}


def test_a_full_bin_goes_on_in_another_histogram(core, program) -> None:
    profile, leaf = Profile(core, program), program.at["leaf"] & ~1
    profile.add(begin())
    for _ in range(150):
        profile.add(sample(leaf) * 700 + sample(leaf + 1) * 300)
    gmon = parse(profile.file())
    assert [histogram[:4] for histogram in gmon.histograms] == [gmon.histograms[0][:4]] * 3
    found = [histogram[4][(leaf - program.low) // 2] for histogram in gmon.histograms]
    assert found == [65535, 65535, 150000 - 2 * 65535]
    assert pcs(gmon, 0) == {leaf: 105000, leaf + 1: 45000}


def test_the_first_flavor_is_the_histogram(core, program) -> None:
    profile, leaf = Profile(core, program, ZFILL | COW), program.at["leaf"]
    profile.add(begin(ZFILL | COW))
    profile.add(sample(leaf, flavor=ZFILL) * 3 + sample(leaf, flavor=COW) * 5)
    gmon = parse(profile.file())
    (_, _, rate, dimension, bins), = gmon.histograms
    assert (rate, dimension, sum(bins)) == (1, b"zfill".ljust(15, b"\0") + b"z", 3)
    assert (values(gmon)[2], values(gmon)[3]) == (ZFILL, ZFILL | COW)
    assert (pcs(gmon, 8), pcs(gmon, 14)) == ({leaf: 3}, {leaf: 5})


def test_what_passes_32_bits_is_in_two_records(core, program) -> None:
    profile = usual(core, program)
    profile.add(record(4, struct.pack("<4Q", 5 << 32, 5 << 32, 0, 0)))
    gmon = parse(profile.file())
    assert (values(gmon)[15], (EXTRA_VALUE + 1, 15, 5) in gmon.arcs) == (0, True)


# ---------------- The older formats ----------------

def test_the_older_formats(core, program) -> None:
    profile = usual(core, program)
    new, old = profile.file(BSD44), profile.file(BSD)
    gmon = parse(profile.file())
    low, high, size = struct.unpack_from("<IIi", old)
    bins = struct.pack(f"<{len(gmon.histograms[0][4])}H", *gmon.histograms[0][4])
    arcs = b"".join(struct.pack("<3I", *arc) for arc in gmon.arcs if arc[0] >= EXTRA_END)
    assert (low, high, size) == (program.low, program.low + len(bins), 12 + len(bins))
    assert old[12:] == bins + arcs
    assert new == struct.pack("<IIiii3i", low, high, 32 + len(bins), 0x51879, 1000, 0, 0, 0) + \
        bins + arcs


def report(program: Program, data: bytes, folder: Path, *options: str) -> bytes:
    """What GNU gprof says of a file, and what it writes."""
    (folder / "gmon.out").write_bytes(data)
    summary = folder / "gmon.sum"
    summary.unlink(missing_ok=True)
    done = subprocess.run(["gprof", *options, program.path, "gmon.out"], cwd=folder,
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return done.stdout + (summary.read_bytes() if summary.exists() else b"")


def test_gnu_gprof_reads_all_of_them_alike(core, program, tmp_path) -> None:
    profile = usual(core, program)
    new = report(program, profile.file(GNU), tmp_path, "-b")
    assert b" leaf" in new
    assert report(program, profile.file(BSD44), tmp_path, "-b") == new
    flat = report(program, profile.file(BSD), tmp_path, "-b", "-p").split()
    assert [word for word in flat if word in {name.encode() for name in NAMES}] == \
        [b"leaf", b"middle", b"other", b"main"]


OPTIONS = [(), ("-b",), ("-p",), ("-q",), ("-b", "-p", "-q"), ("-pleaf",), ("-qmiddle",),
           ("-Pleaf",), ("-Qmiddle",), ("-A",), ("-A", "-x"), ("-Aleaf",), ("-J",), ("-Jleaf",),
           ("-C",), ("-Cleaf",), ("-Z",), ("-Zmain",), ("-Nleaf",), ("-nleaf",), ("-l", "-p"),
           ("-l", "-q"), ("-z",), ("-z", "-p"), ("-T",), ("-L",), ("-y", "-A"), ("-w", "40"),
           ("-r",), ("-s",), ("-s", "-b"), ("-a",), ("-b", "-a"), ("-c",),
           ("-D",), ("-m", "5"), ("-m", "5", "-A"), ("-k", "middle/leaf"), ("-e", "leaf"),
           ("-E", "leaf"), ("-f", "middle"), ("-F", "middle"), ("-t", "3", "-A"), ("-O", "auto"),
           ("-O", "magic", "-s"), ("-I", "/"), ("--demangle",), ("--no-demangle",),
           ("--no-static",), ("--ignore-non-functions",)]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_gnu_gprof_sees_no_record_of_ours(core, program, tmp_path, options) -> None:
    data = usual(core, program).file()
    plain = parse(data).plain
    assert len(plain) < len(data)
    with_ours = report(program, data, tmp_path, *options)
    assert with_ours == report(program, plain, tmp_path, *options)
    if options in ((), ("-b",), ("-p",), ("-q",)):
        assert b"leaf" in with_ours and b"0.04" in with_ours


def test_gnu_gprof_counts_records(core, program, tmp_path) -> None:
    """The one place where they are seen: how many records the file has."""
    data = usual(core, program).file()
    all_arcs, plain = parse(data).arcs, parse(data).plain
    told = report(program, data, tmp_path, "-i").decode()
    assert f"{len(all_arcs)} call-graph records" in told
    assert told.replace(str(len(all_arcs)), str(len(parse(plain).arcs))) == \
        report(program, plain, tmp_path, "-i").decode()


def test_the_comparison_sees_a_difference(core, program, tmp_path) -> None:
    """The control: one sample more."""
    profile = usual(core, program)
    before = report(program, profile.file(), tmp_path, "-b")
    profile.add(sample(program.at["other"] + 1) * 10)
    assert report(program, profile.file(), tmp_path, "-b") != before


def test_no_sample_is_lost_to_rounding(core, program, tmp_path) -> None:
    """What a range that is one bin short cost: with bins of its own width nothing is scaled."""
    text = report(program, usual(core, program).file(), tmp_path, "-b", "-p").decode()
    rows = {line.split()[-1]: line.split() for line in text.splitlines() if "." in line}
    assert {name: float(rows[name][2]) for name in NAMES} == \
        {"leaf": 0.04, "middle": 0.03, "other": 0.02, "main": 0.01}
