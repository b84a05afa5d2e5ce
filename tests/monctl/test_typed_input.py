# SPDX-License-Identifier: MIT
"""What is typed is somebody's work, also before he reads it: pkgmon in a machine that is typed at.

Of the kernel's functions one puts each character that is echoed on the line and on the screen, so
that its calls say whose the characters were.
"""

import re
from pathlib import Path
from typing import Iterator

import pytest
from assay import hot
from framework.keyboard import PROMPT, Keyboard
from framework.room import Room
from libprof.gmon_reader import calls, parse

LINES = 20
LINE = "what is typed before anybody reads it is his who does in the end"
READS = "while read line; do :; done"
ON_DISK = ("gprof", "kdump", "ktrace", "praudit")  # Of /bin, which nobody has read yet.
LATER = "until test -e go; do :; done"


@pytest.fixture(name="room", scope="module")
def room_fixture(tmp_path_factory) -> Room:
    return Room(tmp_path_factory.mktemp("typed"))


@pytest.fixture(name="root", scope="module")
def root_fixture(room: Room) -> Iterator[Keyboard]:
    with Keyboard(room.make("qemu", "LOGIN=root"), room.folder, room.environment) as keyboard:
        keyboard.wait_for(PROMPT)
        yield keyboard


def puts(line: str) -> int:
    """Each character twice, and the serial line has a return before the end of a line."""
    return 2 * len(line) + 3


def called(room: Room, profile: Path, function: str) -> int:
    """By whomever, but for the agent's line: that is no console, and what is put there by the same
    function, unless the compiler has put a copy of it into its caller, is the agent's."""
    kernel = hot.Image("kernel", room.out / "mach_kernel", is_kernel=True)
    callee = kernel.function(function)
    assert callee is not None, function
    return sum(count for caller, to, count in calls(parse(profile.read_bytes()))
               if to == callee.start
               and not kernel.function_at(caller).name.startswith("console_com1_put"))


def parts(root: Keyboard, room: Room, folder: str, function: str) -> dict[str, int]:
    """How often the function was called for each of whom pkgmon has a profile of the kernel."""
    found = {}
    for name in root.say(f"ls {folder}").split():
        part = re.fullmatch(r"gmon\.out\.(-|\d+)k\.(\w+)", name)
        if part:
            assert room.run(f"tools/guest get /root/{folder}/{name} {name}").returncode == 0
            found[part[2]] = called(room, room.folder / name, function)
    return found


@pytest.mark.parametrize("command, folder", [(READS, "waits"), (f"{LATER}; {READS}", "ahead")])
def test_it_is_for_whoever_reads(root: Keyboard, room: Room, command: str, folder: str) -> None:
    root.say(f"mkdir {folder}; cd {folder}")
    root.press(f"pkgmon -c sh -c 'echo measured; {command}'\r")
    root.wait_for(r"\nmeasured\r?\n")
    for _ in range(LINES):
        root.press(f"{LINE}\r")
        root.wait_for(rf"{LINE}\r?\n")
    root.press("\x04")
    (room.folder / "go").touch()
    assert room.run(f"tools/guest put go /root/{folder}/").returncode == 0
    root.wait_for(PROMPT)
    root.say("cd ..")
    found = parts(root, room, folder, "machine_console_put")
    assert set(found) == {"sh", "kernel", "other"}, found
    assert found["sh"] == LINES * puts(LINE) + puts("measured")
    assert (found["kernel"], found["other"]) == (0, 0)


def test_a_disk_interrupts_for_whoever_reads(root: Keyboard, room: Room) -> None:
    """Of a file that is not in memory: requests begin with a call of this; interrupts end so.  So
    there are two at most for whoever has one read or written.

    What was changed before, be it the time at which a program was read, the server writes back
    within a second or two, for whoever changed it; and while requests of two are under way an
    interrupt is nobody's.  So it is tried with a file more if something was written meanwhile;
    where a second is less than that takes, what was begun for others has ended for them.
    """
    for name in ON_DISK:
        root.say(f"mkdir {name}; cd {name}; sync")
        root.say(f"pkgmon -c cat /bin/{name} >/dev/null")
        root.say("cd ..")
        written = parts(root, room, name, "disk_write")
        if not any(written.values()):
            break
    read = parts(root, room, name, "disk_read")
    found = parts(root, room, name, "virtio_disk_start_waiting")
    assert found["cat"] > 0 and found["kernel"] == 0, found
    if "other" in found:  # Else there is no profile of them.
        assert found["other"] <= 2 * (written["other"] + read["other"]), (found, written, read)
