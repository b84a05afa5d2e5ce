# SPDX-License-Identifier: MIT
"""RAM disks as whoever runs the machine sees them: what is said of them, and what is refused."""

import re
from pathlib import Path

import pytest

SAID = re.compile(r"^ramdisk: (\w+) is (\d+) bytes at 0x([0-9a-f]+)$", re.MULTILINE)
MIB = 1 << 20


def disks(result) -> list[tuple[str, int]]:
    """The disks that the log tells of, with their sizes; none lies in another or in page 0."""
    found = SAID.findall(result.log.decode())
    places = sorted((int(address, 16), int(size)) for _, size, address in found)
    assert all(address >= MIB and address % 4096 == 0 for address, _ in places)
    assert all(one + size <= other for (one, size), (other, _) in zip(places, places[1:]))
    return [(name, int(size)) for name, size, _ in found]


def memory(result) -> int:
    """MiB that programs have."""
    return int(re.search(r"^memory: (\d+) MiB for programs$", result.log.decode(), re.MULTILINE)[1])


def test_modules_come_first(machine, tmp_path: Path) -> None:
    """The last record of one is filled up."""
    (tmp_path / "one").write_bytes(b"x" * 1000)
    (tmp_path / "other").write_bytes(b"y" * 4096)
    result = machine([f"{tmp_path}/one $(ramdisk-create)", "hello",
                      f"{tmp_path}/other $(ramdisk-create)"], append="ramdisk=1,3")
    assert result.outcome == "exit" and result.status == 0
    assert disks(result) == [("rd0", 1024), ("rd1", 4096), ("rd2", MIB), ("rd3", 3 * MIB)]


def test_their_memory_is_not_the_pool_s(machine) -> None:
    without, pool = machine(["hello"]), machine(["hello"], append="pool=20 ramdisk=32")
    assert memory(machine(["hello"], append="ramdisk=32")) in (memory(without) - 32,
                                                               memory(without) - 33)
    assert memory(pool) == memory(machine(["hello"], append="pool=20"))


@pytest.mark.parametrize("sizes", ["", "x", "0", "1x", "99999999999999", "-1", "768", "1@", "1@x",
                                   "1@0", "@9", "1@768", "1@9@9"])
def test_what_is_no_size(machine, sizes: str) -> None:
    result = machine(["hello"], append=f"ramdisk={sizes}")
    assert result.outcome == "exit" and not disks(result)
    told = f"ramdisk={sizes}: not a list of SIZE or SIZE@START in MiB".encode()
    assert result.log.count(told) == 1


@pytest.mark.parametrize(("append", "mem", "wrong"), [
    ("ramdisk=300", 256, "no room for a RAM disk"),
    ("ramdisk=8,300", 256, "no room for a RAM disk"),
    ("ramdisk=700", 1024, None),
    ("ramdisk=1,1,1,1,1,1,1,1", 256, None),
    ("ramdisk=1,1,1,1,1,1,1,1,1", 256, "there are more than 8 RAM disks"),
    ("ramdisk=8@100,8@108,8", 256, None),
    ("ramdisk=8@248", 256, "ramdisk=8@248: no free memory is there"),
    ("ramdisk=8@300", 256, "ramdisk=8@300: no free memory is there"),
    ("ramdisk=16@760", 1024, "ramdisk=16@760: no free memory is there"),
    ("ramdisk=8@1", 256, "ramdisk=8@1: no free memory is there"),
    ("ramdisk=8@100,252", 256, "no room for a RAM disk"),
    ("ramdisk=8@100,8@107", 256, "ramdisk=8@107: no free memory is there"),
    ("ramdisk=80,8@60", 256, None),
    ("ramdisk=8@40,80,8@130,120", 256, "no room for a RAM disk"),
])
def test_room_for_disks(machine, append: str, mem: int, wrong: str | None) -> None:
    result = machine(["hello"], append=append, mem=mem)
    assert result.outcome == ("refused" if wrong else "exit")
    assert wrong is None or wrong.encode() in result.log


def test_a_disk_lies_where_it_is_said_and_others_keep_clear(machine) -> None:
    result = machine(["hello"], append="ramdisk=2,8@40,60,4@120")
    assert result.outcome == "exit"
    assert disks(result) == [(f"rd{n}", size * MIB) for n, size in enumerate((2, 8, 60, 4))]
    places = [int(place, 16) // MIB for _, _, place in SAID.findall(result.log.decode())]
    assert places[0] < 40 and places[1:] == [40, 48, 120]


def test_an_empty_module_is_no_disk(machine, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    result = machine([f"{tmp_path}/empty $(ramdisk-create)", "hello"])
    assert result.outcome == "refused" and b"cannot be a RAM disk" in result.log


def test_a_disk_is_no_program(machine) -> None:
    result = machine(["hello $(ramdisk-create)"])
    assert result.outcome == "refused" and b"no program to run" in result.log
