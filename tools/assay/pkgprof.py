# SPDX-License-Identifier: MIT
"""Puts pkgmon's files together: one profile, and one file of symbols that it is a profile of.

Each part (137u, 137k, ...) is a program of its own with addresses of its own.  In the whole it
lies somewhere else, one part behind the other, and its functions have its name before theirs:
137k:fault.  So a gprof that knows one program and one profile prints all parts in one listing.
"""

import argparse
import re
import struct
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

from assay import OUT, ROOT, ToolError, hot

MAGIC = b"gmon\x01\0\0\0" + bytes(12)
HISTOGRAM, ARC = 0, 1
HISTOGRAM_HEADER = struct.Struct("<4I15sc")
ARC_RECORD = struct.Struct("<3I")

# include/gmon.h
EXTRA_VALUE, EXTRA_CODE, EXTRA_CODE_SUM, EXTRA_PC, EXTRA_END = 0x010, 0x030, 0x031, 0x100, 0x1000
EXTRA_LABEL_PID = 0x021
RATE, FORMAT, PID = 4, 1, 7
USER_MODE, KERNEL_MODE = EXTRA_PC, EXTRA_PC + 1  # Of the first flavor, periodic.

PROCESS = r"\d+(?:\+\d+)?|-"
INFORMATION = re.compile(rf"gmon\.out\.({PROCESS})\.(.+)")
SYSTEM_PARTS = {"gmon.out.-k.kernel": "kernel", "gmon.out.-k.other": "other"}
OWN = "server"  # What stands where a process's name does, of servers' work for nobody.
KERNEL_FILE = "/mach_kernel"

FIRST_ADDRESS = 0x01000000
PAGE = 0x1000
BIN = 4  # Bytes of code for one of a histogram's bins.
MOST_IN_BIN = 0xFFFF
MOST_IN_ARC = 0x7FFFFFFF

TRAP = bytes((0x9A, 0, 0, 0, 0, 7, 0))  # lcall $7, $0: how programs call the kernel.
FAULTS_ENTRY = "interrupt_entry"


class Part(NamedTuple):
    process: Optional[str]  # For whom, 13 or 13+1; None: for nobody, or others.
    name: str  # What stands before its functions' names.
    file: Path
    program: str  # As the machine has it.


class Data(NamedTuple):
    rate: int
    samples: Counter  # By address, where the part itself ran.
    called_from: Counter  # By address, samples of the kernel that it had called from there.
    arcs: Counter  # By caller and called.
    code: tuple[int, int, int]  # So much of the program, from an address on, has this sum.
    process: int  # Its number; 0 for a file that tells none.
    task: int  # The kernel's number for it while it executed this program.


class Request(NamedTuple):
    """So many messages of one number to one server, from one place.  Of others nobody knows it."""
    process: Optional[str]
    caller: str  # The letters of a part's name.
    server: str
    id: int
    count: int
    frames: tuple[int, ...]  # Return addresses, the innermost first.


class Placed(NamedTuple):
    part: Part
    data: Data
    image: hot.Image
    low: int  # The program's own first address,
    high: int
    base: int  # and where the whole has it.

    def move(self, address: int) -> int:
        return address - self.low + self.base

    def is_entry(self, function: int, is_trap: bool) -> bool:
        """Of the kernel's functions: one that a trap leads to, or the one that a fault does."""
        there = self.image.function_at(function)
        name = there.name if there is not None else ""
        return name.startswith("trap_") if is_trap else name == "fault"

    def is_behind_trap(self, address: int) -> bool:
        return self.image.bytes_at(address - len(TRAP), len(TRAP)) == TRAP


# ---------------- Reading ----------------


def read_program(text: str) -> tuple[str, Path]:
    guest, _, host = text.partition("=")
    if not guest.startswith("/") or not host:
        raise argparse.ArgumentTypeError(f"{text}: say GUEST=HOST, as in /bin/try=out/try")
    return guest, Path(host)


def manifest() -> dict[str, Path]:
    """Where the disk's programs come from."""
    found = {KERNEL_FILE: OUT / "mach_kernel"}
    for line in (ROOT / "boot" / "manifest").read_text().splitlines():
        words = line.split()
        if words[:1] == ["program"]:
            found[words[1]] = OUT / Path(words[5]).relative_to("out")
    return found


def find_program(guest: str, named: dict[str, Path]) -> Path:
    known = named | {} if guest in named else manifest()
    path = known.get(guest, OUT / "user" / Path(guest).name)
    if not path.is_file():
        raise ToolError(f"{guest}: there is no such program here; say --program {guest}=FILE")
    return path


def number_of(process: str) -> int:
    return int(process.partition("+")[0])


def is_wanted(process: Optional[str], pids: Optional[list[int]]) -> bool:
    """All programs that a process has executed have its number."""
    return pids is None or (process is not None and number_of(process) in pids)


def parts_of(information: Path, process: Optional[str], name: str) -> Iterator[Part]:
    """By the file that tells what was measured."""
    suffix = ""
    for line in information.read_text(errors="replace").splitlines():
        word, _, value = line.partition(" ")
        if word == "part":
            suffix = value
        elif word == "of":
            prefix = name + suffix if process is None and name == OWN else suffix
            yield Part(process, prefix, information.with_name(f"gmon.out.{suffix}.{name}"), value)
        elif word not in ("pid", "program"):
            raise ToolError(f"{information}: {line!r} is nothing that pkgmon says")


def find_parts(folder: Path, pids: Optional[list[int]]) -> list[Part]:
    found: list[Part] = []
    there: set[int] = set()
    for path in sorted(folder.glob("gmon.out.*")):
        match = None if is_profile(path) else INFORMATION.fullmatch(path.name)
        process = match[1] if match is not None and match[1] != "-" else None
        if match is not None and is_wanted(process, pids):
            there |= {number_of(process)} if process is not None else set()
            found += parts_of(path, process, match[2])
        elif path.name in SYSTEM_PARTS and pids is None:
            found.append(Part(None, SYSTEM_PARTS[path.name], path, KERNEL_FILE))
    missing = set(pids or ()) - there
    if missing or not found:
        whose = f" of process {min(missing)}" if missing else ""
        raise ToolError(f"{folder}: pkgmon has left no files{whose} there")
    return found


def read_data(path: Path) -> Data:
    data = path.read_bytes()
    if data[:len(MAGIC)] != MAGIC:
        raise ToolError(f"{path} is no gmon.out of pkgmon's")
    values, samples, called_from, arcs = Counter(), Counter(), Counter(), Counter()
    first, size, code_sum, task = 0, 0, 0, 0
    at = len(MAGIC)
    try:
        while at < len(data):
            tag, at = data[at], at + 1
            if tag == HISTOGRAM:  # The same as the exact places, which come later.
                at += HISTOGRAM_HEADER.size + 2 * HISTOGRAM_HEADER.unpack_from(data, at)[2]
                if at > len(data):
                    raise ToolError(f"{path} is cut off")
                continue
            if tag != ARC:
                raise ToolError(f"{path}: there is no record of kind {tag}, {at} bytes into it")
            caller, called, count = ARC_RECORD.unpack_from(data, at)
            at += ARC_RECORD.size
            if caller == USER_MODE:
                samples[called] += count
            elif caller == KERNEL_MODE:
                called_from[called] += count
            elif caller == EXTRA_VALUE:
                values[called] = count
            elif caller == EXTRA_LABEL_PID:
                task = task or called  # Others' come later, for whom the kernel was sampled.
            elif caller == EXTRA_CODE:
                first, size = called, count
            elif caller == EXTRA_CODE_SUM:
                code_sum = count
            elif caller >= EXTRA_END:
                arcs[caller, called] += count
    except struct.error as error:
        raise ToolError(f"{path} is cut off") from error
    if values[FORMAT] == 0:
        raise ToolError(f"{path} is cut off")
    return Data(values[RATE], samples, called_from, arcs, (first, size, code_sum), values[PID],
                task)


def is_profile(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[:len(MAGIC)] == MAGIC


def read_own_profiles(folder: Path, parts: list[Part]) -> dict[Path, Data]:
    """What programs that were compiled with -pg have written of themselves, beside pkgmon.  Of a
    file and its copies one."""
    of_pkgmon = {part.file for part in parts}
    files = {path.read_bytes(): path for path in sorted(folder.glob("gmon.out*"), reverse=True)
             if path not in of_pkgmon and path.name not in SYSTEM_PARTS and is_profile(path)}
    return {path: read_data(path) for path in sorted(files.values())}


REQUESTS = "gmon.out.-r.requests"
MESSAGES = OUT / "gen" / "messages" / "mach" / "messages.h"
MESSAGE = re.compile(r"#define ID_(\w+) +(\d+)")


def read_requests(folder: Path, pids: Optional[list[int]]) -> list[Request]:
    """Of these processes, or of all and of others; none where calls were not counted."""
    path = folder / REQUESTS
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            process, caller, server, number, count, *frames = line.split()
            if re.fullmatch(PROCESS, process) is None:
                raise ValueError(process)
            request = Request(None if process == "-" else process, caller, server, int(number),
                              int(count), tuple(int(frame, 16) for frame in frames))
        except ValueError as error:
            raise ToolError(f"{path}: {line!r} is nothing that pkgmon says") from error
        if is_wanted(request.process, pids):
            found.append(request)
    return found


def message_names() -> dict[int, str]:
    """What stubs are called, by the numbers of their messages."""
    return {int(number): name.lower() for name, number in MESSAGE.findall(MESSAGES.read_text())}


def routine_in(image: hot.Image, stub: str) -> Optional[hot.Function]:
    """What a server has for the messages of a stub: _Xread for bsd_read()'s."""
    known = {f.name.partition(".")[0]: f for f in image.functions if f.name.startswith("_X")}
    words = stub.split("_")
    names = ["_X" + "_".join(words[n:]) for n in range(len(words))]
    return next((known[name] for name in names if name in known), None)


# ---------------- The whole ----------------


def extent(image: hot.Image) -> tuple[int, int]:
    """The code's, as whole pages."""
    sections = [(s[3], s[3] + s[5]) for s in image.sections if s[2] & hot.SHF_EXECINSTR]
    if not sections:
        raise ToolError(f"{image.name} has no code")
    low = min(start for start, _ in sections) // PAGE * PAGE
    return low, -(-max(end for _, end in sections) // PAGE) * PAGE


def boundary(kernel: Placed, callers: list[Placed], is_trap: bool) -> Counter:
    """How often each place came into the kernel by a trap, or by a fault, is not counted.  How
    often all did is, and samples tell the places' shares."""
    leads_to = kernel.low if is_trap else kernel.image.label(FAULTS_ENTRY)
    entries = sum(count for (_, called), count in kernel.data.arcs.items()
                  if kernel.is_entry(called, is_trap))
    places = {p.move(address): count for p in callers
              for address, count in p.data.called_from.items()
              if p.low <= address < p.high and p.is_behind_trap(address) == is_trap}
    if leads_to is None or not places:
        return Counter()
    sampled = sum(places.values())
    return +Counter({(place, kernel.move(leads_to)): round(entries * count / sampled)
                     for place, count in places.items()})


SENDERS = ("mach_msg", "mach_msg_trap")  # What a stub sends its message by.


def is_for_stub(name: str, stub: str) -> bool:
    """A function of libc's that is there to call this stub, once each time: read(), bsd_read()."""
    return stub.endswith("_" + name.lstrip("_"))


def function_name(part: Placed, returns_to: int) -> str:
    function = part.image.function_at(returns_to - 1)
    return function.name if function is not None else f"{returns_to:#x}"


def pieces(count: int) -> Iterator[int]:
    """A count as the records of a gmon.out can have it."""
    while count > 0:
        yield min(count, MOST_IN_ARC)
        count -= MOST_IN_ARC


class Whole:
    def __init__(self, placed: list[Placed], requests: list[Request],
                 has_callers: bool = False) -> None:
        self.placed = placed
        self.requests = requests
        self.has_callers = has_callers  # All who led to a request call each other in the graph.
        self.left_out: list[str] = []  # What processes have written of themselves, and why.
        self.stubs = message_names() if requests else {}
        self.rate = max((p.data.rate for p in placed), default=0) or 1
        self.low = FIRST_ADDRESS
        self.high = max(p.base + p.high - p.low for p in placed)
        if any(p.data.rate not in (0, self.rate) for p in placed):
            raise ToolError("the files are of measurements at different rates: sample them anew")

    # -- the profile --

    def _bins(self) -> list[int]:
        bins = [0] * ((self.high - self.low) // BIN)
        for p in self.placed:
            for address, count in p.data.samples.items():
                if p.low <= address < p.high:
                    bins[(p.move(address) - self.low) // BIN] += count
        return bins

    def _histograms(self) -> Iterator[bytes]:
        """Readers add up what does not fit into one."""
        bins = self._bins()
        header = HISTOGRAM_HEADER.pack(self.low, self.high, len(bins), self.rate, b"seconds", b"s")
        while True:
            part = [min(count, MOST_IN_BIN) for count in bins]
            yield bytes([HISTOGRAM]) + header + struct.pack(f"<{len(part)}H", *part)
            bins = [count - taken for count, taken in zip(bins, part)]
            if not any(bins):
                return

    def arcs(self) -> Counter:
        arcs: Counter = Counter()
        for p in self.placed:
            for (caller, called), count in p.data.arcs.items():
                arcs[p.move(max(caller, p.low)), p.move(called)] += count
        arcs += self._callers_of_stubs({called for _, called in arcs})
        return self._with_requests(arcs) + self._boundaries()

    # -- requests --

    def _part(self, process: Optional[str], letters: str) -> Optional[Placed]:
        return next((p for p in self.placed
                     if process is not None and p.part.name == f"{process}{letters}"), None)

    def callers(self, request: Request) -> list[int]:
        """Return addresses from the one on who called the stub, or sent the message himself."""
        part = self._part(request.process, request.caller)
        of_stubs = (*SENDERS, self.stubs.get(request.id, ""))
        callers = list(request.frames) if part is not None else []
        while callers and function_name(part, callers[0]) in of_stubs:
            del callers[0]
        return callers

    def routine(self, request: Request) -> Optional[hot.Function]:
        server = self._part(request.process, request.server)
        stub = self.stubs.get(request.id)
        return routine_in(server.image, stub) if server is not None and stub else None

    def _with_requests(self, arcs: Counter) -> Counter:
        """Who called a server's routine.  The server's own calls may be counted, and the kernel's
        are: to those the routine came by a table or by a function that every request goes through,
        which called it for somebody."""
        counted = {called: (caller, called) for caller, called in arcs}
        for request in self.requests:
            server, routine = self._part(request.process, request.server), self.routine(request)
            callers = self.callers(request)
            if server is None or routine is None or not callers:
                continue
            caller, called = self._part(request.process, request.caller), server.move(routine.start)
            if called in counted:
                arcs[counted[called]] -= min(arcs[counted[called]], request.count)
            arcs[caller.move(callers[0] - 1), called] += request.count
        return +arcs

    def _callers_of_stubs(self, counted: set[int]) -> Counter:
        """Who called read(), which called its stub, so that a program's own function calls it that
        nobody counts in.  Further up it is not known how often who called whom, only how many
        requests that led to."""
        functions = {self._function_start(address) for address in counted}
        arcs: Counter = Counter()
        for request in self.requests:
            part, callers = self._part(request.process, request.caller), self.callers(request)
            stub = self.stubs.get(request.id, "")
            for level, (returns_to, caller) in enumerate(zip(callers, callers[1:])):
                called = part.image.function_at(returns_to - 1)
                if called is None or part.move(called.start) in functions:
                    continue
                if self.has_callers or (level == 0 and is_for_stub(called.name, stub)):
                    arcs[part.move(caller - 1), part.move(called.start)] += request.count
        return arcs

    def _function_start(self, address: int) -> int:
        """In the whole: of the function that this address lies in."""
        for p in self.placed:
            if p.base <= address < p.base + p.high - p.low:
                function = p.image.function_at(address - p.base + p.low)
                return p.move(function.start) if function is not None else address
        return address

    def _requests_by_name(self) -> Counter:
        """By the routine that was called, and by whom."""
        found: Counter = Counter()
        for request in self.requests:
            whose = "-" if request.process is None else request.process
            routine = self.routine(request)
            called = (routine.name if routine is not None
                      else self.stubs.get(request.id, f"message {request.id}"))
            part = self._part(request.process, request.caller)
            callers = [f"{part.part.name}:{function_name(part, address)}"
                       for address in self.callers(request)]
            found[f"{whose}{request.server}:{called.partition('.')[0]}",
                  " < ".join(callers) or "others"] += request.count
        return found

    def list_requests(self) -> str:
        """How often which routine of a server was called by whom, in whose callers' words."""
        rows = sorted(self._requests_by_name().items(), key=lambda row: (-row[1], row[0]))
        return "".join(f"{count:9} {called:32} {callers}\n" for (called, callers), count in rows)

    def _boundaries(self) -> Counter:
        """From where a program or a server came into the kernel: by a trap, or by a fault."""
        arcs: Counter = Counter()
        for kernel in self.placed:
            if kernel.part.process is None or kernel.part.program != KERNEL_FILE:
                continue
            callers = [p for p in self.placed
                       if p.part.process == kernel.part.process and p is not kernel]
            for is_trap in (True, False):
                arcs += boundary(kernel, callers, is_trap)
        return arcs

    def profile(self) -> bytes:
        records = (bytes([ARC]) + ARC_RECORD.pack(caller, called, part)
                   for (caller, called), count in sorted(self.arcs().items())
                   for part in pieces(count))
        return MAGIC + b"".join(self._histograms()) + b"".join(records)

    # -- the symbols --

    def functions(self) -> Iterator[tuple[str, int, int]]:
        """Name, address and size."""
        for p in self.placed:
            for n, function in enumerate(p.image.functions):
                if not p.low <= function.start < p.high:
                    continue
                following = p.image.starts[n + 1:n + 2] or [p.high]
                end = function.end if function.end > function.start else following[0]
                yield f"{p.part.name}:{function.name}", p.move(function.start), \
                    end - function.start

    def symbols(self) -> bytes:
        """An ELF file of one section of code, which is all zeroes."""
        names, table = b"\0", bytes(16)
        for name, start, size in self.functions():
            table += struct.pack("<IIIBBH", len(names), start, size, 0x12, 0, 1)
            names += name.encode() + b"\0"
        return elf_file(self.low, self.high - self.low, table, names)


SECTION_NAMES = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"


def elf_file(address: int, size: int, symbols: bytes, names: bytes) -> bytes:
    header_size, segment_size, section_size = 52, 32, 40
    at = PAGE
    code_at, symbols_at = at, at + size
    names_at = symbols_at + len(symbols)
    section_names_at = names_at + len(names)
    sections_at = -(-(section_names_at + len(SECTION_NAMES)) // 4) * 4
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack(
        "<HHIIIIIHHHHHH", 2, 3, 1, address, header_size, sections_at, 0, header_size, segment_size,
        1, section_size, 5, 4)
    segment = struct.pack("<8I", 1, code_at, address, address, size, size, 5, PAGE)
    sections = (
        struct.pack("<10I", *(0,) * 10),
        struct.pack("<10I", 1, 1, 6, address, code_at, size, 0, 0, 16, 0),
        struct.pack("<10I", 7, 2, 0, 0, symbols_at, len(symbols), 3, 1, 4, 16),
        struct.pack("<10I", 15, 3, 0, 0, names_at, len(names), 0, 0, 1, 0),
        struct.pack("<10I", 23, 3, 0, 0, section_names_at, len(SECTION_NAMES), 0, 0, 1, 0))
    head = (header + segment).ljust(PAGE, b"\0") + bytes(size) + symbols + names + SECTION_NAMES
    return head.ljust(sections_at, b"\0") + b"".join(sections)


def sum_of_code(code: bytes) -> int:
    """As include/gmon_program.h has it."""
    total = 0
    for (word,) in struct.iter_unpack("<I", code[:len(code) // 4 * 4]):
        total ^= word
        total = ((total << 13 | total >> 19) & 0xFFFFFFFF) * 0x9E3779B1 & 0xFFFFFFFF
    return total ^ len(code)


def is_of_program(data: Data, image: hot.Image) -> bool:
    first, size, code_sum = data.code
    return sum_of_code(image.bytes_at(first, size)) == code_sum


def add_own_calls(data: Data, own: dict[Path, Data], image: hot.Image) -> set[Path]:
    """Those that a program has counted itself, which nobody else has; and the files that tell it.
    A process that executes itself is another task then, which writes another file."""
    files = {path for path, profile in own.items()
             if (profile.process, profile.task) == (data.process, data.task) and
             profile.code[1] != 0 and is_of_program(profile, image)}
    for path in files:
        data.arcs.update(own[path].arcs)
    return files


def complaints(own: dict[Path, Data], processes: set[int]) -> Iterator[str]:
    """Of profiles that these processes have written, and that are no part's."""
    for path, profile in own.items():
        if profile.process in processes:
            yield (f"{path} is left out: pkgmon has no part of the program that process "
                   f"{profile.process} executed then")


def check_program(part: Part, data: Data, image: hot.Image, path: Path) -> None:
    """Whoever reads a profile with a file of another program reads nonsense."""
    if data.code[1] != 0 and not is_of_program(data, image):
        raise ToolError(f"{part.file} is of another program than {path}: the kernel or the program "
                        "was made anew since, or it is to be named by --program")


def read_image(name: str, path: Path) -> hot.Image:
    try:
        return hot.Image(name, path)
    except (struct.error, ValueError, IndexError) as error:
        raise ToolError(f"{path} is a program that is cut off") from error


def put_together(folder: Path, pids: Optional[list[int]], named: dict[str, Path],
                 has_callers: bool = False) -> Whole:
    placed: list[Placed] = []
    images: dict[Path, hot.Image] = {}
    base = FIRST_ADDRESS
    parts = find_parts(folder, pids)
    own, taken = read_own_profiles(folder, find_parts(folder, None)), set()
    for part in parts:
        path = find_program(part.program, named)
        if path not in images:
            images[path] = read_image(part.program, path)
        data = read_data(part.file)
        check_program(part, data, images[path], path)
        if part.name == f"{part.process}u":
            taken |= add_own_calls(data, own, images[path])
        low, high = extent(images[path])
        placed.append(Placed(part, data, images[path], low, high, base))
        base += high - low + PAGE
    whole = Whole(placed, read_requests(folder, pids), has_callers)
    processes = {number_of(part.process) for part in parts if part.process is not None}
    whole.left_out += complaints({p: own[p] for p in own if p not in taken}, processes)
    return whole
