# SPDX-License-Identifier: MIT
"""A process that counts its own calls and executes itself: each time it is another task, which
writes a profile of its own beside the ones before, and pkgprof takes each where it belongs."""

import shutil
import subprocess
from pathlib import Path

import pytest
from assay import OUT, ROOT, pkgprof, unix
from assay.files import Files, Get, Put

SOURCE = Path(__file__).parent / "programs" / "again.c"
TIMES = 3
OFTEN = 10  # SOURCE has it.
PROGRAMS = [f"12{'+' if n else ''}{n or ''}" for n in range(TIMES + 1)]
OWN = ("gmon.out", "gmon.out.12", "gmon.out.12.2", "gmon.out.12.3")


def measure(folder: Path, options: str, programs: list[str]) -> bytes:
    """Its files and the program, in a folder of the host's; what was said."""
    program = folder / "again"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-pg", "-o", program, SOURCE], check=True)
    names = (*OWN, "gmon.out.-k.kernel", "gmon.out.-k.other", "gmon.out.-r.requests",
             *(f"gmon.out.{number}{part}.again" for number in programs for part in ("", *"kuxn")))
    run = unix.run(f"mkdir m; cd m; pkgmon -a {options} ../again {TIMES}", user="root",
                   files=Files(size=40, put=(Put(program, "/root/again"),),
                               get=tuple(Get(f"/root/m/{name}", folder / name) for name in names)))
    assert (run.outcome, run.status) == ("exit", 0), run.log
    return run.log


@pytest.fixture(name="measured", scope="module")
def measured_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("again")
    said = measure(folder, "-f", PROGRAMS)
    for name in OWN[1:]:
        assert f"this one is {name}\n".encode() in said.replace(b"\r", b""), said
    return folder


def asked(folder: Path) -> tuple[dict[str, int], list[str]]:
    """How often main() called its function, by the process's number; and what was left out."""
    whole = pkgprof.put_together(folder, None, {"/root/again": folder / "again"})
    own = {p.part.process: p for p in whole.placed if p.part.name == f"{p.part.process}u"}
    counts = {}
    for process, part in own.items():
        start, end = (part.move(at) for at in part.image.function("ask")[1:])
        counts[process] = sum(n for (_, at), n in whole.arcs().items() if start <= at < end)
    return counts, whole.left_out


def test_each_has_its_own_calls(measured: Path) -> None:
    counts, left_out = asked(measured)
    assert counts == {program: OFTEN * (TIMES + 1 - n) for n, program in enumerate(PROGRAMS)}
    assert not left_out


def test_a_copy_is_not_counted_twice(measured: Path, tmp_path: Path) -> None:
    shutil.copytree(measured, tmp_path / "beside")
    shutil.copy(measured / "gmon.out.12", tmp_path / "beside" / "gmon.out.copy")
    assert asked(tmp_path / "beside") == asked(measured)


def test_what_was_not_measured_is_left_out(tmp_path: Path) -> None:
    """Without -f only what it did first is: the others' profiles are nobody's, which is said."""
    measure(tmp_path, "", PROGRAMS[:1])
    counts, left_out = asked(tmp_path)
    assert counts == {"12": OFTEN * (TIMES + 1)}
    assert [line.partition(" is left out")[0] for line in left_out] == \
        [str(tmp_path / name) for name in OWN[1:]]
    done = subprocess.run([ROOT / "tools" / "pkgprof", tmp_path, "--program",
                           f"/root/again={tmp_path / 'again'}", "--", "-b", "-p"],
                          text=True, capture_output=True, check=True)
    assert "gmon.out.12.2 is left out: pkgmon has no part of the program that process 12" \
        in done.stderr
