# SPDX-License-Identifier: MIT
"""What the documentation says exists: files, functions, the targets of links, README's commands."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from assay import OUT
from framework.keyboard import PROMPT, Keyboard

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("boot", "docs", "include", "kernel", "lib", "libprof", "servers", "tests", "tools",
"user",
           ".ci")
KERNEL_FOLDERS = tuple(sorted(path.name for path in (ROOT / "kernel").iterdir()))

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

# A path with a folder in it, perhaps with a line's number; a pattern or a placeholder is none.
PATH = re.compile(r"^([\w.-]+(?:/[\w.-]+)+/?)(?::\d+)?$")
FUNCTION = re.compile(r"^(\w+)\(\)$")
FIGURE = re.compile(r"^    .*$", re.MULTILINE)
CALLED = re.compile(r"\b(\w+)\(\)")

# What looks like a name in the sources: of constants, structures and whatever has a part after a
# `_`.  And what is said to be in a file.
NAME = re.compile(r"^(?:struct |enum )?(\w+)$")
IS_NAME = re.compile(r"_|^[A-Z][A-Z0-9]+$")
PLACED = re.compile(r"`(\w+)(?:\(\))?`\s+(?:in\s+|\()`((?:[\w.-]+/)+[\w.-]+\.\w+)`")

# Functions that are told of and not ours: the assembler's and the C library's.
FOREIGN_FUNCTIONS: set[str] = set()

# Names of ext2's and perf's, and parts of names of ours.
FOREIGN_NAMES = {"s_last_orphan", "COMM", "FORK", "LOST_SAMPLES", "SHARED", "ID", "SERVED", "MAKER",
                 "COPY_SEND", "_start", "_stop", "_flush"}
OF_OTHER_KERNELS = ROOT / "docs" / "interfaces.md"  # test_interfaces.py sees to its names.

# Where a path of the text may begin: at the root, or, as in #include, in these.
PLACES = (ROOT, ROOT / "kernel", ROOT / "include", OUT.parent)


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return FENCE.sub("", page.read_text())


def codes(page: Path) -> list[str]:
    return CODE.findall(prose(page))


def is_ours(path: str) -> bool:
    """Whether this is meant as a file of the tree; what is built is another test's."""
    return path.split("/")[0] in {*FOLDERS, *KERNEL_FOLDERS, "mach", "assay"}


def missing_files(page: Path) -> list[str]:
    paths = [match[1] for match in map(PATH.match, codes(page)) if match]
    return [path for path in paths
            if is_ours(path) and not any((place / path).exists() for place in PLACES)]


@cache
def known_names() -> frozenset[str]:
    """Every name that is followed by a parenthesis, or is a label or a macro, in the sources."""
    names: set[str] = set()
    for folder in ("kernel", "lib", "libprof", "servers", "user", "include", "tests", "tools"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".c", ".h", ".py") or (folder == "tools" and path.is_file()):
                names |= set(re.findall(r"\b(\w+) ?\(", path.read_text()))
            elif path.suffix == ".S":
                names |= set(re.findall(r"\b(\w+)\b", path.read_text()))
    return frozenset(names)


def missing_functions(page: Path) -> list[str]:
    """Of the text, and of its figures."""
    names = {match[1] for match in map(FUNCTION.match, codes(page)) if match}
    names |= set(CALLED.findall("\n".join(FIGURE.findall(prose(page)))))
    return sorted(names - known_names() - FOREIGN_FUNCTIONS)


@cache
def known_words() -> frozenset[str]:
    """Every word of the tree but the book's own."""
    words: set[str] = set()
    for folder in (*FOLDERS, "defs"):
        for path in (ROOT / folder).rglob("*"):
            if folder != "docs" and path.is_file() and path.suffix != ".pyc":
                words |= set(re.findall(r"\w+", path.read_text(errors="replace")))
    return frozenset(words | set(re.findall(r"\w+", (ROOT / "Makefile").read_text())))


def missing_names(page: Path) -> list[str]:
    names = {match[1] for match in map(NAME.match, codes(page)) if match}
    names = {name for name in names if IS_NAME.search(name)}
    return [] if page == OF_OTHER_KERNELS else sorted(names - known_words() - FOREIGN_NAMES)


def misplaced(page: Path) -> list[str]:
    """Names that are not in the file that the page says they are in."""
    wrong = []
    for name, path in PLACED.findall(prose(page)):
        files = [place / path for place in PLACES if (place / path).is_file()]
        if files and not any(re.search(rf"\b{name}\b", file.read_text()) for file in files):
            wrong.append(f"{name} in {path}")
    return wrong


def anchors(page: Path) -> set[str]:
    """The headings as links name them."""
    plain = (re.sub(r"[^\w\- ]", "", heading).strip() for heading in HEADING.findall(prose(page)))
    return {heading.lower().replace(" ", "-") for heading in plain}


def broken_links(page: Path) -> list[str]:
    broken = []
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
class TestPage:
    def test_files_exist(self, page: Path) -> None:
        assert not missing_files(page)

    def test_functions_exist(self, page: Path) -> None:
        assert not missing_functions(page)

    def test_names_exist(self, page: Path) -> None:
        assert not missing_names(page)

    def test_names_are_where_they_are_said_to_be(self, page: Path) -> None:
        assert not misplaced(page)

    def test_links_resolve(self, page: Path) -> None:
        assert not broken_links(page)


def test_every_page_can_be_reached() -> None:
    """From README.md, by following links."""
    reached, new = set(), {PAGES[0]}
    while new:
        reached |= new
        links = {(page.parent / link.partition("#")[0]).resolve()
                 for page in new for link in LINK.findall(prose(page))}
        new = {page for page in PAGES if page.resolve() in links} - reached
    assert not [str(page.relative_to(ROOT)) for page in PAGES if page not in reached]


@pytest.mark.parametrize(("text", "files", "functions", "links"), [
    ("`kernel/base/zone.c` `zone_alloc()` [x](README.md)", 0, 0, 0),
    ("`kernel/base/no_such.c`", 1, 0, 0),
    ("`no_such_function_anywhere()`", 0, 1, 0),
    ("    one thread ----> no_such_function_anywhere(): why\n", 0, 1, 0),
    ("[x](no-such.md)", 0, 0, 1),
    ("# A heading\n[x](#a-heading)", 0, 0, 0),
    ("[x](#no-heading)", 0, 0, 1),
    ("```\n`kernel/no` `no()` [x](no.md)\n```\n", 0, 0, 0),
])
def test_the_tests_of_pages(tmp_path: Path, text: str, files: int, functions: int,
                            links: int) -> None:
    """A function `no_such_...` is named only here, in halves, so that it is not found here."""
    (tmp_path / "README.md").touch()
    page = tmp_path / "page.md"
    page.write_text(text.replace("no_such_function_anywhere", "no_such" + "_function"))
    found = (missing_files(page), missing_functions(page), broken_links(page))
    assert tuple(map(len, found)) == (files, functions, links)


@pytest.mark.parametrize(("text", "names", "places"), [
    ("`INBOX_SIZE`, `struct thread_extra`, `n_cpus`, `make`, `a.out`", 0, 0),
    ("`NO_SUCH`, `struct no_such` and `such_no`", 3, 0),
    ("`zone_alloc()` in `kernel/base/zone.c`, `zone_free()` (`kernel/base/zone.c`)", 0, 0),
    ("`fast_path()` in `kernel/base/zone.c`", 0, 1),
])
def test_the_tests_of_names(tmp_path: Path, text: str, names: int, places: int) -> None:
    page = tmp_path / "page.md"
    page.write_text(re.sub(r"(?i)no_such|such_no", r"\g<0>" + "_anywhere", text))
    assert (len(missing_names(page)), len(misplaced(page))) == (names, places)


# ---------------- README's commands ----------------

COMMAND = re.compile(r"^(?:export \w+=\S+;|\./[\w-]+|make|tools/\w+|out/bin/\w+)(?: |$)")
# Options of the make that runs the tests, and what it exports, must not reach those that they run.
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "ASSAY_OUT", "SAN", "CLANG",
           "FAST", "WERROR", "V", "T")
LIMIT = 600  # Seconds; it may have to build everything.

# How those are run that cannot be run as they stand: all tests would run this one again.
# Nobody is there to tell sudo a password, if something is to be installed.
INSTEAD = {"make test": "make test T=kern/ksyms", "./setup": "./setup </dev/null"}


def commands(text: str) -> list[str]:
    """The lines of a page's code blocks that are commands, without their comments."""
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    lines += [line for block in FENCE.findall(text) for line in block.splitlines()[1:-1]]
    found = [line.partition(" #")[0].strip() for line in lines if COMMAND.match(line)]
    return list(dict.fromkeys(found))


def test_readme_has_commands() -> None:
    found = commands(PAGES[0].read_text())
    assert "./setup && make qemu" in found and any("MIG_OUTPUT" in command for command in found)


@pytest.fixture(name="tree", scope="module")
def tree_fixture(tmp_path_factory) -> Path:
    """A copy of the tree with what is built, so that a command may build or remove anything."""
    tree = tmp_path_factory.mktemp("readme") / "tree"
    shutil.copytree(ROOT, tree, symlinks=True,
                    ignore=shutil.ignore_patterns(".git", "__pycache__", "san", "clang",
                                                  "fast"))
    return tree


def sit_at(keyboard: Keyboard) -> None:
    """At the machine that a command boots: a shell that computes, then the keys that end it."""
    assert "Welcome to Assay." in keyboard.wait_for(PROMPT, LIMIT)
    assert keyboard.say("echo $((6 * 7))") == "42\n"
    keyboard.press("\x01x")


@pytest.mark.parametrize("command", commands(PAGES[0].read_text()))
def test_readme_s_command_runs(tree: Path, command: str) -> None:
    """At a terminal, where `make qemu` ends as its shell is left."""
    steps = [step.strip() for step in command.split("&&")]
    line = " && ".join(INSTEAD.get(step, step) for step in steps).replace(
        "; ./setup &&", f"; {INSTEAD['./setup']} &&")
    environment = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
    if "mig-output" in line:  # Brought along; what make does with it has tests of its own.
        subprocess.run(["tar", "-xf", "out/mig-output.tar"], cwd=tree, check=True)
    with Keyboard(["sh", "-c", line], tree, environment) as keyboard:
        if "make qemu" in line:
            sit_at(keyboard)
        status, said = keyboard.end(LIMIT), keyboard.screen
    assert status == 0, f"{line}\n{said}"
    if "make test" in line:
        assert re.fullmatch(r"\d+ passed, 0 failed", said.splitlines()[-1])
