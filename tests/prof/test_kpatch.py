# SPDX-License-Identifier: MIT
"""Kernels on disk that tools/kpatch has count their calls: what they count since their start, what
is left of it when that is undone, and which files it refuses.
"""

import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from assay import OUT, ROOT, hot
from assay.files import Files, Get
from assay.machine import find_kernel

from framework.room import KIND
from prof import call_oracle

KPATCH = ROOT / "tools" / "kpatch"
CROSS = "i686-linux-gnu-"
TABLE_HEAD = struct.calcsize("<3I")
STEP_MAX = 0x7F  # A byte of the table's: more of the same number follow a larger one.


def kpatch(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([KPATCH, *map(str, arguments)], text=True, capture_output=True)


def check_refused(why: str, *arguments: object) -> None:
    run = kpatch(*arguments)
    assert run.returncode == 1 and re.search(why, run.stderr), run.stderr
    assert run.stdout == ""


@pytest.fixture(name="kernel")
def kernel_fixture(tmp_path: Path) -> Path:
    return Path(shutil.copy(find_kernel(None), tmp_path / "kernel"))


@pytest.fixture(name="counting")
def counting_fixture(kernel: Path) -> Path:
    counting = kernel.with_name("counting")
    assert kpatch("-b", kernel, "-o", counting).returncode == 0
    return counting


@pytest.mark.parametrize("cpus, loader",
                         ((1, "direct"), (4, "direct"), (2, "grub"),
                          pytest.param(1, "grub", marks=pytest.mark.nightly)))
def test_each_call_since_the_start_is_counted(machine, counting: Path, tmp_path: Path,
                                              cpus: int, loader: str) -> None:
    kernel = hot.Image("kernel", counting, is_kernel=True)
    out = tmp_path / "counts"
    run = machine(["prof/call_counts ${host-port} counted_since_the_start"], cpus=cpus,
                  kernel=counting, firmware=loader,
                  plugin=call_oracle.window(kernel, out, since_start=True))
    assert (run.outcome, run.status) == ("exit", 0)
    counted = call_oracle.counted_calls(run.output.decode())
    call_oracle.check_exact(kernel, counted, out, cpus)
    for once in ("pmap_init", "lapic_enable"):
        function = kernel.function(once)
        assert function is None or counted[function.start] >= 1


# GRUB has the firmware read all of the disk's image: that takes the machine its time.
LOADERS = ("direct", pytest.param("grub", marks=pytest.mark.nightly))


@pytest.mark.parametrize("loader", LOADERS)
def test_kgmon_writes_and_ends_what_the_file_began(unix_machine, monkeypatch, counting: Path,
                                                   kernel: Path, tmp_path: Path,
                                                   loader: str) -> None:
    """Afterwards the text is that of the file that was not patched, to the last byte."""
    kept = call_oracle.keep_memory(monkeypatch)
    gmon = tmp_path / "gmon.out"
    run = unix_machine("kgmon -p; kgmon -b; kgmon -h", user="root", kernel=counting,
                       files=Files(get=(Get("/root/gmon.out", gmon),)),
                       firmware=loader)
    assert (run.outcome, run.status) == ("exit", 0)
    image = hot.Image("kernel", kernel, is_kernel=True)
    there, linked = call_oracle.text_of(kept[0], image)
    os.close(kept[0])
    assert there == linked
    counted = call_oracle.calls_in(gmon)
    start_programs = image.function("trap_mach_msg")
    assert start_programs is not None and counted[start_programs.start] > 100


def test_undone_it_is_what_it_was(kernel: Path, counting: Path) -> None:
    linked = kernel.read_bytes()
    assert counting.read_bytes() != linked
    assert "counted" in kpatch(counting).stdout
    assert kpatch("-h", counting).returncode == 0
    assert counting.read_bytes() == linked
    assert kpatch("-b", counting).returncode == 0
    assert counting.read_bytes() != linked
    assert os.access(counting, os.X_OK)


# ---------------- Several builds ----------------

SCRIPT = """
PHDRS { text PT_LOAD FLAGS(5); rodata PT_LOAD FLAGS(4); data PT_LOAD FLAGS(6); }
SECTIONS {
    . = 0xc0100000; kernel_start = .;
    .text : { *(.text) } :text
    kernel_text_end = .;
    . = ALIGN(4096);
    .rodata : { recover_table = .; recover_table_end = .; *(.rodata) *(.call_sites) } :rodata
    . = ALIGN(4096); kernel_data = .;
    .data : { *(.data) } :data
    .bss : { *(.bss) } :data
    . = ALIGN(4096);
    .call_thunks (NOLOAD) : { call_thunks = .; *(.call_thunks) call_thunks_end = .; } :data
}
"""

# The least of a kernel: who calls somebody, so many times.
SOURCE = """
    .globl main
    .type main, @function
main: .rept {calls}
    call other
    .endr
    ret
    .type other, @function
other: nop
    ret
    gate_entry = .
    entry_end = .
    .section .rodata
    .long other
    .data
    .long 1
"""


def run_in(folder: Path, *command: object) -> str:
    return subprocess.run(list(map(str, command)), cwd=folder, check=True, text=True,
                          capture_output=True).stdout


def build(folder: Path, calls: int) -> Path:
    """A kernel of another build, by the steps of the Makefile."""
    folder.mkdir()
    (folder / "script").write_text(SCRIPT)
    (folder / "source.S").write_text(SOURCE.format(calls=calls))
    link = [f"{CROSS}ld", "-T", "script", "-e", "main"]
    run_in(folder, f"{CROSS}as", "-o", "source.o", "source.S")
    run_in(folder, *link, "-o", "unnamed", "source.o")
    (folder / "sym").write_text(run_in(folder, f"{CROSS}nm", "-n", "unnamed"))
    (folder / "dump").write_text(run_in(folder, f"{CROSS}objdump", "-d", "-s", "unnamed"))
    table = run_in(folder, ROOT / "tools" / "callsites", "dump", "sym")
    (folder / "table.S").write_text(table)
    run_in(folder, f"{CROSS}as", "-o", "table.o", "table.S")
    run_in(folder, *link, "-o", "kernel", "source.o", "table.o")
    return folder / "kernel"


def table_at(kernel: Path) -> int:
    """Where the file has the table."""
    labels = run_in(kernel.parent, f"{CROSS}nm", kernel)
    address = int(re.search(r"(\w+) R call_sites$", labels, re.MULTILINE)[1], 16)
    image = hot.Image("kernel", kernel, is_kernel=True)
    return next(offset + address - start for start, length, offset in image.segments
                if start <= address < start + length)


def test_builds_are_told_apart(kernel: Path, tmp_path: Path) -> None:
    """Each is patched by its own table, and not by another's."""
    few, many = build(tmp_path / "few", 3), build(tmp_path / "many", 4)
    said = kpatch(kernel, few, many).stdout
    assert re.findall(r" (\d+) places", said)[1:] == ["4", "5"]
    assert len(set(re.findall(r"build (\w+)", said))) == 3
    linked = few.read_bytes()
    assert kpatch("-b", few).returncode == 0
    assert re.findall(r"build (\w+)", kpatch(few).stdout) == re.findall(r"build (\w+)", said)[1:2]
    thunks = run_in(few.parent, f"{CROSS}objdump", "-d", few)
    assert len(re.findall(r"call .*<call_thunks", thunks)) == 3
    assert kpatch("-h", few).returncode == 0
    assert few.read_bytes() == linked

    other = many.read_bytes()
    at, to = table_at(many), table_at(few)
    few.write_bytes(linked[:to] + other[at:at + TABLE_HEAD + 8] + linked[to + TABLE_HEAD + 8:])
    check_refused("table of calls is another kernel's", "-b", few)


# ---------------- Refused ----------------


def test_what_is_refused_is_left_as_it_was(kernel: Path, counting: Path, tmp_path: Path) -> None:
    text, stripped = tmp_path / "text", tmp_path / "stripped"
    text.write_text("no kernel\n")
    run_in(tmp_path, f"{CROSS}strip", "-o", stripped, kernel)
    check_refused("not a 32-bit ELF file", "-b", text)
    check_refused("one that is not stripped", "-b", stripped)
    check_refused("no symbol call_sites", "-b", OUT / "obj" / "kernel" / "unnamed")
    check_refused("No such file", "-b", tmp_path / "none")
    check_refused("nothing is changed: No such file", "-b", kernel, "-o", tmp_path / "no" / "file")
    check_refused("there is nothing to undo", "-h", kernel)
    check_refused("counted already", "-b", counting)
    before = counting.read_bytes()
    counting.chmod(0o444)
    check_refused("write-protected", "-h", counting)
    assert counting.read_bytes() == before
    assert kernel.read_bytes() == find_kernel(None).read_bytes()


@pytest.mark.parametrize("size", (5, 60, 10_000, 400_000, -1))
def test_cut_files_are_refused(kernel: Path, counting: Path, size: int) -> None:
    for path, option in ((kernel, "-b"), (counting, "-h")):
        cut = path.read_bytes()[:size]
        path.write_bytes(cut)
        check_refused("cut short|not a 32-bit ELF file", option, path)
        assert path.read_bytes() == cut


@pytest.mark.skipif(KIND == ("SAN=1",), reason="one kind of kernel is enough: no machine runs")
def test_what_was_changed_is_refused(kernel: Path, counting: Path) -> None:
    """A table that is not this text's; and whatever else than kpatch writes to a file."""
    linked = bytearray(kernel.read_bytes())
    step = next(n for n in range(table_at(kernel) + TABLE_HEAD, len(linked))
                if linked[n] < STEP_MAX)
    linked[step] += 1
    kernel.write_bytes(linked)
    check_refused("no call of a function is at 0x.*another kernel's", "-b", kernel)
    patched = bytearray(counting.read_bytes())
    patched[hot.Image("kernel", counting, is_kernel=True).segments[0][2] + 100] ^= 1
    counting.write_bytes(patched)
    check_refused("changed after it was patched", "-h", counting)
    check_refused("changed after it was patched", counting)
