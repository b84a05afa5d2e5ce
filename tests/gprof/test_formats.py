# SPDX-License-Identifier: MIT
"""Every kind of gmon.out is read, sums do not wrap, and what cannot be right is refused."""

import os
import re
import struct
import subprocess
from pathlib import Path

import pytest
from gprof.gmon import (COW, FUNCTION_BYTES, GNU, GPROF, MADE, PERIODIC, USER, ZFILL,
                        Profile, make_program, output, read_flat, read_graph, run)

NAMES = ["main", "work", "leaf", "rest"]
MAIN, WORK, LEAF, REST = (USER + FUNCTION_BYTES * i for i in range(len(NAMES)))
CALLS = [(MAIN + 5, WORK, 3), (WORK + 5, LEAF, 40), (MAIN + 10, LEAF, 60)]


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    return make_program(tmp_path_factory.mktemp("gprof") / "program", NAMES)


def bins(counts: dict[int, int]) -> list[int]:
    all_ = [0] * (len(NAMES) * FUNCTION_BYTES // 2)
    for pc, count in counts.items():
        all_[(pc - USER) // 2] += count
    return all_


def profile(counts: dict[int, int] | None = None, **more) -> Profile:
    return Profile(USER, bins(counts or {MAIN: 10, WORK + 2: 30, LEAF: 200}), list(CALLS), **more)


def ours(counts: dict[int, int], flavor: int = PERIODIC, **more) -> bytes:
    """A file of ours with these exact counts of one flavor, and what belongs to it."""
    total = sum(counts.values())
    values = {"flavor": flavor, "flavors": flavor, "rate": 1000, "interval": 1000000,
              "due": total, "fired": total, "missed": 0, "taken": total, "all_taken": total,
              "delivered": total, "lost": 0, "profiler": 0} | more.pop("values", {})
    exact = [(flavor, 0, pc, count) for pc, count in counts.items()] + more.pop("exact", [])
    return Profile(USER, bins(counts), list(CALLS), rate=1000, values=values, exact=exact,
                   dimension="seconds" if flavor == PERIODIC else "zfill", **more).ours()


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("n", [0, 1, 7])
def test_counts_of_blocks_are_passed_over(program, tmp_path: Path, n: int) -> None:
    """Two words each, before the other records or behind them: what is shown is the same."""
    file, data = tmp_path / "gmon.out", profile().gnu()
    blocks = b"\2" + struct.pack("<I", n) + struct.pack("<II", LEAF, 5) * n
    file.write_bytes(data)
    text = output("-b", program, file)
    for with_blocks in data[:20] + blocks + data[20:], data + blocks:
        file.write_bytes(with_blocks)
        assert output("-b", program, file) == text
    if n:
        file.write_bytes((data + blocks)[:-1])
        assert run(GPROF, program, file).returncode == 1


def test_all_kinds_give_the_same(program: Path, tmp_path: Path) -> None:
    one = profile(rate=100, dimension="seconds")
    files = {"old": one.bsd(), "4.4": one.bsd(44), "gnu": one.gnu(),
             "ours": ours({MAIN: 10, WORK + 2: 30, LEAF: 200})}
    texts = [output("-b", "-N", program, write(tmp_path / name, data))
             for name, data in files.items()]
    graphs = [read_graph(text) for text in texts]
    assert read_flat(texts[0]) == {"leaf": (200, 100), "work": (30, 3), "main": (10, 0)}
    assert graphs[0]["work"].child == 80  # 40 calls of 100.
    assert all(graph == graphs[0] for graph in graphs)
    assert all(read_flat(text) == read_flat(texts[0]) for text in texts)


@pytest.mark.parametrize(("rate", "data", "options", "seconds"), [
    ("4.4BSD says 100 Hz", profile(rate=100).bsd(44), [], 2.0),
    ("GNU says 1000 Hz", profile(rate=1000, dimension="seconds").gnu(), [], 0.2),
    ("ours say an interval", ours({LEAF: 200}, values={"interval": 2000000}), [], 0.4),
    ("the old form says nothing", profile().bsd(), [], 3.0),
    ("-r overrides", profile(rate=100).bsd(44), ["-r", "2.5"], 0.5),
    ("-N too", profile(rate=100).bsd(44), ["-N"], 200),
    ("and an event has no time", profile(dimension="page faults").gnu(), ["-r", "5"], 200),
], ids=lambda value: value if isinstance(value, str) else "")
def test_what_a_sample_is_worth(program: Path, tmp_path: Path, rate: str, data: bytes,
                                options: list[str], seconds: float) -> None:
    text = output("-b", *options, program, write(tmp_path / "gmon.out", data))
    assert read_flat(text)["leaf"][0] == pytest.approx(seconds), rate
    assert ("second" in text) == (seconds != 200)


def test_64_bits(tmp_path: Path) -> None:
    """A program of x86-64 and its words of 8 bytes, against GNU's gprof."""
    source = tmp_path / "a.s"
    source.write_text(".globl _start\n.type _start,@function\n_start: call other\nret\n"
                      ".size _start,.-_start\n.type other,@function\nother: call _start\n"
                      "ret\n.size other,.-other\n")
    program = tmp_path / "a"
    subprocess.run(["as", "--64", "-o", tmp_path / "a.o", source], check=True)
    subprocess.run(["ld", "-m", "elf_x86_64", "-Ttext=0x401000", "-o", program, tmp_path / "a.o"],
                   check=True)
    head = b"gmon" + struct.pack("<I12x", 1)
    histogram = struct.pack("<BQQII15sc4H", 0, 0x401000, 0x401008, 4, 1, b"ticks", b"t", 1, 2, 4, 8)
    arc = struct.pack("<BQQI", 1, 0x401005, 0x401006, 7)
    file = write(tmp_path / "gmon.out", head + histogram + arc)
    graph = read_graph(output("-b", program, file))
    assert graph == read_graph(output("-b", "-q", program, file, gprof=GNU))
    assert (graph["other"].calls, graph["_start"].child) == (7, pytest.approx(8, abs=0.01))
    assert "cycle" not in output("-b", program, file)
    assert "<cycle 1>" in output("-b", "-c", program, file), "a call backwards"


# ---------------- Sums ----------------

def test_sums_do_not_wrap(program: Path, tmp_path: Path) -> None:
    """GNU's gprof adds with 32 bits; its gmon.sum even has 16."""
    big = Profile(USER, bins({LEAF: 0xFFFF * 100}), [(MAIN + 5, LEAF, 2**32 - 1)])
    file = write(tmp_path / "gmon.out", big.gnu())
    text = output("-b", program, *[file] * 1000)
    assert read_flat(text)["leaf"] == (0xFFFF * 100 * 1000, 1000 * (2**32 - 1))


def test_gmon_sum(program: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "gmon.out", profile({LEAF: 60000, WORK: 5}).gnu())
    output("-s", program, file, file, file, cwd=tmp_path)
    total = tmp_path / "gmon.sum"
    flat = read_flat(output("-b", program, total))
    assert (flat["leaf"], flat["work"]) == ((180000, 300), (15, 9))
    assert read_graph(output("-b", program, total)) == \
        read_graph(output("-b", "-q", program, total, gprof=GNU))
    # GNU's own sum of the same files has wrapped.
    output("-s", program, file, file, file, gprof=GNU, cwd=tmp_path)
    assert read_flat(output("-b", program, total))["leaf"][0] == 180000 % 65536


def test_gmon_sum_of_ours_stays_exact(program: Path, tmp_path: Path) -> None:
    data = ours({LEAF + 1: 70000, REST + 3: 1}, exact=[(PERIODIC, 1, WORK, 5), (COW, 0, REST, 3)],
                values={"flavors": PERIODIC | COW, "lost": 4, "all_taken": 70005})
    file = write(tmp_path / "gmon.out", data)
    twice = output("-b", program, file, file, cwd=tmp_path)
    output("-s", program, file, file, cwd=tmp_path)
    assert output("-b", program, tmp_path / "gmon.sum", cwd=tmp_path) == twice
    assert "lost: 8;" in twice


def test_gmon_sum_of_time_and_events(program: Path, tmp_path: Path) -> None:
    """Whichever comes first, seconds stay seconds and events stay events."""
    clock = write(tmp_path / "clock", ours({LEAF: 500}))
    events = write(tmp_path / "events", ours({WORK: 7}, ZFILL, values={"rate": 0, "interval": 0}))
    for files in ((clock, events), (events, clock)):
        directly = output("-b", "--flavor=periodic", program, *files, cwd=tmp_path)
        assert read_flat(directly)["leaf"][0] == pytest.approx(0.5)
        output("-s", program, *files, cwd=tmp_path)
        for flavor, name, amount in (("periodic", "leaf", 0.5), ("zfill", "work", 7)):
            text = output("-b", f"--flavor={flavor}", program, tmp_path / "gmon.sum")
            assert read_flat(text)[name][0] == pytest.approx(amount)


def test_the_clock_s_rate_is_its_own(program: Path, tmp_path: Path) -> None:
    """Also where the histogram is of events."""
    data = ours({WORK: 7}, ZFILL, values={"flavors": ZFILL | PERIODIC},
                exact=[(PERIODIC, 0, LEAF, 300)])
    text = output("-b", "--flavor=periodic", program, write(tmp_path / "gmon.out", data))
    assert read_flat(text)["leaf"][0] == pytest.approx(0.3)


# ---------------- What is refused ----------------

def refuse(program: Path, file: Path, what: str, *options: str) -> None:
    done = run(GPROF, *options, program, file)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("gprof: ") and done.stderr.count("\n") == 1
    assert what in done.stderr


GOOD = profile(rate=100, dimension="seconds")


@pytest.mark.parametrize(("data", "what"), [
    (b"", "is empty"),
    (b"gmon", "ends in its header"),
    (b"gmon" + struct.pack("<I12x", 2), "newer program"),
    (GOOD.gnu()[:-1], "ends in a record"),
    (GOOD.gnu() + b"\7", "a kind that does not exist"),
    (GOOD.bsd()[:-1], "ends in an arc"),
    (b"\1" * 100, "header fits no kind"),
    (b"hello", "too short"),
    (Profile(USER + 0x100000, [1, 2], []).gnu(), "another program"),
    (Profile(USER, [1], [(MAIN, USER + 0x100000, 1)]).gnu(), "another program"),
    (Profile(USER, [1] * 0x10000, []).gnu(), "another program"),
    (Profile(USER, [1, 2, 3], [], step=0).gnu(), "more bins than bytes"),
    (GOOD.gnu() + Profile(USER + 2, [1], rate=100, dimension="seconds").records(), "that overlap"),
    (b"".join([GOOD.gnu(), *(Profile(USER + 512 + i, [1], step=1, rate=100,
                                     dimension="seconds").records() for i in range(300))]),
     "that overlap"),
    (GOOD.gnu() + profile(rate=50, dimension="seconds").records(), "another rate"),
    (ours({LEAF: 5}, values={"format": 2}), "newer program"),
    (ours({LEAF: 5}, values={"flavor": 2}), "what its histogram counts"),
    (ours({LEAF: 5}, exact=[(PERIODIC, 0, WORK, 1)]), "exact counts differ"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_damaged_files(program: Path, tmp_path: Path, data: bytes, what: str) -> None:
    refuse(program, write(tmp_path / "gmon.out", data), what)


def test_profiles_of_other_widths(program: Path, tmp_path: Path) -> None:
    wide = b"gmon" + struct.pack("<I12xBQQII16s4H", 1, 0, USER, USER + 8, 4, 100, b"seconds",
                                 1, 2, 3, 4)
    refuse(program, write(tmp_path / "gmon.out", wide),
           f"gmon.out: is the profile of a program of 64 bits, and {program} has 32")


def test_programs_that_will_not_do(program: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "gmon.out", GOOD.gnu())
    stripped = tmp_path / "stripped"
    subprocess.run(["i686-linux-gnu-strip", "-o", stripped, program], check=True)
    os.utime(stripped, (0, 0))
    refuse(stripped, file, "it was stripped")
    refuse(file, file, "not an ELF file")
    refuse(write(tmp_path / "cut", program.read_bytes()[:300]), file, "is damaged")
    refuse(tmp_path / "none", file, "cannot be read: No such file")
    refuse(program, tmp_path / "none", "cannot be read: No such file")


SYMBOLS_TYPE, STRINGS_PLACE, LINK_PLACE, ENTRY_PLACE = 2, 16, 24, 36  # In a section's header.


@pytest.mark.parametrize(("place", "value"), [
    (STRINGS_PLACE, 0x7fffffff), (LINK_PLACE, 0), (LINK_PLACE, 9999), (ENTRY_PLACE, 8)],
    ids=("outside", "no names", "no section", "short entries"))
def test_symbols_that_are_nowhere(program: Path, tmp_path: Path, place: int, value: int) -> None:
    """A table that cannot be right is not one without symbols."""
    data = bytearray(program.read_bytes())
    headers, = struct.unpack_from("<I", data, 32)
    bytes_each, n = struct.unpack_from("<HH", data, 46)
    table, = (at for at in range(headers, headers + n * bytes_each, bytes_each)
              if struct.unpack_from("<I", data, at + 4) == (SYMBOLS_TYPE,))
    struct.pack_into("<I", data, table + place, value)
    damaged = write(tmp_path / "damaged", bytes(data))
    os.utime(damaged, (0, 0))
    refuse(damaged, write(tmp_path / "gmon.out", GOOD.gnu()),
           "is damaged: its symbols point outside of the file")


def test_a_file_without_end(program: Path) -> None:
    """Memory is not; whoever limits it is told so."""
    done = subprocess.run(["sh", "-c", 'ulimit -v 65536; exec "$@"', "sh", GPROF, program,
                           "/dev/zero"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "gprof: out of memory for " in done.stderr, done


def test_which_of_both_was_there_first(program: Path, tmp_path: Path) -> None:
    """Two seconds are what a clock that was set back, or a file system, may be wrong by."""
    file = write(tmp_path / "gmon.out", GOOD.gnu())
    for date in MADE - 2, MADE, MADE + 1:
        os.utime(file, (date, date))
        assert "leaf" in output(program, file)
    os.utime(file, (MADE - 3, MADE - 3))
    refuse(program, file, "is newer than")
    assert "leaf" in output("--any-date", program, file)


@pytest.mark.parametrize(("options", "what"), [
    (["-x", "leaf", "-x", "nobody"], "-x nobody: {program} has no function of that name"),
    *(([option, "nobody"], f"{option} nobody: {{program}} has no function of that name")
      for option in ("-e", "-E", "-f", "-F")),
    (["-k", "leaf/nobody"], "-k nobody: {program} has no function of that name"),
    (["-k", "nobody", "leaf"], "-k nobody: {program} has no function of that name"),
    (["--flavor=cow"], "no such samples; it has: periodic"),
    (["--for=5"], "no samples on behalf"),
    (["--for=each", "--for", "5"], "no samples on behalf"),
    (["--for=2.5"], "2.5: the process of --for must be a whole number from 0 "),
    (["--view=poem", "-o", "program"], "there is no such view"),
    (["--view=folded", "--flavor=cow"], "no such samples; it has: periodic"),
    (["--view=folded", "-x", "leaf"], "-x: is for tables; --view=folded writes all"),
    (["--view", "folded", "-C", "3"], "-C: is for tables; --view=folded writes all"),
    (["-o", "program"], "-o: is where a view goes"),
    (["-r", "0"], "above 0"),
    (["-C", "0.5"], "0.5: the size of cycles for -C must be a whole number from 1 "),
    (["-l"], "no line numbers"),
], ids=lambda value: value[0] if isinstance(value, list) else "")
def test_wrong_requests(program: Path, tmp_path: Path, options: list[str], what: str) -> None:
    refuse(program, write(tmp_path / "gmon.out", GOOD.gnu()), what.format(program=program),
           *options)


@pytest.mark.parametrize("option", ["-e", "-x", "-C", "-r", "-o", "-k", "--view", "--flavor",
                                    "--for", "--kernel"])
def test_options_without_their_values(program: Path, option: str) -> None:
    done = run(GPROF, program, option)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"gprof: {option}: its value is missing\nusage: gprof ")


def test_help_is_what_was_asked_for() -> None:
    assert output("--help").startswith("usage: gprof ")
    done = run(GPROF, "-b", "--no-such")
    assert done.returncode == 1
    called = output("--help").split("\n\n")[0]
    assert done.stderr == f"gprof: --no-such: there is no such option\n{called}\n"


@pytest.mark.parametrize("options", [[], ["--help"], ["--view=json"], ["-x", "leaf"]], ids=str)
def test_what_cannot_be_written(program: Path, tmp_path: Path, options: list[str]) -> None:
    file = write(tmp_path / "gmon.out", GOOD.gnu())
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([GPROF, *options, program, file], stdout=full, text=True,
                              stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and re.fullmatch("gprof: standard output.*\n", done.stderr)


@pytest.mark.parametrize("flavor", [ZFILL, COW])
def test_a_file_of_events(program: Path, tmp_path: Path, flavor: int) -> None:
    text = output("-b", program, write(tmp_path / "gmon.out", ours({LEAF: 5}, flavor)))
    assert read_flat(text)["leaf"] == (5, 100) and "seconds" not in text
