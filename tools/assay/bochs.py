# SPDX-License-Identifier: MIT
"""Drives Bochs, a second machine model that finds what QEMU forgives.

Debian's Bochs has no display that needs neither a screen nor a terminal, so it gets a pseudo
terminal that nobody looks at.  It is built as a debugger: `-rc` makes it start at once.  Its memory
cannot be shared; how a run ended is read from the last line of the kernel's log.
"""

import fcntl
import os
import re
import shutil
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path
from typing import Callable, Optional

from assay import ToolError, iso
from assay.process import Emulator
from assay.programs import Staged
from assay.setup import Ending, Setup

DATA = Path("/usr/share/bochs")
POLL_SECONDS = 0.05
BACKSTOP_SECONDS = 60
BACKSTOP_FACTOR = 10
TERMINAL_SIZE = struct.pack("HHHH", 50, 132, 0, 0)  # The 80 by 25 screen must fit.

# The kernel ends the run by writing "Shutdown" to port 0x8900, which Bochs reports as a panic.
CONFIGURATION = """\
plugin_ctrl: unmapped=1, biosdev=1, serial=1, extfpuirq=1, speaker=0, parallel=0
display_library: term
config_interface: textconfig
cpu: model={cpu}, count={cpus}, ips=50000000, reset_on_triple_fault=0
megs: {mem}
romimage: file={data}/BIOS-bochs-latest
vgaromimage: file={data}/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=disc, status=inserted
boot: cdrom
clock: sync=none, time0=1767225600
com1: enabled=1, mode=file, dev=com0
com2: enabled=1, mode=file, dev=com1
log: bochs.log
panic: action=fatal
"""
CPU = "core_duo_t2400_yonah"  # 32 bits, PAE, NX and a local APIC.
SHUTDOWN = ">>PANIC<< Shutdown port"
LAST_LINE = re.compile(r"^machine: (?:(exit) status (\d+)|(panic|timeout|refused))\s*$", re.M)


def check(setup: Setup) -> None:
    """Says what Bochs cannot do."""
    if not shutil.which("bochs") or not DATA.is_dir():
        raise ToolError("bochs is not installed (packages bochs, bochs-term, bochsbios, vgabios)")
    wishes = {
        "--plugin": setup.plugin,
        "--disk": setup.disks,
        "--get": setup.ramdisk,
        "--machine q35": setup.machine != "pc",
        f"--accel {setup.accel}": setup.accel != "auto",
    }
    for wish, is_wished in wishes.items():
        if is_wished:
            raise ToolError(f"Bochs cannot do {wish}")


def run(setup: Setup, directory: Path, modules: list[Staged], follow: Callable[[], None]) -> Ending:
    """Runs a machine to its end; `follow` is called often, to see what it wrote to its ports."""
    check(setup)
    iso.build(directory / "disc", *disc(setup, directory, modules))
    text = CONFIGURATION.format(cpu=CPU, cpus=setup.cpus, mem=setup.mem, data=DATA)
    (directory / "bochsrc").write_text(text)
    (directory / "commands").write_text("continue\n")
    master, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, TERMINAL_SIZE)
    command = ("bochs", "-q", "-f", "bochsrc", "-rc", "commands")
    with Emulator(command, directory, stdin=terminal, stdout=terminal, stderr=subprocess.STDOUT,
                  env={**os.environ, "TERM": "xterm"}) as emulator:
        os.close(terminal)
        threading.Thread(target=drain, args=(master,)).start()
        is_over = watch(emulator, setup, follow)
    return ending(is_over, directory)


def disc(setup: Setup, directory: Path, modules: list[Staged]) -> tuple[str, dict[str, Path]]:
    text = iso.menu(setup.arguments("clock=exact"), [(m.path, m.words) for m in modules])
    return text, {path: directory / path for path in ["mach_kernel", *(m.path for m in modules)]}


def drain(master: int) -> None:
    """Takes what Bochs draws, so that it never waits for a reader."""
    try:
        while os.read(master, 1 << 16):
            pass
    except OSError:  # The terminal is gone, because Bochs is.
        pass
    os.close(master)


def watch(emulator: Emulator, setup: Setup, follow: Callable[[], None]) -> bool:
    """Waits for the end.  Whether the time limit came first."""
    deadline = time.monotonic() + BACKSTOP_SECONDS + BACKSTOP_FACTOR * setup.limit
    while not emulator.wait(POLL_SECONDS):
        follow()
        if setup.limit and time.monotonic() >= deadline:
            return True
    return False


def ending(is_over: bool, directory: Path) -> Ending:
    if is_over:
        return Ending("timeout", 0, "the kernel did not end the run; Bochs was stopped", None)
    said = last_line((directory / "com1").read_text(errors="replace"))
    if said:
        return said
    log = directory / "bochs.log"
    text = log.read_text(errors="replace") if log.exists() else ""
    if SHUTDOWN in text:
        return Ending("tool-error", 0, "the kernel ended without saying how", None)
    panics = [line for line in text.splitlines() if ">>PANIC<<" in line]
    return Ending("panic" if panics else "tool-error", 0, "\n".join(panics) or "Bochs failed", None)


def last_line(log: str) -> Optional[Ending]:
    lines = list(LAST_LINE.finditer(log))
    if not lines:
        return None
    exited, status, other = lines[-1].groups()
    return Ending(exited or other, int(status or 0), "", None)
