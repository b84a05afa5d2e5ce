# SPDX-License-Identifier: MIT
"""A machine of its own under gdb, which is given a script: what the script printed.

Under the instruction clock, with a limit in guest time, and with one for gdb in the host's.
"""

import subprocess
from pathlib import Path

from assay import OUT, ROOT, debugger, qemu
from assay.process import Emulator
from assay.programs import find_kernel, read_command, stage
from assay.qmp import Monitor

KERNEL = OUT / "mach_kernel"
LIMIT = 120  # Seconds of the host's.
ARGUMENTS = "console=com0 log=com1 raw clock=exact limit=30"
MEM = 32  # MiB


def script(*commands: str) -> list[str]:
    """gdb's words: what `make gdb` loads, and the commands."""
    words = [word for command in commands for word in ("-ex", command)]
    return ["gdb", "-q", "-nx", "-batch", "-ex", "set width 0", "-ex", "set height 0",
            str(KERNEL), "-x", str(debugger.COMMANDS), *words]


def gdb(*commands: str) -> subprocess.CompletedProcess:
    """Without a machine."""
    return subprocess.run(script(*commands), cwd=ROOT, text=True, capture_output=True,
                          timeout=LIMIT, check=False)


def machine(folder: Path, programs: tuple[str, ...], cpus: int, memory: int,
            append: str) -> list[str]:
    modules = stage(folder, find_kernel(), [read_command(program) for program in programs])
    ports = [word for number in range(2)
             for word in ("-chardev", f"file,id=com{number},path=com{number}",
                          "-serial", f"chardev:com{number}")]
    return [qemu.BINARY, *qemu.instruction_clock(1), *qemu.machine_options("pc", cpus, MEM, memory),
            *ports, *qemu.boot_options(f"{ARGUMENTS} {append}", modules), "-S", *debugger.LISTEN]


def run(folder: Path, programs: tuple[str, ...], *commands: str, cpus: int = 1,
        append: str = "") -> str:
    """What gdb printed, standard error among it, from the machine's first instruction on."""
    memory = qemu.allocate_memory(MEM)
    monitor = Monitor()
    command = [*machine(folder, programs, cpus, memory, append), *monitor.options]
    with Emulator(command, folder, (memory, monitor.for_qemu.fileno()),
                  stdin=subprocess.DEVNULL):
        monitor.execute("query-status")  # When QEMU answers, it listens for gdb.
        target = f"target remote {folder / debugger.SOCKET}"
        done = subprocess.run(script(target, *commands), cwd=ROOT, text=True, timeout=LIMIT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    monitor.close()
    return done.stdout
