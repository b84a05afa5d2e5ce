# SPDX-License-Identifier: MIT
"""auditd, and what is in its trail: read back by a reader that knows nothing of our C."""

import re
import struct
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import ROOT, unix
from assay.files import Files, Get, Put

from audit import bsm

KEVENTS = (ROOT / "include/bsm/audit_kevents.h").read_text()
EVENT_FILE = (ROOT / "boot/disk/etc/security/audit_event").read_text()
AUE = {name: int(number) for name, number in
       re.findall(r"^#define (AUE_\w+)\s+(\d+)", KEVENTS, re.MULTILINE)}
CONTROL = "/etc/security/audit_control"
STUDENT = 100

# Until no file is without an end: then auditd has gone.
ENDED = "while [ -e /var/audit/*.not_terminated ]; do sleep 0.01; done\n"
ALL = "flags:all\nnaflags:no\n"


class Trail(NamedTuple):
    output: str
    log: str
    trail: bytes
    records: list[bsm.Record]


@pytest.fixture(name="audited")
def audited_fixture(unix_machine, tmp_path: Path):
    """Runs commands as root; what all files of the trail have in them, in the order of names."""
    def run(commands: str, *, control: str = "", ends: bool = True, status: int = 0,
            **options) -> Trail:
        trail, settings = tmp_path / "trail", tmp_path / "audit_control"
        text = (ROOT / "boot/disk/etc/security/audit_control").read_text() + control
        settings.write_text(text)
        end = f"audit -t\n{ENDED}" if ends else ""
        result = unix_machine(
            f"{commands}\n{end}"
            f"cat /var/audit/* >/tmp/trail\nexit {status}\n", user="root",
            files=Files(put=(Put(settings, CONTROL),), get=(Get("/tmp/trail", trail),)),
            limit=60, **options)
        log = result.log.decode(errors="replace")
        assert (result.outcome, result.status) == ("exit", status), log
        data = trail.read_bytes()
        return Trail(result.output.decode(), log, data, bsm.read(data))
    return run


def named(records: list[bsm.Record], name: str) -> list[bsm.Record]:
    return [record for record in records if record.event == AUE[name]]


def test_events_have_one_number() -> None:
    """The header's are the file's, and each that the server has is in it."""
    listed = {name: int(number) for number, name in
              re.findall(r"^(\d+):(\w+):", EVENT_FILE, re.MULTILINE)}
    assert {name: AUE.get(name) for name in listed} == listed
    assert set(AUE) - {"AUE_NULL"} == set(listed)


def test_what_a_student_did_is_there(audited) -> None:
    trail = audited(
        "auditd\n"
        "su student -c 'cd /tmp; cat /etc/motd >copy; chmod 600 copy; mv copy moved; rm moved; "
        "mkdir d; rmdir d; rm /etc/passwd; ln -s /text link; rm link; kill -9 1' 2>/dev/null",
        control=ALL)
    student = [record for record in trail.records if record.subject.ruid == STUDENT]
    assert {record.subject.auid for record in student} == {0}, "root has logged in"
    assert {record.subject.euid for record in student} == {STUDENT}
    done = [(name, named(student, name)) for name in
            ("AUE_CHMOD", "AUE_RENAME", "AUE_MKDIR", "AUE_RMDIR", "AUE_SYMLINK", "AUE_KILL")]
    assert {name: (found[0].paths, found[0].texts, found[0].error)
            for name, found in done if len(found) == 1} == {
        "AUE_CHMOD": (("/tmp/copy",), (), 0),
        "AUE_RENAME": (("/tmp/copy", "/tmp/moved"), (), 0),
        "AUE_MKDIR": (("/tmp/d",), (), 0),
        "AUE_RMDIR": (("/tmp/d",), (), 0),
        "AUE_SYMLINK": (("/tmp/link",), ("/text",), 0),
        "AUE_KILL": ((), (), 1)}
    assert named(student, "AUE_CHMOD")[0].arguments["mode"] == 0o600
    assert named(student, "AUE_KILL")[0].arguments == {"process": 1, "signal": 9}
    unlinked = [(record.paths[0], record.error) for record in named(student, "AUE_UNLINK")]
    assert unlinked == [("/tmp/moved", 0), ("/etc/passwd", 13), ("/tmp/link", 0)]
    opened = [record for record in named(student, "AUE_OPEN_WTC")]
    assert [(record.paths, record.error) for record in opened] == [(("/tmp/copy",), 0)]
    words = [record.words for record in named(student, "AUE_EXECVE") if not record.error]
    assert ("cat", "/etc/motd") in words and ("rm", "/etc/passwd") in words


def test_attempts_are_recorded_as_the_disk_comes(audited) -> None:
    """Whom root has become, and what fails of it: others, who have logged in, have `-ad`."""
    trail = audited(
        "auditd\n"
        "su student -c 'ktrace -f /tmp/t -p 1; ktrace -f /tmp/t true; /sbin/audit -t; "
        "/sbin/auditd; cat /var/audit/*' 2>/dev/null")
    student = [record for record in trail.records if record.subject.euid == STUDENT]
    tried = {name: [record.error for record in named(student, name)]
             for name in ("AUE_KTRACE", "AUE_HOST_PORT")}
    assert tried["AUE_KTRACE"] == [1, 0]
    assert set(tried["AUE_HOST_PORT"]) == {1}
    flags = re.search("^flags:(.*)$", (ROOT / "boot/disk" / CONTROL[1:]).read_text(), re.MULTILINE)
    assert flags and "-ad" in flags[1].split(",")
    assert {record.subject.auid for record in student} == {0}


def test_who_logs_in_is_who_tried(unix_machine, tmp_path: Path) -> None:
    """A student at the terminal, with the flags that the disk comes with."""
    rc, trail = tmp_path / "rc", tmp_path / "trail"
    begin = "/sbin/auditd\nln /var/audit/*.not_terminated /var/audit/live\n"
    rc.write_text((ROOT / "boot/disk/etc/rc").read_text() + begin)
    result = unix_machine(
        "ktrace -f t -p 1; cat /var/audit/live; /sbin/audit -t; echo mine >t",
        user="student", limit=60,
        files=Files(put=(Put(rc, "/etc/rc"),), get=(Get("/var/audit/live", trail),)))
    assert (result.outcome, result.status) == ("exit", 0), result.log
    tried = [record for record in bsm.read(trail.read_bytes()) if record.subject.auid == STUDENT]
    assert [record.error for record in named(tried, "AUE_KTRACE")] == [1]
    assert {record.error for record in named(tried, "AUE_HOST_PORT")} == {1}
    assert {record.subject.ruid for record in tried} == {STUDENT}
    assert not named(tried, "AUE_OPEN_WTC"), "what succeeds is not asked for"


def test_su_is_recorded_and_who_it_was_stays(audited) -> None:
    trail = audited("auditd\nsu student -c 'echo done'\n", control=ALL)
    record = named(trail.records, "AUE_su")[0]
    assert (record.texts, record.subject.auid) == (("student",), 0)


def test_the_trail_begins_and_ends(audited) -> None:
    trail = audited("auditd\ntrue")
    assert named(trail.records, "AUE_audit_startup")[0].texts == ("auditd: audit startup",)
    assert trail.records[-1].event == AUE["AUE_audit_shutdown"]


def test_nothing_is_recorded_without_auditd(audited) -> None:
    trail = audited("true; ls /var/audit", control=ALL, ends=False)
    assert trail.records == [] and trail.output == ""


def test_rotation_loses_and_repeats_nothing(audited) -> None:
    """Each of these calls is there once, in order, whichever file it is in."""
    steps = "\n".join(f"chmod {600 + n % 8} /tmp/file\n" + ("audit -n\n" if n % 7 == 3 else "")
                      for n in range(40))
    trail = audited(f"auditd\ntouch /tmp/file\n{steps}\nls /var/audit | wc -l", control=ALL)
    modes = [record.arguments["mode"] for record in named(trail.records, "AUE_CHMOD")]
    assert modes == [0o600 + n % 8 for n in range(40)]
    assert int(trail.output) > 3


def test_a_file_has_what_was_while_it_was_the_trail(audited) -> None:
    """Also the records that no second had been waiting when it was closed."""
    trail = audited(
        "auditd\ntouch /tmp/file\nfor n in 1 2 3; do chmod 60$n /tmp/file; audit -n; "
        "while [ $(ls /var/audit | wc -l) -le $n ]; do sleep 0.01; done; done\n"
        "for file in /var/audit/*.2*; do auditreduce -m AUE_CHMOD $file | praudit -l | wc -l; done",
        control=ALL)
    assert trail.output.split() == ["1", "1", "1"]


def test_auditd_may_be_killed(audited) -> None:
    """The server goes on recording; whoever starts auditd again begins another file."""
    trail = audited(
        "auditd -f &\nauditd=$!\nwhile [ ! -e /var/audit/*.not_terminated ]; do sleep 0.01; done\n"
        "sleep 0.05\nchmod 601 /tmp\nkill -9 $auditd\nwait\nchmod 602 /tmp\nauditd\n"
        "chmod 603 /tmp\nls /var/audit", control=ALL)
    modes = [record.arguments["mode"] for record in named(trail.records, "AUE_CHMOD")]
    assert modes == [0o601, 0o602, 0o603]
    assert re.search(r"\d{14}\.crash_recovery\b", trail.output)


def test_no_file_takes_another_s_place(audited) -> None:
    """Whatever the clock says: a name had its second, or one that is still to come."""
    turn = "auditd\nchmod 60{n} /tmp\naudit -n\nsleep 0.05\nchmod 61{n} /tmp\naudit -t\n" + ENDED
    turns = turn.format(n=1) + turn.format(n=2) + "touch /var/audit/20300101000000.20300101000001\n"
    trail = audited(f"{turns}{turn.format(n=3)}ls /var/audit | wc -l", control=ALL, ends=False)
    modes = [record.arguments["mode"] for record in named(trail.records, "AUE_CHMOD")]
    assert (modes, trail.output) == ([0o601, 0o611, 0o602, 0o612, 0o603, 0o613], "7\n")


def test_little_space_is_told_once(audited) -> None:
    """And the trail goes on in one other file, not in one after another."""
    trail = audited("auditd\nfor n in 1 2 3 4; do chmod 60$n /tmp; sleep 1.1; done\n"
                    "ls /var/audit | wc -l", control=ALL + "minfree:100\n")
    assert trail.output == "2\n"
    assert trail.log.count("there is little space left for the trail in /var/audit") == 1


def test_one_auditd_only(audited) -> None:
    trail = audited("auditd; auditd 2>&1; echo $?; su student -c 'auditd 2>&1; audit -n 2>&1'")
    assert trail.output == ("auditd: it runs already; `audit -t` ends it\n1\n"
                            "sh: -c: 1: auditd: not found\nsh: -c: 1: audit: not found\n")


def test_auditd_is_started_unless_it_runs(audited) -> None:
    trail = audited("audit -i; echo $?; audit -i; echo $?; ls /var/audit | wc -l\n"
                    "su student -c '/sbin/audit -i 2>&1'")
    assert trail.output == "0\n0\n1\naudit: only root may say what auditd is to do\n"
    assert len(named(trail.records, "AUE_audit_startup")) == 1


def test_who_is_not_root_is_told(audited) -> None:
    trail = audited("auditd; su student -c '/sbin/auditd 2>&1; /sbin/audit -n 2>&1'")
    assert trail.output == ("auditd: only root may keep the audit trail\n"
                            "audit: only root may say what auditd is to do\n")


def test_what_is_no_trail_is_told(audited) -> None:
    """A terminal is none: nobody types records."""
    trail = audited("praudit </dev/console 2>&1; echo $?; auditreduce </dev/console 2>&1; "
                    "praudit /var/audit 2>&1; praudit nothing 2>&1; praudit /etc/passwd 2>&1",
                    ends=False)
    which = "which trail? name a file, such as /var/audit/current\n"
    assert trail.output == (
        f"praudit: {which}2\nauditreduce: {which}"
        "praudit: /var/audit: behind byte 0: cannot be read: Is a directory\n"
        "praudit: nothing: No such file or directory\n"
        "praudit: /etc/passwd: behind byte 0: there is no record, but a byte 0x72\n")


@pytest.mark.parametrize("line,why", [
    ("flags:xx", "there is no class xx; audit_class has those there are"),
    ("minfree:101", "101 is no percentage"),
    ("policy:cnt,perhaps", "perhaps is no policy: there are cnt, ahlt and argv"),
    ("filesz:many", "many is no size, such as 512K"),
    ("expire-after:2w", "2w is neither a size, such as 10M, nor an age, such as 60d"),
    ("dir:here", "here is no path from the root on"),
    ("colour:red", "there is no setting colour"),
])
def test_a_wrong_line_is_named(audited, line: str, why: str) -> None:
    trail = audited("auditd 2>&1; echo $?", control=line + "\n", ends=False)
    assert re.fullmatch(rf"auditd: /etc/security/audit_control:\d+: {re.escape(why)}\n1\n",
                        trail.output), trail.output


def test_old_files_go(audited) -> None:
    trail = audited(
        "auditd\nfor n in 1 2 3 4 5 6; do ls / >/dev/null; audit -n; sleep 0.02; done\n"
        "sleep 0.1; ls /var/audit | wc -l\n"
        f"echo expire-after:1K >>{CONTROL}\naudit -s\nsleep 0.2\n"
        "ls /var/audit | wc -l", control=ALL)
    before, after = map(int, trail.output.split())
    assert before >= 6 and after <= 2


FULL = "dd() { cat /dev/zero >/var/audit/filler 2>/dev/null; cat /dev/zero >>/var/audit/filler " \
       "2>/dev/null; }\n"


def test_without_room_records_are_dropped_and_counted(audited) -> None:
    """Policy cnt: who works goes on; what is lost is said."""
    trail = audited(
        f"{FULL}auditd\ndd\nn=0; while [ $n -lt 300 ]; do chmod 755 /tmp; n=$((n+1)); done\n"
        "sleep 3; audit -q; rm /var/audit/filler; sleep 2; audit -q",
        control=ALL + "policy:cnt\nqsize:100\n")
    counts = [tuple(map(int, re.findall(r"\d+", line)))
              for line in trail.output.splitlines() if line.startswith("generated")]
    for generated, written, waiting, dropped in counts:
        assert generated == written + waiting + dropped
    assert counts[0][3] > 0, "some were dropped"
    assert "audit: the trail could not be written (error 28)" in trail.log
    assert len(trail.records) >= counts[1][1] > 0


def test_without_room_callers_wait(audited) -> None:
    """No policy: what is audited goes on when there is room, and nothing is lost."""
    trail = audited(
        f"{FULL}auditd\ntouch /tmp/f\ndd\n"
        "su student -c 'n=0; while [ $n -lt 60 ]; do chmod 600 /tmp/f; n=$((n+1)); done; "
        "echo done' &\nsleep 3; echo it waits; rm /var/audit/filler; wait; audit -q",
        control="flags:fm\npolicy:\nqsize:10\n")
    assert trail.output.startswith("it waits\ndone\n"), trail.output
    assert int(re.search(r"calls that waited (\d+)", trail.output)[1]) > 0
    assert "dropped 0" in trail.output
    assert trail.log.count("auditd: the trail could not be written: policy none") == 1
    assert len(named(trail.records, "AUE_CHMOD")) == 60


def test_the_machine_ends_rather_than_lose_a_record(unix_machine, tmp_path: Path) -> None:
    """Policy ahlt: what was done on a full disk is in the trail, all of it."""
    control, trail = tmp_path / "control", tmp_path / "trail"
    control.write_text((ROOT / "boot/disk/etc/security/audit_control").read_text() +
                       "flags:fm\nnaflags:no\nqsize:1000\npolicy:ahlt\n")
    result = unix_machine(
        f"{FULL}auditd\nln /var/audit/*.not_terminated /var/audit/live\ndd\n"
        "while true; do chmod 755 /tmp && echo changed >/dev/log; done", user="root", limit=60,
        files=Files(put=(Put(control, CONTROL),), get=(Get("/var/audit/live", trail),)))
    assert b"audit: the machine ends, since records would be lost (policy ahlt)" in result.log
    assert (result.outcome, result.status) == ("exit", 125), result.log
    modes = named(bsm.read(trail.read_bytes()), "AUE_CHMOD")
    assert len(modes) >= result.log.count(b"changed\n") > 100


def test_thirty_at_once(audited) -> None:
    """Each process's calls are all there, in their order, and nobody else's among them."""
    work = "for n in 1 2 3 4 5 6 7 8; do chmod 60$((n % 8)) /tmp/f$1; done"
    trail = audited(
        f"auditd\necho '{work}' >/tmp/work\nfor p in $(seq 30); do touch /tmp/f$p; "
        "sh /tmp/work $p & done; wait", control="flags:fm\n", cpus=2)
    for number in range(1, 31):
        modes = [record.arguments["mode"] for record in named(trail.records, "AUE_CHMOD")
                 if record.paths == (f"/tmp/f{number}",)]
        assert modes == [0o600 + n % 8 for n in range(1, 9)]


REDUCED = {
    "-m AUE_CHMOD": {"AUE_CHMOD"},
    "-m AUE_CHMOD -m 47": {"AUE_CHMOD", "AUE_MKDIR"},
    "-c fc -u root": {"AUE_MKDIR", "AUE_SYMLINK", "AUE_OPEN_WTC"},
    "-c -fd": {"AUE_UNLINK"},
    "-o file=/tmp/d": {"AUE_MKDIR"},
    "-e student": {"AUE_UNLINK"},
    "-d 20260102": set(),
    "-a 20260101 -b +1d -c fc,fm": {"AUE_MKDIR", "AUE_SYMLINK", "AUE_CHMOD", "AUE_OPEN_WTC"},
    "-v -c all": set(),
}


@pytest.fixture(name="reduced", scope="module")
def reduced_fixture(request) -> list[list[str]]:
    """Names of the events that each choice leaves."""
    commands = "\n".join(f"echo =; auditreduce {words} /var/audit/* | praudit -ls | cut_names"
                         for words in REDUCED)
    result = unix.run(
        "cut_names() { while IFS=, read a b c d e; do echo $d; done; }\n"
        "auditd\n"
        "su student -c 'rm /etc/passwd' 2>/dev/null\n"
        "chmod 700 /root; mkdir /tmp/d; ln -s x /tmp/l\naudit -t\n" + ENDED + commands,
        user="root", limit=60, icount=True,
        files=Files(put=(Put(Path(__file__).parent / "control", CONTROL),)))
    assert (result.outcome, result.status) == ("exit", 0), result.log.decode()
    return [block.split() for block in result.output.decode().split("=\n")[1:]]


def test_records_are_chosen(reduced: list[list[str]]) -> None:
    assert {words: set(names) for words, names in zip(REDUCED, reduced)} == REDUCED


def made_elsewhere() -> bytes:
    """A record as other systems write them: with the attributes of a file, and data of any kind."""
    subject = struct.pack(">B9I", 0x24, STUDENT, 0, 0, STUDENT, STUDENT, 12, 7, 0, 0)
    path = struct.pack(">BH12s", 0x23, 12, b"/etc/passwd\0")
    attribute = struct.pack(">B4IQI", 0x3e, 0o100644, 0, STUDENT, 3, 1 << 33, 9)
    data = struct.pack(">4B2H4B3s", 0x21, 3, 1, 2, 0x1234, 7, 0x21, 4, 0, 3, b"why")
    body = subject + path + attribute + data + struct.pack(">BBI", 0x27, 13, 0xffff_ffff)
    size = 18 + len(body) + 7
    return struct.pack(">BIBHHII", 0x14, size, 11, 72, 0x8000, 1_767_225_600, 5) + body + \
        struct.pack(">BHI", 0x13, bsm.MAGIC, size)


def test_trails_of_other_systems(tmp_path: Path) -> None:
    """What is no token of ours is printed in each way, and kept by auditreduce as it is."""
    made, kept = tmp_path / "made", tmp_path / "kept"
    made.write_bytes(made_elsewhere())
    result = unix.run(
        "cd /tmp; for how in -l -ln -lr; do praudit $how made; echo '|'; done\n"
        "praudit -x made | grep attr; echo '|'\n"
        "auditreduce -o file=/etc/passwd made >kept; praudit made | grep attr",
        user="root", limit=60, icount=True,
        files=Files(put=(Put(made, "/tmp/made"),), get=(Get("/tmp/kept", kept),)))
    assert (result.outcome, result.status) == ("exit", 0), result.log.decode()
    plain, numbers, raw, xml, line = (part.strip() for part in result.output.decode().split("|\n"))
    shown = "hex,short,2,0x1234,0x7,{},string,byte,3,why,"
    data = ",arbitrary," + shown.format("arbitrary")
    assert f",path,/etc/passwd,attribute,100644,root,student,3,8589934592,9{data}return," in plain
    assert f",attribute,100644,0,100,3,8589934592,9{data}return," in numbers
    assert f",62,100644,0,100,3,8589934592,9,33,{shown.format(33)}39," in raw
    assert xml == ('<attribute mode="100644" uid="root" gid="student" fsid="3" '
                   'nodeid="8589934592" device="9"/>')
    assert line == "attribute,100644,root,student,3,8589934592,9"
    assert kept.read_bytes() == made.read_bytes()
    record, = bsm.read(kept.read_bytes())
    assert record.data == ((3, (0x1234, 7)), (4, tuple(b"why")))
    assert record.attributes == ((0o100644, 0, STUDENT, 3, 1 << 33, 9),)
