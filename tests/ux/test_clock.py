# SPDX-License-Identifier: MIT
"""Is the machine's clock fit for profiles?  A loop whose true profile is known, in each mode.

Under an instruction clock, that of tests and that of `make qemu`, the timer finds the program at
every instruction equally often.  Plain TCG takes interrupts only between its blocks: the control,
which must fail.
"""

import re

import pytest
from prof import shares

SAMPLES = 300
SHARES = {"loop": 3 / 105, "ten": 11 / 105, "ninety": 91 / 105}
LINE = re.compile(r"^(\w+) +([\d.]+) % of the samples", re.MULTILINE)


def deviation(output: bytes) -> float:
    """How many standard errors a place's share is away from the true one, at the most."""
    found = {name: round(float(share) / 100 * SAMPLES)
             for name, share in LINE.findall(output.decode())}
    assert found.keys() == SHARES.keys(), output
    return shares.worst(found, SHARES)[0]


@pytest.mark.parametrize("mode", [{"icount": True}, {"icount": False, "accel": "icount"}],
                         ids=["tests", "make-qemu"])
def test_straight_loop(unix_machine, mode: dict) -> None:
    result = unix_machine(f"straight {SAMPLES}", **mode)
    assert (result.outcome, result.status) == ("exit", 0)
    assert deviation(result.output) < shares.ERRORS


def test_plain_tcg_is_not_fit(unix_machine) -> None:
    result = unix_machine(f"straight {SAMPLES}", icount=False, accel="tcg")
    assert (result.outcome, result.status) == ("exit", 0)
    assert deviation(result.output) > shares.ERRORS
