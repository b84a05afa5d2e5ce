# SPDX-License-Identifier: MIT
"""Programs and profiles made to order, and what gprofs print of them, read back."""

import os
import re
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from assay import OUT

GPROF = OUT / "bin" / "gprof"
GNU = "/usr/bin/gprof"

USER, KERNEL = 0x08049000, 0xC0100000
FUNCTION_BYTES = 64
MADE = 1000  # When programs were, in seconds since 1970.

MAGIC_44BSD = 0x51879

# <gmon.h>
EXTRA_VALUE, EXTRA_VALUE_HIGH, EXTRA_CPU, EXTRA_PC = 0x10, 0x11, 0x12, 0x100
EXTRA_LABEL, EXTRA_LABEL_PID, EXTRA_LABEL_NAME = 0x20, 0x21, 0x22
EXTRA_CODE, EXTRA_CODE_SUM = 0x30, 0x31
VALUES = ("format flavor flavors rate interval options pid task due fired missed idle elsewhere "
          "taken all_taken delivered lost buffered profiler outside arcs_lost kernel others "
          "text_low text_high parked").split()
PERIODIC, ZFILL, COW = 0x1, 0x10, 0x80


def code_sum(code: bytes) -> int:
    """What <gmon_program.h> calls the sum of a program's code."""
    sum_ = 0
    for (word,) in struct.iter_unpack("<I", code):
        sum_ ^= word
        sum_ = ((sum_ << 13 | sum_ >> 19) & 0xFFFFFFFF) * 0x9E3779B1 & 0xFFFFFFFF
    return sum_ ^ len(code)


def code_records(start: int, code: bytes) -> list[tuple[int, int, int]]:
    return [(EXTRA_CODE, start, len(code)), (EXTRA_CODE_SUM, start, code_sum(code))]


def assemble(path: Path, text: str, entry: str, start: int = USER) -> Path:
    """Makes a program, so dated that no profile is older, whatever this machine's clock does."""
    source, thing = path.with_suffix(".s"), path.with_suffix(".o")
    source.write_text(text)
    subprocess.run(["i686-linux-gnu-as", "-o", thing, source], check=True)
    subprocess.run(["i686-linux-gnu-ld", f"-Ttext={start:#x}", "-e", entry, "-o", path, thing],
                   check=True)
    os.utime(path, (MADE, MADE))
    return path


def make_program(path: Path, names: list[str], text: int = USER, calls: dict | None = None,
                 static: tuple[str, ...] = ()) -> Path:
    """Makes a program of functions of 64 bytes each, which call what `calls` says."""
    lines = [".text"]
    for name in names:
        if name not in static:
            lines.append(f".globl {name}")
        lines += [f".type {name}, @function", ".balign 64", f"{name}:"]
        lines += [f"call {callee}" for callee in (calls or {}).get(name, ())]
        lines += ["ret", f".balign {FUNCTION_BYTES}", f".size {name}, . - {name}"]
    return assemble(path, "\n".join(lines) + "\n", names[0], text)


# ---------------- Files ----------------

@dataclass
class Profile:
    """What a gmon.out says; written in the form asked for."""
    low: int
    bins: list[int]
    arcs: list[tuple[int, int, int]] = field(default_factory=list)
    step: int = 2
    rate: int = 1
    dimension: str = "ticks"
    values: dict[str, int] = field(default_factory=dict)
    exact: list[tuple[int, int, int, int]] = field(default_factory=list)  # bit, mode, pc, count
    extra: list[tuple[int, int, int]] = field(default_factory=list)  # Records of ours.

    @property
    def high(self) -> int:
        return self.low + self.step * len(self.bins)

    def records(self) -> bytes:
        """Histograms, as many as the bins need, and arcs."""
        out, bins = b"", self.bins
        while True:
            part = [min(count, 0xFFFF) for count in bins]
            out += b"\0" + struct.pack("<IIII15sc", self.low, self.high, len(bins), self.rate,
                                       self.dimension.encode(), self.dimension[:1].encode())
            out += struct.pack(f"<{len(part)}H", *part)
            bins = [count - taken for count, taken in zip(bins, part)]
            if not any(bins):
                return out + b"".join(b"\1" + struct.pack("<III", *arc) for arc in self.arcs)

    def gnu(self) -> bytes:
        return b"gmon" + struct.pack("<I12x", 1) + self.records()

    def ours(self) -> bytes:
        """With what include/gmon.h adds."""
        extra = list(self.extra)
        for name, value in ({"format": 1} | self.values).items():
            number = VALUES.index(name) + 1
            extra.append((EXTRA_VALUE, number, value & 0xFFFFFFFF))
            if value >> 32:
                extra.append((EXTRA_VALUE_HIGH, number, value >> 32))
        extra += [(EXTRA_PC + 2 * (bit.bit_length() - 1) + mode, pc, count)
                  for bit, mode, pc, count in self.exact]
        return self.gnu() + b"".join(b"\1" + struct.pack("<III", *arc) for arc in extra)

    def bsd(self, version: int = 42) -> bytes:
        """Of 4.2BSD, or with 44 of 4.4BSD."""
        head = 32 if version == 44 else 12
        out = struct.pack("<IIi", self.low, self.high, head + 2 * len(self.bins))
        if version == 44:
            out += struct.pack("<Ii12x", MAGIC_44BSD, self.rate)
        out += struct.pack(f"<{len(self.bins)}H", *self.bins)
        return out + b"".join(struct.pack("<III", *arc) for arc in self.arcs)


# ---------------- Output ----------------

def make_bins(names: list[str], counts: dict[int, int]) -> list[int]:
    """The histogram of a program of make_program(), with so many samples at these places."""
    bins = [0] * (len(names) * FUNCTION_BYTES // 2)
    for place, count in counts.items():
        bins[(place - USER) // 2] = count
    return bins


def run(program: str | Path, *arguments: str | Path, cwd: Path | None = None
        ) -> subprocess.CompletedProcess:
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          cwd=cwd)


def output(*arguments: str | Path, gprof: str | Path = GPROF, cwd: Path | None = None) -> str:
    done = run(gprof, *arguments, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@dataclass(frozen=True)
class Entry:
    """A function's own line of the call graph."""
    self: float
    child: float
    calls: int
    self_calls: int
    cycle: bool


OWN_LINE = re.compile(r"^\[\d+\] +[\d.]+ +([\d.]+) +([\d.]+)(?: +(\d+)(?:\+(\d+))?)? +(\S.*)$")
NAME = re.compile(r"^(.*?)(?: <cycle \d+>)?(?: \[\d+\])?$")


def read_graph(text: str) -> dict[str, Entry]:
    """Entries by name; cycles by the sum that they have, since their numbers may differ."""
    found = {}
    for line in text.splitlines():
        match = OWN_LINE.match(line)
        if not match:
            continue
        own, child, calls, again, name = match.groups()
        entry = Entry(float(own), float(child), int(calls or 0), int(again or 0), "<cycle" in name)
        if "as a whole" in name:
            name = f"cycle {own} {child} {calls} {again}"
        found[NAME.match(name)[1]] = entry
    return found


FLAT_LINE = re.compile(r"^ *([\d.]+) +([\d.]+) +([\d.]+)(?: +(\d+) +([\d.]+) +([\d.]+))?  +(\S+)$")


def read_flat(text: str) -> dict[str, tuple[float, int]]:
    """Own time and calls by name."""
    lines = text[text.index("Flat profile"):].splitlines()
    matches = filter(None, map(FLAT_LINE.match, lines))
    return {match[7]: (float(match[3]), int(match[4] or 0)) for match in matches}
