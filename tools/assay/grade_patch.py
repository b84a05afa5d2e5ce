# SPDX-License-Identifier: MIT
"""A patch to the kernel, built in a copy of the tree that goes away with its room.

The kernel is built without LTO, as by `make FAST=1`.  What that has built is taken over where it is
there; it is only the time that depends on it.
"""

import fnmatch
import re
from pathlib import Path

from assay import ROOT, sandbox
from assay.grade_profile import check

COPIED = ("Makefile", "kernel", "include", "defs", "tools/ksyms", "lib")
BUILT = "out/fast"  # What of it is taken over:
OBJECTS = ("gen", "obj/kernel", "obj/gen")
NAMES = re.compile(
    rb"^(?:---|\+\+\+|rename (?:from|to)|copy (?:from|to)) (?:\"?[ab]/)?([^\t\n\"]+)|"
    rb"^diff --git a/(\S+) b/(\S+)$", re.MULTILINE)


class Limits(sandbox.Limits):
    """A whole kernel takes longer than a program."""

    cpu = 120
    wall = 600
    file = 128 << 20
    output = 32 << 20


def names(patch: bytes) -> set[str]:
    """Of all files that a patch speaks of."""
    found = {name.decode(errors="replace").strip() for match in NAMES.findall(patch)
             for name in match if name}
    return found - {"/dev/null"}


def check_names(patch: bytes, allowed: tuple[str, ...]) -> None:
    found = names(patch)
    check(found, "the patch changes nothing: make it by `git diff` or `diff -u`")
    for name in sorted(found):
        check(any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed) and ".." not in name,
              f"the patch may not change {name}; it may change {', '.join(allowed)}")


def script(patch: Path, allowed: tuple[str, ...]) -> str:
    """What copies, patches and builds; `git apply` is asked for the same names."""
    check_names(patch.read_bytes(), allowed)
    include = " ".join(f"--include='{pattern}'" for pattern in allowed)
    lines = [f"mkdir -p $TMP/tree/tools $TMP/tree/{BUILT}/obj", "cd $TMP/tree"]
    lines += [f"cp -a ${variable(name)} {name}" for name in COPIED]
    lines += [f"cp -a ${variable(name)} {BUILT}/{name}" for name in built()]
    return "\n".join([
        *lines, f"git apply --whitespace=nowarn {include} $HANDED_IN/{patch.name} >&2",
        "make -s -j2 FAST=1 out/fast/mach_kernel </dev/null >$TMP/log 2>&1 || "
        "{ grep -E 'error|Error|warning' $TMP/log >&2; exit 1; }",
        f"cat {BUILT}/mach_kernel"])


def variable(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()


def built() -> tuple[str, ...]:
    return OBJECTS if all((ROOT / BUILT / name).is_dir() for name in OBJECTS) else ()


def folders() -> dict[str, Path]:
    """Of the host's, for the room."""
    there = {variable(name).lower(): ROOT / name for name in COPIED}
    return there | {variable(name).lower(): ROOT / BUILT / name for name in built()}
