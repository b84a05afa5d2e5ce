# SPDX-License-Identifier: MIT
"""What machine to run, and how its run ended: the two values that pass between machine.py and the
emulators' modules."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Optional

from assay.programs import Module
from assay.report import Report


class Disk(NamedTuple):
    """A disk of the machine's, whose contents are a file's."""

    file: Path
    read_only: bool = False
    # What QEMU has between the machine and the file, as -drive says it, with {file} for the file.
    through: str = ""


@dataclass(frozen=True)
class Setup:
    kernel: Path
    modules: tuple[Module, ...]
    append: str
    cpus: int
    mem: int  # MiB
    machine: str  # pc or q35
    icount: bool  # The fixed instruction clock; `accel` is not looked at.
    accel: str  # auto, kvm, icount or tcg
    seed: int
    limit: float  # Seconds, 0 for none.
    firmware: str  # direct or grub
    emulator: str  # qemu or bochs
    plugin: str
    disks: tuple[Disk, ...]  # What vd0, vd1 and so on are.
    ramdisk: Optional[Path] = None  # Where the contents of rd0 go when the run is over.
    instruction_ns: int = 1  # What an instruction takes under the instruction clock.

    @property
    def limit_is_guest_time(self) -> bool:
        """Whether the kernel keeps the limit, by its own clock; otherwise the host's clock counts.

        KVM's guests and those of plain TCG see the host's time anyway, and stop where it stops.
        """
        return self.icount or self.emulator == "bochs"

    def arguments(self, clock: str) -> str:
        """The kernel's command line.  The user's own arguments come last, so they win.

        `raw`: the console adds no carriage returns, so its file holds what programs wrote.
        """
        words = ["console=com0", "log=com1", "raw", clock]
        if self.limit and self.limit_is_guest_time:
            words.append(f"limit={math.ceil(self.limit)}")  # The kernel counts whole seconds.
        if self.seed:
            words.append(f"jitter={self.seed}")
        return " ".join([*words, *self.append.split()])


class Ending(NamedTuple):
    outcome: str  # exit, panic, timeout, refused or tool-error
    status: int  # Of the programs, if the outcome is exit.
    message: str  # What the tool knows and the kernel's log does not say.
    report: Optional[Report]  # None where memory cannot be shared, or nothing was written.
