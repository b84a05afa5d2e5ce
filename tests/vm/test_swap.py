# SPDX-License-Identifier: MIT
"""The default pager as people see it: what it says, and that it keeps no run alive."""

import re

import pytest
from assay.files import Files

PAGER = "pager ${host-port} ${device-port}"
SWAP = "pool=16 ramdisk=4"
FULL = "vm/swap_full ${host-port}"


def pager_lines(result) -> list[str]:
    return re.findall(r"^pager: (.*)$", (result.output + result.log).decode(), re.MULTILINE)


@pytest.mark.parametrize("device", ["", " rd0", " swap=rd0"])
def test_run_ends_while_the_pager_lives(device: str, machine) -> None:
    result = machine([PAGER + device, "act race"], append=SWAP, limit=5)
    assert (result.outcome, result.status) == ("exit", 0)
    assert pager_lines(result) == ["1024 pages of swap on rd0"]
    assert all(before == after for _, before, after in result.counts)


def test_it_says_that_swap_is_full_once_each_time(machine) -> None:
    result = machine([PAGER, FULL], append=SWAP)
    assert result.status == 0
    assert 1 <= pager_lines(result).count("swap is full") <= 4


@pytest.mark.parametrize(("words", "says"), [
    ("pager", "usage: "),
    ("pager ${host-port}", "usage: "),
    (f"{PAGER} nowhere", "cannot open the device nowhere (error 2502)"),
    (f"{PAGER} console", "console is no device with room for pages"),
    (f"{PAGER} rd0", "rd0 holds a file system: it is not written over"),
])
def test_what_it_cannot_work_with(words: str, says: str, machine) -> None:
    result = machine([words, "act exit 0"], files=Files(size=2), limit=5)
    assert result.outcome == "exit"
    assert result.status != 0
    assert len(pager_lines(result)) == 1
    assert pager_lines(result)[0].startswith(says)
