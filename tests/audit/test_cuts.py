# SPDX-License-Identifier: MIT
"""What was said to be written is in the trail, wherever the power is cut; and what the trail has is
whole records, but for the end of the last."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

from assay import OUT, machine, unix
from assay.setup import Disk
from disk import cuts
from disk.ext2 import Image

from audit import bsm

CONTROL = "flags:fm\nnaflags:no\npolicy:cnt\nqsize:5\nminfree:0\n"
COMMANDS = """\
auditd
n=0
while [ $n -lt 120 ]
do
    n=$((n+1))
    chmod 7$((n%8))5 /tmp
    [ $((n%4)) = 0 ] && audit -q >/mark && sync
    [ $((n%15)) = 0 ] && audit -n
done
true
"""


def debugfs(image: Path, *commands: str) -> None:
    for command in commands:
        subprocess.run(["/usr/sbin/debugfs", "-w", "-R", command, image], check=True,
                       capture_output=True)


def record(folder: Path) -> tuple[bytes, list[cuts.Write]]:
    image, log = folder / "image", folder / "log"
    commands, control = folder / "commands", folder / "control"
    shutil.copyfile(OUT / "disk.img", image)
    commands.write_text(COMMANDS)
    control.write_text(CONTROL)
    debugfs(image, f"write {commands} .commands", "sif .commands mode 0100755",
            "rm etc/security/audit_control", f"write {control} etc/security/audit_control")
    log.touch()
    before = image.read_bytes()
    result = machine.run(
        [unix.server_command("vd0", f"user=root run={unix.COMMANDS} limit={cuts.LIMIT}")],
        limit=30000, disks=(Disk(image, through=cuts.LOGGED.format(log=log)),))
    assert (result.outcome, result.status) == ("exit", 0), result.log.decode()
    return before, cuts.read_log(log)


def disks(before: bytes, writes: list[cuts.Write]) -> Iterator[bytearray]:
    """As a cut leaves it: after each write."""
    data = bytearray(before)
    for write in writes:
        data[write.offset:write.offset + len(write.data)] = write.data
        yield data


def test_what_is_written_stays(tmp_path: Path) -> None:
    before, writes = record(tmp_path)
    seen = most = 0
    for data in disks(before, writes):
        image = Image(data)
        files = {path: image.contents(inode) for path, inode in image.walk()
                 if path == "/mark" or path.startswith("/var/audit/")}
        mark = re.search(rb"written (\d+)", files.pop("/mark", b""))
        there = 0
        for trail in files.values():
            whole = bsm.whole(trail)
            there += len(bsm.read(whole))
        if mark:
            assert there >= int(mark[1]), f"{there} records of {mark[1]} that were written"
            most = max(most, int(mark[1]))
        seen += 1
    assert seen > 100 and most > 100, (seen, most)
