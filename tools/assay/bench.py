# SPDX-License-Identifier: MIT
"""What the benchmarks measure, and how: one Row for each line of the table.

Figures come from runs under the fixed instruction clock, so they are the same in every run.  The
programs are user/bench/; what an operation costs beside instructions comes from the kernel's own
counts and from a second run of the same program under the plugin of tools/hot, which never touches
the figure.  tools/bench prints and judges; docs/tools/bench.md says what each row means.
"""

import re
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from assay import ROOT, ToolError, hot, machine, unix, uses
from assay.floors import House, Rules
from assay.programs import find_kernel, find_program

# What an operation costs beside instructions, as its columns are called.
COSTS = ("cr3", "flushes", "ipis", "locked")

# A tick between the kernel's reading of its counts and the marker may bring a switch to another
# task and one back: so far may the kernel's counts and the plugin's be apart, whatever the length.
EDGES = 2

MEMORY_MAX = 256  # MiB, which is known to be enough.
BOOT_MEMORIES = (256, 512)  # MiB; the first is that of the figure.
SECONDS = 20  # Of the machine's time; the longest benchmark takes one.

FILLS = 100  # Of 64 pages each: what fits into memory with room to spare.
COPIES = 30  # Of a thousand pages each.

# What the kernel does here reaches as many of its loops as boot programs can make long.
# Programs, CPUs, kernel arguments.
MIX = (
    (("hello",), 1, ""),
    (("bench thread", "hello"), 2, ""),
    (("bench crowd",), 1, ""),
    (("bench crowd", "bench crowd"), 2, ""),
    (("bench bulk",), 1, ""),
    (("bench bulk", "bench map"), 2, ""),
    (("bench lines",), 1, "console=vga"),
)


class Figure(NamedTuple):
    """What was found: the row's value, costs of an operation by COSTS, and further values."""

    value: float
    costs: Optional[dict[str, float]] = None
    note: str = ""
    more: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of the table.  Costs have limits too, so that none rises to lower the figure."""

    name: str
    title: str
    unit: str
    measure: Callable[[], Figure]
    target: Optional[float] = None  # At most this.
    limits: Optional[dict[str, float]] = None
    gnu_mach: str = ""
    most: Optional[dict[str, float]] = None  # Of its further values.

    def misses(self, figure: Figure) -> list[str]:
        """What of it is worse than promised: the figure and its costs, by name."""
        missed = []
        if self.target is not None and figure.value > self.target:
            missed.append(f"{self.name}: {figure.value:,} {self.unit}, at most {self.target:,}")
        for cost, limit in (self.limits or {}).items():
            if round(figure.costs[cost], 1) > limit:
                missed.append(f"{self.name}: {cost} {figure.costs[cost]:g}, at most {limit:g}")
        values = dict(figure.more)
        missed += [f"{self.name}: {name} {values[name]:,}, at most {limit:,}"
                   for name, limit in (self.most or {}).items() if values[name] > limit]
        return missed


def values_of(row: Row, figure: Figure) -> list[dict]:
    """The entries of bench.json.  Of everything that is measured here, less is better."""
    values = [(row.name, figure.value, row.unit)]
    values += [(f"{row.name}.{cost}", value, "per operation")
               for cost, value in (figure.costs or {}).items()]
    values += [(f"{row.name}.{name}", value, row.unit) for name, value in figure.more]
    return [{"name": name, "value": value, "unit": unit, "better": "less"}
            for name, value, unit in values]


def rounded(value: float, digits: int) -> float:
    """So many digits behind the point, and none if they are all zero."""
    value = round(value, digits)
    return int(value) if value == int(value) else value


# ---------------- Runs ----------------


def boot(programs: tuple[str, ...], **parameters) -> machine.Result:
    """Runs a machine that has to come to a good end."""
    result = machine.run(programs, limit=SECONDS, **parameters)
    if result.outcome != "exit" or result.status != 0:
        text = (result.output + result.log).decode(errors="replace")
        raise ToolError(f"{'; '.join(programs)}: {result.outcome}, status {result.status}: "
                        f"{result.message}\n{text}")
    return result


def boot_counted(
    programs: tuple[str, ...], marked: bool, **parameters
) -> tuple[machine.Result, hot.Counts, hot.Image]:
    """The same under the plugin: the run, its counts, and the kernel's image."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    with tempfile.TemporaryDirectory(prefix="bench.") as directory:
        path = Path(directory) / "counts"
        option = hot.plugin_option(path, kernel, marked=marked)
        result = boot(programs, plugin=option, **parameters)
        return result, hot.read_counts(path), kernel


def read_numbers(output: bytes) -> dict[str, int]:
    """The lines `NAME NUMBER` that user/bench prints."""
    try:
        return {name: int(number) for name, number in map(str.split, output.decode().splitlines())}
    except ValueError:
        raise ToolError(f"not the numbers of a benchmark: {output!r}") from None


def kinds_of(counts: hot.Counts, kernel: hot.Image) -> dict[str, int]:
    """How many instructions of each kind that the benchmarks watch were executed in the window."""
    program = find_program("bench")
    if counts.windows != 1:
        raise ToolError(f"{counts.windows} windows between the markers, not one")
    return hot.histogram(counts, kernel, [hot.Image(program.name, program)]).kinds


def cross_check(numbers: dict[str, int], kinds: dict[str, int]) -> None:
    """The kernel's counts against the instructions that were really executed.

    Every load of CR3 is either a switch or a flush of all, every invlpg a flush of one page.
    """
    counted = numbers["cr3"] + numbers["flushes"]
    executed = kinds["cr3"] + kinds["invlpg"]
    if abs(counted - executed) > EDGES:
        raise ToolError(f"the kernel counted {counted} address space switches and flushes, "
                        f"but {executed} instructions did that")


def measure_operation(
    programs: tuple[str, ...], **parameters
) -> tuple[dict, dict[str, float]]:
    """Runs a benchmark twice: the numbers of the plain run, and the costs of an operation."""
    plain = boot(programs, **parameters)
    counted, counts, kernel = boot_counted(programs, marked=True, **parameters)
    if plain.output != counted.output:
        raise ToolError(f"{programs[0]}: the plugin changed the figures")
    numbers = read_numbers(plain.output)
    kinds = kinds_of(counts, kernel)
    cross_check(numbers, kinds)
    totals = {"cr3": numbers["cr3"], "flushes": numbers["flushes"], "ipis": numbers["ipis"],
              "locked": kinds["lock"]}
    return numbers, {
        cost: rounded(totals[cost] / numbers["operations"], 3) for cost in COSTS
    }


# ---------------- Rows ----------------


def operation(*programs: str, append: str = "") -> Callable[[], Figure]:
    """A row that is the median of a benchmark's samples, with further kernel arguments."""

    def measure() -> Figure:
        numbers, costs = measure_operation(programs, append=append)
        return Figure(rounded(numbers["median"] / numbers["parts"], 1), costs)

    return measure


def median(program: str) -> Callable[[], Figure]:
    """The median alone, where most of the run is not what is measured."""

    def measure() -> Figure:
        return Figure(read_numbers(boot((program,)).output)["median"])

    return measure


def measure_forks() -> Figure:
    """How much more a write after a fork costs when there were a thousand before it."""
    numbers = read_numbers(boot(("bench forks",)).output)
    first, last = numbers["first"], numbers["last"]
    return Figure(last - first, note=f"{first:,} after the first of them, {last:,} after the last",
                  more=(("first", first), ("last", last)))


def measure_tick() -> Figure:
    """All ticks of a long spin, whatever each of them had to do: a mean."""
    numbers, costs = measure_operation(("bench tick",))
    ticks = numbers["operations"]
    return Figure(rounded(numbers["excess"] / ticks, 1), costs, f"mean of {ticks} ticks")


def capture(program: str) -> Callable[[], Figure]:
    """What samples take out of a program, by the sample: a mean."""

    def measure() -> Figure:
        numbers = read_numbers(boot((program,)).output)
        samples = numbers["samples"]
        return Figure(rounded(numbers["excess"] / samples, 1), note=f"mean of {samples} samples")

    return measure


@cache
def sampled(program: str) -> dict[str, int]:
    return read_numbers(boot((program,)).output)


def whole_sample(program: str, rate: int) -> Callable[[], Figure]:
    """The same up to the table that libprof keeps, with a profile of this rate."""

    def measure() -> Figure:
        numbers = sampled(program)
        samples = numbers[f"samples-{rate}"]
        return Figure(rounded(numbers[f"excess-{rate}"] / samples, 1),
                      note=f"mean of {samples} samples")

    return measure


def slower(program: str) -> Callable[[], Figure]:
    """How many in a million a program is slower at 1 kHz; at 100 Hz and 10 kHz below."""

    def measure() -> Figure:
        numbers = sampled(program)
        parts = {rate: round(1e6 * numbers[f"excess-{rate}"] / (1024 * numbers[f"length-{rate}"]))
                 for rate in (100, 1000, 10000)}
        return Figure(parts[1000], note=f"{parts[100]:,} at 100 Hz, {parts[10000]:,} at 10 kHz",
                      more=(("100", parts[100]), ("10000", parts[10000])))

    return measure


def use_values(cost: uses.Cost) -> dict[str, float]:
    """A cost, by the names that its parts have in bench.json: instructions, and percent."""
    return {"ends": cost.ends} | {f"{work}-{rate}": round(percent, 2)
                                  for (rate, work), percent in cost.slower.items()}


def whole_use(use: str) -> Callable[[], Figure]:
    """By how many percent a whole use of monctl makes the work slower that suffers most."""

    def measure() -> Figure:
        values = use_values(uses.costs()[use])
        note = ", ".join(f"{name} {value:,}" for name, value in values.items())
        worst = max(value for name, value in values.items() if name != "ends")
        return Figure(worst, note=note, more=tuple(values.items()))

    return measure


def use_row(use: str, title: str) -> Row:
    return Row(f"use-{use}", title, "percent", whole_use(use),
               max(uses.MOST[use].slower.values()), most=use_values(uses.MOST[use]))


def measure_two_cpus() -> Figure:
    """The mean, since waits for the lock are rare and long: that of the worse CPU."""
    numbers, costs = measure_operation(("bench two-cpus",), cpus=2)
    means = [rounded(numbers[f"sum{cpu}"] / numbers[f"traps{cpu}"], 2) for cpu in (0, 1)]
    note = "; ".join(
        f"CPU {cpu}: median {numbers[f'median{cpu}']}, mean {means[cpu]:.2f}, "
        f"longest {numbers[f'longest{cpu}']}" for cpu in (0, 1)
    )
    more = [(f"cpu{cpu}-median", numbers[f"median{cpu}"]) for cpu in (0, 1)]
    more += [(f"cpu{cpu}-mean", means[cpu]) for cpu in (0, 1)]
    return Figure(max(means), costs, note, tuple(more))


def boot_length(mem: int) -> int:
    """Instructions from the kernel's entry to the first one in user mode."""
    report = boot(("bench nothing",), mem=mem).report
    return report.tsc_user - report.tsc_entry


def measure_boot() -> Figure:
    return Figure(boot_length(BOOT_MEMORIES[0]))


def measure_boot_growth() -> Figure:
    small, large = BOOT_MEMORIES
    return Figure(rounded((boot_length(large) - boot_length(small)) / (large - small), 1))


def boots(mem: int) -> bool:
    result = machine.run(["bench nothing"], mem=mem, limit=SECONDS)
    return result.outcome == "exit" and result.status == 0


def measure_memory() -> Figure:
    """Bisects: `enough` MiB boot, `short` do not (0 being no machine)."""
    short, enough = 0, MEMORY_MAX
    while enough - short > 1:
        middle = (short + enough) // 2
        if boots(middle):
            enough = middle
        else:
            short = middle
    return Figure(enough)


def measure_stretch() -> Figure:
    """The worst of the mix, and where it was."""
    worst, where = 0, ""
    for programs, cpus, append in MIX:
        _, counts, kernel = boot_counted(programs, marked=False, cpus=cpus, append=append)
        stretch = counts.stretch
        if stretch.length > worst:
            worst = stretch.length
            where = (f"CPU {stretch.cpu} of {cpus}, {kernel.place(stretch.first)} to "
                     f"{kernel.place(stretch.last)}, in {' and '.join(programs)}")
    return Figure(worst, note=where)


def measure_text() -> Figure:
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    return Figure(sum(section[5] for section in kernel.sections if section[2] & hot.SHF_EXECINSTR))


def lines_of(part: int) -> tuple[Callable[[], Figure], int]:
    """How the lines of code of a part of the kernel are counted, and how many are promised."""
    rules = Rules.read(ROOT / "kernel" / "floors")
    promise = rules.promises[part]

    def measure() -> Figure:
        return Figure(rules.lines(House.read(ROOT / "kernel"), promise))

    return measure, promise.most


@cache
def unix_numbers(rows: str = "", user: str = "student") -> dict[str, int]:
    """What user/work/callbench.c prints: all rows but root's, or those named."""
    result = unix.run(f"callbench {rows}".rstrip(), user=user, limit=SECONDS)
    if result.outcome != "exit" or result.status != 0:
        text = (result.output + result.log).decode(errors="replace")
        raise ToolError(f"callbench {rows}: {result.outcome}, status {result.status}\n{text}")
    return read_numbers(result.output)


def unix_call(name: str) -> Callable[[], Figure]:
    """A row of callbench's."""
    return lambda: Figure(unix_numbers()[name])


def root_call(name: str) -> Callable[[], Figure]:
    """As unix_call(), of a row that is root's."""
    return lambda: Figure(unix_numbers(name, "root")[name])


def measure_prompt() -> Figure:
    """From the kernel's entry to the end of a run that does nothing: boot, /etc/rc, shell, halt.

    What it takes of the host's time, by the clock that `make qemu` uses, is a remark only.
    """
    result = unix.run("true", limit=SECONDS)
    start = time.monotonic()
    again = unix.run("true", limit=SECONDS, icount=False, accel="icount")
    seconds = time.monotonic() - start
    for run in (result, again):
        if run.outcome != "exit" or run.status != 0:
            raise ToolError(f"true: {run.outcome}, status {run.status}")
    return Figure(result.instructions,
                  note=f"{seconds:.1f} seconds by the host's clock, as make qemu runs it")


def limits(cr3: float, flushes: float, ipis: float, locked: float) -> dict[str, float]:
    return dict(zip(COSTS, (cr3, flushes, ipis, locked)))


ROWS = (
    Row("boot", "kernel entry to first user instruction, 256 MiB", "instructions",
        measure_boot, 3_000_000, gnu_mach="19.8 M"),
    Row("boot-growth", "the same, growth for a MiB of memory", "instructions",
        measure_boot_growth, gnu_mach="73,500"),
    Row("trap", "null trap", "instructions",
        operation("bench trap"), 43, limits(0, 0, 0, 1), gnu_mach="61"),
    Row("two-cpus", "null trap on two CPUs at once, mean", "instructions",
        measure_two_cpus, limits=limits(0, 0, 0, 1)),
    Row("switch", "switch there and back, one task", "instructions",
        operation("bench switch"), 600, limits(0, 0, 0, 2), gnu_mach="1,574"),
    Row("switch-tasks", "switch there and back, two tasks", "instructions",
        operation("bench switch-tasks", "bench partner"), 600, limits(2, 0, 0, 2),
        gnu_mach="1,680"),
    Row("tick", "clock tick", "instructions",
        measure_tick, 195, limits(0, 0, 0, 3), gnu_mach="492"),
    Row("sample", "sample taken, without stack", "instructions",
        capture("bench sample"), 124),
    Row("sample-stack", "sample with 16 frames, up to its buffer", "instructions",
        capture("bench sample-stack"), 502),
    Row("sample-all-100", "sample up to libprof's table, at 100 Hz", "instructions",
        whole_sample("bench profile", 100), 247),
    Row("sample-all-10000", "the same at 10 kHz", "instructions",
        whole_sample("bench profile", 10000), 213),
    Row("sample-wide", "the same of a program found at 1,000 places", "instructions",
        whole_sample("bench profile-wide", 10000), 271),
    Row("keep-samples", "samples to be fetched, begun and ended", "instructions",
        operation("bench keep-samples"), limits=limits(0, 0, 0, 12), gnu_mach="2,582"),
    Row("sample-compute", "a sampled computation slower, at 1 kHz", "parts in a million",
        slower("bench profile")),
    Row("sample-traps", "sampled traps slower, at 1 kHz", "parts in a million",
        slower("bench profile-traps"), 380),
    use_row("run", "monctl -run: work slower"),
    use_row("run-record", "monctl -record -run"),
    use_row("run-stack", "monctl -record -stack -run"),
    use_row("all-record", "monctl -for all -record"),
    use_row("all-stack", "monctl -for all -record -stack"),
    Row("thread", "thread created, run, ended and joined", "instructions",
        operation("bench thread"), limits=limits(2, 0, 0, 7)),
    Row("task-self", "mach_task_self()", "instructions",
        operation("bench task-self"), 120, limits(0, 0, 0, 1), gnu_mach="408"),
    Row("port-type", "mach_port_type(), a call of the kernel", "instructions",
        operation("bench port-type"), 700, limits(0, 0, 0, 1), gnu_mach="1,235"),
    Row("call", "call of a server in the same task, 24 bytes", "instructions",
        operation("bench call"), 850, limits(0, 0, 0, 2), gnu_mach="2,367"),
    Row("call-task", "call of a server in another task, 24 bytes", "instructions",
        operation("bench call-task"), 850, limits(2, 0, 0, 2), gnu_mach="1,851"),
    Row("call-general", "the same without the fast path", "instructions",
        operation("bench call-task", append="fastpath=off"), 1_703, limits(2, 0, 0, 2)),
    Row("call-memory", "call with a page out of line, freed unread", "instructions",
        operation("bench call-memory"), 4_240, limits(2, 1, 0, 5), gnu_mach="4,223"),
    Row("thread-life", "thread created and terminated", "instructions",
        operation("bench thread-life"), 3_000, limits(0, 0, 0, 9), gnu_mach="6,514"),
    Row("task-life", "task created and terminated, empty", "instructions",
        operation("bench task-life"), 7_000, limits(0, 0, 0, 9), gnu_mach="16,066"),
    Row("map", "page mapped and unmapped", "instructions",
        operation("bench map"), limits=limits(0, 1, 0, 2)),
    Row("zero-fill", "page mapped, cleared and written to", "instructions",
        operation(f"bench zero-fill {FILLS}"), 1_900, limits(0, 0, 0, 2), gnu_mach="6,205"),
    Row("allocate", "page mapped and unmapped by Mach's traps", "instructions",
        operation("bench allocate"), 718, limits(0, 0, 0, 2), gnu_mach="1,694"),
    Row("allocate-touch", "the same, written to in between", "instructions",
        operation("bench allocate-touch"), 2_548, limits(0, 1, 0, 4), gnu_mach="8,700"),
    Row("protect", "page of many made read-only, and back", "instructions",
        operation("bench protect"), limits=limits(0, 1, 0, 7), gnu_mach="2,888"),
    Row("cow-first", "write to the first page of a copy of 1,000", "instructions",
        median(f"bench cow-first {COPIES}"), 1_762, gnu_mach="6,632"),
    Row("cow-last", "write to the last page, after all others", "instructions",
        median(f"bench cow-last {COPIES}"), 1_703, gnu_mach="26,881"),
    Row("forks", "write after a fork, growth in 1,000 forks", "instructions",
        measure_forks, 0),
    Row("exception", "page mapped by a handler of exceptions", "instructions",
        operation("bench exception"), 4_500, limits(0, 1, 0, 9), gnu_mach="10,155"),
    Row("pager", "page from a pager of the program's own", "instructions",
        operation("bench pager"), 5_802, limits(0, 1, 0, 12), gnu_mach="15,613"),
    Row("getpid", "getpid() of the Unix server", "instructions", unix_call("getpid")),
    Row("getpid-traced", "the same, call and result recorded", "instructions",
        unix_call("getpid-traced")),
    Row("getpid-audited", "the same with a trail, in which it is not", "instructions",
        root_call("getpid-audited")),
    Row("umask", "umask() of the Unix server", "instructions", unix_call("umask")),
    Row("umask-audited", "the same, in the trail", "instructions", root_call("umask-audited")),
    Row("open-close", "open() and close() of a file", "instructions", unix_call("open-close")),
    Row("read-page", "read() of 4 KiB of a cached file", "instructions", unix_call("read-page")),
    Row("pipe", "byte to another process and back, by pipes", "instructions", unix_call("pipe")),
    Row("page-in", "page of a mapped file, from the server", "instructions", unix_call("page-in")),
    Row("fork-exec", "fork, exec and wait of a static program", "instructions",
        unix_call("fork-exec")),
    Row("prompt", "boot, a shell that does nothing, halt", "instructions", measure_prompt),
    Row("stretch", "longest stretch without kernel_pause()", "instructions",
        measure_stretch, 100_000),
    Row("memory", "smallest memory that boots", "MiB",
        measure_memory, 16, gnu_mach="24"),
    Row("text", "kernel text", "bytes", measure_text),
    Row("lines", "kernel sources, what one reads", "lines of code", *lines_of(0)),
    Row("lines-instruments", "kernel sources, the instruments", "lines of code", *lines_of(1)),
)


def choose(names: list[str]) -> list[Row]:
    """The rows of these names in the table's order; without names, all."""
    known = [row.name for row in ROWS]
    for name in names:
        if name not in known:
            raise ToolError(f"there is no row {name}; there are {', '.join(known)}")
    return [row for row in ROWS if not names or row.name in names]
