# SPDX-License-Identifier: MIT
"""Which floor stands on which: no arrow of the kernel or the Unix server runs up without reason."""

import re
import subprocess
from pathlib import Path

import pytest
from assay.floors import HOUSES, House, Rules, draw

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "docs" / "house.md"


@pytest.mark.parametrize("house", HOUSES)
def test_no_arrow_runs_up(house: str) -> None:
    folder = ROOT / house
    assert not list(Rules.read(folder / "floors").complaints(House.read(folder)))


@pytest.mark.parametrize("house", HOUSES)
def test_the_chapter_has_these_floors(house: str) -> None:
    """Name by name, from the roof down."""
    rules = Rules.read(ROOT / house / "floors")
    section = CHAPTER.read_text().partition(f"## {house}\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    assert told == list(reversed(rules.floors))


@pytest.mark.parametrize(("house", "figure"), [("kernel", "kernel"), ("servers/ux", "ux")])
def test_the_figure_is_of_this_house(house: str, figure: str) -> None:
    """If not: tools/floors --svg HOUSE >docs/figures/FIGURE.svg."""
    drawn = subprocess.run([ROOT / "tools" / "floors", "--svg", house], text=True, check=True,
                           capture_output=True).stdout
    assert drawn == (ROOT / "docs" / "figures" / f"{figure}.svg").read_text()


RULES = """# Two floors.
floor low   what is below
floor high  what is above
"""


@pytest.fixture(name="house")
def small_house(tmp_path: Path) -> Path:
    for name, text in {"low/a.c": '#include "low/a.h"\n', "low/a.h": "int a; /* a */\n",
                       "high/b.c": '#include "low/a.h"\n#include <stdio.h>\n\n',
                       "high/b.h": "/* Nothing. */\n", "floors": RULES}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def complaints(house: Path) -> list[str]:
    return list(Rules.read(house / "floors").complaints(House.read(house)))


def add(house: Path, name: str, text: str) -> None:
    with (house / name).open("a") as file:
        file.write(text)


def test_a_house_in_order(house: Path) -> None:
    assert not complaints(house)
    drawn = "\n".join(draw("small", House.read(house), Rules.read(house / "floors")))
    assert drawn.startswith("small: 4 files, 4 lines of code")
    assert re.search(r"1  high +2 +2  0\n +0  low +2 +2\n", drawn)


def test_an_arrow_up_needs_a_reason(house: Path) -> None:
    add(house, "low/a.c", '#include "high/b.h"\n')
    assert complaints(house) == ["a.c of low includes high/b.h, which is above it"]
    add(house, "floors", "up low -> high/b.h  since this test wants it\n")
    assert not complaints(house)


def test_a_reason_needs_an_arrow(house: Path) -> None:
    add(house, "floors", "up low -> high/b.h  since this test wants it\n")
    says = "low -> high/b.h has a reason, but does not run up or is not there"
    assert complaints(house) == [says]


@pytest.mark.parametrize(("promises", "says"), [
    ("lines 4 all\n", []),
    ("lines 3 all\n", ["all has 4 lines of code, promised are 3"]),
    ("lines 1,002 all\nlines 2 some: high\n", []),
    ("lines 2 all\nlines 1 some: high\n", ["some has 2 lines of code, promised are 1"]),
    ("lines 1 all\nlines 2 some: high\n", ["all has 2 lines of code, promised are 1"]),
    ("lines 9 all\nlines 2 some: attic\n", ["some has lines of attic, which is no floor"]),
])
def test_a_promise_is_kept(house: Path, promises: str, says: list[str]) -> None:
    """The one without floors is about those that no other names."""
    add(house, "floors", promises)
    assert complaints(house) == says


def test_promises_are_drawn(house: Path) -> None:
    add(house, "floors", "lines 1,002 all\nlines 2 some: high\n")
    drawn = list(draw("small", House.read(house), Rules.read(house / "floors")))
    assert "all: 2 lines of code of at most 1,002 (the other floors)" in drawn
    assert "some: 2 lines of code of at most 2 (high)" in drawn


@pytest.mark.parametrize(("line", "says"), [
    ("floor third  which nobody has built", "third is a folder or a floor, but not both"),
    ("up low -> high/b.h", "this line is neither a floor nor an arrow: up low -> high/b.h"),
])
def test_rules_that_are_wrong(house: Path, line: str, says: str) -> None:
    add(house, "floors", line + "\n")
    assert says in complaints(house)


def test_the_tool() -> None:
    done = subprocess.run([ROOT / "tools" / "floors", "kernel"], text=True, capture_output=True,
                          check=True)
    assert done.stdout.startswith("kernel: ")
    refused = subprocess.run([ROOT / "tools" / "floors", "cellar"], text=True, capture_output=True,
                             check=False)
    assert refused.returncode == 2
    assert "there is no house cellar: there are kernel and servers/ux" in refused.stderr
