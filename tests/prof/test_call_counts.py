# SPDX-License-Identifier: MIT
"""Counted calls against those that the plugin of tools/hot counts, function by function: those that
a program asks the kernel for, and those that kgmon writes.

From the moment when the counters are cleared to that when they are copied: one begins in
machine_calls_clear(), the other in machine_calls_copy(), and these calls themselves are counted by
one of the two only.
"""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import OUT, ROOT, bench, hot, qemu
from assay.files import Files, Get
from assay.machine import find_kernel
from libprof.gmon_reader import calls, parse

from framework.room import KIND

PROGRAM = "prof/call_counts"
LINE = re.compile(r"# call ([0-9a-f]{8}) ([0-9a-f]{8}) (\d+)")

# What clears and copies, and is called between the two moments for that.
MOMENTS = ("machine_calls_clear", "machine_calls_copy", "memset", "memcpy")

# What a CPU calls that is held, between one's last moment and the other's.
WAITS = ("holder_change", "holder_next_of", "nmi")

# What the tool names, whoever calls it by that address: a timer, a line of characters, the log.
NAMED = re.compile(r"^[0-9a-f]{8} \S+: (\S+): its address is (?:in an instruction|written to)$",
                   re.MULTILINE)

MILLISECOND = 1_000_000  # Of a machine that executes an instruction in each nanosecond.


def counted_calls(output: str) -> Counter:
    """By the function's address, which is never nothing."""
    counted: Counter = Counter()
    for _, to, count in LINE.findall(output):
        counted[int(to, 16)] += int(count)
    return counted


def executed_calls(kernel: hot.Image, counts: hot.Counts) -> dict[int, int]:
    """How often the first instruction of each function was executed."""
    executed = {i.address: i.count for i in counts.instructions}
    return {f.start: executed[f.start] for f in kernel.functions if executed.get(f.start, 0) > 0}


def window(kernel: hot.Image, out: Path) -> str:
    """The plugin's option for what is counted between the two moments."""
    first, last = (kernel.function(name) for name in MOMENTS[:2])
    assert first is not None and last is not None
    return hot.plugin_option(out, kernel, start=first.start, stop=last.start)


def named_functions() -> set[str]:
    unnamed = OUT / "obj" / "kernel" / "unnamed"
    text = subprocess.run([ROOT / "tools" / "callsites", "--left-out", f"{unnamed}.dump",
                           f"{unnamed}.sym"], check=True, text=True, capture_output=True).stdout
    return set(NAMED.findall(text))


def check_exact(kernel: hot.Image, counted: Counter, out: Path, cpus: int) -> None:
    """What the kernel has counted of each function is what the plugin has in the file."""
    executed, named = executed_calls(kernel, hot.read_counts(out)), named_functions()
    names = {f.start: f.name for f in kernel.functions}
    entry = range(kernel.label("gate_entry") or 0, kernel.label("entry_end") or 0)
    ways_in = {start for start in entry if start not in counted}  # Nobody calls them.
    differ = {names[start]: (counted[start], executed.get(start, 0))
              for start in {*counted, *executed} - ways_in
              if counted[start] != executed.get(start, 0)}
    for name, (ours, plugins) in differ.items():
        assert name.startswith(MOMENTS) and abs(ours - plugins) <= 1 or \
            name.split(".")[0] in WAITS and abs(ours - plugins) <= 2 * cpus or \
            name in named and ours < plugins, differ


@pytest.mark.parametrize("cpus", (1, 4))
@pytest.mark.parametrize("load, known, least",
                         (("messages", "mach_port_type", 1000), ("pages", "vm_allocate", 1),
                          ("tasks", "task_create", 20)))
def test_calls_are_exact(machine, tmp_path: Path, load: str, known: str, least: int,
                         cpus: int) -> None:
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    out = tmp_path / "counts"
    run = machine([f"{PROGRAM} ${{host-port}} a_load_of_{load}"], cpus=cpus,
                  plugin=window(kernel, out))
    assert (run.outcome, run.status) == ("exit", 0)
    counted = counted_calls(run.output.decode())
    check_exact(kernel, counted, out, cpus)
    function = kernel.function(known) or kernel.function(f"_X{known}")
    assert function is not None and counted[function.start] >= least


# Under the Unix server: messages between programs and servers, and files that are written and read
# back; programs that are executed, and end; pages that are filled.
UNIX_LOADS = {
    "messages": ("seq 2000 >f; sort -r f >g; cmp f g; rm f g", "trap_mach_msg", 200),
    "programs": ("for i in 1 2 3 4 5 6 7 8; do true | cat; /bin/true; done", "trap_task_create",
                 16),
    "pages": ("vmprog 3000", "fault", 1000),
}


@pytest.mark.parametrize("cpus", (1, 4))
@pytest.mark.parametrize("load", UNIX_LOADS)
def test_kgmon_s_calls_are_exact(unix_machine, tmp_path: Path, load: str, cpus: int) -> None:
    """As gmon.out has them, with the sampling clock's NMI in the middle."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    command, known, least = UNIX_LOADS[load]
    out = tmp_path / "counts"
    run = unix_machine(f"kgmon -b; kgmon -r; {command}; kgmon -p", user="root", cpus=cpus,
                       files=Files(get=(Get("/root/gmon.out", tmp_path / "gmon.out"),)),
                       plugin=window(kernel, out))
    assert (run.outcome, run.status) == ("exit", 0)
    counted: Counter = Counter()
    for _, to, count in calls(parse((tmp_path / "gmon.out").read_bytes())):
        counted[to] += count
    check_exact(kernel, counted, out, cpus)
    function = kernel.function(known)
    assert function is not None and counted[function.start] >= least


@pytest.mark.skipif(KIND == ("SAN=1",), reason="with its checks the kernel executes more")
def test_nobody_waits_long_for_it(machine, tmp_path: Path) -> None:
    """Neither for a CPU that patches nor for one that adds up or tells what was counted."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    out = tmp_path / "counts"
    run = machine([f"{PROGRAM} ${{host-port}} each_call_is_counted_once it_takes_little_time"],
                  cpus=4, plugin=hot.plugin_option(out, kernel))
    assert (run.outcome, run.status) == ("exit", 0)
    assert 0 < hot.read_counts(out).stretch.length <= 100_000
    took = re.search(r"# on (\d+) off (\d+)", run.output.decode())
    assert took is not None and max(int(took[1]), int(took[2])) < MILLISECOND


def text_of(memory: int, kernel: hot.Image) -> tuple[bytes, bytes]:
    """The kernel's text as it is in the machine's memory, and in the file."""
    first, end = kernel.label("kernel_start"), kernel.label("kernel_text_end")
    assert first is not None and end is not None
    size = end - first
    return os.pread(memory, size, first - hot.KERNEL_BASE), kernel.bytes_at(first, size)


# With a thread of the host's for each CPU the host's scheduler decides how long each hold takes.
WAYS = {"in turn": (20, {}), "at once": (4, {"icount": False, "accel": "tcg"})}


@pytest.mark.parametrize("rounds, way", WAYS.values(), ids=WAYS)
def test_on_and_off_under_load(machine, monkeypatch, rounds: int, way: dict) -> None:
    """No count is lost, and the text is the image's afterwards, to the last byte."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    kept = []
    allocate = qemu.allocate_memory

    def allocate_and_keep(mem: int) -> int:
        memory = allocate(mem)
        kept.append(os.dup(memory))
        return memory

    monkeypatch.setattr(qemu, "allocate_memory", allocate_and_keep)
    run = machine([f"{PROGRAM} ${{host-port}} rounds={rounds} on_and_off_under_load"], cpus=4,
                  limit=60, **way)
    assert (run.outcome, run.status) == ("exit", 0)
    stub = next(f for f in kernel.functions if f.name.startswith("_Xmach_port_type"))
    assert counted_calls(run.output.decode())[stub.start] == 3 * 1000
    there, image = text_of(kept[0], kernel)
    os.close(kept[0])
    assert there == image


def test_from_boot_on(machine) -> None:
    run = machine(["hello"], append="count-calls")
    assert (run.outcome, run.status) == ("exit", 0)
    places = re.search(r"the kernel's calls are counted, at (\d+) places", run.log.decode())
    assert places is not None and int(places[1]) > 1000


MOST_DEARER = 1.04
ROWS = ("call", "call-task", "exception", "pager")


def medians(machine, append: str, cpus: int) -> dict[str, int]:
    return {row: bench.read_numbers(machine([f"bench {row}"], append=append, cpus=cpus).output)
            ["median"] for row in ROWS}


@pytest.mark.skipif(KIND == ("SAN=1",), reason="what is promised is the kernel's without checks")
@pytest.mark.parametrize("cpus", (1, 2))
def test_counting_makes_calls_little_dearer(machine, unix_machine, cpus: int) -> None:
    uncounted, counted = ({
        **medians(machine, append, cpus),
        **bench.read_numbers(unix_machine("callbench", append=append, cpus=cpus).output),
    } for append in ("", "count-calls"))
    ratios = {row: counted[row] / uncounted[row] for row in (*ROWS, "fork-exec", "getpid")}
    print(ratios)
    assert all(1 < ratio <= MOST_DEARER for ratio in ratios.values()), ratios
