# SPDX-License-Identifier: MIT
"""gdb and the machine's console at terminals of their own, as people have them."""

import re
from pathlib import Path
from typing import Iterator

import pytest
from assay import ToolError, debugger
from framework.keyboard import PROMPT, Keyboard
from framework.room import Room

AT_GDB = r"\(gdb\) $"
INTERRUPT = "\x03"  # Ctrl-C
END = "\x01x"  # Ctrl-a x
COLOURS = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]")


class Gdb(Keyboard):
    """`make gdb` at a terminal of its own."""

    def __init__(self, room: Room):
        super().__init__(room.make("gdb"), room.folder, room.environment | {"TERM": "dumb"})

    def do(self, line: str) -> str:
        """A command, up to the next prompt."""
        self.press(f"{line}\r")
        return self.wait()

    def stop(self) -> str:
        self.press(INTERRUPT)
        return self.wait()

    def wait(self) -> str:
        return COLOURS.sub("", self.wait_for(AT_GDB))


@pytest.fixture(name="room")
def room_fixture(tmp_path: Path) -> Room:
    return Room(tmp_path / "room")


@pytest.fixture(name="waiting")
def waiting_fixture(room: Room) -> Iterator[Keyboard]:
    """A machine that waits for gdb."""
    with Keyboard(room.make("qemu-gdb"), room.folder, room.environment) as machine:
        machine.wait_for("It waits for gdb: `make gdb.*` in another terminal")
        yield machine


def test_a_terminal_each(room: Room, waiting: Keyboard) -> None:
    """Of the machine, from its first instruction, and of gdb, which may go and come again."""
    with Gdb(room) as gdb:
        assert "0x0000fff0 in ?? ()" in gdb.wait()
        gdb.do("hbreak trap_mach_msg")
        assert "Breakpoint 1, trap_mach_msg" in gdb.do("continue")
        gdb.do("delete")
        gdb.press("continue\r")
        waiting.wait_for(PROMPT)
        assert waiting.say("echo $((6 * 7))") == "42\n"
        gdb.stop()
        assert "terminal of its own: type there" in gdb.do("assay type ls")
        busy = room.run("tools/qemu gdb")
        assert (busy.returncode, busy.stderr) == \
            (1, "qemu: another gdb has the machine that runs: leave that one first\n")
        assert "Detaching" in gdb.do("detach")
        assert waiting.say("echo again") == "again\n"
        gdb.press("quit\r")
        gdb.end()
    with Gdb(room) as gdb:
        gdb.wait()
        assert re.search(r"\d+  ux\n", gdb.do("assay tasks"))
        waiting.press("echo $((6 * 8))\r")
        gdb.press("quit\r")
        waiting.wait_for(r"\n48\s")  # Leaving gdb lets it go on.
    waiting.press(END)
    assert waiting.end() == 0


def test_words_for_the_machine(room: Room) -> None:
    """Two CPUs, and a kernel that is broken on purpose, whose panic gdb sees."""
    words = ("CPUS=2", "KERNEL_ARGS=crash=overflow")
    with Keyboard(room.make("qemu-gdb", *words), room.folder, room.environment) as machine:
        machine.wait_for("It waits for gdb: `make gdb.*` in another terminal")
        with Gdb(room) as gdb:
            gdb.wait()
            assert re.search(r"\n  2 +Thread 1\.2 \(CPU#1", gdb.do("info threads"))
            gdb.do("hbreak panic_at")
            assert re.search(r"Breakpoint 1, (\S+ in )?panic_at", gdb.do("continue"))


def test_one_terminal(room: Room) -> None:
    with Gdb(room) as gdb:
        assert "`make qemu-gdb` in one terminal, `make gdb` in another" in gdb.wait()
        gdb.press("continue\r")
        gdb.wait_for(PROMPT)
        gdb.stop()
        gdb.do("assay type echo $((6 * 7)).")
        gdb.press("continue\r")
        gdb.wait_for(r"\n42\.\s")
        gdb.stop()
        gdb.press("quit\r")
        gdb.end()
    assert room.run("tools/guest ls /home").returncode == 0  # Nobody has the disk any more.


def test_one_machine_waits(room: Room, waiting: Keyboard) -> None:
    second = room.run("tools/qemu stopped hello")
    assert (second.returncode, second.stderr) == \
        (1, "qemu: another machine runs, and `make gdb` is for that: end it first\n")
    assert room.run("tools/qemu direct hello").returncode == 0


def test_what_runs_is_not_built_again(room: Room, waiting: Keyboard) -> None:
    """Though a source is newer by now: its kernel would not be the machine's."""
    assert waiting
    newer = ("-n", "-W", "kernel/thread/sched.c")
    told = [room.run(" ".join(room.make(*newer, goal))).stdout for goal in ("gdb", "qemu")]
    assert all("tools/qemu" in text for text in told), told
    assert ["CC      kernel/thread/sched.c" in text for text in told] == [False, True]


def test_gdb_is_not_installed(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="^gdb is not installed: run ./setup$"):
        debugger.require_binary()


@pytest.fixture(name="place")
def place_fixture(monkeypatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(debugger, "PLACE", tmp_path / "gdb.place")
    monkeypatch.setattr(debugger, "KERNEL", tmp_path / "kernel")
    debugger.KERNEL.write_text("before")
    return tmp_path


def test_no_machine_runs(place: Path) -> None:
    with debugger.locked(debugger.PLACE) as file:
        debugger.publish(file, place)
        assert debugger.find_machine() == place / "gdb"
    assert debugger.find_machine() is None  # What it wrote is still there.


def test_a_machine_that_has_no_socket_yet(place: Path) -> None:
    with debugger.locked(debugger.PLACE):
        with pytest.raises(ToolError, match="^the machine has only just been started: try again$"):
            debugger.find_machine()


def test_a_kernel_that_was_built_since(place: Path) -> None:
    with debugger.locked(debugger.PLACE) as file:
        debugger.publish(file, place)
        debugger.KERNEL.write_text("after")
        with pytest.raises(ToolError, match="has another kernel than .*: end it and start"):
            debugger.find_machine()
