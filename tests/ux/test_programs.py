# SPDX-License-Identifier: MIT
"""The programs in tests/ux/programs: each runs in the guest, and each of its tests must pass.

A line in a program's first comment says how it runs: ` * guest: user=root cpus=2 limit=30`; it goes
on in the next one after a backslash; `ns=8` is a machine whose instructions take 8 ns.  `${name}`
in `argument=` is an address in the server or in the kernel; with `when=nightly` it takes minutes,
and with `when=stock` it is of the kernel as it is usually built.
"""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from assay import OUT, ROOT
from assay.files import Files, Put
from framework.room import KIND

PROGRAMS = Path(__file__).parent / "programs"
TEST = re.compile(r"^TEST\((\w+)\)", re.MULTILINE)
NEXT_LINE = re.compile(r"\\\n \*")
SYMBOL = re.compile(r"\$\{(\w+)\}")
ROUTINE = re.compile(r"^(?:simple)?routine (\w+)\(", re.MULTILINE)
NUMBERS = ("cpus", "limit", "seed", "mem", "ns")

# Routines that no argument of a caller's makes fail.
NEVER_WRONG = {"fork", "exit", "identity", "getpid", "getgroups", "processes", "thread_start",
               "thread_exit", "sigpending", "sigsuspend", "umask", "sync", "stop_at_exec",
               "name_server_next", "sysctl_names"}


WHEN = {None: (), "nightly": (pytest.mark.nightly,),
        "stock": (pytest.mark.skipif(KIND != (), reason="the usual kernel is quicker"),)}


def ways(source: Path) -> list[dict[str, object]]:
    """How a program runs: each line `guest:`, or once as everybody."""
    text = NEXT_LINE.sub(" ", source.read_text())
    lines = re.findall(r"^ \* guest: *(.*)$", text, re.MULTILINE) or [""]
    found = []
    for line in lines:
        words = dict(word.split("=", 1) for word in shlex.split(line))
        found.append({key: int(value) if key in NUMBERS else value
                      for key, value in words.items()})
    return found


def cases() -> list:
    return [pytest.param(source, way, id="-".join([source.stem, *map(str, way.values())]),
                         marks=WHEN[way.pop("when", None)])
            for source in sorted(PROGRAMS.glob("*.c")) for way in ways(source)]


def address_of(name: str) -> str:
    lines = subprocess.run(["nm", OUT / "servers" / "ux", OUT / "mach_kernel"], check=True,
                           text=True, capture_output=True).stdout
    return next(line.split()[0] for line in lines.splitlines() if line.split()[-1:] == [name])


@pytest.mark.parametrize(("source", "way"), cases())
def test_program(unix_machine, source: Path, way: dict) -> None:
    program = OUT / "tests" / "ux" / "programs" / source.stem
    way["instruction_ns"] = way.pop("ns", 1)
    argument = SYMBOL.sub(lambda symbol: address_of(symbol[1]), way.pop("argument", ""))
    files = Files(put=(Put(program, f"/tmp/{source.stem}"),))
    result = unix_machine(f"/tmp/{source.stem} {argument}".strip(), files=files, **way)
    output = result.output.decode(errors="replace")
    verdicts = dict(reversed(line.split(" ", 1)) for line in output.splitlines()
                    if line.startswith(("passed ", "failed ")))
    expected = dict.fromkeys(TEST.findall(source.read_text()), "passed")
    assert (verdicts, result.outcome, result.status) == (expected, "exit", 0), output


def test_every_program_has_tests() -> None:
    for source in PROGRAMS.glob("*.c"):
        assert TEST.search(source.read_text()), f"{source.name} has no test"


def test_every_routine_is_called_wrongly() -> None:
    routines = set(ROUTINE.findall((ROOT / "defs" / "ux" / "bsd.defs").read_text()))
    tables = "".join(source.read_text() for source in PROGRAMS.glob("wrong_*.c"))
    called = set(re.findall(r"\bbsd_(\w+)\(", tables))
    assert routines - called == NEVER_WRONG
