# SPDX-License-Identifier: MIT
"""Options of the Unix server: one that is wrong is said, and ends the run."""

import pytest
from assay import machine, unix
from assay.files import Files

LINE = unix.server_command("rd0", "run=/bin/true")
NO_LIMIT = "is no limit: say a number from 1 on, or leave it out for none"


@pytest.mark.parametrize(("option", "said"), [
    ("processes=abc", f"processes=abc {NO_LIMIT}"),
    ("processes=", f"processes= {NO_LIMIT}"),
    ("processes=0", f"processes=0 {NO_LIMIT}"),
    ("processes=12x", f"processes=12x {NO_LIMIT}"),
    ("processes=4294967297", f"processes=4294967297 {NO_LIMIT}"),
    ("proceses=3", "there is no option proceses=3"),
])
def test_a_wrong_option_is_said(option: str, said: str) -> None:
    result = machine.run([LINE.replace(" --", f" {option} --")], files=Files(base=unix.IMAGE),
                         limit=20)
    assert (result.outcome, result.status) == ("exit", 2)
    first, usage = result.output.decode().splitlines()
    assert first == f"ux: {said}" and usage.startswith("usage: ux ")
