# SPDX-License-Identifier: MIT
"""A kernel that is broken ends the machine at once and says where: `crash=KIND` for every kind."""

import re
from pathlib import Path

import pytest

CRASH_C = Path(__file__).resolve().parents[2] / "kernel/i386/entry/crash.c"
NUMBER = "[0-9a-f]{8}"

# What the line `panic:` says, and the function that the backtrace must name.
PANICS = {
    "null": ("page fault in the kernel: cannot write 0x00000004", "crash_null"),
    "write-text": (f"page fault in the kernel: cannot write 0x{NUMBER}", "crash_write_text"),
    "write-constant": (f"page fault in the kernel: cannot write 0x{NUMBER}",
                       "crash_write_constant"),
    "execute-data": (f"page fault in the kernel: cannot execute 0x{NUMBER}",
                     "crash_execute_data"),
    "undefined": ("exception 6 in the kernel", "crash_undefined"),
    "overflow": ("kernel stack overflow", "crash_recurse"),
    "double-fault": ("double fault", "crash_double_fault"),
    "assert": (r"kernel/i386/entry/crash\.c:\d+: assertion failed: some_data\[1\] == 1",
               "crash_assert"),
    "held": (r"kernel/i386/entry/crash\.c:\d+: assertion failed: some_data\[2\] == 1",
             "crash_held"),
}
ASSERTIONS = {"assert", "held"}
HANGS = {"hang", "hang-off"}

# Without the instruction clock a guest second is a second: a hang is quick to wait for.
REAL_TIME = {"icount": False, "accel": "tcg"}


def kinds_in_source() -> set[str]:
    return set(re.findall(r'\{"([\w-]+)", crash_\w+\}', CRASH_C.read_text()))


def lines_of(result) -> list[str]:
    return result.log.decode().splitlines()


def backtrace(lines: list[str]) -> list[str]:
    """The functions of all CPUs' backtraces; what has no name is its address."""
    places = [re.fullmatch(rf"    ({NUMBER})(?: (\S+)\+0x[0-9a-f]+)?", line) for line in lines]
    return [place[2] or place[1] for place in places if place]


def cpus_shown(lines: list[str]) -> list[tuple[str, str]]:
    """Each CPU and what it ran, without the thread's number; the first is the one that failed."""
    shown = [re.fullmatch(r"  CPU (\d+), (.*)", line) for line in lines]
    return [(match[1], re.sub(r"thread \d+", "thread", match[2])) for match in shown if match]


def test_every_kind_has_its_test() -> None:
    assert kinds_in_source() == PANICS.keys() | HANGS


@pytest.mark.parametrize("kind", PANICS)
def test_panic(machine, kind: str) -> None:
    says, function = PANICS[kind]
    result = machine(["hello"], append=f"crash={kind}")
    assert (result.outcome, result.status) == ("panic", 0)
    lines = lines_of(result)
    panics = [line for line in lines if line.startswith("panic: ")]
    assert len(panics) == 1
    assert re.fullmatch(f"panic: {says}", panics[0])
    assert cpus_shown(lines) == [("0", "thread of the kernel")]
    assert function in {name.partition(".")[0] for name in backtrace(lines)}
    assert lines[-1] == "machine: panic"


@pytest.mark.parametrize("kind", sorted(PANICS.keys() - ASSERTIONS))
def test_registers_are_shown(machine, kind: str) -> None:
    """An assertion has no frame to show; everything that the CPU noticed has one."""
    log = machine(["hello"], append=f"crash={kind}").log.decode()
    rows = [
        r"eip (?!00000000)NUMBER  cs 0008  eflags NUMBER  vector \d+  error NUMBER",
        r"eax NUMBER  ebx NUMBER  ecx NUMBER  edx NUMBER",
        r"esi NUMBER  edi NUMBER  ebp NUMBER  cr2 NUMBER  cr3 NUMBER",
        r"ds 0010  es 0010  fs 0028",
    ]
    for row in rows:
        assert re.search(f"^  {row.replace('NUMBER', NUMBER)}$", log, re.MULTILINE)


def test_address_in_registers_is_the_one_in_the_message(machine) -> None:
    log = machine(["hello"], append="crash=write-text").log.decode()
    said, = re.findall(rf"cannot write 0x({NUMBER})", log)
    assert f"cr2 {said}" in log


@pytest.mark.parametrize("kind", ["null", "double-fault", "assert", "held"])
def test_other_cpu_is_stopped_and_shown(machine, kind: str) -> None:
    lines = lines_of(machine(["hello"], append=f"crash={kind}", cpus=2))
    shown = cpus_shown(lines)
    assert sorted(number for number, _ in shown) == ["0", "1"]
    assert shown[0][1] == "thread of the kernel"
    assert PANICS[kind][1] in backtrace(lines)
    second = next(n for n, line in enumerate(lines) if line.startswith(f"  CPU {shown[1][0]}, "))
    assert backtrace(lines[second:]), "the other CPU's place"
    assert "    did not stop" not in lines


def test_thread_of_a_program_is_named_with_its_task(machine) -> None:
    """The time limit finds the program running: nothing is wrong with the kernel."""
    lines = lines_of(machine(["machine/act spin"], append="limit=1", limit=30, **REAL_TIME))
    assert ("0", 'thread of task 1 "act"') in cpus_shown(lines)


def test_hang_meets_the_time_limit(machine) -> None:
    """The kernel spins with interrupts on: its own clock ends it, and tells where it was."""
    result = machine(["hello"], append="crash=hang limit=1", limit=30, **REAL_TIME)
    assert result.outcome == "timeout"
    lines = lines_of(result)
    assert "timeout: the time limit of the run (limit=) is over" in lines
    assert "crash_hang" in backtrace(lines)
    assert lines[-1] == "machine: timeout"


@pytest.mark.parametrize("cpus", [1, 4])
def test_a_report_is_not_cut_by_samples(machine, cpus: int) -> None:
    """NMIs go on, ten thousand in a second, while the CPU that ends the run says why."""
    load = "prof/call_counts ${host-port} rounds=100000 on_and_off_under_load"
    result = machine([load], append="limit=1", cpus=cpus, limit=30, instruction_ns=4)
    assert result.outcome == "timeout"
    lines = lines_of(result)
    assert "timeout: the time limit of the run (limit=) is over" in lines
    assert sorted(number for number, _ in cpus_shown(lines)) == [*map(str, range(cpus))]
    assert "    did not stop" not in lines
    assert lines[-1] == "machine: timeout"


@pytest.mark.parametrize("cpus", [1, 2])
def test_hang_without_interrupts_is_found_by_nmi(machine, cpus: int) -> None:
    """Not even the clock gets through; the runner asks for the backtrace from outside.

    By the host's clock, with many times what booting takes: the guest's would be slower still.
    """
    result = machine(["hello"], append="crash=hang-off", limit=4, cpus=cpus, **REAL_TIME)
    assert result.outcome == "timeout"
    lines = lines_of(result)
    assert "timeout: the runner's time limit is over" in lines
    assert "crash_hang" in {name.removesuffix("_off") for name in backtrace(lines)}
    assert "    did not stop" not in lines
    # Whichever CPU's NMI came first has told the others' places.
    assert sorted(number for number, _ in cpus_shown(lines)) == [*map(str, range(cpus))]
    assert "thread of the kernel" in {what for _, what in cpus_shown(lines)}


def test_unknown_kind_is_refused_with_the_list(machine) -> None:
    result = machine(["hello"], append="crash=nonsense")
    assert result.outcome == "refused"
    said, = [line for line in lines_of(result) if line.startswith("Assay cannot run here: ")]
    assert "crash=nonsense" in said
    assert kinds_in_source() <= set(re.findall(r"[\w-]+", said.partition("there are")[2]))
