# SPDX-License-Identifier: MIT
"""A copy of the tree to work in as a person does, beside other tests and whoever uses the tree.

It is made of links: what is built is built, and what is made there, such as the disk of
`make qemu`, is nobody else's.
"""

import os
import re
import subprocess
from pathlib import Path

from assay import OUT, ROOT

from framework.keyboard import Keyboard

BUILT = OUT.relative_to(ROOT)
# Of out/, what belongs to a machine of somebody's or to a run of the tests.
OTHERS = re.compile(
    r"(?:root|agent|gdb)\..*|test|san|clang|fast|grade|defects|mutants|fuzz")
KIND = {"san": ("SAN=1",), "clang": ("CLANG=1",), "fast": ("FAST=1",)}.get(OUT.name, ())
# Options of the make that runs the tests must not reach those that they run.
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "SAN", "CLANG", "FAST", "WERROR",
           "V", "T", "LOGIN", "CPUS", "MEM", "DISK", "KERNEL_ARGS", "ACCEL")
LIMIT = 300  # Seconds.


class Room:
    """A folder with the tree in it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.out = folder / BUILT
        self.out.mkdir(parents=True)
        for entry in ROOT.iterdir():
            if entry.name not in ("out", ".git"):
                (folder / entry.name).symlink_to(entry)
        for entry in OUT.iterdir():
            if not OTHERS.fullmatch(entry.name):
                (self.out / entry.name).symlink_to(entry)
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in OF_MAKE} | {"ASSAY_OUT": str(self.out)}

    def run(self, command: str, **options: object) -> subprocess.CompletedProcess:
        """What the host's shell does with a line."""
        return subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False,
                              **options)

    def type(self, command: str) -> tuple[int, str]:
        """What a person sees who types a line at a terminal, and its status."""
        with Keyboard(["sh", "-c", command], self.folder, self.environment) as terminal:
            return terminal.end(LIMIT), terminal.screen

    def make(self, *arguments: str) -> list[str]:
        return ["make", *KIND, *arguments]
