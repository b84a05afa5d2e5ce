# SPDX-License-Identifier: MIT
"""The house's rules that a program can check, for every source file of the tree."""

import re
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
LICENCE = "SPDX-License-Identifier: MIT"
COLUMNS = 100
TAB = 8
FILE_LINES = 700
FUNCTION_LINES = 80

# In halves, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")

MACHINE_FREE = ("kernel/base", "kernel/boot", "kernel/device", "kernel/host", "kernel/ipc",
                "kernel/prof", "kernel/task", "kernel/thread", "kernel/vm")
ASSEMBLER = re.compile(r"\b(?:__asm__|__asm|asm)\b")
PORTS = re.compile(r"\b(?:in|out)[bwl] *\(|\b0x(?:3f8|2f8|cf8|f4|40|43|70|71|20|21|a0|a1)\b")

# What each folder's headers are called by: the kernel's alone begin with these.
KERNEL_HEADER = re.compile(r'#\s*include\s*"(?:kernel/)?(?:base|i386|ipc|prof|task|thread|vm)/')


def listed() -> list[Path]:
    """The files of the tree: what git knows or would add; everything, where git is not."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        names = done.stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if not {"out", ".git", "__pycache__"} & set(path.relative_to(ROOT).parts)]
    return sorted(ROOT / name for name in names if name and (ROOT / name).is_file())


def interpreter(path: Path) -> str:
    with path.open("rb") as file:
        line = file.readline()
    return line.decode(errors="replace") if line.startswith(b"#!") else ""


def kind(path: Path) -> str:
    """c, h, S, py, sh or nothing; a script is known by its first line."""
    if path.suffix in (".c", ".h", ".S", ".py", ".sh"):
        return path.suffix[1:]
    script = interpreter(path)
    return "py" if "python" in script else "sh" if "sh" in script else ""


SOURCES = [path for path in listed() if kind(path)]
CODE = [path for path in SOURCES if kind(path) in ("c", "h", "S")]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def without_comments(text: str) -> str:
    """The same code, with comments gone and an `s` for what a string holds."""
    def replace(match: re.Match) -> str:
        return "" if match[0][0] == "/" else '""' if match[0] == '""' else '"s"'

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', replace, text, flags=re.DOTALL)


def long_functions(path: Path) -> Iterator[str]:
    """In C a function is what lies between a `{` and a `}` that begin lines; in Python, a def."""
    lines = path.read_text().splitlines()
    if kind(path) == "c":
        starts = [number for number, line in enumerate(lines) if line == "{"]
        ends = [number for number, line in enumerate(lines) if line == "}"]
        for start in starts:
            end = next(end for end in ends if end > start)
            if end - start + 1 > FUNCTION_LINES:
                yield f"{name_of(path)}:{start}: {end - start + 1} lines"


def complaints(path: Path) -> Iterator[str]:
    """What is wrong with a source file."""
    text = path.read_text()
    lines = text.splitlines()
    name = name_of(path)
    first = lines[1] if interpreter(path) and len(lines) > 1 else lines[0] if lines else ""
    if LICENCE not in first and lines:
        yield f"{name}: the first line is not the licence's"
    if len(lines) > FILE_LINES:
        yield f"{name}: {len(lines)} lines"
    for number, line in enumerate(lines, 1):
        if len(line.expandtabs(TAB)) > COLUMNS:
            yield f"{name}:{number}: {len(line.expandtabs(TAB))} columns"
        if line != line.rstrip():
            yield f"{name}:{number}: blanks at the end"
        if UNFINISHED.search(line):
            yield f"{name}:{number}: something is not finished"
    yield from long_functions(path)
    if kind(path) == "h" and not re.search(r"^#ifndef (\w+)\n#define \1$", text, re.MULTILINE):
        yield f"{name}: no guard"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_source(path: Path) -> None:
    assert not list(complaints(path))


def guards() -> list[tuple[str, str]]:
    return [(guard[1], name_of(path)) for path in CODE if kind(path) == "h"
            if (guard := re.search(r"^#ifndef (\w+)$", path.read_text(), re.MULTILINE))]


def test_guards_are_unique() -> None:
    """Two headers of one guard hide each other.  Stand-ins of host tests bear the real one's."""
    found = [guard for guard, name in guards() if not name.startswith("tests/lib/host/")]
    assert len(found) == len(set(found))


def test_tests_are_written_in_one_vocabulary() -> None:
    """TEST, EXPECT and REQUIRE are tests/lib/check.h's; what has more to say begins as they do."""
    places: dict[str, list[str]] = {}
    for path in CODE:
        for macro in re.findall(r"^#define (\w*(?:TEST|EXPECT|REQUIRE|CHECK|NEED)(?:_[A-Z]+)?)\(",
                                path.read_text(), re.MULTILINE):
            places.setdefault(macro, []).append(name_of(path))
    assert places.pop("TEST") == places.pop("EXPECT") == places.pop("REQUIRE") == [
        "tests/lib/check.h"]
    assert {macro.partition("_")[0] for macro in places} == {"EXPECT"}, places


def test_messages_are_described_by_the_definitions() -> None:
    """<mach/messages.h> has numbers and descriptors; tests may say which number they expect."""
    by_hand = re.compile(r"\.msgt_size = 32\b|\bmsgh_id = \d{4}|"
                         r"^#define (?:ID_\w+|\w+_ID) +[1-9]\d{3,5}\b", re.MULTILINE)
    offenders = {name_of(path): found for path in CODE
                 if (found := by_hand.findall(path.read_text()))}
    assert not offenders


def test_kernel_headers_stay_in_the_kernel() -> None:
    """Host tests are made of the kernel's sources; they alone may."""
    offenders = [name_of(path) for path in CODE
                 if not name_of(path).startswith("kernel/") and "/host/" not in name_of(path)
                 and KERNEL_HEADER.search(path.read_text())]
    assert not offenders


def test_shared_headers_need_nothing_of_the_kernel_or_the_library() -> None:
    for path in (path for path in CODE if name_of(path).startswith("include/")):
        included = re.findall(r'#\s*include\s*[<"]([^>"]+)', path.read_text())
        places = ("assay/", "bsm/", "gmon", "mach/", "servers/", "std", "sys/", "ux/")
        assert all(name.startswith(places) for name in included), path


@pytest.mark.parametrize("folder", MACHINE_FREE)
def test_the_machine_is_named_in_i386_only(folder: str) -> None:
    files = [path for path in CODE if name_of(path).startswith(folder + "/")]
    assert files
    for path in files:
        code = without_comments(path.read_text())
        assert kind(path) != "S", path
        assert not PORTS.search(code), path
        # An empty one names nothing of the machine: it only hides a value from the compiler.
        assert not ASSEMBLER.search(re.sub(r'__asm__( volatile)?\(\s*""\s*[:)]', "", code)), path


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(("name", "text", "says"), [
    ("a.c", f"/* {LICENCE} */\n", None),
    ("a.c", "int a;\n", "licence"),
    ("a.c", f"/* {LICENCE} */\n" + "\t" * 12 + "12345\n", "101 columns"),
    ("a.c", f"/* {LICENCE} */\nint a; \n", "blanks"),
    ("a.c", f"/* {LICENCE} */\n/* FIX" "ME: later */\n", "not finished"),
    ("a.c", f"/* {LICENCE} */\n" + "\n" * 700, "701 lines"),
    ("a.c", f"/* {LICENCE} */\nvoid f(void)\n{{\n" + "\tg();\n" * 79 + "}\n", "81 lines"),
    ("a.h", f"/* {LICENCE} */\n#ifndef A_H\n#define A_H\n#endif\n", None),
    ("a.h", f"/* {LICENCE} */\n#ifndef A_H\n#define B_H\n#endif\n", "no guard"),
    ("a.py", f'#!/usr/bin/python3\n# {LICENCE}\n"""What."""\n', None),
    ("a", '#!/usr/bin/python3\n"""What."""\n', "licence"),
])
def test_the_test_of_sources(monkeypatch, tmp_path: Path, name: str, text: str,
                             says: str | None) -> None:
    monkeypatch.setattr(__import__(__name__, fromlist=["ROOT"]), "ROOT", tmp_path)
    found = list(complaints(write(tmp_path, name, text)))
    if says is None:
        assert not found
    else:
        assert len(found) == 1
        assert says in found[0]
