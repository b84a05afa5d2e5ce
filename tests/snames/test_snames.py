# SPDX-License-Identifier: MIT
"""The name server: tests/snames/programs from inside, and how it begins and ends."""

import errno
import re
import subprocess
from pathlib import Path

import pytest
from assay import OUT
from assay.files import Files, Put

HERE = Path(__file__).parent
LIB = HERE.parent / "lib"
FOLDERS = (f"-I{HERE.parent}/ux/programs", f"-I{LIB}", f"-I{LIB}/unix")
CHECKS = (LIB / "unix/main.c", LIB / "unix/check_unix.c")
SOURCES = sorted((HERE / "programs").glob("*.c"))
WARNINGS = ("-Wall", "-Wextra", "-Werror")


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    """The tests, linked with libnetname as any program would be."""
    program = tmp_path_factory.mktemp("snames") / "names"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", *WARNINGS, *FOLDERS, "-o", program, *SOURCES,
                    *CHECKS, "-lnetname", "-Wl,--wrap=bsd_name_server_next"], check=True)
    return program


def test_names(unix_machine, program: Path) -> None:
    result = unix_machine("/tmp/names", user="root", limit=60,
                          files=Files(put=(Put(program, "/tmp/names"),)))
    output = result.output.decode()
    expected = {name: "passed" for source in SOURCES
                for name in re.findall(r"^TEST\((\w+)\)", source.read_text(), re.MULTILINE)}
    verdicts = dict(reversed(line.split(" ", 1)) for line in output.splitlines()
                    if line.startswith(("passed ", "failed ")))
    assert (verdicts, result.outcome, result.status) == (expected, "exit", 0), output


AGAIN = r"""
snames 2>&1; echo $?
snames -x 2>/dev/null; echo $?
su student -c '/sbin/snames -f' 2>&1; echo $?
kill -9 $(ps -a | grep snames | (read user pid rest; echo $pid))
export TEST_ROLE=ask
/tmp/names; echo $?
snames; echo $?
/tmp/names; echo $?
ps -a | grep -c snames
snames -f 2>&1; echo $?
"""


def test_there_is_one(unix_machine, program: Path) -> None:
    """A second one says so; when it has ended another may begin."""
    result = unix_machine(AGAIN, user="root", limit=30,
                          files=Files(put=(Put(program, "/tmp/names"),)))
    lines = result.output.decode().splitlines()
    running = "snames: a name server is running already"
    assert lines == [running, "1", "2", "snames: only root may start the name server", "1",
                     str(errno.ENOENT), "0", "0", "1", running, "1"]


def test_it_is_there_before_anybody_logs_in(unix_machine) -> None:
    result = unix_machine("ps -a | grep snames")
    assert result.output.split()[:1] == [b"root"], result.output
