# SPDX-License-Identifier: MIT
"""A program at a terminal of its own, typed at as a person would, and read as a person would.

Every wait has an end, so that a test fails where the program says nothing.
"""

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from pathlib import Path
from typing import Mapping, Optional, Sequence

PATIENCE = 120  # Seconds of the host's, beside other tests.
PROMPT = re.compile(r"(^|\n)\S* ?[$#] $")


def take_terminal() -> None:
    """Makes standard input the session's terminal, from which Ctrl-C comes."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Keyboard:
    """A context: at its end the program is gone."""

    def __init__(self, command: Sequence[object], cwd: Path,
                 environment: Optional[Mapping[str, str]] = None):
        self.master, terminal = pty.openpty()
        self.process = subprocess.Popen(list(map(str, command)), cwd=cwd, env=environment,
                                        stdin=terminal, stdout=terminal, stderr=terminal,
                                        start_new_session=True, preexec_fn=take_terminal)
        os.close(terminal)
        self.screen = ""  # All that was shown,
        self.seen = 0  # and up to where somebody has looked at it.

    def __enter__(self) -> "Keyboard":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)

    def press(self, keys: str) -> None:
        """Types, without an Enter."""
        os.write(self.master, keys.encode())

    def wait_for(self, pattern: str | re.Pattern, seconds: float = PATIENCE) -> str:
        """What is shown up to the end of the pattern, of that at which nobody has looked."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.screen[self.seen :])):
            assert self._read(end - time.monotonic()), \
                f"{pattern!r} never came:\n{self.screen[-4000:]}"
        start, self.seen = self.seen, self.seen + found.end()
        return self.screen[start : self.seen]

    def say(self, line: str, seconds: float = PATIENCE) -> str:
        """Types a command at the shell's prompt; what was shown for it, without the prompt."""
        self.press(f"{line}\r")
        echo = "".join(f"{re.escape(c)}(\r?\n)?" for c in line)  # Long lines are folded nowhere.
        self.wait_for(rf"{re.escape(line)}\r?\n" if echo else r"\n", seconds)
        shown = self.wait_for(PROMPT, seconds)
        return shown[: shown.rfind("\n") + 1].replace("\r", "")

    def end(self, seconds: float = PATIENCE) -> int:
        """The program's status, when it has ended by itself."""
        stop = time.monotonic() + seconds
        while self._read(stop - time.monotonic()):
            continue
        return self.process.wait(max(1, stop - time.monotonic()))

    def _read(self, seconds: float) -> bool:
        """Waits for more on the screen; false if there is none."""
        if seconds <= 0 or not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            more = os.read(self.master, 65536)
        except OSError:  # The last one who had the terminal has ended.
            return False
        self.screen += more.decode(errors="replace").replace("\r\n", "\n")
        return bool(more)
