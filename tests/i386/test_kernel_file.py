# SPDX-License-Identifier: MIT
"""What the file of the kernel under test says of it, whichever way it was built."""

import re
import subprocess
from pathlib import Path

from assay import OUT

KERNEL = OUT / "mach_kernel"


def check_frames(kernel: Path) -> None:
    """What was interrupted has a stack of its own, and registers by numbers that there are."""
    told = subprocess.run(["readelf", "--debug-dump=frames", kernel],
                          text=True, capture_output=True, check=True).stdout
    assert re.search(r'Augmentation: +"S"', told) and "bad register" not in told


def test_debuggers_are_told_of_its_entries() -> None:
    check_frames(KERNEL)


def test_the_checked_kernel_and_no_other_has_the_checks() -> None:
    symbols = KERNEL.with_name("mach_kernel.sym").read_text()
    assert ("__ubsan_handle_" in symbols) == (OUT.name == "san")
