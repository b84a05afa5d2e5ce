# SPDX-License-Identifier: MIT
"""Reads a gmon.out of ours (include/gmon.h), for tests."""

import struct
from pathlib import Path
from typing import NamedTuple

EXTRA_VALUE, EXTRA_CODE, EXTRA_CODE_SUM, EXTRA_PC, EXTRA_END = 0x10, 0x30, 0x31, 0x100, 0x1000


class Gmon(NamedTuple):
    histograms: list[tuple]  # low, high, rate, dimension, bins
    arcs: list[tuple[int, int, int]]
    plain: bytes  # The file without our own records.


def parse(data: bytes) -> Gmon:
    assert data[:20] == b"gmon" + struct.pack("<4I", 1, 0, 0, 0)
    gmon, at, plain = Gmon([], [], b""), 20, data[:20]
    while at < len(data):
        start = at
        if data[at] == 0:
            low, high, n, rate = struct.unpack_from("<4I", data, at + 1)
            gmon.histograms.append((low, high, rate, data[at + 17:at + 33],
                                    struct.unpack_from(f"<{n}H", data, at + 33)))
            at += 33 + 2 * n
            plain += data[start:at]
        else:
            assert data[at] == 1
            gmon.arcs.append(struct.unpack_from("<3I", data, at + 1))
            at += 13
            if gmon.arcs[-1][0] >= EXTRA_END:
                plain += data[start:at]
    return gmon._replace(plain=plain)


def calls(gmon: Gmon) -> list[tuple[int, int, int]]:
    return [arc for arc in gmon.arcs if arc[0] >= EXTRA_END]


def values(gmon: Gmon) -> dict[int, int]:
    return {which: number for source, which, number in gmon.arcs if source == EXTRA_VALUE}


def pcs(gmon: Gmon, kind: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for source, pc, count in gmon.arcs:
        if source == EXTRA_PC + kind:
            found[pc] = found.get(pc, 0) + count
    return found


def code(gmon: Gmon) -> list[tuple[int, int, int]]:
    """What the file says of its program's code: addresses, bytes, sums."""
    sizes = [arc[1:] for arc in gmon.arcs if arc[0] == EXTRA_CODE]
    sums = [arc[1:] for arc in gmon.arcs if arc[0] == EXTRA_CODE_SUM]
    assert [start for start, _ in sizes] == [start for start, _ in sums]
    return [(start, size, found) for (start, size), (_, found) in zip(sizes, sums)]


class Image:
    """The executable segments of a program (include/gmon_program.h)."""

    def __init__(self, path: Path):
        self.data = path.read_bytes()
        table, count = struct.unpack_from("<I", self.data, 28)[0], self.data[44]
        found = [struct.unpack_from("<8I", self.data, table + 32 * n) for n in range(count)]
        self.segments = [segment for segment in found if segment[0] == 1 and segment[6] & 1]
        self.text = (min(segment[2] for segment in self.segments),
                     max(segment[2] + segment[5] for segment in self.segments))

    def sum(self, start: int, size: int) -> int:
        """-1: not all of that is in the file."""
        for _, offset, address, _, in_file, *_ in self.segments:
            if address <= start and start + size <= address + in_file:
                at, result = offset + start - address, 0
                for word, in struct.iter_unpack("<I", self.data[at:at + size]):
                    result ^= word
                    result = (result << 13 | result >> 19) * 0x9e3779b1 & 0xffffffff
                return result ^ size
        return -1
