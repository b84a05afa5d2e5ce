# SPDX-License-Identifier: MIT
"""Reads what programs/recorder.c writes: the records of <mach/prof.h>, one after the other."""

import struct
from typing import Iterator, NamedTuple

BEGIN, SAMPLE, CLOCK, STREAM, END = 1, 2, 3, 4, 5
VERSION = 2

# Flavors, as <mach/pc_sample.h> numbers them.
PERIODIC, ZFILL, REACTIVATION, PAGEIN, COW = 0x1, 0x10, 0x20, 0x40, 0x80


class Sample(NamedTuple):
    pc: int
    kernel_pc: int  # 0: in user mode.
    thread: int
    task: int
    label: int
    flavor: int
    cpu: int
    flags: int
    time: int


class Recording(NamedTuple):
    samples: list[Sample]
    lost: int
    taken: int
    due: int  # At one CPU: all have the same.
    missed: int
    ended: bool


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and bytes of each."""
    at = 0
    while at < len(data):
        words, kind, version = struct.unpack_from("<HBB", data, at)
        assert words > 0 and version == VERSION
        yield kind, data[at:at + 4 * words]
        at += 4 * words


def sample(record: bytes) -> Sample:
    pc, kernel_pc, thread, task, label, flavor, cpu, flags, low, high = struct.unpack_from(
        "<4x5IHBB4x2I", record)
    return Sample(pc, kernel_pc, thread, task, label, flavor, cpu, flags, high << 32 | low)


def streams(data: bytes) -> list[bytes]:
    """The records of each of the streams that lie one after the other."""
    starts, at = [], 0
    for kind, record in records(data):
        starts += [at] if kind == BEGIN else []
        at += len(record)
    return [data[start:end] for start, end in zip(starts, [*starts[1:], at])]


def read(data: bytes) -> Recording:
    samples, dues, missed, taken, lost, ended = [], set(), {}, 0, 0, False
    for kind, record in records(data):
        if kind == SAMPLE:
            samples.append(sample(record))
        elif kind == CLOCK:
            cpu, due, fired, late, parked = struct.unpack_from("<4xI4Q", record)
            assert due == fired + late + parked
            dues.add(due)
            missed[cpu] = late
        elif kind == STREAM:
            taken, delivered, lost, buffered = struct.unpack_from("<4x4Q", record)
            assert taken == delivered + lost + buffered and delivered == len(samples)
        elif kind == END:
            ended = True
    return Recording(samples, lost, taken, max(dues, default=0), sum(missed.values()), ended)
