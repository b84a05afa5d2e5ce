# SPDX-License-Identifier: MIT
"""Rows of what the sources of this project promise of profiles, typed at a machine that runs: what
a process's own ticks do, by the words of Singh's book, where docs/calls/profil.md does not say
otherwise; that user programs and the kernel are profiled alike; and a profile for pprof.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
from framework.keyboard import PROMPT, Keyboard
from framework.room import Room

PROFILES = Path(__file__).parent / "profiles"
PROGRAMS = {"bins": (), "profiled": ("-g", "-DUNIT=3700u", "-lcpuprofile"), "counting": ("-pg",)}
COUNTING = """
static volatile unsigned n;
__attribute__((noinline)) void callee(void) { for (unsigned i = 0; i < 1000; i++) n++; }
int main(void) { for (unsigned i = 0; i < 30000; i++) callee(); return 0; }
"""
TICKS = 20
SIDES = 3  # Ticks while a program asks how many it was charged, or works beside its function.
LINE = re.compile(r"^(\w+): (on|off), ticks (\d+) of (\d+), last at (\d+)$", re.MULTILINE)


class Said(NamedTuple):
    what: str
    state: str
    ticks: int
    charged: int
    last: int


@pytest.fixture(name="room", scope="module")
def room_fixture(tmp_path_factory) -> Room:
    return Room(tmp_path_factory.mktemp("typed"))


@pytest.fixture(name="root", scope="module")
def root_fixture(room: Room) -> Iterator[Keyboard]:
    """Root's shell, with the programs in its folder."""
    (room.folder / "counting.c").write_text(COUNTING)
    (room.folder / "to").mkdir()
    with Keyboard(room.make("qemu", "LOGIN=root"), room.folder, room.environment) as keyboard:
        keyboard.wait_for(PROMPT)
        for name, options in PROGRAMS.items():
            source = PROFILES / f"{name}.c"
            source = source if source.exists() else room.folder / f"{name}.c"
            subprocess.run([room.out / "sdk/bin/ux-cc", "-O2", "-o", room.folder / name, source,
                            *options], check=True)
            # It goes in byte by byte: what only a debugger reads would take most of the time.
            subprocess.run(["strip", "-g", "-o", room.folder / f"to/{name}", room.folder / name],
                           check=True)
            done = room.run(f"tools/guest put to/{name} /root/")
            assert done.returncode == 0, done.stderr
        yield keyboard


def bins(root: Keyboard, arguments: str) -> list[Said]:
    shown = root.say(f"./bins {arguments}")
    found = [Said(what, state, *map(int, numbers)) for what, state, *numbers in LINE.findall(shown)]
    assert found, shown
    return found


def is_all(said: Said) -> bool:
    return TICKS - SIDES <= said.ticks <= said.charged


# ---------------- X22: the bin, and what lies outside ----------------


def loop_at(room: Room) -> range:
    """How far behind the beginning of inside() its loop is."""
    text = subprocess.run(["objdump", "-d", "--disassemble=inside", room.folder / "bins"],
                          check=True, text=True, capture_output=True).stdout
    places = [int(place, 16) for place in re.findall(r"^ +([0-9a-f]+):\t", text, re.MULTILINE)]
    return range(places[-1] - places[0] + 1)


@pytest.mark.parametrize("scale", (0x10000, 0x8000, 0x4000))
def test_the_bin_is_by_offset_and_scale(room: Room, root: Keyboard, scale: int) -> None:
    said, = bins(root, f"inside {scale:#x}")
    assert said.state == "on" and is_all(said), said
    assert said.last in {(distance * scale >> 16) & ~1 for distance in loop_at(room)}, said


def test_what_is_outside_is_passed_over(root: Keyboard) -> None:
    outside, inside = bins(root, "outside")
    assert outside.state == "on" and outside.ticks <= SIDES < outside.charged, outside
    assert inside.state == "on" and is_all(inside), inside


# ---------------- X25 to X27: on and off, ticks, errors ----------------


@pytest.mark.parametrize("scale", (0, 1))
def test_scales_that_turn_it_off(root: Keyboard, scale: int) -> None:
    said, = bins(root, f"inside {scale}")
    assert (said.state, said.ticks) == ("off", 0) and said.charged >= TICKS


def test_a_scale_too_large(root: Keyboard) -> None:
    assert root.say("./bins inside 0x10001") == "profil: Invalid argument\n"


def test_who_is_not_asked_is_not_profiled(root: Keyboard) -> None:
    said, = bins(root, "nothing")
    assert (said.state, said.ticks) == ("off", 0)


def test_fork_inherits_and_exec_ends_it(root: Keyboard) -> None:
    child, after, parent = bins(root, "fork")
    assert child.state == parent.state == "on" and is_all(child) and is_all(parent)
    assert (after.what, after.state) == ("nothing", "off")


def test_ticks_are_of_user_mode(root: Keyboard) -> None:
    said, = bins(root, "asleep")
    assert said.state == "on" and said.ticks <= 1


def test_an_error_turns_it_off(root: Keyboard) -> None:
    said, = bins(root, "error")
    assert (said.state, said.ticks) == ("off", 0) and said.charged >= TICKS


# ---------------- N1, N2, N5: calls and time, of the kernel and of programs ----------------


def line_of(flat: str, function: str) -> list[str]:
    return next((line.split() for line in flat.splitlines() if line.endswith(f" {function}")), [])


def test_calls_and_time_are_two_sets(root: Keyboard) -> None:
    """Where time is found calls may not be, and calls of what no tick has found are counted."""
    root.say("kgmon -r; kgmon -b; callbench getpid >/dev/null; sleep 1; kgmon -h -p")
    flat = root.say("gprof -b -p /mach_kernel gmon.out")
    assert len(line_of(flat, "sched_idle")) == 4, flat  # Share, two times, and the name.
    assert re.search(r"^ +0\.0 +\S+ +0\.000 +[1-9]\d* ", flat, re.MULTILINE), flat


def test_a_program_s_profile_reads_as_the_kernel_s(root: Keyboard) -> None:
    root.say("rm -f gmon.out; ./counting")
    user = root.say("gprof -b -p ./counting gmon.out")
    assert line_of(user, "callee")[3] == "30000", user
    root.say("kgmon -r; kgmon -b; callbench getpid >/dev/null; kgmon -h -p")
    kernel = root.say("gprof -b -p /mach_kernel gmon.out")
    assert int(line_of(kernel, "trap_mach_msg")[3]) > 100, kernel
    assert [line for line in kernel.splitlines() if "cumulative" in line] == \
        [line for line in user.splitlines() if "cumulative" in line]


# ---------------- R16: who reads profiles ----------------


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_pprof_reads_a_program_s_profile(room: Room, root: Keyboard) -> None:
    root.say("./profiled /root/profile")
    assert room.run("tools/guest get /root/profile .").returncode == 0
    top = subprocess.run(["go", "tool", "pprof", "-top", room.folder / "profiled",
                          room.folder / "profile"], check=True, text=True,
                         capture_output=True).stdout
    share, = re.findall(r"^ +\S+ +([\d.]+)% +\S+ +\S+ +\S+ +most$", top, re.MULTILINE)
    assert 80 <= float(share) <= 97, top
