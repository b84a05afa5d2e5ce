# SPDX-License-Identifier: MIT
"""tools/gdb/assay.py: what its commands find, and backtraces through the kernel's entries."""

import re
import subprocess
from pathlib import Path

import pytest
from assay import OUT
from framework import under_gdb
from framework.under_gdb import gdb

FRAME = re.compile(r"^#\d+ +(?:0x[0-9a-f]+ in )?(<signal handler called>|\w+)", re.MULTILINE)
INTERRUPT = "break *(char *) interrupt if "  # Before its first instruction:
SAVED = "((struct frame *) $eax)"  # its argument.
ENTRY = "<signal handler called>"  # gdb's words for whoever was interrupted.
INLINED = ("python from gdb.FrameIterator import FrameIterator as All; print('inlined:', "
           "*(n for n, f in enumerate(All(gdb.newest_frame())) if f.type() == gdb.INLINE_FRAME))")


@pytest.mark.parametrize("program, file", [("hello", "user/hello/"), ("ux", "servers/ux/"),
                                           ("library", "tests/lib/check.c")])
def test_symbols_of_a_program(program: str, file: str) -> None:
    """Of a program that boots, of a server, and of a test: where its main() is, no other's."""
    done = gdb(f"assay program {program}", "info line main")
    assert f"symbols of {program} are known" in done.stdout, done.stderr
    assert file in done.stdout


def test_a_program_that_is_not_there() -> None:
    assert "no program 'nobody' in" in gdb("assay program nobody").stderr


def backtrace(folder: Path, *commands: str) -> list[str]:
    """Names, innermost first, where the last of the commands has stopped the first program.

    What a compiler has put into its caller is no frame of its own, though gdb shows it as one."""
    said = under_gdb.run(folder, ("hello",), "assay program hello", "hbreak trap_mach_msg",
                         "continue", "delete", *commands, "backtrace", INLINED)
    inlined = re.search(r"^inlined:([ \d]*)$", said, re.MULTILINE)
    assert inlined, said
    left_out = {int(number) for number in inlined[1].split()}
    names = [name for number, name in enumerate(FRAME.findall(said)) if number not in left_out]
    assert names, said
    return names


def between(names: list[str], inner: str, outer: str) -> list[str]:
    assert inner in names and outer in names, names
    return names[names.index(inner) : names.index(outer) + 1]


def test_from_a_trap_to_its_caller(tmp_path: Path) -> None:
    names = backtrace(tmp_path)
    assert names == ["trap_mach_msg", ENTRY, "mach_msg_trap", "mach_msg", *names[4:-1], "main"]


def test_from_an_interrupt_to_the_program(tmp_path: Path) -> None:
    names = backtrace(tmp_path, f"{INTERRUPT} ({SAVED}->cs & 3) && {SAVED}->vector >= 32",
                      "continue")
    assert names[:2] == ["interrupt", ENTRY] and names[-1] == "main"


def test_from_an_interrupt_through_the_kernel_to_the_program(tmp_path: Path) -> None:
    names = backtrace(tmp_path, "hbreak message_send", "continue", "delete",
                      f"{INTERRUPT} !({SAVED}->cs & 3)", "continue")
    inside, outside = (number for number, name in enumerate(names) if name == ENTRY)
    assert names[0] == "interrupt" and inside == 1
    assert names[2] == "message_send" and names[outside - 1] == "trap_mach_msg"
    assert names[outside + 1] == "mach_msg_trap" and names[-1] == "main"


def test_from_a_page_fault_to_who_touched(tmp_path: Path) -> None:
    names = backtrace(tmp_path, "break fault", "continue")
    assert names[0] == "fault" and names[-1] == "main"
    assert between(names, "interrupt", "main")[1] == ENTRY


def test_registers_of_who_was_interrupted(tmp_path: Path) -> None:
    """As the frame that the kernel saved has them: another way to the same words."""
    said = under_gdb.run(tmp_path, ("hello",), "hbreak trap_mach_msg", "continue", "delete",
                         f"{INTERRUPT} {SAVED}->cs & 3", "continue",
                         "set $f = (struct frame *) $eax",
                         "printf \"%x %x %x %x %x\\n\", $f->eip, $f->esp, $f->ebp, $f->ebx, "
                         "$f->edi", "up 2",
                         "printf \"%x %x %x %x %x\\n\", $eip, $esp, $ebp, $ebx, $edi")
    saved, found = re.findall(r"^(?:[0-9a-f]+ ){4}[0-9a-f]+$", said, re.MULTILINE)
    assert saved == found


def test_debugging_information_is_not_loaded() -> None:
    """That of the assembler neither: what is in memory is code and data alone."""
    headers = subprocess.run(["readelf", "-SW", OUT / "mach_kernel"], text=True,
                             capture_output=True, check=True).stdout
    sections = re.findall(r"\] (\.debug_frame|\.eh_frame)\s+\w+\s+([0-9a-f]+)", headers)
    assert sections == [(".debug_frame", "00000000")]


def look(folder: Path, *commands: str) -> str:
    """What is said of hello when it has a port and is about to spin."""
    return under_gdb.run(folder, ("hello",), "assay program hello", "hbreak trap_mach_msg",
                         "continue", "delete", "hbreak spin_and_trap", "continue", *commands)


def test_threads_and_what_one_of_them_waits_in(tmp_path: Path) -> None:
    """The program runs, the CPU's idle thread does not: its stack begins where it gave way."""
    said = look(tmp_path, "assay threads", "assay stack 1", "assay stack 99", "assay stack")
    assert re.search(r"^ +\d+  hello +running +\d+  on CPU 0$", said, re.MULTILINE)
    assert re.search(r"^ +1  - +running +\d+  0x\w+ kernel_main\+\d+ ", said, re.MULTILINE)
    stack = re.findall(r"^#\d  0x\w+ (\w+)\+\d+ \(kernel/", said, re.MULTILINE)
    assert stack[:2] == ["sched_switch", "sched_idle"]
    assert "there is no thread 99\n" in said
    assert "say which thread: assay stack ID; `assay threads` lists them\n" in said


def test_ports_of_a_task(tmp_path: Path) -> None:
    """By number and by name; its own port, and the one that the program's samples come to."""
    said = look(tmp_path, "assay ports hello", "assay ports 1", "hbreak *task_sample_stop",
                "continue", "printf \"port %x\\n\", reply->name")
    assert said.count("0x1  send                2  task hello\n") == 2
    name = re.search(r"^port (\w+)$", said, re.MULTILINE)[1]
    assert f"0x{name}  receive             1  hello's 0x{name}, 0 of 5 messages\n" in said


def test_map_of_a_task(tmp_path: Path) -> None:
    """Where its file says that it is loaded, and how; and the stack, of which a page is touched."""
    said = look(tmp_path, "assay map hello")
    headers = subprocess.run(["readelf", "-lW", OUT / "user/hello"], text=True,
                             capture_output=True, check=True).stdout
    loaded = re.findall(r"LOAD +\w+ 0x(\w+) \w+ \w+ \w+ ([RWE ]{3})", headers)
    assert len(loaded) > 2
    for start, rights in loaded:
        may = "".join(sign if flag in rights else "-" for sign, flag in zip("rwx", "RWE"))
        page = f"{int(start, 16) & -4096:08x}"
        assert re.search(rf"^{page}-\w{{8}}  {may}  rwx  copied  object", said, re.MULTILINE)
    assert re.search(r"^\w{8}-c0000000  rw-  .*: 1 of 32 pages here$", said, re.MULTILINE)


def test_the_log_of_the_kernel(tmp_path: Path) -> None:
    """All that came out at the port, with the last line, though nobody reads it there any more."""
    said = look(tmp_path, "delete", "hbreak machine_end", "continue", "assay log")
    log = (tmp_path / "com1").read_text()
    assert log.endswith("machine: exit status 0\n") and log in said


@pytest.mark.parametrize("command, says", [
    ("assay ports", "say which task: assay ports TASK; `assay tasks` lists them"),
    ("assay map nobody", "there is no task nobody; `assay tasks` lists them")])
def test_which_task(tmp_path: Path, command: str, says: str) -> None:
    assert says in look(tmp_path, command)
