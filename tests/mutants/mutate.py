# SPDX-License-Identifier: MIT
"""Mutants: sources with one line changed, each as a mistake would have it.

A rule says what becomes of a piece of code.  Comments, strings and preprocessor lines are left
alone, and so are declarations, which a program seldom survives.  Which mutants there are depends on
the sources alone, and which are chosen on those and on the seed.
"""

import random
import re
from pathlib import Path
from typing import Iterator, NamedTuple


class Mutant(NamedTuple):
    """Line `line` of `file` (from 1) becomes `text`."""

    file: str
    line: int
    kind: str
    text: str


class Rule(NamedTuple):
    """Every match of `pattern` in a line of code is one mutant."""

    kind: str
    pattern: re.Pattern
    replacement: str


def rule(kind: str, pattern: str, replacement: str) -> Rule:
    return Rule(kind, re.compile(pattern), replacement)


RULES = (
    *(rule("operator", rf"(?<= ){re.escape(old)}(?= )", new) for old, new in (
        ("==", "!="), ("!=", "=="), ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"),
        ("+", "-"), ("-", "+"), ("&&", "||"), ("||", "&&"), ("+=", "-="), ("-=", "+="),
        ("|=", "="), ("&", "|"))),
    rule("operator", r"\+\+(?=;)", "--"),
    rule("operator", r"--(?=;)", "++"),
    rule("constant", r"(?<![\w.\]])([0-9]+)(?=u?\b(?!\.))", "+1"),
    rule("constant", r"\btrue\b", "false"),
    rule("constant", r"\bfalse\b", "true"),
    rule("condition", r"(?<=\bif )\((?=.*\)(?: \{)?$)", "(!"),
    rule("condition", r"(?<=\bif )\(.*\)(?= \{$|$)", "(0)"),
    rule("removed",
         r"^(?:\t+)(?!return\b|break\b|continue\b|case\b|default\b|goto\b|\}|kernel_pause|pause_)"
         r"(?:[\w>.\-\[\]]+(?:\+\+|--)|[\w>.\-\[\]*]+ [-+|&]?= .*|[a-z]\w*\(.*\));$", ""),
    rule("error code", r"\bKERN_(?!SUCCESS)[A-Z_]+\b", "KERN_NOT_RECEIVER"),
    rule("error code", r"\bMACH_(?:SEND|RCV)_(?:INVALID|NO|TIMED|TOO)_[A-Z_]+\b",
         "MACH_RCV_IN_SET"),
    rule("error code", r"(?<=return )E[A-Z0-9]{2,}(?=;)", "EDOM"),
    rule("error code", r"(?<=return )-E[A-Z0-9]{2,}(?=;)", "-EDOM"),
    rule("pause", r"^\t+(?:kernel_(?:pause|rest)|pause_each(?:_page)?)\(\);$", ""),
    rule("allocation", r"(?<=\bif )\(\w+(?:->\w+)? == NULL\)(?=$)", "(0)"),
)

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
SKIPPED = re.compile(r"^\s*#|^\S|^\t+\.?\w+ = [^;]*,$"
                     r"|^\t*(?:static |const |struct \w+ [\w*]+;|case )"
                     r"|\bassert\(|_Static_assert|\bklog\(|\bpanic\(")


def blank(text: str) -> str:
    """As long as `text`, with what is no code replaced by spaces."""
    return COMMENT_OR_STRING.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def replaced(line: str, match: re.Match, replacement: str) -> str:
    """The line with the match replaced; of a negated condition the end has to follow."""
    if replacement == "+1":
        replacement = str(int(match[0], 8 if match[0].startswith("0") else 10) + 1)
    if replacement == "(!":
        end = line.rstrip(" {").rindex(")")
        return f"{line[:match.start()]}(!({line[match.end():end]}){line[end:]}"
    return line[:match.start()] + replacement + line[match.end():]


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    for number, (line, code) in enumerate(zip(text.split("\n"), blank(text).split("\n")), 1):
        if SKIPPED.search(code):
            continue
        for each in RULES:
            for match in each.pattern.finditer(code):
                mutant = replaced(line, match, each.replacement)
                if mutant != line and not (each.replacement == "+1" and "8" in match[0]
                                           and match[0].startswith("0")):
                    yield Mutant(file, number, each.kind, mutant)


def all_mutants(root: Path, patterns: tuple[str, ...]) -> list[Mutant]:
    files = sorted({path for pattern in patterns for path in root.glob(pattern)})
    return [mutant for path in files
            for mutant in mutants_of(str(path.relative_to(root)), path.read_text())]


def choose(mutants: list[Mutant], seed: int) -> Iterator[Mutant]:
    """All of them in an order of the seed's, each kind in its turn."""
    chance = random.Random(seed)
    kinds = sorted({mutant.kind for mutant in mutants})
    waiting = {kind: [mutant for mutant in mutants if mutant.kind == kind] for kind in kinds}
    for of_kind in waiting.values():
        chance.shuffle(of_kind)
    while any(waiting.values()):
        chance.shuffle(kinds)
        yield from (waiting[kind].pop() for kind in kinds if waiting[kind])


def put_in(root: Path, mutant: Mutant) -> None:
    file = root / mutant.file
    lines = file.read_text().split("\n")
    lines[mutant.line - 1] = mutant.text
    file.write_text("\n".join(lines))
