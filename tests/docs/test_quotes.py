# SPDX-License-Identifier: MIT
"""Lines of code that the book shows are lines of the function that it names, in their order.

A line `...` stands for any number of lines.  How far a line is indented does not matter.
"""

import re
from pathlib import Path

import pytest
from assay import ROOT

from docs import book

QUOTES = [(page, quote) for page in book.PAGES for quote in book.quotes(page.read_text())]
WALKED = ("docs/messages.md", "docs/virtual-memory.md", "docs/sampling.md")


def function(file: Path, name: str) -> list[str]:
    """The lines between its braces, each without what is around it; of the first of that name."""
    found = re.search(rf"^[^\s#*/][^;{{}}]*?\b{name}\([^;{{}}()]*\)\n\{{\n(.*?)^\}}",
                      file.read_text(), re.MULTILINE | re.DOTALL)
    return [" ".join(line.split()) for line in found[1].splitlines()] if found else []


def is_at(part: list[str], lines: list[str], at: int) -> bool:
    return lines[at:at + len(part)] == part


def strange(quote: book.Quote, lines: list[str]) -> str:
    """The first line of a part that is not there, behind those before it; "" if all are."""
    parts: list[list[str]] = [[]]
    for line in quote.lines:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    at = 0
    for part in parts:
        while part and part[-1] == "":
            part.pop()
        place = next((place for place in range(at, len(lines)) if is_at(part, lines, place)), None)
        if place is None:
            return next((line for line in part if line not in lines), part[0])
        at = place + len(part)
    return ""


@pytest.mark.parametrize(("page", "quote"), QUOTES,
                         ids=[f"{page.stem}-{quote.name}" for page, quote in QUOTES])
def test_the_lines_are_the_source_s(page: Path, quote: book.Quote) -> None:
    lines = function(ROOT / quote.file, quote.name)
    assert lines, f"{page}: {quote.file} has no {quote.name}()"
    line = strange(quote, lines)
    assert not line, f"{page}: not so in {quote.name}() of {quote.file}: {line}"


def test_what_matters_is_walked_through() -> None:
    for name in WALKED:
        assert len([page for page, _ in QUOTES if page == ROOT / name]) >= 5, name


@pytest.mark.parametrize(("shown", "is_wrong"), [
    ("    if (a)\n            b();\n", False),
    ("    if (a)\n    ...\n    d();\n", False),
    ("    if (a)\n    d();\n", True),
    ("    d();\n    ...\n    if (a)\n", True),
    ("    b();\n    c();\n", True),
    ("    e();\n", True),
])
def test_what_is_a_quote(tmp_path: Path, shown: str, is_wrong: bool) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(int a)\n{\n\tif (a)\n\t\tb();\n\n\tc();\n\td();\n}\n\n"
                    "int g(void)\n{\n\te();\n}\n")
    quote, = book.quotes(f"From `a.c`, `f()`:\n\n{shown}")
    assert bool(strange(quote, function(file, "f"))) == is_wrong
