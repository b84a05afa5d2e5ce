# SPDX-License-Identifier: MIT
"""Each chapter of the book has a figure: a picture, or a block of text with arrows in it."""

import re

import pytest
from assay import ROOT

from docs import book

CONTENTS = (ROOT / "docs" / "README.md").read_text()
CHAPTERS = re.findall(r"^\| \[[^]]*\]\(([\w_-]+\.md)\)",
                      CONTENTS[CONTENTS.index("## Chapters"):CONTENTS.index("## To look")],
                      re.MULTILINE)
WITHOUT = {"libc.md", "threads-library.md"}  # Tables and headers say all there is to draw.
ARROW = re.compile(r"[-<+]-+>|<-+|\+--|\|$", re.MULTILINE)
PICTURE = re.compile(r"!\[[^]]+\]\([\w/]+\.svg\)")


def has_figure(text: str) -> bool:
    blocks = [block for block in book.BLOCK.findall(text) if not re.match(r"    [$#] ", block)]
    return bool(PICTURE.search(text)) or any(len(ARROW.findall(block)) > 2 for block in blocks)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_a_figure(chapter: str) -> None:
    assert has_figure((ROOT / "docs" / chapter).read_text()) == (chapter not in WITHOUT)


def test_there_are_chapters() -> None:
    assert len(CHAPTERS) > 20 and WITHOUT < set(CHAPTERS)
