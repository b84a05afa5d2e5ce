# SPDX-License-Identifier: MIT
"""What the book shows of a shell in the machine, typed there, at a terminal.

Each page begins in an empty folder with the files that its examples tell of.  An example must do
what it is there for: its status is 0 unless it is named below, and what is shown of it is printed.
"""

import re
import shutil
from typing import Iterator

import pytest
from assay import OUT
from framework.keyboard import PROMPT, Keyboard
from framework.room import KIND, Room

from docs import book
from docs.test_transcripts import unlike

EXAMPLES = [one for one in book.examples() if one.who != "host"]
LAST = "docs/commands/halt.md"  # It ends root's machine.
UX = "docs/ux.md"  # Its examples are of a Unix server without libprof.
ELSEWHERE = {"docs/sampling.md", "docs/tour.md"}  # test_transcripts.py, test_tour.py.
# Profiles of the checked kernel are four times as large, and have no room on the disk.
LARGE = {"docs/commands/pkgmon.md"} if KIND == ("SAN=1",) else set()
PAGES = sorted({one.page for one in EXAMPLES} - ELSEWHERE - LARGE - {LAST, UX})

# What is there before a page's first example.
PROFILED = "monctl -run slowprog 20 >/dev/null"
PREPARED = {
    "cat": "echo more >more",
    "chmod": "touch secret notes",
    "chown": "touch /home/student/gmon.out",
    "cmp": r"printf 'one\ntwo two\nthree\n' >old; printf 'one\ntwo twO\nthree\n' >new",
    "cp": "mkdir work",
    "gprof": "mkdir -p out/user old new; ln -s /bin/slowprog /bin/cowprog out/user; ln -s "
             "/bin/slowprog prog; ln -s /bin/slowprog old/prog; ln -s /bin/slowprog new/prog; "
             f"{PROFILED}; cp gmon.out old; cp gmon.out new; "
             "monctl -on cow -monfile cow.out -run cowprog 10 >/dev/null",
    "ln": "touch notes",
    "monctl": "touch large; ln -s /bin/slowprog with-symbols",
    "mv": f"mkdir results; {PROFILED}",
    "rm": "mkdir work; touch work/file",
    "rmdir": "mkdir -p work/today",
    "sync": "echo big >big",
    "tail": "seq 3 >table",
    "test": PROFILED,
    "uniq": r"printf 'b\na\nb\n' >names",
}
# What the process 12 of the book is; what can be asked of a proxy has one.
TWELVE = re.compile(r"(?<=pid |for |job:)12\b")
BEGIN_TWELVE = "slowprog 100000 >/dev/null & P=$!"
ASKED = re.compile(r" 12 (?:-on|-off) ")
STATUS = {"cmp old new": 1, "snames": 1, "monctl -pid $P -status": 1,
          "monctl -pid $P -live -thread 1": 1}
# What goes on until it is interrupted, and what shows that it does.
FOREVER = {
    "while true; do date; sleep 1; done": r"\d\d:\d\d",
    "monctl -for 12 -live": "forty",
    "monctl -for job:12 -live -by command": "slowprog",
}
# What is not compared with what is printed, or not tried at all.
FIGURES = ("hostprof", "monctl", "top")  # Are those of the clock that tools/guest --icount has.
EXCEPTIONS = {"monctl -pid 12 -live -thread 41": "a thread has another number each time"}
CHANGES = {
    "date +%H:%M:%S": "the time of day",
    "time slowprog": "how long is the host's affair",
    "ps -a | wc -l": "who else is there",
    "owners student": "limits are parts of the memory that this kernel leaves",
    "pkgmon -f -c sh -c 'cat /etc/rc; cat /etc/rc' >/dev/null": "processes have other numbers",
    "gprof --tree prog gmon.out": "of a program made up to explain it",
    "gprof -b --diff old/prog old/gmon.out new/prog new/gmon.out": "the same",
}


class Shell:
    """A user's shell in a machine that runs."""

    def __init__(self, keyboard: Keyboard, home: str):
        self.keyboard = keyboard
        self.home = home
        self.folder = ""  # Of the page.

    def do(self, line: str) -> None:
        """What is no example."""
        assert self.status(line) == "0", f"{line}\n{self.keyboard.screen[-2000:]}"

    def status(self, line: str) -> str:
        self.keyboard.say(line)
        return self.keyboard.say("echo =$?").strip().rpartition("=")[2]

    def begin(self, page: str) -> None:
        name = page.rpartition("/")[2].removesuffix(".md")
        self.keyboard.say("wait")  # The shell tells of the page before's jobs when they end.
        # Profiles of a large kernel would fill the disk.
        if self.folder:
            self.do(f"cd {self.home}; rm -r {self.folder}")
        self.folder = f"{self.home}/{name}"
        self.do(f"mkdir {self.folder}; cd {self.folder}")
        self.do(PREPARED.get(name, "true"))


def login(room: Room, user: str) -> Iterator[Shell]:
    with Keyboard(room.make("qemu", f"LOGIN={user}"), room.folder, room.environment) as keyboard:
        keyboard.wait_for(PROMPT)
        yield Shell(keyboard, "/root" if user == "root" else f"/home/{user}")


@pytest.fixture(name="student", scope="module")
def student_fixture(tmp_path_factory) -> Iterator[Shell]:
    yield from login(Room(tmp_path_factory.mktemp("student")), "student")


@pytest.fixture(name="root", scope="module")
def root_fixture(tmp_path_factory) -> Iterator[Shell]:
    yield from login(Room(tmp_path_factory.mktemp("root")), "root")


@pytest.fixture(name="without_libprof")
def without_libprof_fixture(tmp_path_factory) -> Iterator[Shell]:
    """The machine of somebody who has built UX with UX_PROFILE=none."""
    room = Room(tmp_path_factory.mktemp("ux"))
    for link in ("servers", "disk.img"):
        (room.out / link).unlink()
    (room.out / "servers").mkdir()
    for file in (OUT / "servers").iterdir():
        (room.out / "servers" / file.name).symlink_to(file)
    (room.out / "servers" / "ux").unlink()
    shutil.copy(OUT / "servers" / "ux-none", room.out / "servers" / "ux")
    yield from login(room, "root")


def is_compared(one: book.Example) -> bool:
    return any(map(str.strip, one.shown)) and one.command not in CHANGES and \
        not one.page.endswith(tuple(f"/{name}.md" for name in FIGURES))


def compare(shell: Shell, one: book.Example, command: str) -> str:
    """What is wrong with it."""
    printed = shell.keyboard.say(command)
    status = shell.keyboard.say("echo =$?").strip().rpartition("=")[2]
    if status != str(STATUS.get(command, 0)):
        return f"{command}\nstatus {status}:\n{printed}"
    shown = [line for line in one.shown if line.strip()]
    line = unlike(shown, printed.splitlines()) if is_compared(one) else ""
    return f"{command}\nshown: {line}\nprinted:\n{printed}" if line else ""


def interrupt(shell: Shell, command: str, sign: str) -> str:
    shell.keyboard.press(f"{command}\r")
    shell.keyboard.wait_for(sign)
    shell.keyboard.press("\x03")
    shell.keyboard.wait_for(PROMPT)
    return ""


PROXY_S_END = r"process \d+: \d+ samples.*\n"


def end_twelve(shell: Shell, has_proxy: bool) -> None:
    """A proxy in the background has its last word at any time: nothing is typed into it."""
    if not has_proxy:
        shell.do("kill $P; wait $P; true")
        return
    keyboard = shell.keyboard
    keyboard.press("kill $P; wait $P; echo ended=$?\r")
    told = keyboard.wait_for(r"\nended=\d+")
    told += keyboard.wait_for(r"[$#] ((monctl|process \d+): .*\n)*$")
    if not re.search(PROXY_S_END, told):
        keyboard.wait_for(PROXY_S_END)


def try_example(shell: Shell, one: book.Example) -> str:
    """What is wrong with it."""
    command = TWELVE.sub("$P", one.command)
    has_proxy = bool(ASKED.search(one.command))
    if command != one.command:
        shell.do(BEGIN_TWELVE)
        if has_proxy:
            shell.do("monctl -pid $P -proxy -bg")
    if one.command in FOREVER:
        wrong = interrupt(shell, command, FOREVER[one.command])
    else:
        wrong = compare(shell, one, command)
    if command != one.command:
        end_twelve(shell, has_proxy or " -proxy " in command)
    return wrong


@pytest.mark.parametrize("page", PAGES)
def test_examples(request: pytest.FixtureRequest, page: str) -> None:
    wrong = []
    for who in ("student", "root"):
        of_page = [one for one in EXAMPLES if (one.page, one.who) == (page, who) and
                   one.command not in EXCEPTIONS]
        if of_page:
            shell = request.getfixturevalue(who)
            shell.begin(page)
            wrong += [try_example(shell, one) for one in of_page]
    assert not any(wrong), "\n".join(filter(None, wrong))


def test_examples_of_a_server_without_libprof(without_libprof: Shell) -> None:
    shell = without_libprof
    shell.begin(UX)
    wrong = [compare(shell, one, one.command) for one in EXAMPLES if one.page == UX]
    assert len(wrong) > 3 and not any(wrong), "\n".join(filter(None, wrong))
    shell.do("gprof -b -p /mach_servers/startup /tmp/uxmon.out >/dev/null")


def test_the_end(root: Shell) -> None:
    """The last test: root's machine is over then."""
    one, = (one for one in EXAMPLES if one.page == LAST)
    root.keyboard.press(f"{one.command}\r")
    root.keyboard.wait_for("machine: exit status 3")
