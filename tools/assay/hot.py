# SPDX-License-Identifier: MIT
"""What was executed, function by function: reads the counts that out/plugin/hot.so writes.

The plugin knows addresses, pages and the bytes of instructions (tools/hot.c).  This module owns
the way from there to functions: which program an address belongs to, which of its functions, and
what kind of instruction it is.  tools/hot prints it and the benchmarks read it.
"""

import bisect
import re
import struct
from collections import Counter, defaultdict
from pathlib import Path
from typing import Iterable, Iterator, NamedTuple, Optional

from assay import ROOT, ToolError

KERNEL_BASE = 0xC0000000

PT_LOAD = 1
SHT_SYMTAB = 2
SHF_EXECINSTR = 4
STT_NOTYPE, STT_FUNC = 0, 2


class Function(NamedTuple):
    name: str
    start: int
    end: int


class Image:
    """An ELF program: its functions, and what it puts into memory."""

    def __init__(self, name: str, path: Path, is_kernel: bool = False):
        self.name = name
        self.is_kernel = is_kernel
        self.elf = path.read_bytes()
        if self.elf[:6] != b"\x7fELF\x01\x01":
            raise ToolError(f"{path} is not a 32-bit ELF file")
        header = struct.unpack_from("<16xHHIIIIIHHHHHH", self.elf)
        entry, ph_offset, sh_offset = header[3:6]
        ph_size, ph_count, sh_size, sh_count = header[8:12]
        # A boot loader enters the kernel at the physical address of its entry.
        self.entry = entry - KERNEL_BASE if entry >= KERNEL_BASE else entry
        self.segments = [
            (address, file_size, offset)
            for kind, offset, address, _, file_size in (
                struct.unpack_from("<5I", self.elf, ph_offset + i * ph_size)
                for i in range(ph_count)
            )
            if kind == PT_LOAD
        ]
        self.sections = [
            struct.unpack_from("<10I", self.elf, sh_offset + i * sh_size) for i in range(sh_count)
        ]
        self.functions = self._without_inner_labels(self._labels())
        self.starts = [f.start for f in self.functions]

    def _labels(self) -> Iterator[Function]:
        """The symbols of code.  Labels of assembly code have no size: they end where they start."""
        for section in self.sections:
            kind, offset, size, names = section[1], section[4], section[5], section[6]
            if kind != SHT_SYMTAB:
                continue
            for at in range(offset, offset + size, 16):
                name_at, start, length, info, _, home = struct.unpack_from("<IIIBBH", self.elf, at)
                if info & 15 not in (STT_NOTYPE, STT_FUNC) or not 0 < home < len(self.sections):
                    continue
                if not self.sections[home][2] & SHF_EXECINSTR:
                    continue
                name_at += self.sections[names][4]
                name = self.elf[name_at : self.elf.index(b"\0", name_at)].decode()
                yield Function(name, start, start + length)

    @staticmethod
    def _without_inner_labels(labels: Iterable[Function]) -> list[Function]:
        """By address, one for each: a label inside of a function that has a size is none itself."""
        functions: list[Function] = []
        for f in sorted(labels, key=lambda f: (f.start, -f.end, f.name)):
            if functions and (f.start < functions[-1].end or f.start == functions[-1].start):
                continue
            functions.append(f)
        return functions

    def linked(self, address: int) -> int:
        """Where the code that ran at this address was linked.

        Before the kernel has turned paging on, it runs at its physical addresses.
        """
        if self.is_kernel and address < KERNEL_BASE and not self.bytes_at(address, 1):
            return address + KERNEL_BASE
        return address

    def function_at(self, address: int) -> Optional[Function]:
        """The function that holds this linked address: the last one that starts there or below."""
        i = bisect.bisect_right(self.starts, address) - 1
        return self.functions[i] if i >= 0 and self.bytes_at(address, 1) else None

    def function(self, name: str) -> Optional[Function]:
        return next((f for f in self.functions if f.name == name), None)

    def place(self, address: int) -> str:
        """The address as a reader wants it: function+offset."""
        function = self.function_at(address)
        return f"{function.name}+{address - function.start:#x}" if function else f"{address:#x}"

    def bytes_at(self, address: int, size: int) -> bytes:
        """What the file puts there; nothing if that is not in the file."""
        for start, length, offset in self.segments:
            if start <= address < start + length:
                at = offset + address - start
                return self.elf[at : at + min(size, start + length - address)]
        return b""


class Instruction(NamedTuple):
    address: int
    page: str  # Which page of the machine's memory it lay in: a name, nothing more.
    code: bytes
    count: int


class Stretch(NamedTuple):
    """The longest run of kernel instructions of one CPU without a pause."""

    length: int
    cpu: int
    first: int
    last: int


class Counts(NamedTuple):
    instructions: list[Instruction]
    stretch: Stretch
    windows: int
    total: int


def read_counts(path: Path) -> Counts:
    """Reads what the plugin wrote.  A file without its last line is of a run that was killed."""
    lines = path.read_text().splitlines()
    if len(lines) < 4 or lines[0] != "hot 1" or not lines[-1].startswith("total "):
        raise ToolError(f"{path}: no counts, or not all of them: the run was cut off")
    instructions = []
    for line in lines[1:-3]:
        address, page, code, count = line.split()
        instructions.append(Instruction(int(address, 16), page, bytes.fromhex(code), int(count)))
    _, length, cpu, first, last = lines[-3].split()
    stretch = Stretch(int(length), int(cpu), int(first, 16), int(last, 16))
    return Counts(instructions, stretch, int(lines[-2].split()[1]), int(lines[-1].split()[1]))


PREFIXES = re.compile(rb"[\x26\x2e\x36\x3e\x64-\x67\xf0\xf2\xf3]*")


def kind_of(code: bytes) -> Optional[str]:
    """lock, cr3 or invlpg for the instructions whose number the benchmarks watch, else None."""
    prefixes = PREFIXES.match(code).group()
    rest = code[len(prefixes) :]
    operands = rest[2] if len(rest) > 2 else 0
    if b"\xf0" in prefixes:
        return "lock"
    if len(rest) > 1 and rest[0] in (0x86, 0x87) and rest[1] < 0xC0:
        return "lock"  # xchg with memory locks without the prefix.
    if rest[:2] == b"\x0f\x22" and operands & 0x38 == 0x18:
        return "cr3"
    if rest[:2] == b"\x0f\x01" and operands & 0x38 == 0x38 and operands < 0xC0:
        return "invlpg"
    return None


class Line(NamedTuple):
    """One line of the histogram.  Calls are executions of the function's first instruction."""

    instructions: int
    calls: int
    function: str
    image: str


class Histogram(NamedTuple):
    lines: list[Line]  # Most instructions first.
    kinds: dict[str, int]  # Executions by kind_of: lock, cr3, invlpg.
    total: int


UNKNOWN = "?"


def _images_of(page: list[Instruction], images: list[Image]) -> Iterator[Optional[Image]]:
    """For each instruction of one page of memory, the image whose code it is.

    One instruction may look the same in two programs, a page of them seldom does: the image that
    agrees with most of the page is asked first.
    """

    def agrees(image: Image, i: Instruction) -> bool:
        return image.bytes_at(image.linked(i.address), len(i.code)) == i.code

    ranked = sorted(images, key=lambda image: -sum(agrees(image, i) for i in page))
    for i in page:
        yield next((image for image in ranked if agrees(image, i)), None)


def _by_image(
    counts: Counts, kernel: Image, programs: list[Image]
) -> Iterator[tuple[Instruction, Optional[Image]]]:
    """Each instruction with the image it belongs to, if any does.

    Above KERNEL_BASE there is only the kernel; below, its boot code is one candidate of many.
    """
    pages: dict[tuple, list[Instruction]] = defaultdict(list)
    for i in counts.instructions:
        pages[i.page, i.address >> 12].append(i)
    for page in pages.values():
        if page[0].address >= KERNEL_BASE:
            yield from ((i, kernel) for i in page)
        else:
            yield from zip(page, _images_of(page, programs + [kernel]))


def histogram(counts: Counts, kernel: Image, programs: list[Image]) -> Histogram:
    """Every instruction in the line of its function; what is in no function, in the line `?`."""
    instructions: Counter = Counter()
    calls: Counter = Counter()
    kinds = {"lock": 0, "cr3": 0, "invlpg": 0}
    for i, image in _by_image(counts, kernel, programs):
        address = image.linked(i.address) if image else i.address
        function = image.function_at(address) if image else None
        line = (function.name, image.name) if image and function else (UNKNOWN, UNKNOWN)
        instructions[line] += i.count
        if function and address == function.start:
            calls[line] += i.count
        if kind := kind_of(i.code):
            kinds[kind] += i.count

    lines = [Line(n, calls[line], *line) for line, n in instructions.items()]
    lines.sort(key=lambda line: (-line.instructions, line.image, line.function))
    total = sum(line.instructions for line in lines)
    if total != counts.total:
        raise ToolError(f"{total} instructions have a line, but {counts.total} were executed")
    return Histogram(lines, kinds, total)


# Where a CPU in the kernel lets others in or waits, beside `hlt`.
PAUSES = ("kernel_pause", "kernel_lock_wait", "kernel_unlock_fair")


def plugin_option(
    out: Path,
    kernel: Image,
    marked: bool = False,
    start: Optional[int] = None,
    stop: Optional[int] = None,
) -> str:
    """The value of QEMU's option -plugin, for counts in the file `out`.

    The window opens at `start`, or at the kernel's entry, or with `marked` where the program says.
    """
    plugin = ROOT / "out" / "plugin" / "hot.so"  # One for all builds: it is the host's.
    if not plugin.is_file():
        raise ToolError(f"there is no plugin {plugin}: `make` builds it")
    words = [str(plugin.resolve()), f"out={out.resolve()}"]
    if any("," in word for word in words):
        raise ToolError(f"QEMU takes no plugin and no counts with a comma in their path: {words}")
    if marked:
        words.append("markers=on")
    if start is not None or not marked:
        words.append(f"from={kernel.entry if start is None else start:#x}")
    if stop is not None:
        words.append(f"to={stop:#x}")
    for function in filter(None, map(kernel.function, PAUSES)):
        words.append(f"pause={function.start:#x}-{max(function.end, function.start + 1):#x}")
    return ",".join(words)
