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
STATIC = r"^static\b"
NOT_A_NAME = re.compile(r"__attribute__\(\(.*?\)\)\)?|/\*.*?\*/", re.DOTALL)


def functions(text: str, kind: str = "") -> Iterator[str]:
    """The names of the functions that the text defines; with a kind (STATIC), of those that are."""
    for head in HEAD.findall(text):
        declaration = NOT_A_NAME.sub("", head).split("\n\n")[-1].strip()
        name = re.search(r"(\w+)\(", declaration)
        if name and re.search(kind, declaration):
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


def subject(path: Path) -> set[str]:
    """The words of a file's name and of its folder's, of one and of many."""
    words = path.stem.split("_") + [path.parent.name]
    return {word.removesuffix("s") for word in words}


def strangers(folder: Path) -> list[str]:
    """Static functions whose names do not begin with what their file is about."""
    return [f"{path.relative_to(folder)}: {name}" for path in sorted(folder.rglob("*.c"))
            for name in functions(path.read_text(), STATIC)
            if name.split("_")[0].removesuffix("s") not in subject(path)]


@pytest.mark.parametrize("folder", ["kernel", "servers", "tools/gprof"])
def test_each_static_function_begins_with_its_subject(folder: str) -> None:
    """A public function's does by its header; of `judge` a listing would not say what is judged."""
    assert not strangers(ROOT / folder)


def test_a_stranger_is_found(tmp_path: Path) -> None:
    (tmp_path / "copy_entries.c").write_text("/* It. */\nstatic int copy_of(int a)\n{\n}\n\n"
                                             "int judge(int a)\n{\n}\n\n"
                                             "static inline int\njudge_two(int a)\n{\n}\n")
    assert strangers(tmp_path) == ["copy_entries.c: judge_two"]
