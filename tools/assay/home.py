# SPDX-License-Identifier: MIT
"""The disk of the machine that `make qemu` runs: what people make on it stays.

It begins as a copy of the disk image.  When another image has been built since, whatever the times
of the files, a new copy takes its place, with everybody's home folder as it was.  Whoever uses the
disk has it locked, so that nobody else changes it at the same time.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Iterator, TextIO

from assay import OUT, ToolError
from assay.files import DEBUG, Files, Put, call, mend, put_files
from assay.image import USERS

IMAGE = OUT / "disk.img"
ROOT_DISK = OUT / "root.img"
OLD_DISK = OUT / "root.old.img"
ORIGIN = ".origin"  # The suffix of the file that tells of which image a disk is a copy.


class InUse(ToolError):
    """A machine has the disk."""


@contextlib.contextmanager
def locked() -> Iterator[Path]:
    """The disk, for this process alone."""
    ROOT_DISK.parent.mkdir(parents=True, exist_ok=True)
    with open_lock(ROOT_DISK.with_suffix(".lock")) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse("a machine that runs has the disk out/root.img") from None
        yield ROOT_DISK


def open_lock(path: Path, mode: str = "w") -> TextIO:
    try:
        return path.open(mode)
    except PermissionError:
        raise ToolError(f"{path}: permission denied: the machine is whose out/ this is") from None


def refresh(disk: Path) -> bool:
    """Makes the disk, or a new one if there is a new image; whole, however the last run ended.

    True if a disk that was there has been replaced."""
    if not IMAGE.is_file():
        raise ToolError("there is no out/disk.img; `make` builds it")
    is_there = disk.is_file()
    if is_there:
        mend(disk)
    image = identity(IMAGE)
    if is_there and origin_of(disk) == image:
        return False
    replace(disk)
    disk.with_suffix(ORIGIN).write_text(image + "\n")
    return is_there


def identity(image: Path) -> str:
    with image.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def origin_of(disk: Path) -> str:
    """The image that it was copied from; of a disk that nobody knows, none."""
    try:
        return disk.with_suffix(ORIGIN).read_text().strip()
    except FileNotFoundError:
        return ""


def replace(disk: Path) -> None:
    """By a copy of the image, with the home folders of the disk that was there."""
    with tempfile.TemporaryDirectory(prefix="assay.") as name:
        directory = Path(name)
        image = directory / "disk"
        shutil.copyfile(IMAGE, image)
        if disk.is_file():
            for user, uid, gid, home in homes():
                carry_over(disk, image, directory / user, home, (uid, gid))
            disk.replace(OLD_DISK)  # With all that is not in a home folder.
        shutil.move(image, disk)


def homes() -> Iterator[tuple[str, int, int, str]]:
    for line in USERS.read_text().splitlines():
        name, _, uid, gid, _, home, *_ = line.split(":")
        yield name, int(uid), int(gid), home


def carry_over(old: Path, new: Path, directory: Path, home: str, owner: tuple[int, int]) -> None:
    """Copies a home folder's files from one disk to another."""
    directory.mkdir()
    call(DEBUG, "-R", f'rdump "{home}" "{directory}"', old)
    kept = directory / Path(home).name
    files = tuple(Put(file, f"{home}/{file.relative_to(kept)}")
                  for file in sorted(kept.rglob("*"))
                  if file.is_file() and os.access(file, os.R_OK))
    scratch = directory / "scratch"
    scratch.mkdir()
    put_files(new, Files(put=files, base=new, owner=owner), scratch)
