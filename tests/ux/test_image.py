# SPDX-License-Identifier: MIT
"""The disk image: what is on it, and that the same files make the same bytes."""

import filecmp
import subprocess
from pathlib import Path

import pytest
from assay import OUT, ToolError, image
from assay.files import call, unsound

ROOT = Path(__file__).resolve().parents[2]
IMAGE = OUT / "disk.img"


def test_it_is_sound() -> None:
    assert unsound(IMAGE) == ""


def test_same_files_same_bytes(tmp_path: Path) -> None:
    again = tmp_path / "disk.img"
    subprocess.run([ROOT / "tools" / "image", again], check=True)
    assert filecmp.cmp(again, IMAGE, shallow=False)


def attributes(path: str) -> str:
    return call("debugfs", "-R", f'stat "{path}"', IMAGE).stdout


@pytest.mark.parametrize("entry", image.read_manifest(), ids=lambda entry: entry.path)
def test_what_the_manifest_lists_is_there(entry: image.Entry) -> None:
    found = attributes(entry.path)
    kinds = {"folder": "directory", "file": "regular", "device": "character special",
             "link": "regular"}
    assert f"Type: {kinds[entry.kind]}" in found
    if entry.kind != "link":
        assert f"Mode:  0{entry.mode:o} " in found
        assert " ".join(found.split()).find(f"User: {entry.uid} Group: {entry.gid}") >= 0


def test_servers_by_the_notes_path(unix_machine) -> None:
    result = unix_machine("cmp /mach_servers/startup /../../mach_servers/startup && "
                          "test -s /mach_kernel && echo same")
    assert result.output == b"same\n"


@pytest.mark.parametrize("line", [
    "folder /x 755 root", "file /x 755 root wheel", "device /x 666 root wheel 1",
    "nothing /x 755 root wheel", "folder /x 799 root wheel",
])
def test_lines_that_are_not_understood(line: str, tmp_path: Path, monkeypatch) -> None:
    manifest = tmp_path / "manifest"
    manifest.write_text(line + "\n")
    monkeypatch.setattr(image, "MANIFEST", manifest)
    with pytest.raises(ToolError, match="line 1 is not understood"):
        image.read_manifest()


def test_owner_whom_nobody_knows(tmp_path: Path, monkeypatch) -> None:
    manifest = tmp_path / "manifest"
    manifest.write_text("folder /x 755 nobody wheel\n")
    monkeypatch.setattr(image, "MANIFEST", manifest)
    with pytest.raises(ToolError, match="nobody is called nobody"):
        image.read_manifest()
