# SPDX-License-Identifier: MIT
"""A house as a picture: its floors one on the other, and the arrows that run up beside them.

It is made from the house's file `floors` alone, so that it changes with the house and not with
each line of code.
"""

from html import escape
from itertools import cycle

from .floors import Rules

ROW, GAP = 26, 4  # Of a floor, and between two.
LEFT, TOP = 10, 40
WIDTH, NAME = 640, 120  # Of a floor, and of its name.
REACH = 26  # How far an arrow goes out for each floor that it passes.
COLOURS = ("#b03030", "#2060a0", "#207040", "#8a5a00", "#703090", "#107878")
STYLE = """text { font: 13px sans-serif; fill: #202020; }
.name { font-family: monospace; font-weight: bold; }
.floor { fill: #f2efe6; stroke: #8a8478; }
.up { fill: none; stroke-width: 1.3; }"""


def pairs(rules: Rules) -> list[tuple[str, str]]:
    """From which floor to which an arrow may run up, each once, the longest first."""
    order = list(rules.floors)
    found = {(arrow.floor, arrow.to) for arrow in rules.reasons if arrow.to in rules.floors}
    return sorted(found, key=lambda pair: (order.index(pair[0]) - order.index(pair[1]), pair))


def tops(rules: Rules) -> dict[str, int]:
    """Where each floor's box begins; the roof is above."""
    return {floor: TOP + n * (ROW + GAP) for n, floor in enumerate(reversed(rules.floors))}


def box(floor: str, what: str, top: int) -> str:
    middle = top + ROW * 2 // 3
    return (f'<rect class="floor" x="{LEFT}" y="{top}" width="{WIDTH}" height="{ROW}" rx="3"/>\n'
            f'<text class="name" x="{LEFT + 8}" y="{middle}">{escape(floor)}</text>\n'
            f'<text x="{LEFT + NAME}" y="{middle}">{escape(what)}</text>\n')


def arrow(start: int, end: int, colour: str) -> str:
    """A curve from one floor's right edge to a higher one's, which ends in a small triangle."""
    right, out = LEFT + WIDTH, LEFT + WIDTH + REACH * max(1, (start - end) // (ROW + GAP)) // 2
    low, high = start + ROW // 3, end + ROW * 2 // 3
    return (f'<path class="up" stroke="{colour}" d="M {right} {low} C {out} {low}, {out} {high}, '
            f'{right + 7} {high}"/>\n'
            f'<path fill="{colour}" d="M {right} {high} l 8 -4 v 8 z"/>\n')


def svg(name: str, rules: Rules) -> str:
    places = tops(rules)
    height = TOP + len(places) * (ROW + GAP) + 10
    width = LEFT + WIDTH + REACH * len(places) // 2
    colours = dict(zip(rules.floors, cycle(COLOURS)))
    parts = [box(floor, rules.floors[floor], top) for floor, top in places.items()]
    parts += [arrow(places[low], places[high], colours[low]) for low, high in pairs(rules)]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">\n'
            f'<style>{STYLE}</style>\n'
            f'<rect width="{width}" height="{height}" fill="white"/>\n'
            f'<text x="{LEFT}" y="24">{escape(name)}/: each floor leans on those below it; an '
            f'arrow is an exception that has a reason</text>\n'
            f'{"".join(parts)}</svg>\n')
