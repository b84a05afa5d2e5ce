# SPDX-License-Identifier: MIT
"""What a whole use of monctl costs: the same work with it and without, from the command to its end.

All runs are in one machine under the fixed instruction clock, one after the other, so that the
figures are the same each time.  A use has a part that begins it and ends it, and one that grows
with the work: the slowdown.  The first is what the use of the least work costs, which has the same
programs: a profiler reads each program's file once, however long it runs.  Each is done some times,
of which the shortest counts: once a second the Unix server writes back what everybody wrote.  What
is left to be written at the end is in each, so that work pays for that itself
(user/work/stopwatch.c).
"""

import re
import tempfile
from functools import cache
from itertools import product
from pathlib import Path
from typing import Collection, NamedTuple

from assay import ToolError, unix
from assay.files import Files, Put

SECONDS = 60  # Of the machine's time.
TIMES = 4
RATES = (1000, 10000)


class Work(NamedTuple):
    """A command that does something so many times."""

    command: str
    times: int

    def of(self, times: int) -> str:
        return f"{self.command} {times}"


# What is done: something that computes, a shell that has commands executed, and one that asks the
# Unix server for files itself.
WORKS = {
    "compute": Work("slowprog", 50),
    "commands": Work("sh /tmp/commands", 300),
    "calls": Work("sh /tmp/calls", 1200),
}
SCRIPTS = {
    "commands": "i=0; while [ $i -lt $1 ]; do /bin/true; /bin/echo $i >out; i=$((i + 1)); done",
    "calls": "i=0; while [ $i -lt $1 ]; do [ -f /bin/sh ]; : >out; i=$((i + 1)); done",
    # The help is there so that the recording begins before the work does.
    "all": """work=$1; shift
monctl -for all "$@" -record recording & M=$!
monctl -help >help; $work; kill $M; wait $M""",
    "alone": "monctl -help >help; $1",
}

# A use by its name, and what it is compared with, by the beginning of that.
USES = {
    "run": "monctl -rate {rate} -monfile profile -run {work}",
    "run-record": "monctl -rate {rate} -record recording -run {work}",
    "run-stack": "monctl -rate {rate} -stack -record recording -run {work}",
    "all-record": "sh all '{work}' -rate {rate}",
    "all-stack": "sh all '{work}' -rate {rate} -stack",
}
BASES = {"run": "{work}", "all": "sh alone '{work}'"}


class Cost(NamedTuple):
    """Of a use: instructions that begin and end it, and by how many percent work is slower."""

    ends: int
    slower: dict[tuple[int, str], float]  # By rate and work.


def most(ends: int, *slower: float) -> Cost:
    return Cost(ends, dict(zip(product(RATES, WORKS), slower, strict=True)))


# At most this, as docs/sampling.md has it.  At 1 kHz, and then at 10 kHz.
MOST = {
    "run": most(2_500_000, 0.1, 0.1, 0.3, 0.3, 0.3, 0.8),
    "run-record": most(3_200_000, 0.2, 0.1, 0.3, 1.3, 0.4, 1.4),
    "run-stack": most(3_200_000, 0.3, 0.1, 0.5, 2, 0.8, 2.8),
    "all-record": most(5_500_000, 0.6, 2, 1.7, 1.8, 7.5, 2.4),
    "all-stack": most(6_000_000, 0.5, 2.2, 1.8, 2.5, 10, 5),
}


def commands_of(names: Collection[str], rates: Collection[int],
                works: Collection[str]) -> tuple[list[tuple], str]:
    """What is measured, in order, and the commands that print a number for each."""
    keys: list[tuple] = []
    lines = ["cd /tmp"]
    for name, times in ((name, times) for name in works for times in (1, WORKS[name].times)):
        work = WORKS[name].of(times)
        lines += [f"{command.format(work=work)} >out" for command in BASES.values()]  # To warm up.
        measured = {(base,): command for base, command in BASES.items()}
        measured |= {(use, rate): USES[use] for use in names for rate in rates}
        for key, command in measured.items():
            keys += [(name, times, *key)] * TIMES
            lines += [f"stopwatch {command.format(work=work, rate=key[-1])} || exit 1"] * TIMES
    return keys, "\n".join(lines)


def measure(names: Collection[str] = tuple(USES), rates: Collection[int] = RATES,
            works: Collection[str] = tuple(WORKS)) -> dict[str, Cost]:
    """Of each use."""
    keys, lines = commands_of(names, rates, works)
    with tempfile.TemporaryDirectory(prefix="bench.") as name:
        folder = Path(name)
        for script, text in SCRIPTS.items():
            (folder / script).write_text(text + "\n")
        put = tuple(Put(folder / script, f"/tmp/{script}") for script in SCRIPTS)
        result = unix.run(lines, user="root", limit=SECONDS, files=Files(put=put))
    numbers = re.findall(r"^cycles (\d+)$", result.output.decode(), re.M)
    if (result.outcome, result.status) != ("exit", 0) or len(numbers) != len(keys):
        text = (result.output + result.log).decode(errors="replace")
        raise ToolError(f"uses of monctl: {result.outcome}, status {result.status}\n{text}")
    took: dict[tuple, int] = {}
    for key, number in zip(keys, map(int, numbers)):
        took[key] = min(number, took.get(key, number))
    return {use: cost_of(took, use, rates, works) for use in names}


def cost_of(took: dict[tuple, int], use: str, rates: Collection[int],
            works: Collection[str]) -> Cost:
    """The same use of the least work is what begins and ends it."""
    base = use.partition("-")[0]

    def more(rate: int, work: str, times: int) -> int:
        return took[work, times, use, rate] - took[work, times, base]

    def slower(rate: int, work: str) -> float:
        times = WORKS[work].times
        return (100 * (more(rate, work, times) - more(rate, work, 1)) /
                (took[work, times, base] - took[work, 1, base]))

    keys = list(product(rates, works))
    return Cost(max(more(rate, work, 1) for rate, work in keys),
                {(rate, work): slower(rate, work) for rate, work in keys})


@cache
def costs() -> dict[str, Cost]:
    """Of all uses: measured once for all rows of the table."""
    return measure()
