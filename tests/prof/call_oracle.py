# SPDX-License-Identifier: MIT
"""What the kernel has counted of its calls against what the plugin of tools/hot has, function by
function.

From the moment when the counters are cleared, or the machine's start, to that when they are copied:
one begins in machine_calls_clear(), the other in machine_calls_copy(), and these calls themselves
are counted by one of the two only.
"""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import OUT, ROOT, hot, qemu
from libprof.gmon_reader import calls, parse

from framework.room import KIND

LINE = re.compile(r"# call ([0-9a-f]{8}) ([0-9a-f]{8}) (\d+)")

# What clears and copies, and what it is done by, for each CPU piece by piece: the counts of that
# are cleared and copied with the others, in the midst of it.
MOMENTS = ("machine_calls_clear", "machine_calls_copy")
PIECES = ("memset", "memcpy")
COUNTERS_IN_PIECE = 1024
COUNTERS_MOVED = 512  # At least so many lie behind those of the calls (kernel/i386/patch/gather.c).

# What holds CPUs for that, and what a CPU calls that waits or is held, between one's last moment
# and the other's: twice each in each round of turns that clearing or copying takes; the checked
# kernel takes longer for that.
A_FEW = 8 if "SAN=1" in KIND else 6
WAITS = ("hold_begin", "lapic_send", "lapic_send_nmi", "lapic_wait_for_command", "holder_change",
         "holder_next_of", "nmi",
         # What is no function of its own where the kernel is compiled as one unit:
         "cpu_number", "hold_if_asked", "hold_was_used", "holder_note", "holder_pause",
         "machine_cycles", "panic_is_here", "panic_stop_if_asked", "report_request_pending",
         "sample_work_after_nmi", "sampler_uses_nmi")

# What the sampling clock's interrupt calls, which may come at each of the two moments.
IN_AN_INTERRUPT = ("sampler_arm_in_turn", "sampler_find_place", "sampler_interrupt",
                   "sampler_serve_", "sampler_share", "sampler_sharing_sequence",
                   # What is no function of its own where the kernel is compiled as one unit:
                   "holder_give", "holder_next_is_first", "holder_take", "holder_watch",
                   "machine_find_", "machine_is_user", "machine_sample_timer_",
                   "sampler_program_in_turn", "turns_")  # Or what begins so.

# What the tool names, whoever calls it by that address: a timer, a line of characters, the log; and
# at the machine's start.
NAMED = re.compile(r"^[0-9a-f]{8} \S+: (?:(\S+): its address is (?:in an instruction|written to)|"
                   r"call (\S+): at the machine's start)$", re.MULTILINE)

# How many calls the kernel has, as the table begins that the tool prints.
N_CALLS = re.compile(r"^\t\.long \d+, \d+, (\d+)$", re.MULTILINE)


def counted_calls(output: str) -> Counter:
    """By the function's address, which is never nothing."""
    counted: Counter = Counter()
    for _, to, count in LINE.findall(output):
        counted[int(to, 16)] += int(count)
    return counted


def calls_in(gmon: Path) -> Counter:
    counted: Counter = Counter()
    for _, to, count in calls(parse(gmon.read_bytes())):
        counted[to] += count
    return counted


def executed_calls(kernel: hot.Image, counts: hot.Counts) -> dict[int, int]:
    """How often the first instruction of each function was executed."""
    executed = {i.address: i.count for i in counts.instructions}
    return {f.start: executed[f.start] for f in kernel.functions if executed.get(f.start, 0) > 0}


def window(kernel: hot.Image, out: Path, since_start: bool = False) -> str:
    """The plugin's option for what is counted between the two moments."""
    first, last = (kernel.function(name) for name in MOMENTS)
    assert first is not None and last is not None
    return hot.plugin_option(out, kernel, start=None if since_start else first.start,
                             stop=last.start)


def call_sites(*options: str) -> str:
    """What tools/callsites prints of this kernel."""
    unnamed = OUT / "obj" / "kernel" / "unnamed"
    return subprocess.run([ROOT / "tools" / "callsites", *options, f"{unnamed}.dump",
                           f"{unnamed}.sym"], check=True, text=True, capture_output=True).stdout


def named_functions() -> set[str]:
    return {name for names in NAMED.findall(call_sites("--left-out")) for name in names if name}


def pieces_of_a_cpu() -> int:
    """The most that one is cleared or copied in: pages of counters, one for each call and more."""
    found = N_CALLS.search(call_sites())
    assert found is not None
    return (int(found[1]) + COUNTERS_MOVED) // COUNTERS_IN_PIECE + 1


def check_exact(kernel: hot.Image, counted: Counter, out: Path, cpus: int) -> None:
    """What the kernel has counted of each function is what the plugin has in the file."""
    executed, named = executed_calls(kernel, hot.read_counts(out)), named_functions()
    names, pieces = {f.start: f.name for f in kernel.functions}, pieces_of_a_cpu() * cpus
    entry = range(kernel.label("gate_entry") or 0, kernel.label("entry_end") or 0)
    ways_in = {start for start in entry if start not in counted}  # Nobody calls them.
    differ = {names[start]: (counted[start], executed.get(start, 0))
              for start in {*counted, *executed} - ways_in
              if counted[start] != executed.get(start, 0)}
    for name, (ours, plugins) in differ.items():
        assert name.startswith(MOMENTS) and abs(ours - plugins) <= 1 or \
            name.startswith(PIECES) and abs(ours - plugins) <= pieces or \
            name.split(".")[0] in WAITS and abs(ours - plugins) <= A_FEW * cpus or \
            name.startswith(IN_AN_INTERRUPT) and abs(ours - plugins) <= len(MOMENTS) or \
            name in named and ours < plugins, differ


def keep_memory(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list of descriptors, to be closed: the memory of each machine that is run from now on."""
    kept: list[int] = []
    allocate = qemu.allocate_memory

    def allocate_and_keep(mem: int) -> int:
        memory = allocate(mem)
        kept.append(os.dup(memory))
        return memory

    monkeypatch.setattr(qemu, "allocate_memory", allocate_and_keep)
    return kept


def text_of(memory: int, kernel: hot.Image) -> tuple[bytes, bytes]:
    """The kernel's text as it is in the machine's memory, and in the file."""
    first, end = kernel.label("kernel_start"), kernel.label("kernel_text_end")
    assert first is not None and end is not None
    size = end - first
    return os.pread(memory, size, first - hot.KERNEL_BASE), kernel.bytes_at(first, size)
