# SPDX-License-Identifier: MIT
"""What the book says of the sources in numbers, lists and orders: read from tests/docs/claims.

That file's lines are under the page that they are about, which a line `[PAGE]` names:

    value FILE | text {expression} text    the page says so, with the value that FILE's compiler has
                                           for the expression in place of the braces
    names FILE | regular expression        every name that its group finds in FILE is on the page
    calls FILE FUNCTION | NAME NAME        FUNCTION in FILE calls these in this order, and the page
                                           names them
    lines FILE | LINE ;; LINE              these lines are in FILE, in this order, and on the page
    story FILE FUNCTION | HEADING          the page's section names all that FUNCTION calls, each in
                                           a statement of its own, in this order

A value may be written in digits, with or without commas, in hexadecimal or in a word.  What the
page says may go over the ends of lines.
"""

import re
import struct
import subprocess
from functools import cache
from pathlib import Path
from typing import Iterator, NamedTuple

from assay import OUT, ROOT

TABLE = ROOT / "tests" / "docs" / "claims"
KINDS = ("value", "names", "calls", "lines", "story")
SLOT = re.compile(r"\{([^{}]+)\}")
WORDS = ("no one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
         "fifteen sixteen seventeen eighteen nineteen twenty").split()
LOGGED = {"klog"}  # Is told of by what it prints.

COMPILER = ("i686-linux-gnu-gcc", "-std=gnu11", "-O1", "-w", "-ffreestanding", "-fno-pic",
            "-mgeneral-regs-only")
MADE = tuple(f"-I{OUT / 'gen' / folder}" for folder in ("kernel", "user", "messages"))
FLAGS = {
    "kernel": ("-DKERNEL", "-Ikernel", *MADE, "-Iinclude"),
    "servers": ("-DUX_SERVER", "-Iservers/ux", "-Ilibprof", "-Ilib", *MADE[1:], "-Iinclude"),
    "libprof": ("-isystem", "lib/libc/include", "-Ilibprof", "-Ilib", *MADE[1:], "-Iinclude"),
    "include": ("-Ikernel", "-Iinclude"),
}


class Claim(NamedTuple):
    page: str
    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.page}: {self.kind} {self.where} | {self.what}"


def read(text: str) -> Iterator[Claim]:
    page = ""
    for line in text.splitlines():
        if line.startswith("["):
            page = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            where, _, what = line.partition(" | ")
            kind, _, where = where.strip().partition(" ")
            assert page and kind in KINDS and where and what, f"no claim: {line}"
            yield Claim(page, kind, where.strip(), what.strip())


def claims() -> list[Claim]:
    return list(read(TABLE.read_text()))


def plain(text: str) -> str:
    return " ".join(text.split())


# ---------------- Values ----------------

def units(found: list[Claim]) -> dict[tuple[str, ...], list[str]]:
    """The expressions by the files they are compiled behind: all headers of a kind together."""
    wanted: dict[tuple[str, ...], dict[str, None]] = {}
    headers: dict[str, tuple[str, ...]] = {}
    names = dict.fromkeys(claim.where for claim in found if claim.kind == "value")
    for name in names:
        if name.endswith(".h"):
            root = name.split("/", 1)[0]
            headers[root] = (*headers.get(root, ()), name)
    for claim in found:
        if claim.kind == "value":
            name = claim.where
            unit = headers[name.split("/", 1)[0]] if name.endswith(".h") else (name,)
            wanted.setdefault(unit, {}).update(dict.fromkeys(SLOT.findall(claim.what)))
    return {unit: list(those) for unit, those in wanted.items()}


def compiled(unit: tuple[str, ...], those: list[str],
             folder: Path) -> subprocess.CompletedProcess:
    """What the compiler says of a table of the expressions behind these files, one in a line."""
    includes = "".join(f'#include "{ROOT / name}"\n' for name in unit)
    lines = "".join(f"(long long)({one}),\n" for one in those)
    (folder / "values.c").write_text(
        f"{includes}const long long values_of_the_book[] __attribute__((section(\".book\"))) = {{\n"
        f"#line 1\n{lines}}};\n")
    flags = FLAGS[unit[0].split("/", 1)[0]]
    return subprocess.run([*COMPILER, *flags, "-c", "-o", folder / "values.o",
                           folder / "values.c"], cwd=ROOT, text=True, capture_output=True,
                          check=False)


def evaluate(unit: tuple[str, ...], those: list[str], folder: Path) -> dict[str, int]:
    """What each is worth there; those are left out that mean nothing there."""
    done = compiled(unit, those, folder)
    if done.returncode != 0:
        bad = {int(line) - 1 for line in re.findall(r"values\.c:(\d+):\d+: error", done.stderr)}
        those = [one for n, one in enumerate(those) if n not in bad]
        done = compiled(unit, those, folder)
    assert done.returncode == 0, done.stderr
    section_ = folder / "values"
    subprocess.run(["i686-linux-gnu-objcopy", "-O", "binary", "-j", ".book", folder / "values.o",
                    section_], check=True)
    return dict(zip(those, struct.unpack(f"<{len(those)}q", section_.read_bytes())))


def values_of(found: list[Claim], folder: Path) -> dict[str, dict[str, int]]:
    """By file, what each expression is worth there."""
    values: dict[str, dict[str, int]] = {}
    for unit, those in units(found).items():
        known = evaluate(unit, those, folder)
        for name in unit:
            values[name] = known
    return values


def forms(value: int) -> list[str]:
    """How a value may be written."""
    written = [f"{value:,}", str(value), f"0x{value & 0xffffffff:02x}",
               f"0x{value & 0xffffffff:08x}"]
    return written + ([WORDS[value]] if 0 <= value < len(WORDS) else [])


def pattern(what: str, slot) -> re.Pattern:
    parts = SLOT.split(plain(what))
    return re.compile("".join(slot(part) if n % 2 else re.escape(part)
                              for n, part in enumerate(parts)), re.IGNORECASE)


def wrong_value(claim: Claim, text: str, values: dict[str, int]) -> str:
    unknown = [one for one in SLOT.findall(claim.what) if one not in values]
    if unknown:
        return f"{claim}\n  means nothing in {claim.where}: {', '.join(unknown)}"

    def true_form(one: str) -> str:
        return rf"(?<![\d,])(?:{'|'.join(map(re.escape, forms(values[one])))})(?![\d,]\d|\d)"

    if pattern(claim.what, true_form).search(plain(text)):
        return ""
    said = pattern(claim.what, lambda one: r"([\w,]+)").search(plain(text))
    true = ", ".join(f"{one} is {values[one]:,}" for one in SLOT.findall(claim.what))
    return f"{claim}\n  the page says {said.groups() if said else 'no such thing'}; {true}"


# ---------------- Names, calls and orders ----------------

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


@cache
def source(name: str) -> str:
    """Without comments and strings."""
    return COMMENT.sub("", (ROOT / name).read_text())


def body(name: str, function: str) -> str:
    """What is between a function's braces; "" if there is no such function."""
    found = re.search(rf"^[^\s#][^;{{}}]*?\b{function}\([^;{{}}]*\)\n\{{\n(.*?)^\}}", source(name),
                      re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def in_order(names: list[str], form: str, text: str) -> str:
    """The first that does not come, in that form, behind those before it; "" if all do."""
    at = 0
    for name in names:
        found = re.compile(form.replace("NAME", name)).search(text, at)
        if not found:
            return name
        at = found.end()
    return ""


def wrong_names(claim: Claim, text: str) -> str:
    names = set(re.findall(claim.what, (ROOT / claim.where).read_text(), re.MULTILINE))
    missing = sorted(name for name in names if not re.search(rf"\b{name}\b", text))
    if not names:
        return f"{claim}\n  finds nothing in {claim.where}"
    return f"{claim}\n  not on the page: {', '.join(missing)}" if missing else ""


def wrong_calls(claim: Claim, text: str) -> str:
    name, function = claim.where.split()
    called = body(name, function)
    if not called:
        return f"{claim}\n  {name} has no function {function}()"
    first = in_order(claim.what.split(), r"\bNAME\(", called)
    if first:
        return f"{claim}\n  {function}() does not call {first}() there"
    missing = [one for one in claim.what.split() if not re.search(rf"\b{one}\b", text)]
    return f"{claim}\n  not on the page: {', '.join(missing)}" if missing else ""


def wrong_lines(claim: Claim, text: str) -> str:
    """What stands behind a line, on the page or in the file, does not matter."""
    lines = [re.escape(plain(line)) for line in claim.what.split(";;")]
    for place, where in ((source(claim.where), claim.where), (text, "the page")):
        first = in_order(lines, "NAME", plain(place))
        if first:
            return f"{claim}\n  not in {where}, or not at its place: {first}"
    return ""


def section(text: str, heading: str) -> str:
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def wrong_story(claim: Claim, text: str) -> str:
    name, function = claim.where.split()
    steps = re.findall(r"^\t(\w+)\(", body(name, function), re.MULTILINE)
    steps = [step for step in steps if step not in LOGGED]
    told = section(text, claim.what)
    if not steps or not told:
        return f"{claim}\n  there is no such function, or no such section"
    first = in_order(steps, r"`NAME\(", told)
    return f"{claim}\n  not told, or not at its place: {first}()" if first else ""
