# SPDX-License-Identifier: MIT
"""What it costs that the kernel's calls are counted: what is on, what is off again, and the way
from one to the other.

Two runs are compared where they differ in nothing else: the rows of the kernel's own, whatever the
CPUs, and those of the Unix server on one.  On several CPUs its server's calls depend on who has the
turn when, and whether somebody waits for another CPU, by more than counting does: there each order
of turns is looked at for itself, and what was executed to count is compared with the rest.
"""

import re
from pathlib import Path

import pytest
from assay import ROOT, bench, experiments, hot
from assay.machine import find_kernel
from assay.symbols import symbol_address

from framework.room import KIND

PROGRAM = "prof/call_counts"
MILLISECOND = 1_000_000  # Of a machine that executes an instruction in each nanosecond.
MOST = 0.04
ROWS = ("call", "call-task", "exception", "pager")
UNIX_ROWS = ("getpid", "fork-exec")
SEEDS = (None, 5, 9)  # And more at night.

stock = pytest.mark.skipif(KIND != (), reason="what is promised is the stock kernel's")


@stock
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


def medians(machine, append: str, cpus: int) -> dict[str, int]:
    return {row: bench.read_numbers(machine([f"bench {row}"], append=append, cpus=cpus).output)
            ["median"] for row in ROWS}


def unix_medians(unix_machine, append: str) -> dict[str, int]:
    numbers = bench.read_numbers(unix_machine("callbench", append=append).output)
    return {row: numbers[row] for row in UNIX_ROWS}


def dearer(uncounted: dict[str, int], counted: dict[str, int]) -> dict[str, float]:
    return {row: counted[row] / uncounted[row] - 1 for row in counted}


def counting_s_share(unix_machine, out: Path, row: str, cpus: int, seed: int | None) -> float:
    """Of what was executed in the row's calls, by all CPUs that were not idle: the thunks, and what
    adds counters up now and then, as a part of the rest."""
    path = find_kernel(None)
    kernel = hot.Image("kernel", path, is_kernel=True)
    thunks = range(symbol_address(path, "call_thunks"), symbol_address(path, "call_thunks_end"))
    run = unix_machine(f"callbench {row}", append="count-calls", cpus=cpus, seed=seed,
                       plugin=hot.plugin_option(out, kernel, marked=True, by=("cpu",)))
    assert (run.outcome, run.status) == ("exit", 0)
    busy = hot.read_counts(out).of(lambda who: not who.idle)

    def counts(address: int) -> bool:
        function = kernel.function_at(address)
        return address in thunks or function is not None and \
            function.name.startswith(("calls_", "machine_call"))

    counting = sum(i.count for i in busy.instructions if counts(i.address))
    assert counting > 0
    return counting / (busy.total - counting)


@stock
@pytest.mark.parametrize("cpus", (1, 2))
def test_counting_makes_the_kernel_s_calls_little_dearer(machine, cpus: int) -> None:
    ratios = dearer(medians(machine, "", cpus), medians(machine, "count-calls", cpus))
    assert all(0 < ratio <= MOST for ratio in ratios.values()), ratios


ALIKE = 0.003  # A median is of one call, and the plugin's share of all.


@stock
def test_counting_makes_the_server_s_calls_little_dearer(unix_machine, tmp_path: Path) -> None:
    """And what two runs say is what the plugin says of one: thunks are all that it costs."""
    ratios = dearer(unix_medians(unix_machine, ""), unix_medians(unix_machine, "count-calls"))
    assert all(0 < ratio <= MOST for ratio in ratios.values()), ratios
    for row, ratio in ratios.items():
        share = counting_s_share(unix_machine, tmp_path / row, row, 1, None)
        assert abs(share - ratio) < ALIKE, (row, share, ratio)


@stock
@pytest.mark.parametrize("seed", (*SEEDS, *(pytest.param(seed, marks=pytest.mark.nightly)
                                            for seed in range(1, 21) if seed not in SEEDS)))
@pytest.mark.parametrize("row", UNIX_ROWS)
def test_whoever_has_the_turn_counting_is_little_of_it(unix_machine, tmp_path: Path, row: str,
                                                       seed: int | None) -> None:
    share = counting_s_share(unix_machine, tmp_path / "counts", row, 2, seed)
    print(f"{row} seed {seed}: {share:.4f}")
    assert share <= MOST


CHAPTER = ROOT / "docs" / "kernel-profile.md"
ROW = r"^\| {} \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) % \|"
IN_THE_BOOK = {"a message to a server, and back": "call", "the same, to another task": "call-task",
               "an exception": "exception", "a page from a pager": "pager",
               r"`getpid\(\)`": "getpid", "a pipe, there and back": "pipe",
               "fork, exec and wait": "fork-exec"}
STALE = 0.03  # So much a kernel may change, or its compiler, until the table is measured anew.
STALE_SHARE = 0.4  # Percent.


@stock
def test_the_book_s_table_is_of_now(machine, unix_machine) -> None:
    off, counted = ({**medians(machine, append, 1),
                     **bench.read_numbers(unix_machine("callbench", append=append).output)}
                    for append in ("", "count-calls"))
    table = CHAPTER.read_text()
    for title, row in IN_THE_BOOK.items():
        cells = re.search(ROW.format(title), table, re.MULTILINE)
        assert cells is not None, title
        before, after = (int(cell.replace(",", "")) for cell in cells.groups()[:2])
        assert abs(before / off[row] - 1) < STALE and abs(after / counted[row] - 1) < STALE, row
        assert abs(100 * (counted[row] / off[row] - 1) - float(cells[3])) < STALE_SHARE, row
        assert f"{100 * (after / before - 1):.1f}" == cells[3], row


LITTLE = 0.003  # What is in memory, and where, is not quite what it would have been.


@stock
@pytest.mark.parametrize("cpus", (1, 2))
def test_ended_counting_costs_nothing(unix_machine, cpus: int) -> None:
    """By figures of the same binary, with memory in use that was not before."""
    never, ended = (bench.read_numbers(unix_machine(f"{before} callbench", user="root",
                                                    cpus=cpus).output)
                    for before in ("", "kgmon -b >/dev/null; kgmon -h >/dev/null;"))
    assert ended["getpid"] == never["getpid"]
    assert all(abs(ended[row] / never[row] - 1) < LITTLE for row in never), (never, ended)


@stock
def test_receiving_is_a_fifth_dearer_at_most_by_label() -> None:
    """An interrupt and what it leaves to do change twice for whom the CPU counts."""
    alone, counted = (experiments.instructions_of(experiments.LINE_IS_FREE + command)
                      for command in ("lineprog", "pkgmon lineprog"))
    assert counted <= 1.2 * alone, (alone, counted)
