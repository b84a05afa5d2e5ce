# SPDX-License-Identifier: MIT
"""Speaks with user/sbin/agent.c, which is in a machine that runs: files in, files out.

That file describes what goes over the line.
"""

import socket
from pathlib import Path

from assay import OUT, ToolError

SOCKET = "agent"  # In the folder of the machine that runs,
PLACE = OUT / "agent.place"  # and here stands where that is: a socket's own path must be short.
CHUNK_IN, CHUNK_OUT = 768, 256  # Into the machine, and out of it.
PATIENCE = 30  # Seconds without a byte, after which nobody is there.
GREETING_SECONDS = 3  # A greeting may be lost while the machine comes up; then there is another.

UNREACHABLE = ("the machine that runs cannot be reached: only one that `make qemu` started can, "
               "until it ends")
SILENT = ("the machine does not answer: try again when its shell is there and no other "
          "tools/guest is busy with it; its console says if /sbin/agent failed")
ENDED = "the machine ended, or its agent did, which its console would tell"


class Silent(ToolError):
    """Nothing comes."""


class Agent:
    """A connection to the machine that `make qemu` runs."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(PLACE.read_text())
        except OSError as error:
            raise ToolError(f"{UNREACHABLE} ({error.strerror})") from None
        self.buffer = b""
        self.greet()

    def close(self) -> None:
        self.socket.close()

    def greet(self) -> None:
        """Puts an end to what another one has left undone, until the answers are our own."""
        self.socket.settimeout(GREETING_SECONDS)
        for number in range(PATIENCE // GREETING_SECONDS):
            try:
                self.socket.sendall(b"\n" * (CHUNK_IN + 1) + b"hello %d\n" % number)
                self.read_until(b"ok %d\n" % number)
                self.socket.settimeout(PATIENCE)
                return
            except (TimeoutError, Silent):
                continue
            except OSError as error:
                raise ToolError(f"{UNREACHABLE} ({error.strerror})") from None
        raise Silent(SILENT)

    def read_more(self) -> None:
        try:
            piece = self.socket.recv(4096)
        except TimeoutError:
            raise Silent(SILENT) from None
        if not piece:
            raise ToolError(ENDED)
        self.buffer += piece

    def read_until(self, end: bytes) -> bytes:
        while end not in self.buffer:
            self.read_more()
        text, _, self.buffer = self.buffer.partition(end)
        return text

    def read(self, size: int) -> bytes:
        while len(self.buffer) < size:
            self.read_more()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def order(self, text: str) -> str:
        """Sends a line; what the answer says after `ok`."""
        self.socket.sendall(text.encode() + b"\n")
        return self.answer()

    def answer(self) -> str:
        word, _, rest = self.read_until(b"\n").decode(errors="replace").partition(" ")
        if word != "ok":
            raise ToolError(rest or ENDED)
        return rest

    def receive(self, size: int) -> bytes:
        data = []
        for start in range(0, size, CHUNK_OUT):
            data.append(self.read(min(CHUNK_OUT, size - start)))
            self.socket.sendall(b".")
        return b"".join(data)

    def send(self, data: bytes) -> None:
        """All of it, or as much as the machine wants to have: it tells then why."""
        for start in range(0, len(data), CHUNK_IN):
            self.socket.sendall(b"+" + data[start : start + CHUNK_IN])
            if self.read(1) != b".":
                return

    def get(self, path: str) -> bytes:
        return self.receive(int(self.order(f"get {path}")))

    def put(self, path: str, data: bytes, mode: int) -> None:
        self.order(f"put {mode:o} {len(data)} {path}")
        self.send(data)
        self.answer()

    def list(self, path: str) -> list[str]:
        return self.receive(int(self.order(f"ls {path}"))).decode(errors="replace").splitlines()


def put_file(agent: Agent, file: Path, path: str) -> None:
    mode = 0o755 if file.stat().st_mode & 0o100 else 0o644
    agent.put(path, file.read_bytes(), mode)
