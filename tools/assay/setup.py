# SPDX-License-Identifier: MIT
"""What machine to run, and how its run ended: the two values that pass between machine.py and the
emulators' modules."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Optional

from assay.programs import Module
from assay.report import Report

MAPPED = 768  # MiB of memory that the kernel maps.
# MiB at memory's end that are the firmware's: SeaBIOS keeps 16 for tables, and what it needs while
# it starts lies below these, some 120 KiB (seen).
ABOVE = 24
BELOW = 8  # MiB that the kernel may need beside what is loaded.
RAMDISK = "$(ramdisk-create)"


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
    image: Optional[Path] = None  # What rd0 holds at first, in whole MiB; None: there may be none.
    ramdisk: Optional[Path] = None  # Where the contents of rd0 go when the run is over.
    instruction_ns: int = 1  # What an instruction takes under the instruction clock.

    @property
    def limit_is_guest_time(self) -> bool:
        """Whether the kernel keeps the limit, by its own clock; otherwise the host's clock counts.

        KVM's guests and those of plain TCG see the host's time anyway, and stop where it stops.
        """
        return self.icount or self.emulator == "bochs"

    @property
    def image_size(self) -> int:
        return self.image.stat().st_size >> 20

    @property
    def image_start(self) -> int:
        """At which MiB of memory the image lies before the machine starts; 0 if it does not.

        Who can write the machine's memory need not have a boot loader copy the image there.  Disks
        of boot modules come first, so it is the first disk only if there are none.
        """
        can = self.image and self.emulator == "qemu" and self.firmware == "direct"
        if not can or any(RAMDISK in module.words for module in self.modules):
            return 0
        loaded = sum(file.stat().st_size for file in (self.kernel, *self.module_files)) >> 20
        start = min(self.mem, MAPPED) - ABOVE - self.image_size
        return start if start >= BELOW + loaded else 0

    @property
    def module_files(self) -> tuple[Path, ...]:
        return tuple(module.file for module in self.modules)

    @property
    def boot_modules(self) -> tuple[Module, ...]:
        if not self.image or self.image_start:
            return self.modules
        return (Module(self.image, ("rd0", RAMDISK)), *self.modules)

    def with_image(self, words: list[str]) -> list[str]:
        """The arguments with one for the image, and in it the disks that the last of them asks for.

        It comes first, as the kernel leaves out those that are too many.
        """
        if not self.image_start:
            return words
        asked = [word.partition("=")[2] for word in words if word.startswith("ramdisk=")][-1:]
        return [",".join([f"ramdisk={self.image_size}@{self.image_start}", *asked]),
                *(word for word in words if not word.startswith("ramdisk="))]

    def arguments(self, clock: str) -> str:
        """The kernel's command line.  The user's own arguments come last, so they win.

        `raw`: the console adds no carriage returns, so its file holds what programs wrote.
        """
        words = ["console=com0", "log=com1", "raw", clock]
        if self.limit and self.limit_is_guest_time:
            words.append(f"limit={math.ceil(self.limit)}")  # The kernel counts whole seconds.
        if self.seed:
            words.append(f"jitter={self.seed}")
        return " ".join([*words, *self.with_image(self.append.split())])


class Ending(NamedTuple):
    outcome: str  # exit, panic, timeout, refused or tool-error
    status: int  # Of the programs, if the outcome is exit.
    message: str  # What the tool knows and the kernel's log does not say.
    report: Optional[Report]  # None where memory cannot be shared, or nothing was written.
