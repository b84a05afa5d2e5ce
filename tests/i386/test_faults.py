# SPDX-License-Identifier: MIT
"""Exceptions of user programs: each case ends its program as it must, and nothing else.

faults.c and gate_faults.c have the cases.  All of one machine's run side by side, a program each,
so that the machine must also go on after every exception; then it must be in balance.
"""

import functools
import re
from typing import NamedTuple

import pytest
from assay import OUT, machine as assay_machine
from assay.symbols import symbol_address

BAD_ACCESS, BAD_INSTRUCTION, ARITHMETIC, SOFTWARE, BREAKPOINT = 1, 2, 3, 5, 6
NAMES = {
    BAD_ACCESS: "EXC_BAD_ACCESS",
    BAD_INSTRUCTION: "EXC_BAD_INSTRUCTION",
    ARITHMETIC: "EXC_ARITHMETIC",
    SOFTWARE: "EXC_SOFTWARE",
    BREAKPOINT: "EXC_BREAKPOINT",
}
INVALID_ADDRESS, PROTECTION = 1, 2  # Codes of BAD_ACCESS,
UNDEFINED, BAD_TSS, PROTECTED = 1, 10, 13  # of BAD_INSTRUCTION,
STEP, INT3 = 1, 2  # and of BREAKPOINT.

MODULES = 32  # As many programs as the kernel starts.
STATUS_OF_EXCEPTION = 128
ENDED = re.compile(
    r'^task (\d+) "\w+", thread \d+: (\w+), code (\d+), subcode 0x([0-9a-f]+), '
    r"at 0x([0-9a-f]+): ended$"
)


class Expected(NamedTuple):
    """What the log must say; without a pc, the label pc_NAME of the program's source."""

    exception: int
    code: int
    subcode: int | str = 0  # A number, or a label whose address it is.
    pc: int | str | None = None


def refused(selector: int) -> Expected:
    """General protection: the error code is the selector without its privilege level."""
    return Expected(BAD_INSTRUCTION, PROTECTED, selector & ~3)


def refused_vector(vector: int) -> Expected:
    """`int` with a vector that user mode may not use: bit 1 of the error code says it is one."""
    return refused(0)._replace(subcode=vector * 8 + 2)


PRIVILEGED = refused(0)

FAULTS = {
    "divide": Expected(ARITHMETIC, 1),
    "divide_overflow": Expected(ARITHMETIC, 1),
    "breakpoint": Expected(BREAKPOINT, INT3),
    "breakpoint_long": Expected(BREAKPOINT, INT3),
    "overflow": Expected(ARITHMETIC, 2),
    "overflow_by_number": Expected(ARITHMETIC, 2),
    "single_step": Expected(BREAKPOINT, STEP),
    "undefined": Expected(BAD_INSTRUCTION, UNDEFINED),
    "undefined_lock": Expected(BAD_INSTRUCTION, UNDEFINED),
    "undefined_resume": Expected(BAD_INSTRUCTION, UNDEFINED),
    "bound": Expected(SOFTWARE, 7),
    **dict.fromkeys(
        ("hlt", "cli", "sti", "in", "out", "ins", "clts", "invd", "wbinvd", "invlpg", "rdmsr",
         "wrmsr", "read_cr0", "write_cr3", "write_dr7", "lmsw", "lgdt", "lidt", "lldt", "ltr",
         "sysenter"), PRIVILEGED),
    "int_nmi": refused_vector(2),
    "int_double_fault": refused_vector(8),
    "int_page_fault": refused_vector(14),
    "int_device": refused_vector(0x20),
    "int_linux": refused_vector(0x80),
    "int_timer": refused_vector(0xE1),
    "int_shootdown": refused_vector(0xF1),
    "int_last": refused_vector(0xFF),
    "ljmp_kernel": refused(0x08),
    "lcall_kernel": refused(0x08),
    "lcall_task": refused(0x30),
    "lcall_double_fault_task": refused(0x38),
    "lcall_table": refused(0x40),
    "lcall_nothing": refused(0x0F),
    "lcall_null": refused(0),
    "ljmp_through_gate": refused(0x08),
    "lret_kernel": refused(0x08),
    "iret_kernel": refused(0x08),
    "iret_nested": Expected(BAD_INSTRUCTION, BAD_TSS),
    "ds_kernel": refused(0x10),
    "es_kernel_code": refused(0x08),
    "fs_per_cpu": refused(0x28),
    "gs_task": refused(0x30),
    "ds_gate": refused(0x07),
    "ds_nothing": refused(0x0F),
    "ds_beyond_table": refused(0xFFFB),
    "ss_kernel": refused(0x10),
    "ss_null": refused(0),
    "ss_code": refused(0x1B),
    "null_read": Expected(BAD_ACCESS, INVALID_ADDRESS, 0),
    "null_write": Expected(BAD_ACCESS, INVALID_ADDRESS, 0),
    "page_0_end": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xFFF),
    "unmapped_read": Expected(BAD_ACCESS, INVALID_ADDRESS, 0x1000),
    "unmapped_write": Expected(BAD_ACCESS, INVALID_ADDRESS, 0x40000000),
    "kernel_read": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xC0100000),
    "kernel_write": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xC0100000),
    "kernel_stack_read": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xF0001000),
    "kernel_unmapped_read": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xFEFFE000),
    "lapic_write": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xFFFFE0B0),
    "last_byte_read": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xFFFFFFFF),
    "user_end_straddled": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xC0000000),
    "stack_below_all": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xFFFFFFFC),
    "text_write": Expected(BAD_ACCESS, PROTECTION, "pc_text_write"),
    "null_execute": Expected(BAD_ACCESS, INVALID_ADDRESS, 0, pc=0),
    "kernel_execute": Expected(BAD_ACCESS, INVALID_ADDRESS, 0xC0100000, pc=0xC0100000),
    "stack_execute": Expected(BAD_ACCESS, PROTECTION, 0xBFFFF000, pc=0xBFFFF000),
    "data_execute": Expected(BAD_ACCESS, PROTECTION, "data_code", pc="data_code"),
    # The status word: division by zero, an error, busy; the sixth register is the stack's top.
    "x87_divide": Expected(ARITHMETIC, 5, 0xB084),
    "sse_misaligned": PRIVILEGED,
}

def bad_number(eax: int) -> Expected:
    """A trap's number that is none; the log shows it as it was given."""
    return Expected(BAD_INSTRUCTION, UNDEFINED, eax & 0xFFFFFFFF)


def bad_stack(address: int | str) -> Expected:
    """Arguments that cannot be read: the address of the last of them, for it is read first."""
    return Expected(BAD_ACCESS, INVALID_ADDRESS, address)


STEPPED = Expected(BREAKPOINT, STEP)

GATE_FAULTS = {
    "number_130": bad_number(-130),
    "number_131": bad_number(-131),
    "number_1000": bad_number(-1000),
    "number_most": bad_number(-0x7FFFFFFF),
    "number_least": bad_number(0x80000000),
    "number_positive_1": bad_number(1),
    "number_positive_30": bad_number(30),
    "number_positive_129": bad_number(129),
    "number_positive_130": bad_number(130),
    "number_positive_most": bad_number(0x7FFFFFFF),
    "stack_1_word": bad_stack(0x127),
    "stack_2_words": bad_stack(0x12B),
    "stack_3_words": bad_stack(0x12F),
    "stack_4_words": bad_stack(0x133),
    "stack_null": bad_stack(0x10),
    "stack_over_end": bad_stack(0xC0000004),
    "stack_at_end": bad_stack(0xC0000000),
    "stack_in_kernel": bad_stack(0xC010000C),
    "stack_wraps": bad_stack(0x4),
    "stack_wraps_just": bad_stack(0xFFFFFFFC),
    "stack_wraps_last": bad_stack(0x3),
    "stack_into_hole": bad_stack("hole + 0x1004"),
    "stack_out_of_hole": bad_stack("hole + 0xffc"),
    "step_hole": STEPPED,
    "step_nested": STEPPED,
    "step_alignment": STEPPED,
    "step_backwards": STEPPED,
    "step_all": STEPPED,
    "step_arguments": STEPPED,
    "step_sleep": STEPPED,
    "step_bad_number": bad_number(-130),
    "step_bad_stack": bad_stack(0xC0000000),
    "step_behind_ss": STEPPED,
    "step_breakpoint_behind_ss": Expected(BREAKPOINT, INT3),
    "step_twice": STEPPED,
}

# A case that CPUs disagree on: it has a test of its own.
VIRTUAL = "iret_virtual"

CASES = {"faults": FAULTS, "gate_faults": GATE_FAULTS}


@functools.cache
def run_cases(program: str, cpus: int) -> dict[str, Expected | None]:
    """What the kernel's log says about each case of a program; None: the case did not end so."""
    names = list(CASES[program])
    found: dict[str, Expected | None] = {}
    for start in range(0, len(names), MODULES):
        batch = names[start : start + MODULES]
        result = assay_machine.run([f"i386/{program} {name}" for name in batch], cpus=cpus)
        log = result.log.decode(errors="replace")
        assert result.outcome == "exit", log
        assert not [count for count in result.counts if count.before != count.after]
        # Tasks are numbered in the order of the modules, from 1.
        by_task = {int(match[1]): match for match in map(ENDED.match, log.splitlines()) if match}
        for task, name in enumerate(batch, 1):
            found[name] = read_ending(by_task.get(task))
    return found


def read_ending(match: re.Match | None) -> Expected | None:
    """The line of the log in the terms of the tables above."""
    if match is None:
        return None
    number = {name: exception for exception, name in NAMES.items()}[match[2]]
    return Expected(number, int(match[3]), int(match[4], 16), int(match[5], 16))


def resolve(program: str, place: int | str) -> int:
    """An address given as a number, a label of the program, or a label and an offset."""
    if isinstance(place, int):
        return place
    label, _, offset = place.partition(" + ")
    address = symbol_address(OUT / "tests" / "i386" / program, label)
    assert address is not None, f"{program} has no label {label}"
    return address + int(offset or "0", 0)


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize(
    ("program", "name"), [(program, name) for program, cases in CASES.items() for name in cases]
)
def test_exception(program: str, name: str, cpus: int):
    """The case ends its program with this exception, at this place."""
    wanted = CASES[program][name]
    wanted = wanted._replace(
        subcode=resolve(program, wanted.subcode),
        pc=resolve(program, f"pc_{name}" if wanted.pc is None else wanted.pc),
    )
    assert run_cases(program, cpus)[name] == wanted


@pytest.mark.parametrize("program", CASES)
def test_every_case_is_expected(program: str):
    """A case in the source that is missing here would never run."""
    symbols = (OUT / "tests" / "i386" / f"{program}.sym").read_text()
    there = set(re.findall(r" t test_(\w+)$", symbols, re.MULTILINE))
    assert there - {VIRTUAL} == set(CASES[program])


@pytest.mark.parametrize("cpus", [1, 2])
def test_virtual_mode(machine, cpus: int):
    """An iret of a user into virtual-8086 mode: CPUs refuse the selector, QEMU's goes there.

    Either is an exception of the program alone.
    """
    result = machine([f"i386/faults {VIRTUAL}", "hello"], cpus=cpus)
    assert result.outcome == "exit"
    assert result.status - STATUS_OF_EXCEPTION in (BAD_ACCESS, BAD_INSTRUCTION)


def test_status_is_that_of_the_first_exception(machine):
    """The machine's status is the first one of its programs that is not zero: 128 + exception."""
    result = machine(["hello", "i386/faults divide", "i386/faults undefined"])
    assert (result.outcome, result.status) == ("exit", STATUS_OF_EXCEPTION + ARITHMETIC)
