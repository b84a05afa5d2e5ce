# SPDX-License-Identifier: MIT
"""Commands for gdb attached to the machine: `help assay` lists them; `make gdb` loads this file.

They read the kernel's own lists out of the machine's memory, through the types in its debugging
information.  They change nothing there, so they may be used wherever the machine was stopped; only
what `assay type` types is read by the machine, when it goes on.
"""

import os
import sys
from pathlib import Path
from typing import Iterator, Optional

import gdb

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernel import Look, listed, tasks  # noqa: E402
from log import Log  # noqa: E402
from map import Map  # noqa: E402
from ports import Ports  # noqa: E402

OUT = Path(gdb.current_progspace().filename).parent  # Where the kernel is, programs are.
FRAMES_MAX = 64

# What switch_stacks() leaves on a stack below the return address: edi, esi, ebx, ebp.
SAVED_REGISTERS = 4
SAVED_EBP = 3

STATES = "THREAD_"
SCHEDULING = ("switch", "sched_", "thread_wait")  # Names of functions that say nothing.
WORD = 4


def read_word(address: int) -> int:
    memory = gdb.selected_inferior().read_memory(address, WORD)
    return int.from_bytes(memory.tobytes(), "little")


def cpus() -> Iterator[gdb.Value]:
    every = gdb.parse_and_eval("cpus")
    return (every[number] for number in range(int(gdb.parse_and_eval("n_cpus"))))


def threads() -> Iterator[gdb.Value]:
    """Those of tasks, then the CPUs' idle threads, which are on no list."""
    for task in tasks():
        yield from listed(task["threads"], "struct thread", "task_link")
    for cpu in cpus():
        if int(cpu["idle_thread"]):
            yield cpu["idle_thread"].dereference()


def cpu_of(thread: gdb.Value) -> Optional[int]:
    """The CPU that the thread runs on at this moment."""
    for cpu in cpus():
        if int(cpu["thread"]) == int(thread.address):
            return int(cpu["number"])
    return None


def owner(thread: gdb.Value) -> str:
    """The task's name.  Threads of the kernel have none."""
    return thread["task"]["name"].string() if int(thread["task"]) else "-"


def place(pc: int) -> str:
    """function+offset of a return address, and the line of the call if it is known.

    Behind a call that does not return may be another function already.
    """
    said = gdb.execute(f"info symbol {pc - 1:#x}", to_string=True).partition(" in section")[0]
    name, _, offset = said.strip().partition(" + ")
    line = gdb.find_pc_line(pc - 1)
    source = f" ({line.symtab.filename}:{line.line})" if line.symtab else ""
    symbol = name if name.startswith("No ") else f"{name}+{int(offset or 0) + 1}"
    return f"{pc:#010x} {symbol}{source}"


def saved_frames(thread: gdb.Value) -> Iterator[int]:
    """Return addresses on the stack of a thread that does not run, innermost first."""
    machine = thread["machine"]
    esp, top = int(machine["esp"]), int(machine["stack_top"])
    yield read_word(esp + SAVED_REGISTERS * WORD)
    frame = read_word(esp + SAVED_EBP * WORD)
    for _ in range(FRAMES_MAX):
        if not esp < frame <= top - 2 * WORD:
            return
        yield read_word(frame + WORD)
        esp, frame = frame, read_word(frame)


def where(thread: gdb.Value) -> str:
    """Where a thread will go on: past what all of them wait in."""
    cpu = cpu_of(thread)
    if cpu is not None:
        return f"on CPU {cpu}"
    pcs = list(saved_frames(thread))
    names = [place(pc) for pc in pcs]
    waiting = [name for name in names if not any(word in name for word in SCHEDULING)]
    return (waiting or names)[0]


class Assay(gdb.Command):
    """Looks into Assay's kernel."""

    def __init__(self) -> None:
        super().__init__("assay", gdb.COMMAND_DATA, prefix=True)


class Tasks(Look):
    """Lists the tasks: assay tasks"""

    def __init__(self) -> None:
        super().__init__("assay tasks", gdb.COMMAND_DATA)

    def look(self, _: str) -> None:
        print(f"{'task':>4}  {'threads':>7}  name")
        for task in tasks():
            ending = "  (ending)" if task["ending"] else ""
            count = int(task["n_threads"])
            print(f"{int(task['id']):>4}  {count:>7}  {task['name'].string()}{ending}")


class Threads(Look):
    """Lists the threads, and where each is: assay threads"""

    def __init__(self) -> None:
        super().__init__("assay threads", gdb.COMMAND_DATA)

    def look(self, _: str) -> None:
        print(f"{'id':>4}  {'task':<16}  {'state':<8}  {'priority':>8}  where")
        for thread in threads():
            state = str(thread["state"]).removeprefix(STATES).lower()
            print(f"{int(thread['id']):>4}  {owner(thread):<16}  {state:<8}  "
                  f"{int(thread['priority']):>8}  {where(thread)}")


class Stack(Look):
    """Shows a thread's stack in the kernel: assay stack ID"""

    def __init__(self) -> None:
        super().__init__("assay stack", gdb.COMMAND_STACK)

    def look(self, argument: str) -> None:
        if not argument.isdigit():
            raise gdb.GdbError("say which thread: assay stack ID; `assay threads` lists them")
        thread = next((t for t in threads() if int(t["id"]) == int(argument)), None)
        if thread is None:
            raise gdb.GdbError(f"there is no thread {argument}")
        cpu = cpu_of(thread)
        if cpu is not None:
            print(f"thread {argument} runs on CPU {cpu}:")
            gdb.execute(f"thread apply {cpu + 1} -s backtrace")
            return
        for number, pc in enumerate(saved_frames(thread)):
            print(f"#{number:<3}{place(pc)}")


class Program(gdb.Command):
    """Reads the symbols of a program or server, instead of those before: assay program NAME

    All programs are linked at the same address, so gdb can know only one of them at a time."""

    def __init__(self) -> None:
        super().__init__("assay program", gdb.COMMAND_FILES)
        self.path: Optional[Path] = None

    def invoke(self, argument: str, _: bool) -> None:
        found = [OUT / "user" / argument, OUT / "servers" / argument,
                 *sorted((OUT / "tests").glob(f"*/{argument}"))]
        path = next((path for path in found if path.is_file()), None)
        if not argument or path is None:
            raise gdb.GdbError(f"no program {argument!r} in {OUT}/user, /servers or /tests")
        if self.path:
            gdb.execute(f"remove-symbol-file '{self.path}'")
        gdb.execute(f"add-symbol-file '{path}'", to_string=True)
        self.path = path
        print(f"symbols of {argument} are known")


class Type(gdb.Command):
    """Types a line at the machine's console, to be read when it goes on: assay type LINE"""

    def __init__(self) -> None:
        super().__init__("assay type", gdb.COMMAND_RUNNING)

    def invoke(self, argument: str, _: bool) -> None:
        keyboard = os.environ.get("ASSAY_KEYBOARD")
        if not keyboard:
            raise gdb.GdbError("this machine has a terminal of its own: type there")
        Path(keyboard).write_text(f"{argument}\r", encoding="utf-8")


for command in (Assay, Tasks, Threads, Stack, Ports, Map, Log, Program, Type):
    command()
