# SPDX-License-Identifier: MIT
"""A whole class: many submissions at once, as a table for programs and a page for people.

Both are the teacher's: what hidden tests say is in them.
"""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Iterable, Optional

from assay import ToolError
from assay.grade import Assignment, Report, Verdict


@dataclass(frozen=True)
class Graded:
    """One of a class: a report, or why there is none."""

    name: str
    report: Optional[Report]
    problem: str = ""
    pictures: tuple[tuple[str, str], ...] = ()  # Their files' names, and the SVGs.


def grade_all(assignment: Assignment, folders: Iterable[Path], jobs: int, secret: bytes,
              keep: Optional[Path]) -> list[Graded]:
    """In the order of the folders' names; what fails for one is no reason to stop."""
    ordered = sorted(folders, key=lambda folder: folder.resolve().name)
    names = [folder.resolve().name for folder in ordered]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise ToolError(f"several folders are called {' and '.join(sorted(doubled))}")

    def one(folder: Path) -> Graded:
        name = folder.resolve().name
        mine = keep / name if keep else None
        try:
            report = assignment.grade(folder, secret, mine)
        except (ToolError, OSError) as error:
            return Graded(name, None, str(error))
        kept = [file for verdict in report.verdicts for file in verdict.kept
                if file.endswith(".svg")]
        return Graded(name, report, "", tuple(
            (file, (mine / file).read_text(encoding="utf-8")) for file in kept))

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, ordered))


def table(assignment: Assignment, graded: list[Graded]) -> str:
    """CSV: a line for each submission, a column for each test."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["submission", "points", "worth", *(test.name for test in assignment.tests),
                     "error"])
    for one in graded:
        if one.report is None:
            points = [""] * (2 + len(assignment.tests))
        else:
            points = [one.report.points, one.report.worth,
                      *(verdict.points for verdict in one.report.verdicts)]
        errors = [verdict.name for verdict in one.report.verdicts if verdict.is_error] \
            if one.report else [one.problem]
        writer.writerow([harmless(one.name), *points, harmless("; ".join(errors))])
    return text.getvalue()


def harmless(cell: str) -> str:
    """A spreadsheet would execute what begins like a formula."""
    return f"'{cell}" if cell[:1] in tuple("=+-@\t\r") else cell


# ---------------- The page ----------------

STYLE = """
body { font-family: sans-serif; margin: 2em; max-width: 75em }
table { border-collapse: collapse } td, th { border: 1px solid #bbb; padding: .2em .6em }
td.points { text-align: right } .full { background: #dfd } .none { background: #fdd }
.part { background: #ffd } pre { white-space: pre-wrap } svg { max-width: 100% }
"""


def page(assignment: Assignment, graded: list[Graded]) -> str:
    """HTML in one file, which needs no other."""
    heads = "".join(f"<th>{escape(test.name)}<br>{test.points}</th>" for test in assignment.tests)
    whole = [one.report.points for one in graded if one.report]
    mean = f", {sum(whole) / len(whole):.1f} points in the mean" if whole else ""
    return "\n".join([
        '<!DOCTYPE html>', '<html lang="en"><head><meta charset="utf-8">',
        f"<title>{escape(assignment.title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(assignment.title)}</h1>",
        f"<p>{len(graded)} submissions{mean}.</p>",
        f"<table><tr><th>submission</th><th>points</th>{heads}</tr>",
        *(row(number, one, len(assignment.tests)) for number, one in enumerate(graded)),
        "</table>", *(details(number, one) for number, one in enumerate(graded)),
        "</body></html>"]) + "\n"


def row(number: int, one: Graded, tests: int) -> str:
    link = f'<td><a href="#s{number}">{escape(one.name)}</a></td>'
    if one.report is None:
        return f'<tr>{link}<td class="none" colspan="{tests + 1}">not graded</td></tr>'
    cells = "".join(cell(verdict.points, verdict.worth) for verdict in one.report.verdicts)
    return f"<tr>{link}{cell(one.report.points, one.report.worth)}{cells}</tr>"


def cell(points: int, worth: int) -> str:
    kind = "full" if points == worth else "none" if not points else "part"
    return f'<td class="points {kind}">{points}</td>'


def details(number: int, one: Graded) -> str:
    lines = [f'<h2 id="s{number}">{escape(one.name)}</h2>']
    if one.report is None:
        return "\n".join([*lines, f"<p>Not graded: {escape(one.problem)}</p>"])
    pictures = dict(one.pictures)
    lines.append(f"<p>{one.report.points} of {one.report.worth} points</p><ul>")
    for verdict in one.report.verdicts:
        lines.append(item(verdict))
        lines += [pictures[file] for file in verdict.kept if file in pictures]
    return "\n".join([*lines, "</ul>"])


def item(verdict: Verdict) -> str:
    said = f"<pre>{escape(verdict.message)}</pre>" if verdict.message else ""
    kind = " (hidden)" if verdict.hidden else ""
    return f"<li>{verdict.points}/{verdict.worth} {escape(verdict.name)}{kind}{said}</li>"
