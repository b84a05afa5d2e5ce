# SPDX-License-Identifier: MIT
"""Several commands in one machine, each with what it wrote and its status."""

import re
from typing import NamedTuple

import pytest
from assay import unix

LIMIT = 60
MARK = "==="


class Said(NamedTuple):
    text: str  # What standard output and standard error had, in the order in which it came.
    status: int


def run_commands(machine, commands: dict[str, str], **options) -> dict[str, Said]:
    """Runs commands by their names, one after the other, in the shell of one user."""
    lines = [f"{{ {command}\n}} 2>&1; status=$?; echo; echo {MARK} $status {name}; cd"
             for name, command in commands.items()]
    result = machine("\n".join(["cd", *lines]), limit=LIMIT, **options)
    assert result.outcome == "exit", (result.outcome, result.message, result.output)
    said: dict[str, Said] = {}
    rest = result.output.decode()
    for name in commands:
        text, status, rest = re.split(rf"\n{MARK} (\d+) {re.escape(name)}\n", rest, maxsplit=1)
        said[name] = Said(text.rstrip("\n"), int(status))
    return said


@pytest.fixture(name="cases")
def cases_fixture(unix_machine):
    return lambda commands, **options: run_commands(unix_machine, commands, **options)


@pytest.fixture(name="run_cases", scope="session")
def run_cases_fixture():
    """The same for a machine that several tests look at."""
    return lambda commands, **options: run_commands(unix.run, commands, **options)
