# SPDX-License-Identifier: MIT
"""tools/gdb/assay.py: what its commands find without a machine."""

import subprocess

import pytest
from assay import OUT, ROOT


def gdb(*commands: str) -> subprocess.CompletedProcess:
    words = [word for command in commands for word in ("-ex", command)]
    return subprocess.run(["gdb", "-q", "-nx", "-batch", OUT / "mach_kernel",
                           "-x", ROOT / "tools/gdb/assay.py", *words],
                          text=True, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("program, file", [("hello", "user/hello/"), ("ux", "servers/ux/"),
                                           ("library", "tests/lib/check.c")])
def test_symbols_of_a_program(program: str, file: str) -> None:
    """Of a program that boots, of a server, and of a test: where its main() is, no other's."""
    done = gdb(f"assay program {program}", "info line main")
    assert f"symbols of {program} are known" in done.stdout, done.stderr
    assert file in done.stdout


def test_a_program_that_is_not_there() -> None:
    assert "no program 'nobody' in" in gdb("assay program nobody").stderr
