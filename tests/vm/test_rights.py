# SPDX-License-Identifier: MIT
"""Rights of pages: what they do not allow ends the program, at the address that it touched."""

import functools
import re
from typing import NamedTuple

import pytest
from assay import OUT, machine

ENDED = re.compile(r"^task (\d+) .* EXC_BAD_ACCESS, code (\d+), subcode 0x([0-9a-f]+), at ")
INVALID_ADDRESS, PROTECTION = 1, 2
FIRST, LAST = 0x08100000, 0x0810F000

CASES = {
    "write_to_read_only": (PROTECTION, FIRST),
    "write_after_protect": (PROTECTION, FIRST),
    "write_after_protect_of_many": (PROTECTION, LAST),
    "execute_data": (PROTECTION, FIRST),
    "execute_after_protect": (PROTECTION, FIRST),
    "write_to_code": (PROTECTION, FIRST),
    "read_after_unmap": (INVALID_ADDRESS, FIRST),
    "read_after_unmap_of_many": (INVALID_ADDRESS, LAST),
    "read_behind_unmapped": (INVALID_ADDRESS, LAST),
}
CASES_OF_TWO_CPUS = {
    "other_reads_unmapped": (INVALID_ADDRESS, LAST),
    "other_reads_one_unmapped": (INVALID_ADDRESS, LAST),
    "other_writes_protected": (PROTECTION, LAST),
    "other_executes_protected": (PROTECTION, LAST),
}


class Setting(NamedTuple):
    """A machine that runs all cases that can run there, side by side."""

    cpus: int
    seed: int

    @property
    def cases(self) -> dict[str, tuple[int, int]]:
        return CASES | (CASES_OF_TWO_CPUS if self.cpus > 1 else {})


SETTINGS = [Setting(1, 0), Setting(2, 0), Setting(2, 1), Setting(4, 2)]


@functools.cache
def run_cases(setting: Setting) -> dict[str, tuple[int, int]]:
    """Code and address of the exception that each case ended with, if it did."""
    result = machine.run([f"vm/rights {name}" for name in setting.cases], cpus=setting.cpus,
                         seed=setting.seed, limit=20)
    log = result.log.decode(errors="replace")
    assert result.outcome == "exit", log
    assert not [count for count in result.counts if count.before != count.after]
    assert result.output == b""
    ends = [match for match in map(ENDED.match, log.splitlines()) if match]
    names = list(setting.cases)
    return {names[int(end[1]) - 1]: (int(end[2]), int(end[3], 16)) for end in ends}


@pytest.mark.parametrize(
    ("setting", "name"), [(setting, name) for setting in SETTINGS for name in setting.cases],
    ids=lambda value: value if isinstance(value, str) else f"cpus={value.cpus},seed={value.seed}",
)
def test_access(setting: Setting, name: str):
    """The access ends its program."""
    assert run_cases(setting).get(name) == setting.cases[name]


def test_every_case_is_expected():
    """A case in the source that is missing here would never run."""
    symbols = (OUT / "tests" / "vm" / "rights.sym").read_text()
    assert set(re.findall(r" t test_(\w+)$", symbols, re.MULTILINE)) == {*CASES, *CASES_OF_TWO_CPUS}
