# SPDX-License-Identifier: MIT
"""tools/ksyms: what it makes of a symbol list, read back from the object it assembles to."""

import struct
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

NM = """\
         U undefined
         w symbol_table
00100000 T low_start
3fffffff a absolute
c0100000 T start
c0100000 t start_again
c0100010 t counted.lto_priv.0
c0100018 t helper.constprop.0
c0100020 A not_an_address
c0100030 T etext
c0101000 R rodata
c0101000 T late
c0102000 D data
c0102004 B bss
"""

EXPECTED = [
    (0xC0100000, "start"),
    (0xC0100010, "counted"),
    (0xC0100018, "helper.constprop.0"),
    (0xC0100030, "etext"),
    (0xC0101000, "late"),
    (0xC0102000, ""),
]


def ksyms(symbols: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [ROOT / "tools/ksyms", symbols], capture_output=True, text=True, timeout=30
    )


def section(assembler: str, directory: Path) -> bytes:
    """The bytes of .ksyms, assembled for the machine."""
    (directory / "table.S").write_text(assembler)
    cross = "i686-linux-gnu-"
    subprocess.run([cross + "as", "-o", "table.o", "table.S"], cwd=directory, check=True)
    subprocess.run(
        [cross + "objcopy", "-O", "binary", "-j", ".ksyms", "table.o", "table"],
        cwd=directory,
        check=True,
    )
    return (directory / "table").read_bytes()


def entries(table: bytes) -> list[tuple[int, str]]:
    """struct symbol_table (kernel/base/symbols.h), as the kernel reads it."""
    (count,) = struct.unpack_from("<I", table)
    names = table[4 + 8 * count :]
    found = []
    for address, offset in struct.iter_unpack("<II", table[4 : 4 + 8 * count]):
        found.append((address, names[offset : names.index(b"\0", offset)].decode()))
    return found


@pytest.fixture
def symbols(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.sym"
    path.write_text(NM)
    return path


def test_table_as_the_kernel_reads_it(symbols: Path) -> None:
    result = ksyms(symbols)
    assert result.returncode == 0, result.stderr
    assert entries(section(result.stdout, symbols.parent)) == EXPECTED


def test_order_of_the_list_does_not_matter(symbols: Path) -> None:
    before = ksyms(symbols).stdout
    lines = NM.splitlines(keepends=True)
    symbols.write_text("".join(lines[:4] + lines[6:] + lines[4:6]))
    assert ksyms(symbols).stdout == before


def test_list_without_functions_is_refused(symbols: Path) -> None:
    symbols.write_text("00100000 T low_start\nc0102000 D data\n")
    result = ksyms(symbols)
    assert result.returncode == 1
    assert "no function of a kernel" in result.stderr
    assert result.stdout == ""
