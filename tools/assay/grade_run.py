# SPDX-License-Identifier: MIT
"""Runs what was handed in, in a machine of its own, and keeps what came of it.

Whoever profiles is root, and starts before the program does: the program can neither write what is
recorded nor end who records it.  Calls are counted by the emulator meanwhile.
"""

import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

from assay import ToolError, hot, machine, unix
from assay.files import Files, Get, Put
from assay.grade_profile import (Failed, Profile, Stack, check, gprof_program, read_counts,
                                 read_stacks, view)
from assay.machine import Result

PROCESSES = 32  # That a program may have at a time.
OUTPUT = 1 << 20  # Bytes that it may print.
ARGUMENTS = 1024  # Characters for the kernel.
PROGRAM = 16 << 20  # Bytes of a program.
SHELL_SIGNAL = 128  # What a shell adds to the signal that ended a command.
NANOSECONDS = 1e9
HOME = "/home/student"
RECORDING = "/root/profile"  # In a folder that is root's alone.
RATE = 4000  # Samples a second.
GRACE = 2  # Seconds of the machine's beyond the limit, until the kernel ends a server that hangs.
OURS = 3  # Processes beside the submission's: who records, and shells.

# The program's first process stops before it is anybody's but root's, so that all is recorded.
COMMANDS = """\
sh -c 'kill -STOP $$; exec su {user} -c {command}' &
P=$!
monctl -for job:$P -stack -on periodic -rate {rate} -record {recording} -bg >/dev/null || exit 125
kill -CONT $P
wait $P
S=$?
while ps -a | grep -q monctl; do sleep 0.05; done
exit $S"""


# What the log says when the Unix server itself has ended, and with it the run.
SERVER_FAILED = re.compile(r'^(?:ux: (?=\S+:\d+: not so: )|task \d+ "ux[\w-]*", thread \d+: )(.*)$',
                           re.MULTILINE)


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


@dataclass
class Run:
    """What came of a program in the machine, and its profile."""

    result: Result
    program: Optional[Path] = None
    inside: str = ""  # Its path in the machine.
    recording: Optional[Path] = None
    counts: Optional[Path] = None
    kernel: Optional[Path] = None
    processes: int = PROCESSES  # That it was allowed.
    stacks: tuple[Stack, ...] = ()  # Of its profile, once that was asked for.
    _profile: Optional[Profile] = field(default=None, repr=False)

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
        log = result.log.decode(errors="replace")
        panics = [line for line in log.splitlines() if line.startswith("panic: ")]
        check(result.outcome != "panic", f"the machine failed: {''.join(panics[:1])}")
        check(result.outcome != "timeout", "did not end in time")
        check(result.outcome != "refused", "the kernel refused to run")
        check(result.outcome != "processes",
              f"wanted to have more than {self.processes} processes at a time")
        check(result.outcome != "output", f"printed {result.message}")
        check(result.outcome != "signal", f"was ended by signal {result.status}")
        check(result.outcome == "exit", "left the machine's disk full, or broken")
        failed = SERVER_FAILED.search(log) if result.status != status else None
        check(failed is None, f"the Unix server failed: {failed and failed[1]}")
        by = result.status - SHELL_SIGNAL if self.program else 0  # A shell ran it.
        check(result.status == status, f"ended with status {result.status}"
              + (f" (by signal {by})" if by > 0 else "") + f", should be {status}")
        return self

    def must_print(self, text: str, tell: bool = False) -> "Run":
        """With `tell` the message has both texts: for inputs that everybody knows."""
        self.must_end()
        if self.output != text.encode():
            raise Failed(difference(self.output, text.encode()) if tell else
                         "printed something else than it should")
        return self

    def profile(self) -> Profile:
        """Of a program that ended by itself."""
        self.must_end()
        if self._profile is None:
            if self.program is None or self.recording is None:
                raise ToolError("profile() is of run(..., profiled=True)")
            document = view(gprof_program(), self.program, self.recording)
            self.stacks = tuple(read_stacks(document, self.inside))
            self._profile = Profile(self.stacks, self.executed(self.program))
        return self._profile

    def executed(self, program: Path) -> dict:
        """Counts of a program's functions: calls and instructions, all of them."""
        if self.counts is None:
            raise ToolError("nothing was counted in this run")
        return read_counts(self.counts, program, machine.find_kernel(self.kernel))


SHOWN = 400  # Characters of an output that a message quotes.


def quoted(data: bytes) -> str:
    text = data.decode(errors="replace")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")


def difference(found: bytes, wanted: bytes) -> str:
    """Between an output and what it should be; of long ones the first line that is another."""
    if max(len(found), len(wanted)) <= SHOWN:
        return f"printed {quoted(found)}, should be {quoted(wanted)}"
    ours, theirs = (data.splitlines(keepends=True) + [None] for data in (found, wanted))
    number, (one, other) = next((number, pair) for number, pair in enumerate(zip(ours, theirs), 1)
                                if pair[0] != pair[1])
    one, other = ("the end" if line is None else quoted(line) for line in (one, other))
    return f"line {number} of its output is {one}, should be {other}"


# ---------------- Machines ----------------

def check_arguments(append: str) -> str:
    """The kernel's arguments, which may be what somebody handed in."""
    check(len(append) <= ARGUMENTS, f"more than {ARGUMENTS:,} characters are no arguments for the "
          "kernel")
    check(append.isascii() and append.isprintable(),
          "arguments for the kernel are one line of printable ASCII characters")
    return append


def bounded(most: int, run: Any, *words: Any, **options: Any) -> Result:
    """What run() says; the outcome is `output` if more is printed, or too much is logged.

    How far the machine came then depends on when the host looked: so nothing tells of it.
    """
    output, log = Bounded(most), Bounded(max(most, OUTPUT))
    try:
        return run(*words, output_to=output, log_to=log, **options)
    except TooMuchOutput as error:
        return Result("output", 0, bytes(output.data[:most]), b"", str(error), None, (), None)


def plugin(counts: Path, kernel: Optional[Path]) -> str:
    return hot.plugin_option(counts, hot.Image("kernel", machine.find_kernel(kernel),
                                               is_kernel=True))


def run_unix(program: Path, arguments: str, folder: Path, put: list[Put], *, user: str,
             processes: int, profiled: bool, kernel: Optional[Path], output: int,
             **options: Any) -> Run:
    """A shell command under the Unix server; its files for us go to a new folder."""
    folder.mkdir()
    inside = f"/tmp/{program.name}"
    command = f"cd {HOME} && {inside} {arguments}"
    files = Files(put=(Put(program, inside), *put))
    if not profiled:
        result = bounded(output, unix.run, command, user=user, processes=processes, files=files,
                         kernel=kernel, grace=GRACE, **options)
        return Run(result, program, inside, kernel=kernel, processes=processes)
    recording, counts = folder / "recording", folder / "counts"
    quoted_twice = shlex.quote(command).replace("'", "'\"'\"'")
    script = COMMANDS.format(user=user, recording=RECORDING, rate=RATE, command=quoted_twice)
    result = bounded(output, unix.run, script, grace=GRACE, user="root", processes=processes + OURS,
                     files=replace(files, get=(Get(RECORDING, recording),)), kernel=kernel,
                     plugin=plugin(counts, kernel), **options)
    return Run(result, program, inside, recording, counts, kernel, processes)


def run_boot(commands: list[str], folder: Path, *, output: int, kernel: Optional[Path],
             **options: Any) -> Run:
    """Programs that need no Unix server, beside each other."""
    folder.mkdir()
    counts = folder / "counts"
    result = bounded(output, machine.run, commands, plugin=plugin(counts, kernel), kernel=kernel,
                     **options)
    return Run(result, counts=counts, kernel=kernel)
