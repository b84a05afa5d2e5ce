# SPDX-License-Identifier: MIT
"""Files that go into a machine and come out of it, on a RAM disk with an ext2 file system.

An image is the same, byte for byte, for the same files wherever and whenever it is made: files go
in in the order of their paths, all belong to root, all times are the machine's first second, and
nothing depends on how this host is configured.
"""

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Callable, Iterable, NamedTuple, Optional

from assay import ToolError, sparse

MAKE, CHECK, DEBUG, RESIZE = "mke2fs", "e2fsck", "debugfs", "resize2fs"
CHECK_MENDED = 1  # e2fsck's status when nothing is wrong any more.
SBIN = "/usr/sbin:/sbin"  # Where they are, which need not be in everybody's path.

IDENTITY = "61737361-7900-4000-8000-000000000001"  # Of the file system, and the seed of its hashes.
EPOCH = "1767225600"  # 2026-01-01, when the machine under the instruction clock is switched on.
BLOCK = 4096
RESERVED = 2  # Of a hundred blocks, for root: who fills the disk does not lock root out.
SMALLEST = 8  # MiB
ROOM = 4  # MiB that an image has at least for what the guest writes.
INODES = 1024  # As many files and folders more than there are.

FOLDER_MODE = "040755"
FILE_MODES = {False: "0100644", True: "0100755"}  # By whether the host's file can be executed.


class Put(NamedTuple):
    host: Path
    guest: str
    owner: Optional[tuple[int, int]] = None  # User and group; None: whose all the others are.


class Get(NamedTuple):
    guest: str
    host: Path


class NoRoom(ToolError):
    """The files are too much for the file system."""


@dataclass(frozen=True)
class Files:
    """What a run's RAM disk holds, and what is wanted of it afterwards."""

    put: tuple[Put, ...] = ()
    get: tuple[Get, ...] = ()
    size: int = 0  # MiB; 0: as it needs.
    base: Optional[Path] = None  # An image that is there already: what is put goes onto a copy.
    owner: tuple[int, int] = (0, 0)  # User and group of what is put onto that.

    def __bool__(self) -> bool:
        return bool(self.put or self.get or self.size or self.base)

    def check(self) -> None:
        """Refuses what cannot be done, before a machine is started for it."""
        seen: set[str] = set()
        for put in self.put:
            if not put.host.is_file():
                kind = "a folder" if put.host.is_dir() else "not there"
                raise ToolError(f"--put {put.host}:{put.guest}: {put.host} is {kind}")
            if put.guest in seen:
                raise ToolError(f"--put: two files for {put.guest}")
            seen.add(put.guest)
        for path in seen & {folder for path in seen for folder in parents(path)}:
            raise ToolError(f"--put: {path} cannot be a file and a folder")
        for get in self.get:
            if not target(get).parent.is_dir():
                raise ToolError(f"--get {get.guest}:{get.host}: there is no folder "
                                f"{target(get).parent}")


def guest_path(text: str) -> str:
    """A path in the guest, from the root, without detours; debugfs takes no quotes in it."""
    if not text.startswith("/"):
        raise ToolError(f"{text!r}: a path in the guest begins with /")
    if '"' in text or not text.isprintable():
        raise ToolError(f"{text!r}: a path in the guest has no quotes and no control characters")
    parts = PurePosixPath(text).parts[1:]
    if not parts or ".." in parts or text.endswith("/"):
        raise ToolError(f"{text!r} is no path of a file in the guest")
    return "/" + "/".join(parts)


def read_put(text: str) -> Put:
    """Reads HOST:GUEST; the host's path may have colons."""
    host, colon, guest = text.rpartition(":")
    if not colon or not host:
        raise ToolError(f"--put {text}: say HOST:GUEST")
    return Put(Path(host), guest_path(guest))


def read_get(text: str) -> Get:
    """Reads GUEST:HOST; the host's path may have colons, or be a folder."""
    guest, colon, host = text.partition(":")
    if not colon or not host:
        raise ToolError(f"--get {text}: say GUEST:HOST")
    return Get(guest_path(guest), Path(host))


def target(get: Get) -> Path:
    return get.host / PurePosixPath(get.guest).name if get.host.is_dir() else get.host


def parents(guest: str) -> list[str]:
    """The folders on the way to a path, from the root down, without the root."""
    return [str(folder) for folder in PurePosixPath(guest).parents][-2::-1]


# ---------------- Images ----------------

def call(tool: str, *arguments: object) -> subprocess.CompletedProcess:
    """Runs a tool of e2fsprogs in a world where it is always the same second."""
    environment = {"PATH": f"{os.environ.get('PATH', '')}:{SBIN}", "LC_ALL": "C", "TZ": "UTC",
                   "MKE2FS_CONFIG": "/dev/null", "E2FSPROGS_FAKE_TIME": EPOCH,
                   "SOURCE_DATE_EPOCH": EPOCH, "DEBUGFS_PAGER": "cat"}
    path = shutil.which(tool, path=environment["PATH"])
    if path is None:
        raise ToolError(f"{tool} is not installed: run ./setup")
    return subprocess.run([path, *map(str, arguments)], env=environment, capture_output=True,
                          stdin=subprocess.DEVNULL, text=True, errors="replace", check=False)


def wanted_megabytes(put: Iterable[Put]) -> int:
    """What these files take, and room beside them."""
    blocks = sum(-(-file.host.stat().st_size // BLOCK) * 1025 // 1024 + 3 for file in put)
    return -(-blocks * BLOCK >> 20) + ROOM


def megabytes(put: Iterable[Put]) -> int:
    """How large an image for these files should be."""
    return max(SMALLEST, wanted_megabytes(put))


def commands(put: Iterable[Put], staged: Path, there: Callable[[str], bool],
             owner: tuple[int, int]) -> list[str]:
    """What debugfs is told to do: make the folders that are not there, then copy the files."""
    files = sorted(put, key=lambda file: file.guest)
    lines = []
    for folder in sorted({folder for file in files for folder in parents(file.guest)}):
        if not there(folder):
            lines += [f'mkdir "{folder}"', *attributes(folder, FOLDER_MODE, owner)]
    for number, file in enumerate(files):
        copy = staged / str(number)
        shutil.copyfile(file.host, copy)
        if there(file.guest):
            lines.append(f'rm "{file.guest}"')
        mode = FILE_MODES[os.access(file.host, os.X_OK)]
        lines += [f'write "{copy}" "{file.guest}"',
                  *attributes(file.guest, mode, file.owner or owner)]
    return lines


def attributes(path: str, mode: str, owner: tuple[int, int]) -> list[str]:
    fields = {"mode": mode, "uid": str(owner[0]), "gid": str(owner[1])}
    return [f'set_inode_field "{path}" {name} {value}' for name, value in fields.items()
            if value != "0"]


def complaint(done: subprocess.CompletedProcess) -> str:
    """The first line of debugfs's that is more than its name and version, or nothing."""
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith("debugfs ")]
    return lines[0] if lines else ""


def format_image(image: Path, size: int, inodes: int) -> None:
    """Makes an empty file system of `size` MiB."""
    with image.open("wb") as file:
        file.truncate(size << 20)
    made = call(MAKE, "-q", "-F", "-t", "ext2", "-b", BLOCK, "-I", 128, "-m", RESERVED, "-r", 1,
                "-N", inodes, "-U", IDENTITY, "-L", "assay",
                "-O", "none,filetype,sparse_super,large_file",
                "-E", f"hash_seed={IDENTITY},root_owner=0:0,lazy_itable_init=0,nodiscard", image)
    if made.returncode:
        raise ToolError(f"no file system fits into {size} MiB: {made.stderr.strip()}")


def run_script(image: Path, lines: Iterable[str], directory: Path) -> str:
    """Has debugfs do what the lines say.  What went wrong, in a line; nothing if all is well."""
    script = directory / "script"
    script.write_text("".join(f"{line}\n" for line in lines))
    return complaint(call(DEBUG, "-w", "-f", script, image)) or unsound(image)


def make_image(files: Files, directory: Path) -> Path:
    """Makes the RAM disk's image in a folder, which is the image's alone."""
    image = directory / "rd0"
    if files.base:
        copy_image(files.base, image)
        enlarge(image, files)
    else:
        size = files.size or megabytes(files.put)
        format_image(image, size, INODES + 2 * len(files.put))
    put_files(image, files, directory)
    return image


def copy_image(base: Path, image: Path) -> None:
    if not base.is_file():
        raise ToolError(f"there is no disk image {base}; `make` builds it")
    with base.open("rb") as source, image.open("wb") as target:
        size = base.stat().st_size
        target.truncate(size)
        sparse.copy(source.fileno(), 0, target.fileno(), 0, size)


def free_megabytes(image: Path) -> int:
    shown = call(DEBUG, "-R", "show_super_stats -h", image).stdout
    return int(re.search(r"^Free blocks: +(\d+)$", shown, re.MULTILINE)[1]) * BLOCK >> 20


def enlarge(image: Path, files: Files) -> None:
    """Makes a copy of an image as large as was said, or as its new files need it."""
    now = image.stat().st_size >> 20
    if files.size and files.size < now:
        raise ToolError(f"--ramdisk-image {files.size}: the system's own files are on a disk of "
                        f"{now} MiB; say more, or nothing")
    missing = wanted_megabytes(files.put) - free_megabytes(image) if files.put else 0
    size = files.size or now + max(0, missing)
    if size == now:
        return
    os.truncate(image, size << 20)
    done = call(RESIZE, "-f", image)
    if done.returncode:
        raise ToolError(f"no file system of {size} MiB can be made: {done.stderr.strip()}")


def is_there(image: Path, path: str) -> bool:
    return "Inode:" in call(DEBUG, "-R", f'stat "{path}"', image).stdout


def put_files(image: Path, files: Files, directory: Path) -> None:
    """Copies files of the host's into an image; folders on the way are made."""
    if not files.put:
        return
    staged = directory / "staged"
    staged.mkdir()
    there = functools.partial(is_there, image) if files.base else lambda path: False
    try:
        lines = commands(files.put, staged, there, files.owner)
    except OSError as error:
        raise ToolError(f"--put {error.filename}: {error.strerror}") from None
    trouble = run_script(image, lines, directory)
    shutil.rmtree(staged)
    if "allocate" in trouble:
        room = f"{image.stat().st_size >> 20} MiB"
        raise NoRoom(f"--put: the files do not fit into {room}; --ramdisk-image makes room")
    if trouble:
        raise ToolError(f"--put: {trouble.strip()}")


def unsound(image: Path) -> str:
    """What is wrong with a file system, in one line; nothing if it is sound."""
    done = call(CHECK, "-fn", image)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines()[1:] if line and not line.startswith("Pass ")]
    return lines[0] if lines else done.stderr.strip()


def mend(image: Path) -> None:
    """Makes a file system sound that a machine left in the middle of its work."""
    done = call(CHECK, "-p", image)
    if done.returncode & ~CHECK_MENDED != 0:
        raise ToolError(f"{image} is damaged: `e2fsck {image}` asks what to do about it, or remove "
                        f"it: {(done.stdout + done.stderr).strip().splitlines()[-1]}")


# ---------------- After the run ----------------

def fetch_one(image: Path, get: Get) -> None:
    """Copies a file out of an image."""
    which = f"--get {get.guest}:{get.host}"
    found = call(DEBUG, "-R", f'stat "{get.guest}"', image)
    if "Type: regular" not in found.stdout:
        kind = "no regular file" if "Type: " in found.stdout else "not there"
        raise ToolError(f"{which}: {get.guest} is {kind} in the guest after the run")
    size = int(re.search(r"\bSize: (\d+)", found.stdout)[1])
    if size > image.stat().st_size:
        raise ToolError(f"{which}: {get.guest} has {size:,} bytes, more than its disk: it consists "
                        "of holes, which would be bytes here; copy what is in it in the guest")
    copy = image.with_name("got")
    copy.unlink(missing_ok=True)
    trouble = complaint(call(DEBUG, "-R", f'dump "{get.guest}" "{copy}"', image))
    if trouble or not copy.is_file():
        raise ToolError(f"{which}: {trouble or 'debugfs copied nothing'}")
    try:
        shutil.copyfile(copy, target(get))
    except OSError as error:
        raise ToolError(f"{which}: {error.strerror}") from None


def fetch(files: Files, image: Path) -> list[str]:
    """Copies out of the image what is wanted, as far as that can be; what cannot, in lines."""
    if not image.is_file():
        return ["the machine left no RAM disk rd0"] if files.get else []
    trouble = unsound(image)
    problems = [f"rd0 is no sound file system after the run: {trouble}"] if trouble else []
    for get in files.get:
        try:
            fetch_one(image, get)
        except ToolError as error:
            problems.append(str(error))
    return problems
