# SPDX-License-Identifier: MIT
"""Traces, made and read in Python: from the layouts in include/sys/ktrace.h, not from our C."""

import re
import struct
from pathlib import Path
from typing import Iterator, NamedTuple

ROOT = Path(__file__).resolve().parents[2]

HEADER = struct.Struct("<ihHi17s3xiiI")  # length type thread pid command seconds us sequence
SYSCALL, SYSRET, NAMEI, GENIO, PSIG, CSW, USER = range(1, 8)
READ, WRITE = 0, 1
CPU, PORT, PAGE, LOCK, TIMER, STOP = range(6)
BEGIN = 1_000_000_000  # Seconds since 1970.
CALLS = {name: int(number) for name, number in re.findall(
    r"#define SYS_(\w+) +(\d+)$", (ROOT / "include/sys/syscall.h").read_text(), re.MULTILINE)
    if name != "BASE"}
NAMES = {number: name for name, number in CALLS.items()}

assert HEADER.size == 44


class Record(NamedTuple):
    type: int
    thread: int
    pid: int
    command: str
    time: int  # Microseconds since 1970.
    sequence: int
    body: bytes

    def call(self) -> tuple[str, list[int]]:
        """Of a SYSCALL its name and arguments."""
        code, count = struct.unpack_from("<hh", self.body)
        assert len(self.body) == 4 + 8 * count
        return NAMES[code], list(struct.unpack_from(f"<{count}Q", self.body, 4))

    def result(self) -> tuple[str, int, int]:
        """Of a SYSRET the call, the error and the value."""
        code, zero, error, value = struct.unpack("<hhii", self.body)
        assert zero == 0
        return NAMES[code], error, value

    def path(self) -> str:
        return self.body.decode()

    def data(self) -> tuple[int, int, bytes]:
        """Of a GENIO the descriptor, which way, and the bytes."""
        return (*struct.unpack_from("<ii", self.body), self.body[8:])

    def signal(self) -> tuple[int, int, int, int]:
        """Of a PSIG the signal, the handler, the code and the mask."""
        return struct.unpack("<iIiQ", self.body)

    def wait(self) -> tuple[int, int, int, int]:
        """Of a CSW whether it stops, in user mode, for what and how long."""
        return struct.unpack("<iiII", self.body)


def read(data: bytes) -> Iterator[Record]:
    """All records; an assertion fails if they are not whole, one behind another and in order."""
    at, last = 0, 0
    while at < len(data):
        length, type_, thread, pid, command, seconds, us, sequence = HEADER.unpack_from(data, at)
        assert length >= 0 and at + HEADER.size + length <= len(data), f"record {sequence} is cut"
        assert SYSCALL <= type_ <= USER and pid > 0 and 0 <= us < 1_000_000
        assert sequence in (last + 1, 1), f"record {sequence} comes after {last}"
        body = data[at + HEADER.size:at + HEADER.size + length]
        name = command.split(b"\0")[0].decode()
        yield Record(type_, thread, pid, name, seconds * 1_000_000 + us, sequence, body)
        at, last = at + HEADER.size + length, sequence


class Maker:
    """Makes a trace record by record, each a millisecond after the one before."""

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.pid, self.thread, self.command, self.time = 12, 1, "cat", BEGIN * 1_000_000

    def add(self, type_: int, body: bytes) -> "Maker":
        self.records.append(HEADER.pack(
            len(body), type_, self.thread, self.pid, self.command.encode(),
            *divmod(self.time, 1_000_000), len(self.records) + 1) + body)
        self.time += 1000
        return self

    def call(self, name: str | int, *arguments: int) -> "Maker":
        code = CALLS[name] if isinstance(name, str) else name
        words = [argument & 0xffff_ffff_ffff_ffff for argument in arguments]
        return self.add(SYSCALL, struct.pack(f"<hh{len(words)}Q", code, len(words), *words))

    def result(self, name: str | int, value: int = 0, error: int = 0) -> "Maker":
        code = CALLS[name] if isinstance(name, str) else name
        return self.add(SYSRET, struct.pack("<hhii", code, 0, error, value))

    def path(self, path: str) -> "Maker":
        return self.add(NAMEI, path.encode())

    def data(self, descriptor: int, way: int, data: bytes) -> "Maker":
        return self.add(GENIO, struct.pack("<ii", descriptor, way) + data)

    def signal(self, number: int, action: int, code: int = 0, mask: int = 0) -> "Maker":
        return self.add(PSIG, struct.pack("<iIiQ", number, action, code, mask))

    def wait(self, reason: int, length: int, user: int = 0) -> "Maker":
        """Stops, and goes on after so many microseconds, two milliseconds at least."""
        self.add(CSW, struct.pack("<iiII", 1, user, reason, 0))
        self.time += length - 1000
        return self.add(CSW, struct.pack("<iiII", 0, user, reason, length))

    def user(self, data: bytes) -> "Maker":
        return self.add(USER, data)

    def bytes(self) -> bytes:
        return b"".join(self.records)


def sample() -> Maker:
    """One of everything: cat writes /etc/motd, is interrupted and ends."""
    made = Maker()
    made.call("open", 9, 0, 0).path("/etc/motd").result("open", 3)
    made.call("read", 3, 8192).wait(PAGE, 5000).data(3, READ, b"hello\nyou\n").result("read", 10)
    made.call("write", 1, 10).data(1, WRITE, b"hello\nyou\n").result("write", 10)
    made.call("open", 8, 0o1101, 0o644).path("/nothing").result("open", -1, 2)
    made.signal(14, 0x8049000, 0x80, 0b10).user(b"half way")
    made.thread, made.pid, made.command = 2, 13, "sh"
    made.call("kill", 12, 15).result("kill")
    made.thread, made.pid, made.command = 1, 12, "cat"
    made.signal(15, 0)
    return made


def every_call() -> Maker:
    """Each call with more arguments than it has, all bits of them set or two, and each result."""
    made = Maker()
    for name in CALLS:
        for argument in (0xffff_ffff_ffff_ffff, 2):
            made.call(name, *[argument] * 7).path("/a").path("/a").path("/b").result(name, 2)
        made.result(name, 0, 512)
    return made
