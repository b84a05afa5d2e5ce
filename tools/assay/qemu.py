# SPDX-License-Identifier: MIT
"""Drives QEMU: builds its command line, watches a run, and says how it ended.

The options that make a run repeatable are here and nowhere else.  What breaks repeatability and is
avoided: a path that differs from run to run (QEMU runs in the machine's folder and sees names in
it), default devices, host time, and a reader of the serial ports that the guest has to wait for.
"""

import datetime
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Callable, Iterable, Optional

from assay import ToolError, hot, iso, sparse
from assay.process import Emulator
from assay.programs import Staged
from assay.qmp import Monitor, MonitorError
from assay.report import RUNNING, SharedReport
from assay.setup import Disk, Ending, Setup

BINARY = "qemu-system-i386"

# Under the instruction clock the machine's day begins when it is switched on.
START = datetime.datetime(2026, 1, 1)

# At the keyboard it is four, which many a host can keep up with, and idle time is the host's.
# With shift=auto QEMU would change it meanwhile, and so the shares of a profile.
ACCELERATORS = {
    "kvm": ("-accel", "kvm"),
    "icount": ("-accel", "tcg", "-icount", "shift=2"),
    "tcg": ("-accel", "tcg"),
}

# For GRUB's menu, which counts seconds by calls of the BIOS: they are slow to emulate, so that a
# second by the clock above would be half a minute.
MENU_CLOCK = ("-accel", "tcg", "-icount", "shift=auto")
DEBUG_EXIT = ("-device", "isa-debug-exit,iobase=0xf4,iosize=0x04")

# QEMU's exit status when the kernel writes N to the debug-exit port is 2 N + 1.
EXIT_STATUSES = {3: "exit", 5: "panic", 7: "timeout", 9: "refused"}

POLL_SECONDS = 0.05
BACKTRACE_SECONDS = 5  # How long the kernel may take to print where it is.

# A limit in guest time is the kernel's to keep.  A kernel that cannot is stopped from here: when
# the guest's clock is past the limit by this much (GRUB's time comes before the kernel's), or when
# far more time than that has passed.
GUEST_GRACE_SECONDS = {"direct": 1.5, "grub": 10}
GUEST_CHECK_SECONDS = 5
BACKSTOP_SECONDS = 60
BACKSTOP_FACTOR = 10

HARDWARE_VIRTUALISATION = {"vmx", "svm"}


def kvm_works() -> bool:
    """Whether KVM is there, may be used, and runs guests on the CPU's own virtualisation.

    The last is not the same as having /dev/kvm: a KVM that makes do without, as in some clouds,
    resets a 32-bit guest that turns PAE paging on (tried).
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return bool(flags and HARDWARE_VIRTUALISATION & set(flags[1].split()))


def choose_accelerator(wanted: str, firmware: str, needs_tcg: bool) -> str:
    """What `auto` means here, and whether what is wanted can be had.

    GRUB runs in real mode, and some KVMs emulate that, an instruction at a time: 19 s until the
    kernel starts, measured, against 1 s without KVM.
    """
    if wanted == "kvm" and needs_tcg:
        raise ToolError("plugins and gdb need the emulator to execute: use another ACCEL than kvm")
    if wanted == "kvm" and not kvm_works():
        raise ToolError("KVM does not work here: no use of /dev/kvm, or no vmx or svm in the CPU")
    if wanted != "auto":
        return wanted
    return "kvm" if firmware == "direct" and not needs_tcg and kvm_works() else "icount"


def instruction_clock(instruction_ns: int) -> tuple[str, ...]:
    """One instruction is so many nanoseconds and counts of the time stamp counter: a power of two.

    It is one, unless what is tried goes by time and not by instructions: on a slower machine the
    same time is fewer of them, and sooner over."""
    shift = instruction_ns.bit_length() - 1
    if instruction_ns != 1 << max(shift, 0):
        raise ToolError(f"instructions of {instruction_ns} ns: QEMU has powers of two")
    return ("-accel", "tcg", "-icount", f"shift={shift},sleep=off",
            "-rtc", f"base={START:%Y-%m-%d},clock=vm")


def clock_argument(accelerator: str) -> str:
    """What the kernel is told: plain TCG takes interrupts between translation blocks only."""
    return "clock=block" if accelerator == "tcg" else "clock=exact"


def machine_options(machine: str, cpus: int, mem: int, memory: int) -> list[str]:
    """The machine itself; its memory is the open file `memory`."""
    return [
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
        *("-machine", f"{machine},memory-backend=ram", "-cpu", "pentium3-v1,+nx"),
        *("-smp", str(cpus), "-m", f"{mem}M", "-object"),
        f"memory-backend-file,id=ram,size={mem}M,mem-path=/proc/self/fd/{memory},share=on",
        *DEBUG_EXIT,
    ]


def boot_options(arguments: str, modules: Iterable[Staged]) -> list[str]:
    """Boots what has been staged in QEMU's folder.  A comma in a module's command is doubled."""
    commands = (" ".join((module.path, *module.words[1:])) for module in modules)
    initrd = ",".join(command.replace(",", ",,") for command in commands)
    options = ["-kernel", "mach_kernel", "-append", arguments]
    return [*options, "-initrd", initrd] if initrd else options


def boot_from_grub(directory: Path, arguments: str, modules: list[Staged]) -> list[str]:
    """Makes a disc of what has been staged, and boots that."""
    files = {module.path: directory / module.path for module in modules}
    text = iso.menu(arguments, [(module.path, module.words) for module in modules])
    iso.build(directory / "disc", text, {"mach_kernel": directory / "mach_kernel", **files})
    return disc_options("disc")


def disc_options(path: str) -> list[str]:
    return ["-vga", "std", "-drive", f"if=ide,media=cdrom,format=raw,readonly=on,file={path}"]


WHOLE = "file={file},format=raw,cache=unsafe"


def virtio_disk_options(directory: Path, disks: Iterable[Disk]) -> list[str]:
    """Virtio disks, linked into the machine's folder.

    The kernel takes a disk for one without a cache.  With `unsafe` what it wrote is the host's as
    soon as QEMU has it: it outlives QEMU, and nothing waits for the host's own disk.
    """
    options = []
    for number, disk in enumerate(disks):
        if not disk.file.is_file():
            raise ToolError(f"there is no disk {disk.file}")
        (directory / f"vd{number}").symlink_to(disk.file.resolve())
        read_only = "on" if disk.read_only else "off"
        how = (disk.through or WHOLE).format(file=f"vd{number}")
        options += ["-drive", f"if=none,id=vd{number},{how},readonly={read_only}",
                    "-device", f"virtio-blk-pci,drive=vd{number}"]
    return options


def allocate_memory(mem: int) -> int:
    """The machine's memory: a file without a name, which needs no cleaning up and no disk."""
    memory = os.memfd_create("assay-memory")
    os.truncate(memory, mem << 20)
    return memory


def put_image(image: Path, memory: int, start: int) -> None:
    """Copies a disk's contents to where the kernel is told that it lies."""
    with image.open("rb") as file:
        sparse.copy(file.fileno(), 0, memory, start, image.stat().st_size)


def require_binary() -> None:
    if not shutil.which(BINARY):
        raise ToolError(f"{BINARY} is not installed: run ./setup")


class Watch:
    """When a run has taken too long, by the guest's clock or by ours."""

    def __init__(self, setup: Setup, monitor: Monitor):
        self.limit = setup.limit
        self.guest_limit = setup.limit + GUEST_GRACE_SECONDS[setup.firmware]
        self.is_guest_time = setup.limit_is_guest_time
        self.monitor = monitor
        self.started = time.monotonic()
        self.next_check = GUEST_CHECK_SECONDS

    def is_over(self) -> bool:
        if not self.limit:
            return False
        passed = time.monotonic() - self.started
        if not self.is_guest_time:
            return passed >= self.limit
        if passed < self.next_check:
            return False
        self.next_check = passed + GUEST_CHECK_SECONDS
        return passed >= self.backstop or self.guest_seconds() >= self.guest_limit

    @property
    def backstop(self) -> float:
        return BACKSTOP_SECONDS + BACKSTOP_FACTOR * self.limit

    def guest_seconds(self) -> float:
        """How long the machine has run by its own clock; asking does not disturb it."""
        try:
            now = self.monitor.execute("qom-get", path="/machine", property="rtc-time")
        except MonitorError:
            return 0
        date = datetime.datetime(
            now["tm_year"] + 1900, now["tm_mon"] + 1, now["tm_mday"],
            now["tm_hour"], now["tm_min"], now["tm_sec"],
        )
        return (date - START).total_seconds()


def where_cpus_are(monitor: Monitor, kernel: Path) -> str:
    """For a kernel that does not answer: the place of each CPU, by QEMU's own account."""
    try:
        registers = monitor.human("info registers -a")
    except MonitorError as error:
        return f"nor does the emulator: {error}"
    image = hot.Image("kernel", kernel, is_kernel=True)
    places = (image.place(int(eip, 16)) for eip in re.findall(r"\bEIP=([0-9a-f]{8})", registers))
    return ", ".join(f"CPU {number} at {place}" for number, place in enumerate(places))


def ask_for_backtrace(emulator: Emulator, monitor: Monitor, report: SharedReport,
                      follow: Callable[[], None]) -> bool:
    """Makes the kernel print where it is and end.  Whether it did."""
    try:
        report.request_backtrace()
        monitor.execute("inject-nmi")
    except MonitorError:
        return False
    deadline = time.monotonic() + BACKTRACE_SECONDS
    while time.monotonic() < deadline:
        follow()
        if emulator.wait(POLL_SECONDS):
            return True
    return False


def run(setup: Setup, directory: Path, modules: list[Staged], follow: Callable[[], None]) -> Ending:
    """Runs a machine to its end; `follow` is called often, to see what it wrote to its ports."""
    require_binary()
    memory = allocate_memory(setup.mem)
    monitor = Monitor()
    try:
        if setup.image_start:
            put_image(setup.image, memory, setup.image_start << 20)
        report = SharedReport(setup.kernel, memory)
        command = command_line(setup, directory, modules, memory) + monitor.options
        fds = (memory, monitor.for_qemu.fileno())
        with (directory / "errors").open("wb") as errors, Emulator(
            command, directory, fds, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors
        ) as emulator:
            stopped = watch(emulator, setup, monitor, report, follow)
            status = emulator.process.returncode
        if setup.ramdisk:
            report.save_ramdisk(0, setup.ramdisk)
        return ending(status, stopped, report, (directory / "errors").read_text(errors="replace"))
    finally:
        monitor.close()
        os.close(memory)


def command_line(setup: Setup, directory: Path, modules: list[Staged], memory: int) -> list[str]:
    if setup.icount:
        clock = instruction_clock(setup.instruction_ns)
        arguments = setup.arguments("clock=exact")
    else:
        accelerator = choose_accelerator(setup.accel, setup.firmware, bool(setup.plugin))
        clock, arguments = ACCELERATORS[accelerator], setup.arguments(clock_argument(accelerator))
    is_direct = setup.firmware == "direct"
    options = [BINARY, *clock, *machine_options(setup.machine, setup.cpus, setup.mem, memory)]
    for number in range(2):
        options += ["-chardev", f"file,id=com{number},path=com{number}"]
        options += ["-serial", f"chardev:com{number}"]
    options += virtio_disk_options(directory, setup.disks)
    if setup.plugin:
        options += ["-plugin", setup.plugin]
    if is_direct:
        return options + boot_options(arguments, modules)
    return options + boot_from_grub(directory, arguments, modules)


def watch(emulator: Emulator, setup: Setup, monitor: Monitor, report: SharedReport,
          follow: Callable[[], None]) -> Optional[str]:
    """Waits for the end.  Returns why the machine had to be killed, if it had."""
    limit = Watch(setup, monitor)
    while not emulator.wait(POLL_SECONDS):
        follow()
        if limit.is_over():
            if report.read() is None:
                return "the kernel had not started"
            if ask_for_backtrace(emulator, monitor, report, follow):
                return None
            return f"the kernel did not answer; {where_cpus_are(monitor, setup.kernel)}"
    return None


def ending(status: Optional[int], stopped: Optional[str], report: SharedReport,
           errors: str) -> Ending:
    """How a run ended, from QEMU's exit status and what the kernel wrote down."""
    found = report.read()
    if stopped:
        return Ending("timeout", 0, stopped, found)
    outcome = EXIT_STATUSES.get(status)
    if outcome is None and status == 0 and found is not None and found.outcome == "exit":
        outcome = "exit"  # A program had the machine start again.
    if outcome is None and status == 0:
        return Ending("panic", 0, "the machine reset itself (a triple fault)", found)
    if outcome is None:
        return Ending("tool-error", 0, f"{BINARY} failed: {errors.strip() or status}", found)
    if outcome == "exit" and (found is None or found.outcome == RUNNING):
        return Ending("tool-error", 0, "the kernel ended without filling in its report", found)
    return Ending(outcome, found.status if found and outcome == "exit" else 0, "", found)
