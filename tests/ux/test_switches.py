# SPDX-License-Identifier: MIT
"""Nobody is woken at a process's end who has nothing to do: counted, to the one, in whole runs."""

from pathlib import Path
from typing import NamedTuple

from assay import OUT, hot, machine, unix

FEW, MANY = 20, 60
LOOP = "n=0; while [ $n -lt {} ]; do /bin/true; n=$((n + 1)); done"


class Counts(NamedTuple):
    ends: int  # Of processes,
    sleeps: int  # calls that waited for something in the server,
    wakes: int  # words that somebody was woken at, of a wait or of the lock.
    deaths: int  # Of which the kernel told the server.


def count(folder: Path, times: int) -> Counts:
    kernel = hot.Image("kernel", machine.find_kernel(None), is_kernel=True)
    server = hot.Image("ux", OUT / "servers" / "ux")
    counts = folder / f"counts.{times}"
    result = unix.run(LOOP.format(times), limit=60, plugin=hot.plugin_option(counts, kernel))
    assert (result.outcome, result.status) == ("exit", 0), result.output + result.log
    lines = hot.histogram(hot.read_counts(counts), kernel, [server]).lines
    calls = {line.function: line.calls for line in lines if line.image == "ux"}
    return Counts(calls["process_finish"], calls["ux_sleep"], calls["gsync_wake"],
                  calls.get("do_mach_notify_dead_name", 0))


def test_a_process_that_ends_wakes_its_parent_alone(tmp_path: Path) -> None:
    """Two waits a command, of which one is the shell's for its child; init's would be a third.

    A few more are of threads that wait for the disk now and then, and a few wakes find nobody.  Of
    tasks and threads that the server ends itself it need not be told: no thread of its is woken
    for that.
    """
    few, many = count(tmp_path, FEW), count(tmp_path, MANY)
    more = Counts(*(after - before for before, after in zip(few, many)))
    assert more.ends == MANY - FEW
    assert more.wakes <= more.sleeps + 8 and more.sleeps < 2.5 * more.ends
    assert more.deaths == 0
