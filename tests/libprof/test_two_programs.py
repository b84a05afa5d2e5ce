# SPDX-License-Identifier: MIT
"""Two profiled programs in one folder: neither takes the other's place in silence."""

import re
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, unix
from assay.files import Files, Get, Put
from libprof.gmon_reader import parse, values

SOURCE = Path(__file__).parent / "programs" / "where.c"
UX_CC = OUT / "sdk/bin/ux-cc"
OWNER, NAME, PID, TEXT_HIGH = 0x21, 0x22, 7, 25


class Case(NamedTuple):
    commands: str  # In a folder of their own.
    files: dict[str, str]  # What is there then, and of which program; N stands for a number.
    told: int  # How often somebody says that a file stays.


CASES = {
    "other": Case("one 2; two 2", {"gmon.out": "one", "gmon.out.two": "two"}, 1),
    "again": Case("one 2; one 2; /tmp/p/rebuilt/one 2", {"gmon.out": "one"}, 0),
    "three": Case("one 2; two 2; two 2; one 2", {"gmon.out": "one", "gmon.out.two": "two"}, 2),
    "pipe": Case("one 2 | sh -c 'cat; two 2'", {"gmon.out": "one", "gmon.out.two": "two"}, 1),
    "at-once": Case("one 200 & sleep 0.02; one 2; wait",
                    {"gmon.out": "one", "gmon.out.N": "one"}, 1),
    "both": Case("two 1; one 200 & sleep 0.02; one 2; wait",
                 {"gmon.out": "two", "gmon.out.one": "one", "gmon.out.N": "one"}, 2),
    "apart": Case("one 2; one 200 & sleep 0.02; one 2; wait",
                  {"gmon.out": "one", "gmon.out.N": "one"}, 1),
    "twice": Case("one 2 twice", {"gmon.out": "one"}, 0),
    "exec": Case("one 2 exec /tmp/p/two 2", {"gmon.out": "one", "gmon.out.two": "two"}, 1),
    "itself": Case("one 2 exec /tmp/p/one 2", {"gmon.out": "one", "gmon.out.N": "one"}, 1),
    "prefix": Case("GMON_OUT_PREFIX=sub one 2; GMON_OUT_PREFIX= two 2",
                   {"gmon.out": "two", "sub.N": "one"}, 0),
    "no-profile": Case("echo hello >gmon.out; one 2", {"gmon.out": "one"}, 0),
    "damaged": Case("head -c 40 /tmp/d/again/gmon.out >gmon.out; two 2", {"gmon.out": "two"}, 0),
    "monctl": Case("monctl -run slow 9 >/dev/null; one 2; monctl -run slow 9; monctl -run slow 9",
                   {"gmon.out": "slow", "gmon.out.one": "one"}, 1),
    "a-monctl": Case("one 2; monctl -run slow 9; monctl -children -run slow 9",
                     {"gmon.out": "one", "gmon.out.slow": "slow"}, 2),
    "named": Case("one 2; monctl -monfile gmon.out -run slow 9", {"gmon.out": "slow"}, 0),
}


def build(folder: Path, name: str, *options: str) -> Path:
    program = folder / name
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([UX_CC, "-O1", "-pg", "-Wall", "-Werror", *options, "-o", program, SOURCE],
                   check=True)
    return program


class Found(NamedTuple):
    files: set[str]
    said: str
    folder: Path


@pytest.fixture(name="found", scope="module")
def found_fixture(tmp_path_factory) -> dict[str, Found]:
    folder = tmp_path_factory.mktemp("two")
    put = (Put(build(folder, "one"), "/tmp/p/one"), Put(build(folder, "two"), "/tmp/p/two"),
           Put(build(folder, "rebuilt/one", "-DMORE"), "/tmp/p/rebuilt/one"),
           Put(OUT / "user" / "slowprog", "/tmp/p/slow"))
    get, lines = [], ["mkdir /tmp/d; PATH=$PATH:/tmp/p; exec 2>&1"]
    for name, case in CASES.items():
        (folder / name).mkdir()
        get += [Get(f"/tmp/d/{name}/{file}", folder / name / file) for file in case.files]
        lines += [f"echo === {name}; mkdir /tmp/d/{name}; cd /tmp/d/{name}", case.commands,
                  "for f in *.[0-9]*; do if [ -e $f ]; then mv $f ${f%.*}.N; fi; done; "
                  "echo ---; ls"]
    result = unix.run("\n".join(lines), files=Files(put=put, get=tuple(get)), limit=60)
    (folder / "output").write_bytes(result.output)
    assert (result.outcome, result.status) == ("exit", 0), (result.message, result.output)
    found = {}
    for part in result.output.decode().split("=== ")[1:]:
        name, rest = part.split("\n", 1)
        said, listing = rest.split("---\n")
        found[name] = Found(set(listing.split()), said, folder / name)
    return found


def owner(data: bytes) -> str:
    """The program that the file says it is of: in the first of our own records."""
    arcs = parse(data).arcs
    assert arcs[0][0] == OWNER and arcs[0][2] == values(parse(data))[PID] + 1
    words = [count for source, task, count in arcs[1:9] if NAME <= source < NAME + 8 and
             task == arcs[0][1]]
    return b"".join(struct.pack("<I", word) for word in words).decode().rstrip("\0")


@pytest.mark.parametrize("name", CASES)
def test_each_profile_is_there(found: dict[str, Found], name: str) -> None:
    case, there = CASES[name], found[name]
    assert there.files == set(case.files), there.said
    for file, program in case.files.items():
        assert owner((there.folder / file).read_bytes()) == program, file
    told = re.findall(r"^\w+: gmon.out is the profile of (\w+), process \d+, and stays; "
                      r"(?:this one is gmon.out.\w+|say -monfile FILE to choose)$", there.said,
                      re.M)
    assert told == [case.files["gmon.out"]] * case.told, there.said


def test_a_program_that_was_changed_has_its_new_profile(found: dict[str, Found]) -> None:
    """What is in the folder after the last of three runs is of the program as it was built then."""
    value = values(parse((found["again"].folder / "gmon.out").read_bytes()))
    old = values(parse((found["twice"].folder / "gmon.out").read_bytes()))
    assert value[TEXT_HIGH] > old[TEXT_HIGH]


def test_another_s_rights_choose_no_place(unix_machine, tmp_path: Path) -> None:
    """A set-user-id program does not write where its caller's environment says."""
    program = build(tmp_path, "one")
    result = unix_machine(
        "cp /tmp/one /tmp/suid; chmod 4755 /tmp/suid; mkdir /tmp/e; chmod 777 /tmp/e; "
        "su student -c 'cd /tmp/e; GMON_OUT_PREFIX=/root/x /tmp/suid 1'; "
        "su student -c 'cd /tmp/e; GMON_OUT_PREFIX=y /tmp/one 1'; ls /root /tmp/e | cat",
        user="root", limit=30, files=Files(put=(Put(program, "/tmp/one"),)))
    assert re.search(r"/tmp/e:\ngmon.out\ny.\d+\n$", result.output.decode()), result.output
    assert "x." not in result.output.decode()
