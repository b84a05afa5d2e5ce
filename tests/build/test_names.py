# SPDX-License-Identifier: MIT
"""In a profile a function is its name, and nothing else tells it from another: each has its own."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What stands before the brace that begins a function, from its first line on.
HEAD = re.compile(r"^(?![#\s{}])([^;{}]+)\n\{$", re.MULTILINE)
NOT_A_NAME = re.compile(r"__attribute__\(\(.*?\)\)\)?|/\*.*?\*/", re.DOTALL)


def functions(text: str) -> Iterator[str]:
    for head in HEAD.findall(text):
        name = re.search(r"(\w+)\(", NOT_A_NAME.sub("", head).split("\n\n")[-1])
        if name:
            yield name[1]


def shared_names(folder: Path) -> dict[str, list[str]]:
    where = defaultdict(list)
    for path in sorted(folder.rglob("*.c")):
        for name in functions(path.read_text()):
            where[name].append(str(path.relative_to(folder)))
    return {name: files for name, files in where.items()
            if len(files) > 1 and not are_halves(files)}


def are_halves(files: list[str]) -> bool:
    """The same for a program in the guest and on the host: never in one program."""
    folders = {Path(file).parent.name for file in files}
    return folders == {"guest", "host"} and len({Path(file).name for file in files}) == 1


@pytest.mark.parametrize("folder", ["kernel", "servers/ux", "tools/gprof"])
def test_each_function_has_a_name_of_its_own(folder: str) -> None:
    assert not shared_names(ROOT / folder)


def test_two_of_a_name_are_found(tmp_path: Path) -> None:
    """Whatever stands before the name, and on however many lines."""
    (tmp_path / "one.c").write_text("static void judge(void)\n{\n\tplain(1);\n}\n\nint x;\n")
    (tmp_path / "two.c").write_text("/* It judges. */\nstatic __attribute__((noinline)) struct a *"
                                    "judge(int a,\n\tint b)\n{\n}\n\nvoid plain(int a)\n{\n}\n")
    assert shared_names(tmp_path) == {"judge": ["one.c", "two.c"]}
