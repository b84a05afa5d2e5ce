# SPDX-License-Identifier: MIT
"""Under the instruction clock the same inputs give the same bytes, however busy the host is."""

import contextlib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Iterator

import pytest
from assay import ToolError
from assay import machine as assay_machine

PROGRAMS = ["machine/act race", "machine/act race exit 3"]
CONFIGURATIONS = [{"cpus": cpus, "seed": seed} for cpus in (1, 2) for seed in (0, 7, 8)]


def name_of(configuration: dict) -> str:
    return "-".join(f"{key}{value}" for key, value in configuration.items())


def run(configuration: dict) -> assay_machine.Result:
    return assay_machine.run(PROGRAMS, **configuration)


@contextlib.contextmanager
def busy_host() -> Iterator[None]:
    """As many processes that do nothing but run as there are CPUs."""
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture(name="quiet", scope="module")
def quiet_fixture() -> dict[str, assay_machine.Result]:
    """Each configuration by itself."""
    return {name_of(configuration): run(configuration) for configuration in CONFIGURATIONS}


@pytest.fixture(name="loaded", scope="module")
def loaded_fixture() -> dict[str, assay_machine.Result]:
    """All configurations again, three at a time, on a host that has other things to do."""
    with busy_host(), ThreadPoolExecutor(3) as pool:
        return dict(zip(map(name_of, CONFIGURATIONS), pool.map(run, CONFIGURATIONS)))


@pytest.mark.parametrize("name", map(name_of, CONFIGURATIONS))
def test_same_bytes_under_load_and_beside_others(quiet, loaded, name: str) -> None:
    """A Result holds all that a run leaves: output, log, instructions and every number."""
    first, second = quiet[name], loaded[name]
    assert (first.outcome, first.status) == ("exit", 3)
    assert first.output == second.output
    assert first.log == second.log
    assert first.report == second.report
    assert first == second


@pytest.mark.parametrize("cpus", [1, 2])
def test_seeds_differ(quiet, cpus: int) -> None:
    """In what the programs saw, not only in some number of the kernel's."""
    runs = [quiet[name_of({"cpus": cpus, "seed": seed})] for seed in (0, 7, 8)]
    assert len({result.output for result in runs}) == len(runs)
    assert len({result.instructions for result in runs}) == len(runs)


def test_programs_are_told_apart_by_their_order(quiet) -> None:
    """The output is worth comparing: lines of the threads are mixed, not one thread's after all
    of the other's."""
    names = "".join(line[:1] for line in quiet["cpus2-seed7"].output.decode().splitlines())
    assert "aba" in names
    assert "bab" in names


def test_without_the_clock_there_is_no_count(machine) -> None:
    assert machine(["machine/act exit 0"], icount=False, accel="tcg").instructions is None


def test_an_instruction_at_the_keyboard_is_always_as_long(unix_machine) -> None:
    """20 rounds of 5,000,000, at 4 ns; else a profile's shares would say what the host did."""
    result = unix_machine("cd; monctl -run slowprog 20 2>&1; /sbin/halt 2>&1", icount=False,
                          accel="icount")
    assert b"\nhalt: only root may; others: sync, and switch the machine off\n" in result.output
    match = re.search(rb"(\d+) samples, 0 lost", result.output)
    assert match, result.output
    assert 380 < int(match[1]) < 440


def test_longer_instructions_are_as_many(machine) -> None:
    """The same program takes longer, by the machine's clock, and is not counted as more."""
    usual, longer = (machine(["machine/act exit 0"], instruction_ns=ns) for ns in (1, 8))
    assert longer.report.tsc_end - longer.report.tsc_entry == pytest.approx(
        8 * longer.instructions, abs=8)
    # What waits for a time has fewer instructions, and what executes a program has as many.
    assert usual.instructions / 4 < longer.instructions <= usual.instructions * 1.1


@pytest.mark.parametrize("instruction_ns", [-1, 0, 3, 12])
def test_instructions_take_powers_of_two(machine, instruction_ns: int) -> None:
    with pytest.raises(ToolError, match=f"of {instruction_ns} ns: QEMU has powers of two"):
        machine(["machine/act exit 0"], instruction_ns=instruction_ns)
