# SPDX-License-Identifier: MIT
"""Numbers of calls in <sys/syscall.h>, as traces name them: those of defs/ux/bsd.defs."""

import re

from assay import ROOT

NUMBER = re.compile(r"^#define SYS_(\w+) +(\d+)$", re.MULTILINE)
STATEMENT = re.compile(r"^(?:(skip);|(?:simple)?routine (\w+)\()", re.MULTILINE)


def test_the_numbers_are_those_of_the_definition() -> None:
    definition = (ROOT / "defs" / "ux" / "bsd.defs").read_text()
    names = [name for _, name in STATEMENT.findall(definition)]
    numbers = dict(NUMBER.findall((ROOT / "include" / "sys" / "syscall.h").read_text()))
    base = int(re.search(r"^subsystem bsd (\d+);", definition, re.MULTILINE)[1])
    assert int(numbers.pop("BASE")) == base
    assert numbers == {name: str(number) for number, name in enumerate(names) if name}
