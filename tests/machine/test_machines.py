# SPDX-License-Identifier: MIT
"""The machines that Assay runs on: chipsets, loaders, emulators, CPUs, sizes of memory."""

import re
import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Iterator

import pytest
from assay import hot, iso
from assay import machine as assay_machine
from assay.programs import find_kernel
from assay.symbols import symbol_address

PROGRAM = "machine/act bytes"
MAPPED_MIB = 768


def memory_for_programs(result) -> int:
    return int(re.search(rb"^memory: (\d+) MiB for programs$", result.log, re.MULTILINE)[1])


def kernel_end_mib() -> int:
    """Where the kernel's image ends in memory, in whole MiB; with its checks it is larger."""
    end = symbol_address(find_kernel(None), "kernel_end")
    assert end is not None
    return -(-(end - hot.KERNEL_BASE) >> 20)


def check_ran(result, cpus: int = 1) -> None:
    assert (result.outcome, result.status) == ("exit", 0)
    assert result.output.endswith(b"one\ntwo\n")
    assert f"\ncpus: {cpus}\n".encode() in result.log


# Those that take more than a moment run two at a time; the longest first.
SLOW_RUNS = {
    "bochs-2": {"emulator": "bochs", "mem": 64, "cpus": 2},
    "q35-8": {"machine": "q35", "cpus": 8},
    "grub-2": {"firmware": "grub", "cpus": 2},
    "grub-1": {"firmware": "grub"},
    "pc-8": {"machine": "pc", "cpus": 8},
    "bochs-1": {"emulator": "bochs", "mem": 64},
    **{f"{chipset}-{cpus}": {"machine": chipset, "cpus": cpus}
       for chipset in ("q35", "pc") for cpus in (4, 2, 1)},
}


@pytest.fixture(name="slow_runs", scope="module")
def slow_runs_fixture(request) -> Iterator[dict[str, Future]]:
    """The runs of SLOW_RUNS that a selected test asks for, as they come."""
    calls = (getattr(item, "callspec", None) for item in request.session.items)
    wanted = {call.params.get("slow_run") for call in calls if call}
    with ThreadPoolExecutor(2) as pool:
        yield {name: pool.submit(assay_machine.run, [PROGRAM], **parameters)
               for name, parameters in SLOW_RUNS.items() if name in wanted}


@pytest.mark.parametrize("slow_run", SLOW_RUNS)
def test_machine(slow_runs, slow_run: str) -> None:
    result = slow_runs[slow_run].result()
    print(result.log.decode(errors="replace"))  # For a test that fails.
    cpus = SLOW_RUNS[slow_run].get("cpus", 1)
    check_ran(result, cpus)
    assert result.report is None or result.report.cpus == cpus


@pytest.mark.parametrize(("cpus", "argument", "used"), [(4, 2, 2), (2, 1, 1), (2, 9, 2)])
def test_argument_cpus(machine, cpus: int, argument: int, used: int) -> None:
    check_ran(machine([PROGRAM], cpus=cpus, append=f"cpus={argument}"), used)


def test_through_grub_with_arguments(machine) -> None:
    """GRUB's command lines have other quoting, and no file name in front."""
    result = machine(["machine/act exit 7 $(task-create)"], firmware="grub", append="nonsense=1")
    assert (result.outcome, result.status) == ("exit", 7)
    unknown = [line for line in result.log.splitlines() if b"unknown" in line]
    assert unknown == [b'arguments: "nonsense=1" is unknown and ignored']


@pytest.fixture(name="disc")
def disc_fixture(machine, tmp_path: Path, monkeypatch):
    """Boots the disc that `make iso` makes, at once with the entry of that number."""

    def boot(entry: int, limit: float):
        menu = tmp_path / "grub.cfg"
        text = iso.MENU.read_text().replace("set timeout=3", "set timeout=0")
        menu.write_text(text.replace("set default=0", f"set default={entry}"))
        monkeypatch.setattr(iso, "MENU", menu)
        disc = tmp_path / "assay.iso"
        iso.build_menu(disc)
        monkeypatch.setattr(iso, "build", lambda output, *_: shutil.copyfile(disc, output))
        return machine(["hello"], firmware="grub", limit=limit)

    return boot


def test_disc_s_tour(disc) -> None:
    """Log and output share one port."""
    result = disc(2, 60)
    assert (result.outcome, result.status) == ("exit", 0)
    assert b"This is Assay." in result.output
    assert b"machine: exit status 0" in result.output


def test_disc_boots_to_a_shell(disc) -> None:
    """Which waits for somebody, and so for the limit."""
    result = disc(0, 5)
    assert result.outcome == "timeout"
    assert b"Welcome to Assay." in result.output
    assert b"/home/student $ " in result.output


def test_bochs_sees_a_panic(machine) -> None:
    result = machine([PROGRAM], emulator="bochs", mem=64, append="crash=double-fault")
    assert result.outcome == "panic"
    assert b"crash_double_fault" in result.log


@pytest.mark.parametrize("mem", [16, 17, 64, 512, 768, 1024, 3072])
def test_memory(machine, mem: int) -> None:
    """All of it but what firmware and kernel keep, up to what the kernel maps."""
    result = machine([PROGRAM], mem=mem)
    check_ran(result)
    usable = min(mem, MAPPED_MIB)
    structures = usable // 128  # A page's takes 32 bytes.
    kept = kernel_end_mib() + 2  # By programs that are started with it, and by firmware.
    assert usable - kept - structures <= memory_for_programs(result) < usable
    alone = re.findall(rb"^memory: (\d+) MiB above 768 MiB are left alone$", result.log,
                       re.MULTILINE)
    if mem <= MAPPED_MIB:
        assert not alone
    else:
        assert mem - MAPPED_MIB - 2 <= int(alone[0]) <= mem - MAPPED_MIB


@pytest.mark.parametrize("pool", [1, 8, 32])
def test_argument_pool(machine, pool: int) -> None:
    """Memory pressure does not depend on the machine."""
    small = machine([PROGRAM], mem=64, append=f"pool={pool}")
    large = machine([PROGRAM], mem=512, append=f"pool={pool}")
    check_ran(small)
    check_ran(large)
    assert memory_for_programs(small) == memory_for_programs(large)
    assert pool - 1 <= memory_for_programs(small) <= pool


def test_boot_does_not_take_longer_with_more_memory(machine) -> None:
    reports = [machine([PROGRAM], mem=mem).report for mem in (64, 512)]
    small, large = (report.tsc_user - report.tsc_entry for report in reports)
    assert 0 < small
    assert abs(large - small) < small * 0.02


def test_another_kernel(machine, tmp_path: Path) -> None:
    """`kernel=` is what is booted, not out/mach_kernel."""
    kernel = tmp_path / "other"
    content = find_kernel(None).read_bytes()
    assert b"Assay: a kernel" in content
    kernel.write_bytes(content.replace(b"Assay: a kernel", b"Other: a kernel"))
    assert b"Other: a kernel" in machine([PROGRAM], kernel=kernel).log


def test_a_program_is_told_the_kernels_arguments(machine) -> None:
    """As one word, wherever it stands in one; what is in it is not replaced again."""
    arguments = "root=rd0 sigprof=process ux=${host-port}"
    result = machine(["act print a ${kernel-command-line} --b=${kernel-command-line}, "
                      "p${host-port}.${host-port} $(task-resume) c"], append=arguments, limit=9)
    first, whole, within, ports, last = result.output.decode().splitlines()
    assert (first, last) == ("a", "c")
    assert whole.startswith("console=com0 ")
    assert whole.endswith(f" limit=9 {arguments}")
    assert within == f"--b={whole},"
    assert ports == "p1.1"
    assert b"unknown" not in result.log


@pytest.mark.parametrize("cpus", [1, 2])
def test_the_last_program_ends_the_run(machine, cpus: int) -> None:
    """Not the tasks that it has made, which are left, nor servers, whatever their place."""
    result = machine(["act serve sleep", "act leave exit 5", "act serve sleep"], cpus=cpus)
    assert (result.outcome, result.status) == ("exit", 5)


@pytest.mark.parametrize("how", ["reboot", "halt"])
@pytest.mark.parametrize("cpus", [1, 2])
def test_the_machine_ends_when_asked(machine, how: str, cpus: int) -> None:
    """The emulator is told to end where a machine would start again."""
    result = machine([f"act {how} ${{host-port}}", "act sleep"], cpus=cpus)
    assert (result.outcome, result.status) == ("exit", 0)
