# SPDX-License-Identifier: MIT
"""What pages of the book show of commands is what these print.

A block of code whose first line is `$ command` is a transcript: of commands, each with its output,
one block after the other in one folder.  A line `...` stands for any number of lines, and one that
ends with it goes on in any way.  Numbers of samples depend on where each instruction of the system
lies, so on the compiler and on the names of folders; numbers may differ as far as chance takes two
draws apart, and addresses in any way.
"""

import math
import os
import re
import subprocess
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
from assay import OUT, ROOT
from prof import shares

PAGES = ("reading-a-profile.md", "sampling.md")
LINKS = ("docs", "tools", "user", "tests")
LIMIT = 120  # Seconds.
PART = 0.35  # How much more or less is lost, which no chance decides, but who has the CPU when.
LOSSES = re.compile(r"\b[1-9]\d* lost\b|<lost> \d")
ROUNDED = 3  # And what is left of the smallest numbers, of which there is no standard error.
ADDRESS = re.compile(r"\b(?:0x)?[0-9a-f]{7,8}\b|\+0x[0-9a-f]+|[+][0-9a-f]+\b")
INDEX = re.compile(r"\[\d+\]")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Step(NamedTuple):
    command: str
    shown: list[str]


def steps(page: str) -> Iterator[Step]:
    text = (ROOT / "docs" / page).read_text()
    for block in re.findall(r"^    .*\n(?:    .*\n|\n)*", text, re.MULTILINE):
        lines = [line[4:] for line in block.strip("\n").splitlines()]
        if not lines[0].startswith("$ "):
            continue
        for part in re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]:
            command = re.match(r"(?:.*\\\n)*.*", part)[0]
            yield Step(command.replace("\\\n", " "), part[len(command):].split("\n")[1:])


def form(line: str) -> str:
    """A line without what may differ."""
    return " ".join(NUMBER.sub("#", INDEX.sub("[#]", ADDRESS.sub("@", line))).split())


def numbers(line: str) -> list[float]:
    """As counts of samples: what has three decimals is seconds, of a thousand each.  Percentages,
    and milliseconds of a call, are taken for counts too, which is more than they may differ by."""
    return [float(number) * (1000 if re.search(r"\.\d{3}$", number) else 1)
            for number in NUMBER.findall(INDEX.sub("", ADDRESS.sub("", line)))]


def near(one: float, other: float, part: float) -> bool:
    """As two counts of samples are."""
    allowed = max(shares.ERRORS * math.sqrt(one + other), part * max(one, other))
    return abs(one - other) <= allowed + ROUNDED


def like(shown: str, line: str) -> bool:
    if shown.endswith("..."):
        shown = shown[:-3].rstrip()
        line = " ".join(line.split()[:len(shown.split())])
    part = PART if LOSSES.search(shown) else 0
    return form(shown) == form(line) and all(
        near(one, other, part) for one, other in zip(numbers(shown), numbers(line)))


def fits(shown: list[str], printed: list[str], at: int) -> bool:
    there = printed[at:at + len(shown)]
    return len(there) == len(shown) and all(map(like, shown, there))


def unlike(shown: list[str], printed: list[str]) -> str:
    """The first of the lines between two `...` that were not printed; "" if all were."""
    printed = [line for line in printed if line.strip()]
    parts: list[list[str]] = [[]]
    for line in filter(str.strip, shown):
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    at = 0
    for number, part in enumerate(parts):
        last = len(printed) - len(part)
        places = range(at, last + 1)
        if number == len(parts) - 1:  # It ends where the output does,
            places = range(max(at, last), last + 1)
        if number == 0:  # and the first begins there.
            places = [place for place in places if place == 0]
        place = next((place for place in places if fits(part, printed, place)), None)
        if place is None:
            return part[0] if part else "(an end)"
        at = place + len(part)
    return ""


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_is_shown(page: str, tmp_path: Path) -> None:
    for name in LINKS:
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "out").symlink_to(OUT.absolute())
    environment = os.environ | {"ASSAY_OUT": str(OUT.absolute())}
    wrong = []
    for command, shown in steps(page):
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT,
                              check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        line = unlike(shown, done.stdout.splitlines())
        if line:
            wrong.append(f"$ {command}\nshown: {line}\nprinted:\n{done.stdout}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("shown", "printed", "is_like"), [
    ("40.1  0.062 30 forty [3]", "43.5 0.070   30 forty [7]", True),
    ("40.1  0.062 30 forty", "43.5 0.070 30 fifty", False),
    ("40.1  0.062 30 forty", "0.0 0.062 30 forty", False),
    ("0.022 one", "0.009 one", True),
    ("0.015 30 0.50 0.50 ten", "0.010 30 0.33 0.33 ten", True),
    ("1.950 0.145 most", "1.400 0.145 most", False),
    ("0.000 0.143 shared", "0.060 0.143 shared", False),
    ("2000 shared", "1000 shared", False),
    ("2000 samples, 0 lost", "1600 samples, 0 lost", False),
    ("2000 samples, 900 lost", "1600 samples, 700 lost", True),
    ("08048133 +13 27 dec ...", "08048155 +9 31 dec %eax x.c:3", True),
    ("a\n...\nd", "a\nb\nc\nd", True),
    ("a\nd", "a\nb\nd", False),
    ("a", "a\nb", False),
    ("a\n...", "a", True),
    ("a\nb", "a", False),
    ("...\na\nb\n...", "a\nc\na\nb\nd", True),
    ("...\na\nb", "a\nb\nc", False),
])
def test_what_is_alike(shown: str, printed: str, is_like: bool) -> None:
    assert (not unlike(shown.splitlines(), printed.splitlines())) == is_like
