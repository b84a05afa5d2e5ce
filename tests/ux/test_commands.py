# SPDX-License-Identifier: MIT
"""Shell commands under the Unix server, as somebody types them: what they print and how they end.

Each of these runs is also a test of the file system: one that is not sound afterwards, as e2fsck
sees it, makes the outcome `tool-error`.
"""

import re

import pytest
from assay import ROOT

MESSAGE = (ROOT / "boot" / "disk" / "etc" / "motd").read_text()
SUGGESTED = re.findall(r"^ {4}(\S.*?) {2,}\S", MESSAGE, re.MULTILINE)
LIMIT = 60

# What each of the suggested commands says, at least.
SAYS = {
    "slowprog": r"forty.*40",
    "monctl -run slowprog": r"forty.*40",
    "vmprog 100": r"100",
    "readprog /bin/sh": r"\d+",
    "sigproftest": r"the thread that runs",
    "ps -a": r"(?s)PID.*init.*\bsh\b.*\bps\b",
}

# Lines, what they print, and the status of the last command.
LINES = {
    "pipes": ("echo one two three | wc -w | cat", "3\n", 0),
    "redirection": (
        "echo text >f; cat <f >>f2; cat f f2; wc -c <f2; rm f f2", "text\ntext\n5\n", 0),
    "status": ("false || true && false; echo $?; exit 7", "1\n", 7),
    "a name that is no command": ("nothing-like-it; echo $?", "127\n", 0),
    "a process by its name": ("sleep 1000 & kill $!; wait $!; echo $?", "143\n", 0),
    "a command in the background": ("(echo a; exit 3) & wait $!; echo $?", "a\n3\n", 0),
    "substitution": ('for n in 1 2 3; do x="$x$(echo $((n * n)))"; done; echo $x', "149\n", 0),
    "names of files": ("mkdir d; cd d; touch b a c; echo *; cd ..; rm -r d", "a b c\n", 0),
    "who one is": ("id -u; pwd", "100\n/home/student\n", 0),
    "an error": ("cat /nothing 2>/dev/null || echo there is none", "there is none\n", 0),
    "a script": ("echo 'echo $0 $#' >s; chmod 755 s; ./s a b; rm s", "./s 2\n", 0),
    "values of the system": (
        "sysctl -n kern.ostype hw.machine hw.ncpu; sysctl kern.clockrate; uname -snr",
        "Assay\ni386\n1\nkern.clockrate = { hz = 100, tick = 10000, profhz = 1000, "
        "stathz = 1000 }\nAssay assay 1\n", 0),
    "values that are not, and not to be set": (
        "{ sysctl no.name; sysctl hw.ncpu=2; sysctl -w kern.hostname=x; sysctl -w hw.ncpu=2; "
        "sysctl -w kern.hostname=x hw.ncpu; } 2>&1; sysctl hw | wc -l",
        "sysctl: no.name: there is no such name: sysctl -a prints all\n"
        "sysctl: hw.ncpu=2: to set a value say sysctl -w NAME=VALUE\n"
        "sysctl: kern.hostname: only root may change it\n"
        "sysctl: hw.ncpu: it can be read, but not set\n"
        "sysctl: hw.ncpu: which value? -w sets NAME=VALUE\n7\n", 0),
    "of owners what there is": (
        "{ owners nobody; owners --help; owners student 5; } 2>&1; owners root | head -n 1",
        "owners: nobody: nothing is kept for this user; `owners` lists those there are\n"
        "owners: illegal option -- -\nusage: owners [USER]\nusage: owners [USER]\n"
        "USER     KIND          USED      MOST     LIMIT\n", 0),
    "names of memory that are not there": (
        "{ ipcrm -M /none -S none; echo $?; ipcrm; ipcrm x; ipcs -x; ipcs x; } 2>&1; ipcs",
        "ipcrm: /none: there is none of that name: `ipcs` lists yours\n"
        "ipcrm: none: a name is a `/` and what has no other one in it\n1\n"
        "usage: ipcrm [-M NAME | -S NAME]...\nusage: ipcrm [-M NAME | -S NAME]...\n"
        "ipcs: illegal option -- x\nusage: ipcs [-ms]\nusage: ipcs [-ms]\n"
        "KIND      OWNER    GROUP    MODE FILES BYTES/VALUE NAME\n", 0),
    "limits of a shell and what it starts": (
        "ulimit -n 9; ulimit -n; ulimit -S -n 7; sh -c 'ulimit -n; ulimit -H -n; ulimit -S -n 9; "
        "ulimit -n; ulimit -S -n 10; ulimit -H -n 8; "
        "ulimit -n unlimited; ulimit -n 99999999999; ulimit -n x' 2>&1",
        "9\n7\n9\n9\n"
        "sh: -c: 1: ulimit: 10: more than the hard limit, which -H shows\n"
        "sh: -c: 1: ulimit: 8: less than the limit in force, which -S shows\n"
        "sh: -c: 1: ulimit: unlimited: only root may have more than the hard limit, which -H "
        "shows\n"
        "sh: -c: 1: ulimit: 99999999999: no limit is as large: say `unlimited`\n"
        "sh: -c: 1: ulimit: x: neither a number nor `unlimited`\n", 2),
    "a function and a loop": (
        "f() { while [ $1 -gt 0 ]; do echo $1; set $(($1 - 1)); done; }; f 3", "3\n2\n1\n", 0),
}


@pytest.fixture(name="typed")
def typed_fixture(unix_machine):
    """What commands print, and the status; anything else but an end with a status is a failure."""

    def run(commands: str, **options) -> tuple[str, int]:
        result = unix_machine(commands, limit=LIMIT, **options)
        assert result.outcome == "exit", (result.outcome, result.message, result.output)
        return result.output.decode().replace("\r\n", "\n"), result.status

    return run


def test_what_is_suggested_is_tried() -> None:
    assert sorted(SUGGESTED) == sorted(SAYS)


@pytest.mark.parametrize("command", SUGGESTED)
def test_suggested_command(typed, command: str) -> None:
    output, status = typed(command)
    assert status == 0, output
    assert re.search(SAYS[command], output), output


@pytest.mark.parametrize("name", LINES)
def test_line(typed, name: str) -> None:
    commands, *expected = LINES[name]
    assert list(typed(f"cd; {commands}")) == expected


@pytest.mark.parametrize("user", ["root", "student", "ta"])
def test_user(typed, user: str) -> None:
    ids = {"root": "0", "student": "100", "ta": "101"}
    assert typed("id -u", user=user) == (f"{ids[user]}\n", 0)


def test_root_renames_the_host(typed) -> None:
    assert typed("sysctl -w kern.hostname=other && uname -n; sysctl -w kern.hostname= 2>&1",
                 user="root") == ("kern.hostname = other\nother\n"
                                  "sysctl: kern.hostname: it cannot have this value\n", 1)


WATCH = """cd; sleep 100 & sysctl -n -w kern.prof.processes=1,$!,1 >said
test "$(cat said)" = "1,$!" && echo each once
for wrong in 1, ,1 1,,2 x 4294967297 -1; do sysctl -w kern.prof.processes=$wrong; done 2>&1
test "$(sysctl -n kern.prof.processes)" = "1,$!" && echo as before
kill $!; wait $!; test "$(sysctl -n kern.prof.processes)" = "1,$!" && echo also when it is gone
sysctl -n -w kern.prof.processes="""

WATCHED = """each once
sysctl: kern.prof.processes: it cannot have this value
sysctl: kern.prof.processes: it cannot have this value
sysctl: kern.prof.processes: it cannot have this value
sysctl: kern.prof.processes: it cannot have this value
sysctl: kern.prof.processes: it cannot have this value
sysctl: kern.prof.processes: No such process
as before
also when it is gone

"""


def test_root_says_which_processes_are_tracked(typed) -> None:
    assert typed(WATCH, user="root") == (WATCHED, 0)
    assert typed("sysctl -a >/dev/null && sysctl -w kern.prof.processes=1 2>&1") == \
        ("sysctl: kern.prof.processes: only root may change it\n", 1)


def test_a_signal_is_told(unix_machine) -> None:
    result = unix_machine("kill -9 $$", limit=LIMIT)
    assert (result.outcome, result.status) == ("signal", 9)


def test_a_run_has_its_time(unix_machine) -> None:
    """What was written until then is there, and the file system is sound."""
    result = unix_machine("cd; echo kept >f; cat f; while true; do :; done", limit=2)
    assert (result.outcome, result.output.split()) == ("timeout", [b"kept"])


BUSY = """cd
for n in 1 2 3 4; do (seq 100 >f$n; sort -n f$n | wc -l; rm f$n) & done
wait
ls -l / | wc -l"""


@pytest.mark.parametrize(("cpus", "seed"), [(1, 0), (1, 7), (2, 0), (2, 7)])
def test_the_same_bytes_twice(unix_machine, cpus: int, seed: int) -> None:
    runs = [unix_machine(BUSY, cpus=cpus, seed=seed, limit=LIMIT) for _ in range(2)]
    assert runs[0].outcome == "exit", runs[0].message
    assert runs[0].output.split()[:4] == [b"100"] * 4
    assert ([(run.outcome, run.status, run.output, run.log, run.instructions) for run in runs[:1]]
            == [(run.outcome, run.status, run.output, run.log, run.instructions)
                for run in runs[1:]])
