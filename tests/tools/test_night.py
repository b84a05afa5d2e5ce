# SPDX-License-Identifier: MIT
"""What `make test` has a small part of, at length: seeds of the machine, random calls and files,
and all the tests with kernels that are built otherwise.

Its parts by day are tests/tools/test_seeds.py, the runs of tests/ipc/fuzz.c,
tests/gprof/test_corpus.py, and the builds of tests/build/test_build.py.
"""

import os
import re
import signal
import subprocess

import pytest
from assay import ROOT

SEEDS = 200
CALLS = 400000
FILES = 1800  # Seconds.
LIMIT = 4 * 3600  # Seconds for any of these, on a busy host.

# What tells a make how to build, and its tests where.
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "ASSAY_OUT", "SAN", "CLANG", "FAST",
           "T")


def last_line(*command: str, without: tuple[str, ...] = ("MAKEFLAGS",)) -> str:
    """Of what the command prints; its status must be 0."""
    environment = {name: value for name, value in os.environ.items() if name not in without}
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=environment, start_new_session=True) as process:
        try:
            said, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # And all that it has begun.
            raise
    assert process.returncode == 0, said[-4000:]
    return said.rstrip().rpartition("\n")[2]


@pytest.mark.nightly
@pytest.mark.parametrize("program", ("vm/pagers", "vm/pager_limits", "vm/calls", "kern/vtimer"))
def test_many_seeds(program: str) -> None:
    assert last_line("tools/seeds", "--seeds", str(SEEDS), program) == f"{SEEDS} runs, 0 failed"


@pytest.mark.nightly
@pytest.mark.parametrize("cpus", (1, 2))
@pytest.mark.parametrize("seed", (101, 102))
def test_many_calls(cpus: int, seed: int) -> None:
    last_line("tools/guest", "boot", "--icount", "--timeout", "7200", "--cpus", str(cpus),
              "--seed", str(seed), "--append", "pool=48 ramdisk=1", "--",
              f"ipc/fuzz calls={CALLS} seed={seed} ${{host-port}} ${{device-port}}")


@pytest.mark.nightly
def test_many_files() -> None:
    """It ends by saying how many lines of each of gprof's readers were reached."""
    last_line("make", "-s", "fuzz-gprof", f"N={FILES}")


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ("FAST=1", "CLANG=1", "SAN=1"))
def test_another_build(kind: str) -> None:
    """All that `make test` tests, with a kernel compiled file by file, by clang, or checked."""
    last = last_line("make", "-s", "test", kind, without=OF_MAKE)
    assert re.fullmatch(r"[1-9]\d* passed, 0 failed(, \d+ skipped)?", last)
