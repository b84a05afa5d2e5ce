# SPDX-License-Identifier: MIT
"""The disk of `make qemu`: a machine that was switched off in the middle leaves it sound."""

import os
from pathlib import Path

import pytest
from assay import ToolError, home
from assay.files import BLOCK, DEBUG, Files, Put, call, make_image, unsound


@pytest.fixture(name="disk")
def disk_fixture(tmp_path: Path, monkeypatch) -> Path:
    """A disk as it was copied from the image, with a file of student's."""
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "words").write_text("precious\n")
    files = Files(put=(Put(tmp_path / "words", "/home/student/words"),), size=2)
    monkeypatch.setattr(home, "IMAGE", make_image(files, work).rename(tmp_path / "disk.img"))
    home.refresh(tmp_path / "root.img")
    return tmp_path / "root.img"


def state(disk: Path) -> str:
    lines = call(DEBUG, "-R", "show_super_stats -h", disk).stdout.splitlines()
    return next(line.split(":")[1].strip() for line in lines if "Filesystem state" in line)


def test_it_was_not_unmounted(disk: Path) -> None:
    call(DEBUG, "-w", "-R", "set_super_value state 0", disk)
    assert state(disk) == "not clean"
    home.refresh(disk)
    assert state(disk) == "clean"
    assert not unsound(disk)


def test_another_image_takes_its_place(disk: Path, tmp_path: Path, monkeypatch) -> None:
    """Whatever the times of the files: the disk is written to, and mended."""
    monkeypatch.setattr(home, "OLD_DISK", tmp_path / "root.old.img")
    call(DEBUG, "-w", "-R", "set_super_value state 0", disk)
    call(DEBUG, "-w", "-R", "mkdir new", home.IMAGE)
    os.utime(home.IMAGE, (0, 0))
    assert home.refresh(disk)
    assert not home.refresh(disk)
    assert (tmp_path / "root.old.img").is_file()
    words = call(DEBUG, "-R", "cat /home/student/words", disk)
    assert words.stdout == "precious\n"


def test_what_cannot_be_mended_is_told(disk: Path) -> None:
    with disk.open("r+b") as file:
        file.truncate(BLOCK)
    with pytest.raises(ToolError, match="root.img is damaged: `e2fsck .*root.img` asks"):
        home.refresh(disk)
