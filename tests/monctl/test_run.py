# SPDX-License-Identifier: MIT
"""monctl -run and -live."""

import re
import struct
from pathlib import Path

from assay import OUT
from assay.files import Files, Get
from assay.symbols import symbol_address
from prof import shares

SLOWPROG = OUT / "user" / "slowprog"


def test_run(cases, tmp_path: Path) -> None:
    """The command's output and status are its own, and monctl's words are on standard error."""
    said = cases({
        "plain": "slowprog 20 >plain; monctl -run slowprog 20 >run 2>said; echo $?; "
                 "cmp plain run; cat said; mv gmon.out first",
        "status": "monctl -run sh -c 'exit 3' 2>/dev/null",
        "signal": "monctl -run sh -c 'kill -9 $$' 2>/dev/null",
        "no command": "monctl -run nothing",
        "no program": "echo text >text; monctl -run ./text",
        "killed": "monctl -monfile killed -run sleep 1000 2>said & M=$!; "
                  "sleep 0.2; kill $M; wait $M; echo $?; cat said",
        "unwritable": "monctl -monfile /nowhere/f -run slowprog 1; echo $?; ls /tmp",
        "rate": "monctl -rate 100 -monfile slow -run slowprog 20 2>said; cat said",
        # It works for 3 ms after every other tick of the scheduler, so of 20: 50 times.
        "fixed": "monctl -rate 100 -fixed -run lockstep 50 2>&1",
        "random": "monctl -rate 100 -run lockstep 50 2>&1",
    }, files=Files(get=(Get("/home/student/first", tmp_path / "first"),)))
    plain = re.fullmatch(r"0\nmonctl: process (\d+)\nprocess \1: (\d+) samples, 0 lost, gmon.out",
                         said["plain"].text)
    assert plain, said["plain"]
    assert said["status"].status == 3
    assert said["signal"].status == 128 + 9
    assert said["no command"] == ("monctl: nothing: there is no such command", 127)
    assert said["no program"].status == 126
    assert re.search(r"^143\n(.*\n)*process \d+: \d+ samples, 0 lost, killed$",
                     said["killed"].text), said["killed"]
    assert re.search(r"/nowhere/f: No such file.*kept in (/tmp/(gmon.out.\d+)).*\1\n1\n\2$",
                     said["unwritable"].text, re.S), said["unwritable"]
    slow = int(re.search(r"(\d+) samples", said["rate"].text)[1])
    shares.check_times(slow, int(plain[2]) / 10)

    # In step with it, at whatever moment the first came: all or nothing, and perhaps one more that
    # found the program before or behind its steps.
    fixed = int(re.search(r": (\d+) samples, 0 lost", said["fixed"].text)[1])
    assert fixed in (0, 1, 49, 50, 51), said["fixed"]
    random = int(re.search(r": (\d+) samples, 0 lost", said["random"].text)[1])
    shares.check({"works": random, "sleeps": 100 - random}, {"works": 3, "sleeps": 17})
    assert random > 0, said["random"]

    # All but what the kernel and libc did is in the four functions.
    data = (tmp_path / "first").read_bytes()
    low, high, bins, rate = struct.unpack_from("<4I", data, 21)
    counts = struct.unpack_from(f"<{bins}H", data, 21 + 32)
    assert rate == 1000 and low <= symbol_address(SLOWPROG, "ten") < high
    assert sum(counts) > 0.95 * int(plain[2])


LIVE = "monctl -live -run slowprog 240 2>/dev/null | cat"


def test_live(unix_machine) -> None:
    """One after a second, and one at the command's end; the same each time."""
    one, other = (unix_machine(LIVE, limit=60) for _ in range(2))
    assert one.outcome == "exit", one.message
    assert one.output == other.output
    tables = re.sub("slowprog: .*\n", "", one.output.decode()).split("\n\n")
    assert len(tables) == 2
    for table in tables:
        title, heads, *rows = table.splitlines()
        assert int(re.fullmatch(r"(\d+) samples, 0 lost", title)[1]) > 200
        assert heads.split() == ["share", "periodic", "function"]
        assert [row.split()[-1] for row in rows[:4]] == ["forty", "thirty", "twenty", "ten"]
        shares.check({row.split()[-1]: int(row.split()[2]) for row in rows[:4]},
                     {"ten": 10, "twenty": 20, "thirty": 30, "forty": 40})


def test_live_of_events(cases) -> None:
    """A column for each flavor, and an end with the target's."""
    text, status = cases({
        "live": "monctl -on 'SAMPLED_PC_VM_ZFILL_FAULTS|cow' -live -run vmprog 100 | cat"})["live"]
    rows = {row.split()[-1]: row.split() for row in text.splitlines() if "%" in row}
    assert status == 0
    assert "zfill          cow  function" in text
    assert rows["touch_new"][2:4] == ["100", "0"], text


C_NAMES = {
    "SAMPLED_PC_PERIODIC": "periodic", "SAMPLED_PC_VM_ZFILL_FAULTS": "zfill",
    "SAMPLED_PC_VM_REACTIVATION_FAULTS": "reactivation", "SAMPLED_PC_VM_PAGEIN_FAULTS": "pagein",
    "SAMPLED_PC_VM_COW_FAULTS": "cow", "SAMPLED_PC_VM_FAULTS_ANY": "any",
    "SAMPLED_PC_VM_FAULTS": "zfill reactivation pagein cow"}


def test_flavors_by_their_c_names(cases) -> None:
    """Those of the header, of which no other two say the same."""
    header = (OUT / "sdk" / "include" / "mach" / "pc_sample.h").read_text()
    assert set(re.findall(r"#define (SAMPLED_PC_\w+)", header)) - {"SAMPLED_PC_ALL"} == {
        *C_NAMES, "SAMPLED_PC_WAIT"}
    said = cases({
        "wait": "monctl -on SAMPLED_PC_WAIT -live -run true 2>&1",
        **{name: f"monctl -on {name} -live -run slowprog 1 2>/dev/null | grep function"
           for name in C_NAMES}})
    assert "-on wait goes with -record only" in said["wait"].text
    for name, ours in C_NAMES.items():
        assert said[name].text.split()[-1 - len(ours.split()):-1] == ours.split(), said[name]
