# SPDX-License-Identifier: MIT
"""The root's disk image, as boot/manifest describes it.

The same files give the same bytes: what goes in is sorted by the manifest, times are the machine's
first second, and owners are the manifest's.
"""

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from assay import OUT, ROOT, ToolError
from assay.files import format_image, run_script

MANIFEST = ROOT / "boot" / "manifest"
USERS = ROOT / "boot" / "disk" / "etc" / "passwd"
GROUPS = ROOT / "boot" / "disk" / "etc" / "group"

SIZE = 24  # MiB
INODES = 2048
STRIP = "i686-linux-gnu-strip"
NO_PROGRAMS = ("common",)  # Sources that several programs share.

TYPES = {"folder": 0o040000, "file": 0o100000, "device": 0o020000}


@dataclass(frozen=True)
class Entry:
    """One file of the image's."""

    kind: str  # folder, file, device or link
    path: str
    mode: int
    uid: int
    gid: int
    source: Path = Path()  # Of a file.
    is_program: bool = False  # Its debug information stays on the host.
    device: tuple[int, int] = (0, 0)
    target: str = ""  # Of a link: the path that is there already.


def read_ids(file: Path) -> dict[str, int]:
    """Names and numbers of /etc/passwd or /etc/group."""
    fields = [line.split(":") for line in file.read_text().splitlines() if line]
    return {field[0]: int(field[2]) for field in fields}


def number(text: str, names: dict[str, int]) -> int:
    if text.isdigit():
        return int(text)
    if text not in names:
        raise ToolError(f"boot/manifest: nobody is called {text}")
    return names[text]


def programs_of(folder: Path) -> list[str]:
    """The programs whose sources are in a folder: a file or a folder each."""
    names = {path.stem for path in folder.glob("*.c")} | {
        path.name for path in folder.iterdir() if path.is_dir() and any(path.glob("*.c"))}
    return sorted(names - set(NO_PROGRAMS))


def built(source: str) -> Path:
    """A file of the project's, or one that was built."""
    path = OUT / source.removeprefix("out/") if source.startswith("out/") else ROOT / source
    if not path.is_file():
        raise ToolError(f"boot/manifest: there is no {source}; `make` builds what the tree has")
    return path


def read_line(words: list[str], users: dict[str, int], groups: dict[str, int]) -> Iterator[Entry]:
    """The entries of one line of the manifest."""
    if words[0] == "link" and len(words) == 3:
        yield Entry("link", words[1], 0, 0, 0, target=words[2])
        return
    kind, path, mode, owner, group, *rest = words
    common = (path, int(mode, 8), number(owner, users), number(group, groups))
    folder, *attributes = common
    if kind == "folder" and not rest:
        yield Entry("folder", *common)
    elif kind in ("file", "program") and len(rest) == 1:
        yield Entry("file", *common, built(rest[0]), kind == "program")
    elif kind == "programs" and len(rest) == 1:
        for name in programs_of(ROOT / rest[0]):
            yield Entry("file", f"{folder}/{name}", *attributes, built(f"out/user/{name}"), True)
    elif kind == "sources" and len(rest) == 1:
        for source in sorted(path for path in (ROOT / rest[0]).iterdir() if path.is_file()):
            yield Entry("file", f"{folder}/{source.name}", *attributes, source)
    elif kind == "device" and len(rest) == 2:
        yield Entry("device", *common, device=(int(rest[0]), int(rest[1])))
    else:
        raise ValueError


def read_manifest() -> list[Entry]:
    users, groups = read_ids(USERS), read_ids(GROUPS)
    entries: list[Entry] = []
    for place, line in enumerate(MANIFEST.read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            entries += read_line(words, users, groups)
        except ValueError:
            raise ToolError(f"boot/manifest: line {place} is not understood") from None
    return entries


def commands(entries: list[Entry], staged: Path) -> Iterator[str]:
    """What debugfs is told to do."""
    for place, entry in enumerate(entries):
        if entry.kind == "link":
            yield f'ln "{entry.target}" "{entry.path}"'
            yield f'set_inode_field "{entry.path}" links_count 2'
            continue
        if entry.kind == "folder":
            yield f'mkdir "{entry.path}"'
        elif entry.kind == "device":
            folder, _, name = entry.path.rpartition("/")
            yield f'cd "{folder}"'
            yield f"mknod {name} c {entry.device[0]} {entry.device[1]}"
            yield "cd /"
        else:
            copy = staged / str(place)
            stage(entry, copy)
            yield f'write "{copy}" "{entry.path}"'
        yield f'set_inode_field "{entry.path}" mode 0{TYPES[entry.kind] | entry.mode:o}'
        yield f'set_inode_field "{entry.path}" uid {entry.uid}'
        yield f'set_inode_field "{entry.path}" gid {entry.gid}'


def stage(entry: Entry, copy: Path) -> None:
    """Copies a file to where debugfs reads it; of a program, without its debug information."""
    if not entry.is_program:
        shutil.copyfile(entry.source, copy)
        return
    strip = subprocess.run([STRIP, "-g", "-o", copy, entry.source], capture_output=True, text=True,
                           check=False)
    if strip.returncode:
        raise ToolError(f"{STRIP}: {strip.stderr.strip()}")


def build(file: Path) -> None:
    """Makes the image; the file is there when it is whole."""
    with tempfile.TemporaryDirectory(prefix="assay.") as name:
        directory = Path(name)
        image = directory / "disk"
        format_image(image, SIZE, INODES)
        staged = directory / "staged"
        staged.mkdir()
        trouble = run_script(image, commands(read_manifest(), staged), directory)
        if trouble:
            raise ToolError(f"the image: {trouble.strip()}")
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(image, file)
