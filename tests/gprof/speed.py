#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How fast is gprof, and how much memory does it need, beside GNU's?

    tests/gprof/speed.py [--functions N] [--patience SECONDS] [--brief]

For 1,000 functions, then four times as many and so on up to N (100,000), each with ten arcs and
160 bytes of code, all of it with samples: time of the processor and the most memory of ours and of
GNU's gprof on the same files.  `growth` is the power of the number of functions that the time has
grown by since the line before: a little above 1 is n log n, 2 is quadratic.

There are two kinds of graph: in *layers* functions call only later ones; in *cycle* one call in a
hundred leads anywhere, so that nearly all functions are one cycle.

GNU's is ended after SECONDS (120) of the processor, or five times what ours needed if that is more;
once it was ended, for larger graphs after ten times ours.  Its columns then say `>`: at least so
much.  With --brief there are only graphs of N functions, and of those in cycle GNU's is ended as
soon as it has needed five times as long as ours.  With 100,000 functions the exit status is 1 if it
did not need five times our time, or if it came to its end with less memory.
"""

import argparse
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

from gprof.gmon import COW, GNU, GPROF, USER, ZFILL, Profile, assemble  # noqa: E402

BYTES = 160
ARCS = 10
NEAR = 1000
FACTOR = 5
JUDGED = 100_000  # Functions: of fewer nothing is promised.
ANYWHERE = {"layers": 0.0, "cycle": 0.01}  # Which part of the calls leads anywhere.

# A process counts as its own what the one that it was forked from had: so from a small one.
MEASURE = """
import os, resource, sys
pid, limit = os.fork(), int(sys.argv[1])
if pid == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if limit:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
print(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


class Cost(NamedTuple):
    seconds: float
    mib: float
    is_ended: bool  # By its limit.


def make_program(path: Path, functions: int) -> None:
    lines = [".text"]
    for i in range(functions):
        lines.append(f".type f{i},@function\n.globl f{i}\nf{i}: .fill {BYTES}, 1, 0x90\n"
                     f".size f{i}, {BYTES}")
    assemble(path, "\n".join(lines) + "\n", "f0")


def make_profile(path: Path, functions: int, graph: str) -> None:
    random_ = random.Random(functions)
    arcs = []
    for from_ in range(functions):
        for i in range(ARCS):
            to = min(functions - 1, from_ + 1 + random_.randrange(NEAR))
            if random_.random() < ANYWHERE[graph]:
                to = random_.randrange(functions)
            arcs.append((USER + from_ * BYTES + 5 + i, USER + to * BYTES,
                         random_.randrange(1, 1000)))
    bins = [random_.randrange(1, 9) for _ in range(functions * BYTES // 2)]
    path.write_bytes(Profile(USER, bins, arcs).gnu())


def make_events(path: Path, functions: int) -> None:
    """Two flavors, at one address of each function."""
    exact = [(flavor, 0, USER + i * BYTES, 1 + i % 7) for flavor in (ZFILL, COW)
             for i in range(functions)]
    bins = [0] * (functions * BYTES // 2)
    for flavor, _, pc, count in exact:
        bins[(pc - USER) // 2] += count if flavor == ZFILL else 0
    path.write_bytes(Profile(USER, bins, dimension="zfill", exact=exact,
                             values={"flavor": ZFILL, "flavors": ZFILL | COW}).ours())


def make_files(folder: Path, functions: int, graph: str) -> tuple[Path, Path]:
    program, file = folder / f"program{functions}", folder / f"gmon.out.{graph}{functions}"
    if not program.exists():
        make_program(program, functions)
    if graph == "events":
        make_events(file, functions)
    else:
        make_profile(file, functions, graph)
    return program, file


def measure(gprof: str | Path, *arguments: str | Path, limit: float = 0) -> Cost:
    """Of a run that is ended after so many seconds of the processor, rounded up; 0: never."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, str(math.ceil(limit)), gprof, "-b",
                           *arguments], check=True, text=True, stdout=subprocess.PIPE)
    status, seconds, kib = done.stdout.split()
    is_ended = os.WIFSIGNALED(int(status)) and os.WTERMSIG(int(status)) == signal.SIGXCPU
    if int(status) and not is_ended:
        sys.exit(f"{gprof} failed")
    return Cost(float(seconds), int(kib) / 1024, is_ended)


def growth(now: tuple[int, Cost], before: tuple[int, Cost] | None) -> str:
    if before is None or now[1].is_ended or before[1].is_ended:
        return ""
    return f"{math.log(now[1].seconds / before[1].seconds) / math.log(now[0] / before[0]):.2f}"


def limit_of(least: float, patience: float, is_hopeless: bool, is_brief: bool) -> float:
    """Seconds of the processor that GNU's has."""
    if is_brief and is_hopeless:
        return least + 1
    return 2 * least if is_hopeless else max(least, patience)


def compare(graph: str, arguments: argparse.Namespace, folder: Path) -> bool:
    """Prints the curve of one kind of graph.  Whether the last line is as it should be."""
    before: list[tuple[int, Cost]] | None = None
    most = arguments.functions
    functions = most if arguments.brief else min(most, 1000)
    while True:
        files = make_files(folder, functions, graph)
        ours = measure(GPROF, *files)
        least = FACTOR * ours.seconds
        is_hopeless = (arguments.brief and graph == "cycle") or \
            (before is not None and before[1][1].is_ended)
        theirs = measure(GNU, *files, limit=limit_of(least, arguments.patience, is_hopeless,
                                                     arguments.brief))
        now = [(functions, ours), (functions, theirs)]
        grown = [growth(one, before[i] if before else None) for i, one in enumerate(now)]
        sign = ">" if theirs.is_ended else " "
        print(f"{graph:6} {functions:9} {ARCS * functions:9} {functions * BYTES / 2**20:6.1f} MiB "
              f"{ours.seconds:8.2f} {grown[0]:>6} {ours.mib:5.0f}    "
              f"{sign}{theirs.seconds:8.2f} {grown[1]:>6} {sign}{theirs.mib:5.0f} "
              f"{sign}{theirs.seconds / ours.seconds:6.1f}", flush=True)
        if functions == most:
            is_good = theirs.seconds >= least and (theirs.is_ended or theirs.mib > ours.mib)
            return is_good or most < JUDGED
        before = now
        functions = min(most, 4 * functions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--functions", type=int, default=100_000, help="at most")
    parser.add_argument("--patience", type=float, default=120, help="seconds that GNU's has")
    parser.add_argument("--brief", action="store_true", help="the largest graphs alone")
    arguments = parser.parse_args()
    print("graph  functions      arcs  histogram  ours, s growth   MiB    GNU's, s growth    MiB"
          "   ratio")
    with tempfile.TemporaryDirectory() as folder:
        good = [compare(graph, arguments, Path(folder))
                for graph in ANYWHERE]
    if not all(good):
        sys.exit(f"gprof is not {FACTOR} times as fast as GNU's in less memory")


if __name__ == "__main__":
    main()
