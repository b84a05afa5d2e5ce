# SPDX-License-Identifier: MIT
"""Reads a gmon.out of ours (include/gmon.h), for tests."""

import struct
from typing import NamedTuple

EXTRA_VALUE, EXTRA_PC, EXTRA_END = 0x10, 0x100, 0x1000


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


def values(gmon: Gmon) -> dict[int, int]:
    return {which: number for source, which, number in gmon.arcs if source == EXTRA_VALUE}


def pcs(gmon: Gmon, kind: int) -> dict[int, int]:
    return {pc: count for source, pc, count in gmon.arcs if source == EXTRA_PC + kind}
