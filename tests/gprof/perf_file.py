# SPDX-License-Identifier: MIT
"""Writes perf.data in pipe form, as monctl -record does: a second writer, which knows only perf's
own description of the format."""

import struct
from typing import Iterable, NamedTuple, Sequence

USER, KERNEL = 2, 1  # Where a sample was.
CONTEXT = {USER: (1 << 64) - 512, KERNEL: (1 << 64) - 128}

IP, TID, TIME, CALLCHAIN, ID, CPU, PERIOD, CGROUP = 1, 2, 4, 0x20, 0x40, 0x80, 0x100, 0x200000
SAMPLE_TYPE = IP | TID | TIME | CALLCHAIN | ID | CPU | PERIOD | CGROUP

SOFTWARE, DUMMY, LENGTH = 1, 9, 10
ATTR_SIZE = 136
SAMPLE_ID_ALL = 1 << 18
CMDLINE = 11


class Sample(NamedTuple):
    """Addresses are innermost first, the sampled one included."""

    event: int
    pid: int
    thread: int
    label: int
    user: Sequence[int]
    kernel: Sequence[int] = ()
    cpu: int = 0
    time: int = 0


def padded(text: str, alignment: int = 8) -> bytes:
    data = text.encode() + b"\0"
    return data + bytes(-len(data) % alignment)


def record(kind: int, misc: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def header() -> bytes:
    return struct.pack("<8sQ", b"PERFILE2", 16)


def event(id_: int, name: str, period: int, times: bool = False, length: bool = False) -> bytes:
    """With `times` all records say when, not only samples; with `length` a period is one."""
    config = LENGTH if length else 0 if period > 1 else DUMMY
    attr = struct.pack("<IIQQQQQ", SOFTWARE, ATTR_SIZE, config, period,
                       SAMPLE_TYPE, 0, SAMPLE_ID_ALL if times else 0)
    return (record(64, 0, attr.ljust(ATTR_SIZE, b"\0") + struct.pack("<Q", id_)) +
            record(78, 0, struct.pack("<QQ", 2, id_) + padded(name)))


def task(label: int, pid: int, name: str, threads: Iterable[int]) -> bytes:
    return (record(19, 0, struct.pack("<Q", label) + padded(f"/{pid}:{name}")) +
            b"".join(record(3, 0, struct.pack("<II", pid, thread) + padded(name))
                     for thread in (pid, *threads)))


def at(pid: int, time: int | None) -> bytes:
    """What ends a record that says when."""
    return b"" if time is None else struct.pack("<IIQQQ", pid, pid, time, 0, 0)


def executes(label: int, pid: int, name: str, time: int | None) -> bytes:
    """The process becomes another task, or the same with another program."""
    return (record(19, 0, struct.pack("<Q", label) + padded(f"/{pid}:{name}") + at(pid, 0)) +
            record(3, 1 << 13, struct.pack("<II", pid, pid) + padded(name) + at(pid, time)))


def image(pid: int, address: int, length: int, offset: int, path: str,
          time: int | None = None) -> bytes:
    return record(10, USER, struct.pack("<IIQQQIIQQII", pid, pid, address, length, offset,
                                        0, 0, 0, 0, 5, 2) + padded(path) + at(pid, time))


def kernel_image(address: int, length: int) -> bytes:
    return record(10, KERNEL, struct.pack("<IIQQQIIQQII", 0xffffffff, 0, address, length, address,
                                          0, 0, 0, 0, 5, 2) + padded("/mach_kernel"))


def sample(taken: Sample, period: int) -> bytes:
    chain: list[int] = []
    for mode, frames in ((KERNEL, taken.kernel), (USER, taken.user)):
        if frames:
            chain += [CONTEXT[mode], *frames]
    mode, ip = (KERNEL, taken.kernel[0]) if taken.kernel else (USER, taken.user[0])
    return record(9, mode, struct.pack("<QIIQQIIQQ", ip, taken.pid, taken.thread, taken.time,
                                       taken.event, taken.cpu, 0, period, len(chain)) +
                  struct.pack(f"<{len(chain)}Q", *chain) + struct.pack("<Q", taken.label))


def lost(count: int) -> bytes:
    return record(13, 0, struct.pack("<Q", count))


def round_end() -> bytes:
    return record(68, 0, b"")


def counts(*more: str, **values: int) -> bytes:
    """As words of the command line, and other words."""
    words = ["monctl", *(f"{name.replace('_', '-')}={value}" for name, value in values.items()),
             *more]
    body = struct.pack("<QI", CMDLINE, len(words))
    for word in words:
        text = padded(word, 64)
        body += struct.pack("<I", len(text)) + text
    return record(80, 0, body)
