# SPDX-License-Identifier: MIT
"""A disk that cannot be written is mounted read-only, and says so; all that would change it is
EROFS, and reading goes on."""

import shutil
import subprocess
from pathlib import Path

import pytest
from assay import OUT, machine, unix
from assay.setup import Disk

COMMANDS = """\
cat /etc/passwd | head -n 1
for what in 'touch /new' 'rm /etc/passwd' 'mkdir /folder' 'mv /etc/passwd /etc/other' \
    'ln /etc/passwd /etc/other' 'chmod 600 /etc/passwd' 'chown student /etc/passwd'
do
    $what && echo "$what: done"
done
echo no > /etc/passwd
echo text > /dev/null && echo "devices can be written"
sync && echo "and there is nothing to sync"
"""


@pytest.fixture(name="image")
def image_fixture(tmp_path: Path) -> Path:
    image, commands = tmp_path / "image", tmp_path / "commands"
    shutil.copyfile(OUT / "disk.img", image)
    commands.write_text(COMMANDS)
    subprocess.run(["/usr/sbin/debugfs", "-w", "-R", f"write {commands} .commands", image],
                   check=True, capture_output=True)
    subprocess.run(["/usr/sbin/debugfs", "-w", "-R", "sif .commands mode 0100755", image],
                   check=True, capture_output=True)
    return image


def test_a_disk_that_cannot_be_written(image: Path) -> None:
    """With more time than it takes: the machine's passes by seconds while the host reads."""
    before = image.read_bytes()
    result = unix.judge(machine.run(
        [unix.server_command("vd0", f"user=root run={unix.COMMANDS} limit=2000")],
        append=f"ramdisk={unix.SWAP}", disks=(Disk(image, read_only=True),), limit=3000))
    log = result.log.decode()
    assert (result.outcome, result.status) == ("exit", 0), log
    assert "ux: vd0: mounted read-only, as it cannot be written" in log
    assert result.output.decode().splitlines() == [
        "root::0:0:System:/root:/bin/sh", "devices can be written", "and there is nothing to sync"]
    assert log.count("Read-only file system") == 8
    assert image.read_bytes() == before
