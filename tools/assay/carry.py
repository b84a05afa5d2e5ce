# SPDX-License-Identifier: MIT
"""tools/guest get, put and ls: files of the machine that `make qemu` runs, or of its disk.

A disk that a machine holds is never touched: what is asked then is asked of the machine.
"""

import re
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from typing import Callable, TypeVar

from assay import ToolError, home
from assay.agent import Agent, put_file
from assay.files import DEBUG, Files, Get, NoRoom, Put, call, complaint, fetch_one, guest_path, \
    put_files, target, unsound
from assay.image import USERS, read_ids

Value = TypeVar("Value")


def either(of_disk: Callable[[Path], Value], of_machine: Callable[[Agent], Value]) -> Value:
    """Does it with the disk, or with the machine that has the disk."""
    try:
        with home.locked() as disk:
            if not disk.is_file():
                raise ToolError("there is no machine yet: `make qemu` makes one")
            return of_disk(disk)
    except home.InUse:
        agent = Agent()
        try:
            return of_machine(agent)
        finally:
            agent.close()


def get(guest: str, host: str) -> None:
    wanted = Get(guest_path(guest), Path(host))
    if not target(wanted).parent.is_dir():
        raise ToolError(f"there is no folder {target(wanted).parent}")

    def of_disk(disk: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="assay.") as name:
            image = Path(name) / "disk"
            shutil.copyfile(disk, image)
            fetch_one(image, wanted)

    either(of_disk, lambda agent: void(target(wanted).write_bytes(agent.get(wanted.guest))))


def void(_: object) -> None:
    """For a call whose value nobody wants."""


def put(host: str, guest: str) -> None:
    file = Path(host)
    if not file.is_file():
        kind = "a folder; put copies one file" if file.is_dir() else "not there"
        raise ToolError(f"{host} is {kind}")
    if guest.endswith("/"):
        guest += file.name
    path = guest_path(guest)

    either(lambda disk: put_on_disk(disk, file, path), lambda agent: put_file(agent, file, path))


def put_on_disk(disk: Path, file: Path, path: str) -> None:
    """On a copy, which takes the disk's place when all is well."""
    folder = str(PurePosixPath(path).parent)
    if kind_on(disk, folder) != "directory":
        raise ToolError(f"{path}: there is no such folder in the machine: `mkdir` makes one there")
    if kind_on(disk, path) not in ("", "regular"):
        raise ToolError(f"{path} is there and is no file; a folder's name ends with a slash: "
                        f"{path}/")
    with tempfile.TemporaryDirectory(prefix="assay.", dir=disk.parent) as name:
        copy = Path(name) / "disk"
        shutil.copyfile(disk, copy)
        try:
            put_files(copy, Files(put=(Put(file, path),), base=copy, owner=owner_of(path)),
                      Path(name))
        except NoRoom:
            raise ToolError(f"{path}: the machine's disk has no room for it: `rm` there what "
                            "nobody needs") from None
        copy.replace(disk)


def kind_on(disk: Path, path: str) -> str:
    """What debugfs calls a path's type; nothing if it is not there."""
    found = re.search(r"Type: (\w+)", call(DEBUG, "-R", f'stat "{path}"', disk).stdout)
    return found[1] if found else ""


def owner_of(path: str) -> tuple[int, int]:
    """Whose a new file is: of the user in whose home folder it lies, or root's."""
    parts = PurePosixPath(path).parts
    uid = read_ids(USERS).get(parts[2], 0) if len(parts) > 3 and parts[1] == "home" else 0
    return uid, uid


def ls(guest: str) -> list[str]:
    path = "/" if guest == "/" else guest_path(guest.rstrip("/"))

    def of_disk(disk: Path) -> list[str]:
        trouble = unsound(disk)
        if trouble:
            raise ToolError(f"the disk is not sound: {trouble}")
        listing = call(DEBUG, "-R", f'ls -p "{path}"', disk)
        if complaint(listing):
            raise ToolError(f"{path}: {complaint(listing)}")
        return [name_of(line) for line in listing.stdout.splitlines() if line.count("/") >= 6
                and line.split("/")[5] not in (".", "..", "")]

    return sorted(either(of_disk, lambda agent: agent.list(path)))


def name_of(line: str) -> str:
    """Of a line of debugfs's: /inode/mode/uid/gid/name/size/."""
    fields = line.split("/")
    return fields[5] + ("/" if fields[2].startswith("04") else "")
