# SPDX-License-Identifier: MIT
"""Tables of the book that give numbers to names: messages by id, traps by number and arguments."""

import re
from pathlib import Path

import pytest
from assay import ROOT

from docs import claims, test_interfaces

DOCS = ROOT / "docs"
MESSAGE = re.compile(r"^\| (\d{4}) \| `(\w+)`", re.MULTILINE)
TRAP = re.compile(r"^\| (\d+) \| `(\w+)` \|([^|]*)\|", re.MULTILINE)


def messages() -> dict[int, str]:
    """Of all interfaces of Mach's."""
    found: dict[int, str] = {}
    for path in test_interfaces.interfaces():
        found |= test_interfaces.defined(path)[1]
    return found


@pytest.mark.parametrize("page", [page for page in sorted(DOCS.rglob("*.md"))
                                  if page != test_interfaces.PAGE and
                                  MESSAGE.search(page.read_text())], ids=lambda page: page.stem)
def test_messages_have_the_ids_of_the_definitions(page: Path) -> None:
    known = messages()
    for id_, name in MESSAGE.findall(page.read_text()):
        assert known[int(id_)] == name


@pytest.mark.parametrize(("page", "name", "said"), [
    ("tasks.md", "exception_raise", "message {} ---"),
    ("sampling.md", "samples", "message {}, pages moved"),
    ("calls/prof.md", "samples", "(id {})"),
])
def test_ids_in_the_text_are_those_too(page: str, name: str, said: str) -> None:
    id_, = (id_ for id_, known in messages().items() if known == name)
    assert said.format(id_) in claims.plain((DOCS / page).read_text())


def test_an_answer_s_id_is_a_hundred_more() -> None:
    id_, = (id_ for id_, known in messages().items() if known == "exception_raise")
    assert f"gets message {id_ + 100} <---" in claims.plain((DOCS / "tasks.md").read_text())


def numbers() -> dict[str, int]:
    """Of traps, by the names that the headers have for them."""
    text = "".join((ROOT / "include" / folder / "traps.h").read_text()
                   for folder in ("mach", "assay"))
    return {name: int(number)
            for name, number in re.findall(r"^#define TRAP_(\w+) +(\d+)", text, re.MULTILINE)}


def test_the_traps_are_those_that_the_library_calls() -> None:
    stubs = re.findall(r"^STUB\((\w+), TRAP_(\w+)\);", (ROOT / "lib" / "traps.c").read_text(),
                       re.MULTILINE)
    of_library = {(numbers()[trap], name) for name, trap in stubs if name != "null_trap"}
    of_page = {(int(number), name)
               for number, name, _ in TRAP.findall((DOCS / "traps-table.md").read_text())}
    assert len(of_page) > 30 and of_page == of_library


def test_traps_take_as_many_arguments_as_the_table_says() -> None:
    table = dict(re.findall(r"\[TRAP_ROW\(TRAP_(\w+)\)\] *= TRAP\(\w+, (\d+)\)",
                            (ROOT / "kernel" / "task" / "traps.c").read_text()))
    words = {numbers()[name]: int(count) for name, count in table.items()}
    for number, name, arguments in TRAP.findall((DOCS / "traps-table.md").read_text()):
        told = [one for one in re.split(r", (?!out\))", arguments.strip()) if one]
        if not arguments.strip().startswith("as "):
            assert len(told) == words[int(number)], name


def test_arguments_that_the_book_tells_are_those_that_are_known() -> None:
    """The kernel calls any other unknown."""
    source = (ROOT / "kernel" / "base" / "arguments.c").read_text()
    known = re.search(r"\bknown\[\] = \{(.*?)\}", source, re.DOTALL)
    table, _ = (DOCS / "arguments.md").read_text().split("\n\n**", 1)
    told = re.findall(r"^\| `([\w-]+)[^|]*\|", table, re.MULTILINE)
    assert known and set(told) == set(re.findall(r'"([\w-]+)"', known[1]))
