# SPDX-License-Identifier: MIT
"""An emulator as a process of ours, never left behind; and the files that it writes."""

import os
import select
import subprocess
from pathlib import Path
from typing import Callable, Iterable, Optional

from assay import ToolError

# The kernel of the host ends the emulator when this process dies, even by SIGKILL.
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL")
TERMINATION_SECONDS = 5


class Emulator:
    """A context: at its end the process is gone."""

    def __init__(self, command: Iterable[str], directory: Path, pass_fds: Iterable[int] = (),
                 new_session: bool = True, **standard_files: object):
        """Without a session of its own, Ctrl-C on the terminal reaches the emulator as well."""
        command = list(command)
        try:
            self.process = subprocess.Popen(
                [*DIE_WITH_PARENT, *command], cwd=directory, pass_fds=tuple(pass_fds),
                start_new_session=new_session, **standard_files)
        except FileNotFoundError as error:
            raise ToolError(f"{error.filename} is not installed: run ./setup") from None
        self.pidfd = os.pidfd_open(self.process.pid)

    def __enter__(self) -> "Emulator":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        os.close(self.pidfd)

    def wait(self, seconds: float) -> bool:
        """Whether the process has ended, at the latest after that time."""
        if self.process.poll() is None:
            select.select([self.pidfd], [], [], seconds)
        return self.process.poll() is not None

    def kill(self) -> None:
        """Ends the process: politely, so that its plugins write what they have, then by force."""
        if self.process.poll() is None:
            self.process.terminate()
            if not self.wait(TERMINATION_SECONDS):
                self.process.kill()
        self.process.wait()


class Follower:
    """Reads a file while the machine writes it, and hands on what is new."""

    def __init__(self, path: Path, sink: Optional[Callable[[bytes], None]] = None):
        path.touch()
        self.file = path.open("rb", buffering=0)
        self.sink = sink
        self.data = bytearray()

    def follow(self) -> None:
        while new := self.file.read(1 << 20):
            self.data += new
            if self.sink:
                self.sink(new)

    def close(self) -> None:
        self.file.close()
