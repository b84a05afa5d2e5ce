# SPDX-License-Identifier: MIT
"""A kernel's file, as tools/kpatch sees it: its call sites, and thunks that count them.

A kernel has a table of its calls (kernel/i386/patch/call_sites.h), and so each build says itself
where they are.  Counting, each leads to a thunk of its own, which the file has in a segment more:

    lock incl  COUNTER      ; a word of the image: there are no structures of CPUs at the start
    jmp        FUNCTION

The kernel finds them when it starts, and goes on with counters of each CPU's.  Behind the segment
the file ends with what it was before: its size and its SHA-256.
"""

import hashlib
import struct
from typing import Callable, NamedTuple

from assay import ToolError

ELF_KERNEL = b"\x7fELF\x01\x01"
PT_LOAD, SHT_SYMTAB, SHT_NOBITS = 1, 2, 8
READ, EXECUTE = 4, 1
PAGE = 4096

HEADER = struct.Struct("<16xHHIIIIIHHHHHH")
PHNUM_AT = 44  # In the header.
SEGMENT = struct.Struct("<8I")
SECTION = struct.Struct("<10I")
SYMBOL = struct.Struct("<IIIBBH")

TABLE = struct.Struct("<3I")  # kernel/i386/patch/call_sites.h
THUNK = struct.Struct("<3sIBi")  # kernel/i386/patch/thunk.h
LOCK_INCL = b"\xf0\xff\x05"
CALL, JUMP = 0xE8, 0xE9

MARK = b"kpatch 1"
TRAILER = struct.Struct("<8sI32s")

LABELS = ("call_sites", "call_thunks", "call_thunks_end", "call_counters", "kernel_start",
          "kernel_text_end", "kernel_data")


class Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    physical: int
    file_size: int
    size: int
    rights: int
    alignment: int

    def holds(self, address: int) -> bool:
        return self.kind == PT_LOAD and self.address <= address < self.address + self.size


class Site(NamedTuple):
    """A word of the image that says where a call leads, or an address in a table."""

    address: int
    is_call: bool

    def word_for(self, target: int) -> int:
        return (target - self.address - 4 if self.is_call else target) & 0xFFFFFFFF

    def target(self, word: int) -> int:
        return (word + self.address + 4 if self.is_call else word) & 0xFFFFFFFF


class KernelFile:
    """What can be counted in it is checked when it is read, and nothing is changed."""

    def __init__(self, name: str, contents: bytes):
        self.name = name
        self.contents = contents
        self._read_headers()
        self._read_symbols()
        self._check_is_whole()
        self.sites = self._read_table()
        self.is_patched = self._is_thunk(self.target(self.sites[0]))
        self._check_sites()

    def error(self, what: str) -> ToolError:
        return ToolError(f"{self.name}: {what}")

    # ---------------- Reading ----------------

    def _unpack(self, form: struct.Struct, at: int) -> tuple:
        try:
            return form.unpack_from(self.contents, at)
        except struct.error:
            raise self.error("the file is cut short: copy it once more") from None

    def _read_headers(self) -> None:
        if self.contents[:6] != ELF_KERNEL:
            raise self.error("no kernel: it is not a 32-bit ELF file")
        header = self._unpack(HEADER, 0)
        self.ph_offset, self.sh_offset = header[4:6]
        self.ph_count, self.sh_count = header[9], header[11]
        self.segments = [Segment(*self._unpack(SEGMENT, self.ph_offset + n * SEGMENT.size))
                         for n in range(self.ph_count)]
        self.sections = [self._unpack(SECTION, self.sh_offset + n * SECTION.size)
                         for n in range(self.sh_count)]

    def _check_is_whole(self) -> None:
        ends = [segment.offset + segment.file_size for segment in self.segments]
        ends += [offset + size for _, kind, _, _, offset, size, *_ in self.sections
                 if kind != SHT_NOBITS]
        if max(ends) > len(self.contents):
            raise self.error(f"the file is cut short, {max(ends) - len(self.contents)} bytes "
                             "of it are missing: copy it once more")

    def _read_symbols(self) -> None:
        """The labels that we need, and where functions begin."""
        self.labels: dict[str, int] = {}
        addresses = set()
        for _, kind, _, _, offset, size, link, *_ in self.sections:
            if kind != SHT_SYMTAB:
                continue
            names = self.sections[link][4]
            for at in range(offset, offset + size, SYMBOL.size):
                name_at, address, _, _, _, home = self._unpack(SYMBOL, at)
                addresses.add(address)
                name = self._string(names + name_at) if home else ""
                if name in LABELS:
                    self.labels[name] = address
        missing = [name for name in LABELS if name not in self.labels]
        if missing:
            raise self.error(f"no kernel that can be patched: it has no symbol {missing[0]}; "
                             "take one that is not stripped")
        text = range(self.labels["kernel_start"], self.labels["kernel_text_end"])
        self.functions = {address for address in addresses if address in text}

    def _string(self, at: int) -> str:
        return self.contents[at:self.contents.find(b"\0", at)].decode(errors="replace")

    def _at(self, address: int) -> int:
        """Where the file has what is at this address."""
        for segment in self.segments:
            if segment.holds(address) and address - segment.address < segment.file_size:
                return segment.offset + address - segment.address
        raise self.error(f"{address:#x} is not in the file: its table of calls is another kernel's")

    def _read_table(self) -> list[Site]:
        at = self._at(self.labels["call_sites"])
        first_constant, first_in_table, count = self._unpack(TABLE, at)
        if not 0 < first_constant <= first_in_table <= count == self._n_thunks():
            raise self.error("its table of calls is another kernel's, or none")
        starts = {0: "kernel_start", first_constant: "kernel_text_end",
                  first_in_table: "kernel_data"}
        sites, address = [], 0
        at += TABLE.size
        for n in range(count):
            address = self.labels[starts[n]] if n in starts else address
            step, at = self._read_step(at)
            address += step
            sites.append(Site(address, n < first_constant))
        return sites

    def _read_step(self, at: int) -> tuple[int, int]:
        """A number in groups of seven bits, the lowest first, and what follows it."""
        step, shift, group = 0, 0, 0x80
        while group & 0x80:
            group, = self._unpack(struct.Struct("B"), at)
            step |= (group & 0x7F) << shift
            at, shift = at + 1, shift + 7
        return step, at

    def _n_thunks(self) -> int:
        return (self.labels["call_thunks_end"] - self.labels["call_thunks"]) // THUNK.size

    def _is_thunk(self, address: int) -> bool:
        return self.labels["call_thunks"] <= address < self.labels["call_thunks_end"]

    def target(self, site: Site) -> int:
        word, = self._unpack(struct.Struct("<I"), self._at(site.address))
        return site.target(word)

    def _check_sites(self) -> None:
        """That each is what the table says, and leads to a function, or to its thunk and there."""
        for n, site in enumerate(self.sites):
            target = self.target(site)
            if self.is_patched:
                if target != self._thunk_address(n):
                    raise self.error(f"the call at {site.address:#x} does not lead to its thunk: "
                                     "the file was changed after it was patched")
                target = self._thunk_target(n)
            code = self.contents[self._at(site.address) - 1]
            if target not in self.functions or site.is_call and code not in (CALL, JUMP):
                raise self.error(f"no call of a function is at {site.address:#x}: its table of "
                                 "calls is another kernel's")

    def _thunk_address(self, n: int) -> int:
        return self.labels["call_thunks"] + n * THUNK.size

    def _thunk_target(self, n: int) -> int:
        address = self._thunk_address(n)
        distance = self._unpack(THUNK, self._at(address))[3]
        return (address + THUNK.size + distance) & 0xFFFFFFFF

    # ---------------- What it is ----------------

    def build(self) -> str:
        """What `sha256sum` prints of the kernel as it was linked, the beginning."""
        linked = self.original() if self.is_patched else self.contents
        return hashlib.sha256(linked).hexdigest()[:12]

    # ---------------- Counting ----------------

    def _with_targets(self, contents: bytearray, target: Callable[[int], int]) -> None:
        for n, site in enumerate(self.sites):
            struct.pack_into("<I", contents, self._at(site.address), site.word_for(target(n)))

    def _thunks(self) -> bytes:
        thunks = bytearray()
        for n, site in enumerate(self.sites):
            end = self._thunk_address(n) + THUNK.size
            counter = self.labels["call_counters"] + n * 4
            thunks += THUNK.pack(LOCK_INCL, counter, JUMP, self.target(site) - end)
        return bytes(thunks)

    def _split(self, offset: int) -> tuple[int, Segment, Segment]:
        """The number of the last segment, and the two that it becomes: thunks have a place."""
        first, n = self.labels["call_thunks"], self.ph_count - 1
        last = self.segments[n]
        place = self.ph_offset + self.ph_count * SEGMENT.size
        if not last.holds(first) or first < last.address + last.file_size or \
                any(self.contents[place:place + SEGMENT.size]):
            raise self.error("there is no room for a segment more: it was linked in another way")
        before = first - last.address
        thunks = Segment(PT_LOAD, offset, first, last.physical + before,
                         len(self.sites) * THUNK.size, last.size - before, READ | EXECUTE, PAGE)
        return n, last._replace(size=before), thunks

    def _put_segments(self, contents: bytearray, n: int, *segments: Segment) -> None:
        for segment in segments:
            SEGMENT.pack_into(contents, self.ph_offset + n * SEGMENT.size, *segment)
            n += 1
        struct.pack_into("<H", contents, PHNUM_AT, n)

    def counting(self) -> bytes:
        """The same kernel, which counts."""
        if self.is_patched:
            raise self.error("its calls are counted already")
        offset = (len(self.contents) + PAGE - 1) // PAGE * PAGE
        contents = bytearray(self.contents)
        self._put_segments(contents, *self._split(offset))
        self._with_targets(contents, self._thunk_address)
        contents += bytes(offset - len(contents)) + self._thunks()
        contents += TRAILER.pack(MARK, len(self.contents),
                                 hashlib.sha256(self.contents).digest())
        return bytes(contents)

    def original(self) -> bytes:
        """What it was before it was patched."""
        if not self.is_patched:
            raise self.error("its calls are not counted: there is nothing to undo")
        thunks, data = self.segments[-1], self.segments[-2]
        mark, size, digest = self._unpack(TRAILER, thunks.offset + thunks.file_size)
        contents = bytearray(self.contents)
        self._with_targets(contents, self._thunk_target)
        del contents[size:]
        self._put_segments(contents, self.ph_count - 2, data._replace(size=data.size + thunks.size))
        last = self.ph_offset + (self.ph_count - 1) * SEGMENT.size
        contents[last:last + SEGMENT.size] = bytes(SEGMENT.size)
        if mark != MARK or hashlib.sha256(contents).digest() != digest:
            raise self.error("it was changed after it was patched, and cannot be undone: take "
                             "the kernel that was linked")
        return bytes(contents)
