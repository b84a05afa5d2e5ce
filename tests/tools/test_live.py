# SPDX-License-Identifier: MIT
"""`make qemu` as its users have it: at a terminal, with tools/guest get, put and ls beside it."""

import os
import random
import re
import signal
import subprocess
from pathlib import Path
from typing import Iterator

import pytest
from assay import ROOT
from assay.files import Files, Put, put_files
from framework.keyboard import PROMPT, Keyboard
from framework.room import Room

MEGABYTE = 1 << 20
# For whom a file's mode counts, as it does not for root.
LIKE_OTHERS = "setpriv --bounding-set=-dac_override,-dac_read_search " if os.geteuid() == 0 else ""
END = "\x01x"  # Ctrl-a x


@pytest.fixture(name="room", scope="module")
def room_fixture(tmp_path_factory) -> Room:
    return Room(tmp_path_factory.mktemp("live"))


@pytest.fixture(name="machine", scope="module")
def machine_fixture(room: Room) -> Iterator[Keyboard]:
    """A machine that runs, with its shell's prompt on the screen."""
    with Keyboard(room.make("qemu"), room.folder, room.environment) as machine:
        machine.wait_for(PROMPT)
        yield machine


def readme_block(sentence: str) -> list[str]:
    """The commands below a sentence of README.md."""
    text = (ROOT / "README.md").read_text().partition(sentence)[2]
    block = re.search(r"\n\n((?:    .*\n)+)", text)
    assert block, f"README.md has no commands below {sentence!r}"
    return [line.partition("  #")[0].strip() for line in block[1].splitlines()]


def refused(room: Room, command: str) -> str:
    """What is said by a command that cannot be done: a line, after its name."""
    done = room.run(command)
    assert (done.returncode, done.stdout) == (1, ""), done
    verb = command.split()[1]
    assert done.stderr.startswith(f"guest: {verb}: ") and done.stderr.count("\n") == 1, done
    return done.stderr


def test_no_machine_yet(tmp_path: Path) -> None:
    assert "`make qemu` makes one" in refused(Room(tmp_path / "room"), "tools/guest ls /")


def test_there_is_swap_when_users_log_in(machine: Keyboard) -> None:
    """It is said before the prompt, and not in the midst of what is typed."""
    swap, welcome = (machine.screen.find(said) for said in ("pages of swap", "Welcome to Assay."))
    assert 0 <= swap < welcome, machine.screen


def test_what_readme_says_of_a_machine_that_runs(room: Room, machine: Keyboard) -> None:
    commands = readme_block("While `make qemu` runs, files go")
    assert len(commands) == 2
    for command in commands:
        assert room.type(command) == (0, ""), command
    assert (room.folder / "copy").read_bytes() == (ROOT / "README.md").read_bytes()
    size = (ROOT / "README.md").stat().st_size
    assert re.fullmatch(rf"-rw-r--r--\s+1 student\s+student\s+{size} \S+ \S+ README.md\n",
                        machine.say("ls -l README.md"))


def test_a_program_goes_in_and_runs(room: Room, machine: Keyboard) -> None:
    (room.folder / "greet.c").write_text(
        '#include <stdio.h>\nint main(void) { puts("made outside"); }\n')
    assert room.run(f"{room.out}/sdk/bin/ux-cc -O2 -s greet.c -o greet").returncode == 0
    assert room.run("tools/guest put greet /home/student/").returncode == 0
    assert machine.say("./greet") == "made outside\n"


def test_what_goes_in_is_the_same_when_it_comes_back(room: Room, machine: Keyboard) -> None:
    (room.folder / "noise").write_bytes(random.Random(1).randbytes(MEGABYTE))
    assert room.type("tools/guest put noise /home/student/") == (0, "")
    assert machine.say("wc -c noise").split() == [str(MEGABYTE), "noise"]
    assert room.type("tools/guest get /home/student/noise back") == (0, "")
    assert (room.folder / "back").read_bytes() == (room.folder / "noise").read_bytes()
    assert "noise" in room.run("tools/guest ls /home/student").stdout.splitlines()
    machine.say("rm noise")


def test_folders_and_files_are_listed(room: Room, machine: Keyboard) -> None:
    machine.say("mkdir -p deep/er; echo > deep/file")
    assert room.run("tools/guest ls /home/student/deep").stdout == "er/\nfile\n"
    assert room.run("tools/guest ls /home/student/deep/er/").stdout == ""


@pytest.mark.parametrize("command, said", [
    ("get /home/student/nothing .", "there is no /home/student/nothing in the machine: `tools/gue"),
    ("get /home/student .", "get copies one; `tools/guest ls /home/student` lists a folder"),
    ("get /etc/passwd no/where", "there is no folder no"),
    ("ls /nowhere", "there is no folder /nowhere in the machine"),
    ("ls /etc/passwd", "there is no folder /etc/passwd in the machine"),
    ("put README.md /nowhere/", "no such folder in the machine: `mkdir` makes one there"),
    ("put README.md /home/student", "a folder's name ends with a slash: /home/student/"),
    ("put README.md /dev/null", "/dev/null is there and is no file"),
    ("put README.md home", "a path in the guest begins with /"),
    ("put missing /tmp/", "missing is not there"),
    ("put docs /tmp/", "docs is a folder; put copies one file"),
])
def test_errors_say_what_to_do(room: Room, machine: Keyboard, command: str, said: str) -> None:
    assert said in refused(room, f"tools/guest {command}")


def test_no_room(room: Room, machine: Keyboard) -> None:
    """What was there stays there, and nothing else."""
    machine.say("echo old > words; cat /dev/zero > /tmp/all 2> /dev/null")
    (room.folder / "words").write_bytes(b"new " * MEGABYTE)
    said = refused(room, "tools/guest put words /home/student/")
    assert "the machine's disk has no room for it: `rm` there what nobody needs" in said
    assert machine.say("cat words; ls -d words*; rm /tmp/all") == "old\nwords\n"


def test_not_mine(room: Room, machine: Keyboard) -> None:
    lock = room.out / "root.lock"
    lock.chmod(0o400)
    try:
        done = room.run(f"{LIKE_OTHERS}tools/guest ls /")
    finally:
        lock.chmod(0o644)
    assert done.returncode == 1
    assert "permission denied: the machine is whose out/ this is" in done.stderr


def test_one_that_went_away_leaves_nothing(room: Room, machine: Keyboard) -> None:
    (room.folder / "half").write_bytes(random.Random(2).randbytes(MEGABYTE))
    with subprocess.Popen(["tools/guest", "put", "half", "/tmp/"], cwd=room.folder,
                          env=room.environment) as putting:
        machine.say("until [ -s /tmp/half.?????? ]; do sleep 0.1; done")
        putting.send_signal(signal.SIGKILL)
    assert room.run("tools/guest ls /tmp").stdout == ""
    assert machine.say("echo alive") == "alive\n"


def test_what_is_built_while_it_runs_is_there_next_time(room: Room, machine: Keyboard) -> None:
    """Though the machine has written to its disk since.  The last test: it ends the machine."""
    image = room.out / "disk.img"
    built = image.read_bytes()
    image.unlink()
    image.write_bytes(built)
    (room.folder / "newer").write_text("built meanwhile\n")
    put_files(image, Files(put=(Put(room.folder / "newer", "/etc/newer"),), base=image),
              room.folder)
    machine.say("echo mine > kept; sync")
    machine.press(END)
    assert machine.end() == 0
    with Keyboard(room.make("qemu", "LOGIN=root"), room.folder, room.environment) as again:
        assert "The machine has a new disk, as its programs have changed" in again.wait_for(PROMPT)
        assert again.say("cat /etc/newer /home/student/kept") == "built meanwhile\nmine\n"
        again.press("halt\r")
        assert again.end() == 0


def test_a_machine_that_is_off_has_its_disk(room: Room) -> None:
    """The same commands, and the same errors, of the disk that the machine before left."""
    (room.folder / "note").write_text("taken along\n")
    assert room.run("tools/guest put note /home/student/").returncode == 0
    assert "note" in room.run("tools/guest ls /home/student").stdout.splitlines()
    assert room.run("tools/guest get /home/student/note back").returncode == 0
    assert (room.folder / "back").read_text() == "taken along\n"
    assert "`mkdir` makes one there" in refused(room, "tools/guest put note /nowhere/")
    assert "a folder's name ends with a slash" in refused(room, "tools/guest put note /home")
    (room.folder / "note").write_bytes(b"more" * 8 * MEGABYTE)
    assert "`rm` there what nobody needs" in refused(room, "tools/guest put note /home/student/")
    assert room.run("tools/guest get /home/student/note back").returncode == 0
    assert (room.folder / "back").read_text() == "taken along\n"


def test_an_agent_that_cannot_begin_says_so(unix_machine) -> None:
    """A student's stands for any that is refused the port."""
    result = unix_machine("/sbin/agent", limit=20, icount=True)
    assert result.status == 1
    assert "agent: only root has the machine's devices" in result.log.decode()
    assert "tools/guest get, put and ls do not reach this machine" in result.log.decode()
