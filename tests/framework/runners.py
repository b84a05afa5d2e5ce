# SPDX-License-Identifier: MIT
"""The two ways to run a test program: in a machine of its own, and on the host."""

import contextlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Iterator

from assay import OUT, ToolError, machine
from assay.setup import Disk

from framework.judge import Run
from framework.program import Configuration, Program

# A host program that takes this long, in seconds, hangs.  None is near it on the slowest machine.
HOST_LIMIT = 300

# A status that no test program gives, so that a sanitizer's end is not taken for a failed test.
SANITIZER_STATUS = 99

# How a machine's run ended that did not end by itself, in words that follow `the run`.
ENDINGS = {
    "panic": "ended in a panic",
    "timeout": "took too long",
    "refused": "was refused by the kernel",
    "tool-error": "failed for a reason outside the machine",
}


def describe(result: machine.Result) -> str:
    """How this run ended; a status from 128 on is that of an exception."""
    if result.outcome == "exit":
        return f"ended by itself with status {result.status}"
    return ENDINGS[result.outcome] + (f": {result.message}" if result.message else "")


@contextlib.contextmanager
def parameters_of(configuration: Configuration) -> Iterator[dict]:
    """What machine.run takes, with a disk of the wanted size that goes with the run."""
    parameters = dict(configuration.parameters)
    size = parameters.pop("disk", 0)
    parameters["instruction_ns"] = parameters.pop("ns", 1)
    with tempfile.NamedTemporaryFile(prefix="assay.") as file:
        if size:
            file.truncate(size << 20)
            parameters["disks"] = [Disk(Path(file.name))]
        yield parameters


def run_in_guest(program: Program, configuration: Configuration, names: tuple[str, ...]) -> Run:
    """Boots a machine with this program, and the modules that it wants beside it."""
    command = " ".join((f"{program.area}/{program.name}", *names, configuration.arguments))
    try:
        with parameters_of(configuration) as parameters:
            result = machine.run([*configuration.modules, command], **parameters)
    except ToolError as error:
        return Run("", ended=False, ending=f"could not start: {error}")
    return Run(
        output=result.output.decode(errors="replace"),
        status=result.status,
        ended=result.outcome == "exit",
        ending=describe(result),
        log=result.log.decode(errors="replace"),
        counts=result.counts,
    )


def run_on_host(program: Program, _: Configuration, names: tuple[str, ...]) -> Run:
    """Runs a program that was built with AddressSanitizer and UBSan."""
    environment = os.environ | {
        "ASAN_OPTIONS": f"exitcode={SANITIZER_STATUS}",
        "UBSAN_OPTIONS": f"halt_on_error=1:print_stacktrace=1:exitcode={SANITIZER_STATUS}",
    }
    try:
        result = subprocess.run([OUT / program.built, *names], env=environment, text=True,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                timeout=HOST_LIMIT)
    except OSError as error:
        return Run("", ended=False, ending=f"could not start: {error}")
    except subprocess.TimeoutExpired as error:
        return Run((error.stdout or b"").decode(), ended=False, ending="took too long")
    if result.returncode < 0:
        ending = f"was ended by {signal.Signals(-result.returncode).name}"
    else:
        ending = f"ended with status {result.returncode}"
    return Run(result.stdout, result.returncode, result.returncode >= 0, ending, result.stderr)
