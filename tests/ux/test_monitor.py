# SPDX-License-Identifier: MIT
"""monstartup(), moncontrol() and monitor(): the file, as GNU's gprof and ours read it."""

import re
import struct
import subprocess
from pathlib import Path

import pytest
from assay import OUT
from assay.files import Files, Get, Put
from prof import shares

SOURCE = Path(__file__).parent / "profiles" / "monitored.c"
TRUTH = {"ten": 10, "twenty": 20, "thirty": 30, "forty": 40}
GPROFS = ("gprof", OUT / "bin/gprof")
HEADER = struct.Struct("<IIiii12x")
ROUNDS = 2 * 500
INSTRUCTION_NS = 8  # Ticks come by time: a program that executes less is found by as many.


def compiled(folder: Path, *options: str) -> Path:
    program = folder / "monitored"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", *options, "-o", program, SOURCE], check=True)
    return program


@pytest.fixture(name="plain", scope="module")
def plain_fixture(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("plain"))


@pytest.fixture(name="profiled", scope="module")
def profiled_fixture(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("profiled"), "-pg")


def flat(gprof: str | Path, program: Path, gmon: Path) -> dict[str, tuple[float, int]]:
    """Seconds and calls of each function."""
    text = subprocess.run([gprof, "-b", "-p", program, gmon], check=True, text=True,
                          capture_output=True).stdout
    row = r"^ *[\d.]+ +[\d.]+ +([\d.]+) +(?:(\d+) +[\d.]+ +[\d.]+ +)?(\w+)$"
    rows = re.findall(row, text, re.MULTILINE)
    return {name: (float(seconds), int(calls or 0)) for seconds, calls, name in rows}


def run(unix_machine, program: Path, how: str, cpus: int, folder: Path) -> tuple[int, int]:
    """What it says it was charged, and has in its buffer; gmon.out is in the folder then."""
    files = Files(put=(Put(program, "/tmp/monitored"),),
                  get=(Get("/tmp/gmon.out", folder / "gmon.out"),))
    result = unix_machine(f"cd /tmp; ./monitored {how}", files=files, cpus=cpus, limit=60,
                          instruction_ns=INSTRUCTION_NS)
    assert (result.outcome, result.status) == ("exit", 0), result.output
    charged, in_buffer = result.output.split()
    return int(charged), int(in_buffer)


def ticks_in(gmon: Path) -> int:
    """All that are in the file, whose counters are for as much code as its header says."""
    data = gmon.read_bytes()
    low, high, size, version, rate = HEADER.unpack_from(data)
    assert (version, rate, size, low % 4) == (0x51879, 100, len(data), 0)
    unit, rest = divmod(high - low, (size - HEADER.size) // 2)
    assert rest == 0 and unit & (unit - 1) == 0
    return sum(ticks for (ticks,) in struct.iter_unpack("<H", data[HEADER.size:]))


@pytest.mark.parametrize("how, cpus", [("startup", 1), ("startup", 2), ("buffer", 1)])
def test_shares_and_sum(unix_machine, plain: Path, tmp_path: Path, how: str, cpus: int) -> None:
    gmon = tmp_path / "gmon.out"
    charged, in_buffer = run(unix_machine, plain, how, cpus, tmp_path)
    ticks = ticks_in(gmon)
    assert abs(charged - ticks) <= 2  # One for each part, at its beginning or its end.
    assert ticks >= 150
    assert how != "buffer" or in_buffer == ticks
    for gprof in GPROFS:
        found = flat(gprof, plain, gmon)
        assert round(sum(100 * seconds for seconds, _ in found.values())) == ticks
        assert "hidden" not in found
        shares.check({name: round(100 * found[name][0]) for name in TRUTH}, TRUTH)


def test_a_short_buffer_is_coarse(unix_machine, plain: Path, tmp_path: Path) -> None:
    charged, in_buffer = run(unix_machine, plain, "small", 1, tmp_path)
    assert in_buffer == ticks_in(tmp_path / "gmon.out")
    assert abs(charged - in_buffer) <= 2
    low, high, size, *_ = HEADER.unpack_from((tmp_path / "gmon.out").read_bytes())
    assert (high - low) * 2 // (size - HEADER.size) == 64


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_program_with_pg(unix_machine, profiled: Path, tmp_path: Path, cpus: int) -> None:
    """Neither ticks nor calls of the part that is left out, and all calls of the others."""
    run(unix_machine, profiled, "pg", cpus, tmp_path)
    for gprof in GPROFS:
        found = flat(gprof, profiled, tmp_path / "gmon.out")
        assert "hidden" not in found
        assert {found[name][1] for name in TRUTH} == {ROUNDS}
        shares.check({name: round(1000 * found[name][0]) for name in TRUTH}, TRUTH)


def test_a_program_with_pg_is_profiled_already(unix_machine, profiled: Path) -> None:
    files = Files(put=(Put(profiled, "/tmp/monitored"),))
    result = unix_machine("cd /tmp; ./monitored startup 2>&1 >/dev/null", files=files, limit=60,
                          instruction_ns=INSTRUCTION_NS)
    assert result.output == (b"monitored: monstartup: all of this program is profiled (-pg); "
                             b"call moncontrol() for parts\n")
