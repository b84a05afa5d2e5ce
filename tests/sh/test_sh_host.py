# SPDX-License-Identifier: MIT
"""The shell and the commands, built with the host's compiler and its checks, and run on the host.

language.txt and commands.txt hold scripts, each with its exit status, whether it says something on
standard error, and what it prints:

    SCRIPT
    --- STATUS [complains]
    OUTPUT

Between two there is a line `%%`; output that ends without a newline is followed by a backslash in
a line of its own.
"""

import os
import pty
import random
import re
import select
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from assay import OUT

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = OUT / "host" / "unix"
OBJECTS = OUT / "host" / "unix-common"
FLAGS = ("-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-fsanitize=address,undefined",
         "-fno-sanitize-recover=all", "-D_GNU_SOURCE", "-I", str(ROOT / "user/bin"))

# These speak to servers, or by calls that the host has not.
GUEST_ONLY = {"ipcrm", "ipcs", "owners", "ps", "su", "sysctl", "name_server", "rolled"}

# Scripts use some of the host's commands too; those of ours are found first.  Signals that scripts
# send are not for the sanitizer to report, and a command that ends need not free its memory.
ENVIRONMENT = {"PATH": f"{BUILD}:/usr/bin:/bin", "HOME": "/home/u", "POSIXLY_CORRECT": "1",
               "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0"}

# A limit for a hang, not a measure of speed.
LIMIT = 60


def sources() -> dict[str, list[Path]]:
    """Every program and what it is made of, beside what is common to all."""
    programs = {path.stem: [path] for path in ROOT.glob("user/bin/*.c")
                if path.stem not in GUEST_ONLY}
    programs["grep"] = sorted(ROOT.glob("user/bin/grep/*.c"))
    programs["sh"] = sorted(ROOT.glob("user/sh/*.c"))
    return programs


def common_sources() -> list[Path]:
    return [path for path in sorted(ROOT.glob("user/bin/common/*.c"))
            if path.stem not in GUEST_ONLY]


def is_current(target: Path, parts: list[Path]) -> bool:
    headers = [*ROOT.glob("user/sh/*.h"), *ROOT.glob("user/bin/*/*.h")]
    return target.exists() and all(part.stat().st_mtime < target.stat().st_mtime
                                   for part in (*parts, *headers))


def build(target: Path, parts: list[Path], *options: str) -> Path:
    if not is_current(target, parts):
        subprocess.run(["gcc", *FLAGS, *options, "-o", target, *parts], check=True)
    return target


@pytest.fixture(scope="module", name="tools", autouse=True)
def tools_fixture() -> None:
    for folder in BUILD, OBJECTS:
        folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        common = list(pool.map(lambda path: build(OBJECTS / f"{path.stem}.o", [path], "-c"),
                               common_sources()))
        list(pool.map(lambda item: build(BUILD / item[0], [*item[1], *common]),
                      sources().items()))
    bracket = BUILD / "["
    if not bracket.exists():
        bracket.symlink_to("test")


def shell(*arguments: str, cwd: Path, text: bytes = b"") -> subprocess.CompletedProcess:
    return subprocess.run([BUILD / "sh", *arguments], cwd=cwd, env=ENVIRONMENT, input=text,
                          capture_output=True, timeout=LIMIT)


def read_cases(name: str) -> list[tuple[str, int, bool, str]]:
    cases = []
    for case in re.split("^%%\n", (HERE / name).read_text(), flags=re.MULTILINE):
        script, _, rest = case.partition("\n--- ")
        head, _, output = rest.partition("\n")
        status, *complains = head.split()
        cases.append((script, int(status), bool(complains), output.removesuffix("\n\\\n")))
    return cases


def check(case: tuple[str, int, bool, str], where: Path) -> None:
    script, status, complains, output = case
    done = shell("-c", script, "name", "a1", "a 2", "a3", cwd=where)
    errors = done.stderr.decode("latin1")
    assert "Sanitizer" not in errors and "runtime error" not in errors, errors
    assert done.stdout.decode("latin1") == output, errors
    assert done.returncode % 256 == status or 128 - done.returncode == status, errors
    assert bool(errors) == complains, errors


@pytest.mark.parametrize("case", read_cases("language.txt"), ids=lambda case: case[0][:60])
def test_language(case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.parametrize("case", read_cases("commands.txt"), ids=lambda case: case[0][:60])
def test_commands(case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_background_names_the_program(tmp_path: Path) -> None:
    """When `program &` returns, $! is the program, not a copy of the shell.

    The host renames a process only after it has closed what an exec closes, so its name can be
    the old one for an instant; its file is the new one before that.
    """
    for _ in range(20):
        with subprocess.Popen([BUILD / "sh", "-c", "sleep 1000 & echo $!"], cwd=tmp_path,
                              env=ENVIRONMENT, stdout=subprocess.PIPE) as started:
            process = int(started.stdout.readline())
            program = os.readlink(f"/proc/{process}/exe")
            os.kill(process, signal.SIGKILL)
        assert Path(program) == BUILD / "sleep"


def test_background_that_cannot_start(tmp_path: Path) -> None:
    done = shell("-c", "nosuch & wait $!; echo $?; ./dir & wait $!; echo $?", cwd=tmp_path)
    assert done.stdout == b"127\n127\n"
    assert done.stderr == b"sh: -c: 1: nosuch: not found\n" \
                          b"sh: -c: 1: ./dir: No such file or directory\n"


def test_background_does_not_wait_for_a_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    done = shell("-c", "cat < fifo & echo through > fifo; wait", cwd=tmp_path)
    assert done.stdout == b"through\n"


def test_a_pipeline_in_the_background_is_its_last_command(tmp_path: Path) -> None:
    script = "cat /dev/null | sleep 999 & read line < /proc/$!/cmdline; echo \"$line\"; kill -9 $!"
    done = shell("-c", script, cwd=tmp_path)
    assert b"999" in done.stdout


@pytest.mark.parametrize("from_file", [True, False], ids=["file", "pipe"])
def test_a_program_reads_what_follows_in_the_script(tmp_path: Path, from_file: bool) -> None:
    text = b"head -n 1\nfor the command\nread x\nfor read\necho \"<$x>\"\n"
    script = tmp_path / "script"
    script.write_bytes(text)
    if from_file:
        with script.open("rb") as file:
            done = subprocess.run([BUILD / "sh"], stdin=file, env=ENVIRONMENT, cwd=tmp_path,
                                  capture_output=True, timeout=LIMIT)
    else:
        # One that reads by blocks takes too much from a pipe; `read` takes its line alone.
        text = text.replace(b"head -n 1", b"read y").replace(b"for the command", b"line")
        done = shell(cwd=tmp_path, text=text)
    assert done.stdout.endswith(b"<for read>\n") or from_file


def test_messages_say_where(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("echo a\n\nnosuch\nif\n)\n")
    done = shell("script", cwd=tmp_path)
    assert done.stderr.splitlines() == [b"sh: script: 3: nosuch: not found",
                                        b"sh: script: 5: syntax error: ) unexpected"]
    assert done.returncode == 2


DEEP = ["(" * 5000, "$(" * 5000, "${x:-" * 5000, '"$(' * 5000, "if " * 5000, "`" * 4999,
        "echo $((" + "(" * 5000, "echo $((" + "-" * 5000, "f() { f; }; f", "{ " * 5000,
        "x='eval \"$x\"'; eval \"$x\"", "echo . ./s > s; . ./s", "echo " + "a" * 300000]


@pytest.mark.parametrize("script", DEEP, ids=lambda script: script[:10])
def test_nesting_has_an_end(tmp_path: Path, script: str) -> None:
    done = shell(cwd=tmp_path, text=script.encode())
    assert done.returncode in (0, 2)
    assert b"Sanitizer" not in done.stderr


PIECES = ["$(", "`", "${", "}", ")", "((", "))", "'", '"', "\\", "\n", ";", "&", "|", "<<E\n",
          "E\n", "if ", "then ", "fi ", "do ", "done ", "case x in ", "esac ", "for i in ",
          "while ", "{ ", "$((", "#", "<", ">", "2>&1", "!", "$x", "${x:-", "~", "[", ";;",
          "f() ", "&&", "\0"]


def mutate(source: random.Random, scripts: list[str]) -> str:
    script = source.choice(scripts)
    for _ in range(source.randrange(1, 8)):
        at = source.randrange(len(script) + 1)
        cut = source.randrange(6)
        script = script[:at] + source.choice([*PIECES, "", ""]) + script[at + cut:]
    return script


def test_the_parser_survives_anything(tmp_path: Path) -> None:
    """The same inputs each time; a failure shows the one that did it."""
    source = random.Random(1)
    scripts = [case[0] for case in read_cases("language.txt")]
    for _ in range(300):
        script = mutate(source, scripts)
        done = shell("-n", cwd=tmp_path, text=script.encode())
        assert done.returncode in (0, 2), script
        assert b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, script


class Terminal:
    """A shell with somebody in front of it."""

    def __init__(self, where: Path):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(where)
            os.execve(BUILD / "sh", ["sh"], ENVIRONMENT | {"PS1": "ready> ", "PS2": "more> "})

    def expect(self, text: bytes) -> bytes:
        """All that is printed up to this text."""
        seen = b""
        while text not in seen:
            assert select.select([self.master], [], [], LIMIT)[0], seen
            seen += os.read(self.master, 1)
        return seen

    def command(self, line: bytes, until: bytes = b"ready> ") -> bytes:
        """What a command prints; its echo is taken away."""
        os.write(self.master, line + b"\n")
        self.expect(b"\n")
        return self.expect(until).removesuffix(until).replace(b"\r", b"")

    def settle(self) -> None:
        """Until the shell waits: an interrupt before that is only seen with the next line."""
        stat = Path(f"/proc/{self.pid}/stat")
        while stat.read_text().rpartition(")")[2].split()[0] != "S":
            os.sched_yield()

    def interrupt(self) -> None:
        os.write(self.master, b"\x03")
        self.expect(b"ready> ")


@pytest.fixture(name="terminal")
def terminal_fixture(tmp_path: Path):
    terminal = Terminal(tmp_path)
    terminal.expect(b"ready> ")
    yield terminal
    os.kill(terminal.pid, signal.SIGKILL)
    os.waitpid(terminal.pid, 0)
    os.close(terminal.master)


def test_interactive_goes_on_after_errors(terminal: Terminal) -> None:
    assert terminal.command(b"echo hi") == b"hi\n"
    assert terminal.command(b"echo )") == b"sh: syntax error: ) unexpected\n"
    assert terminal.command(b"echo ${x?no}") == b"sh: x: no\n"
    assert terminal.command(b"readonly r=1; r=2") == b"sh: r: is read only\n"
    failing = b"f() { local q=1; { echo ${z?bad}; } > /dev/null; }; f a"
    assert terminal.command(failing) == b"sh: z: bad\n"
    assert terminal.command(b"echo \"<$q>\" $#") == b"<> 0\n"


def test_interactive_reads_commands_of_several_lines(terminal: Terminal) -> None:
    assert terminal.command(b"if true", b"more> ") == b""
    assert terminal.command(b"then echo yes", b"more> ") == b""
    assert terminal.command(b"fi") == b"yes\n"


def test_interrupt_leads_back_to_the_prompt(terminal: Terminal) -> None:
    os.write(terminal.master, b"while :; do echo turn; done\n")
    terminal.expect(b"turn\r\nturn")
    terminal.interrupt()
    os.write(terminal.master, b"sh -c 'echo begun; sleep 1000'; echo not reached\n")
    terminal.expect(b"\nbegun")
    terminal.interrupt()
    assert terminal.command(b"echo $?") == b"130\n"
    os.write(terminal.master, b"half a line")
    terminal.expect(b"line")
    terminal.settle()
    terminal.interrupt()
    assert terminal.command(b"echo whole") == b"whole\n"


def test_interactive_ends_with_the_status_of_exit(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.expect(b"ready> ")
    os.write(terminal.master, b"exit 5\n")
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]) == 5
    os.close(terminal.master)


def test_a_prompt_with_an_error_is_replaced(terminal: Terminal) -> None:
    assert b"bad substitution" in terminal.command(b"PS1='${'", b"\n$ ")
    assert terminal.command(b"PS1='ready> '") == b""


def test_the_host_has_what_the_tests_need() -> None:
    assert shutil.which("gcc")
