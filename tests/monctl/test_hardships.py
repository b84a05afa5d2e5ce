# SPDX-License-Identifier: MIT
"""Programs that end, stop or do not trust; files that cannot be written; options that must stay."""

import re
import subprocess
from pathlib import Path

import pytest
from assay import OUT
from assay.files import Files, Get, Put
from libprof.gmon_reader import parse, pcs, values

from monctl import perf_data

PROGRAMS = Path(__file__).parent / "programs"
OTHERS = 23
SPIN = "while :; do :; done"


def compiled(folder: Path, name: str, *options: str, to: str = "") -> Put:
    program = folder / (to or name)
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-pg", "-Wall", "-Wextra", "-Werror", *options,
                    "-o", program, PROGRAMS / f"{name}.c"], check=True)
    return Put(program, f"/tmp/{program.name}")


def keys(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


# What is there stays, what was collected too; who waits for room is in the background.
NO_ROOM = """
cd /tmp; echo old >f; echo old >r; cat /dev/zero >fill
monctl -monfile none -run slowprog 20; echo $?; set -- $(ps -a | grep '[m]onctl'); kill $2
while ps -a | grep -q '[m]onctl'; do sleep 0.05; done; ls none
slowprog 300 >/dev/null & P=$!; monctl -pid $P -proxy -on periodic -monfile f & X=$!
monctl -pid $P -monfile f; monctl -pid $P -monfile none; wait $X; echo $?
monctl -record r -run slowprog 20 | cat >/dev/null; cat f r; ls none
rm fill; while ps -a | grep -q '[m]onctl'; do sleep 0.05; done
"""

# $P is the program's number.
ENDS = {
    # It runs by then, and has ended before the file has been read, which is made long for that.
    "while it gets ready": "S=/bin/sh; cat $S $S >c; cp /bin/sleep long; "
                           "for i in $(seq 46); do cat c; done >>long; "
                           "sleep 0.045 & sleep 0.03; "
                           "monctl -pid $! -proxy -execfile long -on periodic; "
                           "rm -f c long",
    "before": "sleep 0 & P=$!; wait $P; monctl -pid $P -proxy",
    "not waited for": "sh -c 'sleep 0 & echo $! >z; exec sleep 1000' & Q=$!; sleep 0.2; "
                      "monctl -pid $(cat z) -status; kill $Q",
    "under its proxy": "sleep 1000 & P=$!; monctl -pid $P -proxy & X=$!; "
                       "monctl -pid $P -status >/dev/null; kill -STOP $X; "
                       "monctl -pid $P -on periodic & C=$!; sleep 0.1; kill $P; kill -CONT $X; "
                       "wait $C; echo $?; wait $X",
    "stopped": "sleep 1000 & P=$!; monctl -pid $P -proxy & X=$!; "
               "monctl -pid $P -status >/dev/null; kill -STOP $X; monctl -pid $P -status; echo $?; "
               "kill -9 $X; kill $P",
    "old file": "echo old >f; sleep 1000 & P=$!; monctl -pid $P -record f -thread 99999; cat f; "
                "kill $P",
    "link": "sleep 1000 & P=$!; echo precious >p; ln p /tmp/gmon.out.$P; "
            "monctl -pid $P -proxy -monfile /nowhere/f & X=$!; monctl -pid $P -status >/dev/null; "
            "kill $P; wait $X; cat p",
    "full disk": "sleep 1000 & P=$!; monctl -pid $P -proxy -monfile /dev/full & X=$!; "
                 "monctl -pid $P -off -monfile /dev/full; kill $P; wait $X",
    "own full disk": NO_ROOM,
    # Its names, its owner and its mode stay; the program is no place for its profile.
    "older files": "mkdir /tmp/o; cd /tmp/o; cp /bin/slowprog own; ./own 100000 >/dev/null & P=$!; "
                   "monctl -pid $P -proxy -bg -monfile end; echo old >f; ln f g; ln -s f l; "
                   "monctl -pid $P -monfile l; cmp f g && rm g; chmod 640 f; chown student f; "
                   "monctl -pid $P -monfile f; ls -l f; monctl -pid $P -monfile own; "
                   "monctl -pid $P -proxy -monfile own; monctl -pid $P -record own; ./own 1; "
                   "kill $P; until [ -s end ]; do sleep 0.05; done; ls | cat",
    "executes": "sh -c 'sleep 0.2; exec sleep 1000' & P=$!; monctl -pid $P -proxy -monfile e; "
                "kill $P",
    "rates": "sleep 1000 & P=$!; monctl -pid $P -proxy -bg -monfile end; "
             "monctl -pid $P -on periodic -rate 5000; monctl -pid $P -monfile one; "
             "monctl -pid $P -monfile two -format bsd -status; monctl -pid $P -monfile three; "
             "cmp one three; od -c three | head -n 1; kill $P; sleep 0.2",
    "at once": "sleep 1000 & P=$!; sleep 1000 & Q=$!; monctl -pid $Q -proxy -bg -monfile e; "
               "time monctl -pid $P -status; kill $P $Q",
}


NO_ROOM_SAYS = (
    r"cat: .*\nmonctl: process (\d+)\nslowprog: .*\nmonctl: none: No space left on device\n"
    r"monctl: /tmp/gmon.out.\1: No space left on device\n"
    r"monctl: the profile is in no file yet; process (\d+) keeps it, and writes it to none when "
    r"there is room; kill \2 gives it up\nprocess \1: \d+ samples, 0 lost, not written\n1\n"
    r"ls: none: No such file.*\n"
    r"monctl: f: No space left on device; nothing is lost, .*\nmonctl: none: No space left.*\n"
    r"monctl: f: No space left.*\nmonctl: /tmp/.*\nmonctl: the profile is in no file yet; .*\n"
    r"process \d+: \d+ samples, 0 lost, not written\n1\n"
    r"monctl: process (\d+)\n"
    r"monctl: r: No space left on device; what is recorded is kept, to be written later\n"
    r"monctl: r: No space left on device\nmonctl: the rest of the recording is in no file yet; .*\n"
    r"process \3: (\d+) samples, 0 lost, not written\nold\nold\nls: none: .*$")


def test_what_ends_and_what_stays(cases, tmp_path: Path) -> None:
    files = Files(size=48, get=(Get("/tmp/r", tmp_path / "r"), Get("/tmp/f", tmp_path / "f")))
    said = cases(ENDS, user="root", files=files)
    text = {name: one.text for name, one in said.items()}
    assert re.search(r"process \d+ has ended meanwhile; one that ends soon is sampled by: "
                     "monctl -run COMMAND", text["while it gets ready"])
    for name in "before", "not waited for":
        assert re.search("there is no process .* monctl -run COMMAND", text[name]), text
    assert re.search(r"it has ended meanwhile; what was collected of it is in the file that it, or "
                     r"its proxy, writes at the end\n", text["under its proxy"]), text
    assert "if it or its proxy is stopped (T in ps -a), kill -CONT" in text["stopped"]
    assert "has no thread 99999" in text["old file"] and text["old file"].endswith("\nold")
    assert re.search(r"kept in /tmp/gmon.out.(\d+).1\n(.*\n)*precious$", text["link"]), text
    assert "/dev/full: No space left on device; nothing is lost, the program still has it" in \
        text["full disk"]
    assert re.search(r"kept in /tmp/gmon.out.\d+\n", text["full disk"])
    without_room = re.match(NO_ROOM_SAYS, text["own full disk"])
    assert without_room, text["own full disk"]
    rest = perf_data.read((tmp_path / "r").read_bytes())
    assert rest.counts["delivered"] == len(rest.samples) == int(without_room[4]) > 20
    assert sum(pcs(parse((tmp_path / "f").read_bytes()), 0).values()) > 20
    assert re.fullmatch(r"monctl: process (\d+) samples in the background; kill \1 ends it\n"
                        r"-rw-r-----  +1 student +wheel .*\n"
                        r"(monctl: own is the program that process \d+ executes; name another "
                        r"file\n){3}slowprog: .*\n"
                        r"process \d+: [1-9]\d* samples, 0 lost, end\nend\nf\nl\nown",
                        text["older files"]), text["older files"]
    assert re.search(r"0 lost, e\n.* executes another program now, which was not sampled",
                     text["executes"]), text
    assert keys(text["rates"])["rate"] == "5000"
    assert re.search(r"0000000 +g +m +o +n", text["rates"]), text
    assert "exports no profiling" in text["at once"]
    assert float(re.search(r"real +(\d+\.\d+)", text["at once"])[1]) < 0.05, text["at once"]


def test_no_other_s_samples_in_a_proxy_s_file(cases, tmp_path: Path) -> None:
    """What is done for one process, of another: and of the whole machine until the target ends."""
    said = cases({
        "for": f"sleep 1000 & B=$!; sh -c '{SPIN}' & A=$!; "
               "monctl -pid $B -proxy -for $A -on periodic -monfile f & X=$!; sleep 1; kill $B; "
               "wait $X",
        # What spins on has nothing to do with the target's end.
        "all": "sleep 1000 & B=$!; monctl -pid $B -record r -for all & X=$!; sleep 0.3; "
               "kill -9 $B; wait $X; kill $A",
        "run": "slowprog 1 >/dev/null",
    }, user="root", files=Files(get=(Get("/root/f", tmp_path / "f"),
                                     Get("/root/r", tmp_path / "r"))))
    assert all(one.status == 0 for one in said.values()), said
    gmon = parse((tmp_path / "f").read_bytes())
    value = values(gmon)
    assert value[OTHERS] > 20 and sum(pcs(gmon, 0).values()) == 0
    assert value[OTHERS] + sum(pcs(gmon, 1).values()) == value[16]
    recording = perf_data.read((tmp_path / "r").read_bytes())
    assert recording.counts["others"] > 20
    assert recording.counts["delivered"] == len(recording.samples) + recording.counts["others"]


def test_what_anybody_may_try(cases, tmp_path: Path) -> None:
    """The name stays the program's, it goes on answering, and ends as it would."""
    said = cases({"attack": "cd /tmp; ./attack; echo $?; ls gmon.out",
                  "crowd": "cd /tmp; ./crowd >ready & P=$!; "
                           "until [ -s ready ]; do sleep 0.05; done; "
                           "monctl -pid $P -live 1 -thread 1; kill $P"},
                 files=Files(put=(compiled(tmp_path, "attack"), compiled(tmp_path, "crowd"))))
    assert said["attack"].text.split() == ["found", "1", "taken", "0", "removed", "0", "sent", "1",
                                           "answers", "1", "3", "gmon.out"]
    assert re.search(r"has no thread 1; it has( \d+){20,40} \.\.\.(\n|$)", said["crowd"].text), said


def test_a_program_for_its_owner_only(cases, tmp_path: Path) -> None:
    """By its token; and its own options, such as the format, are not monctl's."""
    said = cases({
        "start": "cd /tmp; mkdir d; chmod 777 d; cd d; "
                 "su student -c '../exports >/dev/null 2>&1 & echo $! >p'",
        "other": "su ta -c 'monctl -pid $(cat /tmp/d/p) -status'",
        "owner": "su student -c 'cd /tmp/d; monctl -pid $(cat p) -on periodic -rate 100; "
                 "monctl -pid $(cat p) -off -monfile first -status'",
        "root": "cd /tmp/d; monctl -pid $(cat p) -monfile second -format gnu -status | grep pid",
        "proxy": "monctl -pid $(cat /tmp/d/p) -proxy",
        "end": "cd /tmp/d; kill $(cat p); sleep 0.5; ls",
        "run": "cd /tmp/d; monctl -run ../exports",
        "open to all": "cd /tmp/d; su student -c '../open >/dev/null 2>&1 & echo $! >q'; "
                       "until monctl -pid $(cat q) -status >/dev/null 2>&1; do sleep 0.01; done; "
                       "su ta -c 'monctl -pid $(cat q) -on periodic -rate 200; "
                       "monctl -pid $(cat q) -off -status'; kill $(cat q)",
        "stopped": "cd /tmp; ./open >/dev/null 2>&1 & P=$!; monctl -pid $P -status >/dev/null; "
                   "kill -STOP $P; monctl -pid $P -proxy; echo $?; kill -9 $P",
        "run into": "cd /tmp/d; rm -f gmon.out; monctl -monfile m -run ../exports & X=$!; "
                    "sleep 0.3; kill $X; wait $X; ls",
    }, user="root", files=Files(put=(compiled(tmp_path, "exports"),
                                     compiled(tmp_path, "exports", "-DFOR_ALL", to="open")),
                                get=(Get("/tmp/d/first", tmp_path / "first"),
                                     Get("/tmp/d/second", tmp_path / "second"))))
    assert said["other"].status == 1
    assert "only its owner and root may control this program's profiling" in said["other"].text
    status = keys(said["owner"].text)
    assert (status["flavors"], status["rate"], status["arcs"]) == ("none", "100", "1")
    assert (tmp_path / "first").read_bytes()[:4] != b"gmon"
    assert (tmp_path / "second").read_bytes()[:4] == b"gmon"
    assert "exports its own profiling" in said["proxy"].text
    assert keys(said["open to all"].text).get("rate") == "200", said["open to all"]
    assert re.search(r"process \d+: there is no answer; if it .*\n1$", said["stopped"].text), said
    assert "gmon.out" in said["end"].text.split()
    assert "writes gmon.out by itself; say -monfile FILE" in said["run"].text
    assert {"gmon.out", "m"} <= set(said["run into"].text.split())


def test_proxy_of_a_server_without_profiling(unix_machine) -> None:
    result = unix_machine(
        "exec 2>&1; cd; monctl -pid 0 -status; monctl -pid 0 -proxy -execfile /bin/sh; "
        "monctl -pid 0 -proxy -monfile u & X=$!; monctl -pid 0 -on periodic -rate 5000; "
        "readprog /bin/sh; ls -l /bin >/dev/null; monctl -pid 0 -off -status; "
        "kill -TERM $X; wait $X; echo $?",
        user="root", server="ux-none", limit=60)
    text = result.output.decode()
    assert "UX was built without profiling; start a proxy: monctl -pid 0 -proxy" in text
    assert "/bin/sh is not what process 0 executes" in text
    status = keys(text)
    assert (status["pid"], status["flavors"], status["rate"]) == ("0", "none", "5000"), text
    assert int(status["taken"]) > 0 and int(status["proxy"]) > 0
    assert re.search(r"process 0: \d+ samples, 0 lost, u\n0$", text.strip())


# As Mach 3.0's note on profiling types it, and what it leaves to be typed: some work, and the end.
RECIPE = """exec 2>&1; ls -l /mach_servers/startup; cd /tmp
monctl -proxy -pid 0 -execfile /../../mach_servers/startup&
monctl -pid 0 -on periodic
for n in 1 2 3 4 5 6 7 8 9; do ls -l /bin /dev >/dev/null; readprog /bin/sh; done
monctl -pid 0 -off
monctl -pid 0 -off monfile /tmp/uxmon.out
kill $!; wait $!
gprof -b -p /mach_servers/startup uxmon.out
"""


def test_the_recipe_for_a_server_without_libprof(unix_machine, tmp_path: Path) -> None:
    """`--ux` puts the server where the recipe looks for it: its own symbols are found, by both."""
    profile = tmp_path / "uxmon.out"
    result = unix_machine(RECIPE, user="root", server="ux-none", limit=60,
                          files=Files(get=(Get("/tmp/uxmon.out", profile),)))
    text = result.output.decode()
    assert (result.outcome, result.status) == ("exit", 0), text
    assert re.match(r"-rw[-x]r-[-x]r-[-x] +1 root +", text), text
    host = subprocess.run([OUT / "bin" / "gprof", "-b", "-p", OUT / "servers" / "ux-none", profile],
                          capture_output=True, text=True, check=False)
    assert (host.returncode, host.stderr) == (0, ""), host
    row = re.compile(r"^ *\d+\.\d .* (\S+)$", re.M)
    assert row.findall(host.stdout) == row.findall(text) != [], (host.stdout, text)


@pytest.mark.parametrize("command", ["-monfile g -run slowprog 1", "-record g -run slowprog 1"])
def test_a_clock_that_is_not_exact_is_told(unix_machine, command: str) -> None:
    result = unix_machine(f"cd; monctl {command} 2>&1", limit=60, icount=False, accel="tcg")
    assert result.output.count(b"the emulator interrupts only between blocks") == 1
