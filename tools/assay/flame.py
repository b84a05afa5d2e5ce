# SPDX-License-Identifier: MIT
"""Draws a profile: a flame graph as one SVG, which every browser shows.

A box is a function, its width the samples in it and in what it called; callers are below.
"""

import zlib
from html import escape
from typing import Iterable, Protocol

WIDTH, HEIGHT, EDGE = 1000, 17, 10  # Of the picture and of a box, and around all.
LETTER = 6.6  # As wide as the font's.
NARROWEST = 0.5  # Box that is drawn.


class Sampled(Protocol):
    flavor: str
    count: int
    functions: tuple[str, ...]  # Innermost first.


class Box:
    """A function, called by those below."""

    def __init__(self) -> None:
        self.count = 0
        self.above: dict[str, Box] = {}

    def add(self, functions: Iterable[str], count: int) -> None:
        box = self
        box.count += count
        for name in functions:
            box = box.above.setdefault(name, Box())
            box.count += count

    @property
    def depth(self) -> int:
        return 1 + max((box.depth for box in self.above.values()), default=0)


DEEPEST = 60  # Functions of a stack, from the outside, that are drawn.


def draw(stacks: Iterable[Sampled], title: str, flavor: str = "periodic") -> str:
    root = Box()
    for stack in stacks:
        if stack.flavor == flavor:
            root.add(stack.functions[:-DEEPEST - 1:-1], stack.count)
    rows = root.depth
    height = 2 * EDGE + (rows + 2) * HEIGHT
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 2 * EDGE} {height}" '
             f'width="{WIDTH + 2 * EDGE}" height="{height}" font-family="monospace" '
             'font-size="11">',
             f'<text x="{EDGE}" y="{EDGE + 12}">{escape(title)}: {root.count} samples</text>']
    if root.count:
        place(lines, "all", root, EDGE, EDGE + (rows + 1) * HEIGHT, WIDTH / root.count, root.count)
    return "\n".join([*lines, "</svg>"]) + "\n"


def place(lines: list[str], name: str, box: Box, x: float, y: float, scale: float,
          total: int) -> None:
    """A box and all above it; in the order of their names, so that pictures can be compared."""
    width = box.count * scale
    if width < NARROWEST:
        return
    tone = zlib.crc32(name.encode()) % 55
    label = escape(name if len(name) * LETTER < width else name[:max(0, int(width / LETTER) - 1)])
    lines.append(f'<g><title>{escape(name)}: {box.count} samples, {box.count / total:.1%}</title>'
                 f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT - 1}" '
                 f'fill="hsl({tone},85%,65%)"/><text x="{x + 3:.1f}" y="{y + 12}">{label}</text>'
                 '</g>')
    for above, other in sorted(box.above.items()):
        place(lines, above, other, x, y - HEIGHT, scale, total)
        x += other.count * scale
