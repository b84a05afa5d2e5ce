# SPDX-License-Identifier: MIT
"""The commands that README.md and the book show: where each is typed, and what is shown of it.

An example is a line of a block of code that begins with `$ ` (a user's, or the host's if it is a
command of this tree) or with `# ` (root's), with what is below it; or a whole block without these,
whose lines are the host's; or a command of the host's in the text.  The block below the title of a
page in docs/commands, docs/tools or docs/calls tells the forms of a command, and words in capitals
are to be replaced: neither is an example.
"""

import re
from pathlib import Path
from typing import Iterator, NamedTuple

from assay import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
BLOCK = re.compile(r"(?<=\n)\n((?:    .*\n)(?:    .*\n|\n(?=    ))*)")
CODE = re.compile(r"`((?:make|\./setup|tools/[\w-]+|out/[\w/-]+) [^`\n]+)`")
HOST = re.compile(r"^(?:\./setup|make|sed|tools/[\w-]+|out/[\w/-]+)(?: |$)", re.MULTILINE)
LOOP = re.compile(r"^(?:for .* do$|printf .*>\w+$)")
FORMS = ("commands", "tools", "calls")
PLACEHOLDER = re.compile(r"(?:^|[ =:/])[A-Z]{1,}(?![\w=/.])|\.\.\.|\[[-A-Z]")
REMARK = re.compile(r"(?<=[^\s\\])(?: {2,}(?!\\)| +# ).*$", re.MULTILINE)


class Example(NamedTuple):
    page: str
    who: str  # host, student or root.
    command: str
    shown: tuple[str, ...]


def plain(text: str) -> str:
    """Without remarks, and each command one line."""
    return re.sub(r" *\\\n *", " ", REMARK.sub("", text))


def of_transcript(page: str, lines: list[str]) -> Iterator[Example]:
    text = "\n".join(lines)
    for mark, part in re.findall(r"^([$#]) ((?:.*\n?)(?:(?![$#] ).*\n?)*)", text, re.MULTILINE):
        command = re.match(r"(?:.*\\\n)*.*", part)[0]
        shown = tuple(part[len(command):].split("\n")[1:])
        command = plain(command)
        who = "host" if HOST.match(command) else {"$": "student", "#": "root"}[mark]
        yield Example(page, who, command, shown)


def of_blocks(path: Path) -> Iterator[Example]:
    page, text = str(path.relative_to(ROOT)), path.read_text()
    is_form = path.parent.name in FORMS
    for block in BLOCK.findall(text):
        lines = [line[4:] for line in block.rstrip("\n").split("\n")]
        if any(re.match(r"[$#] \S", line) for line in lines):
            yield from of_transcript(page, lines)
        elif not is_form and (LOOP.match(lines[0]) or HOST.search("\n".join(lines))):
            whole = plain("\n".join(lines))
            if LOOP.match(lines[0]):
                yield Example(page, "host", whole, ())
            else:
                yield from (Example(page, "host", line, ()) for line in whole.split("\n"))
        is_form = False


def of_page(path: Path) -> Iterator[Example]:
    page, text = str(path.relative_to(ROOT)), path.read_text()
    yield from of_blocks(path)
    for command in CODE.findall(BLOCK.sub("\n", text)):
        if re.search("[='\"]| -", command):  # Not a name such as `make bench`.
            yield Example(page, "host", command, ())


def has_gaps(one: Example) -> bool:
    """Whether words of it are to be replaced."""
    return one.who == "host" and bool(PLACEHOLDER.search(one.command))


def with_gaps() -> list[Example]:
    """What is no example because of that."""
    return [one for one in dict.fromkeys(one for path in PAGES for one in of_page(path))
            if has_gaps(one)]


def examples() -> list[Example]:
    """All, each once a page, in the order of the pages."""
    found = dict.fromkeys(one for path in PAGES for one in of_page(path))
    return [one for one in found if not has_gaps(one)]


class Quote(NamedTuple):
    file: str
    name: str
    lines: tuple[str, ...]


QUOTE = re.compile(r"^From `([\w./-]+)`, `(\w+)\(\)`:\n\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)


def quotes(text: str) -> list[Quote]:
    """Code of the sources that a page shows below a line `From FILE, FUNCTION:`."""
    return [Quote(file, name, tuple(" ".join(line.split()) for line in lines.splitlines()))
            for file, name, lines in QUOTE.findall(text)]
