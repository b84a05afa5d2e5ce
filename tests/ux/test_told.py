# SPDX-License-Identifier: MIT
"""A program that ends by what it did wrong is told what, where and why, in the log and on its
terminal (servers/ux/signal/fault.c)."""

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from assay import OUT
from assay.files import Files, Put
from framework.keyboard import PROMPT, Keyboard
from framework.room import Room

SOURCE = Path(__file__).parent / "told" / "wrong.c"
STRIP = "i686-linux-gnu-strip"
SAID = re.compile(r"^ux: (.*(?:\[\d+\]|ended so|counted).*)$", re.MULTILINE)
PLACE = re.compile(r"in (\w+)\+(0x[0-9a-f]+) \((0x[0-9a-f]{8})\)")

NOT_MAPPED = "nothing is mapped there"
LOAD = f"SIGSEGV, a load from 0x60000124 in load: {NOT_MAPPED}"

# What is done, and what is said of it; nothing where somebody sent the signal, or a handler took
# it.  {name} is the address of a symbol.  A user's first ten are told at once.
WRONGS = [
    {"load": LOAD,
     "store": f"SIGSEGV, a store to 0x60000128 in store: {NOT_MAPPED}",
     "text": "SIGSEGV, a store to {text} in text: it is protected against writing",
     "jump": f"SIGSEGV, a jump to 0x60000124: {NOT_MAPPED}",
     "execute": "SIGSEGV, a jump to {data}: it is not to be executed",
     "orphan": "SIGBUS, a load from ADDRESS in orphan: its page could not be read",
     "divide": "SIGFPE, a division by zero, or with too large a result in divide",
     "unknown": "SIGILL, an unknown instruction in unknown",
     "forbidden": "SIGILL, a forbidden instruction in forbidden",
     "breakpoint": "SIGTRAP, a breakpoint in breakpoint"},
    {"stackless": "SIGSEGV, a handler's frame at 0x00001000 in stackless: it cannot be used",
     "thread": f", thread 2: {LOAD}",
     "child": LOAD,
     "handled": None,
     "ignored": LOAD,
     "blocked": LOAD,
     "killed": None,
     "aborted": None,
     "terminated": "SIGKILL, its task was ended by whoever had a right to it"},
]


@pytest.fixture(name="wrong", scope="module")
def wrong_fixture(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("told") / "wrong"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-o", program, SOURCE, "-lpthread"], check=True)
    return program


def symbols(program: Path) -> dict[str, int]:
    lines = subprocess.run(["nm", program], check=True, text=True, capture_output=True).stdout
    return {words[2]: int(words[0], 16) for words in map(str.split, lines.splitlines())
            if len(words) == 3}


def said(log: bytes) -> list[str]:
    return SAID.findall(log.decode())


def run(unix_machine, commands: str, programs: dict[str, Path], **options):
    files = Files(put=tuple(Put(file, f"/tmp/{name}") for name, file in programs.items()))
    return unix_machine(commands, files=files, **{"limit": 60, **options})


def without_place(line: str, addresses: dict[str, int]) -> str:
    """The place is checked by nm's word for it, and the function alone is left."""
    place = PLACE.search(line)
    if place is None:
        return line
    assert addresses[place[1]] + int(place[2], 16) == int(place[3], 16)
    assert int(place[2], 16) < 0x100  # And that it is the function, none of them being larger.
    return line.replace(place[0], f"in {place[1]}")


@pytest.mark.parametrize("wrongs", WRONGS, ids=["alone", "otherwise"])
def test_what_where_and_why(unix_machine, wrong: Path, wrongs: dict[str, str]) -> None:
    result = run(unix_machine, "".join(f"/tmp/wrong {what}; echo {what}\n" for what in wrongs),
                 {"wrong": wrong})
    assert result.output.decode().split() == list(wrongs)  # Nothing but what commands wrote.
    addresses = symbols(wrong)
    shown = {name: f"0x{address:08x}" for name, address in addresses.items()}
    expected = [f"wrong[PID]{'' if told[0] == ',' else ': '}{told.format_map(shown)}"
                for told in wrongs.values() if told is not None]
    lines = [re.sub(r"\[\d+\]", "[PID]", without_place(line, addresses))
             for line in said(result.log)]
    lines = [re.sub(r"0x\w+ in orphan", "ADDRESS in orphan", line) for line in lines]
    assert lines == expected


# ---------------- Names ----------------

def changed(program: Path, copy: Path, places: dict[int, tuple[str, int]]) -> Path:
    """A copy with other numbers in it, by their places and formats."""
    data = bytearray(program.read_bytes())
    for place, (form, number) in places.items():
        struct.pack_into(form, data, place, number)
    copy.write_bytes(data)
    shutil.copymode(program, copy)
    return copy


def section(program: Path, kind: int) -> int:
    """Where in the file the header of the first section of the kind is."""
    data = program.read_bytes()
    table, = struct.unpack_from("<I", data, 32)
    count, = struct.unpack_from("<H", data, 48)
    return next(place for place in range(table, table + 40 * count, 40)
                if struct.unpack_from("<I", data, place + 4) == (kind,))


def renamed(program: Path, copy: Path) -> Path:
    """A copy in which a function is called something else: the last such text is its name."""
    before, _, after = program.read_bytes().rpartition(b"\0breakpoint\0")
    copy.write_bytes(before + b"\0b\n\x1b\xffkpoint\0" + after)
    shutil.copymode(program, copy)
    return copy


def test_files_that_lie(unix_machine, wrong: Path, tmp_path: Path) -> None:
    table = section(wrong, 2)
    lies = {
        "table": {32: ("<I", 0xffffffd8)},
        "size": {46: ("<H", 39)},
        "place": {table + 16: ("<I", 0xfffffff0)},
        "symbols": {table + 20: ("<I", 0xffffffff)},
        "link": {table + 24: ("<I", 0xffffffff)},
        "itself": {table + 24: ("<I", 0)},
        "entry": {table + 36: ("<I", 0)},
    }
    programs = {name: changed(wrong, tmp_path / name, lie) for name, lie in lies.items()}
    programs["stripped"] = tmp_path / "stripped"
    subprocess.run([STRIP, "-s", "-o", programs["stripped"], wrong], check=True)
    result = run(unix_machine, "".join(f"/tmp/{name} load\n" for name in programs), programs)
    assert result.outcome == "exit"
    at = r"\[\d+\]: SIGSEGV, a load from 0x60000124 at 0x[0-9a-f]{8}: " + NOT_MAPPED
    for name, line in zip(programs, said(result.log), strict=True):
        assert re.fullmatch(name + at, line)


def test_names_are_shown_as_names(unix_machine, wrong: Path, tmp_path: Path) -> None:
    result = run(unix_machine, "mv /tmp/renamed '/tmp/a:1: not so: b'\n"
                 "'/tmp/a:1: not so: b' breakpoint",
                 {"renamed": renamed(wrong, tmp_path / "renamed")})
    line, = said(result.log)
    assert re.fullmatch(r"a\?1\?\?not\?so\?\?b\[\d+\]: SIGTRAP, a breakpoint in "
                        r"b\?\?\?kpoint\+0x[0-9a-f]+ \(0x[0-9a-f]{8}\)", line)


def test_who_may_know(unix_machine, wrong: Path, tmp_path: Path) -> None:
    """Of what one may not read no names are told, and nothing of what runs as another user."""
    programs = {"secret": shutil.copy(wrong, tmp_path / "secret"),
                "powerful": shutil.copy(wrong, tmp_path / "powerful")}
    result = run(unix_machine, "chmod 711 /tmp/secret; chmod 4755 /tmp/powerful\n"
                 "/tmp/secret load\nsu student -c '/tmp/secret load; /tmp/powerful load'",
                 {name: Path(file) for name, file in programs.items()}, user="root")
    of_root, secret, powerful = said(result.log)
    assert " in load+" in of_root
    assert re.fullmatch(r"secret\[\d+\]: .* 0x60000124 at 0x[0-9a-f]{8}: .*", secret)
    assert re.fullmatch(r"powerful\[\d+\]: SIGSEGV, where is not told: it has more rights than its "
                        "user", powerful)


# ---------------- How many ----------------

def test_a_flood(unix_machine, wrong: Path) -> None:
    """Ten are told, the others counted; who comes after a rest is told, and how many there were."""
    result = run(unix_machine, "n=0; while [ $n -lt 40 ]; do /tmp/wrong load; n=$((n + 1)); done\n"
                 "sleep 5; /tmp/wrong store", {"wrong": wrong})
    lines = said(result.log)
    assert len([line for line in lines if "a load from" in line]) == 10
    assert lines[10:12] == ["more processes of user 100 end so: from here on they are counted",
                            "30 more processes of user 100 have ended so"]
    assert "a store to" in lines[12] and len(lines) == 13


# ---------------- Memory ----------------

def test_a_user_at_the_limit(unix_machine, wrong: Path) -> None:
    result = run(unix_machine, "/tmp/wrong hunger", {"wrong": wrong}, append="pool=32 limits=10")
    line, = said(result.log)
    assert re.fullmatch(r"wrong\[\d+\]: SIGBUS, a store to 0x[0-9a-f]{8} at 0x[0-9a-f]{8}: "
                        "user 100 has used up his memory", line)


def test_who_has_most_when_memory_is_out(unix_machine, wrong: Path) -> None:
    result = run(unix_machine, "/tmp/wrong hunger; echo $?", {"wrong": wrong}, limit=120,
                 append="pool=24 limits=400 ramdisk=1")
    assert result.output == b"137\n"
    line, = said(result.log)
    assert re.fullmatch(r"wrong\[\d+\]: SIGKILL, memory was out, and its user had most of it", line)


# ---------------- The terminal ----------------

@pytest.mark.parametrize("arguments", ["", "log=vga"], ids=["log", "apart"])
def test_the_terminal(tmp_path: Path, wrong: Path, arguments: str) -> None:
    """Once, wherever the log is; and before what the shell says of it."""
    room = Room(tmp_path)
    # It goes in byte by byte, and to be told of it needs no more than its symbols.
    subprocess.run(["strip", "-g", "-o", tmp_path / "wrong", wrong], check=True)
    with Keyboard(room.make("qemu", f"KERNEL_ARGS={arguments}"), room.folder,
                  room.environment) as keyboard:
        keyboard.wait_for(PROMPT)
        done = room.run("tools/guest put wrong /home/student/")
        assert done.returncode == 0, done.stderr
        first, second = keyboard.say("./wrong load").splitlines()
    assert re.fullmatch(r"ux: wrong\[\d+\]: SIGSEGV, a load from 0x60000124 in load\+.*", first)
    assert second == "Segmentation fault"


def test_a_user_does_not_fill_the_kernels_log(unix_machine, tmp_path: Path) -> None:
    """Of tasks that are no processes the kernel tells: of ten of a user, and then seldom.  What it
    tells of root's comes as ever."""
    program = tmp_path / "tasks"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Werror", "-o", program,
                    SOURCE.parent / "tasks.c"], check=True)
    result = unix_machine("sleep 60 & su student -c '/tmp/tasks 40; sleep 12; /tmp/tasks 1' && "
                          "/tmp/tasks 15", user="root", limit=100,
                          files=Files(put=(Put(program, "/tmp/tasks"),)))
    assert (result.outcome, result.status) == ("exit", 0), result.message
    log = result.log.decode()
    assert len(re.findall(r"^task .* EXC_BAD_ACCESS.*: ended$", log, re.MULTILINE)) == 10 + 1 + 15
    assert "30 more of user 100's tasks ended by exceptions" in log
