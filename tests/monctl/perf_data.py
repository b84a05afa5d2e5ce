# SPDX-License-Identifier: MIT
"""Reads the pipe form of perf.data, strictly: what monctl -record must write."""

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

MAGIC = struct.pack("<QQ", 0x32454C4946524550, 16)
ATTRIBUTE, UPDATE, FEATURE = 64, 78, 80
COMMAND, EXIT, FORK, SAMPLE, MAP, LOST, CGROUP = 3, 4, 7, 9, 10, 13, 19
FIELDS = 0x2001E7  # ip tid time callchain id cpu period cgroup
KERNEL, USER = 2**64 - 128, 2**64 - 512
ALL_HAVE_ID, ID_SIZE = 1 << 18, 32
NO_PROGRAM = "[heap]"
USER_MODE, EXECUTE = 2, 1 << 13
THREAD = 10**9  # Threads' numbers begin there.


@dataclass(frozen=True)
class Sample:
    in_kernel: bool
    ip: int
    pid: int
    tid: int
    time: int
    flavor: int
    cpu: int
    period: int
    chain: tuple[int, ...]
    label: int

    def user(self) -> tuple[int, ...]:
        """The user's part of the call chain."""
        return self.chain[self.chain.index(USER) + 1:] if USER in self.chain else ()


class Map(NamedTuple):
    misc: int
    pid: int
    start: int
    length: int
    offset: int
    path: str


@dataclass
class Recording:
    events: dict[int, str] = field(default_factory=dict)
    periods: dict[int, int] = field(default_factory=dict)
    commands: dict[tuple[int, int], str] = field(default_factory=dict)
    maps: list[Map] = field(default_factory=list)
    map_times: list[int] = field(default_factory=list)
    executed: list[tuple[int, int, str]] = field(default_factory=list)  # When, of whom, what.
    labels: dict[int, str] = field(default_factory=dict)
    parents: dict[int, int] = field(default_factory=dict)
    users: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)  # When processes ended.
    samples: list[Sample] = field(default_factory=list)
    lost: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    pieces: list[int] = field(default_factory=list)  # Where each ends in the file.

    def program_of(self, sample: "Sample") -> str:
        """As perf does it: the last that was mapped there by then."""
        found = [(time, place, one.path)
                 for place, (one, time) in enumerate(zip(self.maps, self.map_times))
                 if (one.misc, one.pid) == (USER_MODE, sample.pid) and time <= sample.time and
                 0 <= sample.user()[0] - one.start < one.length]
        return max(found)[2] if found else ""


def text(data: bytes) -> str:
    end = data.index(b"\0")
    assert not any(data[end:]) and len(data) - end <= 8
    return data[:end].decode()


def read_sample(misc: int, data: bytes) -> Sample:
    ip, pid, tid, time, flavor, cpu, _, period, count = struct.unpack_from("<QIIQQIIQQ", data)
    chain = struct.unpack_from(f"<{count}Q", data, 56)
    (label,) = struct.unpack_from("<Q", data, 56 + 8 * count)
    assert len(data) == 64 + 8 * count
    return Sample(misc == 1, ip, pid, tid, time, flavor, cpu, period, chain, label)


def read_words(data: bytes) -> list[str]:
    feature, count = struct.unpack_from("<QI", data)
    assert feature == 11
    words, at = [], 12
    for _ in range(count):
        (size,) = struct.unpack_from("<I", data, at)
        words.append(text(data[at + 4:at + 4 + size]))
        at += 4 + size
    return words


def take_id(data: bytes) -> tuple[bytes, int]:
    """A record without its end, and the time that this tells."""
    time, event, cpu = struct.unpack("<QQQ", data[8 - ID_SIZE:])
    assert event == 0 and cpu == 0
    return data[:-ID_SIZE], time


def take_kin(recording: Recording, kind: int, misc: int, data: bytes, time: int) -> None:
    pid, parent, tid, parent_tid, when = struct.unpack("<IIIIQ", data)
    assert (pid, parent, time) == (tid, parent_tid, when)
    if kind == FORK:
        # Before all that is said of the process, at once, and without its parent's memory.
        assert (misc, time) == (EXECUTE, 0) and (pid, pid) not in recording.commands
        recording.parents[pid] = parent
    else:
        assert misc == 0 and recording.parents[pid] == parent
        recording.ends[pid] = time


def take_name(recording: Recording, kind: int, misc: int, data: bytes) -> None:
    data, time = take_id(data)
    if kind == COMMAND:
        pid, tid = struct.unpack_from("<II", data)
        recording.commands[pid, tid] = text(data[8:])
        assert misc == (EXECUTE if time else 0) and (time == 0 or pid == tid)
        if time:
            recording.executed.append((time, pid, text(data[8:])))
    elif kind == MAP:
        pid, _, start, length, offset = struct.unpack_from("<IIQQQ", data)
        assert (struct.unpack_from("<Q", data, 48)[0] != 0) == (text(data[64:]) != NO_PROGRAM)
        recording.maps.append(Map(misc, pid, start, length, offset, text(data[64:])))
        recording.map_times.append(time)
    elif kind in (FORK, EXIT):
        take_kin(recording, kind, misc, data, time)
    elif kind == CGROUP:
        label, path = struct.unpack_from("<Q", data)[0], text(data[8:])
        assert recording.labels.setdefault(label, path) == path
    else:
        assert kind == LOST
        recording.lost += struct.unpack("<Q", data)[0]


def take(recording: Recording, kind: int, misc: int, data: bytes) -> None:
    if kind == ATTRIBUTE:
        software, size, _, period, fields, _, flags = struct.unpack_from("<IIQQQQQ", data)
        (number,) = struct.unpack_from("<Q", data, size)
        assert (software, fields, flags, len(data)) == (1, FIELDS, ALL_HAVE_ID, size + 8)
        recording.periods[number] = period
    elif kind == UPDATE:
        what, number = struct.unpack_from("<QQ", data)
        assert what == 2
        recording.events[number] = text(data[16:])
    elif kind in (COMMAND, EXIT, FORK, MAP, CGROUP, LOST):
        take_name(recording, kind, misc, data)
    elif kind == FEATURE:
        words = read_words(data)
        assert words[0] == "monctl"
        pairs = {key: int(value) for key, value in (word.split("=") for word in words[1:])
                 if not key.startswith("name.")}
        if words[1].startswith("user."):
            recording.users |= {int(key[5:]): value for key, value in pairs.items()}
        else:
            recording.counts = pairs
    else:
        assert kind == SAMPLE, kind
        sample = read_sample(misc, data)
        # Whatever a sample refers to has its name by then.
        assert sample.flavor in recording.events and sample.label in recording.labels
        assert (sample.pid, sample.tid) in recording.commands
        assert sample.tid > THREAD or sample.tid == sample.pid
        recording.samples.append(sample)


def read(data: bytes) -> Recording:
    recording = Recording()
    assert data[:16] == MAGIC
    at = 16
    while at < len(data):
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        assert size % 8 == 0 and 8 <= size <= len(data) - at
        take(recording, kind, misc, data[at + 8:at + size])
        at += size
        if kind == FEATURE and b"user." not in data[at - size:at]:
            recording.pieces.append(at)
    return recording
