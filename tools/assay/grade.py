# SPDX-License-Identifier: MIT
"""Grading: runs what students hand in, in the machine, and judges output and profiles.

A grading script makes an Assignment and gives it tests:

    assignment = Assignment("Words")

    @assignment.test("counts the words", points=10)
    def counts(submission):
        run = submission.run(submission.build("words.c"), "</tmp/text", put={"/tmp/text": TEXT})
        run.must_print("3\\n")

All runs are on the instruction clock: the same submission gets the same verdict and the same text
every time, on every host.  docs/tools/grade.md is the manual.
"""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Callable, Collection, Mapping, Optional

from assay import OUT, ToolError, unix
from assay.files import Files, Get, Put
from assay.machine import Result

LIMIT = 10.0  # Seconds of the machine's that a run may take.
PROCESSES = 32  # That it may have at a time.
OUTPUT = 1 << 20  # Bytes that it may print.
SIGMAS = 4.0  # Standard errors that a share may be off: by chance, once in 15,000 times.
FEW = 30  # Samples with which nothing can be said.
COMPILE_LIMIT = 60  # Seconds of the host's.
SHELL_SIGNAL = 128  # What a shell adds to the signal that ended a command.
SHOWN = 400  # Characters of an output that a message quotes.
NANOSECONDS = 1e9
HOME = "/home/student"
OF_PROFILING = ("mcount",)  # Functions that count calls: no part of what was handed in.
FLAGS = ("-std=gnu11", "-O1", "-g", "-fno-inline")


class Failed(Exception):
    """A submission is not as it should be; the message is for who handed it in."""


def check(condition: object, message: str) -> None:
    if not condition:
        raise Failed(message)


def standard_error(share: float, samples: int) -> float:
    """How far a share is off in the mean, of which so many samples were taken."""
    return (share * (1 - share) / samples) ** 0.5


def printable(message: str) -> str:
    """Without control characters: XML cannot say most, and a terminal would obey."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "?" for sign in message)


def quoted(data: bytes) -> str:
    text = data.decode(errors="replace")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")


def difference(found: bytes, wanted: bytes) -> str:
    """Between an output and what it should be; of long ones the first line that is another."""
    if max(len(found), len(wanted)) <= SHOWN:
        return f"printed {quoted(found)}, should be {quoted(wanted)}"
    lines = zip_longest(found.splitlines(keepends=True), wanted.splitlines(keepends=True))
    number, (one, other) = next((number, pair) for number, pair in enumerate(lines, 1)
                                if pair[0] != pair[1])
    one, other = ("the end" if line is None else quoted(line) for line in (one, other))
    return f"line {number} of its output is {one}, should be {other}"


# ---------------- Profiles ----------------

class Profile:
    """What gprof says of a program and its gmon.out."""

    def __init__(self, document: Mapping[str, Any]):
        names = [entry["name"] for entry in document["functions"]]
        self.counts: dict[str, int] = document["counts"]
        self._flavors = [entry["name"] for entry in document["flavors"]]
        self._own = [dict[str, int]() for _ in self._flavors]
        for entry in document["functions"]:
            if entry["name"] in OF_PROFILING:
                continue
            for own, count in zip(self._own, entry["self"]):
                own[entry["name"]] = own.get(entry["name"], 0) + count
        self._calls: dict[tuple[str, str], int] = {}
        for call in document["calls"]:
            pair = names[call["caller"]], names[call["callee"]]
            self._calls[pair] = self._calls.get(pair, 0) + call["count"]

    def samples(self, *functions: str, flavor: str = "periodic") -> int:
        """Of these functions together; without any of all."""
        if flavor not in self._flavors:
            return 0
        own = self._own[self._flavors.index(flavor)]
        return sum(own.get(name, 0) for name in functions) if functions else sum(own.values())

    def share(self, *functions: str, flavor: str = "periodic") -> float:
        """Their part of all samples, between 0 and 1."""
        total = self.samples(flavor=flavor)
        return self.samples(*functions, flavor=flavor) / total if total else 0.0

    def calls(self, function: str, caller: Optional[str] = None) -> int:
        """How often a function was called; by anybody, or by one other."""
        return sum(count for (by, called), count in self._calls.items()
                   if called == function and caller in (None, by))

    def callers(self, function: str) -> set[str]:
        return {by for (by, called), count in self._calls.items() if called == function and count}

    # ---- What may be asked of it; each raises Failed ----

    def must_have_share(self, *functions: str, at_least: float = 0.0, at_most: float = 1.0,
                        sigmas: float = SIGMAS, flavor: str = "periodic") -> None:
        """The true share is in these bounds, as far as so many samples can tell."""
        total, share = self.samples(flavor=flavor), self.share(*functions, flavor=flavor)
        check(total >= FEW, f"only {total} samples were taken: the program ended too soon")
        name = " and ".join(functions)
        for bound, is_wrong, word in ((at_least, share < at_least, "at least"),
                                      (at_most, share > at_most, "at most")):
            tolerance = sigmas * standard_error(bound, total)
            check(not is_wrong or abs(share - bound) <= tolerance,
                  f"{name}: {share:.1%} of {total} samples, should be {word} {bound:.1%}"
                  f" (within {tolerance:.1%}, for chance)")

    def must_call(self, function: str, times: int, caller: Optional[str] = None,
                  within: int = 0) -> None:
        """Calls are counted, not sampled: they can be asked for exactly."""
        calls = self.calls(function, caller)
        by = f" by {caller}" if caller else ""
        check(abs(calls - times) <= within,
              f"{function} was called {calls} times{by}, should be {times}"
              + (f" (within {within})" if within else ""))

    def must_call_at_most(self, function: str, times: int) -> None:
        calls = self.calls(function)
        check(calls <= times, f"{function} was called {calls} times, should be at most {times}")

    def must_be_called_by(self, function: str, callers: Collection[str]) -> None:
        found = self.callers(function)
        check(found == set(callers),
              f"{function} is called by {', '.join(sorted(found)) or 'nobody'},"
              f" should be by {', '.join(sorted(callers))}")


# ---------------- Runs ----------------

class TooMuchOutput(Exception):
    """A program goes on printing.  It takes the host longer than the machine."""


class Bounded:
    """Takes what a machine writes while it runs, and ends it if that is too much."""

    def __init__(self, most: int):
        self.most = most
        self.data = bytearray()

    def __call__(self, new: bytes) -> None:
        self.data += new
        if len(self.data) > self.most:
            raise TooMuchOutput(f"more than {self.most:,} bytes")


@dataclass(frozen=True)
class Run:
    """What came of a program in the machine, and its profile."""

    result: Result
    program: Path
    gmon: Optional[Path]
    processes: int = PROCESSES  # That it was allowed.

    @property
    def output(self) -> bytes:
        return self.result.output

    @property
    def seconds(self) -> float:
        """Of the machine's time, its start included."""
        return (self.result.instructions or 0) / NANOSECONDS

    def must_end(self, status: int = 0) -> "Run":
        """By itself, with that status."""
        result = self.result
        panics = [line for line in result.log.decode(errors="replace").splitlines()
                  if line.startswith("panic: ")]
        check(result.outcome != "panic", f"the machine failed: {''.join(panics[:1])}")
        check(result.outcome != "timeout", "did not end in time")
        check(result.outcome != "processes",
              f"wanted to have more than {self.processes} processes at a time")
        check(result.outcome != "output", f"printed {result.message}")
        check(result.outcome != "signal", f"was ended by signal {result.status}")
        check(result.outcome == "exit", f"did not run: {result.message}")
        by = result.status - SHELL_SIGNAL
        check(result.status == status, f"ended with status {result.status}"
              + (f" (by signal {by})" if by > 0 else "") + f", should be {status}")
        return self

    def must_print(self, text: str) -> "Run":
        self.must_end()
        if self.output != text.encode():
            raise Failed(difference(self.output, text.encode()))
        return self

    def profile(self) -> Profile:
        """The profile of the program that was built with one."""
        self.must_end()
        check(self.gmon is not None, "left no profile (gmon.out)")
        done = subprocess.run([OUT / "bin" / "gprof", "--view=json", "--any-date", self.program,
                               self.gmon], capture_output=True, text=True, errors="replace",
                              check=False)
        check(done.returncode == 0, f"left a profile that cannot be read: {done.stderr.strip()}")
        return Profile(json.loads(done.stdout))


def run_bounded(most: int, commands: str, **options: Any) -> Result:
    """As unix.run() does; the outcome is `output` if more is printed, or too much is logged.

    How far the machine came then depends on when the host looked: so nothing tells of it.
    """
    output, log = Bounded(most), Bounded(max(most, OUTPUT))
    try:
        return unix.run(commands, output_to=output, log_to=log, **options)
    except TooMuchOutput as error:
        return Result("output", 0, bytes(output.data[:most]), b"", str(error), None, (), None)


class Submission:
    """A folder that was handed in.  Tests share its builds and runs: each is made once."""

    def __init__(self, path: Path, scratch: Path):
        self.path = path
        self.scratch = scratch
        self.seconds = 0.0
        self._done: dict[object, Any] = {}

    def _once(self, key: object, make: Callable[[], Any]) -> Any:
        """What was made, or why it could not be."""
        if key not in self._done:
            try:
                self._done[key] = make()
            except Failed as failed:
                self._done[key] = failed
        if isinstance(self._done[key], Failed):
            raise Failed(str(self._done[key]))
        return self._done[key]

    def text(self, name: str, default: Optional[str] = None) -> str:
        """A file that was handed in."""
        file = self.path / name
        check(file.is_file() or default is not None, f"{name} was not handed in")
        return file.read_text(errors="replace").strip() if file.is_file() else default

    def build(self, *sources: str, profiled: bool = True) -> Path:
        """Compiles a program of these files; with calls counted and time sampled if `profiled`."""
        return self._once(("build", sources, profiled), lambda: self._build(sources, profiled))

    def _build(self, sources: Collection[str], profiled: bool) -> Path:
        flags = [*FLAGS, *(["-pg"] if profiled else [])]
        name = Path(next(iter(sources))).stem
        program = self.scratch / (name + (".pg" if profiled else ""))
        objects = [self.scratch / f"{number}.o" for number in range(len(sources))]
        for source, made in zip(sources, objects):
            check((self.path / source).is_file(), f"{source} was not handed in")
            self._compile(*flags, "-c", "-o", made, source)
        self._compile(*flags, "-o", program, *objects)
        return program

    def _compile(self, *words: object) -> None:
        """Its messages are the same everywhere: in one language, with no names of this host's."""
        compiler = (OUT / "sdk" / "bin" / "ux-cc").absolute()  # It runs in another folder.
        try:
            done = subprocess.run([compiler, *words], cwd=self.path, capture_output=True, text=True,
                                  errors="replace", env=os.environ | {"LC_ALL": "C"},
                                  timeout=COMPILE_LIMIT, check=False)
        except subprocess.TimeoutExpired:
            raise Failed("compiling took too long") from None
        said = done.stderr.replace(f"{self.scratch}/", "").replace(f"{self.path}/", "").strip()
        check(done.returncode == 0, f"does not compile:\n{said}")

    def run(self, program: Path, arguments: str = "", *, put: Optional[Mapping[str, str]] = None,
            limit: float = LIMIT, append: str = "", cpus: int = 1, user: str = "student",
            processes: int = PROCESSES, output: int = OUTPUT) -> Run:
        """Runs it as a shell command in a machine of its own; `limit` is in the machine's time.

        `put` are more files for the machine: their text by their path.  It may have so many
        `processes` at a time, the shell among them, and print so many bytes of `output`.
        """
        files = tuple(sorted((put or {}).items()))
        key = ("run", program, arguments, files, limit, append, cpus, user, processes, output)
        return self._once(key, lambda: self._run(program, arguments, files, output, limit=limit,
                                                 append=append, cpus=cpus, user=user,
                                                 processes=processes))

    def _run(self, program: Path, arguments: str, files: tuple[tuple[str, str], ...], most: int,
             **options: Any) -> Run:
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        inside = f"/tmp/{program.name}"
        put = [Put(program, inside)]
        for number, (guest, text) in enumerate(files):
            (folder / str(number)).write_text(text)
            put.append(Put(folder / str(number), guest))
        gmon, profile = folder / "gmon.out", f"{HOME}/gmon.out"
        gmon.touch()  # A program that does not come to its end leaves this one.
        put.append(Put(gmon, profile))
        result = run_bounded(most, f"cd {HOME} && {inside} {arguments}",
                             files=Files(put=tuple(put), get=(Get(profile, gmon),)), **options)
        self.seconds += (result.instructions or 0) / NANOSECONDS
        return Run(result, program, gmon if gmon.stat().st_size else None, options["processes"])


# ---------------- Assignments ----------------

@dataclass(frozen=True)
class Test:
    name: str
    points: int
    function: Callable[[Submission], None]


@dataclass(frozen=True)
class Verdict:
    """Of one test."""

    name: str
    points: int  # Given, of
    worth: int
    message: str  # Why not all; "" if all.
    is_error: bool = False  # Of the grading script's.
    seconds: float = 0.0  # The machine's, of the runs that no test before has asked for.

    @property
    def passed(self) -> bool:
        return self.points == self.worth and not self.message


@dataclass(frozen=True)
class Report:
    """Of one submission."""

    title: str
    verdicts: tuple[Verdict, ...]
    seconds: float  # The machine's, of all runs.

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


@dataclass
class Assignment:
    """Its title, and tests in the order in which they were written down."""

    title: str
    tests: list[Test] = field(default_factory=list)

    def test(self, name: str, points: int) -> Callable:
        """Makes a function a test: all points if it returns, none if it raises Failed."""
        if not name or name != printable(name).strip() or "\n" in name:
            raise ValueError(f"a test's name is one line of text, not {name!r}")
        if name in (test.name for test in self.tests):
            raise ValueError(f"there are two tests called {name!r}")  # GitLab shows one of them.
        if not points >= 0:
            raise ValueError(f"{name}: {points} points: there are no fewer than 0")

        def add(function: Callable[[Submission], None]) -> Callable[[Submission], None]:
            self.tests.append(Test(name, points, function))
            return function
        return add

    def grade(self, path: Path) -> Report:
        """Runs all tests on a submission."""
        if not path.is_dir():
            raise ToolError(f"{path} is no folder with a submission")
        with tempfile.TemporaryDirectory(prefix="assay.") as scratch:
            submission = Submission(path.resolve(), Path(scratch))
            verdicts = tuple(self._time(test, submission) for test in self.tests)
            return Report(self.title, verdicts, submission.seconds)

    def _time(self, test: Test, submission: Submission) -> Verdict:
        before = submission.seconds
        verdict = self._judge(test, submission)
        return replace(verdict, seconds=submission.seconds - before)

    @staticmethod
    def _judge(test: Test, submission: Submission) -> Verdict:
        try:
            test.function(submission)
        except Failed as failed:
            return Verdict(test.name, 0, test.points, printable(str(failed)))
        except (ToolError, OSError):
            raise
        except (Exception, SystemExit) as error:  # The other tests are none the worse.
            return Verdict(test.name, 0, test.points, is_error=True, message=printable(
                f"the grading script fails: {type(error).__name__}: {error}"))
        return Verdict(test.name, test.points, test.points, "")
