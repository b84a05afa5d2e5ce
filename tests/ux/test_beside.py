# SPDX-License-Identifier: MIT
"""Programs that wait a lot, beside one that computes: they are not made to wait for its turns.

Under the instruction clock: the figures are the same in every run.
"""

import re
import struct
from pathlib import Path

from assay import OUT
from assay.files import Files, Get
from assay.symbols import symbol_address
from prof import shares

SLOWPROG = OUT / "user" / "slowprog"
SHARES = {"ten": 0.1, "twenty": 0.2, "thirty": 0.3, "forty": 0.4}
ROUNDS = 400
ROUNDS_A_SECOND = 200

# A process beside one that computes, and a look at it: the first with nothing to read.
BESIDE = """
cd
slowprog 1000 & P=$!
sleep 0.3
time true
time monctl -pid $P -status
kill $P
slowprog %d & P=$!
monctl -pid $P -proxy -execfile /bin/slowprog -on periodic -monfile profile
wait $P
""" % ROUNDS


def samples(data: bytes) -> dict[str, int]:
    """Of a profile in gmon.out's format, those from each function to the next."""
    low, high, bins = struct.unpack_from("<3I", data, 21)
    counts = struct.unpack_from(f"<{bins}H", data, 21 + 32)
    starts = sorted((symbol_address(SLOWPROG, name), name) for name in SHARES)
    size = starts[1][0] - starts[0][0]  # They differ by a number only.
    found = {}
    for start, name in starts:
        first, last = ((place - low) * bins // (high - low) for place in (start, start + size))
        found[name] = sum(counts[first:last])
    return found


def test_beside_a_program_that_computes(unix_machine, tmp_path: Path) -> None:
    """monctl is ready soon, misses little, and finds what the program does."""
    profile = tmp_path / "profile"
    result = unix_machine(f"{{ {BESIDE}\n}} 2>&1", limit=60,
                          files=Files(get=(Get("/home/student/profile", profile),)))
    text = result.output.decode()
    assert result.outcome == "exit", (result.message, text)
    of_true, of_status = (float(time) for time in re.findall(r"^real ([\d.]+)$", text, re.M))
    assert of_true <= 0.1 and of_status <= 0.3, text

    taken = int(re.search(r"process \d+: (\d+) samples, 0 lost, profile", text)[1])
    assert taken >= 0.85 * 1000 * ROUNDS / ROUNDS_A_SECOND, text
    shares.check(samples(profile.read_bytes()), SHARES)
