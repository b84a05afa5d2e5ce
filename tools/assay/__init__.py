# SPDX-License-Identifier: MIT
"""What Assay's host tools share: running the machine, and reading what a run leaves behind.

machine.py is the way in: `machine.run(["hello"])` boots the kernel and returns a Result.  Below it,
qemu.py and bochs.py each drive one emulator; programs.py, iso.py, report.py and symbols.py know the
files and layouts that both need.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(os.environ.get("ASSAY_OUT", ROOT / "out"))


class ToolError(Exception):
    """The machine could not be run, or not as asked; the message is for the user."""
