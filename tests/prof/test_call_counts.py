# SPDX-License-Identifier: MIT
"""Counted calls against those that the plugin of tools/hot counts, function by function: those that
a program asks the kernel for, and those that kgmon writes.
"""

import os
import re
from pathlib import Path

import pytest
from assay import hot
from assay.files import Files, Get
from assay.machine import find_kernel

from prof import call_oracle

PROGRAM = "prof/call_counts"


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


def check_kgmon_s_calls(unix_machine, folder: Path, load: str, cpus: int, seed: int | None) -> None:
    """As gmon.out has them, with the sampling clock's NMI in the middle."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    command, known, least, append = UNIX_LOADS[load]
    out = folder / "counts"
    run = unix_machine(f"kgmon -b; kgmon -r; {command}; kgmon -p", user="root", cpus=cpus,
                       append=append, seed=seed,
                       files=Files(get=(Get("/root/gmon.out", folder / "gmon.out"),)),
                       plugin=call_oracle.window(kernel, out))
    assert (run.outcome, run.status) == ("exit", 0)
    counted = call_oracle.calls_in(folder / "gmon.out")
    call_oracle.check_exact(kernel, counted, out, cpus)
    function = kernel.function(known)
    assert function is not None and counted[function.start] >= least


@pytest.mark.parametrize("cpus", (1, 4))
@pytest.mark.parametrize("load", UNIX_LOADS)
def test_kgmon_s_calls_are_exact(unix_machine, tmp_path: Path, load: str, cpus: int) -> None:
    check_kgmon_s_calls(unix_machine, tmp_path, load, cpus, None)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1, 21))
@pytest.mark.parametrize("load", UNIX_LOADS)
def test_in_any_order_they_are_exact(unix_machine, tmp_path: Path, load: str, seed: int) -> None:
    check_kgmon_s_calls(unix_machine, tmp_path, load, 4, seed)


# With a thread of the host's for each CPU the host's scheduler decides how long each hold takes.
IN_TURN: dict = {}
AT_ONCE = {"icount": False, "accel": "tcg"}
WAYS = (pytest.param(20, IN_TURN, id="in turn"), pytest.param(2, AT_ONCE, id="at once"),
        pytest.param(1000, IN_TURN, id="all night in turn", marks=pytest.mark.nightly),
        pytest.param(1000, AT_ONCE, id="all night at once", marks=pytest.mark.nightly))


@pytest.mark.parametrize("rounds, way", WAYS)
def test_on_and_off_under_load(machine, monkeypatch, rounds: int, way: dict) -> None:
    """No count is lost, and the text is the image's afterwards, to the last byte."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    kept = call_oracle.keep_memory(monkeypatch)
    run = machine([f"{PROGRAM} ${{host-port}} rounds={rounds} on_and_off_under_load"], cpus=4,
                  limit=60 + 4 * rounds, **way)
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
