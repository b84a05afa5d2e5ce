# SPDX-License-Identifier: MIT
"""profil(): what the kernel counts in a program's memory, read by somebody else."""

import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import OUT
from assay.files import Files, Get, Put
from prof import shares

SOURCE = Path(__file__).parent / "profiles" / "counted.c"
INSTRUCTION_NS = 8  # Ticks come by time: a program that executes less is found by as many.
TRUTH = {"ten": 10, "twenty": 20, "thirty": 30, "forty": 40}


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("counted") / "counted"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", "-o", program, SOURCE], check=True)
    return program


def functions(program: Path) -> list[tuple[int, int, str]]:
    lines = subprocess.run(["nm", "-S", "--defined-only", program], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    words = [line.split() for line in lines if len(line.split()) == 4]
    return [(int(start, 16), int(size, 16), name) for start, size, kind, name in words
            if kind in "tT"]


def counts_of(program: Path, data: bytes) -> Counter:
    """Ticks in each function, of which a bin is for two bytes."""
    (low,), table, counts = struct.unpack_from("<I", data), functions(program), Counter()
    for n, (ticks,) in enumerate(struct.iter_unpack("<H", data[4:])):
        if ticks > 0:
            pc = low + 2 * n
            names = [name for start, size, name in table if start <= pc + 1 and pc < start + size]
            counts[names[0] if names else "(none)"] += ticks
    return counts


@pytest.mark.parametrize("cpus", [1, 2])
def test_shares_and_sum(unix_machine, program: Path, tmp_path: Path, cpus: int) -> None:
    files = Files(put=(Put(program, "/tmp/counted"),), get=(Get("/tmp/bins", tmp_path / "bins"),))
    result = unix_machine("/tmp/counted /tmp/bins", files=files, cpus=cpus, limit=30,
                          instruction_ns=INSTRUCTION_NS)
    assert (result.outcome, result.status) == ("exit", 0), result.output
    counts = counts_of(program, (tmp_path / "bins").read_bytes())
    assert 0 <= int(result.output) - sum(counts.values()) <= 1  # One before it began or after.
    assert sum(counts.values()) >= 150
    shares.check(counts, TRUTH)
