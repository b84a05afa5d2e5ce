# SPDX-License-Identifier: MIT
"""The floors of a house: folders of sources, and which of them include headers of which.

A house is a folder with a file `floors`, whose lines say

    floor NAME                 what it is        from the ground up; NAME is a folder, or `.`
    up FLOOR -> HEADER         why               an arrow that may run up
    lines NUMBER NAME: FLOOR...                  how many lines of code these floors have at most;
                                                 without `: FLOOR...` those that no other line names
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, NamedTuple

HOUSES = ("kernel", "servers/ux")
SOURCES = (".c", ".h", ".S")

INCLUDE = re.compile(r'^#\s*include\s*"([^"]+)"', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FLOOR = re.compile(r"floor (\S+)\s+(\S.*)")
UP = re.compile(r"up (\S+) -> (\S+)\s+(\S.*)")
PROMISE = re.compile(r"lines ([\d,]+) +([^:]+?)(?:: +(\S.*))?")


def lines_of_code(text: str) -> int:
    """Lines with more on them than a comment."""
    return sum(1 for line in COMMENT.sub("", text).splitlines() if line.strip())


class Arrow(NamedTuple):
    floor: str
    header: str

    @property
    def to(self) -> str:
        return str(Path(self.header).parent)


class Promise(NamedTuple):
    """How many lines of code the floors of a part of the house have at most."""

    most: int
    part: str
    floors: list[str]  # Empty: those of no other promise.


@dataclass
class House:
    """What is: for each floor its files and lines of code, and the arrows with who draws them."""

    files: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    lines: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    arrows: dict[Arrow, list[str]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, folder: Path) -> "House":
        house = cls()
        for path in sorted(folder.rglob("*")):
            if path.suffix in SOURCES:
                house.add(folder, path)
        return house

    def add(self, folder: Path, path: Path) -> None:
        floor, text = str(path.parent.relative_to(folder)), path.read_text()
        self.files[floor] += 1
        self.lines[floor] += lines_of_code(text)
        for header in INCLUDE.findall(text):
            arrow = Arrow(floor, header)
            if (folder / header).is_file() and arrow.to != floor:
                self.arrows[arrow].append(path.name)


@dataclass
class Rules:
    """What should be."""

    floors: dict[str, str] = field(default_factory=dict)  # From the ground up, with what they are.
    reasons: dict[Arrow, str] = field(default_factory=dict)
    promises: list[Promise] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "Rules":
        rules = cls()
        for line in path.read_text().splitlines():
            if floor := FLOOR.fullmatch(line):
                rules.floors[floor[1]] = floor[2]
            elif up := UP.fullmatch(line):
                rules.reasons[Arrow(up[1], up[2])] = up[3]
            elif promise := PROMISE.fullmatch(line):
                rules.promises.append(Promise(int(promise[1].replace(",", "")), promise[2],
                                              (promise[3] or "").split()))
            elif line and not line.startswith("#"):
                rules.unread.append(line)
        return rules

    def runs_up(self, arrow: Arrow) -> bool:
        order = list(self.floors)
        return order.index(arrow.to) > order.index(arrow.floor)

    def lines(self, house: House, promise: Promise) -> int:
        """The lines of code that the promise is about."""
        named = [floor for other in self.promises for floor in other.floors]
        floors = promise.floors or set(house.lines) - set(named)
        return sum(house.lines[floor] for floor in floors)

    def broken_promises(self, house: House) -> Iterator[str]:
        for promise in self.promises:
            if wrong := set(promise.floors) - set(self.floors):
                yield f"{promise.part} has lines of {', '.join(sorted(wrong))}, which is no floor"
            elif (lines := self.lines(house, promise)) > promise.most:
                yield f"{promise.part} has {lines:,} lines of code, promised are {promise.most:,}"

    def complaints(self, house: House) -> Iterator[str]:
        yield from (f"this line is neither a floor nor an arrow: {line}" for line in self.unread)
        unknown = sorted(set(house.files) ^ set(self.floors))
        if unknown:
            yield from (f"{name} is a folder or a floor, but not both" for name in unknown)
            return
        up = {arrow for arrow in house.arrows if self.runs_up(arrow)}
        for floor, header in sorted(up - set(self.reasons)):
            names = ", ".join(house.arrows[Arrow(floor, header)])
            yield f"{names} of {floor} includes {header}, which is above it"
        for floor, header in sorted(set(self.reasons) - up):
            yield f"{floor} -> {header} has a reason, but does not run up or is not there"
        yield from self.broken_promises(house)


def draw(name: str, house: House, rules: Rules) -> Iterator[str]:
    """The floors from the roof down, each with the numbers of those below that it stands on."""
    numbers = {floor: number for number, floor in enumerate(rules.floors)}
    width = max(map(len, rules.floors))
    yield f"{name}: {sum(house.files.values())} files, {sum(house.lines.values()):,} lines of code"
    yield ""
    yield f"     {'':{width}} files  lines  stands on"
    for floor in reversed(rules.floors):
        below = {numbers[arrow.to] for arrow in house.arrows
                 if arrow.floor == floor and arrow.to in numbers and not rules.runs_up(arrow)}
        yield (f"{numbers[floor]:3}  {floor:{width}} {house.files[floor]:5} "
               f"{house.lines[floor]:6,}  {' '.join(map(str, sorted(below)))}".rstrip())
    if rules.promises:
        yield ""
    for promise in rules.promises:
        floors = " ".join(promise.floors) or "the other floors"
        yield (f"{promise.part}: {rules.lines(house, promise):,} lines of code of at most "
               f"{promise.most:,} ({floors})")
    up = {arrow: names for arrow, names in house.arrows.items()
          if arrow.to in numbers and rules.runs_up(arrow)}
    yield ""
    yield (f"{sum(map(len, house.arrows.values()))} arrows between floors, "
           f"{sum(map(len, up.values()))} of them up:")
    for arrow in [*rules.reasons, *sorted(set(up) - set(rules.reasons))]:
        reason = rules.reasons.get(arrow, "no reason")
        yield f"  {arrow.floor} -> {arrow.header}: {reason}"
    yield ""
