# SPDX-License-Identifier: MIT
"""What `make test` has a small part of, at length: seeds of the machine, and random calls.

Its parts by day are tests/tools/test_seeds.py and the runs of tests/ipc/fuzz.c.
"""

import os
import subprocess

import pytest
from assay import ROOT

SEEDS = 200
CALLS = 400000


def last_line(*command: str) -> str:
    """Of what the command prints; its status must be 0."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False,
                          env=os.environ | {"MAKEFLAGS": ""})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout.rstrip().rpartition("\n")[2]


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
