# SPDX-License-Identifier: MIT
"""Talks to a running QEMU in its machine protocol (QMP), over one end of a socket pair.

Nothing is sent before the first command: a run that needs none is not disturbed.
"""

import json
import socket
from typing import Any, Optional

ANSWER_SECONDS = 5


class MonitorError(Exception):
    """QEMU did not answer, or answered that it cannot."""


class Monitor:
    def __init__(self) -> None:
        self.socket, self.for_qemu = socket.socketpair()
        self.socket.settimeout(ANSWER_SECONDS)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.is_greeted = False
        self.events: list[dict[str, Any]] = []

    @property
    def options(self) -> list[str]:
        """What makes QEMU listen to us."""
        fd = self.for_qemu.fileno()
        return ["-chardev", f"socket,id=monitor,fd={fd}", "-mon", "chardev=monitor,mode=control"]

    def close(self) -> None:
        self.lines.close()
        self.socket.close()
        self.for_qemu.close()

    def execute(self, command: str, **arguments: Any) -> Any:
        """Runs a command and returns its answer."""
        try:
            if not self.is_greeted:
                self.is_greeted = True
                self._message()
                self.execute("qmp_capabilities")
            line = json.dumps({"execute": command, "arguments": arguments})
            self.socket.sendall(line.encode() + b"\n")
            answer = self._message()
        except (OSError, ValueError) as error:
            raise MonitorError(f"{command}: {error}") from error
        if "error" in answer:
            raise MonitorError(f"{command}: {answer['error']['desc']}")
        return answer["return"]

    def human(self, line: str) -> str:
        """Runs a command of the monitor that people use."""
        return self.execute("human-monitor-command", **{"command-line": line})

    def why_stopped(self) -> Optional[str]:
        """After the end: the reason that QEMU gave, if it has been talked to before."""
        try:
            while True:
                self.events.append(json.loads(self.lines.readline()))
        except (OSError, ValueError):
            pass
        reasons = [e["data"]["reason"] for e in self.events if e.get("event") == "SHUTDOWN"]
        return reasons[-1] if reasons else None

    def _message(self) -> dict[str, Any]:
        """The next message that is no event; events are kept."""
        while True:
            message = json.loads(self.lines.readline())
            if "event" not in message:
                return message
            self.events.append(message)
