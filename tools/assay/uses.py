# SPDX-License-Identifier: MIT
"""What a whole use of monctl costs: the same work with it and without, from the command to its end.

All runs are in one machine under the fixed instruction clock, one after the other, so that the
figures are the same each time.  A use has a part that is the same for the shortest work, which
begins it and ends it, and one that grows with the work: the slowdown.  Each is done some times, of
which the shortest counts: once a second the Unix server writes back what everybody wrote.
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
TIMES = 2
RATES = (1000, 10000)
NOTHING = "nothing"

# What is done: something that computes, a shell that has commands executed, and one that asks the
# Unix server for files itself.
WORKS = {
    NOTHING: "true",
    "compute": "slowprog 50",
    "commands": "sh /tmp/commands",
    "calls": "sh /tmp/calls",
}
SCRIPTS = {
    "commands": "i=0; while [ $i -lt 300 ]; do /bin/true; /bin/echo $i >out; i=$((i + 1)); done",
    "calls": "i=0; while [ $i -lt 1200 ]; do [ -f /bin/sh ]; : >out; i=$((i + 1)); done",
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
    return Cost(ends, dict(zip(product(RATES, list(WORKS)[1:]), slower, strict=True)))


# At most this, as docs/sampling.md has it.  At 1 kHz, and then at 10 kHz.
MOST = {
    "run": most(3_000_000, 0.5, 1, 0.8, 0.5, 1.3, 1.5),
    "run-record": most(4_000_000, 0.5, 1, 0.8, 1.5, 1.3, 2),
    "run-stack": most(4_000_000, 0.5, 0.8, 1, 2.5, 1.5, 4),
    "all-record": most(8_000_000, 1, 2.8, 2, 2, 8, 3),
    "all-stack": most(8_000_000, 1.5, 3.5, 2.5, 3, 11, 6),
}


def commands_of(names: Collection[str], rates: Collection[int],
                works: Collection[str]) -> tuple[list[tuple], str]:
    """What is measured, in order, and the commands that print a number for each."""
    keys: list[tuple] = []
    lines = ["cd /tmp"]
    for name in (NOTHING, *works):
        work = WORKS[name]
        lines += [f"{command.format(work=work)} >out" for command in BASES.values()]  # To warm up.
        measured = {(base,): command for base, command in BASES.items()}
        measured |= {(use, rate): USES[use] for use in names for rate in rates}
        for key, command in measured.items():
            keys += [(name, *key)] * TIMES
            lines.append("sync")
            lines += [f"stopwatch {command.format(work=work, rate=key[-1])} || exit 1"] * TIMES
    return keys, "\n".join(lines)


def measure(names: Collection[str] = tuple(USES), rates: Collection[int] = RATES,
            works: Collection[str] = tuple(WORKS)[1:]) -> dict[str, Cost]:
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
    """The same use of nothing is what begins and ends it."""
    base = use.partition("-")[0]

    def more(rate: int, work: str) -> int:
        return took[work, use, rate] - took[work, base]

    return Cost(max(more(rate, NOTHING) for rate in rates),
                {(rate, work): 100 * (more(rate, work) - more(rate, NOTHING)) / took[work, base]
                 for rate in rates for work in works})


@cache
def costs() -> dict[str, Cost]:
    """Of all uses: measured once for all rows of the table."""
    return measure()
