# SPDX-License-Identifier: MIT
"""What a run of a test program says about each of its tests.

Nothing here runs anything: a Run goes in, a Verdict per test comes out.  A test passes only if the
program said so.  What a program leaves unsaid, because it crashed, was stopped or forgot it, fails.
"""

import re
from dataclasses import dataclass, field

LINE = re.compile(r"^(ok|not ok|skip) (\w+)(?:: (.*))?$")
DONE = re.compile(r"^done (\d+) (\d+)$")

LOG_TAIL = 40  # Lines of log shown with a failure that the program itself does not explain.


@dataclass(frozen=True)
class Run:
    """What one run of a program left behind."""

    output: str  # What it printed.
    status: int = 0  # What it ended with,
    ended: bool = True  # if it came that far;
    ending: str = "ended by itself"  # in words, for messages.
    log: str = ""  # The kernel's log, or the host program's standard error.
    counts: tuple[tuple[str, int, int], ...] | None = None  # Name, before, after; None on the host.


@dataclass(frozen=True)
class Verdict:
    """What became of one test: passed, failed or skipped, and why."""

    outcome: str
    message: str = ""


@dataclass
class Report:
    """A program's output, read."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    done: tuple[int, int] | None = None
    repeated: list[str] = field(default_factory=list)


def read_output(output: str) -> Report:
    """Reads the lines that tests/lib/check.h promises and passes over all others.

    Remarks (`# NAME: ...`) go to the message of the test that failed just before.
    """
    report = Report()
    last_failed = None
    for line in output.splitlines():
        if match := LINE.match(line):
            word, name, text = match.groups()
            if name in report.verdicts:
                report.repeated.append(name)
            outcome = {"ok": "passed", "not ok": "failed", "skip": "skipped"}[word]
            report.verdicts[name] = Verdict(outcome, text or "")
            last_failed = name if outcome == "failed" else None
        elif match := DONE.match(line):
            report.done = (int(match[1]), int(match[2]))
        elif last_failed and line.startswith(f"# {last_failed}: "):
            verdict = report.verdicts[last_failed]
            text = line.removeprefix(f"# {last_failed}: ")
            report.verdicts[last_failed] = Verdict("failed", f"{verdict.message}\n{text}")
    return report


def log_tail(run: Run) -> str:
    """The end of the log, where a panic leaves its backtrace, and of the output."""
    parts = []
    for title, text in (("output", run.output), ("log", run.log)):
        lines = text.splitlines()[-LOG_TAIL:]
        if lines:
            parts.append(f"-- end of {title} --\n" + "\n".join(lines))
    return "\n".join(parts)


def judge_test(run: Run, name: str) -> Verdict:
    """The verdict on one test."""
    verdict = read_output(run.output).verdicts.get(name)
    if verdict is None:
        return Verdict("failed", f"{name} reported nothing; the run {run.ending}\n{log_tail(run)}")
    if verdict.outcome == "failed" and not run.ended:
        return Verdict("failed", f"{verdict.message}\nthe run {run.ending}\n{log_tail(run)}")
    return verdict


def unbalanced(counts: tuple[tuple[str, int, int], ...]) -> list[str]:
    """Every count that is not after the run what it was before."""
    return [
        f"balance: {name} {before} -> {after}" for name, before, after in counts if before != after
    ]


def faults(run: Run, expected: tuple[str, ...]) -> list[str]:
    """What is wrong with the run as a whole; nothing, if it may be believed."""
    report = read_output(run.output)
    failed = sum(verdict.outcome == "failed" for verdict in report.verdicts.values())
    passed = sum(verdict.outcome == "passed" for verdict in report.verdicts.values())
    found = []
    if not run.ended:
        found.append(f"the run {run.ending}")
    elif run.status != (1 if failed else 0):
        found.append(f"{failed} tests failed, and the program's status is {run.status}")
    if report.done is None:
        found.append("there is no line `done PASSED FAILED`")
    elif report.done != (passed, failed):
        found.append(f"`done {report.done[0]} {report.done[1]}` after {passed} passed and {failed}"
                     " failed tests")
    found += [f"{name} reported twice" for name in report.repeated]
    found += [f"{name} reported, but is no TEST in the source"
              for name in report.verdicts if name not in expected]
    if run.counts is not None:
        found += unbalanced(run.counts) or ([] if run.counts else ["balance: no counts"])
    return found


def judge_run(run: Run, expected: tuple[str, ...]) -> Verdict:
    """The verdict on the run as a whole: that it ended, that it adds up, that it balances."""
    found = faults(run, expected)
    if found:
        return Verdict("failed", "\n".join(found) + "\n" + log_tail(run))
    return Verdict("passed")
