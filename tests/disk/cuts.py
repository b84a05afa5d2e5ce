# SPDX-License-Identifier: MIT
"""Power cuts: a machine works on a disk, QEMU logs each write, and the disk as it would be after
any of them is looked at.

What is promised is reckoned from the steps alone (class Model): of each file, since its last
fsync() that had returned before the cut, every state that it may be in.  The machine says by a mark
on the disk itself which steps were over.  The image is read by ext2.py, and by e2fsck.
"""

import random
import shutil
import struct
import subprocess
import tempfile
from bisect import bisect_right
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

from assay import OUT, machine, unix
from assay.files import call
from assay.setup import Disk

from disk.ext2 import Damaged, Image

SECTOR = 512
BLOCK = 2  # Sectors.
MARK = b"assay mark\0"
LOGGED = "driver=blklogwrites,file.driver=file,file.filename={{file}},log.driver=file," \
         "log.filename={log}"
SERVER = "ux"

# Seconds of the machine, whose time flies while it waits for the disk.
LIMIT = 20000
MAGIC = 0x6a736677736872
DISCARD = 4
SOURCE = Path(__file__).parent / "work" / "steps.c"


# ---------------- What a machine does ----------------

@dataclass
class File:
    """A file as it should be: whose sectors, and of which writing; None is a hole."""

    id: int
    names: set[str]
    sectors: list[Optional[int]]


@dataclass
class State:
    """All files by their ids, directories by name."""

    files: dict[int, File] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)

    def named(self, name: str) -> Optional[File]:
        return next((file for file in self.files.values() if name in file.names), None)

    def take(self, step: str) -> None:
        what, *words = step.split()
        getattr(self, f"take_{what}", lambda *_: None)(*words)

    def take_c(self, name: str, number: str, tag: str, count: str) -> None:
        self.files[int(number)] = File(int(number), {name}, [int(tag)] * int(count))

    def take_w(self, name: str, _: str, tag: str, first: str, count: str) -> None:
        sectors = self.named(name).sectors
        sectors.extend([None] * (int(first) + int(count) - len(sectors)))
        sectors[int(first):int(first) + int(count)] = [int(tag)] * int(count)

    def take_t(self, name: str, count: str) -> None:
        del self.named(name).sectors[int(count):]

    def take_r(self, old: str, new: str) -> None:
        if old in self.folders:
            self.move_folder(old, new)
            return
        moved = self.named(old)
        self.take_u(new)
        moved.names = moved.names - {old} | {new}

    def move_folder(self, old: str, new: str) -> None:
        self.folders = self.folders - {old} | {new}
        for file in self.files.values():
            file.names = {new + name[len(old):] if name.startswith(old + "/") else name
                          for name in file.names}

    def take_l(self, name: str, other: str) -> None:
        self.named(name).names.add(other)

    def take_u(self, name: str) -> None:
        if file := self.named(name):
            file.names.remove(name)

    def take_d(self, name: str) -> None:
        self.folders.add(name)

    def take_x(self, name: str) -> None:
        self.folders.remove(name)


class Maker:
    """Random steps that can all be taken."""

    FOLDERS = ("/a", "/b", "/a/c")
    NEW = ("/a/m", "/b/n", "/o")

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.state = State(folders=set(self.FOLDERS))
        self.steps: list[str] = []
        self.last = 0

    def add(self, step: str) -> None:
        self.steps.append(step)
        self.state.take(step)

    def number(self) -> int:
        self.last += 1
        return self.last

    def a_name(self) -> str:
        folder = self.random.choice(sorted(self.state.folders) + [""])
        long = "-of-some-length" * self.random.choice((0, 0, 1, 3))
        return f"{folder}/f{self.random.randrange(8)}{long}"

    def some(self) -> Optional[str]:
        names = sorted(name for file in self.state.files.values() for name in file.names)
        return self.random.choice(names) if names else None

    def step(self) -> None:
        kind = self.random.choices("cwtrludxp", (9, 5, 2, 6, 2, 4, 1, 1, 1))[0]
        getattr(self, f"make_{kind}")()

    def sync(self) -> None:
        if self.random.random() < 0.4 and (name := self.some()):
            self.add(f"f {name} {len(self.steps)}")
        elif self.random.random() < 0.1:
            self.add(f"s {len(self.steps)}")

    def make_c(self) -> None:
        name = self.a_name()
        if not self.state.named(name) and len(self.state.files) < 4000:
            count = self.random.choice((1, 2, 3, 7, 12, 30, 60))
            self.add(f"c {name} {self.number()} {self.number()} {count}")

    def make_w(self) -> None:
        if name := self.some():
            file = self.state.named(name)
            first = self.random.randrange(len(file.sectors) + 3)
            count = self.random.choice((1, 2, 5, 20))
            self.add(f"w {name} {file.id} {self.number()} {first} {count}")

    def make_t(self) -> None:
        if name := self.some():
            left = self.random.randrange(len(self.state.named(name).sectors) + 1)
            self.add(f"t {name} {left}")

    def make_r(self) -> None:
        old, new = self.some(), self.a_name()
        folders = sorted(self.state.folders & set(self.NEW))
        if folders and self.random.random() < 0.1:
            self.rename_folder(self.random.choice(folders))
        elif old and (self.state.named(new) is not self.state.named(old)):
            self.add(f"r {old} {new}")

    def rename_folder(self, old: str) -> None:
        new = self.random.choice(self.NEW)
        if new not in self.state.folders:
            self.add(f"r {old} {new}")

    def make_l(self) -> None:
        old, new = self.some(), self.a_name()
        if old and not self.state.named(new):
            self.add(f"l {old} {new}")

    def make_u(self) -> None:
        if name := self.some():
            self.add(f"u {name}")

    def make_d(self) -> None:
        if (name := self.random.choice(self.NEW)) not in self.state.folders:
            self.add(f"d {name}")

    def make_x(self) -> None:
        used = {name for file in self.state.files.values() for name in file.names}
        for name in sorted(self.state.folders & set(self.NEW)):
            if not any(other.startswith(name + "/") for other in used):
                self.add(f"x {name}")
                return

    def make_p(self) -> None:
        self.add(f"p {self.random.choice((5, 400, 1300))}")


def workload(seed: int, count: int) -> list[str]:
    maker = Maker(seed)
    while len(maker.steps) < count:
        maker.step()
        maker.sync()
    return [*maker.steps, f"s {len(maker.steps)}"]


def sequences(seed: int, count: int, length: int = 3) -> list[str]:
    """So many times a few steps between two times at which all is on the disk."""
    maker = Maker(seed)
    while len(maker.state.files) < 12:
        maker.make_c()
    for _ in range(count):
        maker.add(f"s {len(maker.steps)}")
        begin = len(maker.steps)
        while len(maker.steps) < begin + length:
            maker.step()
    return [*maker.steps, f"s {len(maker.steps)}"]


# ---------------- What is promised ----------------

class Model:
    """States after each step: states[n] is that before step n."""

    def __init__(self, steps: list[str]):
        self.steps = steps
        self.states = [State(folders=set(Maker.FOLDERS))]
        self.hard: list[int] = []  # Renames that two writes cannot order.
        for number, step in enumerate(steps):
            state = deepcopy(self.states[-1])
            self.note_hard(state, number, step)
            state.take(step)
            self.states.append(state)
        self.marks = [number for number, step in enumerate(steps) if step[0] in "fs"]

    def note_hard(self, state: State, number: int, step: str) -> None:
        what, *words = step.split()
        if what == "r" and (words[0] in state.folders or state.named(words[1])):
            self.hard.append(number)

    def window(self, mark: int) -> tuple[int, int]:
        """The first state and the last that a disk with this mark may be in, files not synced."""
        after = bisect_right(self.marks, mark)
        last = self.marks[after] if after < len(self.marks) else len(self.steps) - 1
        return mark + 1, last + 1

    def is_hard(self, mark: int) -> bool:
        first, last = self.window(mark)
        return any(first <= number < last for number in self.hard)

    def promised(self, mark: int, number: int) -> Optional[int]:
        """The state from which on the file is promised: after its last sync up to the mark."""
        for step in reversed([step for step in self.marks if step <= mark]):
            state = self.states[step + 1]
            what, *words = self.steps[step].split()
            if number in state.files and (what == "s" or words[0] in state.files[number].names):
                return step + 1
        return None


# ---------------- Looking ----------------

def tags(data: bytes) -> list[Optional[tuple[int, int]]]:
    """Of each sector whose it is, and of which writing; None: zeros."""
    found: list[Optional[tuple[int, int]]] = []
    for begin in range(0, len(data), SECTOR):
        sector = data[begin:begin + SECTOR]
        number, tag, place, check = struct.unpack_from("<4I", sector)
        if not any(sector):
            found.append(None)
        elif sector != sector[:16] * (SECTOR // 16) or check != number ^ 0xffffffff or \
                place != begin // SECTOR:
            found.append((0, 0))
        else:
            found.append((number, tag))
    return found


def read_all(image: Image) -> dict[str, list[Optional[tuple[int, int]]]]:
    return {path: tags(image.contents(inode)) for path, inode in image.walk()
            if inode.is_regular and path not in ("/steps", "/mark", "/init")}


class Judge:
    """Compares what is on a disk with what may be."""

    def __init__(self, model: Model):
        self.model = model
        self.lasting: dict[int, set[str]] = {}

    def judge(self, data: bytearray, mark: int) -> list[str]:
        try:
            found = read_all(Image(data))
        except Damaged as error:
            return [str(error)]
        found = {path: file for path, file in found.items() if not path.startswith("/lost+found")}
        _, last = self.model.window(mark)
        wrong = [f"{path} shows another's bytes" for path, file in found.items()
                 if not self.is_own(path, file, last)]
        return wrong + self.find_lost(found, mark, last)

    def is_own(self, path: str, file: list, last: int) -> bool:
        """All sectors are of one file, which has had that name."""
        owners = {tag[0] for tag in file if tag}
        return len(owners) <= 1 and all(path in self.names_ever(owner, last) for owner in owners)

    def names_ever(self, number: int, last: int) -> set[str]:
        key = number * len(self.model.states) + last
        if key not in self.lasting:
            self.lasting[key] = {name for state in self.model.states[:last + 1]
                                 if number in state.files for name in state.files[number].names}
        return self.lasting[key]

    def find_lost(self, found: dict, mark: int, last: int) -> list[str]:
        wrong = self.find_unnamed(found, mark, last)
        for number in self.model.states[last].files:
            begin = self.model.promised(mark, number)
            if begin is None:
                continue
            states = [state.files[number] for state in self.model.states[begin:last + 1]]
            if all(file.names for file in states):
                wrong += self.check_file(found, states)
        return wrong

    def find_unnamed(self, found: dict, mark: int, last: int) -> list[str]:
        """A name that always was some promised file's is there, whosever it is."""
        kept = {name for number in self.model.states[last].files
                if (begin := self.model.promised(mark, number)) is not None
                for name in self.model.states[begin].files[number].names
                if all(state.named(name) for state in self.model.states[begin:last + 1])}
        return [f"there is no {name}" for name in sorted(kept - set(found))]

    def check_file(self, found: dict, states: list[File]) -> list[str]:
        names = set().union(*(file.names for file in states))
        if any(self.may_be(found[name], states) for name in names if name in found):
            return []
        there = [name for name in names if name in found]
        return [f"file {states[0].id}, {' or '.join(sorted(names))}, is lost" +
                (f"; there is {there}" if there else "")]

    def may_be(self, file: list, states: list[File]) -> bool:
        """Each sector is as it was in one of the states.  e2fsck makes sizes whole blocks."""
        sizes = [len(state.sectors) for state in states]
        if not min(sizes) <= len(file) <= -(-max(sizes) // BLOCK) * BLOCK:
            return False
        for place, tag in enumerate(file):
            allowed = {state.sectors[place] for state in states if place < len(state.sectors)}
            if min(sizes) <= place:
                allowed.add(None)
            if tag and tag[0] != states[0].id or (tag[1] if tag else None) not in allowed:
                return False
        return True


# ---------------- Recording ----------------

class Write(NamedTuple):
    offset: int
    data: bytes


def read_log(path: Path) -> list[Write]:
    """The writes in a log of blklogwrites, and as writings of nothing its flushes."""
    log = path.read_bytes()
    magic, _, _, size = struct.unpack_from("<QQQI", log)
    assert magic == MAGIC
    writes, place = [], size
    while place + 32 <= len(log):
        sector, count, flags, _ = struct.unpack_from("<4Q", log, place)
        place += size
        assert not flags & DISCARD
        writes.append(Write(sector * size, log[place:place + count * size]))
        place += count * size
    return writes


def make_disk(folder: Path, steps: list[str], kib: int = 4096) -> Path:
    """A disk whose first process takes the steps."""
    root, image = folder / "root", folder / "disk"
    root.mkdir()
    for name in Maker.FOLDERS:
        (root / name[1:]).mkdir()
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", "-Wall", "-Wextra", "-Werror", "-s", "-o",
                    root / "init", SOURCE], check=True)
    (root / "steps").write_text("".join(f"{step}\n" for step in steps))
    (root / "mark").write_bytes(bytes(SECTOR))
    call("mke2fs", "-q", "-F", "-t", "ext2", "-b", "1024", "-N", "256", "-d", root, image,
         f"{kib}")
    shutil.rmtree(root)
    return image


class Recorded(NamedTuple):
    before: bytes
    writes: list[Write]
    model: Model


def record(steps: list[str], limit: float = LIMIT) -> Recorded:
    """Has a machine take the steps."""
    with tempfile.TemporaryDirectory(prefix="assay.") as name:
        folder = Path(name)
        image, log = make_disk(folder, steps), folder / "log"
        log.touch()
        before = image.read_bytes()
        result = machine.run([unix.server_command("vd0", "", SERVER) .replace(
            "root=vd0", "root=vd0 init=/init")], limit=limit,
            disks=(Disk(image, through=LOGGED.format(log=log)),))
        assert (result.outcome, result.status) == ("exit", 0), result.log.decode()[-2000:] + \
            (steps[result.status - 1] if result.outcome == "exit" else "")
        return Recorded(before, read_log(log), Model(steps))


# ---------------- Cutting ----------------

def mark_in(write: Write, found: int) -> int:
    if (place := write.data.find(MARK)) >= 0:
        return struct.unpack_from("<I", write.data, place + len(MARK))[0]
    return found


class Disks:
    """The disk after each write, one after the other."""

    def __init__(self, recorded: Recorded):
        self.recorded = recorded
        self.data = bytearray(recorded.before)
        self.done = 0
        self.mark = -1

    def go_to(self, writes: int) -> None:
        for write in self.recorded.writes[self.done:writes]:
            self.data[write.offset:write.offset + len(write.data)] = write.data
            self.mark = mark_in(write, self.mark)
        self.done = writes

    def torn(self, sectors: int) -> bytearray:
        """With so many sectors of the next write as well."""
        write = self.recorded.writes[self.done]
        data = bytearray(self.data)
        data[write.offset:write.offset + sectors * SECTOR] = write.data[:sectors * SECTOR]
        return data


def check_disk(data: bytearray, folder: Path, *options: str) -> int:
    """e2fsck's status; what it has made of the disk is the data then."""
    image = folder / "image"
    image.write_bytes(data)
    status = subprocess.run(["e2fsck", *options, image], capture_output=True, check=False,
                            env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"}).returncode
    data[:] = image.read_bytes()
    return status


class Place(NamedTuple):
    """Where the power goes: after so many writes, and so many sectors of the next."""

    writes: int
    sectors: int = 0


def every_cut(recorded: Recorded) -> list[Place]:
    return [Place(number) for number, write in enumerate(recorded.writes) if write.data]


def torn_cuts(recorded: Recorded, seed: int, count: int) -> list[Place]:
    chance = random.Random(seed)
    large = [number for number, write in enumerate(recorded.writes) if len(write.data) > SECTOR]
    return sorted(Place(number, chance.randrange(1, len(recorded.writes[number].data) // SECTOR))
                  for number in chance.sample(large, min(count, len(large))))


def cuts_of_sequences(recorded: Recorded, seed: int, each: int = 3) -> list[Place]:
    """So many between each two marks."""
    chance = random.Random(seed)
    marks = [number for number, write in enumerate(recorded.writes) if MARK in write.data]
    return [Place(number) for begin, end in zip(marks, marks[1:])
            for number in sorted(chance.sample(range(begin, end), min(each, end - begin)))]


@dataclass
class Findings:
    """What became of the disks."""

    disks: int = 0
    refused: int = 0  # By e2fsck -p, after renames that two writes cannot order.
    wrong: list[str] = field(default_factory=list)


class Examiner:
    """Cuts, looks, and has e2fsck repair some of the disks and looks again."""

    def __init__(self, recorded: Recorded, repair_each: int = 1):
        self.recorded = recorded
        self.repair_each = repair_each
        self.judge = Judge(recorded.model)
        self.found = Findings()

    def examine(self, places: list[Place]) -> Findings:
        disks = Disks(self.recorded)
        with tempfile.TemporaryDirectory(prefix="assay.") as folder:
            for place in places:
                disks.go_to(place.writes)
                data = disks.torn(place.sectors) if place.sectors else bytearray(disks.data)
                self.look(place, data, disks.mark)
                if self.found.disks % self.repair_each == 0:
                    self.repair(place, data, disks.mark, Path(folder))
                self.found.disks += 1
        return self.found

    def look(self, place: Place, data: bytearray, mark: int, when: str = "") -> None:
        first, last = self.recorded.model.window(mark)
        steps = "; ".join(self.recorded.model.steps[first:last])
        self.found.wrong += [f"{place}{when}, in [{steps}]: {wrong}"
                             for wrong in self.judge.judge(data, mark)]

    def repair(self, place: Place, data: bytearray, mark: int, folder: Path) -> None:
        if check_disk(data, folder, "-p") not in (0, 1):
            self.found.refused += 1
            if place.sectors == 0 and not self.recorded.model.is_hard(mark):
                self.found.wrong.append(f"{place}: e2fsck -p refuses it")
            check_disk(data, folder, "-fy")
        if check_disk(data, folder, "-fn") != 0:
            self.found.wrong.append(f"{place}: e2fsck cannot repair it")
        self.look(place, data, mark, " repaired")
