# SPDX-License-Identifier: MIT
"""The whole way: a program without -pg runs in the machine, monctl samples it in its name, the file
comes out, and what `gprof -x` says of every address is what the emulator counted there."""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

from assay import OUT, hot, machine, unix
from assay.files import Files, Get, Put
from gprof.gmon import MADE, output
from prof import shares

PROGRAM = Path(__file__).parent / "programs" / "decides.c"
ROUTINE = "decide"
ENOUGH = 5  # Expected samples; addresses with fewer count together.
COMMANDS = """\
cd /tmp
./decides 6000000 & P=$!
monctl -pid $P -proxy -on periodic -rate 10000 & X=$!
wait $P; wait $X
"""


def executed(counts: hot.Counts, program: Path) -> Counter:
    """How often each instruction of the routine was executed; its bytes tell it from others'."""
    image = hot.Image(program.name, program)
    routine = image.function(ROUTINE)
    found: Counter = Counter()
    for i in counts.instructions:
        if routine.start <= i.address < routine.end and \
                image.bytes_at(i.address, len(i.code)) == i.code:
            found[i.address] += i.count
    return found


def chi_square(found: Counter, truth: Counter) -> tuple[float, int]:
    """And its degrees of freedom."""
    n, whole = sum(found.values()), sum(truth.values())
    cells: dict[int, list[float]] = {}
    for address, count in truth.items():
        expected = n * count / whole
        cell = cells.setdefault(address if expected >= ENOUGH else 0, [0, 0])
        cell[0] += found[address]
        cell[1] += expected
    return (sum((one - other) ** 2 / other for one, other in cells.values()), len(cells) - 1)


def test_every_address_fits(tmp_path: Path) -> None:
    program, file, counts = tmp_path / "decides", tmp_path / "gmon.out", tmp_path / "counts"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-o", program, PROGRAM], check=True)
    os.utime(program, (MADE, MADE))
    kernel = hot.Image("kernel", machine.find_kernel(None), is_kernel=True)
    result = unix.run(COMMANDS, icount=True, limit=60, plugin=hot.plugin_option(counts, kernel),
                      files=Files(put=(Put(program, "/tmp/decides"),),
                                  get=(Get("/tmp/gmon.out", file),)))
    assert (result.outcome, result.status) == ("exit", 0), result.output
    said = re.search(rb"process \d+: (\d+) samples, 0 lost, gmon.out", result.output)

    text = output("-b", "-N", "-x", ROUTINE, program, file)
    found = Counter({int(address, 16): int(count) for address, count in
                     re.findall(r"^([0-9a-f]{8}) +\+\d+ +(\d+) +[\d.]+  {10}", text, re.MULTILINE)})
    truth = executed(hot.read_counts(counts), program)
    total = sum(found.values())
    assert 1000 < total <= int(said[1]) and found.keys() <= truth.keys()
    value, freedom = chi_square(found, truth)
    assert freedom > 20 and value < shares.critical(freedom)

    # The control: as many samples of one instruction in ten as of the one after it, and it fails.
    addresses = sorted(truth)
    moved = Counter(found)
    for one, other in list(zip(addresses, addresses[1:]))[::10]:
        moved[one], moved[other] = 0, found[one] + found[other]
    assert chi_square(moved, truth)[0] > shares.critical(freedom)
