# SPDX-License-Identifier: MIT
"""The book's sessions of gdb's, typed into a machine that runs, and answers that are patches."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
from assay import OUT, ROOT, machine
from assay.grade_submission import Submission
from framework import under_gdb

from docs.test_transcripts import unlike

ANSWERS = ROOT / "docs" / "answers"
PAGE = (ANSWERS / "debugging.md").read_text()
CHAPTER = (ROOT / "docs" / "debugging.md").read_text()
PATCH = "unlocked.patch"
CHANGED = "kernel/i386/entry/trap.c"
MARK = "typed: "  # What tells the outputs of commands apart.
VALUE = re.compile(r"\$\d+ = \d+")


class Machine(NamedTuple):
    programs: tuple[str, ...] = ("hello",)
    append: str = ""


MACHINES = {"1": Machine(append="crash=overflow"), "4": Machine(("hello", "hello"))}


def sections() -> dict[str, str]:
    """By the number of the exercise."""
    return dict(re.findall(r"^## (\d)\.((?:(?!^## )[\s\S])*)", PAGE, re.MULTILINE))


def typed(section: str) -> Iterator[tuple[str, list[str]]]:
    """Commands, and what is shown below each."""
    lines = [line[4:] for line in section.splitlines() if line.startswith("    ")]
    for part in re.split(r"^\(gdb\) ", "\n".join(lines), flags=re.MULTILINE)[1:]:
        command, *shown = part.split("\n")
        yield command, shown


def outputs(folder: Path, commands: list[str], where: Machine) -> list[list[str]]:
    marked = [word for command in commands for word in (f"echo {MARK}\\n", command)]
    said = under_gdb.run(folder, where.programs, *marked, append=where.append)
    return [part.splitlines() for part in said.split(f"{MARK}\n")[1:]]


def test_which_answers_have_sessions() -> None:
    assert {number for number, text in sections().items() if "(gdb) " in text} == set(MACHINES)


def frame(line: str) -> str:
    """Without what the book leaves out, and the line, which moves with whatever is above it."""
    return re.sub(r" \([^()]*\)", " (...)", re.sub(r":\d+$", "", line))


def check_session(folder: Path, steps: list[tuple[str, list[str]]], where: Machine) -> None:
    # The last command's output ends with gdb's own word when it lets the machine go.
    printed = outputs(folder, [*(command for command, _ in steps), "echo"], where)
    assert len(printed) == len(steps) + 1, printed
    for (command, shown), lines in zip(steps, printed):
        shown = [frame(line) for line in shown if line]
        assert not shown or not unlike(shown, [*map(frame, lines)]), f"{command}\n{lines}"
        values = [line for line in shown if VALUE.fullmatch(line)]
        assert all(value in lines for value in values), f"{command}\n{lines}"


@pytest.mark.skipif(OUT.name != "out", reason="what is shown is the stock build's")
@pytest.mark.parametrize("number", MACHINES)
def test_sessions(tmp_path: Path, number: str) -> None:
    check_session(tmp_path, list(typed(sections()[number])), MACHINES[number])


@pytest.mark.skipif(OUT.name != "out", reason="what is shown is the stock build's")
def test_the_chapter_s_session(tmp_path: Path) -> None:
    """Which begins in one block and goes on in the next, in the first message of `hello`."""
    steps = list(typed(CHAPTER.partition("\n## gdb\n")[2].partition("\n## ")[0]))
    assert len(steps) == 6
    check_session(tmp_path, steps, Machine())


def test_the_patch_is_of_this_kernel() -> None:
    subprocess.run(["git", "apply", "--check", ANSWERS / PATCH], cwd=ROOT, check=True)


def test_the_assertion_is_where_it_is_shown() -> None:
    """In a file that the patch leaves alone."""
    said = re.search(r"panic: (\S+):(\d+): assertion failed: (.*)$", sections()["2"], re.MULTILINE)
    assert said[1] not in (ANSWERS / PATCH).read_text()
    assert f"assert({said[3]});" in (ROOT / said[1]).read_text().splitlines()[int(said[2]) - 1]


@pytest.mark.nightly
@pytest.mark.skipif(OUT.name != "out", reason="what is shown is the stock build's")
def test_what_the_patch_does(tmp_path: Path) -> None:
    """One CPU finds it, by the assertion that is shown."""
    (tmp_path / "in").mkdir()
    shutil.copy(ANSWERS / PATCH, tmp_path / "in")
    kernel = Submission(tmp_path / "in", tmp_path).build_kernel(PATCH, (CHANGED,))
    result = machine.run(["hello"], kernel=kernel, limit=10)
    said = [line for line in result.log.decode().splitlines() if "panic: " in line]
    shown = re.findall(r"^    (panic: .*)$", sections()["2"], re.MULTILINE)
    assert (result.outcome, said) == ("panic", shown), result.log.decode()
