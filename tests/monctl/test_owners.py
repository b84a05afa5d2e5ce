# SPDX-License-Identifier: MIT
"""Whom a proxy serves: who started it and root, or with -open everybody.

Commands are root's; `su` makes others.  $P is a program of student's.
"""

import re
import subprocess
from pathlib import Path

from assay import OUT, ROOT
from assay.files import Files, Put

from monctl.test_hardships import compiled

PROGRAMS = Path(__file__).parent / "programs"

START = "su student -c 'sleep 1000 & echo $! >/tmp/p'; P=$(cat /tmp/p); "
READY = "until grep -q ready /tmp/s; do sleep 0.05; done; "
ASKS = ("-status", "-on periodic", "-off", "-monfile /tmp/stolen")


def keys(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def every(user: str) -> str:
    """All that one can ask for, and what comes of each."""
    return "; ".join(f"su {user} -c 'monctl -pid $(cat /tmp/p) {ask}'; echo status $?"
                     for ask in ASKS)


def refusals(text: str, whom: str) -> int:
    return len(re.findall(rf"^monctl: process \d+: its proxy, process \d+, serves only {whom}; "
                          "one that is started with -open serves everybody\nstatus 1$", text,
                          re.M))


def compiled_squatter(folder: Path) -> Put:
    program = folder / "squatter"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
                    PROGRAMS / "squatter.c", "-lprof1", "-lnetname"], check=True)
    return Put(program, "/tmp/squatter")


def test_a_proxy_serves_its_owner_and_root(cases, tmp_path: Path) -> None:
    said = cases({
        "roots": START + "monctl -pid $P -proxy -bg -monfile /tmp/r 2>/tmp/said; "
                 "set -- $(cat /tmp/said); echo $3 >/tmp/x",
        "owner of the program": every("student"),
        "another": every("ta"),
        "their proxy": "su student -c 'monctl -pid $(cat /tmp/p) -proxy'",
        "second of root": "monctl -pid $(cat /tmp/p) -proxy",
        "root": "P=$(cat /tmp/p); ls /tmp/stolen; monctl -pid $P -on zfill -rate 50 && "
                "monctl -pid $P -status && monctl -pid $P -off -monfile /tmp/got && ls /tmp/got",
        "beside a squatter": "su student -c '/tmp/squatter >/tmp/s & echo $! >/tmp/q'; " + READY +
                             "su student -c 'monctl -pid $(cat /tmp/p) -status'; "
                             "kill $(cat /tmp/q)",
        "its end": "kill $(cat /tmp/x); until [ -s /tmp/r ]; do sleep 0.05; done; "
                   "su student -c 'monctl -pid $(cat /tmp/p) -status'",
        "students": "su student -c 'cd /tmp; monctl -pid $(cat p) -proxy -bg -monfile s'",
        "others": every("ta"),
        "owner": "su student -c 'cd /tmp; monctl -pid $(cat p) -on cow && "
                 "monctl -pid $(cat p) -off -status'",
        "root of students": "monctl -pid $(cat /tmp/p) -status",
        "open": "kill $(cat /tmp/p); " + START + "monctl -pid $P -proxy -open -bg",
        "everybody": "su ta -c 'cd; monctl -pid $(cat /tmp/p) -on zfill && "
                     "monctl -pid $(cat /tmp/p) -off -status'",
        "run": "su student -c 'cd; monctl -run sleep 1000 2>/tmp/m &'; "
               "until grep -q process /tmp/m; do sleep 0.05; done; "
               "set -- $(cat /tmp/m); echo $3 >/tmp/p; "
               "su ta -c 'monctl -pid $(cat /tmp/p) -status'; echo status $?; "
               "su student -c 'monctl -pid $(cat /tmp/p) -off -status'",
    }, user="root", files=Files(put=(compiled_squatter(tmp_path),)))
    assert refusals(said["owner of the program"].text, "root, who started it") == len(ASKS), said
    assert refusals(said["another"].text, "root, who started it") == len(ASKS)
    assert "serves only root, who started it" in said["their proxy"].text, said["their proxy"]
    assert "has a proxy already; use monctl -pid" in said["second of root"].text
    root = keys(said["root"].text)
    assert (said["root"].status, root["flavors"], root["rate"]) == (0, "zfill", "0"), said["root"]
    assert "/tmp/stolen: No such file" in said["root"].text
    assert "serves only root" in said["beside a squatter"].text
    assert "exports no profiling; start a proxy" in said["its end"].text
    assert refusals(said["others"].text, "student, who started it, and root") == len(ASKS)
    assert keys(said["owner"].text)["flavors"] == "none", said["owner"]
    assert said["root of students"].status == 0
    assert keys(said["everybody"].text)["flavors"] == "none", said["everybody"]
    assert refusals(said["run"].text, "student, who started it, and root") == 1, said["run"]
    assert keys(said["run"].text)["flavors"] == "none"


def test_of_the_server(unix_machine) -> None:
    """The group kmem may have a proxy of UX; it is its user's, and root's."""
    result = unix_machine(
        "exec 2>&1; cd; su ta -c 'cd; monctl -pid 0 -proxy -bg; monctl -pid 0 -status'; "
        "echo mine $?; monctl -pid 0 -off -status; echo root $?; "
        "su student -c 'monctl -pid 0 -status'; echo student $?; set -- $(ps -a | grep '[m]onctl');"
        "kill $2; while ps -a | grep -q '[m]onctl'; do sleep 0.05; done; "
        "monctl -pid 0 -proxy -bg; su ta -c 'monctl -pid 0 -off'; echo ta $?",
        user="root", server="ux-none", limit=60)
    text = result.output.decode()
    assert {"mine 0", "root 0", "student 1", "ta 1"} <= set(text.splitlines()), text
    assert "serves only root, who started it" in text


def test_a_program_with_other_rights_is_sampled_by_root(cases, tmp_path: Path) -> None:
    """Its name is its user's, who is to see no token of it: so root records it."""
    said = cases({
        "run": "cd /tmp; chmod 4755 exports; "
               "su student -c 'cd; /tmp/exports 2>/dev/null & echo $! >/tmp/p'; P=$(cat p); "
               "until monctl -pid $P -status 2>&1 | grep -q rights; do sleep 0.05; done; "
               "monctl -pid $P -status; echo $?; "
               "su student -c 'monctl -pid $(cat /tmp/p) -status'; "
               "monctl -pid $P -record rec -bg; sleep 0.1; kill $P; "
               "until [ -s rec ]; do sleep 0.05; done",
    }, user="root", files=Files(put=(compiled(tmp_path, "exports", "-DSPINS"),)))
    text = said["run"].text
    assert re.search(r"^monctl: process (\d+): it has other rights than its user, who has its "
                     r"name; .* monctl -pid \1 -record FILE\n1$", text, re.M), text
    assert text.count("other rights") == 1, text
    assert re.search(r"^process \d+: [1-9]\d* samples, 0 lost, rec$", text, re.M), text


def test_no_token_of_a_successor_is_shown(unix_machine, tmp_path: Path) -> None:
    """A process becomes another user's while it is asked about: monctl's own source, in a world of
    the test's, where that happens between any two calls."""
    wrapped = ("ux_gprof_token", "ux_processes", "netname_look_up", "gprof_mon_open")
    program = tmp_path / "tokens"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-I", ROOT,
                    "-I", ROOT / "user/bin", "-I", ROOT / "tests/lib",
                    "-I", ROOT / "tests/lib/unix", "-o", program, PROGRAMS / "tokens.c",
                    ROOT / "user/monctl/proxies.c", ROOT / "tests/lib/unix/main.c",
                    ROOT / "tests/lib/unix/check_unix.c", "-lprof1", "-lnetname",
                    *(f"-Wl,--wrap={name}" for name in wrapped)], check=True)
    result = unix_machine("/tmp/tokens", files=Files(put=(Put(program, "/tmp/tokens"),)), limit=30)
    verdicts = [line.partition(" ")[0] for line in result.output.decode().splitlines()]
    assert (verdicts, result.status) == (["passed", "passed", "end"], 0), result.output.decode()


def test_who_has_many_processes_holds_nobody_for_long(cases, tmp_path: Path) -> None:
    """Each of them is its proxy, says its port, and takes as long for each as it may for one."""
    said = cases({
        "squat": "cd /tmp; su student -c 'for n in 1 2 3 4 5 6; do sleep 1000 & done; "
                 "/tmp/squatter slow >/tmp/s & echo $! >/tmp/q'; " + READY +
                 "time monctl -pid $(cat q) -status; cat s",
    }, user="root", files=Files(put=(compiled_squatter(tmp_path),)))
    text = said["squat"].text
    assert "there is no answer; if it or its proxy is stopped" in text, text
    assert 10 <= float(re.search(r"real +(\d+\.\d+)", text)[1]) < 12, text
    assert text.split().count("STOLEN") == 0 and "own" in text, text


def test_nobody_is_shown_a_token_of_root(cases, tmp_path: Path) -> None:
    """Who has the names that he can have sees no token but his own; nor is root led astray."""
    said = cases({
        "proxies": "sleep 1000 & echo $! >/tmp/p; monctl -pid $! -proxy -bg; "
                   "monctl -pid $(cat /tmp/p) -status | grep flavors",
        "squat": "cd /tmp; su student -c '/tmp/squatter >/tmp/s & echo $! >/tmp/q'; " + READY +
                 "monctl -pid $(cat q) -status; monctl -pid $(cat q) -proxy; cat s; kill $(cat q)",
        "astray": "cd /tmp; rm s; su student -c '/tmp/squatter $(cat p) >/tmp/s & echo $! >/tmp/q'"
                  "; " + READY + "monctl -pid $(cat q) -off; kill $(cat q)",
        "still": "monctl -pid $(cat /tmp/p) -status | grep flavors",
    }, user="root", files=Files(put=(compiled_squatter(tmp_path),)))
    assert said["proxies"].text.endswith("flavors=periodic"), said["proxies"]
    shown = said["squat"].text.splitlines()
    assert "own" in shown and "STOLEN" not in shown, said["squat"]
    assert said["squat"].text.count("monctl: process") == 2, said["squat"]
    assert re.search(r"gprof\.\d+ is checked in for the port of process \d+",
                     said["astray"].text), said["astray"]
    assert said["still"].text == "flavors=periodic"
