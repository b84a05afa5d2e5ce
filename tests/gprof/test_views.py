# SPDX-License-Identifier: MIT
"""Views of a profile, each read back by the program that people open it with: equal counts.

The profile is made here, of random stacks, by a writer of perf.data that shares nothing with
gprof's reader; so what must come out is known, function by function.
"""

import random
import struct
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, viewers
from gprof import perf_file, read_back
from gprof.gmon import Profile

GPROF = OUT / "bin" / "gprof"
FUNCTIONS = 12
LENGTH = 32  # Of each; one address is one instruction.
PERIOD = 1_000_000  # Nanoseconds.
CLOCK, ZFILL = 1, 0x10
FLAVORS = {"periodic": (CLOCK, PERIOD), "zfill": (ZFILL, 1)}
LOST, MISSED = 7, 5
TASKS = {5: (137, "cat"), 9: (140, "wc")}  # By label.
KERNEL_TEXT = 0xc0100000


def needs(*names: str):
    reason = viewers.missing(*names)
    return pytest.mark.skipif(reason is not None, reason=reason or "")


class Case(NamedTuple):
    folder: Path
    program: Path
    data: Path
    own: dict[str, dict[str, int]]  # By flavor and function; the kernel's is <kernel>.
    total: dict[str, dict[str, int]]  # With what was called.
    labels: dict[str, dict[str, int]]
    threads: dict[str, dict[str, int]]
    addresses: dict[str, dict[int, int]]  # By function: where in it the clock found it.

    def view(self, name: str, data: Path | None = None) -> Path:
        """The file of a view."""
        file = self.folder / f"out.{name}{'.pb.gz' if name == 'pprof' else ''}"
        with file.open("wb") as out:
            subprocess.run([GPROF, f"--view={name}", self.program, data or self.data], check=True,
                           stdout=out)
        return file

    def text(self, name: str) -> str:
        return self.view(name).read_text()


def make_program(folder: Path) -> tuple[Path, dict[str, int]]:
    """Functions of nothing but nops, and where they are."""
    source, program = folder / "program.s", folder / "program"
    names = [f"f{i}" for i in range(FUNCTIONS)]
    source.write_text("".join(
        f".globl {name}\n.type {name}, @function\n{name}: .fill {LENGTH}, 1, 0x90\n"
        f".size {name}, .-{name}\n" for name in names))
    subprocess.run(["i686-linux-gnu-gcc", "-nostdlib", "-static", "-no-pie",
                    "-Wl,--build-id=none,-e,f0,-Ttext=0x08049000", "-o", program, source],
                   check=True)
    symbols = subprocess.run(["nm", program], check=True, text=True, capture_output=True).stdout
    addresses = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines()}
    return program, {name: addresses[name] for name in names}


def random_samples(places: dict[str, int],
                   seed: int) -> tuple[list[perf_file.Sample], list[list[str]]]:
    """Samples, and the functions of each, innermost first.

    All begin in f0, and some call themselves; but no two call each other, for of such cycles
    speedscope makes nothing out of callgrind's form.
    """
    choose, samples, stacks = random.Random(seed), [], []
    for time in range(400):
        names = sorted(choose.choices(list(places)[1:], k=choose.randint(0, 5)), reverse=True)
        names.append("f0")
        user = [places[names[0]] + choose.randrange(LENGTH),
                *(places[name] + choose.randrange(1, LENGTH) for name in names[1:])]
        in_kernel = choose.random() < 0.2
        label = choose.choice(list(TASKS))
        samples.append(perf_file.Sample(
            choose.choice([CLOCK, CLOCK, ZFILL]), TASKS[5][0], choose.choice([137, 138]), label,
            user, [KERNEL_TEXT + 64, KERNEL_TEXT + 128] if in_kernel else [],
            choose.randrange(2), PERIOD * (time + 1)))
        stacks.append(["<kernel>", *names] if in_kernel else names)
    return samples, stacks


def write_data(path: Path, program: Path, samples: list[perf_file.Sample]) -> None:
    offset = 0x1000
    path.write_bytes(b"".join([
        perf_file.header(),
        *(perf_file.event(id_, name, period) for name, (id_, period) in FLAVORS.items()),
        *(perf_file.task(label, pid, name, [138]) for label, (pid, name) in TASKS.items()),
        perf_file.image(137, 0x08049000, FUNCTIONS * LENGTH, offset, str(program)),
        perf_file.kernel_image(KERNEL_TEXT, 0x100000),
        *(perf_file.sample(each, PERIOD if each.event == CLOCK else 1) for each in samples),
        perf_file.lost(LOST), perf_file.counts(lost=LOST, missed=MISSED),
        perf_file.round_end(),
    ]))


@pytest.fixture(name="case", scope="module")
def case_fixture(tmp_path_factory) -> Case:
    folder = tmp_path_factory.mktemp("views")
    program, places = make_program(folder)
    samples, stacks = random_samples(places, 1)
    data = folder / "perf.data"
    write_data(data, program, samples)
    case = Case(folder, program, data, *(defaultdict(Counter) for _ in range(5)))
    names = {id_: name for name, (id_, _) in FLAVORS.items()}
    for taken, stack in zip(samples, stacks):
        flavor = names[taken.event]
        case.own[flavor][stack[0]] += 1
        case.total[flavor].update(set(stack))
        pid, name = TASKS[taken.label]
        case.labels[flavor][f"{pid}:{name}"] += 1
        case.threads[flavor][str(taken.thread)] += 1
        if taken.event == CLOCK and not taken.kernel:
            case.addresses[stack[0]][taken.user[0]] += 1
    return case


# ---------------- By ourselves ----------------

@pytest.mark.parametrize("flavor", FLAVORS)
def test_folded(case: Case, flavor: str) -> None:
    text = case.text("folded")
    assert read_back.folded(text, flavor) == case.own[flavor]
    assert text.splitlines()[-1] == f"<lost> {LOST}"


@pytest.mark.parametrize("flavor", FLAVORS)
def test_json(case: Case, flavor: str) -> None:
    assert read_back.of_json(case.text("json"), flavor) == case.own[flavor]


@pytest.mark.parametrize("flavor", FLAVORS)
def test_perf_script_text(case: Case, flavor: str) -> None:
    text = case.text("perf-script")
    assert read_back.perf_script(text, flavor) == case.own[flavor]
    assert f"# lost={LOST}\n# buffered" not in text and f"# lost={LOST}\n" in text


def test_the_clock_is_what_is_shown_first(case: Case) -> None:
    """Though the first sample is another one."""
    later = case.folder / "later.data"
    data = case.data.read_bytes()
    first, rest = data[:16], data[16:]
    fault = perf_file.event(ZFILL, "zfill", 1)
    assert fault in rest
    later.write_bytes(first + fault + perf_file.sample(
        perf_file.Sample(ZFILL, 137, 137, 5, [0x08049000]), 1) + rest.replace(fault, b"", 1))
    shown = read_back.json.loads(case.view("speedscope", later).read_text())
    names = [profile["name"].partition(",")[0] for profile in shown["profiles"]]
    assert names == ["zfill", "periodic"] and shown["activeProfileIndex"] == 1
    if not viewers.missing("go"):
        assert "Type: periodic" in read_back.call("go", "tool", "pprof", "-top",
                                                  case.view("pprof", later))


def test_perf_data_that_we_write_is_what_we_read(case: Case) -> None:
    once = case.view("perf-data").rename(case.folder / "again.data")
    assert case.view("json", once).read_text() == case.text("json")


def test_a_flavor_can_be_chosen(case: Case) -> None:
    text = read_back.call(GPROF, "--view=folded", "--flavor=zfill", case.program, case.data)
    assert read_back.folded(text) == case.own["zfill"]


def test_another_program_is_shown_by_its_name(case: Case, tmp_path: Path) -> None:
    """As in a recording of the whole machine."""
    kernel = tmp_path / "kernel"
    subprocess.run(["i686-linux-gnu-gcc", "-nostdlib", "-static", "-no-pie", "-x", "assembler",
                    f"-Wl,--build-id=none,-e,trap,-Ttext={KERNEL_TEXT:#x}", "-o", kernel, "-"],
                   input=b".globl trap\n.type trap, @function\ntrap: .fill 256, 1, 0x90\n"
                         b".size trap, .-trap\n", check=True)
    own = read_back.folded(read_back.call(GPROF, "--view=folded", "--any-date", kernel, case.data),
                           "periodic")
    in_kernel = case.own["periodic"]["<kernel>"]
    assert own == {"trap": in_kernel,
                   "program": sum(case.own["periodic"].values()) - in_kernel}


def test_a_view_that_there_is_not(case: Case) -> None:
    done = subprocess.run([GPROF, "--view=painting", case.program, case.data], text=True,
                          capture_output=True, check=False)
    assert done.returncode == 1 and "speedscope" in done.stderr and not done.stdout


# ---------------- By others ----------------

def in_pprof(counts: dict[str, int]) -> dict[str, int]:
    """pprof leaves out what stands between < and >, so there are other brackets."""
    return {name.translate(str.maketrans("<>", "[]")): count for name, count in counts.items()}


@needs("go")
def test_pprof(case: Case) -> None:
    file = case.view("pprof")
    for flavor in FLAVORS:
        assert read_back.pprof(file, flavor) == (
            in_pprof(case.own[flavor]), in_pprof(case.total[flavor]))
    assert read_back.pprof_tags(file, "process") == case.labels["periodic"]
    assert read_back.pprof_tags(file, "thread") == case.threads["periodic"]
    focused, _ = read_back.pprof(file, "zfill", "-tagfocus=process=140:wc")
    assert sum(focused.values()) == case.labels["zfill"]["140:wc"]
    comments = read_back.call("go", "tool", "pprof", "-comments", file)
    assert f"lost={LOST}\n" in comments and f"missed={MISSED}\n" in comments


@needs("callgrind_annotate")
def test_callgrind(case: Case) -> None:
    file = case.view("callgrind")
    for column, flavor in enumerate(FLAVORS):
        assert read_back.callgrind(file, column) == case.own[flavor]
        assert read_back.callgrind(file, column, "--inclusive=yes") == case.total[flavor]
    assert f"Recording: lost={LOST}\n" in read_back.call("callgrind_annotate", file)


@needs("perf")
@pytest.mark.parametrize("name", ["what gprof wrote", "what it read"])
def test_perf_report(case: Case, name: str) -> None:
    file = case.view("perf-data") if name == "what gprof wrote" else case.data
    for flavor, (_, period) in FLAVORS.items():
        assert read_back.perf_report(file, flavor, period) == case.own[flavor]
    report = read_back.call("perf", "report", "--stdio", "-g", "none", "--header", "-i", file)
    assert f"# Total Lost Samples: {LOST}\n" in report and f" lost={LOST} " in report


@needs("perf")
def test_perf_knows_on_whose_behalf(case: Case) -> None:
    report = read_back.call("perf", "report", "--stdio", "-g", "none", "--sort", "cgroup", "-F",
                            "+period", "-i", case.view("perf-data"))
    for flavor, (_, period) in FLAVORS.items():
        rows = report.partition(f"of event '{flavor}'")[2].partition("# Samples")[0].splitlines()
        found = {row.split()[2].lstrip("/"): int(row.split()[1]) // period for row in rows
                 if "%" in row and row.split()[0] != "#"}
        assert found == case.labels[flavor]


@needs("perf")
def test_perf_script_says_what_our_text_says(case: Case) -> None:
    text = read_back.call("perf", "script", "-i", case.view("perf-data"))
    ours = case.text("perf-script")
    for flavor in FLAVORS:
        of_perf = {name: count for name, count in read_back.perf_script(text, flavor).items()
                   if name in case.total[flavor]}
        assert of_perf == {name: count for name, count in
                           read_back.perf_script(ours, flavor).items() if name != "<kernel>"}


@needs("perf")
def test_perf_annotate_finds_each_address(case: Case) -> None:
    file = case.view("perf-data")
    for function in ("f0", "f7"):
        assert read_back.perf_annotate(file, function) == case.addresses[function]


@needs("speedscope")
def test_speedscope_s_schema(case: Case) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason=f"jsonschema: {viewers.HOW}")
    schema = viewers.SPEEDSCOPE / "file-format-schema.json"
    text = case.text("speedscope")
    jsonschema.validate(read_back.json.loads(text), read_back.json.loads(schema.read_text()))
    for index, flavor in enumerate(FLAVORS):
        assert read_back.of_speedscope(text, index) == case.own[flavor]


KINDS = {
    "speedscope": "speedscope json file",
    "pprof": "protobuf encoded pprof file",
    "callgrind": "Callgrind profile",
    "folded": "collapsed stack format",
    "perf-script": "linux perf script output",
}


@needs("chromium", "speedscope")
def test_speedscope_shows_all(case: Case) -> None:
    """In a browser.  Of perf's text it makes times, and of callgrind's what it thinks of it."""
    files = {name: case.view(name).read_bytes() for name in KINDS}
    *shown, junk = viewers.speedscope_reads(files | {"junk": b"this is no profile"})
    for name, seen in zip(KINDS, shown):
        assert (seen.kind, " - speedscope" in seen.title) == (KINDS[name], True)
    assert read_back.nonzero(shown[0].functions) == case.own["periodic"]
    assert read_back.nonzero(shown[1].functions) == in_pprof(case.own["periodic"])
    assert f"{LOST} samples lost" in shown[0].title
    assert junk.kind == ""


# ---------------- From gmon.out: callers are guessed ----------------

CALLS = {("f0", "f1"): 30, ("f0", "f2"): 10, ("f1", "f3"): 3, ("f2", "f3"): 1, ("f3", "f3"): 50,
         ("f0", "f10"): 9, ("f9", "f10"): 1, ("f0", "f11"): 4, ("", "f11"): 4}
TICKS = {"f0": 5, "f3": 400, "f9": 7, "f10": 1, "f11": 10}
NOWHERE = 0x08000000  # Whence f11 is called, too.
STACKS = {"f0": 5, "f0;f1;f3": 300, "f0;f2;f3": 100, "f9": 7, "f0;f10": 1, "f0;f11": 5, "f11": 5}


@pytest.fixture(name="gmon", scope="module")
def gmon_fixture(tmp_path_factory) -> tuple[Path, Path]:
    """A program and its gmon.out, of the calls and ticks above."""
    folder = tmp_path_factory.mktemp("gmon")
    program, places = make_program(folder)
    low, high = 0x08049000, 0x08049000 + FUNCTIONS * LENGTH
    bins = [0] * ((high - low) // 4)
    for name, ticks in TICKS.items():
        bins[(places[name] - low) // 4 + 1] = ticks
    data = b"gmon" + struct.pack("<I12x", 1)
    data += struct.pack("<BIIII15sc", 0, low, high, len(bins), 1000, b"seconds", b"s")
    data += struct.pack(f"<{len(bins)}H", *bins)
    for (caller, callee), count in CALLS.items():
        data += struct.pack("<BIII", 1, places.get(caller, NOWHERE) + 8, places[callee], count)
    (folder / "gmon.out").write_bytes(data)
    return program, folder / "gmon.out"


def gmon_view(gmon: tuple[Path, Path], name: str) -> bytes:
    return subprocess.run([GPROF, f"--view={name}", *gmon], check=True,
                          capture_output=True).stdout


def test_guessed_stacks_follow_the_calls(gmon) -> None:
    """A single sample goes to the likelier caller; one that nobody knows is none."""
    lines = [line.rsplit(" ", 1) for line in gmon_view(gmon, "folded").decode().splitlines()]
    assert {stack: int(count) for stack, count in lines} == STACKS


def test_every_view_of_gmon_out_has_its_ticks(gmon, tmp_path: Path) -> None:
    flavor = read_back.json.loads(gmon_view(gmon, "json"))["flavors"][0]["name"]
    assert read_back.of_json(gmon_view(gmon, "json").decode(), flavor) == TICKS
    assert read_back.of_speedscope(gmon_view(gmon, "speedscope").decode()) == TICKS
    assert read_back.perf_script(gmon_view(gmon, "perf-script").decode(), flavor) == TICKS
    files = {name: tmp_path / f"{name}.gz" for name in ("pprof", "callgrind", "perf-data")}
    for name, file in files.items():
        file.write_bytes(gmon_view(gmon, name))
    if not viewers.missing("go"):
        assert read_back.pprof(files["pprof"], flavor)[0] == TICKS
    if not viewers.missing("perf"):
        assert read_back.perf_report(files["perf-data"], flavor, PERIOD) == TICKS
    if not viewers.missing("callgrind_annotate"):
        assert read_back.callgrind(files["callgrind"], 0) == TICKS
        inclusive = read_back.callgrind(files["callgrind"], 0, "--inclusive=yes")
        # Of f11 it shows what f0 called for: the rest has no caller to come from.
        assert inclusive == {"f0": 411, "f1": 300, "f2": 100, "f3": 400, "f9": 7, "f10": 1,
                             "f11": 5}
    assert b"calls=30 0\n0 300\n" in files["callgrind"].read_bytes()


@needs("callgrind_annotate")
def test_callgrind_has_the_kernel_s_samples_once(gmon, tmp_path: Path) -> None:
    """Though nobody counted the calls of <kernel>: of a call that says 0 callgrind_annotate takes
    what was called for the caller's own, too."""
    program, _ = gmon
    places = {f"f{i}": 0x08049000 + i * LENGTH for i in range(FUNCTIONS)}
    bins = [0] * (FUNCTIONS * LENGTH // 4)
    bins[4 * LENGTH // 4] = 59
    data = Profile(0x08049000, bins, [(places["f0"] + 8, places["f4"], 3)], step=4, rate=1000,
                   dimension="seconds", values={"flavor": 1, "flavors": 1, "rate": 1000},
                   exact=[(1, 0, places["f4"], 59), (1, 1, places["f4"] + 1, 37)]).ours()
    (tmp_path / "gmon.out").write_bytes(data)
    file = tmp_path / "callgrind"
    file.write_bytes(gmon_view((program, tmp_path / "gmon.out"), "callgrind"))
    assert read_back.callgrind(file, 0) == {"f4": 59, "<kernel>": 37}
    assert read_back.callgrind(file, 0, "--inclusive=yes") == {"f0": 96, "f4": 96, "<kernel>": 37}


# ---------------- Damage ----------------

def test_a_damaged_file_gives_one_line(case: Case, tmp_path: Path) -> None:
    """Cut anywhere, or with a byte changed: a table or one line, never a crash."""
    data, choose = case.data.read_bytes()[:4000], random.Random(2)
    cut = tmp_path / "cut"
    for _ in range(60):
        damaged = bytearray(data[:choose.randrange(len(data))])
        if damaged and choose.random() < 0.6:
            damaged = bytearray(data)
            damaged[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
        cut.write_bytes(damaged)
        done = subprocess.run([GPROF, "--view=folded", case.program, cut], capture_output=True,
                              timeout=20, check=False)
        assert done.returncode in (0, 1), done
        assert done.returncode == 0 or (done.stderr.count(b"\n") == 1 and not done.stdout)
