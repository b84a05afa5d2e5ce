# SPDX-License-Identifier: MIT
"""A patch to the kernel or the server, built in a copy of the tree that goes away with its room.

What is built already is taken over where it is there; it is only the time that depends on it.  A
bundle has the sources, and what MIG has made of the definitions.
"""

import fnmatch
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from assay import ROOT, sandbox
from assay.grade_profile import check


@dataclass(frozen=True)
class Target:
    """What is built with a patch."""

    name: str
    copied: tuple[str, ...]  # Of the tree.
    out: str  # Where it is built,
    taken: tuple[str, ...]  # and what of that is taken over.
    made: str
    arguments: str = ""  # For make.


KERNEL = Target("kernel", ("Makefile", "kernel", "include", "defs", "tools/callsites",
                           "tools/ksyms", "tools/mig", "tools/migcom", "lib"),
                "out/fast", ("gen", "obj/kernel", "obj/gen", "obj/text"),
                "out/fast/mach_kernel", "FAST=1")
SERVER = Target("server", ("Makefile", "servers", "include", "defs", "tools/mig",
                           "tools/migcom", "lib", "libprof"),
                "out", ("gen", "obj/gen", "obj/lib", "obj/libprof", "obj/servers", "obj/text",
                        "lib"),
                "out/servers/ux-sample")
BUNDLED = ROOT / "out" / "mig-output"
NAMES = re.compile(
    rb"^(?:---|\+\+\+|rename (?:from|to)|copy (?:from|to)) (?:\"?[ab]/)?([^\t\n\"]+)|"
    rb"^diff --git a/(\S+) b/(\S+)$", re.MULTILINE)


class Limits(sandbox.Limits):
    """A whole kernel, or server, takes longer than a program."""

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


def script(target: Target, patch: Path, allowed: tuple[str, ...]) -> str:
    """What copies, patches and builds; `git apply` is asked for the same names.

    The host's own compiler is not needed, nor is MIG where its output is there: make knows that by
    the variable that a folder of this name has in the room.
    """
    check_names(patch.read_bytes(), allowed)
    include = " ".join(f"--include='{pattern}'" for pattern in allowed)
    lines = [f"mkdir -p $TMP/tree/tools $TMP/tree/{target.out}/obj", "cd $TMP/tree"]
    lines += [f"cp -a ${variable(name)} {name}" for name in target.copied]
    lines += [f"cp -a ${variable(f'built {name}')} {target.out}/{name}" for name in built(target)]
    return "\n".join([
        *lines, f"git apply --whitespace=nowarn {include} $HANDED_IN/{patch.name} >&2",
        f"make -s -j2 HOSTCC=: {target.arguments} {target.made} </dev/null >$TMP/log 2>&1 || "
        "{ grep -E 'error|Error|warning|\\*\\*\\*' $TMP/log >&2; exit 1; }",
        f"cat {target.made}"])


def variable(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()


def built(target: Target) -> tuple[str, ...]:
    is_whole = all((ROOT / target.out / name).is_dir() for name in target.taken)
    return target.taken if is_whole else ()


def mig_output() -> Optional[Path]:
    """What stands in for MIG: a bundle's, or what `make` is told of on this host."""
    told = os.environ.get("MIG_OUTPUT")
    folder = Path(told) if told else BUNDLED
    return folder if folder.is_dir() else None


def folders(target: Target) -> dict[str, Path]:
    """Of the host's, for the room."""
    there = {variable(name).lower(): ROOT / name for name in target.copied}
    there |= {variable(f"built {name}").lower(): ROOT / target.out / name
              for name in built(target)}
    generated = mig_output()
    return there | ({"mig_output": generated} if generated else {})
