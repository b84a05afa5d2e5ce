# SPDX-License-Identifier: MIT
"""Calls counted by label against the plugin of tools/hot, which reads from the machine's memory on
whose behalf each instruction is executed: function by function, for each label.

The plugin knows nothing of events: what an interrupt has a thread do is that thread's there, and
the system's here.  Such calls may be missing from a label's, but only if the system has them.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from assay import hot
from assay.machine import find_kernel

from framework.room import KIND
from prof import call_oracle

LINE = re.compile(r"# for ([0-9a-f]{8}) call [0-9a-f]{8} ([0-9a-f]{8}) (\d+)")
SYSTEM, OTHERS = 0, 0xFFFFFFFF

# What changes whose counters a CPU is shown, and is itself counted on one side of the change or
# the other, or not at all (kernel/i386/patch/stand_in.S).
CHANGES = ("follow_", "counters_", "pmap_entry", "pmap_window_", "shootdown_", "interrupt_apart",
           "interrupt_work_apart", "thread_state_switch_apart", "mach_msg_apart", "requests_count",
           "requests_done")

# Between the moment at which the first label's counters are cleared and that of the last's.
CLEARING = (*call_oracle.MOMENTS, *call_oracle.PIECES, *call_oracle.WAITS, "hold_end",
            "calls_clear_sums", "kernel_pause",
            # What is no function of its own where the compiler has it in those that call it:
            "machine_call_counters_of_each")

# To these a tick always leads, as far as they are functions of their own.
OF_A_TICK = ("calls_add_up", "machine_call_run")

# Where the kernel is not compiled as one unit, what these call are functions, too.
CALLED_THEN = 40 if "FAST=1" in KIND else 0


def counted_by_label(output: str) -> dict[int, Counter]:
    counted: dict[int, Counter] = {}
    for label, to, n in LINE.findall(output):
        counted.setdefault(int(label, 16), Counter())[int(to, 16)] += int(n)
    return counted


def executed_by_label(kernel: hot.Image, counts: hot.Counts) -> dict[int, dict[int, int]]:
    return {label: call_oracle.executed_calls(kernel, counts.of(lambda who: who.label == label))
            for label in sorted({who.label for who in counts.by if who.label is not None})}


def differing(kernel: hot.Image, ours: Counter, plugins: dict[int, int]) -> dict[str, tuple]:
    """By name, what is neither equal nor known to differ."""
    entry = range(kernel.label("gate_entry") or 0, kernel.label("entry_end") or 0)
    names = {f.start: f.name for f in kernel.functions}
    return {names[start]: (ours[start], plugins.get(start, 0)) for start in {*ours, *plugins}
            if ours[start] != plugins.get(start, 0) and start not in entry
            and not names[start].startswith((*CHANGES, *CLEARING))}


@pytest.mark.parametrize("cpus", (1, 4))
def test_calls_are_whose_they_are(machine, tmp_path: Path, cpus: int) -> None:
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    out = tmp_path / "counts"
    first, last = (kernel.function(name) for name in call_oracle.MOMENTS)
    assert first is not None and last is not None
    run = machine(["prof/calls_by_label ${host-port} a_load_for_one"], cpus=cpus,
                  plugin=hot.plugin_option(out, kernel, start=first.start, stop=last.start,
                                           by=("label",)))
    assert (run.outcome, run.status) == ("exit", 0)
    ours = counted_by_label(run.output.decode())
    plugins = executed_by_label(kernel, hot.read_counts(out))
    mine = next(label for label in ours if label not in (SYSTEM, OTHERS))
    assert sum(ours[mine].values()) > 3000
    named = call_oracle.named_functions()  # Whose calls are not counted, as of a timer's function.
    moved = {name: counts for name, counts
             in differing(kernel, ours[mine], plugins[mine]).items() if name not in named}
    systems = {name: ours[SYSTEM][kernel.function(name).start] for name in moved}
    assert not {name: (counted, executed, systems[name])
                for name, (counted, executed) in moved.items()
                if not 0 < executed - counted <= systems[name] + CALLED_THEN}
    # There were ticks, which are nobody's work, wherever they came.
    ticks = [f.start for f in kernel.functions if f.name.split(".")[0] in OF_A_TICK]
    assert ticks and all(ours[mine][start] == 0 < ours[SYSTEM][start] for start in ticks)
    assert set(ours) <= {mine, SYSTEM}  # Nobody else did anything.
