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
from assay import OUT
from assay.files import Files, Put

ROOT = Path(__file__).resolve().parents[2]
CC = "i686-linux-gnu-gcc"

HEADERS = ("sys/errno.h", "sys/fcntl.h", "sys/resource.h", "sys/stat.h", "sys/time.h",
           "sys/signal.h", "sys/types.h", "sys/unistd.h", "sys/wait.h")
OF_LINUX = ("linux/errno.h", "linux/fcntl.h", "linux/stat.h", "linux/fs.h", "linux/resource.h",
            "linux/time.h", "linux/wait.h", "linux/signal.h", "asm-generic/signal.h")

# This is as libraries of old want it, with 32 signals: asm-generic has what the kernel has.
PASSED_OVER = {"linux/signal.h": {"NSIG", "SIGRTMAX"}}

# Numbers of ours that no header of Linux's has.
OWN = {
    "ELAST", "ERESTARTSYS",  # What the library makes of results; Linux's own, within the kernel.
    "ENOTSUP",  # Of POSIX.
    "R_OK", "W_OK", "X_OK", "F_OK",  # In Linux's kernel they are bits of a mode, without names.
    "ITIMERS", "WSTOPPED_MARK",
    "NSIG",  # Compared with _NSIG below.
    "SIGNAL_END", "SIG_DFL_WORD", "SIG_IGN_WORD",
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
    ("sigset_t", "sigset_t", "sys/signal.h", "asm-generic/signal.h", "."),
    ("stack_t", "stack_t", "sys/signal.h", "asm/signal.h", ". ss_sp ss_flags ss_size"),
    ("siginfo_t", "siginfo_t", "sys/signal.h", "asm/siginfo.h",
     ". si_signo si_errno si_code si_pid si_uid si_value si_status si_overrun si_addr"),
    ("mcontext_t", "struct sigcontext", "sys/signal.h", "asm/sigcontext.h",
     ". gs fs es ds edi esi ebp esp ebx edx ecx eax trapno err eip cs eflags esp_at_signal ss "
     "fpstate oldmask cr2"),
    ("ucontext_t", "struct ucontext", "sys/signal.h",
     "asm-generic/signal.h asm/sigcontext.h asm-generic/ucontext.h",
     ". uc_flags uc_link uc_stack uc_mcontext uc_sigmask"),
    ("struct _fpstate", "struct _fpstate", "sys/signal.h", "asm/sigcontext.h",
     ". cw sw tag ipoff cssel dataoff datasel _st status magic _fxsr_env mxcsr _fxsr_st _xmm"),
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
                  text="".join(f"#include <{name}>\n" for name in header.split()) + text)


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
    known = sorted((names(linux(), header) & wanted) - PASSED_OVER.get(header, set()))
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


def test_there_are_as_many_signals() -> None:
    (last,) = values(linux(), "asm-generic/signal.h", ["_NSIG"])
    assert numbers("sys/signal.h")["NSIG"] == last + 1


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


# ---------------- Signals ----------------


def members_of(data: bytes, begin: int, header: str, structure: str,
               names: list[str]) -> dict[str, int]:
    """The members of a structure that lies in these bytes, as numbers."""
    found = {}
    for name, (place, size) in zip(names, places(ours(), header, structure, names)):
        found[name] = int.from_bytes(data[begin + place:begin + place + size], "little")
    return found


REGISTERS = {f"context.uc_mcontext.{name}": value * 0x11111111 for name, value in
             {"ebx": 1, "ecx": 2, "edx": 3, "esi": 4, "edi": 5, "ebp": 6, "eax": 7}.items()}


@pytest.fixture(name="frame", scope="module")
def frame_fixture(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, int, bytes]:
    """Where the instruction is that was wrong, where Linux's frame begins, and what is there."""
    program = tmp_path_factory.mktemp("linux") / "frame"
    output(CC, "-O1", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-o", str(program),
           "tests/ux/linux/frame.c")
    try:
        said = subprocess.run([program], check=True, stdout=subprocess.PIPE, timeout=60).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the host runs no programs of 32 bits: {error}")
    symbols = dict(line.split()[::2][::-1] for line in output(
        "i686-linux-gnu-nm", str(program)).splitlines())
    return int(symbols["wrong"], 16), int.from_bytes(said[:4], "little"), said[4:]


def test_signal_frames_are_linux(frame: tuple[int, int, bytes]) -> None:
    """What Linux itself has left on a stack, read by our headers."""
    wrong, begin, data = frame
    (info, _), (context, _) = places(ours(), "sys/signal.h", "struct signal_frame",
                                     ["info", "context"])
    trap = {"context.uc_mcontext." + name: value
            for name, value in {"eip": wrong, "trapno": 6, "oldmask": 0x00010200}.items()}
    expected = {"signal": 4, "siginfo": begin + info, "ucontext": begin + context,
                "info.si_signo": 4, "info.si_errno": 0, "info.si_addr": wrong,
                "context.uc_link": 0, "context.uc_stack.ss_size": 16384,
                "context.uc_sigmask": 0x8000000100010200, **REGISTERS, **trap}
    assert members_of(data, 0, "sys/signal.h", "struct signal_frame", list(expected)) == expected
    assert (begin + 4) % 16 == 0


def test_the_fpu_is_where_linux_has_it(frame: tuple[int, int, bytes]) -> None:
    _, begin, data = frame
    at = members_of(data, 0, "sys/signal.h", "struct signal_frame",
                    ["context.uc_mcontext.fpstate"])["context.uc_mcontext.fpstate"]
    fpu = members_of(data, at - begin, "sys/signal.h", "struct _fpstate",
                     ["cw", "sw", "status", "magic", "mxcsr", "_st[0].significand[3]",
                      "_st[0].exponent", "_fxsr_st[0][1]"])
    assert fpu["cw"] & 0xffff == 0x37f and fpu["sw"] & 0xffff == fpu["status"]
    assert (fpu["magic"], fpu["mxcsr"]) == (0, 0x1f80)
    assert (fpu["_st[0].significand[3]"], fpu["_st[0].exponent"]) == (0x8000, 0x3fff)  # 1.0
    assert fpu["_fxsr_st[0][1]"] == 0x80000000


def test_signals_are_queued_as_by_linux(unix_machine, tmp_path: Path) -> None:
    """The same program here and on the host, by the host's own library."""
    here, there = tmp_path / "here", tmp_path / "there"
    source = ROOT / "tests" / "ux" / "linux" / "realtime.c"
    output("gcc", "-o", str(there), str(source))
    output(str(OUT / "sdk/bin/ux-cc"), "-o", str(here), str(source))
    expected = output(str(there))
    result = unix_machine("/tmp/realtime", files=Files(put=(Put(here, "/tmp/realtime"),)), limit=20)
    assert result.output.decode() == expected
    assert "40, number 40, code -1, mine, value 3" in expected
