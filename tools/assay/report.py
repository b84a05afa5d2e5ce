# SPDX-License-Identifier: MIT
"""Reads the machine report out of the machine's memory: include/assay/report.h, seen from the host.

The kernel owns `machine_report`, the runner only its field `request`.  The machine's memory is a
file that both share, so the report can be read while the machine runs and after it has ended.
"""

import os
import struct
from pathlib import Path
from typing import NamedTuple

from assay import ToolError, sparse
from assay.symbols import symbol_address

KERNEL_BASE = 0xC0000000
MAGIC = 0x59415341
VERSION = 1

# The outcomes by the kernel's numbers, which are also what it writes to the debug-exit port.
OUTCOMES = {1: "exit", 2: "panic", 3: "timeout", 4: "refused"}
RUNNING = "running"

REQUEST_BACKTRACE = 1

HEADER = struct.Struct("<4I3Q4I")
REQUEST_OFFSET = 40
COUNT = struct.Struct("<24s2I")
COUNTS_MAX = 48

RAMDISK = struct.Struct("<2I")  # Physical address and size of one, element N for rdN.


class Count(NamedTuple):
    """One quantity that must balance: before the first program, and after the last."""

    name: str
    before: int
    after: int


class Report(NamedTuple):
    outcome: str
    status: int
    tsc_entry: int
    tsc_user: int
    tsc_end: int
    cpus: int
    counts: tuple[Count, ...]


class SharedReport:
    """The report of a machine whose memory is the open file `memory`."""

    def __init__(self, kernel: Path, memory: int):
        address = symbol_address(kernel, "machine_report")
        if address is None:
            raise ToolError(f"{kernel} has no symbol machine_report: it is not Assay's kernel")
        self.kernel = kernel
        self.memory = memory
        self.offset = address - KERNEL_BASE

    def read(self) -> Report | None:
        """What the kernel has written so far; None if it has not come that far."""
        room = HEADER.size + COUNT.size * COUNTS_MAX
        data = os.pread(self.memory, room, self.offset)
        if len(data) < room:
            return None
        magic, version, outcome, status, *clocks, _, cpus, n_counts, _ = HEADER.unpack_from(data)
        if magic != MAGIC:
            return None
        if version != VERSION:
            raise ToolError(f"the kernel's report has version {version}, not {VERSION}")
        counts = COUNT.iter_unpack(data[HEADER.size :])
        return Report(
            OUTCOMES.get(outcome, RUNNING),
            status,
            *clocks,
            cpus,
            tuple(
                Count(name.split(b"\0")[0].decode(errors="replace"), before, after)
                for (name, before, after), _ in zip(counts, range(n_counts))
            ),
        )

    def request_backtrace(self) -> None:
        """Asks the kernel to print where it is and to end, once an NMI makes it look."""
        data = struct.pack("<I", REQUEST_BACKTRACE)
        os.pwrite(self.memory, data, self.offset + REQUEST_OFFSET)

    def save_ramdisk(self, number: int, path: Path) -> None:
        """Writes the contents of a RAM disk to a file; none if the kernel has no such disk."""
        table = symbol_address(self.kernel, "machine_ramdisks")
        if table is None:
            return
        entry = table - KERNEL_BASE + number * RAMDISK.size
        address, size = RAMDISK.unpack(os.pread(self.memory, RAMDISK.size, entry))
        # A kernel may say anything; there is no more than the machine's memory.
        size = min(size, max(0, os.fstat(self.memory).st_size - address))
        if not size:
            return
        with path.open("wb") as file:
            file.truncate(size)
            sparse.copy(self.memory, address, file.fileno(), 0, size)
