# SPDX-License-Identifier: MIT
"""Speaks with user/sbin/agent.c, which is in a machine that runs: files in, files out.

That file describes what goes over the line.
"""

import socket
from pathlib import Path

from assay import OUT, ToolError

SOCKET = "agent"  # In the folder of the machine that runs,
PLACE = OUT / "agent.place"  # and here stands where that is: a socket's own path must be short.
CHUNK = 256
PATIENCE = 30  # Seconds without a byte, after which nobody is there.


class Agent:
    """A connection to the machine that `make qemu` runs."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        try:
            self.socket.connect(PLACE.read_text())
        except OSError as error:
            raise ToolError(f"the machine that runs cannot be reached: {error.strerror}") from None
        self.stream = self.socket.makefile("rwb")

    def close(self) -> None:
        self.stream.close()
        self.socket.close()

    def order(self, text: str) -> str:
        """Sends a line; what the answer says after `ok`."""
        self.stream.write(text.encode() + b"\n")
        self.stream.flush()
        return self.answer()

    def answer(self) -> str:
        try:
            line = self.stream.readline().decode(errors="replace").strip()
        except OSError:
            raise ToolError("the machine does not answer; has it come up yet?") from None
        word, _, rest = line.partition(" ")
        if word != "ok":
            raise ToolError(rest or "the machine ended")
        return rest

    def receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.stream.read(min(CHUNK, size - len(data)))
            if not piece:
                raise ToolError("the machine ended")
            data += piece
            self.stream.write(b".")
            self.stream.flush()
        return data

    def send(self, data: bytes) -> None:
        for start in range(0, len(data), CHUNK):
            self.stream.write(data[start : start + CHUNK])
            self.stream.flush()
            if self.stream.read(1) != b".":
                raise ToolError("the machine ended")

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
