# SPDX-License-Identifier: MIT
"""libprof1 in the guest: how profiling begins, is controlled, and ends; what the files then say."""

import re
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, unix
from assay.files import Files, Get, Put
from libprof.gmon_reader import Gmon, Image, code, parse, pcs, values

PROGRAMS = Path(__file__).parent / "programs"
UX_CC = OUT / "sdk/bin/ux-cc"
WARNINGS = ("-Wall", "-Wextra", "-Werror")
LIB = Path(__file__).parents[1] / "lib"
# Programs that check something themselves.
CHECKED = {"control", "ended", "owner", "shortage", "writers"}
CHECKS = (f"-I{LIB}", f"-I{LIB}/unix", LIB / "unix/check_unix.c")

# Mach 3.0's own command line, as the note on profiling gives it.
NOTE = ("-pg", "{source}", "-o", "{program}", "-lprof1", "-lnetname", "-lthreads_p", "-lmach_p")

# How `ends` ends, and with which status the shell sees it.
WAYS = {"exit": 3, "return": 4, "threads": 4, "last": 0, "at-once": 5, "sigint": 130,
        "sigterm": 143, "handler": 6, "exec": 0, "no-exec": 7, "fork": 9, "atexit": 4}
NO_FILE = {"at-once", "handler"}


class Program(NamedTuple):
    """A program of the guest's, and its functions."""

    path: Path
    functions: list[tuple[int, str]]

    def name(self, address: int) -> str:
        return ([name for start, name in self.functions if start <= address] or ["?"])[-1]

    def samples(self, gmon: Gmon, kind: int = 0) -> dict[str, int]:
        """Exact samples by function."""
        found: dict[str, int] = {}
        for pc, count in pcs(gmon, kind).items():
            found[self.name(pc)] = found.get(self.name(pc), 0) + count
        return found

    def calls(self, gmon: Gmon) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for source, target, count in gmon.arcs:
            if source >= 0x1000:
                arc = self.name(source), self.name(target)
                found[arc] = found.get(arc, 0) + count
        return found


def compile_program(folder: Path, name: str, *options: str, out: str = "") -> Program:
    program = folder / (out or name)
    words = [word.format(source=PROGRAMS / f"{name}.c", program=program) for word in options]
    checks = CHECKS if name in CHECKED else ()
    subprocess.run([UX_CC, "-O1", "-g", *WARNINGS, *checks, *words], check=True)
    lines = subprocess.run(["nm", "-n", "--defined-only", program], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    return Program(program, [(int(line.split()[0], 16), line.split()[2]) for line in lines
                             if line.split()[1] in "tT"])


def wrapped(name: str) -> list[str]:
    """The linker's options for calls that the program takes the place of."""
    calls = re.findall(r"^FAILING\((\w+),", (PROGRAMS / f"{name}.c").read_text(), re.MULTILINE)
    assert calls
    return [f"-Wl,--wrap={call}" for call in calls]


def usual(folder: Path, name: str) -> Program:
    return compile_program(folder, name, "-pg", "{source}", "-o", "{program}")


def check_sums(gmon: Gmon) -> None:
    """Nothing is missing."""
    value = values(gmon)
    due, fired, missed, idle, elsewhere, taken = (value[n] for n in range(9, 15))
    all_taken, delivered, lost, buffered = (value[n] for n in range(15, 19))
    assert due == fired + missed + value[26] and fired == idle + elsewhere + taken
    assert all_taken == delivered + lost + buffered and buffered == 0
    noted = sum(count for source, _, count in gmon.arcs if 0x100 <= source < 0x1000)
    assert noted + value[19] == delivered
    (_, _, _, _, bins), = gmon.histograms
    kind = 2 * (value[2].bit_length() - 1)
    assert sum(bins) <= sum(pcs(gmon, kind).values())


# ---------------- Every way to end ----------------

class Ends(NamedTuple):
    program: Program
    plain: str  # What was printed without -pg,
    profiled: str  # and with it.
    log: str
    folder: Path


@pytest.fixture(name="ends", scope="module")
def ends_fixture(tmp_path_factory) -> Ends:
    folder = tmp_path_factory.mktemp("ends")
    program = compile_program(folder, "ends", *NOTE)
    plain = compile_program(folder, "ends", "{source}", "-o", "{program}", out="plain")
    run = " ".join(WAYS)
    commands = f"""cd /tmp
for way in {run}; do ./plain $way; echo "$way $?"; done
echo ---
for way in {run}; do mkdir $way; cd $way; ../ends $way; echo "$way $?"; cd ..; done
echo ---
mv fork/gmon.out.* fork/child
ls */gmon.out* fork/child | cat
mkdir /tmp/closed; cd /tmp/closed; chmod 555 .; ../ends exit; echo "closed $?"; ls -a | cat
"""
    files = Files(put=(Put(program.path, "/tmp/ends"), Put(plain.path, "/tmp/plain")),
                  get=tuple(Get(f"/tmp/{way}/gmon.out", folder / way) for way in WAYS
                            if way not in NO_FILE) +
                  (Get("/tmp/fork/child", folder / "child"),))
    result = unix.run(commands, files=files, limit=60)
    assert (result.outcome, result.status) == ("exit", 0), result.log.decode()[-2000:]
    plain_text, profiled, rest = result.output.decode().split("---\n")
    (folder / "listing").write_text(rest)
    return Ends(program, plain_text, profiled, result.log.decode(errors="replace"), folder)


def of(ends: Ends, way: str) -> Gmon:
    return parse((ends.folder / way).read_bytes())


def test_a_program_ends_as_it_does_without(ends: Ends) -> None:
    expected = "".join(("executed\n" if way == "exec" else "") + f"{way} {status}\n"
                       for way, status in WAYS.items())
    assert ends.plain == expected
    assert ends.profiled == expected


@pytest.mark.parametrize("way", sorted(set(WAYS) - NO_FILE))
def test_the_file_is_written(ends: Ends, way: str) -> None:
    gmon = of(ends, way)
    check_sums(gmon)
    assert ends.program.samples(gmon)["spin"] >= 5
    assert ends.program.calls(gmon)["main", "spin"] == 1


def test_the_file_says_of_which_program(ends: Ends) -> None:
    """Each page with samples or calls in it is summed up; the rest has perhaps never been read."""
    image = Image(ends.program.path)
    for way in ("return", "last", "child"):
        gmon = of(ends, way)
        assert (values(gmon)[24], values(gmon)[25]) == image.text
        ranges = code(gmon)
        assert ranges and all(image.sum(start, size) == found for start, size, found in ranges)
        places = {address for source, target, _ in gmon.arcs if source >= 0x1000
                  for address in (source, target)} | set(pcs(gmon, 0)) | set(pcs(gmon, 1))
        assert not [place for place in places if not any(start <= place < start + size
                                                         for start, size, _ in ranges)]
        assert {start & ~0xfff for start, _, _ in ranges[1:]} <= {place & ~0xfff
                                                                 for place in places}


def test_what_ends_at_once_leaves_no_file(ends: Ends) -> None:
    listing = (ends.folder / "listing").read_text().split()
    for way in NO_FILE:
        assert not [name for name in listing if name.startswith(way)]
    assert not [name for name in listing if name.endswith("~")]


def test_what_atexit_calls_is_in_it(ends: Ends) -> None:
    assert ends.program.calls(of(ends, "atexit"))["last", "spin"] == 1
    assert ends.program.samples(of(ends, "atexit"))["spin"] > \
        ends.program.samples(of(ends, "exit"))["spin"]


def test_a_child_begins_with_nothing(ends: Ends) -> None:
    parent, child = of(ends, "fork"), of(ends, "child")
    check_sums(child)
    assert ("main", "spin") not in ends.program.calls(child)
    assert ("in_the_child", "spin") not in ends.program.calls(parent)
    assert ends.program.calls(child)["in_the_child", "spin"] == 1
    assert ends.program.samples(child)["spin"] >= 4
    assert values(child)[7] != values(parent)[7] and values(child)[8] != values(parent)[8]


def test_threads_and_mach_are_in_the_graph(ends: Ends) -> None:
    """The libraries with _p count calls too."""
    calls = ends.program.calls(of(ends, "last"))
    assert calls["pthread_create", "__thread_start"] == 1
    assert calls["__area_allocate", "mach_task_self_cached"] >= 1


def test_usual_libraries_are_not_in_the_graph(tmp_path) -> None:
    program = compile_program(tmp_path, "ends", "-pg", "{source}", "-o", "{program}")
    text = subprocess.run(["i686-linux-gnu-objdump", "-d", program.path], check=True, text=True,
                          capture_output=True).stdout
    bodies = dict(re.findall(r"<(\w+)>:\n((?:.+\n)*)", text))
    assert "<mcount>" in bodies["by_exec"]
    assert "<mcount>" not in bodies["pthread_create"] + bodies["mach_task_self_cached"]


def test_a_file_that_cannot_be_written_is_told(ends: Ends) -> None:
    rest = (ends.folder / "listing").read_text()
    assert rest.endswith("closed 3\n.\n..\n")
    assert "ends: gmon.out cannot be written: Permission denied; run it in a folder that you may " \
        "write to, or set gprof_gmon_out" in ends.log


def test_gprof_reads_it(ends: Ends) -> None:
    text = subprocess.run(["gprof", "-b", ends.program.path, ends.folder / "return"], check=True,
                          text=True, capture_output=True).stdout
    rows = [line.split() for line in text.splitlines()]
    assert [row for row in rows if row[-1:] == ["spin"] and float(row[0]) > 50]
    flat, graph = text.split("Call graph")
    assert "mcount" not in graph
    assert "main" in flat


# ---------------- Control from without ----------------

def test_a_program_that_only_asks(tmp_path: Path) -> None:
    """By libgprof, which has the calls and nothing of the profiling library."""
    asks = compile_program(tmp_path, "asks", "{source}", "-o", "{program}", "-lgprof", "-lnetname")
    both = compile_program(tmp_path, "asks", "-pg", "{source}", "-o", "{program}", "-lgprof",
                           out="both")
    names = {name for _, name in asks.functions}
    assert {"gprof_mon_switch", "gprof_mon_dump", "gprof_mon_open"} <= names
    assert not [name for name in names if re.match("__collect|__gprof|do_gprof|monstart", name)]
    files = Files(put=tuple(Put(one.path, f"/tmp/{one.path.name}") for one in (asks, both)),
                  get=(Get("/tmp/a.out", tmp_path), Get("/tmp/b.out", tmp_path)))
    result = unix.run("exec 2>&1; cd /tmp; slowprog 100000 >/dev/null & P=$!; "
                      "monctl -pid $P -proxy -open -bg; ./asks $P >a.out && ./both $P >b.out; "
                      "echo $?; ./asks 999; kill $P; "
                      "until monctl -pid $P -status 2>&1 | grep 'no process'; do sleep 0.01; done",
                      files=files, limit=60)
    text = result.output.decode()
    assert re.search(r"^0\nasks: gprof.999: error 1001$", text, re.M), text
    for name in ("a.out", "b.out"):
        low, high, size = struct.unpack("<3I", (tmp_path / name).read_bytes()[:12])
        bins = (tmp_path / name).read_bytes()[12:size]
        assert low < high and sum(struct.unpack(f"<{len(bins) // 2}H", bins)) >= 20, text


# ---------------- Control from within ----------------

@pytest.fixture(name="control", scope="module")
def control_fixture(tmp_path_factory) -> tuple[dict[str, Program], Path, str]:
    folder = tmp_path_factory.mktemp("control")
    programs = {name: usual(folder, name) for name in ("control", "owner", "places", "writers")}
    for name, options in {"ended": (), "shortage": wrapped("shortage")}.items():
        programs[name] = compile_program(folder, name, "{source}", "-o", "{program}", *options,
                                         "-lprof1", "-lnetname")
    commands = """cd /tmp
./control 2> said; echo "control $?"; cat said
./owner; echo "owner $?"
./ended; echo "ended $?"
./writers; echo "writers $?"
./shortage 2> said; echo "shortage $?"; sort -u said
ls gmon.out* 2> /dev/null
mkdir where; cd where; exec > ../places.txt 2>&1
../places; echo "none $?"; rm gmon.out
../places ''; echo "empty $?"; ls; rm gmon.out
../places /dev/null fork; echo "null $?"
../places pipe unread; echo "unread $?"
cat pipe > ../pipe.out & ../places pipe read; echo "read $?"; wait
../places pipe little; echo "little $?"
ln -s /dev/null link; ../places link; echo "link $?"; test -L link || rm link
ls
"""
    names = ("first.out", "second.out", "middle.out", "end.out", "old.out", "mine.out",
             "pipe.out", "places.txt")
    files = Files(put=tuple(Put(program.path, f"/tmp/{name}")
                            for name, program in programs.items()),
                  get=tuple(Get(f"/tmp/{name}", folder / name) for name in names))
    result = unix.run(commands, files=files, limit=60)
    assert result.outcome == "exit", result.log.decode()[-2000:]
    return programs, folder, result.output.decode()


def test_every_call_does_what_it_says(control) -> None:
    """And no gmon.out is written but by gprof_stop(), where crt0 has initialised nothing."""
    expected = (r"\d+ dumps in \d+ ms, \d+ due\ncontrol 0\n"
                r"control: moncontrol\(\) has changed nothing \(error \d+\); call it when the "
                r"program has begun to be profiled\n"
                r"control: /none/bad.out cannot be written: .*\nowner 0\nended 0\nwriters 0\n"
                r"shortage 0\nshortage: what was collected cannot be had \(error \d+\); "
                r"give the program more memory\n")
    assert re.fullmatch(expected, control[2]), control[2]


def test_each_beginning_zeroes_what_was_collected(control) -> None:
    programs, folder, _ = control
    program = programs["control"]
    first, second = (parse((folder / name).read_bytes()) for name in ("first.out", "second.out"))
    for gmon in first, second:
        check_sums(gmon)
        assert ("unseen_work", "spin") not in program.calls(gmon)
    assert program.calls(first)["first_work", "spin"] == 1
    assert ("first_work", "spin") not in program.calls(second)
    assert program.calls(second)["second_work", "spin"] == 1
    assert program.samples(second)["spin"] < 1.5 * program.samples(first)["spin"]


def test_a_dump_in_the_middle_loses_nothing(control) -> None:
    programs, folder, _ = control
    program = programs["control"]
    middle, end = (parse((folder / name).read_bytes()) for name in ("middle.out", "end.out"))
    for gmon in middle, end:
        check_sums(gmon)
    assert program.samples(middle)["spin"] >= 8
    assert program.samples(end)["spin"] > 1.5 * program.samples(middle)["spin"]
    assert ("unseen_work", "spin") not in program.calls(end)
    assert values(end)[9] > values(middle)[9]


def test_the_old_format_by_request(control) -> None:
    programs, folder, _ = control
    text = subprocess.run(["gprof", "-b", "-p", programs["control"].path, folder / "old.out"],
                          check=True, text=True, capture_output=True).stdout
    assert "spin" in text and (folder / "old.out").read_bytes()[:4] != b"gmon"


def test_events_are_counted_to_the_one(control) -> None:
    programs, folder, _ = control
    gmon = parse((folder / "mine.out").read_bytes())
    check_sums(gmon)
    zfill = 2 * 4
    found = programs["owner"].samples(gmon, zfill), programs["owner"].samples(gmon, zfill + 1)
    assert {**found[0], **found[1]}["touch_pages"] == 100
    (_, _, rate, dimension, bins), = gmon.histograms
    assert (rate, dimension[:5]) == (1, b"zfill")


def test_what_is_no_file_stays_what_it_is(control) -> None:
    """And the program ends as it would, whatever becomes of its profile."""
    programs, folder, _ = control
    assert (folder / "places.txt").read_text().splitlines() == [
        "none 9", "empty 9", "gmon.out", "null 9",
        "places: pipe cannot be written: No such device or address; nobody reads from it: begin "
        "that first, or set gprof_gmon_out to a file", "unread 9", "read 9",
        "places: pipe cannot be written: Broken pipe; who read from it has ended: begin that anew, "
        "or set gprof_gmon_out to a file", "little 9", "link 9", "pipe"]
    gmon = parse((folder / "pipe.out").read_bytes())
    check_sums(gmon)
    assert programs["places"].calls(gmon)["main", "spin"] == 1


# ---------------- Without a name server ----------------

def test_without_snames_the_program_is_sampled(tmp_path) -> None:
    """And one that exports nothing does not miss the name server."""
    program = usual(tmp_path, "ends")
    other = compile_program(tmp_path, "ends", "-pg", "{source}", str(PROGRAMS / "otherwise.c"),
                            "-o", "{program}", out="other")
    files = Files(put=(Put(program.path, "/tmp/ends"), Put(other.path, "/tmp/other")),
                  get=(Get("/tmp/gmon.out", tmp_path / "gmon.out"),
                       Get("/tmp/other.out", tmp_path / "other.out")))
    result = unix.run("cd /tmp; set -- $(ps -a | grep '[s]names'); kill -9 $2; "
                      "./other exit; ./ends exit", files=files, limit=40, user="root")
    assert (result.outcome, result.status) == ("exit", 3)
    log = result.log.decode(errors="replace")
    assert log.count("gprof_control_server_init netname_check_in (ipc/mig) server died") == 1
    assert re.search(r"ends: .*; start snames", log) and "other: " not in log
    assert program.samples(parse((tmp_path / "gmon.out").read_bytes()))["spin"] >= 5
    assert (tmp_path / "other.out").read_bytes()[:4] == \
        struct.pack("<I", parse((tmp_path / "gmon.out").read_bytes()).histograms[0][0])
    flat = subprocess.run(["gprof", "-b", "-p", other.path, tmp_path / "other.out"], check=True,
                          text=True, capture_output=True).stdout
    assert re.search(r"^ *\d+\.\d+ .* spin$", flat, re.MULTILINE)


# ---------------- Counting calls ----------------

MCOUNT_MOST = 25  # Instructions, with the call and the return.
CALLS, RAISED, TIMED = 400000, 50, 10000
# The profiler's own thread is in them alone.
COLLECTOR = {"prof_collector_serve", "prof_collector_feed"}


@pytest.mark.parametrize("cpus", [1, 2])
def test_no_call_is_missed(unix_machine, tmp_path, cpus: int) -> None:
    program = usual(tmp_path, "calls")
    files = Files(put=(Put(program.path, "/tmp/calls"),),
                  get=(Get("/tmp/gmon.out", tmp_path / "gmon.out"),))
    result = unix_machine("cd /tmp; ./calls", files=files, limit=40, cpus=cpus)
    assert (result.outcome, result.status) == ("exit", 0)
    mcount, shows_the_default = (int(line.split()[1]) for line in result.output.splitlines())
    assert shows_the_default == 1
    assert cpus > 1 or 10 < mcount <= MCOUNT_MOST
    gmon = parse((tmp_path / "gmon.out").read_bytes())
    check_sums(gmon)
    calls = program.calls(gmon)
    assert calls["worker", "leaf"] == 2 * CALLS
    assert calls["handler", "leaf"] == calls["with_a_pointer", "pointed_at"] == RAISED
    assert calls["main", "leaf"] == TIMED
    assert calls["before_main", "leaf"] == calls["after_main", "leaf"] == 1
    assert values(gmon)[21] == 0  # None lost.
    assert program.samples(gmon)["mcount"] > 0  # It shows what it costs, and
    assert values(gmon)[19] > 0                 # the profiler is none of the program's functions.
    assert not COLLECTOR & program.samples(gmon).keys()


def test_no_call_is_missed_by_cpus_that_run_at_once(tmp_path) -> None:
    """The instruction clock has one CPU go at a time; here they do not wait for each other."""
    program = usual(tmp_path, "calls")
    files = Files(put=(Put(program.path, "/tmp/calls"),),
                  get=(Get("/tmp/gmon.out", tmp_path / "gmon.out"),))
    result = unix.run("cd /tmp; ./calls", files=files, limit=40, cpus=2, icount=False,
                      accel="tcg")
    assert (result.outcome, result.status) == ("exit", 0)
    calls = program.calls(parse((tmp_path / "gmon.out").read_bytes()))
    assert calls["worker", "leaf"] == 2 * CALLS


def test_mcount_is_short() -> None:
    """The usual way through it is straight ahead."""
    text = subprocess.run(["i686-linux-gnu-objdump", "-d", "--no-show-raw-insn",
                           OUT / "sdk/lib/libprof1.a"], check=True, text=True,
                          capture_output=True).stdout
    body = text[text.index("<mcount>:\n"):]
    assert len(re.findall(r"^ +\w+:", body[:body.index("\tret")], re.MULTILINE)) + 2 <= MCOUNT_MOST
