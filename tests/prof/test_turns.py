# SPDX-License-Identifier: MIT
"""What a profile says is what was executed: on several CPUs, by thread, by function, for whom.

Each run is sampled, and in the same run each instruction is counted by who executed it (tools/hot),
from the moment the samples begin to their end.  A profile is true if its shares are those of the
instructions, and if there is one sample for each interval's worth of them.
"""

import random
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Callable, Iterable, NamedTuple

import pytest
from assay import OUT, hot, machine, unix
from assay.files import Files, Get, Put

from prof import records, shares

# There sampler_begin() is no function apart, by whose first instruction a count could begin.
pytestmark = pytest.mark.skipif(OUT.name == "san", reason="not on the checked kernel")

HERE = Path(__file__).parent
WORK = HERE.parents[1] / "user" / "work"
SECOND = 1_000_000_000  # An instruction takes a nanosecond.
TICK = SECOND // 100

# The rarer they are the more streams sample a run, each with a seed of its own.
SEEDS = {100: range(1, 11), 1000: range(1, 5), 10000: range(1, 2)}


class Load(NamedTuple):
    command: str
    program: str
    calls: bool = False  # It is in the kernel for a good part of its time.
    host: bool = False  # All that runs is sampled; else the command's task.


LOADS = {
    "spinners": Load("spinners 4", "spinners"),
    "threads": Load("/tmp/loads threads 5000", "loads"),
    "calls": Load("/tmp/loads calls 2500", "loads", calls=True),
    "programs": Load("/tmp/loads programs 800", "loads", calls=True, host=True),
}


class Case(NamedTuple):
    load: str
    cpus: int
    rate: int
    nmi: bool

    @property
    def name(self) -> str:
        return f"{self.load}-{self.cpus}-{self.rate}-{'nmi' if self.nmi else 'interrupt'}"


CPUS = (1, 2, 4, 8)
# Those that come in the interrupts of the shot before, which take that long.
MOST_MISSED = {1: 0, 2: 0.03, 4: 0.06, 8: 0.15}
MATRIX = [Case(load, cpus, rate, nmi) for load in LOADS for cpus in CPUS
          for rate in SEEDS for nmi in (False, True)]

# What is proved each time: of each load one, with all numbers of CPUs.
SAMPLE_SEED = 14


SAMPLE_RANDOM = random.Random(SAMPLE_SEED)
SAMPLE = [SAMPLE_RANDOM.choice([case for case in MATRIX if case[:2] == pair])
          for pair in zip(LOADS, SAMPLE_RANDOM.sample(CPUS, len(CPUS)))]


@pytest.fixture(name="built", scope="module")
def built_fixture(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for source, library in ((HERE / "profiles" / "loads.c", "-lthreads"),
                            (HERE / "programs" / "recorder.c", "-lcpuprofile")):
        subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", "-g", "-I", WORK, "-o",
                        folder / source.stem, source, library], check=True)
    return folder


@pytest.fixture(name="kernel", scope="module")
def kernel_fixture() -> hot.Image:
    return hot.Image("kernel", machine.find_kernel(None), is_kernel=True)


def run_counted(folder: Path, built: Path, kernel: hot.Image, commands: str, *,
                window: bool, get: tuple[Get, ...] = (), **options) -> tuple[bytes, hot.Counts]:
    """What the commands wrote, and who executed what; in the window of the samples, or in all."""
    start, stop = (kernel.function(name).start for name in ("sampler_begin", "sampler_end"))
    plugin = hot.plugin_option(folder / "counts", kernel, by=("thread", "task", "label"),
                               start=start if window else None, stop=stop if window else None)
    puts = tuple(Put(file, f"/tmp/{file.name}") for file in built.iterdir())
    result = unix.run(commands, files=Files(put=puts, get=get), user="root", limit=60,
                      plugin=plugin, **options)
    assert (result.outcome, result.status) == ("exit", 0), result.output + result.log
    return result.output, hot.read_counts(folder / "counts")


# ---------------- Samples ----------------

class Proof(NamedTuple):
    """A run: what was executed, and what was sampled of it by each of the streams."""

    case: Case
    counts: hot.Counts
    places: list[hot.Place]
    images: list[hot.Image]  # The kernel's is first.
    streams: list[records.Recording]

    def place_of(self, sample: records.Sample) -> tuple[str, str]:
        """As hot.Place has it."""
        kernel, *programs = self.images
        if sample.kernel_pc != 0:
            function = kernel.function_at(sample.kernel_pc)
            return function.name, kernel.name
        name = self.counts.names[sample.task]
        function = next(image for image in programs if image.name == name).function_at(sample.pc)
        return function.name, name

    def executed(self, cell: Callable, sampling: bool = True) -> Counter:
        """The instructions of each cell, with those of the sampling interrupt; None is none."""
        found: Counter = Counter()
        for who, mine in self.counts.by.items():
            for n, count in mine.items() if sampling or not who.sampling else ():
                found[cell(who, self.places[n][:2])] += count
        del found[None]
        return found

    def sampled(self, streams: Iterable[records.Recording], cell) -> Counter:
        """The samples of each; those that one CPU's interrupt took for several streams are one."""
        each = {(sample.time, sample.cpu): sample for stream in streams
                for sample in stream.samples}
        found = Counter(cell(sample, self.place_of(sample)) for sample in each.values())
        del found[None]
        return found


def prove(case: Case, folder: Path, built: Path, kernel: hot.Image) -> Proof:
    load, seeds = LOADS[case.load], SEEDS[case.rate]
    rate = f"{'host:' * load.host}{'nmi:' * case.nmi}{case.rate}"
    _, counts = run_counted(
        folder, built, kernel,
        f"/tmp/recorder /tmp/samples 1 {rate} {seeds[0]}-{seeds[-1]} {load.command} >/dev/null",
        window=True, get=(Get("/tmp/samples", folder / "samples"),), cpus=case.cpus)
    images = [kernel, hot.Image("loads", built / "loads"),
              hot.Image("recorder", built / "recorder"), *hot.unix_images()]
    streams = [records.read(data)
               for data in records.streams((folder / "samples").read_bytes())]
    assert len(streams) == len(seeds) and all(stream.ended for stream in streams)
    assert counts.windows == 1 and not any(stream.lost for stream in streams)
    return Proof(case, counts, hot.places(counts, kernel, images[1:]), images, streams)


def check_number(proof: Proof, cell: Callable) -> None:
    """One sample for each interval's worth of instructions, in each of the streams.

    The clock's intervals are random: of one CPU's the variance is a twelfth of the mean's square,
    of several CPUs', which have no memory, all of it.  And so is which of them finds the target,
    where it is not all that runs.
    """
    mine = sum(proof.executed(cell).values())
    expected, share = mine * proof.case.rate / SECOND, mine / proof.counts.total
    variance = 1 - share + 1 / 12 if proof.case.cpus == 1 else 1
    allowed = shares.ERRORS * (expected * variance) ** 0.5 + 1
    for stream in proof.streams:
        taken = sum(proof.sampled([stream], cell).values())
        shares.check_few(stream.missed, stream.due, MOST_MISSED[proof.case.cpus])
        assert taken <= expected + allowed, (taken, expected)
        assert taken + stream.missed >= expected - allowed, (taken, stream.missed, expected)


def with_missed(found: Counter, truth: Counter, missed: int) -> Counter:
    """With as many samples more, where they lack most: nobody knows where those were that came in
    the interrupt of the shot before, and by what it brings about they are not anywhere alike."""
    whole, total = sum(found.values()) + missed, sum(truth.values())
    lacking = {cell: int(whole * count / total) - found[cell] for cell, count in truth.items()}
    more = Counter(found)
    for cell, lack in sorted(lacking.items(), key=lambda item: -item[1]):
        more[cell] += max(0, min(lack, missed))
        missed -= max(0, min(lack, missed))
    return more


def check_shares(proof: Proof, cell: Callable) -> None:
    """Of what a sample can find: the interrupt that takes it does not find itself."""
    truth = proof.executed(cell, sampling=False)
    for stream in proof.streams:
        shares.check(proof.sampled([stream], cell), truth)
    pooled = proof.sampled(proof.streams, cell)
    shares.check(pooled, truth, shares.POOLED)
    pooled = with_missed(pooled, truth, sum(stream.missed for stream in proof.streams))
    assert len(shares.pooled(pooled, truth)[1]) < 2 or shares.chi_square(pooled, truth) < 1, \
        shares.errors(pooled, truth)


def is_mine(proof: Proof) -> Callable:
    """Whether the samples' target is what executed: the command's task, or for it.

    Of the whole machine those count that have labels of the processes that the load makes.
    """
    load = LOADS[proof.case.load]
    mine = {task for task, name in proof.counts.names.items() if name == load.program}
    return lambda who: (who.label if load.host else who.task) in mine


def by_thread(proof: Proof) -> Callable:
    """Of the whole machine, by task and label."""
    mine, host = is_mine(proof), LOADS[proof.case.load].host

    def cell(who, place):
        if not mine(who):
            return None
        return f"{who.task} for {who.label}" if host else f"thread {who.thread}"

    return cell


def by_function(proof: Proof) -> Callable:
    mine = is_mine(proof)
    return lambda who, place: " of ".join(place) if mine(who) else None


def check(proof: Proof) -> None:
    check_number(proof, by_thread(proof))
    check_shares(proof, by_thread(proof))
    # An interrupt cannot find code with interrupts off, and finds what follows instead.
    if proof.case.nmi or not LOADS[proof.case.load].calls:
        check_shares(proof, by_function(proof))


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_a_sample_of_all(case: Case, built: Path, kernel: hot.Image, tmp_path: Path) -> None:
    check(prove(case, tmp_path, built, kernel))


@pytest.mark.nightly
@pytest.mark.parametrize("case", MATRIX, ids=lambda case: case.name)
def test_all(case: Case, built: Path, kernel: hot.Image, tmp_path: Path) -> None:
    check(prove(case, tmp_path, built, kernel))


def test_what_is_not_true_is_found(built: Path, kernel: hot.Image, tmp_path: Path) -> None:
    """The control: one sample in ten is another thread's, one in five is there twice, or half of
    what is due is missed."""
    proof = prove(Case("spinners", 1, 10000, False), tmp_path, built, kernel)
    cell = by_thread(proof)
    check_shares(proof, cell)
    check_number(proof, cell)
    stream, = proof.streams
    thread = max(proof.executed(cell))
    moved = [one._replace(thread=thread) if n % 10 == 0 else one
             for n, one in enumerate(stream.samples)]
    with pytest.raises(AssertionError):
        check_shares(proof._replace(streams=[stream._replace(samples=moved)]), cell)
    twice = stream.samples + [one._replace(time=one.time + 1) for one in stream.samples[::5]]
    with pytest.raises(AssertionError):
        check_number(proof._replace(streams=[stream._replace(samples=twice)]), cell)
    half = stream._replace(samples=stream.samples[::2], missed=stream.due // 2)
    with pytest.raises(AssertionError):
        check_number(proof._replace(streams=[half]), cell)


# ---------------- CPU time ----------------

def executed_by(counts: hot.Counts, name: str) -> list[int]:
    """The instructions of each task of that name, in the order of their making."""
    sums: Counter = Counter()
    for who, count in counts.sums().items():
        sums[who.task] += count
    return [sums[task] for task in sorted(sums) if counts.names.get(task) == name]


def seconds(text: str, what: str) -> list[float]:
    return [float(number) for number in re.findall(rf"^{what} +([\d.]+)$", text, re.MULTILINE)]


def check_time(told: float, instructions: int) -> None:
    """What ticks were charged, one for each interval's worth of instructions."""
    shares.check_times(round(told * SECOND / TICK), instructions / TICK)


def prove_time(cpus: int, folder: Path, built: Path, kernel: hot.Image) -> None:
    """What `time` and getrusage() say, of a program that is profiled and of one that is not."""
    output, counts = run_counted(
        folder, built, kernel,
        "cd /tmp; time spinners 4 2>&1; time monctl -run spinners 4 2>&1", window=False, cpus=cpus)
    text = output.decode()
    alone, profiled = executed_by(counts, "spinners")
    user, system = seconds(text, "user"), seconds(text, "sys")
    assert len(user) == len(system) == 2, text
    check_time(user[0] + system[0], alone)
    monctl = sum(executed_by(counts, "monctl"))
    check_time(user[1] + system[1], profiled + monctl)
    shares.check_times(round(abs(user[1] - user[0]) * SECOND / TICK), monctl / TICK)


def prove_signals(cpus: int, signals: int, folder: Path, built: Path, kernel: hot.Image) -> None:
    """SIGPROF comes for each 10 ms of the process's own, where it computed."""
    output, counts = run_counted(folder, built, kernel, f"/tmp/loads signals {signals}",
                                 window=False, cpus=cpus)
    told = Counter()
    for line in output.decode().splitlines():
        told["less"] += int(line.split()[0])
        told["more"] += int(line.split()[1])
    tasks = [count for count in executed_by(counts, "loads") if count > TICK]
    assert len(tasks) == PROCESSES and sum(told.values()) >= PROCESSES * signals
    for count in tasks:
        shares.check_times(signals, count / TICK)
    shares.check_times(sum(told.values()), sum(tasks) / TICK)
    image = hot.Image("loads", built / "loads")
    lines = hot.histogram(counts, kernel, [image, *hot.unix_images()]).lines
    shares.check(told, {line.function: line.instructions for line in lines
                        if line.function in told and line.image == "loads"})


PROCESSES = 4  # Of `loads signals`.
SIGNALS = 50  # Of each.
FEW = 4  # CPUs that a proof of them has in `make test`.
FEW_SIGNALS = 8


def test_cpu_time(built: Path, kernel: hot.Image, tmp_path: Path) -> None:
    prove_time(FEW, tmp_path, built, kernel)


def test_signals(built: Path, kernel: hot.Image, tmp_path: Path) -> None:
    prove_signals(FEW, FEW_SIGNALS, tmp_path, built, kernel)


@pytest.mark.nightly
@pytest.mark.parametrize("cpus", CPUS)
def test_all_cpu_time(cpus: int, built: Path, kernel: hot.Image, tmp_path: Path) -> None:
    prove_time(cpus, tmp_path, built, kernel)
    prove_signals(cpus, SIGNALS, tmp_path, built, kernel)
