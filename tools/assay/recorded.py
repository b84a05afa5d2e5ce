# SPDX-License-Identifier: MIT
"""Which files of this host are the programs of a recording that `monctl -record` made.

A recording says of each program where it lay in the machine and what sum its code has
(<gmon_program.h>).  Programs of the disk image are where boot/manifest says; others are looked for
beside the recording and among what was built.  A file whose code has another sum is none of them:
its functions would be at other places, and nobody would see it.
"""

import struct
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

from assay import OUT, image
from assay.programs import shown

MAGIC = b"PERFILE2"
PIPE_HEADER = 16
MMAP2 = 10
MODE, KERNEL = 7, 1  # Of a record's second word.
PLACES = ("user", "servers", "tests/ux/programs", "sdk/bin")
KERNEL_PATH = "/mach_kernel"
KERNEL_FILE = OUT / "mach_kernel"

PT_LOAD, PF_X = 1, 1
ELF_HEADER, SEGMENT = 52, 32


class Program(NamedTuple):
    path: str  # In the machine.
    sum: int  # 0: not known.


class Record(NamedTuple):
    kind: int
    misc: int
    bytes: bytes  # All of it.

    @property
    def is_kernel(self) -> bool:
        return self.kind == MMAP2 and self.misc & MODE == KERNEL


# ---------------- What the recording says ----------------

def is_recording(file: Path) -> bool:
    with file.open("rb") as recording:
        return recording.read(len(MAGIC)) == MAGIC


def records(data: bytes) -> Iterator[Record]:
    """Up to where the file is damaged: who shows it says what is wrong."""
    at = PIPE_HEADER
    while at + 8 <= len(data):
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        if size < 8 or at + size > len(data):
            return
        yield Record(kind, misc, data[at:at + size])
        at += size


def programs_of(data: bytes) -> list[Program]:
    """Each once."""
    found: dict[Program, None] = {}
    for record in records(data):
        if record.kind != MMAP2 or len(record.bytes) <= 72:
            continue
        path = record.bytes[72:].partition(b"\0")[0].decode(errors="replace")
        if record.is_kernel:
            found[Program(KERNEL_PATH, 0)] = None
        elif path.startswith("/"):
            found[Program(path, struct.unpack_from("<I", record.bytes, 56)[0])] = None
    return list(found)


# ---------------- The files of this host ----------------

def code_of(elf: bytes) -> bytes:
    """What is summed up of a program: its first segment of code, without the file's headers."""
    if len(elf) < ELF_HEADER or elf[:6] != b"\x7fELF\x01\x01":
        return b""
    table, = struct.unpack_from("<I", elf, 28)
    count, = struct.unpack_from("<H", elf, 44)
    headers = table + count * SEGMENT
    for at in range(table, min(headers, len(elf) - SEGMENT), SEGMENT):
        kind, begin, _, _, in_file, in_memory, flags = struct.unpack_from("<7I", elf, at)
        if kind == PT_LOAD and flags & PF_X and in_memory:
            end = min(begin + in_file, len(elf))
            begin = max(begin, (headers + 3) & ~3) if begin < headers else begin
            return elf[begin:begin + (max(end - begin, 0) & ~3)]
    return b""


def code_sum(elf: bytes) -> int:
    code, sum_ = code_of(elf), 0
    for (word,) in struct.iter_unpack("<I", code):
        sum_ ^= word
        sum_ = ((sum_ << 13 | sum_ >> 19) & 0xFFFFFFFF) * 0x9E3779B1 & 0xFFFFFFFF
    return sum_ ^ len(code)


def sources() -> dict[str, Path]:
    """The programs of the disk image, by their paths there."""
    entries = list(image.read_manifest())
    files = {entry.path: entry.source for entry in entries if entry.is_program}
    return files | {entry.path: files[entry.target] for entry in entries
                    if entry.target in files}


def places(program: Program, known: dict[str, Path], recording: Path) -> Iterator[Path]:
    """Where its file may be, the likeliest first."""
    if program.path in known:
        yield known[program.path]
    name = Path(program.path).name
    yield recording.absolute().parent / name
    yield from (OUT / folder / name for folder in PLACES)


def find(program: Program, known: dict[str, Path],
         recording: Path) -> tuple[Optional[Path], Optional[Path]]:
    """Its file; if there is none, one of its name that is another program."""
    other = None
    for place in places(program, known, recording):
        if not place.is_file() or place.read_bytes()[:4] != b"\x7fELF":
            continue
        if program.sum in (0, code_sum(place.read_bytes())):
            return place, None
        other = other or place
    return None, other


def link_programs(recording: Path, folder: Path) -> list[str]:
    """Makes the guest's file system of links, as far as it is programs of the recording.

    Returns what is to be said of those that are not there.
    """
    said, known = [], sources()
    for program in programs_of(recording.read_bytes()):
        file, other = find(program, known, recording)
        link = folder / program.path.lstrip("/")
        if file is None and other is not None:
            said.append(f"{program.path}: {shown(other)} is another program than what ran, so its "
                        "functions have no names here")
        elif file is None:
            said.append(f"{program.path}: there is no such program here, so its functions have no "
                        f"names; put it beside {recording.name}")
        elif not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file.resolve())
    return said
