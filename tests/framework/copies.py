# SPDX-License-Identifier: MIT
"""Copies of the tree, with what is built of it, in which sources are changed and built again."""

import shutil
import subprocess
from pathlib import Path

NOT_NEEDED = ("clang", "defects", "fast", "mutants", "san", "test", "root.lock")  # Of out/.

# The kernel is linked many times there: not as one unit, which takes far longer.  So its objects
# are others than those in out/.
MAKE = ("make", "-s", "LTO=")
OF_THE_KERNEL = ("mach_kernel", "obj/kernel", "obj/gen/kernel")


def copy_sources(root: Path, copy: Path) -> None:
    """The tree as it is, with the times of its files, so that little is built again."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=root, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (root / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, copy / name, follow_symlinks=False)


def copy_built(root: Path, copy: Path) -> None:
    (copy / "out").mkdir(parents=True)
    for entry in (root / "out").iterdir():
        if entry.name not in NOT_NEEDED:
            subprocess.run(["cp", "-a", entry, copy / "out"], check=True)
    for pattern in OF_THE_KERNEL:
        for path in (copy / "out").glob(pattern):
            subprocess.run(["rm", "-r", path], check=True)
