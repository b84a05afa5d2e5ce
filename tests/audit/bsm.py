# SPDX-License-Identifier: MIT
"""A second reader of audit trails, written from the format's description and not from our C."""

import struct
from typing import NamedTuple

HEADER, TRAILER, FILE = 0x14, 0x13, 0x11
MAGIC = 0xb105
FAILED, NOBODYS = 0x8000, 0x4000


class Subject(NamedTuple):
    auid: int
    euid: int
    egid: int
    ruid: int
    rgid: int
    pid: int
    session: int
    port: int
    address: int


class Attribute(NamedTuple):
    """Of a file that a path names."""

    mode: int
    uid: int
    gid: int
    file_system: int
    inode: int
    device: int


class Record(NamedTuple):
    event: int
    modifier: int
    time: float
    subject: Subject
    paths: tuple[str, ...]
    texts: tuple[str, ...]
    arguments: dict[str, int]
    words: tuple[str, ...]  # Of a program that is executed.
    groups: tuple[int, ...]
    attributes: tuple[Attribute, ...]
    data: tuple[tuple[int, tuple[int, ...]], ...]  # How to print it, and what.
    error: int
    value: int

    @property
    def has_failed(self) -> bool:
        return bool(self.modifier & FAILED)


class Bytes:
    """Bytes that are taken from the front; what is not there is an IndexError."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise IndexError("a token ends early")
        self.at += size
        return self.data[self.at - size:self.at]

    def numbers(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(">" + layout, self.take(struct.calcsize(">" + layout)))

    def string(self) -> str:
        text = self.take(self.numbers("H")[0])
        assert text.endswith(b"\0") and b"\0" not in text[:-1]
        return text[:-1].decode()

    def string_to_zero(self) -> str:
        return self.take(self.data.index(b"\0", self.at) + 1 - self.at)[:-1].decode()


def read_tokens(body: Bytes, found: dict) -> None:
    """Of a record without its header and trailer."""
    while body.at < len(body.data):
        kind = body.numbers("B")[0]
        if kind in (0x24, 0x26):
            found["subject" if kind == 0x24 else "process"] = Subject(*body.numbers("9I"))
        elif kind in (0x2d, 0x71):
            _, value = body.numbers("BI" if kind == 0x2d else "BQ")
            found["arguments"][body.string()] = value
        elif kind in (0x23, 0x28):
            found["paths" if kind == 0x23 else "texts"].append(body.string())
        elif kind == 0x27:
            found["error"], found["value"] = body.numbers("BI")
        elif kind == 0x3c:
            found["words"] = tuple(body.string_to_zero() for _ in range(body.numbers("I")[0]))
        elif kind == 0x3b:
            found["groups"] = body.numbers(f"{body.numbers('H')[0]}I")
        elif kind == 0x21:
            how, unit, count = body.numbers("3B")
            found["data"].append((how, body.numbers(f"{count}{'BHIQ'[unit]}")))
        elif kind == 0x3e:
            found["attributes"].append(Attribute(*body.numbers("4IQI")))
        else:
            raise AssertionError(f"a token of type {kind:#x}")


def read_record(data: bytes) -> Record:
    """Of the bytes of one record, all of which belong to it."""
    bytes_ = Bytes(data[:-7])
    kind, size, version, event, modifier, seconds, milliseconds = bytes_.numbers("BIBHHII")
    assert (kind, size, version) == (HEADER, len(data), 11)
    assert struct.unpack(">BHI", data[-7:]) == (TRAILER, MAGIC, len(data))
    found: dict = {"arguments": {}, "paths": [], "texts": [], "words": (), "groups": (),
                   "attributes": [], "data": []}
    read_tokens(bytes_, found)
    return Record(event, modifier, seconds + milliseconds / 1000, found["subject"],
                  tuple(found["paths"]), tuple(found["texts"]), found["arguments"],
                  found["words"], found["groups"], tuple(found["attributes"]),
                  tuple(found["data"]), found["error"], found["value"])


def read(trail: bytes) -> list[Record]:
    """All of a trail that is whole."""
    records, at = [], 0
    while at < len(trail):
        size = struct.unpack_from(">I", trail, at + 1)[0]
        assert size >= 25
        records.append(read_record(trail[at:at + size]))
        at += size
    return records


def whole(trail: bytes) -> bytes:
    """As far as there are whole records: what a power cut leaves may end in the middle of one."""
    at = 0
    while at + 5 <= len(trail):
        size = struct.unpack_from(">I", trail, at + 1)[0]
        if trail[at] != HEADER or size < 25 or at + size > len(trail):
            break
        at += size
    return trail[:at]
