# SPDX-License-Identifier: MIT
"""hostprof: the kernel's part of a recording of the host."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import OUT
from assay.files import Files, Get
from libprof.gmon_reader import EXTRA_END, Gmon, Image, code, parse, pcs, values

KERNEL = OUT / "mach_kernel"
LABEL, LABEL_PID, LABEL_NAME, KERNEL_MODE, OTHERS = 0x20, 0x21, 0x22, 22, 23
OPTIONS, SAMPLE_NMI = 6, 4

# The program makes calls of the Unix server, so messages.
CALLS = "for i in 1 2 3 4 5 6 7 8; do callbench >/dev/null; done"

COMMANDS = {
    "before": "hostprof",
    "nothing": "hostprof -p",
    "begin": "hostprof -B",
    "work": f"{CALLS}; hostprof -p; mv gmon.out running",
    "halt": f"{CALLS}; hostprof -hp; mv gmon.out halted",
    "off": f"{CALLS}; hostprof -p; mv gmon.out again",
    "resume": f"hostprof -B; {CALLS}; hostprof -hp; mv gmon.out resumed",
    "zeroed": f"hostprof -B; {CALLS}; hostprof -r; hostprof -hp; mv gmon.out zeroed",
    "another rate": "hostprof -b; hostprof -p; mv gmon.out slow; hostprof",
    "unwritable": "mkdir /tmp/d; cd /tmp/d; mkdir gmon.out; hostprof -pr; rmdir gmon.out; "
                  "hostprof -p >/dev/null; ls",
    "nobody else": "su student -c '/sbin/hostprof; /sbin/hostprof -b'",
    "end": "hostprof -hr; ps -a | grep '[h]ostprof'; hostprof",
    "interrupts": f"hostprof -B -i; {CALLS}; {CALLS}; hostprof -hpr; mv gmon.out interrupts",
    "usual": f"hostprof -B; {CALLS}; {CALLS}; hostprof -hpr; mv gmon.out usual",
    "nmi": f"hostprof -B -n; {CALLS}; {CALLS}; hostprof -hpr; mv gmon.out nmi",
    "wrong": "hostprof -b -h; hostprof -x; hostprof word; hostprof -i; hostprof -b -n -i",
    "no name server": "set -- $(ps -a | grep '[s]names'); kill -9 $2; hostprof -b",
}
FILES = ("running", "halted", "again", "resumed", "zeroed", "interrupts", "usual", "nmi", "slow")
SUMS = re.compile(r"host profiling is (running|off)\n(\d+) samples, 0 lost, at (\d+) Hz")


@pytest.fixture(name="said", scope="module")
def said_fixture(run_cases, tmp_path_factory):
    """What each command said, and the files, all of one machine."""
    folder = tmp_path_factory.mktemp("hostprof")
    files = Files(size=32, get=tuple(Get(f"/root/{name}", folder / name) for name in FILES))
    said = run_cases(COMMANDS, user="root", files=files)
    return said, {name: parse((folder / name).read_bytes()) for name in FILES}


def functions(gmon: Gmon) -> Counter:
    lines = [line.split() for line in Path(f"{KERNEL}.sym").read_text().splitlines()]
    table = [(int(words[0], 16), words[2]) for words in lines if words[1] in "tT"]
    found: Counter = Counter()
    for pc, count in pcs(gmon, 0).items():
        found[[name for start, name in table if start <= pc][-1].partition(".")[0]] += count
    return found


def test_what_it_says(said) -> None:
    text = {name: one.text for name, one in said[0].items()}
    status = {name: one.status for name, one in said[0].items()}
    assert (text["before"], status["before"]) == ("host profiling is off", 0)
    assert (text["nothing"], status["nothing"]) == (
        "hostprof: -p: nothing was collected; begin by: hostprof -b", 1)
    running, taken, rate = SUMS.match(text["begin"]).groups()
    assert (running, rate) == ("running", "10000") and int(taken) < 100  # It has just begun.
    assert SUMS.search(text["halt"])[1] == "off"
    assert SUMS.search(text["off"])[2] == SUMS.search(text["halt"])[2]
    assert text["another rate"].count(" Hz") == text["another rate"].count(" at 1000 Hz") == 3
    assert "gmon.out: Is a directory; nothing is lost, the collector still has it" in \
        text["unwritable"] and text["unwritable"].endswith("\ngmon.out")
    only_root = "hostprof: only root may do that: it is about the whole machine"
    assert text["nobody else"].splitlines() == [only_root] * 2
    assert text["end"].splitlines() == ["host profiling is off"] * 2
    usage = "usage: hostprof [-b [-n|-i] | -B [-n|-i] | -h] [-p [-l HOW]] [-r]"
    assert text["wrong"].count(usage) == 5
    assert status["wrong"] == 2
    assert (text["no name server"], status["no name server"]) == (
        "hostprof: there is no name server: root starts it by `snames &`", 1)


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_missing(said, name: str) -> None:
    value = values(said[1][name])
    due, fired, missed, idle, elsewhere, taken = (value[n] for n in range(9, 15))
    all_taken, delivered, lost, buffered = (value[n] for n in range(15, 19))
    assert due == fired + missed + value[26] and fired == idle + elsewhere + taken
    assert all_taken == delivered + lost + buffered and (lost, elsewhere) == (0, 0)
    # One may come while the message with the others is made.
    assert buffered <= (name == "running")
    assert value[KERNEL_MODE] + value[OTHERS] == delivered
    assert sum(pcs(said[1][name], 0).values()) == value[KERNEL_MODE]
    assert sum(count for source, _, count in said[1][name].arcs if source == LABEL) == \
        value[KERNEL_MODE]
    (low, high, rate, _, bins), = said[1][name].histograms
    assert sum(bins) == value[KERNEL_MODE] and rate == (1000 if name == "slow" else 10000)
    assert all(low <= pc < high for pc in pcs(said[1][name], 0))
    assert not [arc for arc in said[1][name].arcs if arc[0] >= EXTRA_END]


def test_it_is_where_the_kernel_works(said) -> None:
    found = functions(said[1]["halted"])
    assert sum(found.values()) > 500
    assert {"trap_mach_msg", "copy_bytes", "machine_switch"} <= set(found), found


def test_it_goes_on_where_it_was_halted(said) -> None:
    """Nothing of the time between, and all of the time before; a reset and a rate begin anew."""
    taken = {name: values(gmon)[15] for name, gmon in said[1].items()}
    assert taken["running"] < 0.6 * taken["halted"]
    assert 1.3 * taken["halted"] < taken["resumed"] < 1.7 * taken["halted"]
    assert taken["zeroed"] < 0.2 * taken["halted"]
    assert taken["slow"] < 20


def test_after_a_halt_nothing_is_added(said) -> None:
    halted, again = ([arc for arc in said[1][name].arcs if not LABEL < arc[0] < 0x30]
                     for name in ("halted", "again"))
    assert halted == again


def test_the_file_says_of_which_kernel(said) -> None:
    image = Image(KERNEL)
    (start, size, found), = code(said[1]["halted"])
    assert (values(said[1]["halted"])[24], values(said[1]["halted"])[25]) == image.text
    assert (start, start + size) == (image.text[0], image.text[1] & ~3)
    assert found == image.sum(start, size)


def test_gprofs_read_it(said, tmp_path_factory) -> None:
    """Ours and GNU's name the same functions with the same times."""
    file = tmp_path_factory.getbasetemp() / "hostprof0" / "halted"
    ours = subprocess.run([OUT / "bin" / "gprof", "-b", KERNEL, file], check=True, text=True,
                          capture_output=True).stdout.partition("Flat profile")[2]
    gnus = subprocess.run(["gprof", "-b", "-p", KERNEL, file], check=True, text=True,
                          capture_output=True).stdout
    total = values(said[1]["halted"])[KERNEL_MODE]
    for text, name_at in (ours, -1), (gnus, -1):
        rows = {row.split()[name_at]: float(row.split()[0]) for row in text.splitlines()
                if re.match(r" *\d+\.\d+ ", row)}
        for name in "trap_mach_msg", "machine_switch":
            assert abs(rows[name] - 100 * functions(said[1]["halted"])[name] / total) < 0.5, text


def test_on_whose_behalf(said) -> None:
    """Who made the calls has ended, the last of them are known; nearly all was for them."""
    rows = re.findall(r"^ *(\d+\.\d) % +(\d+)  (.*)$", said[0]["halt"].text, re.M)
    shares = [(row[2].split()[-1], int(row[1])) for row in rows if row[2] != "the system"]
    work = [(name, share) for name, share in shares if name in ("callbench", "true", "ended")]
    assert sum(share for _, share in work) > 0.75 * sum(share for _, share in shares), rows
    assert len([name for name, _ in work if name == "callbench"]) > 5, rows
    assert sum(int(row[1]) for row in rows) == values(said[1]["halted"])[KERNEL_MODE]
    names: dict[int, bytes] = {}
    for source, task, word in said[1]["halted"].arcs:
        if LABEL_NAME <= source < LABEL_NAME + 8:
            names[task] = names.get(task, b"") + word.to_bytes(4, "little")
    pids = {task: number - 1 for source, task, number in said[1]["halted"].arcs
            if source == LABEL_PID}
    assert set(pids) == set(names)
    assert {str(pid) for pid in pids.values()} == \
        {row[2].split()[0] for row in rows} - {"what", "the"}
    assert {row[2].split()[1] for row in rows if row[2][0].isdigit()} <= \
        {name.rstrip(bytes(1)).decode() for name in names.values()}


def test_code_with_interrupts_off_is_seen_by_nmi(said) -> None:
    """An interrupt waits for the instruction that lets it in; by NMI it is unless -i says no."""
    found = {name: functions(said[1][name]) for name in ("interrupts", "usual", "nmi")}
    assert {name: said[0][name].status for name in found} == dict.fromkeys(found, 0)
    assert not found["interrupts"]["restore_user"]
    assert found["usual"]["restore_user"] and found["nmi"]["restore_user"]
    assert values(said[1]["interrupts"])[OPTIONS] & SAMPLE_NMI == 0
    assert values(said[1]["usual"])[OPTIONS] & values(said[1]["nmi"])[OPTIONS] & SAMPLE_NMI
