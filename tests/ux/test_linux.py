# SPDX-License-Identifier: MIT
"""Numbers and structures of Unix calls are Linux's for i386: beside Linux's own headers.

Each number that a header in include/sys defines is compared.  Structures are listed below, since
not all names are the same; of each member the place and the size are compared.  The cross compiler
evaluates both sides, each by its own headers alone.
"""

import ctypes
import os
import re
import struct
import subprocess
from functools import cache
from pathlib import Path
from typing import Iterable, Iterator

import pytest

ROOT = Path(__file__).resolve().parents[2]
CC = "i686-linux-gnu-gcc"

HEADERS = ("sys/errno.h", "sys/fcntl.h", "sys/resource.h", "sys/stat.h", "sys/time.h",
           "sys/types.h", "sys/unistd.h", "sys/wait.h")
OF_LINUX = ("linux/errno.h", "linux/fcntl.h", "linux/stat.h", "linux/fs.h", "linux/resource.h",
            "linux/time.h", "linux/wait.h")

# Numbers of ours that no header of Linux's has.
OWN = {
    "ELAST", "ERESTARTSYS",  # What the library makes of results; Linux's own, within the kernel.
    "ENOTSUP",  # Of POSIX.
    "R_OK", "W_OK", "X_OK", "F_OK",  # In Linux's kernel they are bits of a mode, without names.
    "ITIMERS", "WSTOPPED_MARK",
}

# Ours, Linux's, their headers, and the members, with both names where they
# differ; a dot is the whole structure.
STRUCTURES = [
    ("struct stat", "struct stat64", "sys/stat.h", "asm/stat.h",
     ". st_dev st_ino_low=__st_ino st_mode st_nlink st_uid st_gid st_rdev st_size st_blksize "
     "st_blocks st_atime st_atime_nsec st_mtime st_mtime_nsec st_ctime st_ctime_nsec st_ino"),
    ("struct timeval", "struct __kernel_old_timeval", "sys/time.h", "linux/time.h",
     ". tv_sec tv_usec"),
    ("struct timespec", "struct timespec", "sys/time.h", "linux/time.h", ". tv_sec tv_nsec"),
    ("struct itimerval", "struct itimerval", "sys/time.h", "linux/time.h",
     ". it_interval it_value"),
    ("struct rusage", "struct rusage", "sys/resource.h", "linux/resource.h",
     "ru_utime ru_stime ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt "
     "ru_nswap ru_inblock ru_oublock ru_msgsnd ru_msgrcv ru_nsignals ru_nvcsw ru_nivcsw"),
    ("struct utsname", "struct new_utsname", "sys/utsname.h", "linux/utsname.h",
     ". sysname nodename release version machine domainname"),
]

# As the host's Linux writes them: no header of its tells of these.
DIRENT = ("d_ino", "d_off", "d_reclen", "d_type", "d_name")


OURS = ("-nostdinc", "-Iinclude", "-Ilib/libc/include", "-include", "stddef.h")
LINUX = ("-isystem", "/usr/include", "-include", "stddef.h")


def output(*command: str, text: str = "") -> str:
    return subprocess.run(command, input=text, cwd=ROOT, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


@cache
def ours() -> tuple[str, ...]:
    """Options to find our headers by, and the compiler's own, and no others."""
    return *OURS, "-isystem", output(CC, "-print-file-name=include").strip()


@cache
def linux() -> tuple[str, ...]:
    """Of Linux's headers Debian has those apart that belong to an architecture."""
    return *LINUX, "-isystem", "/usr/include/" + output("gcc", "-print-multiarch").strip()


def compiled(options: Iterable[str], header: str, *more: str, text: str = "") -> str:
    return output(CC, "-x", "c", "-w", *options, *more, "-", "-o", "-",
                  text=f"#include <{header}>\n{text}")


def names(options: Iterable[str], header: str) -> set[str]:
    """Of the words without arguments that a header defines, and what it includes."""
    text = compiled(options, header, "-E", "-dM")
    return set(re.findall(r"^#define ([A-Z]\w*) +\S", text, re.MULTILINE))


def values(options: Iterable[str], header: str, expressions: list[str]) -> list[int]:
    """What the compiler makes of each, in the assembler's words."""
    text = ",".join(f"(int)({expression})" for expression in expressions)
    made = compiled(options, header, "-S", text=f"int values[] = {{{text}}};")
    found: list[int] = []
    for kind, number in re.findall(r"^\t\.(long|zero)\t(-?\d+)$", made, re.MULTILINE):
        found += [int(number)] if kind == "long" else [0] * (int(number) // 4)
    assert len(found) == len(expressions), made
    return found


@cache
def numbers(header: str) -> dict[str, int]:
    """Those of a header of ours that are its own or of what it includes."""
    known = sorted(name for name in names(ours(), header) - names(ours(), "stdint.h")
                   if not name.endswith("_H"))
    return dict(zip(known, values(ours(), header, known)))


@cache
def numbers_of_linux(header: str, wanted: frozenset[str]) -> dict[str, int]:
    known = sorted(names(linux(), header) & wanted)
    return dict(zip(known, values(linux(), header, known)))


def differences(mine: dict[str, int]) -> set[str]:
    """What is told to whom a number of ours is another one for Linux, or no one."""
    found = {name: f"{name}: no header of Linux's has it" for name in mine}
    for header in OF_LINUX:
        for name, number in numbers_of_linux(header, frozenset(mine)).items():
            is_same = number == mine[name]
            if found.get(name, "").endswith("has it"):
                found.pop(name)
            if not is_same:
                found[name] = f"{name}: {mine[name]}, and {number} in {header}"
    return set(found.values())


def judged(mine: dict[str, int]) -> set[str]:
    return differences({name: number for name, number in mine.items() if name not in OWN})


@pytest.mark.parametrize("header", HEADERS)
def test_numbers_are_linux(header: str) -> None:
    assert not judged(numbers(header))


def test_most_numbers_are_found() -> None:
    """As many as the headers have by another count, so that the pattern has not missed them."""
    for header in HEADERS:
        text = (ROOT / "include" / header).read_text()
        plain = re.findall(r"^#define (\w+)\s+[-(0-9A-Z]", text, re.MULTILINE)
        assert set(plain) <= set(numbers(header)), header
    assert len(numbers("sys/errno.h")) > 130


def test_a_wrong_number_is_found() -> None:
    assert judged({"EAGAIN": 35}) == {"EAGAIN: 35, and 11 in linux/errno.h"}
    assert judged({"ENOTHING": 1}) == {"ENOTHING: no header of Linux's has it"}


# ---------------- Structures ----------------


def places(options: Iterable[str], header: str, structure: str,
           members: list[str]) -> list[tuple[int, int]]:
    """Where each member is, and how large; of a final dot, where the structure ends."""
    text = [text for member in members for text in (
        (f"sizeof({structure})", "0") if member == "." else
        (f"offsetof({structure}, {member})", f"sizeof((({structure} *)0)->{member})"))]
    found = values(options, header, text)
    return list(zip(found[::2], found[1::2]))


@pytest.mark.parametrize("ours_is, linux_is, header, of_linux, members", STRUCTURES,
                         ids=[row[0].replace(" ", "-") for row in STRUCTURES])
def test_structures_are_linux(ours_is: str, linux_is: str, header: str, of_linux: str,
                              members: str) -> None:
    pairs = [(pair.split("=") * 2)[:2] for pair in members.split()]
    mine = places(ours(), header, ours_is, [pair[0] for pair in pairs])
    theirs = places(linux(), of_linux, linux_is, [pair[1] for pair in pairs])
    assert dict(zip(members.split(), mine)) == dict(zip(members.split(), theirs))


def entries(data: bytes, at: dict[str, int]) -> Iterator[tuple[str, int, int, int]]:
    """Name, file, type and place of the next, of entries that Linux has written."""
    begin = 0
    while begin < len(data):
        name = data[begin + at["d_name"]:].split(b"\0")[0].decode()
        inode, place = (struct.unpack_from("<q", data, begin + at[member])[0]
                        for member in ("d_ino", "d_off"))
        yield name, inode, data[begin + at["d_type"]], place
        begin += struct.unpack_from("<H", data, begin + at["d_reclen"])[0]


def test_directory_entries_are_linux(tmp_path: Path) -> None:
    """No header tells of these: the host's kernel writes them."""
    members = ["d_ino", "d_off", "d_reclen", "d_type", "d_name"]
    at = {member: place for member, (place, _) in zip(
        members, places(ours(), "sys/dirent.h", "struct dirent", members))}
    for name in ("a", "file of a longer name"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("a")
    types = numbers("sys/dirent.h")
    expected = {(entry.name, entry.inode(),
                 types["DT_DIR" if entry.is_dir(follow_symlinks=False) else
                       "DT_LNK" if entry.is_symlink() else "DT_REG"])
                for entry in os.scandir(tmp_path)}
    folder = os.open(tmp_path, os.O_RDONLY)
    buffer = ctypes.create_string_buffer(4096)
    size = ctypes.CDLL(None).getdents64(folder, buffer, len(buffer))
    found = list(entries(buffer.raw[:size], at))
    os.lseek(folder, found[2][3], os.SEEK_SET)
    rest = ctypes.CDLL(None).getdents64(folder, buffer, len(buffer))
    assert list(entries(buffer.raw[:rest], at)) == found[3:]
    os.close(folder)
    assert {entry[:3] for entry in found if entry[0] not in (".", "..")} == expected
