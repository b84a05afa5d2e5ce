# SPDX-License-Identifier: MIT
"""kdump on the host, on traces that are made here: what it prints with each option."""

import json
import re
import struct
import subprocess
from pathlib import Path

import pytest
from assay import OUT, ROOT, viewers
from framework import trace_file
from framework.trace_file import Maker, sample

KDUMP = OUT / "bin" / "kdump"

LINES = r'''
    12 cat      CALL  open("/etc/motd",O_RDONLY,0)
    12 cat      NAMI  "/etc/motd"
    12 cat      RET   open 3
    12 cat      CALL  read(0x3,0x2000)
    12 cat      CSW   stop kernel "page"
    12 cat      CSW   resume kernel "page" after 5000 us
    12 cat      GIO   fd 3 read 10 bytes
       "hello\n
	you\n"
    12 cat      RET   read 10/0xa
    12 cat      CALL  write(0x1,0xa)
    12 cat      GIO   fd 1 wrote 10 bytes
       "hello\n
	you\n"
    12 cat      RET   write 10/0xa
    12 cat      CALL  open("/nothing",O_WRONLY|O_CREAT|O_TRUNC,0644)
    12 cat      NAMI  "/nothing"
    12 cat      RET   open -1 ENOENT No such file or directory
    12 cat      PSIG  SIGALRM caught handler=0x8049000 mask={SIGINT} code=SI_KERNEL
    12 cat      USER  8 bytes
       "half way"
    13 sh       CALL  kill(12,SIGTERM)
    13 sh       RET   kill 0
    12 cat      PSIG  SIGTERM SIG_DFL mask={} code=SI_USER
'''[1:]


class Run:
    """kdump's run on a trace that comes by standard input."""

    def __init__(self, trace: Maker | bytes, *options: str):
        data = trace if isinstance(trace, bytes) else trace.bytes()
        self.done = subprocess.run([KDUMP, "-f", "-", *options], input=data, check=False,
                                   capture_output=True)
        self.text = self.done.stdout.decode(errors="replace")
        self.lines = self.text.splitlines()
        self.complaints = self.done.stderr.decode().splitlines()
        self.status = self.done.returncode

    def told(self) -> list[str]:
        """The lines, without what all of them begin with."""
        assert self.status == 0, self.complaints
        return [line[16:] for line in self.lines if re.match(r" {4}\d\d \w", line)]


def test_each_type() -> None:
    run = Run(sample())
    assert (run.text, run.complaints, run.status) == (LINES, [], 0)


def test_numbers_instead_of_names() -> None:
    told = Run(sample(), "-n", "-s").told()
    assert told[0] == "CALL  open(0x9,0,0)"
    assert told[4] == 'CSW   stop kernel "2"'
    assert told[7] == "RET   read 0xa"
    assert told[11:15] == ["CALL  open(0x8,0x241,0x1a4)", 'NAMI  "/nothing"',
                           "RET   open -1 errno 2",
                           "PSIG  14 caught handler=0x8049000 mask=0x2 code=128"]


def test_a_signal_s_own_codes_have_names() -> None:
    """Those that <sys/signal.h> has; a code is another signal's, too, or nobody's."""
    header = (ROOT / "include/sys/signal.h").read_text()
    signals = {name: int(number) for name, number in
               re.findall(r"^#define SIG([A-Z]+)\s+(\d+)\b", header, re.MULTILINE)}
    codes = {name: (signals[{"CLD": "CHLD"}.get(of, of)], int(number)) for name, of, number in
             re.findall(r"^#define ((ILL|FPE|SEGV|BUS|TRAP|CLD)_\w+)\s+(\d+)", header,
                        re.MULTILINE)}
    made = Maker()
    for signal, code in codes.values():
        made.signal(signal, 0, code)
    made.signal(signals["SEGV"], 0, 99).signal(signals["SEGV"], 0, 0).signal(signals["TERM"], 0, 1)
    told = [line.partition("code=")[2] for line in Run(made).told()]
    assert len(codes) > 10 and told == [*codes, "99", "SI_USER", "1"]


def test_decimal_numbers() -> None:
    told = Run(sample(), "-d", "-s").told()
    assert told[3] == "CALL  read(3,8192)" and told[7] == "RET   read 10"


def test_no_data_and_little_data() -> None:
    assert '"hello' not in Run(sample(), "-s").text
    assert '"half way"' in Run(sample(), "-s").text
    assert '       "hel"\n' in Run(sample(), "-m", "3").text
    assert "GIO   fd 3 read 10 bytes" in Run(sample(), "-m", "3").text
    assert '"' not in Run(sample(), "-m", "0", "-t", "iu").text


def test_threads() -> None:
    lines = Run(sample(), "-H", "-t", "c").lines
    assert lines[0] == '    12      1 cat      CALL  open("/etc/motd",O_RDONLY,0)'
    assert lines[-1] == "    13      2 sh       RET   kill 0"


@pytest.mark.parametrize(("option", "times"), [
    ("-E", ["0.000000", "0.002000", "0.003000", "0.011000"]),
    ("-R", ["0.000000", "0.002000", "0.001000", "0.008000"]),
    ("-T", [f"{trace_file.BEGIN}.{us}" for us in ("000000", "002000", "003000", "011000")]),
])
def test_times(option: str, times: list[str]) -> None:
    lines = Run(sample(), option, "-t", "c").lines
    assert [line.split()[2] for line in lines[:4]] == times


def test_one_process() -> None:
    assert {line.split()[1] for line in Run(sample(), "-p", "13").lines} == {"sh"}
    assert Run(sample(), "-p", "99").lines == []


@pytest.mark.parametrize(("letters", "types"), [
    ("c", {"CALL", "RET"}), ("n", {"NAMI"}), ("i", {"GIO"}), ("s", {"PSIG"}), ("u", {"USER"}),
    ("w", {"CSW"}), ("nw", {"NAMI", "CSW"}),
    ("+", {"CALL", "RET", "NAMI", "GIO", "PSIG", "USER"}),
])
def test_types(letters: str, types: set[str]) -> None:
    assert {line.split()[0] for line in Run(sample(), "-t", letters).told()} == types


def test_a_path_is_that_of_its_thread() -> None:
    """Others come between; who has no thread's number counts; and what is not there is a length."""
    made = Maker().call("rename", 2, 4).call("unlink", 9)
    made.records.pop()
    made.pid = 13
    made.path("/x")
    made.pid, made.thread = 12, 2
    made.path("/y")
    made.thread = 0
    made.path("/a")
    made.thread = 1
    made.path("/new")
    made.result("rename").call("stat", 5, 1).result("stat", 0, 13)
    calls = Run(made, "-t", "c", "-p", "12").told()
    assert calls == ['CALL  rename("/a","/new")', "RET   rename 0", "CALL  stat(0x5,0x1)",
                     "RET   stat -1 EACCES Permission denied"]


def test_a_path_that_is_looked_up_twice() -> None:
    made = Maker().call("rename", 2, 2).path("/a").path("/a").path("/b").path("/b")
    made.result("rename").call("rename", 2, 2).path("/a").path("/a").result("rename")
    assert Run(made, "-t", "c").told()[::2] == [
        'CALL  rename("/a","/b")', 'CALL  rename("/a","/a")']


def test_what_a_terminal_must_not_get_is_spelled() -> None:
    made = Maker().path("/\x1b[2J\n").data(1, 1, b'\0"\\\x7f\xff\t').user(b"\x1b")
    made.command = "\x1b[2Jname"
    text = Run(made.call("sync")).text
    assert r'NAMI  "/\033[2J\n"' in text and r'"\000\"\\\177\377\t"' in text
    assert "?[2Jname" in text and not re.search(r"[^\n\t -~]", text)


def test_long_lines_of_data_are_broken() -> None:
    lines = Run(Maker().data(1, 1, b"x" * 200)).lines[1:]
    assert all(len(line.expandtabs()) <= 80 for line in lines)
    assert "".join(line.strip().removesuffix("\\") for line in lines) == f'"{"x" * 200}"'


# ---------------- All calls ----------------

def defined_calls() -> dict[str, list[str]]:
    """The types of what goes into each call of defs/ux/bsd.defs."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "defs/ux/bsd.defs").read_text(), flags=re.DOTALL)
    return {name: [kind for way, kind in re.findall(r"(\w*)\s*\w+ : ([\w]+)", body)
                   if way != "out" and kind != "caller_t"]
            for name, body in re.findall(r"routine (\w+)\((.*?)\);", text, re.DOTALL)}


def test_the_table_of_calls_is_that_of_the_interface() -> None:
    table = (ROOT / "lib/ktrace/calls.c").read_text()
    rows = {name: [] if kinds == ", NOTHING" else kinds[2:].split(", ") for name, kinds in
            re.findall(r"CALL\((\w+), [A-Z]+(?:\([A-Z]+\))?((?:, [A-Z]+(?:\([A-Z]+\))?)*)\)",
                       table)}
    defined = defined_calls()
    assert len(defined) > 80 and set(rows) == set(defined) == set(trace_file.CALLS)
    for name, kinds in defined.items():
        assert len(rows[name]) == len(kinds), name
        for row, kind in zip(rows[name], kinds):
            if kind == "path_t" and name != "symlink":
                assert row == "PATH", name
            if kind in ("bytes_t", "long_bytes_t", "mib_t", "groups_t", "timer_t"):
                assert row == "BYTES", name


@pytest.mark.parametrize(("name", "arguments", "told"), [
    ("lseek", (3, -16, 2), "lseek(3,-16,SEEK_END)"),
    ("fcntl", (3, 4, 0o4000), "fcntl(3,F_SETFL,2048)"),
    ("fcntl", (3, 1030, 10), "fcntl(3,F_DUPFD_CLOEXEC,10)"),
    ("fcntl", (3, 77, 0), "fcntl(3,77,0)"),
    ("wait4", (-1, 3), "wait4(-1,WNOHANG|WUNTRACED)"),
    ("wait4", (-1, 0), "wait4(-1,0)"),
    ("sigaction", (2, 1, 1, 0, 0x10000000, 0), "sigaction(SIGINT,1,SIG_IGN,{},SA_RESTART,0)"),
    ("sigprocmask", (0, 1 << 33), "sigprocmask(SIG_BLOCK,{SIGRTMIN+2})"),
    ("sigprocmask", (2, -1 ^ 1 << 8), "sigprocmask(SIG_SETMASK,~{SIGKILL})"),
    ("kill", (-12, 65), "kill(-12,65)"),
    ("setuid", (0xffffffff,), "setuid(-1)"),
    ("umask", (0o22,), "umask(022)"),
    ("access", (4, 6), "access(4,R_OK|W_OK)"),
    ("access", (4, 0), "access(4,F_OK)"),
    ("setitimer", (0, 1, 16), "setitimer(ITIMER_REAL,1,16)"),
    ("getrusage", (0xffffffff,), "getrusage(RUSAGE_CHILDREN)"),
    ("setrlimit", (6, 20, 0xffffffff), "setrlimit(RLIMIT_NPROC,20,RLIM_INFINITY)"),
    ("open", (4, 0o2000000 | 3 | 1 << 30, 0), "open(4,O_CLOEXEC|0x40000003,0)"),
    ("ktrace", (4, 4, 0x40000006, -5),
     "ktrace(4,KTROP_SET|KTRFLAG_DESCEND,KTRFAC_SYSCALL|KTRFAC_SYSRET|KTRFAC_INHERIT,-5)"),
    ("pipe", (0o2000000,), "pipe(O_CLOEXEC)"),
    ("sem_open", (2, 0o300, 0o600, 1), "sem_open(2,O_CREAT|O_EXCL,0600,1)"),
    ("sem_wait", (3, 1), "sem_wait(3,1)"),
    ("sem_timedwait", (3, 1767225600_000000000), "sem_timedwait(3,1767225600000000000)"),
    ("shm_open", (4, 0o102, 0o644), "shm_open(4,O_RDWR|O_CREAT,0644)"),
    ("getpid", (), "getpid()"),
    (999, (1, 2, 3, 4, 5, 6, 7, 8), "[999](1,2,3,4,5,6,7,8)"),
])
def test_arguments(name: str | int, arguments: tuple[int, ...], told: str) -> None:
    assert Run(Maker().call(name, *arguments), "-d").told() == [f"CALL  {told}"]


@pytest.mark.parametrize(("name", "value", "error", "told"), [
    ("read", 9, 0, "read 9"), ("read", 10, 0, "read 10/0xa"), ("fork", 1234, 0, "fork 1234"),
    ("umask", 0o22, 0, "umask 022"), ("sigaction", 1, 0, "sigaction SIG_IGN"),
    ("read", 0, 512, "read RESTART"), ("read", 0, 333, "read -1 errno 333"),
    ("lseek", -1, 0, "lseek -1/0xffffffff"), (999, 0, 38, "[999] -1 ENOSYS "),
])
def test_results(name: str | int, value: int, error: int, told: str) -> None:
    assert Run(Maker().result(name, value, error)).told()[0].startswith(f"RET   {told}")


# ---------------- What is wrong ----------------

def test_a_type_that_is_not_known() -> None:
    run = Run(Maker().call("sync").add(9, b"new").result("sync"))
    assert run.complaints == ["kdump: -: record 2 is of type 9, which is not known here"]
    assert run.lines[1] == "    12 cat      9     3 bytes that cannot be told"
    assert run.status == 1 and len(run.lines) == 3


def test_a_file_that_is_cut() -> None:
    run = Run(sample().bytes()[:-3])
    assert run.text.startswith(LINES[:-80]) and run.status == 1
    assert run.complaints[0] == "kdump: -: ends within record 19: 17 of its 20 bytes are there"


def test_bytes_that_are_none() -> None:
    records = sample().records
    run = Run(b"".join([records[0], b"\xff" * 50, *records[2:]]))
    assert run.status == 1 and len(run.lines) == len(LINES.splitlines()) - 1
    assert run.complaints == [
        f"kdump: -: 50 bytes from byte {len(records[0])} on are no record: left out",
        "kdump: -: 1 record is missing before number 3"]


def test_a_length_that_is_wrong() -> None:
    """What comes behind is found by its number."""
    data = sample().bytes()
    run = Run(struct.pack("<i", 99) + data[4:])
    assert run.text == LINES and run.status == 1
    assert run.complaints == ["kdump: -: record 1, at byte 0, has 28 bytes, not 99 as it says"]


def test_records_that_are_missing() -> None:
    records = sample().records
    run = Run(b"".join(records[:3] + records[5:]))
    assert run.complaints == ["kdump: -: 2 records are missing before number 6"]
    assert run.status == 1 and len(run.lines) == len(LINES.splitlines()) - 2


def test_two_traces_in_a_file() -> None:
    """As ktrace -a leaves them: each has numbers from 1 on."""
    run = Run(sample().bytes() * 2)
    assert (run.text, run.complaints, run.status) == (2 * LINES, [], 0)


def test_too_little_for_what_it_says() -> None:
    run = Run(Maker().add(trace_file.SYSCALL, struct.pack("<hhQ", 30, 3, 9))
              .add(trace_file.SYSRET, b"1234"))
    assert run.complaints == [
        "kdump: -: record 1 has room for 1 arguments, not for the 3 it tells of",
        "kdump: -: record 2 has 4 bytes, but a RET  has at least 12"]
    assert run.status == 1 and len(run.lines) == 2


@pytest.mark.parametrize(("options", "said"), [
    (["-t", "x"], "kdump: -t x: the letters are c n i s u w +"),
    (["-m", "many"], "kdump: many: -m is a number from 0 on"),
    (["-p", "0"], "kdump: 0: -p is a number from 1 on"),
    (["-E", "-T"], "kdump: of -E, -R and -T there can be one"),
    (["--wiew=perf"], "kdump: there is no option --wiew=perf"),
    (["-l", "--view=perf"], "kdump: a view is of a file that is whole: without -l"),
    (["ktrace.out"], "kdump: ktrace.out: a file is named with -f"),
])
def test_wrong_options(options: list[str], said: str) -> None:
    run = Run(b"", *options)
    assert run.status == 2 and run.complaints[0] == said
    assert run.complaints[1].startswith("usage: kdump ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    done = subprocess.run([KDUMP], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == (
        "kdump: ktrace.out: No such file or directory: `ktrace COMMAND` makes a ktrace.out, "
        "and -f names another file\n")
    assert Run(b"", "-f", str(tmp_path)).status == 1
    assert Run(b"", "--view=flame").complaints == [
        "kdump: --view=flame: there is no such view; there are: chrome perf speedscope"]


def test_an_empty_file() -> None:
    run = Run(b"")
    assert (run.text, run.complaints, run.status) == ("", [], 0)


def test_follows_a_file(tmp_path: Path) -> None:
    """Also what comes in halves; and a call waits for its path."""
    records = sample().records
    path = tmp_path / "ktrace.out"
    path.write_bytes(records[0] + records[1][:20])
    with subprocess.Popen([KDUMP, "-l", "-t", "cn", "-f", path], stdout=subprocess.PIPE) as kdump:
        assert kdump.stdout is not None
        with path.open("ab") as file:
            file.write(records[1][20:] + records[2])
        first = [kdump.stdout.readline().decode() for _ in range(3)]
        with path.open("ab") as file:
            file.write(b"".join(records[3:]))
        rest = [kdump.stdout.readline().decode() for _ in range(3)]
        kdump.terminate()
    lines = [line for line in LINES.splitlines(True) if re.search("CALL|RET|NAMI", line)]
    assert first[1:] + rest == lines[1:6] and "CALL  open(" in first[0]


# ---------------- Views ----------------

def test_chrome() -> None:
    run = Run(sample(), "--view=chrome")
    assert run.status == 0
    trace = json.loads(run.text)
    assert trace["otherData"] == {"begin_us": trace_file.BEGIN * 1_000_000}
    spans = {(one["name"], one["ts"], one["dur"]) for one in trace["traceEvents"]
             if one["ph"] == "X"}
    assert spans == {("open", 0, 2000), ("read", 3000, 8000), ("wait:page", 4000, 5000),
                     ("write", 12000, 2000), ("open", 15000, 2000), ("kill", 20000, 1000)}
    marks = {(one["name"], one["ts"]) for one in trace["traceEvents"] if one["ph"] == "i"}
    assert {("SIGALRM", 18000), ("half way", 19000), ("/etc/motd", 1000)} <= marks
    names = {(one["pid"], one["args"]["name"]) for one in trace["traceEvents"]
             if one["name"] == "process_name"}
    assert names == {(12, "cat"), (13, "sh")}
    failed = [one["args"] for one in trace["traceEvents"] if one.get("ts") == 15000]
    assert failed == [{"line": 'open("/nothing",O_WRONLY|O_CREAT|O_TRUNC,0644)',
                       "result": "-1 ENOENT No such file or directory"}]


def test_speedscope() -> None:
    trace = json.loads(Run(sample(), "--view=speedscope").text)
    names = [frame["name"] for frame in trace["shared"]["frames"]]
    cat, sh = trace["profiles"]
    assert cat["name"] == "cat 12/1" and sh["name"] == "sh 13/2"
    assert [(event["type"], names[event["frame"]], event["at"]) for event in cat["events"]] == [
        ("O", "open", 0), ("C", "open", 2000), ("O", "read", 3000), ("O", "wait:page", 4000),
        ("C", "wait:page", 9000), ("C", "read", 11000), ("O", "write", 12000),
        ("C", "write", 14000), ("O", "open", 15000), ("C", "open", 17000)]


def test_what_has_no_end_ends_with_its_process() -> None:
    """And a wait that outlasts its call, as clocks may say, is cut."""
    made = Maker().call("read", 0, 1).wait(trace_file.PORT, 5000).call("exit", 3)
    made.pid = 13
    made.wait(trace_file.CPU, 3000).call("sync").result("sync")
    events = json.loads(Run(made, "--view=chrome").text)["traceEvents"]
    spans = [(one["name"], one["ts"], one["dur"]) for one in events if one["ph"] == "X"]
    assert spans == [("read", 0, 7000), ("wait:port", 1000, 5000), ("exit", 7000, 0),
                     ("wait:CPU", 8000, 3000), ("sync", 12000, 1000)]


def test_the_wait_for_an_answer_is_its_calls() -> None:
    """It begins before the server records the call, and ends after its result."""
    made = Maker().add(trace_file.CSW, struct.pack("<iiII", 1, 0, trace_file.PORT, 0))
    made.call("getpid").result("getpid", 12)
    made.add(trace_file.CSW, struct.pack("<iiII", 0, 0, trace_file.PORT, 3000)).wait(
        trace_file.CPU, 2000)
    events = json.loads(Run(made, "--view=chrome").text)["traceEvents"]
    spans = [(one["name"], one["ts"], one["dur"]) for one in events if one["ph"] == "X"]
    assert spans == [("getpid", 1000, 1000), ("wait:port", 1000, 1000), ("wait:CPU", 4000, 2000)]


@pytest.mark.skipif(viewers.missing("perf") is not None, reason=viewers.missing("perf") or "")
def test_perf(tmp_path: Path) -> None:
    data = tmp_path / "perf.data"
    data.write_bytes(Run(sample(), "--view=perf").done.stdout)
    done = subprocess.run(["perf", "script", "-i", data, "-F", "comm,time,period,event"],
                          check=True, capture_output=True, text=True)
    spans = [tuple(line.split()) for line in done.stdout.splitlines() if line.strip()]
    assert ("cat", "0.003000:", "8000000", "read:") in spans
    assert ("cat", "0.004000:", "5000000", "wait:page:") in spans
    assert ("sh", "0.020000:", "1000000", "kill:") in spans
    assert len(spans) == 13
