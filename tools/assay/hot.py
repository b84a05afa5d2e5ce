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
from typing import Callable, Iterable, Iterator, NamedTuple, Optional

from assay import OUT, ROOT, ToolError

KERNEL_BASE = 0xC0000000

PT_LOAD = 1
SHT_SYMTAB = 2
SHF_EXECINSTR = 4
STT_NOTYPE, STT_FUNC = 0, 2

LAYOUT = "<28sI"  # kernel/task/layout.c

KEYS = ("cpu", "thread", "task", "label")  # What counts can be split by.


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
        ph_size, ph_count, sh_size, sh_count, names = header[8:13]
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
        self.section_names = self.sections[names][4] if sh_count else 0
        self.functions = self._without_inner_labels(self._labels())
        self.starts = [f.start for f in self.functions]

    def _string(self, at: int) -> str:
        return self.elf[at : self.elf.index(b"\0", at)].decode()

    def layout(self) -> dict[str, int]:
        """Where in its memory this kernel has who runs, by kernel/task/layout.c."""
        for section in self.sections:
            if self._string(self.section_names + section[0]) == ".layout":
                table = self.elf[section[4] : section[4] + section[5]]
                return {name.rstrip(b"\0").decode(): value
                        for name, value in struct.iter_unpack(LAYOUT, table)}
        raise ToolError(f"{self.name} does not tell its layout, so nobody can say who runs")

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
                name = self._string(self.sections[names][4] + name_at)
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

    def label(self, name: str) -> Optional[int]:
        """The address of a symbol in the code, which may lie inside of a function."""
        return next((f.start for f in self._labels() if f.name == name), None)

    def function(self, name: str) -> Optional[Function]:
        """By its name in the source: where all files are linked as one, static ones have more."""
        return next((f for f in self.functions
                     if name in (f.name, f.name.partition(".lto_priv")[0])), None)

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


class Who(NamedTuple):
    """Who executed instructions: None where that was not asked for; all are 0 before there is a
    thread.  A label of 0 is the system's, and so is a task of 0."""

    cpu: Optional[int] = None
    thread: Optional[int] = None
    task: Optional[int] = None
    label: Optional[int] = None
    idle: bool = False  # It is a CPU's idle thread.
    sampling: bool = False  # It is in the sampling interrupt, where no sample can find it.


class Counts(NamedTuple):
    instructions: list[Instruction]
    stretch: Stretch
    windows: int
    total: int
    by: dict[Who, dict[int, int]] = {}  # Counts of instructions, by their place in the list.
    names: dict[int, str] = {}  # Of the tasks that ran.

    def of(self, wanted: Callable[[Who], bool]) -> "Counts":
        """What those executed that are wanted; the stretch is still anybody's."""
        sums: Counter = Counter()
        for who, counts in self.by.items():
            if wanted(who):
                sums.update(counts)
        instructions = [self.instructions[n]._replace(count=sums[n]) for n in sorted(sums)]
        return self._replace(instructions=instructions, total=sum(sums.values()), by={})

    def sums(self) -> dict[Who, int]:
        return {who: sum(counts.values()) for who, counts in self.by.items()}

    def split(self, keys: Iterable[str]) -> dict[Who, Counter]:
        """The counts by these keys alone; an idle thread is idle, whatever its number."""
        found: dict[Who, Counter] = defaultdict(Counter)
        wanted = tuple(keys)
        for who, mine in self.by.items():
            whose = Who(**{key: getattr(who, key) for key in wanted}, idle=who.idle,
                        sampling=who.sampling)
            if None in (getattr(whose, key) for key in wanted):
                break
            found[whose].update(mine)
        if not found:
            raise ToolError(f"these counts are not split by {' and '.join(wanted)}")
        return dict(found)


FIRST_LINE = "hot 2"
IDLE, SAMPLING = 1, 2


def _read_sections(lines: Iterable[str]) -> Counts:
    """Between the first line and the last three: instructions, who executed them, tasks."""
    counts = Counts([], Stretch(0, 0, 0, 0), 0, 0, {}, {})
    mine: dict[int, int] = {}
    for line in lines:
        words = line.split(maxsplit=5)
        if words[0] == "who":
            ids = [None if word == "-" else int(word) for word in words[1:5]]
            flags = int(words[5])
            mine = counts.by[Who(*ids, bool(flags & IDLE), bool(flags & SAMPLING))] = {}
        elif words[0] == "task":
            counts.names[int(words[1])] = line.split(" ", 2)[2]
        elif len(words) == 2:
            mine[int(words[0])] = int(words[1])
        else:
            address, page, code, count = words
            counts.instructions.append(
                Instruction(int(address, 16), page, bytes.fromhex(code), int(count)))
    return counts


def _check_sums(counts: Counts, path: Path) -> None:
    """What all executed together is what was executed: two accounts of the plugin's."""
    sums: Counter = Counter()
    for mine in counts.by.values():
        sums.update(mine)
    if counts.by and any(i.count != sums[n] for n, i in enumerate(counts.instructions)):
        raise ToolError(f"{path}: there are instructions that nobody executed, or two")


def read_counts(path: Path) -> Counts:
    """Reads what the plugin wrote.  A file without its last line is of a run that was killed."""
    lines = path.read_text(errors="replace").splitlines()
    if len(lines) < 4 or lines[0] != FIRST_LINE or not lines[-1].startswith("total "):
        old = lines and lines[0].startswith("hot ") and lines[0] != FIRST_LINE
        raise ToolError(f"{path}: counts of another version, `{lines[0]}`: count again" if old else
                        f"{path}: no counts, or not all of them: the run was cut off")
    counts = _read_sections(lines[1:-3])
    _check_sums(counts, path)
    _, length, cpu, first, last = lines[-3].split()
    stretch = Stretch(int(length), int(cpu), int(first, 16), int(last, 16))
    return counts._replace(stretch=stretch, windows=int(lines[-2].split()[1]),
                           total=int(lines[-1].split()[1]))


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


FEW = 8  # Instructions of a page that are asked for first, to drop most images.


def _images_of(page: list[Instruction], images: list[Image]) -> Iterator[Optional[Image]]:
    """For each instruction of one page of memory, the image whose code it is.

    One instruction may look the same in two programs, a page of them seldom does: the image that
    agrees with most of the page is asked first.
    """

    def agrees(image: Image, i: Instruction) -> bool:
        return image.bytes_at(image.linked(i.address), len(i.code)) == i.code

    some = page[:: max(1, len(page) // FEW)]
    likely = [image for image in images if any(agrees(image, i) for i in some)]
    ranked = sorted(likely, key=lambda image: -sum(agrees(image, i) for i in page))
    for i in page:
        yield next((image for image in ranked if agrees(image, i)), None)


class Place(NamedTuple):
    """Where an instruction is, as far as that is known."""

    function: str
    image: str
    begins: bool = False  # It is the function's first.


UNKNOWN = "?"
NOWHERE = Place(UNKNOWN, UNKNOWN)


def _place_in(image: Optional[Image], address: int) -> Place:
    address = image.linked(address) if image else address
    function = image.function_at(address) if image else None
    return Place(function.name, image.name, address == function.start) if function else NOWHERE


def places(counts: Counts, kernel: Image, programs: list[Image]) -> list[Place]:
    """Of each instruction.

    Above KERNEL_BASE there is only the kernel; below, its boot code is one candidate of many.
    """
    pages: dict[tuple, list[int]] = defaultdict(list)
    for n, i in enumerate(counts.instructions):
        pages[i.page, i.address >> 12].append(n)
    found = [NOWHERE] * len(counts.instructions)
    for numbers in pages.values():
        page = [counts.instructions[n] for n in numbers]
        images = ([kernel] * len(page) if page[0].address >= KERNEL_BASE
                  else _images_of(page, programs + [kernel]))
        for n, i, image in zip(numbers, page, images):
            found[n] = _place_in(image, i.address)
    return found


def lines_of(executed: dict[int, int], found: list[Place]) -> list[Line]:
    """The functions of instructions that are known by their numbers; most instructions first."""
    instructions: Counter = Counter()
    calls: Counter = Counter()
    for n, count in executed.items():
        place = found[n]
        instructions[place[:2]] += count
        if place.begins:
            calls[place[:2]] += count
    lines = [Line(n, calls[place], *place) for place, n in instructions.items()]
    return sorted(lines, key=lambda line: (-line.instructions, line.image, line.function))


def histogram(counts: Counts, kernel: Image, programs: list[Image]) -> Histogram:
    """Every instruction in the line of its function; what is in no function, in the line `?`."""
    kinds = {"lock": 0, "cr3": 0, "invlpg": 0}
    for i in counts.instructions:
        if kind := kind_of(i.code):
            kinds[kind] += i.count
    executed = {n: i.count for n, i in enumerate(counts.instructions)}
    lines = lines_of(executed, places(counts, kernel, programs))
    total = sum(line.instructions for line in lines)
    if total != counts.total:
        raise ToolError(f"{total} instructions have a line, but {counts.total} were executed")
    return Histogram(lines, kinds, total)


def is_program(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(6) == b"\x7fELF\x01\x01"


def unix_images(server: str = "ux") -> list[Image]:
    """The Unix server, and what its disk has."""
    beside = [file for file in sorted((OUT / "servers").iterdir()) if file.stem[:2] != "ux"]
    files = [OUT / "servers" / server, *sorted((OUT / "user").iterdir()), *beside]
    return [Image(file.name, file) for file in files if is_program(file)]


# The sampling interrupt: its first instruction and, unless `iret` ends it, the first that is not.
SAMPLERS = (("vector_sample", "sample_returns"), ("vector_2",))

# Where a CPU in the kernel lets others in or waits, beside `hlt`.
PAUSES = ("kernel_pause", "kernel_lock_wait", "kernel_unlock_fair")


def plugin_option(
    out: Path,
    kernel: Image,
    marked: bool = False,
    start: Optional[int] = None,
    stop: Optional[int] = None,
    by: Iterable[str] = (),
    check: bool = False,
) -> str:
    """The value of QEMU's option -plugin, for counts in the file `out`, split by some of KEYS.

    The window opens at `start`, or at the kernel's entry, or with `marked` where the program says.
    `check`: before each instruction, that the plugin knows who runs; that takes long.
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
    if by:
        words += [f"by={'+'.join(by)}", *(f"{k}={v:#x}" for k, v in kernel.layout().items())]
        words += [f"sampler={'-'.join(hex(kernel.label(label) or 0) for label in sampler)}"
                  for sampler in SAMPLERS]
        words += ["check=on"] if check else []
    for function in filter(None, map(kernel.function, PAUSES)):
        words.append(f"pause={function.start:#x}-{max(function.end, function.start + 1):#x}")
    return ",".join(words)
