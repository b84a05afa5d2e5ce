#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How fast is gprof, and how much memory does it need, beside GNU's?

    tests/gprof/speed.py [--functions N]

For 1,000 functions, then four times as many and so on up to N (100,000), each with ten arcs and
160 bytes of code, all of it with samples: time of the processor and the most memory of ours and of
GNU's gprof on the same file.  No test depends on it: time is the machine's.
"""

import argparse
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

from gprof.gmon import GNU, GPROF, USER, Profile  # noqa: E402

BYTES = 160
ARCS = 10


def make_program(path: Path, functions: int) -> None:
    lines = [".text"]
    for i in range(functions):
        lines.append(f".type f{i},@function\n.globl f{i}\nf{i}: .fill {BYTES}, 1, 0x90\n"
                     f".size f{i}, {BYTES}")
    path.with_suffix(".s").write_text("\n".join(lines) + "\n")
    subprocess.run(["i686-linux-gnu-as", "-o", path.with_suffix(".o"), path.with_suffix(".s")],
                   check=True)
    subprocess.run(["i686-linux-gnu-ld", f"-Ttext={USER:#x}", "-e", "f0", "-o", path,
                    path.with_suffix(".o")], check=True)


def in_child(function, *arguments) -> None:
    """A process has at least the memory of the one that it was forked from, so this stays small."""
    child = multiprocessing.Process(target=function, args=arguments)
    child.start()
    child.join()
    if child.exitcode:
        sys.exit(1)


def make_profile(path: Path, functions: int) -> None:
    random_ = random.Random(functions)
    arcs = []
    for from_ in range(functions):
        for i in range(ARCS):
            to = min(functions - 1, from_ + 1 + random_.randrange(1000))
            if random_.random() < 0.01:
                to = random_.randrange(functions)
            arcs.append((USER + from_ * BYTES + 5 + i, USER + to * BYTES,
                         random_.randrange(1, 1000)))
    bins = [random_.randrange(1, 9) for _ in range(functions * BYTES // 2)]
    path.write_bytes(Profile(USER, bins, arcs).gnu())


def measure(*command: str | Path) -> tuple[float, float]:
    """Seconds of the processor, and MiB."""
    with open(os.devnull, "wb") as nothing:
        child = subprocess.Popen(command, stdout=nothing)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
    if status:
        sys.exit(f"{command[0]} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--functions", type=int, default=100_000, help="at most")
    most = parser.parse_args().functions
    print("functions      arcs  histogram    ours, s   MiB    GNU's, s   MiB   ratio")
    functions = min(most, 1000)
    with tempfile.TemporaryDirectory() as folder:
        while True:
            program, file = Path(folder) / "program", Path(folder) / "gmon.out"
            in_child(make_program, program, functions)
            in_child(make_profile, file, functions)
            ours = measure(GPROF, "-b", program, file)
            theirs = measure(GNU, "-b", program, file)
            print(f"{functions:9} {ARCS * functions:9} {functions * BYTES / 2**20:6.1f} MiB"
                  f" {ours[0]:10.2f} {ours[1]:5.0f}  {theirs[0]:10.2f} {theirs[1]:5.0f}"
                  f" {theirs[0] / ours[0]:7.1f}", flush=True)
            if functions == most:
                break
            functions = min(most, 4 * functions)


if __name__ == "__main__":
    main()
