# SPDX-License-Identifier: MIT
"""What fails while the machine of `make qemu` starts is on its console, above the prompt."""

import shutil
from pathlib import Path

from assay.files import DEBUG, Files, Put, call, put_files
from framework.keyboard import PROMPT, Keyboard
from framework.room import Room

MISSING = ("/sbin/pager", "/sbin/snames")  # Those of boot/disk/etc/rc,
NO_PROGRAM = "/sbin/agent"  # of which one is there and is words.


def break_disk(room: Room) -> None:
    """The room's own, which is the tree's until then."""
    image = room.out / "disk.img"
    built = image.resolve()
    image.unlink()
    shutil.copyfile(built, image)
    for path in (*MISSING, NO_PROGRAM):
        call(DEBUG, "-w", "-R", f"rm {path}", image)
    words = room.folder / "words"
    words.write_text("nothing that runs\n")
    words.chmod(0o755)
    put_files(image, Files(put=(Put(words, NO_PROGRAM),), base=image), room.folder)


def test_who_logs_in_has_seen_what_failed(tmp_path: Path) -> None:
    """The shell says it, in a line for each, and the machine goes on without."""
    room = Room(tmp_path / "room")
    break_disk(room)
    with Keyboard(room.make("qemu"), room.folder, room.environment) as machine:
        above = machine.wait_for(PROMPT).partition("Welcome to Assay.")[0].splitlines()
        said = [line for line in above if line.startswith("sh: ")]
        assert len(said) == len(MISSING) + 1, above
        for path in MISSING:
            assert any(line.endswith(f": {path}: No such file or directory") for line in said), said
        assert any(line.startswith(f"sh: {NO_PROGRAM}: ") for line in said), said
        assert any(line.startswith("init: /etc/rc failed") for line in above), above
        assert machine.say("echo alive") == "alive\n"
