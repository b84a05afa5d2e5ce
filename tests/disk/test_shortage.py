# SPDX-License-Identifier: MIT
"""When memory is out, what is to be written waits for some: it is no error of the disk."""

import shutil
import subprocess
from pathlib import Path

import pytest
from assay import OUT, machine, unix
from assay.files import Files, Put
from assay.setup import Disk

SOURCE = Path(__file__).parent / "work" / "hog.c"
# MiB, of which some 15 are left beside the disks: with less the pager itself does not begin.
RAM = (OUT / "disk.img").stat().st_size // 2**20 + unix.SWAP + 20
# From 126 on it is the shell that has no memory to execute it, or a signal.
COMMANDS = """\
hog & hog &
i=0
while test $i -lt 60
do
    i=$((i+1))
    cp /bin/true /tmp/x$i
    rm -f /tmp/x$i
    touch /tmp/y$i
    sync
    status=$?
    test $status -eq 0 -o $status -ge 126 || echo "sync has failed"
done
"""


def test_a_shortage_is_no_error_of_the_disk(unix_machine, tmp_path: Path) -> None:
    """How the commands end is another matter: they may be without memory, too."""
    hog = tmp_path / "hog"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", hog, SOURCE],
                   check=True)
    result = unix_machine(COMMANDS, user="root", mem=RAM, limit=20,
                          files=Files(put=(Put(hog, "/bin/hog"),)))
    assert result.outcome not in ("panic", "refused", "tool-error"), result.message
    assert b"pager: swap is full" in result.log and b"hog[" in result.log
    assert b"cannot write" not in result.log and b"cannot read" not in result.log
    assert b"sync has failed" not in result.output


def debugfs(image: Path, command: str) -> None:
    subprocess.run(["/usr/sbin/debugfs", "-w", "-R", command, image], check=True,
                   capture_output=True)


@pytest.mark.parametrize("cpus", [1, 4])
def test_a_disk_is_whole_when_memory_was_out(cpus: int, tmp_path: Path) -> None:
    """A user takes all memory and swap while root and another write to the disk."""
    image, commands = tmp_path / "image", tmp_path / "commands"
    shutil.copyfile(OUT / "disk.img", image)
    commands.write_text("/tmp/hungry; sync; echo it goes on\n")
    debugfs(image, f"write {commands} .commands")
    debugfs(image, "sif .commands mode 0100755")
    debugfs(image, f"write {OUT}/tests/ux/programs/hungry tmp/hungry")
    debugfs(image, "sif tmp/hungry mode 0100755")
    result = unix.judge(machine.run(
        [unix.server_command("vd0", f"user=root run={unix.COMMANDS} limit=600")], cpus=cpus,
        append="ramdisk=1 pool=24 limits=400", disks=(Disk(image),), limit=3000))
    log, output = result.log.decode(), result.output.decode()
    assert result.outcome == "exit", log
    assert log.count("memory is out: ") >= 8, f"{log}{output}"
    assert "failed " not in output
    assert output.endswith("it goes on\n"), output
    assert "cannot write" not in log and "cannot read" not in log
    check = subprocess.run(["/usr/sbin/e2fsck", "-fn", image], check=False, capture_output=True)
    assert check.returncode == 0, check.stdout.decode()
