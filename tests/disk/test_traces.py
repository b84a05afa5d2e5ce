# SPDX-License-Identifier: MIT
"""A disk that does not write a trace's block: tracing ends, which the log says, and no more."""

import re
import shutil
import subprocess
from pathlib import Path

from assay import OUT, machine, unix
from assay.setup import Disk

from disk.ext2 import Image

SOURCE = Path(__file__).parent / "work" / "traced.c"
BLOCK_SIZE = re.compile(r"^Block size: +(\d+)$", re.MULTILINE)
SECTOR = 512
FAILING = "driver=raw,file.driver=blkdebug,file.config={rules},file.image.driver=file," \
          "file.image.filename={{file}}"
COMMANDS = "traced /trace.out\n"


def debugfs(image: Path, command: str) -> str:
    return subprocess.run(["/usr/sbin/debugfs", "-w", "-R", command, image], check=True, text=True,
                          capture_output=True).stdout


def make_disk(folder: Path) -> Path:
    """With the program, a trace file of a block, and what is to be done."""
    image, program, commands = folder / "image", folder / "traced", folder / "commands"
    shutil.copyfile(OUT / "disk.img", image)
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
                    SOURCE], check=True)
    commands.write_text(COMMANDS)
    (folder / "trace").write_bytes(b"x")
    for file, name in ((program, "bin/traced"), (commands, ".commands"),
                       (folder / "trace", "trace.out")):
        debugfs(image, f"write {file} {name}")
    debugfs(image, "sif .commands mode 0100755")
    debugfs(image, "sif bin/traced mode 0100755")
    return image


def run(folder: Path, rules: str) -> machine.Result:
    image = make_disk(folder)
    size = int(BLOCK_SIZE.search(debugfs(image, "stats"))[1])
    block = int(debugfs(image, "bmap /trace.out 0"))
    (folder / "rules").write_text(rules.format(sector=block * size // SECTOR))
    disk = Disk(image, through=FAILING.format(rules=folder / "rules"))
    return unix.judge(machine.run(
        [unix.server_command("vd0", f"user=root run={unix.COMMANDS} limit=2000")], disks=(disk,),
        limit=3000))


def test_a_trace_that_is_not_written_ends(tmp_path: Path) -> None:
    result = run(tmp_path, '[inject-error]\nevent = "write_aio"\nerrno = "5"\n'
                           'sector = "{sector}"\niotype = "write"\nonce = "off"\n')
    output = result.output.decode()
    assert "ux: ktrace write failed, errno 5, tracing stopped" in result.log.decode(), output
    assert output.splitlines()[-1] == "0 more" and result.status == 0


def test_a_sound_disk(tmp_path: Path) -> None:
    result = run(tmp_path, '[set-state]\nevent = "none"\nstate = "1"\nnew_state = "{sector}"\n')
    output = result.output.decode()
    assert "ktrace write failed" not in result.log.decode()
    assert re.findall(r"(\d+) more", output) == ["0", "48", "48", "48", "48"], output
    image = Image(bytearray((tmp_path / "image").read_bytes()))
    trace = next(image.contents(inode) for path, inode in image.walk() if path == "/trace.out")
    assert trace.count(b"word") == 5 and trace.endswith(b"last")
