# SPDX-License-Identifier: MIT
"""No call keeps others out of the kernel for long: long loops have their pauses.

tests/kern/long_loops.c and long_threads.c make calls with thousands of turns, and
tests/vm/long_pagers.c those of pagers; that they work is their own business.
Under the instruction clock the plugin of tools/hot counts how many instructions one CPU executes in
the kernel without letting others in, and the same run gives the same number.  The kernel promises
100,000; most calls are held to half of that here, so that a loop of two thousand short turns
without its pause is too long.
"""

import re
from pathlib import Path

import pytest
from assay import ROOT, hot
from assay.machine import find_kernel
from framework.room import KIND

LOOPS, THREADS, PAGERS = "kern/long_loops", "kern/long_threads", "vm/long_pagers"
CALLS = "prof/call_counts"  # The kernel's text is written to at several places between two pauses.

PROMISED = 100_000
MOST = PROMISED // 2

# Sixteen pages a pause, each of them copied twice: a thousand instructions of a string's.
COPIERS = ("pages_are_written_to_one_by_one",)


def names_of(program: str) -> tuple[str, ...]:
    source = ROOT / "tests" / f"{program}.c"
    return tuple(re.findall(r"^TEST\((\w+)\)", source.read_text(), re.MULTILINE))


NAMES = names_of(LOOPS)
# As many as a machine's line has room for.
OF_PAGES = tuple(name for name in NAMES if name.startswith("pages_") and name not in COPIERS)
OF_ENTRIES = tuple(name for name in NAMES if name.startswith("entries_"))
OF_MESSAGES = tuple(name for name in NAMES if re.match("rights|words|memory|names", name))
OTHERS = tuple(name for name in NAMES
               if name not in OF_PAGES + OF_ENTRIES + COPIERS + OF_MESSAGES)


@pytest.mark.skipif(KIND == ("SAN=1",), reason="with its checks the kernel executes more")
@pytest.mark.parametrize("program, names, most", (
    (LOOPS, OF_PAGES, MOST), (LOOPS, OF_ENTRIES, MOST), (LOOPS, OF_MESSAGES, MOST),
    (LOOPS, OTHERS, MOST), (LOOPS, COPIERS, PROMISED), (THREADS, names_of(THREADS), MOST),
    (PAGERS, names_of(PAGERS), MOST), (CALLS, ("each_call_is_counted_once",), PROMISED)),
    ids=("pages", "entries", "messages", "others", "copiers", "threads", "pagers", "calls"))
def test_nobody_is_kept_out(machine, tmp_path: Path, program: str, names: tuple[str, ...],
                            most: int) -> None:
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    out = tmp_path / "counts"
    run = machine([f"{program} ${{host-port}} ${{device-port}} {' '.join(names)}"],
                  append="ramdisk=4", plugin=hot.plugin_option(out, kernel))
    assert (run.outcome, run.status) == ("exit", 0)
    assert run.output.decode().rstrip().endswith(f"done {len(names)} 0")
    stretch = hot.read_counts(out).stretch
    where = f"from {kernel.place(stretch.first)} to {kernel.place(stretch.last)}"
    assert 0 < stretch.length <= most, f"{stretch.length:,} instructions {where}"
