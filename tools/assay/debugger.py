# SPDX-License-Identifier: MIT
"""gdb beside a machine: how it finds the one that runs, and how it is called.

Every machine at the keyboard listens for gdb on a socket in its folder.  The first of a tree
locks PLACE for as long as it runs, and says there where the socket is; gdb locks BUSY.  Locks end
with who holds them, so that nothing left behind misleads.  Nobody connects just to see whether
somebody listens: that would stop the machine.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Iterator, Mapping, Optional, TextIO

from assay import OUT, ROOT, ToolError
from assay.home import identity, open_lock
from assay.programs import shown

SOCKET = "gdb"  # In the machine's folder.
LISTEN = ("-chardev", f"socket,id=gdb,path={SOCKET},server=on,wait=off", "-gdb", "chardev:gdb")
PLACE, BUSY = OUT / "gdb.place", OUT / "gdb.busy"
COMMANDS = ROOT / "tools" / "gdb" / "assay.py"
KEYBOARD = "ASSAY_KEYBOARD"  # In gdb's environment: the pipe that COMMANDS type into.
KERNEL = OUT / "mach_kernel"
BUILD = {"fast": " FAST=1", "san": " SAN=1", "clang": " CLANG=1"}.get(OUT.name, "")


def require_binary() -> None:
    if not shutil.which("gdb"):
        raise ToolError("gdb is not installed: run ./setup")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[Optional[TextIO]]:
    """The file, empty and for this process alone; nothing if another one has it."""
    with open_lock(path, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        file.truncate(0)
        yield file


def publish(place: TextIO, directory: Path) -> None:
    """From now on gdb finds the machine in that folder, and knows which kernel it has."""
    place.write(f"{directory / SOCKET}\n{identity(KERNEL)}\n")
    place.flush()


def find_machine() -> Optional[Path]:
    """The socket of the machine that runs; nothing if none does."""
    with locked(PLACE) as nobody:
        if nobody:
            return None
    lines = PLACE.read_text().splitlines()
    if len(lines) != 2:
        raise ToolError("the machine has only just been started: try again")
    if lines[1] != identity(KERNEL):
        raise ToolError(f"the machine that runs has another kernel than {shown(KERNEL)}, which was "
                        "built since: end it and start it again")
    return Path(lines[0])


def run(socket: Path, environment: Mapping[str, str]) -> None:
    """gdb in this terminal, until somebody leaves it."""
    # Ctrl-C stops the machine in gdb, which sets its own handler; it is not for us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    subprocess.run(
        ["gdb", "-q", "-nx", "-ex", "set confirm off", "-ex", "set architecture i386",
         "-ex", f"target remote {socket}", "-x", str(COMMANDS), str(KERNEL)],
        check=False, cwd=ROOT,  # The names of sources are relative to it.
        env=os.environ | environment,
    )


def attach(socket: Path) -> None:
    """gdb for a machine that has a terminal of its own."""
    with locked(BUSY) as mine:
        if not mine:
            raise ToolError("another gdb has the machine that runs: leave that one first")
        print("gdb stops the machine in the other terminal, and its console with it.  `continue` "
              "lets it go on, and so does leaving gdb.", flush=True)
        run(socket, {})
