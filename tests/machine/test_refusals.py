# SPDX-License-Identifier: MIT
"""What the kernel will not run on, and what it will not run: it says so, and the machine ends."""

import struct
from pathlib import Path

import pytest
from assay import qemu

ENTRY = 0x08048000
EXECUTABLE, RELOCATABLE = 2, 1
I386, ARM = 3, 40
READ_EXECUTE, READ_WRITE = 5, 6
USER_END = 0xC0000000


def segment(address: int = ENTRY, size: int = 16, offset: int = 0, in_file: int | None = None,
            flags: int = READ_EXECUTE) -> bytes:
    """A program header of a segment to load."""
    in_file = size if in_file is None else in_file
    return struct.pack("<8I", 1, offset, address, address, in_file, size, flags, 4096)


def elf(*segments: bytes, kind: int = EXECUTABLE, machine: int = I386, bits: int = 1,
        count: int | None = None) -> bytes:
    """An ELF file of these program headers; by default nothing else is wrong with it."""
    count = len(segments) if count is None else count
    identity = b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9)
    header = struct.pack("<2H5I6H", kind, machine, 1, ENTRY, 52, 0, 0, 52, 32, count, 0, 0, 0)
    return identity + header + b"".join(segments) + bytes(64)


# Each file, and what is said about it.
BAD_FILES = {
    "empty": (b"", "is not an ELF file"),
    "text": (b"#!/bin/sh\necho no program\n", "is not an ELF file"),
    "header-cut": (elf(segment())[:40], "is not an ELF file"),
    "table-cut": (elf(segment())[:60], "has a damaged table of segments"),
    "table-too-long": (elf(segment(), count=1000), "has a damaged table of segments"),
    "contents-cut": (elf(segment(size=8192)), "has a segment that lies outside the file"),
    "offset-beyond": (elf(segment(offset=1 << 31)), "has a segment that lies outside the file"),
    "offset-wraps": (elf(segment(offset=0xFFFFFFF8)), "has a segment that lies outside the file"),
    "file-over-memory": (elf(segment(size=8, in_file=64)),
                         "has a segment that lies outside the file"),
    "at-page-0": (elf(segment(address=0)), "has a segment outside user memory"),
    "in-the-kernel": (elf(segment(address=USER_END)), "has a segment outside user memory"),
    "into-the-kernel": (elf(segment(address=USER_END - 4096, size=8192, in_file=16)),
                        "has a segment outside user memory"),
    "wraps": (elf(segment(address=0xFFFFF000, size=0x2000, in_file=16)),
              "has a segment outside user memory"),
    "overlap": (elf(segment(), segment(address=ENTRY + 32, flags=READ_WRITE)),
                "has two segments in one page"),
    "same-twice": (elf(segment(), segment()), "has two segments in one page"),
    "over-the-stack": (elf(segment(address=USER_END - 8192)), "leaves no room for a stack"),
    "other-cpu": (elf(segment(), machine=ARM), "is not a program for i386"),
    "64-bit": (elf(segment(), bits=2), "is not a program for i386"),
    "object": (elf(segment(), kind=RELOCATABLE), "is not a static executable"),
}


@pytest.fixture(name="refusal")
def refusal_fixture(machine):
    """Runs a machine that must be refused; returns what the kernel said."""

    def refusal(programs, **parameters) -> str:
        result = machine(programs, **parameters)
        assert result.outcome == "refused"
        text = (result.log or result.output).decode()
        said, = [line for line in text.splitlines() if line.startswith("Assay cannot run here: ")]
        return said.removeprefix("Assay cannot run here: ")

    return refusal


@pytest.fixture(name="changed_machine")
def changed_machine_fixture(monkeypatch):
    """Adds options to QEMU's machine; the later one wins."""

    def change(*options: str) -> None:
        usual = qemu.machine_options
        monkeypatch.setattr(qemu, "machine_options", lambda *rest: [*usual(*rest), *options])

    return change


def test_the_file_that_is_not_broken_is_taken(machine, tmp_path: Path) -> None:
    """Or the broken ones might be refused for another reason: its code is zeros, which fault."""
    program = tmp_path / "whole"
    program.write_bytes(elf(segment()))
    result = machine([str(program)])
    assert (result.outcome, result.status) == ("exit", 128 + 1), "EXC_BAD_ACCESS"


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_named_and_described(refusal, tmp_path: Path, name: str) -> None:
    content, wrong = BAD_FILES[name]
    program = tmp_path / name
    program.write_bytes(content)
    assert refusal(["hello", str(program)], mem=64) == f'the boot module "{name}" {wrong}'


def test_program_larger_than_memory(refusal, tmp_path: Path) -> None:
    """What the file says nothing of takes no memory before it is touched; its contents do."""
    program = tmp_path / "large"
    program.write_bytes(elf(segment(size=8 << 20)) + bytes(8 << 20))
    assert refusal([str(program)], append="pool=4") == \
        'the boot module "large" does not fit into memory'


def test_port_that_nobody_can_give(refusal) -> None:
    said = refusal(["hello a ${host-port} ${no-such-port}"])
    assert "hello" in said
    assert "stands for nothing" in said


def test_a_module_s_line_is_too_long_with_the_kernel_s(refusal) -> None:
    word = "x" * 500
    words = " ".join(["${kernel-command-line}"] * 3)
    assert "too long a command line" in refusal([f"hello {words}"], append=f"ux={word}")


def test_actions_are_no_arguments(machine) -> None:
    """What GNU Mach's command lines end with."""
    assert machine(["machine/act exit 7 $(task-create) $(task-resume)"]).status == 7
    assert machine(["machine/act $(task-create) exit 8 $(task-resume)"]).status == 8


def test_no_program(refusal) -> None:
    assert "no program to run" in refusal([])


# The checked kernel itself needs more than three.
@pytest.mark.parametrize("mem", [4, 8, 15])
def test_too_little_memory(refusal, mem: int) -> None:
    assert refusal(["hello"], mem=mem) == f"it needs 16 MiB of memory and there are {mem - 1}"


def test_just_enough_memory(machine) -> None:
    assert machine(["hello"], mem=16).outcome == "exit"


@pytest.mark.parametrize("cpu", [
    "486-v1", *(f"pentium3-v1,-{feature}" for feature in
                ("apic", "pae", "pse", "tsc", "msr", "cx8", "cmov", "fxsr")),
])
def test_cpu_that_lacks_something(refusal, changed_machine, cpu: str) -> None:
    changed_machine("-cpu", cpu)
    assert refusal(["hello"]) == \
        "it needs a CPU with PSE, TSC, MSR, PAE, CX8, APIC, CMOV and FXSR."


def test_cpu_without_sse_and_nx_is_enough(machine, changed_machine) -> None:
    changed_machine("-cpu", "pentium3-v1,-sse,-nx")
    assert machine(["hello"]).outcome == "exit"


def test_machine_without_acpi(refusal, changed_machine) -> None:
    changed_machine("-machine", "acpi=off")
    assert refusal(["hello"]) == "there are no ACPI tables"
