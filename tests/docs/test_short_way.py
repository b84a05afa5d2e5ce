# SPDX-License-Identifier: MIT
"""The short way through the book: its sections are there, and are as many pages as it says."""

import re
from pathlib import Path

from assay import ROOT

from docs import test_docs

PAGE = ROOT / "docs" / "short-way.md"
SECTION = re.compile(r"\]\(([\w-]+\.md)#([\w-]+)\)")
WORDS = 450  # Of a page, as it says itself.
PAGES = range(27, 34)


def section(page: Path, anchor: str) -> str:
    """What is below the heading that the anchor names, up to the next heading."""
    text = page.read_text()
    for part in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        heading = part.partition("\n")[0].lstrip("# ")
        if re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") == anchor:
            return part
    return ""


def test_it_is_as_long_as_it_says() -> None:
    found = SECTION.findall(PAGE.read_text())
    sections = [(ROOT / "docs" / name, anchor) for name, anchor in found]
    assert len(sections) > 30 and len(set(sections)) == len(sections)
    lengths = [len(section(page, anchor).split()) for page, anchor in sections]
    assert all(length > 50 for length in lengths)
    assert sum(lengths) // WORDS in PAGES, sum(lengths) / WORDS
    assert f"A page here is {WORDS} words." in PAGE.read_text()


def test_all_walks_are_on_it() -> None:
    """What is told line by line is what one should not miss."""
    on_it = set(SECTION.findall(PAGE.read_text()))
    for page in ROOT.glob("docs/*.md"):
        for anchor in test_docs.anchors(page):
            if anchor.endswith("line-by-line"):
                assert (page.name, anchor) in on_it


def test_links_lead_somewhere() -> None:
    assert not test_docs.broken_links(PAGE)
