# SPDX-License-Identifier: MIT
"""Copies what a disk holds.  Pieces of nothing but zeroes are left out: the target has them
already, as a hole of a new file or as memory that nobody has written to."""

import os

PIECE = 1 << 16
ZEROES = bytes(PIECE)


def copy(source: int, start: int, target: int, to: int, size: int) -> None:
    """Copies `size` bytes at `start` of one open file to place `to` of another."""
    for offset in range(0, size, PIECE):
        piece = os.pread(source, min(PIECE, size - offset), start + offset)
        if piece != ZEROES:
            os.pwrite(target, piece, to + offset)
