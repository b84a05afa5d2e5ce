# SPDX-License-Identifier: MIT
"""Runs Assay's kernel in a machine of its own and says what came of it.

`run(["hello a b"])` is the whole interface: it finds the programs, makes a private folder, starts
the emulator, follows what the machine writes and returns a Result.  Any number of runs may go on at
once; they share nothing.  tools/guest is this module for the command line.
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Iterable, Optional

from assay import bochs, qemu
from assay.files import Files, fetch, make_image
from assay.process import Follower
from assay.programs import find_kernel, read_command, stage
from assay.report import Count, Report
from assay.setup import Disk, Ending, Setup

EMULATORS = {"qemu": qemu.run, "bochs": bochs.run}
DEFAULT_MEM = 256  # MiB
DEFAULT_LIMIT = 60  # Seconds

Sink = Optional[Callable[[bytes], None]]


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    outcome: str  # exit, signal (Unix commands only), panic, timeout, refused or tool-error
    status: int  # The programs' own, if the outcome is exit; the signal; else 0.
    output: bytes  # What the programs wrote.
    log: bytes  # What the kernel wrote.
    message: str  # What neither of them says: why a machine had to be stopped.
    instructions: Optional[int]  # Under the instruction clock: from the kernel's entry to its end.
    counts: tuple[Count, ...]  # What must balance.
    report: Optional[Report]  # All that the kernel left; None after an early death, and on Bochs.


def run(
    programs: Iterable[str],
    *,
    cpus: int = 1,
    mem: int = DEFAULT_MEM,
    icount: bool = True,
    seed: int = 0,
    append: str = "",
    machine: str = "pc",
    limit: float = DEFAULT_LIMIT,
    accel: str = "auto",
    firmware: str = "direct",
    emulator: str = "qemu",
    plugin: str = "",
    kernel: Optional[Path] = None,
    disks: Iterable[Disk] = (),
    files: Files = Files(),
    output_to: Sink = None,
    log_to: Sink = None,
    instruction_ns: int = 1,
) -> Result:
    """Boots the kernel with these programs (`PROG ARGS` each) and waits for the end.

    Under the instruction clock (`icount`, QEMU only) `limit` is in seconds of the guest, otherwise
    of the host; 0 is none.  An instruction takes `instruction_ns` there, a power of two.  Disks
    work at the host's pace, so a run that uses one does not repeat to the byte.  `files` are what
    the RAM disk rd0 holds, and what is copied out of it after the run.  The sinks get output and
    log while the machine runs.  A machine that cannot be started raises ToolError; whatever happens
    after that is a Result.
    """
    files.check()
    setup = Setup(
        find_kernel(kernel), tuple(map(read_command, programs)), append, cpus, mem, machine,
        icount and emulator == "qemu", accel, seed, limit, firmware, emulator, absolute(plugin),
        tuple(disks), instruction_ns=instruction_ns,
    )
    with tempfile.TemporaryDirectory(prefix="assay.") as name:
        directory = Path(name)
        if files:
            setup = with_files(setup, files, directory / "files")
        console = Follower(directory / "com0", output_to)
        log = Follower(directory / "com1", log_to)

        def follow() -> None:
            console.follow()
            log.follow()

        try:
            modules = stage(directory, setup.kernel, setup.boot_modules)
            ending = EMULATORS[emulator](setup, directory, modules, follow)
            follow()
        finally:
            console.close()
            log.close()
        problems = fetch(files, setup.ramdisk) if setup.ramdisk else []
    ending = ending if not problems else with_problems(ending, problems)
    report = ending.report
    return Result(
        ending.outcome, ending.status, bytes(console.data), bytes(log.data), ending.message,
        instructions(setup, report),
        report.counts if report else (), report,
    )


def instructions(setup: Setup, report: Optional[Report]) -> Optional[int]:
    if not setup.icount or report is None or not report.tsc_end:
        return None
    return (report.tsc_end - report.tsc_entry) // setup.instruction_ns


def with_files(setup: Setup, files: Files, folder: Path) -> Setup:
    """The same machine with a RAM disk for the files, whose image lies in a new folder."""
    folder.mkdir()
    after = folder / "after" if files.get or files.base else None
    return replace(setup, image=make_image(files, folder), ramdisk=after)


def with_problems(ending: Ending, problems: list[str]) -> Ending:
    """A run that ended well, but not its files, has not done what was asked.

    Of a machine that failed nobody expects files; there they are a help, if they come out.
    """
    message = "; ".join([part for part in (ending.message, *problems) if part])
    if ending.outcome == "exit":
        return ending._replace(outcome="tool-error", status=0, message=message)
    return ending._replace(message=message) if ending.outcome == "timeout" else ending


def absolute(plugin: str) -> str:
    """The plugin `FILE,KEY=VALUE...` as QEMU finds it from the machine's folder."""
    file, comma, rest = plugin.partition(",")
    return f"{Path(file).resolve()}{comma}{rest}" if plugin else ""
