# SPDX-License-Identifier: MIT
"""ktrace and kdump in the machine: what programs did that are known, by three readers alike.

kdump there, kdump on the host and framework/trace_file.py read the same files.
"""

import re
import subprocess
from pathlib import Path

import pytest
from assay import OUT, bench, unix
from assay.files import Files, Get
from framework import trace_file
from framework.trace_file import Record

LIMIT = 120
HOME = "/home/student"
LINE = re.compile(r" *(\d+) (\S+) +(CALL|RET |NAMI|GIO |PSIG|CSW |USER)  (.*)")

# What is run, and what is printed of it up to a line `=NAME`.
COMMANDS = r"""
printf 'one\ntwo\n' >notes
ktrace -f cat.out cat notes >/dev/null; echo $?
kdump -f cat.out; echo =cat
ktrace -i -f shell.out sh -c 'rm notes; exit 3'; echo $?
kdump -s -f shell.out >shell.text; echo =shell
ktrace -o - -t c sh -c 'exit 5'; echo $?; ls /tmp | grep ktrace; echo =lines
ktrace -o - -f kept.out -t cn cat /nothing >lines 2>/dev/null; echo $?
kdump -f kept.out | cmp - lines; echo =kept
ktrace -o lines -t s sh -c 'kill -TERM $$'; echo $?; cat lines; echo =signal
sleep 1000 & P=$!
ktrace -f live.out -p $P; kill -CONT $P; ktrace -c -p $P; kdump -f live.out >/dev/null
ktrace -a -f live.out -p $P; kill $P; wait $P 2>/dev/null; kdump -t s -f live.out; echo =live
sleep 1000 & P=$!
ktrace -f all.out -p $P; ktrace -C -f all.out; ktrace -C; kill $P; wait $P 2>/dev/null
kdump -t s -f all.out; echo =all
"""
# Messages go where these print.
WRONG = r"""exec 2>&1
ktrace; ktrace -p 1 cat; ktrace -c; ktrace -C cat; ktrace -o - -p 1; ktrace -t x cat; ktrace -p x
ktrace -p 9999; echo $?; ktrace -p 1; echo $?; ktrace -g 9999; echo $?
ktrace nothing; echo $?; ktrace /etc; echo $?; ktrace -f /ktrace.out cat; echo $?
ktrace -a -f /etc/motd cat; echo $?; kdump --view=perf; echo $?
kdump -f /etc/motd >/dev/null; echo $?
"""


class Told:
    """What the machine printed, and the traces that it left."""

    def __init__(self, folder: Path):
        names = ("cat.out", "shell.out", "shell.text")
        get = tuple(Get(f"{HOME}/{name}", folder / name) for name in names)
        self.folder = folder
        result = unix.run(f"cd {HOME}; {COMMANDS}", limit=LIMIT, icount=True,
                          files=Files(get=get))
        assert (result.outcome, result.status) == ("exit", 0), result.log[-2000:]
        self.parts: dict[str, list[str]] = {}
        part: list[str] = []
        for line in result.output.decode().splitlines():
            if line.startswith("="):
                self.parts[line[1:]], part = part, []
            else:
                part.append(line)

    def records(self, name: str) -> list[Record]:
        return list(trace_file.read((self.folder / name).read_bytes()))

    def on_host(self, name: str, *options: str) -> list[str]:
        done = subprocess.run([OUT / "bin" / "kdump", "-f", self.folder / name, *options],
                              check=True, capture_output=True, text=True)
        assert done.stderr == ""
        return done.stdout.splitlines()


@pytest.fixture(name="told", scope="module")
def told_fixture(tmp_path_factory) -> Told:
    return Told(tmp_path_factory.mktemp("traces"))


def kinds(lines: list[str]) -> list[tuple[str, str]]:
    """Of lines the type and what is behind it."""
    return [(match[3].strip(), match[4]) for match in map(LINE.match, lines) if match]


def test_the_calls_of_cat(told: Told) -> None:
    """Each, in its order, from the one that executes it on."""
    assert told.parts["cat"][0] == "0"
    lines = kinds(told.parts["cat"][1:])
    start = lines.index(("NAMI", '"notes"')) - 1
    fd = lines[start + 2][1].split()[-1]
    assert lines[start:] == [
        ("CALL", 'open("notes",O_RDONLY|O_CLOEXEC,0)'), ("NAMI", '"notes"'), ("RET", f"open {fd}"),
        ("CALL", f"read(0x{fd},0x2000)"), ("GIO", f"fd {fd} read 8 bytes"), ("RET", "read 8"),
        ("CALL", "write(0x1,0x8)"), ("GIO", "fd 1 wrote 8 bytes"), ("RET", "write 8"),
        ("CALL", f"read(0x{fd},0x2000)"), ("GIO", f"fd {fd} read 0 bytes"), ("RET", "read 0"),
        ("CALL", f"close(0x{fd})"), ("RET", "close 0"), ("CALL", "exit(0)")]
    assert lines[1][1].startswith('execve("/bin/cat",0x2,') and lines[:4] == [
        ("RET", "ktrace 0"), lines[1], ("NAMI", '"/bin/cat"'), ("RET", "execve 0")]
    assert '       "one\\n' in told.parts["cat"] and '\ttwo\\n"' in told.parts["cat"]


def test_three_readers_read_the_same(told: Told) -> None:
    """In the machine, on the host, and in Python."""
    assert told.on_host("cat.out") == told.parts["cat"][1:]
    assert told.on_host("shell.out", "-s") == (told.folder / "shell.text").read_text().splitlines()
    for name in ("cat.out", "shell.out"):
        records, lines = told.records(name), told.on_host(name, "-s", "-n", "-d")
        assert len(records) == len(lines)
        for record, line in zip(records, lines):
            match = LINE.match(line)
            assert match and (int(match[1]), match[2]) == (record.pid, record.command)
            assert match[4] == plain(record), line


WIDE = {("lseek", 1), ("sigaction", 3), ("sigprocmask", 1), ("sigsuspend", 0), ("truncate", 1),
        ("ftruncate", 1), ("sem_timedwait", 1)}


def signed(value: int, bits: int) -> int:
    return (value & (1 << bits) - 1 ^ 1 << bits - 1) - (1 << bits - 1)


def plain(record: Record) -> str:
    """What kdump -d -n -s says of it."""
    if record.type == trace_file.SYSCALL:
        name, arguments = record.call()
        words = [signed(value, 64 if (name, i) in WIDE else 32)
                 for i, value in enumerate(arguments)]
        return f"{name}({','.join(map(str, words))})"
    if record.type == trace_file.SYSRET:
        name, error, value = record.result()
        return f"{name} {value}" if error == 0 else f"{name} -1 errno {error}"
    if record.type == trace_file.NAMEI:
        return f'"{record.path()}"'
    if record.type == trace_file.GENIO:
        fd, way, data = record.data()
        return f"fd {fd} {('read', 'wrote')[way]} {len(data)} byte{'s' * (len(data) != 1)}"
    assert record.type == trace_file.PSIG
    number, action, code, mask = record.signal()
    how = {0: "SIG_DFL", 1: "SIG_IGN"}.get(action, f"caught handler={action:#x}")
    return f"{number} {how} mask={f'{mask:#x}' if mask else 0} code={code}"


def test_who_removed_the_file(told: Told) -> None:
    """With -i children are in the trace, and who forked whom."""
    records = told.records("shell.out")
    shell, child = records[0].pid, {record.pid for record in records} - {records[0].pid}
    assert len(child) == 1 and told.parts["shell"] == ["3"]
    forks = [record.result() for record in records
             if record.type == trace_file.SYSRET and record.result()[0] == "fork"]
    assert forks == [("fork", 0, *child)]
    who = [record for record in records if record.type == trace_file.SYSCALL
           and record.call()[0] == "unlink"]
    assert [(record.pid, record.command) for record in who] == [(*child, "rm")]
    last = [record.call() for record in records if record.pid == shell
            and record.type == trace_file.SYSCALL][-1]
    assert last == ("exit", [3])


def test_lines_while_the_command_runs(told: Told) -> None:
    *lines, status = told.parts["lines"]
    assert status == "5" and kinds(lines)[-1] == ("CALL", "exit(0x5)")
    assert {kind for kind, _ in kinds(lines)} == {"CALL", "RET"} and len(kinds(lines)) == len(lines)
    assert told.parts["kept"] == ["1"]


def test_a_signal_ends_the_command(told: Told) -> None:
    status, line = told.parts["signal"]
    assert status == "143" and re.fullmatch(r" *\d+ kill +PSIG  SIGTERM SIG_DFL mask={} "
                                            r"code=SI_USER",
                                            line)


def test_a_process_that_runs(told: Told) -> None:
    """Its tracing ends, and goes on behind what there is."""
    assert [line.split()[3:5] for line in told.parts["live"]] == [["SIGTERM", "SIG_DFL"]]
    assert told.parts["all"] == []


def test_the_machine_ends_while_waits_are_recorded() -> None:
    """With who is traced his stream ends, and the file is written before the disk is left."""
    result = unix.run(f"cd {HOME}; ktrace -i -t +w sleep 1000 & sleep 0.1; echo end",
                      limit=LIMIT, icount=True)
    assert (result.outcome, result.status, result.output) == ("exit", 0, b"end\n")


def test_what_is_wrong_is_said() -> None:
    result = unix.run(f"cd {HOME}; {WRONG}", limit=LIMIT, icount=True)
    lines = [line for line in result.output.decode().splitlines()
             if not line.startswith(("usage: ", "       "))]
    assert lines == [
        "ktrace: what is to be traced? name a command, -p PID or -g GROUP",
        "ktrace: cat: either a command or a process is traced",
        "ktrace: -c: whose tracing is to end? name it with -p or -g; -C ends all",
        "ktrace: -C ends the tracing of all: it goes with -f only",
        "ktrace: -o prints what a command does: name one; a process has `kdump -l`",
        "ktrace: -t x: the letters are c n i s u w +",
        "ktrace: x: not the number of a process: `ps -al` lists them",
        "ktrace: 9999: there is no such process: `ps -al` lists them", "1",
        "ktrace: process 1: only root may trace another user's, a set-user-id program, and what "
        "root has set", "1",
        "ktrace: 9999: there is no such process group: `ps -al` lists them", "1",
        "ktrace: nothing: No such file or directory", "127",
        "ktrace: /etc: Permission denied", "126",
        "ktrace: /ktrace.out: cannot be written: Permission denied: name another file with -f", "1",
        "ktrace: /etc/motd: cannot be written: Permission denied: name another file with -f", "1",
        "kdump: --view=perf: views are not made here: take the trace to the host", "1",
        "kdump: /etc/motd: no trace, of which `ktrace COMMAND` makes one", "1"]


LOOP = "n=0; while [ $n -lt 1000 ]; do /bin/true; n=$((n+1)); done"
LOOPS = {"untraced": "", "default": "ktrace -i", "all": "ktrace -i -t +w"}


@pytest.fixture(name="loops", scope="module")
def loops_fixture() -> dict[str, int]:
    """Milliseconds of the machine's time, in which a thousand instructions are a microsecond."""
    result = unix.run("cd /tmp\n" + "\n".join(f"time {how} sh -c '{LOOP}' 2>&1"
                                              for how in LOOPS.values()),
                      user="root", limit=LIMIT, icount=True)
    taken = re.findall(r"^real (\d+)\.(\d{3})$", result.output.decode(), re.MULTILINE)
    return dict(zip(LOOPS, (1000 * int(whole) + int(part) for whole, part in taken), strict=True))


@pytest.mark.parametrize("how,percent", [("default", 8), ("all", 17)])
def test_a_thousand_commands_take_little_longer(loops: dict[str, int], how: str,
                                                percent: int) -> None:
    assert loops["untraced"] < loops[how] <= loops["untraced"] * (1 + percent / 100), loops


def test_a_traced_call_costs_little() -> None:
    """Its call and its result are recorded; that they are written is another thread's affair."""
    plain, traced = (bench.unix_call(name)().value for name in ("getpid", "getpid-traced"))
    assert plain < traced <= plain + 700
