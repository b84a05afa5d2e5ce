# SPDX-License-Identifier: MIT
"""Grading: runs what students hand in, in the machine, and judges output and profiles.

A grading script makes an Assignment and gives it tests:

    assignment = Assignment("Words", files=["words.c"])

    @assignment.test("counts the words", points=10)
    def counts(submission):
        run = submission.run(submission.build("words.c"), "</tmp/text", put={"/tmp/text": TEXT})
        run.must_print("3\\n")

All runs are on the instruction clock: the same submission gets the same verdict and the same text
every time, on every host.  docs/tools/grade.md is the manual.
"""

import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Callable, Iterable, Optional

from assay import ToolError
from assay.grade_profile import Failed, Profile, check
from assay.grade_run import Run, difference
from assay.grade_submission import Submission, printable, snapshot

__all__ = ["Assignment", "Failed", "Profile", "Report", "Run", "Submission", "Verdict", "check",
           "difference", "each"]


@dataclass(frozen=True)
class Test:
    name: str
    points: int
    function: Callable[[Submission], None]
    hidden: bool = False


@dataclass(frozen=True)
class Verdict:
    """Of one test."""

    name: str
    points: int  # Given, of
    worth: int
    message: str  # Why not all; "" if all.
    is_error: bool = False  # Of the grading script's.
    seconds: float = 0.0  # The machine's, of the runs that no test before has asked for.
    hidden: bool = False  # Who handed it in is told the points and nothing else.
    kept: tuple[str, ...] = ()  # Files with its profiles.

    @property
    def passed(self) -> bool:
        return self.points == self.worth and not self.message


@dataclass(frozen=True)
class Report:
    """Of one submission."""

    title: str
    verdicts: tuple[Verdict, ...]
    seconds: float  # The machine's, of all runs.
    practice: bool = False  # On inputs that everybody can know.

    @property
    def points(self) -> int:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def worth(self) -> int:
        return sum(verdict.worth for verdict in self.verdicts)

    @property
    def errors(self) -> int:
        return sum(verdict.is_error for verdict in self.verdicts)

    @property
    def passed(self) -> bool:
        return all(verdict.passed for verdict in self.verdicts)

    def for_students(self) -> "Report":
        """Without what hidden tests say.  Our own errors are no secret, what they say may be."""
        return replace(self, verdicts=tuple(
            replace(verdict, message="" if verdict.passed else "(a hidden test)", kept=())
            if verdict.hidden else verdict for verdict in self.verdicts))


def each(*parts: tuple[str, Callable[[], object]]) -> None:
    """Tries all parts, (name, function), and gives each its share of the points."""
    messages = []
    for name, part in parts:
        try:
            part()
        except Failed as failed:
            messages.append(f"{name}: {failed}")
    if messages:
        raise Failed("\n".join(messages), earned=1 - len(messages) / len(parts))


@dataclass
class Assignment:
    """Its title, what may be handed in, and tests in the order in which they were written down."""

    title: str
    files: Iterable[str] = ("*",)  # Their names, or patterns of names.
    tests: list[Test] = field(default_factory=list)

    def test(self, name: str, points: int, hidden: bool = False) -> Callable:
        """Makes a function a test: all points if it returns, none if it raises Failed."""
        if not name or name != printable(name).strip() or "\n" in name:
            raise ValueError(f"a test's name is one line of text, not {name!r}")
        if name in (test.name for test in self.tests):
            raise ValueError(f"there are two tests called {name!r}")  # GitLab shows one of them.
        if not points >= 0:
            raise ValueError(f"{name}: {points} points: there are no fewer than 0")

        def add(function: Callable[[Submission], None]) -> Callable[[Submission], None]:
            self.tests.append(Test(name, points, function, hidden))
            return function
        return add

    def grade(self, path: Path, secret: bytes = b"", keep: Optional[Path] = None) -> Report:
        """Runs all tests on a submission; profiles and pictures of them go to `keep`."""
        if not path.is_dir():
            raise ToolError(f"{path} is no folder with a submission")
        with tempfile.TemporaryDirectory(prefix="assay.") as name:
            scratch = Path(name)
            refused = snapshot(path.resolve(), scratch / "handed-in", self.files)
            submission = Submission(scratch / "handed-in", scratch, secret, refused)
            verdicts = tuple(self._time(test, number, submission, keep)
                             for number, test in enumerate(self.tests, 1))
            return Report(self.title, verdicts, submission.seconds, not secret)

    def _time(self, test: Test, number: int, submission: Submission,
              keep: Optional[Path]) -> Verdict:
        before = submission.seconds
        verdict = replace(self._judge(test, submission), hidden=test.hidden)
        kept = tuple(submission.keep_profiles(keep, number, test.name)) if keep else ()
        return replace(verdict, seconds=submission.seconds - before, kept=kept)

    @staticmethod
    def _judge(test: Test, submission: Submission) -> Verdict:
        try:
            submission.check_refused()
            test.function(submission)
        except Failed as failed:
            earned = int(test.points * failed.earned + 1e-9)
            return Verdict(test.name, earned, test.points, printable(str(failed)))
        except (ToolError, OSError):
            raise
        except (Exception, SystemExit) as error:  # The other tests are none the worse.
            return Verdict(test.name, 0, test.points, is_error=True, message=printable(
                f"the grading script fails: {type(error).__name__}: {error}"))
        return Verdict(test.name, test.points, test.points, "")


def read_secret(path: Path) -> bytes:
    """What a teacher keeps, so that nobody knows the inputs before."""
    secret = path.read_bytes().strip()
    if not secret:
        raise ToolError(f"{path} is empty: `openssl rand -hex 16 >{path}` makes a secret")
    if os.stat(path).st_mode & 0o004:
        raise ToolError(f"{path} can be read by everybody: `chmod 600 {path}`")
    return secret
