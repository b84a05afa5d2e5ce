# SPDX-License-Identifier: MIT
"""What counting a call costs a program, in instructions."""

import re
import subprocess
from pathlib import Path

from assay import OUT
from assay.files import Files, Put

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).parent / "programs" / "cost.c"
FEW, MANY = 1_000_000, 2_000_000
SAMPLING = 0.1  # At most, in the same time, a call: 1,000 samples a second.


def cost_of_call(unix_machine, folder: Path, *options: str) -> float:
    program = folder / "cost"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", *options, "-o", program, SOURCE], check=True)
    files = Files(put=(Put(program, "/tmp/cost"),))
    took = [unix_machine(f"cd /tmp; ./cost {times}", files=files, limit=30).instructions
            for times in (FEW, MANY)]
    return (took[1] - took[0]) / (MANY - FEW)


def test_the_cost_of_a_counted_call(unix_machine, tmp_path: Path) -> None:
    """As the book says it."""
    page = (ROOT / "docs/libprof.md").read_text()
    told = re.search(r"takes (\d+) instructions without `-pg` and (\d+) with it", page)
    assert told is not None
    plain, counted = (int(number) for number in told.groups())
    assert abs(cost_of_call(unix_machine, tmp_path) - plain) < SAMPLING
    assert abs(cost_of_call(unix_machine, tmp_path, "-pg") - counted) < SAMPLING
