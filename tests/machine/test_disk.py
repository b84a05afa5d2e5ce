# SPDX-License-Identifier: MIT
"""Virtio disks: what a program reads is what the file holds, and what it writes is in the file."""

import random
from pathlib import Path

import pytest
from assay import ToolError
from assay.setup import Disk

SIZE = 3 * 65536 + 7 * 512  # Not a whole number of the program's pieces, nor of pages.
D_NO_SUCH_DEVICE = 2
D_READ_ONLY = 9


def disk(path: Path, data: bytes, read_only: bool = False) -> Disk:
    path.write_bytes(data)
    return Disk(path, read_only)


def copy(run, source: str, target: str, disks: list[Disk], **parameters):
    return run([f"machine/copy_disk {source} {target} ${{device-port}}"], disks=disks,
               **{"icount": False, **parameters})


@pytest.mark.parametrize("parameters", [
    {}, {"machine": "q35", "cpus": 2}, {"firmware": "grub"}, {"icount": True},
], ids=["pc", "q35-2", "grub", "icount"])
def test_a_copy_is_in_the_file(machine, tmp_path: Path, parameters: dict) -> None:
    data = random.Random(1).randbytes(SIZE)
    source = disk(tmp_path / "source", data, read_only=True)
    target = disk(tmp_path / "target", bytes(SIZE + 512))
    result = copy(machine, "vd0", "vd1", [source, target], **parameters)
    assert (result.outcome, result.status) == ("exit", 0)
    assert target.file.read_bytes() == data + bytes(512)
    assert source.file.read_bytes() == data


def test_a_disk_can_be_read_only(machine, tmp_path: Path) -> None:
    both = [disk(tmp_path / "a", b"a" * 512), disk(tmp_path / "b", b"b" * 512, read_only=True)]
    result = copy(machine, "vd0", "vd1", both)
    assert (result.outcome, result.status) == ("exit", D_READ_ONLY)
    assert b"vd1: 1 records on a virtio disk, read-only\n" in result.log
    assert both[1].file.read_bytes() == b"b" * 512


def test_four_disks_are_enough(machine, tmp_path: Path) -> None:
    disks = [disk(tmp_path / str(n), bytes([n]) * 512) for n in range(5)]
    assert copy(machine, "vd0", "vd3", disks).status == 0
    assert disks[3].file.read_bytes() == bytes(512)
    result = copy(machine, "vd0", "vd4", disks)
    assert (result.outcome, result.status) == ("exit", D_NO_SUCH_DEVICE)
    assert b"is left alone: there are disks enough\n" in result.log


def test_a_disk_that_is_not_there_is_told(machine, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="there is no disk .*/nowhere"):
        copy(machine, "vd0", "vd1", [Disk(tmp_path / "nowhere")])


def test_bochs_has_no_virtio(machine, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="Bochs cannot do --disk"):
        copy(machine, "vd0", "vd1", [disk(tmp_path / "a", bytes(512))], emulator="bochs")
