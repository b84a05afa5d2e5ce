# SPDX-License-Identifier: MIT
"""SIGPROF: which thread gets it, and what a profile says that is made of it."""

import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import OUT, unix
from assay.files import Files, Get, Put
from prof import shares

TO_WHO_RUNS = "sigproftest: SIGPROF goes to the thread that runs"
SOURCE = Path(__file__).parent / "profiles" / "profiled.c"
SHARE = 0.9  # Of the function `most`.


@pytest.mark.parametrize("cpus", [1, 2])
def test_the_thread_that_runs_gets_the_signal(unix_machine, cpus: int) -> None:
    result = unix_machine("sigproftest", cpus=cpus, limit=20)
    lines = result.output.decode().splitlines()
    assert (result.outcome, result.status, lines[-1]) == ("exit", 0, TO_WHO_RUNS)
    assert [int(line.split()[-1]) for line in lines[:4]] == [0, 0, 0, 20]


def test_sent_to_the_process_it_finds_who_waits(unix_machine) -> None:
    """The control: the fault of systems that forgot about threads."""
    result = unix_machine("sigproftest", append="sigprof=process", limit=20)
    counts = [int(line.split()[-1]) for line in result.output.decode().splitlines()[:4]]
    assert (result.outcome, result.status) == ("exit", 1)
    assert sum(counts[:3]) > counts[3]


# ---------------- libcpuprofile ----------------

@pytest.fixture(name="profile", scope="module")
def profile_fixture(tmp_path_factory) -> tuple[Path, Path]:
    """A program and its profile."""
    folder = tmp_path_factory.mktemp("profile")
    program, profile = folder / "profiled", folder / "profile"
    # On a machine that is eight times slower, which executes an eighth between two ticks.
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", "-g", "-DUNIT=925u", "-o", program, SOURCE,
                    "-lcpuprofile"], check=True)
    files = Files(put=(Put(program, "/tmp/profiled"),), get=(Get("/tmp/profile", profile),))
    result = unix.run("/tmp/profiled /tmp/profile", files=files, limit=30, instruction_ns=8)
    assert (result.outcome, result.status) == ("exit", 0), result.output
    return program, profile


def functions(program: Path) -> list[tuple[int, str]]:
    lines = subprocess.run(["nm", "-n", "--defined-only", program], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    return [(int(line.split()[0], 16), line.split()[2]) for line in lines]


def name_at(table: list[tuple[int, str]], address: int) -> str:
    return [name for start, name in table if start <= address][-1]


def read(profile: Path) -> tuple[tuple, list[tuple[int, tuple[int, ...]]], str]:
    """Header, samples and the text behind them."""
    data = profile.read_bytes()
    header, at, samples = struct.unpack_from("<5I", data), 20, []
    while True:
        count, n = struct.unpack_from("<2I", data, at)
        addresses = struct.unpack_from(f"<{n}I", data, at + 8)
        at += 8 + 4 * n
        if count == 0:
            assert addresses == (0,)
            return header, samples, data[at:].decode()
        samples.append((count, addresses))


def test_the_file_is_what_readers_expect(profile) -> None:
    program, file = profile
    header, samples, text = read(file)
    assert header == (0, 3, 0, 10000, 0)
    assert text.split()[1] == "r-xp" and text.endswith("profiled\n")
    start, end = (int(word, 16) for word in text.split()[0].split("-"))
    table = dict((name, address) for address, name in functions(program))
    assert start <= table["_start"] < end
    assert all(start <= address < end for _, addresses in samples for address in addresses)


def test_the_profile_is_true(profile) -> None:
    program, file = profile
    table, leaves = functions(program), Counter()
    for count, addresses in read(file)[1]:
        leaves[name_at(table, addresses[0])] += count
    total, most = sum(leaves.values()), leaves["most"]
    assert total >= 100
    shares.check({"most": most, "others": total - most}, {"most": SHARE, "others": 1 - SHARE})


def test_stacks_lead_to_main(profile) -> None:
    program, file = profile
    table = functions(program)
    stacks = Counter()
    for count, addresses in read(file)[1]:
        stacks[tuple(name_at(table, address) for address in addresses)] += count
    (stack, _), = stacks.most_common(1)
    assert stack[:2] == ("most", "main") and stack[-1] == "_start"


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_pprof_opens_it(profile) -> None:
    program, file = profile
    report = subprocess.run(["go", "tool", "pprof", "-top", program, file], check=True, text=True,
                            capture_output=True).stdout
    assert "most" in report
