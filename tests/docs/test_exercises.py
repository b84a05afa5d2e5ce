# SPDX-License-Identifier: MIT
"""Exercises whose hints are commands: that these lead to what is asked for.

What has to be there before is typed first, as a reader would.  Answers in gdb's words are
test_answers.py's.
"""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, ROOT
from assay.files import Files, Get, Put

from docs import book

CONTROL = "dir:/var/audit\nflags:lo,fd\nnaflags:lo\nminfree:1\npolicy:cnt,argv\n"


class Exercise(NamedTuple):
    page: str
    number: int
    hints: tuple[str, ...]  # As the page has them,
    typed: str  # in what is typed,
    shows: str  # and what is then seen.
    append: str = ""


EXERCISES = (
    Exercise("audit", 1, ("auditreduce -m AUE_UNLINK -o file=/tmp/results",),
             "auditd; su student -c 'echo 1 >/tmp/results; rm /tmp/results'; audit -t; sleep 1; cd "
             "/var/audit; auditreduce -m AUE_UNLINK -o file=/tmp/results * | praudit",
             r"subject,root,student,"),
    Exercise("for-whom", 1, ("pkgmon -p",),
             "cat /bin/sh /bin/sh | wc -c & P=$!; pkgmon -p $P; wait; ls gmon.out.-k.kernel",
             r"gmon\.out\.-k\.kernel"),
    Exercise("for-whom", 4, (),
             "pkgmon -c /bin/true >/dev/null; pkgmon -c /bin/true >/dev/null; ls",
             r"gmon\.out\.\d+k\.true[\s\S]*gmon\.out\.\d+k\.true"),
    Exercise("for-whom", 8, (), "seq 3000 >big; wc -c big; pkgmon -a -c wc big >/dev/null; "
             "grep -c '^[1-9][0-9]* u x ' gmon.out.-r.requests", r"13893 big\n[1-9]"),
    Exercise("reading-a-trace", 1,
             ('while read line; do echo "$line"; done </etc/motd', "kdump -t c"),
             "ktrace -t c sh -c 'while read line; do echo \"$line\"; done </etc/motd' >/dev/null; "
             "[ $(kdump -t c | grep -c 'CALL  read(0,0x1)') = $(($(wc -c </etc/motd) + 1)) ] && "
             "echo one for each character, and one at the end", r"one for each character"),
    Exercise("reading-a-trace", 2, ("-i -t cn",),
             "touch notes; ktrace -i -t cn sh -c 'true; rm notes; date' >/dev/null; kdump",
             r'rm +CALL  unlink\("notes"\)\n.* rm +NAMI  "notes"\n.* rm +RET   unlink 0\n'),
    Exercise("reading-a-trace", 4, ("echo $(cat /etc/motd)",),
             "ktrace -i sh -c 'echo $(cat /etc/motd)' >/dev/null; kdump",
             r"sh +CALL  pipe[\s\S]*cat +CALL  open"),
    Exercise("signals", 5, ("sigprof=process", "spinners 2"),
             "sigproftest; spinners 2 && echo spun",
             r"went to threads that did not run\n[\s\S]*spun", append="sigprof=process"),
)

SLEEPS = "sleep 1 | cat"
RECORDED = "monctl -for all -clients -on periodic,wait -record waits"


def exercises_of(page: Path) -> str:
    text = re.search(r"^## Exercises\n([\s\S]*?)(?=^## |\Z)", page.read_text(), re.MULTILINE)
    return text[1] if text else ""


def is_a_guest_s(code: str) -> bool:
    """A command with words behind it; a name alone tells of a program."""
    name, _, words = code.partition(" ")
    return bool(words) and (name == "while" or (ROOT / f"docs/commands/{name}.md").exists() or
                            (ROOT / f"user/work/{name}.c").exists())


def test_every_hint_is_typed() -> None:
    """The guest's; the host's are typed with the rest of the page (test_typed_host.py)."""
    known = {(f"docs/{one.page}.md", hint) for one in EXERCISES for hint in one.hints}
    known |= {("docs/for-whom.md", SLEEPS),
              ("docs/reading-a-trace.md", "slowprog 20")}  # docs/commands/kdump.md has it whole.
    found = {(str(page.relative_to(ROOT)), " ".join(code.split()))
             for page in book.PAGES for code in re.findall(r"`([^`]+)`", exercises_of(page))}
    assert {one for one in found if is_a_guest_s(one[1])} <= known
    assert known <= found


@pytest.mark.parametrize("one", EXERCISES, ids=lambda one: f"{one.page}-{one.number}")
def test_the_hint_leads_there(tmp_path: Path, unix_machine, one: Exercise) -> None:
    control = tmp_path / "audit_control"
    control.write_text(CONTROL)
    files = Files(put=(Put(control, "/etc/security/audit_control", (0, 0)),))
    result = unix_machine(f"cd\n{one.typed}", user="root", icount=True, limit=60, files=files,
                          append=one.append)
    said = result.output.decode()
    assert result.status == 0 and re.search(one.shows, said), said + result.log.decode()


@pytest.mark.skipif(OUT.name != "out", reason="other builds inline other functions")
def test_for_whom_cat_waits(tmp_path: Path, unix_machine) -> None:
    """Exercise 6 of docs/for-whom.md: its second is one of waits in the server's pipe_read()."""
    waits = tmp_path / "waits"
    result = unix_machine(f"{RECORDED} & M=$!; monctl -help >/dev/null; {SLEEPS}; kill $M; wait $M",
                          user="root", icount=True, limit=60,
                          files=Files(get=(Get("/root/waits", waits),)))
    assert result.outcome == "exit", result.log.decode()
    (tmp_path / "mach_servers").mkdir()
    (tmp_path / "mach_servers" / "startup").symlink_to(OUT / "servers" / "ux")
    folded = subprocess.run([OUT / "bin/gprof", "--view=folded", "--flavor=wall", "--for=cat",
                             f"--programs={tmp_path}", OUT / "user/cat", waits],
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    longest = max(folded.splitlines(), key=lambda line: int(line.rpartition(" ")[2]))
    stack, _, nanoseconds = longest.rpartition(" ")
    assert ";read;" in stack and ";pipe_read;" in stack, folded
    assert 0.9e9 < int(nanoseconds) < 1.1e9, folded
