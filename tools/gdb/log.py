# SPDX-License-Identifier: MIT
"""assay log: the end of the kernel's log, which the kernel keeps for whoever looks from outside."""

import gdb
from kernel import Look


class Log(Look):
    """Prints the last 8 KiB of the kernel's log: assay log"""

    def __init__(self) -> None:
        super().__init__("assay log", gdb.COMMAND_DATA)

    def look(self, _: str) -> None:
        kept = gdb.parse_and_eval("log_kept")
        size, written = kept["bytes"].type.sizeof, int(kept["written"])
        memory = gdb.selected_inferior().read_memory(int(kept["bytes"].address), size).tobytes()
        start = written % size
        log = memory[:written] if written < size else memory[start:] + memory[:start]
        print(log.decode(errors="replace"), end="")
