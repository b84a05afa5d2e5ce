# SPDX-License-Identifier: MIT
"""Reports of grading in the forms that people and other programs read.

None of them has a time or a name of this host: the same report is the same text, in UTF-8.
"""

import json
import xml.etree.ElementTree as xml
from typing import Callable

from assay.grade import Report, Verdict

PRACTICE = " (practice: the inputs are no secret)"


def text(report: Report) -> str:
    """For people: a line for each test, with what it says and which files were kept."""
    report = report.for_students()
    lines = [report.title + (PRACTICE if report.practice else "")]
    for verdict in report.verdicts:
        mark = "ERROR" if verdict.is_error else "ok" if verdict.passed else "FAILED"
        lines.append(f"  {verdict.points:3}/{verdict.worth:<3} {verdict.name}: {mark}")
        lines += [f"          {line}" for line in verdict.message.splitlines()]
        if verdict.kept:
            lines.append(f"          kept: {', '.join(verdict.kept)}")
    lines.append(f"{report.points} of {report.worth} points")
    return "\n".join(lines) + "\n"


def tap(report: Report) -> str:
    """The Test Anything Protocol, version 13, with the escapes that version 14 has written down."""
    report = report.for_students()
    lines = ["TAP version 13", f"1..{len(report.verdicts)}"]
    for number, verdict in enumerate(report.verdicts, 1):
        name = verdict.name.replace("\\", "\\\\").replace("#", "\\#")
        lines.append(f"{'ok' if verdict.passed else 'not ok'} {number} - {name}")
        lines += ["  ---", f"  points: {verdict.points}", f"  worth: {verdict.worth}"]
        if verdict.message:
            lines.append(f"  message: {json.dumps(verdict.message, ensure_ascii=False)}")
        lines.append("  ...")
    return "\n".join(lines) + "\n"


def junit(report: Report) -> str:
    """JUnit's XML as junit-10.xsd of Jenkins has it, and GitLab reads it.  Times are the machine's.

    A test's is that of the runs which no test before it has asked for.
    """
    report = report.for_students()
    failed = [verdict for verdict in report.verdicts if not verdict.passed]
    suite = xml.Element("testsuite", name=report.title, tests=str(len(report.verdicts)),
                        failures=str(len(failed) - report.errors), errors=str(report.errors),
                        skipped="0", time=f"{report.seconds:.3f}")
    for verdict in report.verdicts:
        case = xml.SubElement(suite, "testcase", classname=report.title, name=verdict.name,
                              time=f"{verdict.seconds:.3f}")
        if not verdict.passed:
            kind = "error" if verdict.is_error else "failure"
            failure = xml.SubElement(case, kind, type=kind, message=first_line(verdict))
            failure.text = verdict.message
    root = xml.Element("testsuites")
    root.append(suite)
    xml.indent(root)
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            + xml.tostring(root, encoding="unicode") + "\n")


def first_line(verdict: Verdict) -> str:
    return verdict.message.partition("\n")[0]


def gradescope(report: Report) -> str:
    """The results.json that Gradescope's autograder looks for.

    All is said to be text: of a submission's whole it would be HTML otherwise.  Hidden tests are
    there for instructors, whom Gradescope alone shows them.
    """
    tests = [{
        "name": verdict.name,
        "number": str(number),
        "score": verdict.points,
        "max_score": verdict.worth,
        "status": "passed" if verdict.passed else "failed",
        "output": verdict.message,
        "visibility": "hidden" if verdict.hidden else "visible",
    } for number, verdict in enumerate(report.verdicts, 1)]
    return json.dumps({
        "score": report.points,
        "execution_time": round(report.seconds, 3),
        "output": f"{report.title}: {report.points} of {report.worth} points",
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "tests": tests,
    }, indent=2) + "\n"


def classroom(report: Report) -> str:
    """What GitHub Classroom's reporter takes, in base64, for a runner: points are added up by test.

    Whoever handed in sees it, in the workflow's log.
    """
    report = report.for_students()
    tests = [{
        "name": verdict.name,
        "status": "error" if verdict.is_error else "pass" if verdict.passed else "fail",
        "score": verdict.points,
        "message": f"{verdict.points} of {verdict.worth} points\n{verdict.message}".strip(),
        "test_code": "",
        "filename": "",
        "line_no": 0,  # None: these are no lines of a program's.
        "duration": round(verdict.seconds, 3),
    } for verdict in report.verdicts]
    status = "error" if report.errors else "pass" if report.passed else "fail"
    return json.dumps({"version": 1, "status": status, "max_score": report.worth, "tests": tests},
                      indent=2) + "\n"


FORMS: dict[str, Callable[[Report], str]] = {
    "text": text, "tap": tap, "junit": junit, "gradescope": gradescope,
    "classroom": classroom,
}
