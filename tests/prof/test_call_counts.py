# SPDX-License-Identifier: MIT
"""Counted calls against those that the plugin of tools/hot counts, function by function: those that
a program asks the kernel for, and those that kgmon writes.
"""

import os
import re
from pathlib import Path

import pytest
from assay import bench, hot
from assay.files import Files, Get
from assay.machine import find_kernel

from framework.room import KIND
from prof import call_oracle

PROGRAM = "prof/call_counts"
MILLISECOND = 1_000_000  # Of a machine that executes an instruction in each nanosecond.


@pytest.mark.parametrize("cpus", (1, 4))
@pytest.mark.parametrize("load, known, least",
                         (("messages", "mach_port_type", 1000), ("pages", "vm_allocate", 1),
                          ("tasks", "task_create", 20)))
def test_calls_are_exact(machine, tmp_path: Path, load: str, known: str, least: int,
                         cpus: int) -> None:
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    out = tmp_path / "counts"
    run = machine([f"{PROGRAM} ${{host-port}} a_load_of_{load}"], cpus=cpus,
                  plugin=call_oracle.window(kernel, out))
    assert (run.outcome, run.status) == ("exit", 0)
    counted = call_oracle.counted_calls(run.output.decode())
    call_oracle.check_exact(kernel, counted, out, cpus)
    function = kernel.function(known) or kernel.function(f"_X{known}")
    assert function is not None and counted[function.start] >= least


# Under the Unix server: messages between programs and servers, and files that are written and read
# back; programs that are executed, and end; pages that are filled, and that go to the swap.
UNIX_LOADS = {
    "messages": ("seq 2000 >f; sort -r f >g; cmp f g; rm f g", "trap_mach_msg", 200, ""),
    "programs": ("for i in 1 2 3 4 5 6 7 8; do true | cat; /bin/true; done", "trap_task_create",
                 16, ""),
    "pages": ("vmprog 3000", "fault", 1000, ""),
    "page-outs": ("vmprog 4500", "pager_message_send_data", 500, "pool=24"),
}


@pytest.mark.parametrize("cpus", (1, 4))
@pytest.mark.parametrize("load", UNIX_LOADS)
def test_kgmon_s_calls_are_exact(unix_machine, tmp_path: Path, load: str, cpus: int) -> None:
    """As gmon.out has them, with the sampling clock's NMI in the middle."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    command, known, least, append = UNIX_LOADS[load]
    out = tmp_path / "counts"
    run = unix_machine(f"kgmon -b; kgmon -r; {command}; kgmon -p", user="root", cpus=cpus,
                       append=append,
                       files=Files(get=(Get("/root/gmon.out", tmp_path / "gmon.out"),)),
                       plugin=call_oracle.window(kernel, out))
    assert (run.outcome, run.status) == ("exit", 0)
    counted = call_oracle.calls_in(tmp_path / "gmon.out")
    call_oracle.check_exact(kernel, counted, out, cpus)
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


# With a thread of the host's for each CPU the host's scheduler decides how long each hold takes.
WAYS = {"in turn": (20, {}), "at once": (4, {"icount": False, "accel": "tcg"})}


@pytest.mark.parametrize("rounds, way", WAYS.values(), ids=WAYS)
def test_on_and_off_under_load(machine, monkeypatch, rounds: int, way: dict) -> None:
    """No count is lost, and the text is the image's afterwards, to the last byte."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    kept = call_oracle.keep_memory(monkeypatch)
    run = machine([f"{PROGRAM} ${{host-port}} rounds={rounds} on_and_off_under_load"], cpus=4,
                  limit=60, **way)
    assert (run.outcome, run.status) == ("exit", 0)
    stub = next(f for f in kernel.functions if f.name.startswith("_Xmach_port_type"))
    assert call_oracle.counted_calls(run.output.decode())[stub.start] == 3 * 1000
    there, image = call_oracle.text_of(kept[0], kernel)
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


# What a call of a server costs on two CPUs depends on who has the turn when.
SEEDS = {1: (None,), 2: (2, 3, 5)}


def least(unix_machine, append: str, cpus: int) -> dict[str, float]:
    """Of runs that differ in their turns, row by row."""
    runs = [bench.read_numbers(unix_machine("callbench", append=append, cpus=cpus,
                                            seed=seed).output) for seed in SEEDS[cpus]]
    return {row: min(run[row] for run in runs) for row in ("fork-exec", "getpid")}


@pytest.mark.skipif(KIND != (), reason="what is promised is the stock kernel's")
@pytest.mark.parametrize("cpus", (1, 2))
def test_counting_makes_calls_little_dearer(machine, unix_machine, cpus: int) -> None:
    uncounted, counted = ({
        **medians(machine, append, cpus),
        **least(unix_machine, append, cpus),
    } for append in ("", "count-calls"))
    ratios = {row: counted[row] / uncounted[row] for row in counted}
    print(ratios)
    assert all(1 < ratio <= MOST_DEARER for ratio in ratios.values()), ratios


LITTLE = 0.001  # What is in memory, and where, is not quite what it would have been.


@pytest.mark.skipif(KIND != (), reason="what is promised is the stock kernel's")
@pytest.mark.parametrize("cpus", (1, 2))
def test_ended_counting_costs_nothing(unix_machine, cpus: int) -> None:
    """By figures of the same binary, with memory in use that was not before."""
    never, ended = (bench.read_numbers(unix_machine(f"{before} callbench", user="root",
                                                    cpus=cpus).output)
                    for before in ("", "kgmon -b >/dev/null; kgmon -h >/dev/null;"))
    assert ended["getpid"] == never["getpid"]
    assert all(abs(ended[row] / never[row] - 1) < LITTLE for row in never), (never, ended)
