# SPDX-License-Identifier: MIT
"""Profiles of programs under the Unix server, against what is known to be true of them.

programs/recorder.c runs a command and records its samples; here they are looked at.
"""

import subprocess
from collections import Counter
from pathlib import Path
from typing import Iterable, NamedTuple

import pytest
from assay import OUT, hot, machine, unix
from assay.files import Files, Get, Put

from libprof import gmon_reader
from prof import records, shares

PROGRAMS = Path(__file__).parent / "programs"
PROFILED = Path(__file__).parents[1] / "ux" / "profiles" / "profiled.c"
WORK = Path(__file__).parents[2] / "user" / "work"
FULL_RATE = 10000
SYSTEM = 0  # The kernel's own task, and the label of what it does for nobody.
FULL_RATE_SOURCE = Path(__file__).parent / "profiles" / "full_rate.c"
GMON_LOST = 17


@pytest.fixture(name="built", scope="module")
def built_fixture(tmp_path_factory) -> Path:
    """A folder with the programs."""
    folder = tmp_path_factory.mktemp("programs")
    for source in [*sorted(PROGRAMS.glob("*.c")), PROFILED]:
        subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", "-g", "-o", folder / source.stem, source,
                        "-lcpuprofile"], check=True)
    return folder


def by_function(samples: Iterable[records.Sample], image: hot.Image) -> Counter:
    """Samples in user mode, by the program's functions."""
    counts = Counter()
    places = Counter(sample.pc for sample in samples if sample.kernel_pc == 0)
    for pc, count in places.items():
        function = image.function_at(pc)
        if function is not None:
            counts[function.name] += count
    return counts


class Run:
    """A command that was recorded: its output and its samples."""

    def __init__(self, built: Path, folder: Path, command: str, *, flavors: int = 1,
                 rate: str = str(FULL_RATE), seed: int = 0, get: str = "",
                 put: tuple[Put, ...] = (), **options):
        self.got = folder / "got"
        self.file = folder / "samples"
        files = Files(
            put=(*put, *(Put(program, f"/tmp/{program.name}") for program in built.iterdir())),
            get=(Get("/tmp/samples", self.file), *((Get(get, self.got),) if get else ())))
        lines = f"/tmp/recorder /tmp/samples {flavors} {rate} {seed} {command}"
        user = "root" if seed or "host" in rate else "student"
        result = unix.run(lines, files=files, user=user, limit=60, **options)
        self.output = result.output.decode(errors="replace")
        assert (result.outcome, result.status) == ("exit", 0), self.output + result.log.decode()
        self.data = self.file.read_bytes()
        self.recording = records.read(self.data)
        assert self.recording.ended and self.recording.lost == 0


# ---------------- Ordinary programs ----------------

# Each computes for a second, which is 10,000 samples.  The shell calls the system often, and what
# is due in the kernel while interrupts are off an interrupt finds behind the call: a fraction of a
# thousandth, which 200,000 samples show.  An NMI is where it was due.
SCRIPT = """f() { x=$(($1 % 7)); case $x in 3) y=three ;; *) y="$x$y" ;; esac; y=${y#?}; }
i=0
while [ $i -lt 9800 ]; do f $i; i=$((i + 1)); done
"""


def words(lines: int) -> str:
    return "".join(f"{n * 7919 % 30011} word {n * 31 % 97}\n" for n in range(lines))


COMMANDS = {
    "sort": (f"{FULL_RATE}", "sort -r -k 2 /tmp/input", words(70000)),
    "grep": (f"{FULL_RATE}",
             "grep -c -E '^(1|2)*[3-7]+.*((wo?rd)|[a-z])+ ([5-9]|[1-4].)$' /tmp/input",
             words(108000)),
    "sh": (f"nmi:{FULL_RATE}", "sh /tmp/input", SCRIPT),
}

BY_DAY = "sort"

# Of 20 that were not chosen, as many at a time as there may be streams of one task.
SEEDS = ("1-10", "11-20")
SAMPLES = 10000
DISK = 48  # MiB: for the samples, of which the checked kernel has more.


class Ordinary(NamedTuple):
    truth: dict[str, int]  # The instructions that each function executed,
    found: list[Counter]  # and its samples, for each seed;
    pooled: Counter  # all together, where those of one interrupt, which find one place, are one.


def by_night(name: str):
    """One of the commands is for the day."""
    return name if name == BY_DAY else pytest.param(name, marks=pytest.mark.nightly)


@pytest.fixture(name="ordinary", scope="module", params=map(by_night, COMMANDS))
def ordinary_fixture(request, built: Path, tmp_path_factory) -> Ordinary:
    """Each command runs once for each of SEEDS; instructions are counted in the same runs."""
    rate, command, text = COMMANDS[request.param]
    folder = tmp_path_factory.mktemp("ordinary")
    (folder / "input").write_text(text)
    kernel = hot.Image("kernel", machine.find_kernel(None), is_kernel=True)
    image = hot.Image(request.param, OUT / "user" / request.param)
    beside = [hot.Image("recorder", built / "recorder"), hot.Image("ux", OUT / "servers" / "ux")]
    result = unix.run(
        "\n".join(f"/tmp/recorder /tmp/samples.{seeds} 1 {rate} {seeds} {command} >/dev/null"
                  for seeds in SEEDS),
        files=Files(put=(Put(folder / "input", "/tmp/input"),
                         Put(built / "recorder", "/tmp/recorder")),
                    get=tuple(Get(f"/tmp/samples.{seeds}", folder / seeds) for seeds in SEEDS),
                    size=DISK),
        user="root", limit=120, plugin=hot.plugin_option(folder / "counts", kernel))
    assert (result.outcome, result.status) == ("exit", 0), result.output + result.log
    lines = hot.histogram(hot.read_counts(folder / "counts"), kernel, [image, *beside]).lines
    truth = {line.function: line.instructions for line in lines if line.image == image.name}
    found, pooled = [], Counter()
    for seeds in SEEDS:
        streams = [*map(records.read, records.streams((folder / seeds).read_bytes()))]
        assert all(stream.ended and stream.lost == 0 for stream in streams)
        found += [by_function(stream.samples, image) for stream in streams]
        interrupts = {sample.time: sample for stream in streams for sample in stream.samples}
        pooled += by_function(interrupts.values(), image)
    return Ordinary(truth, found, pooled)


def test_shares_of_an_ordinary_program(ordinary: Ordinary) -> None:
    assert len(ordinary.truth) > 30 and len(ordinary.found) == 20
    for found in ordinary.found:
        assert sum(found.values()) >= SAMPLES
        shares.check(found, ordinary.truth)
    shares.check(ordinary.pooled, ordinary.truth, shares.POOLED)
    assert shares.chi_square(ordinary.pooled, ordinary.truth) < 1


def test_a_share_that_is_moved_is_found(ordinary: Ordinary) -> None:
    """The control: two points from the greatest function to the next, and it fails."""
    moved = dict(ordinary.truth)
    greatest, following = sorted(moved, key=moved.get)[:-3:-1]
    points = sum(moved.values()) // 50
    moved[greatest] -= points
    moved[following] += points
    assert shares.worst(ordinary.pooled, moved)[0] > shares.ERRORS
    assert shares.chi_square(ordinary.pooled, moved) > 1


def test_signals_and_samples_agree(built: Path, tmp_path: Path) -> None:
    """SIGPROF's histogram is a periodic profile."""
    run = Run(built, tmp_path, "/tmp/profiled /tmp/profile", get="/tmp/profile")
    image = hot.Image("profiled", built / "profiled")
    samples = by_function(run.recording.samples, image)
    signals = Counter()
    words = memoryview(run.got.read_bytes()[:run.got.stat().st_size & ~3]).cast("I")
    at = 5
    while words[at]:
        signals[image.function_at(words[at + 2]).name] += words[at]
        at += 2 + words[at + 1]
    assert sum(signals.values()) >= 100
    off = shares.difference(signals["most"], sum(signals.values()),
                            samples["most"], sum(samples.values()))
    assert off < shares.ERRORS


# ---------------- Events ----------------

@pytest.mark.parametrize(("command", "flavor", "function", "count"), [
    ("vmprog 300", records.ZFILL, "touch_new", 300),
    ("vmprog -r 300", records.REACTIVATION, "touch_again", 300),
    ("cowprog 300", records.COW, "write_copies", 300),
    ("readprog /tmp/pages", records.PAGEIN, "read_pages", None),
])
def test_events_are_where_the_program_says(command, flavor, function, count, built,
                                           tmp_path: Path) -> None:
    """To the one, and all at the instruction that touches a page."""
    run = Run(built, tmp_path, command, flavors=flavor,
              put=(Put(OUT / "user" / "sh", "/tmp/pages"),))
    said = run.output.split()
    number, kernel = int(said[1]), int(said[said.index("counted") + 1].rstrip(")"))
    program = OUT / "user" / command.split()[0]
    image = hot.Image(program.name, program)
    found = ((sample.pc, image.function_at(sample.pc)) for sample in run.recording.samples)
    places = Counter(pc for pc, symbol in found if symbol and symbol.name == function)
    assert number == kernel and count in (None, number)
    assert list(places.values()) == [number]


# ---------------- One seed, one profile ----------------

def test_one_seed_gives_one_profile(built: Path, tmp_path: Path) -> None:
    data = []
    for n, seed in enumerate([5, 5, 6]):
        folder = tmp_path / str(n)
        folder.mkdir()
        run = Run(built, folder, "slowprog 40", seed=seed)
        assert len(run.recording.samples) >= 1000
        data.append(run.data)
    assert data[0] == data[1]
    assert data[0] != data[2]


def test_one_seed_gives_one_file(built: Path, tmp_path: Path) -> None:
    """The same of gmon.out, which a program of -pg writes."""
    program, data = tmp_path / "slowprog", []
    subprocess.run([OUT / "sdk/bin/ux-cc", "-pg", "-O2", "-I", WORK, "-o", program,
                    WORK / "slowprog.c", FULL_RATE_SOURCE], check=True)
    for n, seed in enumerate([5, 5, 6]):
        result = unix.run(f"cd /tmp; /tmp/recorder - 0 0 {seed} /tmp/slowprog 60",
                          files=Files(put=(Put(program, "/tmp/slowprog"),
                                           Put(built / "recorder", "/tmp/recorder")),
                                      get=(Get("/tmp/gmon.out", tmp_path / str(n)),)),
                          user="root", limit=60)
        assert (result.outcome, result.status) == ("exit", 0), result.output
        data.append((tmp_path / str(n)).read_bytes())
        gmon = gmon_reader.parse(data[-1])
        assert sum(gmon.histograms[0][4]) >= 1000
        assert gmon_reader.values(gmon)[GMON_LOST] == 0
    assert data[0] == data[1]
    assert data[0] != data[2]


# ---------------- On whose behalf ----------------

def labels(run: Run) -> tuple[Counter, dict[str, int]]:
    """The samples of the server and of the kernel, by label, while the clients worked."""
    said = {words[0]: int(words[1]) for words in map(str.split, run.output.splitlines())
            if len(words) == 2}
    counts = Counter()
    for sample in run.recording.samples:
        if said["begin"] <= sample.time < said["end"] and (
                sample.task == said["server"] or sample.kernel_pc != 0):
            counts[sample.label] += 1
    return counts, said


def test_two_clients_of_the_server(built: Path, tmp_path: Path) -> None:
    run = Run(built, tmp_path, "/tmp/clients calls", rate=f"host:{FULL_RATE}")
    counts, said = labels(run)
    three, one, whole = counts[said["three"]], counts[said["one"]], sum(counts.values())
    assert whole > 2000
    shares.check({"three": three, "one": one}, {"three": 3, "one": 1})
    assert whole - three - one <= whole / 100


def test_a_page_on_its_way_from_the_disk(built: Path, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.write_bytes(bytes(range(256)) * 16 * 1500)
    run = Run(built, tmp_path, "/tmp/clients pages", rate=f"host:{FULL_RATE}",
              put=tuple(Put(pages, f"/tmp/pages.{name}") for name in ("three", "one")))
    counts, said = labels(run)
    whole = sum(counts.values())
    assert whole > 200
    shares.check_few(whole - counts[said["three"]] - counts[said["one"]], whole, 0.01)


def test_a_page_that_was_swapped_out(built: Path, tmp_path: Path) -> None:
    """Client, server, pager and disk: all is for the client.  (What is paged out is for nobody.)

    Programs beside the clients call the server too, seldom, and under labels of their own.  With
    the checked kernel so slow, a full rate is more than can be received while pages go out.
    """
    run = Run(built, tmp_path, "/tmp/clients swap", flavors=records.PERIODIC | records.PAGEIN,
              rate=f"host:{FULL_RATE // (8 if OUT.name == 'san' else 4)}",
              append="pool=25 ramdisk=32")
    _, said = labels(run)
    clients = {said["three"], said["one"]}
    asked, served, paged = Counter(), Counter(), Counter()  # The last is the pager's, by label.
    for sample in run.recording.samples:
        if not said["begin"] <= sample.time < said["end"]:
            continue
        if sample.flavor == records.PAGEIN:
            asked[sample.label in clients] += 1
        elif sample.task == said["server"] and sample.label in clients | {SYSTEM, said["server"]}:
            served[sample.label in clients] += 1
        elif sample.task not in clients | {SYSTEM}:
            paged[sample.label] += 1
    for counts in asked, served:
        assert counts[True] > 25
        # The checked kernel takes far longer, so more of the server's own work falls in it.
        shares.check_few(counts[False], sum(counts.values()), 0.1 if OUT.name == "san" else 0.01)
    assert min(paged[said["three"]], paged[said["one"]]) > 5
