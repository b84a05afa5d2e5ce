# SPDX-License-Identifier: MIT
"""Counted calls against those that the plugin of tools/hot counts, function by function.

From the moment when the counters are cleared to that when they are copied: one begins in
machine_calls_clear(), the other in machine_calls_copy(), and these calls themselves are counted by
one of the two only.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from assay import hot
from assay.machine import find_kernel

PROGRAM = "prof/call_counts"
LINE = re.compile(r"# call ([0-9a-f]{8}) ([0-9a-f]{8}) (\d+)")

# What clears and copies, and is called between the two moments for that.
MOMENTS = ("machine_calls_clear", "machine_calls_copy", "memset", "memcpy")


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


@pytest.mark.parametrize("cpus", (1, 4))
@pytest.mark.parametrize("load, known, least",
                         (("messages", "mach_port_type", 1000), ("pages", "vm_allocate", 1),
                          ("tasks", "task_create", 20)))
def test_calls_are_exact(machine, tmp_path: Path, load: str, known: str, least: int,
                         cpus: int) -> None:
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    out = tmp_path / "counts"
    first, last = kernel.function(MOMENTS[0]), kernel.function(MOMENTS[1])
    assert first is not None and last is not None
    plugin = hot.plugin_option(out, kernel, start=first.start, stop=last.start)
    run = machine([f"{PROGRAM} ${{host-port}} a_load_of_{load}"], cpus=cpus, plugin=plugin)
    assert (run.outcome, run.status) == ("exit", 0)
    counted = counted_calls(run.output.decode())
    executed = executed_calls(kernel, hot.read_counts(out))
    names = {f.start: f.name for f in kernel.functions}
    entry = range(kernel.label("gate_entry") or 0, kernel.label("entry_end") or 0)
    ways_in = {start for start in entry if start not in counted}  # Nobody calls them.
    differ = {names[start]: (counted[start], executed.get(start, 0))
              for start in {*counted, *executed} - ways_in
              if counted[start] != executed.get(start, 0)}
    assert all(name in MOMENTS and abs(a - b) == 1 for name, (a, b) in differ.items()), differ
    function = kernel.function(known) or kernel.function(f"_X{known}")
    assert function is not None and counted[function.start] >= least


def test_from_boot_on(machine) -> None:
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    first, end = kernel.label("kernel_start"), kernel.label("kernel_text_end")
    run = machine(["hello"], append="profile")
    assert (run.outcome, run.status) == ("exit", 0)
    assert first is not None and end is not None
    assert (f"Profiling kernel, textsize={end - first} [{first:08x}..{end:08x}]"
            in run.log.decode())
