# SPDX-License-Identifier: MIT
"""The table of the kernel's calls against the linker's relocations.

tools/callsites reads a disassembly; what the linker had to fill in knows nothing of that.  Within
one section the assembler fills in calls of static functions by itself, so that a relocation is
there for the others only: each of those must be a site, or be named as left out.  And whatever the
table has is looked at in the image that is shipped, byte by byte.
"""

import re
import struct
import subprocess
from bisect import bisect_right
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
from assay import OUT, ROOT
from assay.hot import Image
from assay.machine import find_kernel

UNNAMED = OUT / "obj" / "kernel" / "unnamed"
SECTIONS = (".text", ".rodata", ".data")
ABSOLUTE, RELATIVE = "R_386_32", ("R_386_PC32", "R_386_PLT32")
FUNCTION = re.compile(r"^ *\d+: ([0-9a-f]{8}) +[1-9]\d* FUNC .* (\S+)$", re.MULTILINE)
CALL, JUMP = 0xE8, 0xE9
HEAD = "<3I"  # kernel/i386/patch/call_sites.h


class Relocation(NamedTuple):
    place: int
    kind: str
    target: int
    section: str


def read_elf(option: str, path: Path) -> str:
    return subprocess.run(["readelf", "-W", option, path], check=True, text=True,
                          capture_output=True).stdout


class Linked:
    """The first of the kernel's two links, with what the linker filled in."""

    def __init__(self) -> None:
        self.image = Image("kernel", UNNAMED, is_kernel=True)
        self.functions = {int(address, 16) for address, name in FUNCTION.findall(
            read_elf("-s", UNNAMED)) if ".cold" not in name}

    def relocations(self) -> Iterator[Relocation]:
        """Each with the address that is meant, as the linker has filled it in."""
        section = ""
        for line in read_elf("-r", UNNAMED).splitlines():
            header = re.match(r"Relocation section '\.rel(\S+)'", line)
            section = header[1] if header else section
            entry = re.match(r"([0-9a-f]{8}) +[0-9a-f]{8} (R_386_\w+)", line)
            if entry is None or section not in SECTIONS:
                continue
            place = int(entry[1], 16)
            word, = struct.unpack("<I", self.image.bytes_at(place, 4))
            target = word if entry[2] == ABSOLUTE else word + place + 4 & 0xFFFFFFFF
            yield Relocation(place, entry[2], target, section)


@pytest.fixture(name="linked", scope="module")
def linked_fixture() -> Linked:
    return Linked()


def unpack(packed: bytes, start: int, n: int) -> tuple[list[int], bytes]:
    """So many addresses from `start` on, and the rest."""
    found, at = [], 0
    for _ in range(n):
        step, shift = 0, 0
        while True:
            group, at = packed[at], at + 1
            step |= (group & 0x7F) << shift
            shift += 7
            if group < 0x80:
                break
        start += step
        found.append(start)
    return found, packed[at:]


class Table(NamedTuple):
    calls: list[int]
    words: list[int]
    data: int  # Where .data begins: the table itself has moved it.


def labels(path: Path) -> dict[str, int]:
    text = subprocess.run(["nm", path], check=True, text=True, capture_output=True).stdout
    return {name: int(address, 16)
            for address, name in re.findall(r"^([0-9a-f]{8}) \w (\S+)$", text, re.MULTILINE)}


@pytest.fixture(name="table", scope="module")
def table_fixture() -> Table:
    """As it is in the kernel that is shipped."""
    kernel = Image("kernel", find_kernel(None), is_kernel=True)
    label = labels(find_kernel(None))
    data = kernel.bytes_at(label["call_sites"], label["kernel_data"] - label["call_sites"])
    first_constant, first_in_table, count = struct.unpack_from(HEAD, data)
    calls, rest = unpack(data[struct.calcsize(HEAD):], label["kernel_start"], first_constant)
    constants, rest = unpack(rest, label["kernel_text_end"], first_in_table - first_constant)
    tables, _ = unpack(rest, label["kernel_data"], count - first_in_table)
    return Table(calls, constants + tables, label["kernel_data"])


@pytest.fixture(name="named", scope="module")
def named_fixture() -> list[tuple[int, str]]:
    """Where what is no site goes to a function: the instruction, or the word, and why."""
    text = subprocess.run([ROOT / "tools" / "callsites", "--left-out", f"{UNNAMED}.dump",
                           f"{UNNAMED}.sym"], check=True, text=True, capture_output=True).stdout
    lines = text.splitlines()
    assert all(re.match(r"[0-9a-f]{8} .+: .+", line) for line in lines)
    return sorted((int(line[:8], 16), line.rpartition(": ")[2]) for line in lines)


def is_named(named: list[tuple[int, str]], place: int, reasons: tuple[str, ...]) -> bool:
    """A relocation lies within an instruction, which has ten bytes at most before it."""
    at = bisect_right(named, (place, "\xff")) - 1
    return at >= 0 and place - named[at][0] <= 10 and named[at][1].startswith(reasons)


JUMPS = ("at the machine's start", "of who never comes back", "with the user's segments",
         "too short")
ADDRESSES = ("a way into the kernel", "compared", "its address")


def test_each_call_that_is_linked_is_a_site_or_named(linked, table, named) -> None:
    sites = set(table.calls)
    found = [r for r in linked.relocations() if r.section == ".text" and
             r.kind in RELATIVE and r.target in linked.functions]
    assert len({r.place for r in found} & sites) > len(sites) // 2
    missing = [(f"{r.place:08x}", linked.image.place(r.target)) for r in found
               if r.place not in sites and not is_named(named, r.place, JUMPS)]
    assert not missing


def test_each_address_that_is_linked_is_a_site_or_named(linked, table, named) -> None:
    """In a table, in data that is written to, or in an instruction."""
    data = labels(UNNAMED)["kernel_data"]
    sites = {word if word < table.data else word - table.data + data for word in table.words}
    found = [r for r in linked.relocations() if r.kind == ABSOLUTE and r.target in linked.functions]
    assert {r.section for r in found} >= {".text", ".rodata"}
    missing = [(f"{r.place:08x}", linked.image.place(r.target)) for r in found
               if r.place not in sites and not is_named(named, r.place, ADDRESSES)]
    assert not missing


def test_each_site_leads_to_a_function(linked, table) -> None:
    """In the kernel that is shipped: none is within what only looks like a call."""
    kernel = Image("kernel", find_kernel(None), is_kernel=True)
    starts = set(kernel.starts) | linked.functions
    for place in table.calls:
        code = kernel.bytes_at(place - 1, 5)
        assert code[0] in (CALL, JUMP), f"{place:#x}"
        assert place + 4 + struct.unpack("<i", code[1:])[0] in starts, f"{place:#x}"
    for place in table.words:
        assert struct.unpack("<I", kernel.bytes_at(place, 4))[0] in starts, f"{place:#x}"
