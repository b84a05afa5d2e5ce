# SPDX-License-Identifier: MIT
"""Programs that want much, where users may have a tenth of what is usual.

Something is refused them, and that is all.  What they expect of it is not asked, but that they and
the machine come to an end."""

import pytest
from assay import OUT
from assay.files import Files, Put

PROGRAMS = OUT / "tests" / "ux" / "programs"

# By day the one that swaps; at night all that take memory, ports, threads, processes or messages.
SAMPLE = ["swapping"]
NIGHTLY = ["cthreads", "data", "deadlocks", "descriptors", "exec", "faults", "hostile", "leaks",
           "mapped", "names", "pipe_flow", "pipes", "processes", "profil", "requests",
           "sampled_exec", "shared", "signals", "threads", "timers", "trace", "trace_waits",
           "wrong_files"]


def at_the_limit(told: str) -> set[str]:
    """Of what the student has had as much as he may."""
    rows = (line.split() for line in told.splitlines() if line.startswith("student "))
    return {row[1] for row in rows if len(row) == 5 and row[3] == row[4]}


@pytest.mark.parametrize("name", [
    *SAMPLE, *(pytest.param(name, marks=pytest.mark.nightly) for name in NIGHTLY)])
def test_with_a_tenth(unix_machine, name: str) -> None:
    result = unix_machine(f"/tmp/{name} >/dev/null 2>&1; ps >/dev/null && echo over; owners",
                          files=Files(put=(Put(PROGRAMS / name, f"/tmp/{name}"),)),
                          limit=600, append="limits=10")
    assert (result.outcome, result.status) == ("exit", 0), result.message
    assert result.output.startswith(b"over\n")
    assert name not in SAMPLE or "pages" in at_the_limit(result.output.decode())
