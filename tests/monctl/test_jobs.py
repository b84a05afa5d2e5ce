# SPDX-License-Identifier: MIT
"""Jobs: monctl -children and -for job:PID, top, hostprof -l, and what recordings say of descent."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import OUT
from assay.files import Files, Get
from libprof.gmon_reader import parse, values

from monctl import perf_data
from prof import shares

HOME = "/home/student"
OTHERS = 23
# A program, commands in a loop, and a shell in between.
JOB = ("sh -c 'slowprog 20; for i in 1 2 3; do sh -c \"slowprog 4; true\"; done; "
       "wc -c /bin/sh; true'")
RUNS = 20 + 3 * 4
# Two loops side by side, of which one does three times as much; -for follows the first.
PAIR = ("(for i in 1 2 3; do slowprog 60 >/dev/null; done) & A=$!; "
        "(for i in 1 2 3; do slowprog 20 >/dev/null; done) & B=$!; ")

COMMANDS = {
    "run": f"mkdir r; cd r; monctl -children -run {JOB} >/dev/null 2>../said; echo $?; "
           "cat ../said; echo gmon.out*",
    "at once": "mkdir a; cd a; monctl -children -run sh -c 'slowprog 20 & slowprog 20 & wait; "
               "true' 2>&1 >/dev/null",
    # A program with another in its file's place, and others whose names would be alike.
    "replaced": "mkdir b b/d; cd b; cp /bin/sh job; cp /bin/slowprog n; cp n job.1; cp n d/job; "
                "monctl -children -run ./job -c './job.1 4; mv n job; ./job 20; d/job 40; true' "
                "2>&1 >/dev/null; echo; wc -c gmon.out*",
    "proxy": "sh -c 'sleep 0.3; slowprog 20; slowprog 20; true' >/dev/null & P=$!; "
             "monctl -pid $P -proxy -children -on periodic -monfile p; wait; rm p p.*",
    "status": "monctl -children -run sh -c 'slowprog 2 >/dev/null; exit 3' 2>/dev/null",
    "alone": "monctl -run sh -c 'slowprog 2; true'",
    "became": "monctl -run sh -c 'exec slowprog 2'",
    "of a shell": "sh -c 'slowprog 40; slowprog 40; true' >/dev/null & P=$!; "
                  "monctl -pid $P -children -record later; wait",
    "left over": "monctl -children -run sh -c 'sleep 1000 &' 2>/dev/null; echo $?; kill -9 $!; "
                 "ps -a | grep '[s]leep' >/dev/null && echo it goes on",
    "recorded": f"monctl -children -record file -run {JOB} 2>&1 >/dev/null",
    "by job": f"monctl -children -live 1 -by job -run {JOB} 2>/dev/null | cat",
    "by flavor": "monctl -on periodic,zfill -live -by command -run vmprog 2000 2>/dev/null | cat",
    "by what": "monctl -live -by nothing -run true",
    "both": "monctl -children -for 1 -live",
    "nobody else": "monctl -for job:$$ -live; /sbin/top",
}
ROOTS = {
    "other user": "cp /bin/slowprog /tmp/suid; chmod 4755 /tmp/suid; cp /bin/slowprog /tmp/own; "
                  "cd /tmp; su student -c 'cd; monctl -children -run "
                  "sh -c \"/tmp/suid 20; /tmp/own 10\" 2>&1 >/dev/null; ls gmon.out*'",
    "for a job": PAIR + "monctl -for job:$A -live -by command | cat; wait $B",
    "recorded": PAIR + "monctl -for job:$A -record all; wait $B; echo $A",
    "one that goes on": "{ slowprog 60; exec slowprog 40; } >/dev/null & "
                        "monctl -for $! -live | cat",
    "for one": PAIR + "monctl -for $A -live -by process | cat; wait $B; echo $A",
    "top": PAIR + "top -n 1 -d 1 -by job | cat; kill $A $B; wait",
    "top of users": "su student -c 'slowprog 300 >/dev/null' & top -n 1 -by user | cat; wait",
    "top, twice": "top -n 2 -r 100 | cat",
    "wrong": "top -by nothing; top -d 0; top -x 1; top -n; hostprof -l job; hostprof -p -l nothing",
    "kernel": "hostprof -B >/dev/null; for i in 1 2 3 4 5 6 7 8; do callbench >/dev/null; done; "
              "hostprof -hp -l command; hostprof -p -l user; hostprof -pr -l job",
}
ROW = re.compile(r"^ *([\d.]+) % +(\d+) +([\d.]+) % +(\d+)  ( *)(.*)$", re.MULTILINE)


@pytest.fixture(name="job", scope="module")
def job_fixture(run_cases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    names = ("r/gmon.out.slowprog", "file", "later")
    files = Files(get=tuple(Get(f"{HOME}/{name}", folder / Path(name).name) for name in names))
    return run_cases(COMMANDS, files=files), folder


@pytest.fixture(name="root", scope="module")
def root_fixture(run_cases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("roots")
    files = Files(get=(Get("/root/all", folder / "all"),))
    return run_cases(ROOTS, files=files, user="root"), folder


def rows(text: str) -> dict[str, tuple[int, int, int]]:
    """What each row is of: samples for it, by it, and how deep it is."""
    return {name: (int(served), int(ran), len(indent) // 2)
            for _, served, _, ran, indent, name in ROW.findall(text)}


def samples_of(text: str) -> int:
    return int(re.search(r"(\d+) samples", text)[1])


def near(count: int, rounds: int) -> None:
    """A round of slowprog is 5 ms, at 1,000 samples a second."""
    shares.check_times(count, rounds * 5)


def test_a_profile_for_each_program(job) -> None:
    said, folder = job
    status, process, total, *files, listed = said["run"].text.splitlines()
    assert status == "0" and process.startswith("monctl: process ")
    found = {name: (int(count), program, int(processes or 1)) for name, count, program, processes
             in re.findall(r"^(\S+): (\d+) samples of (\w+)(?: in (\d+) processes)?$",
                           said["run"].text, re.MULTILINE)}
    assert {name: program for name, (_, program, _) in found.items()} == \
        {"gmon.out": "sh", "gmon.out.slowprog": "slowprog", "gmon.out.wc": "wc"}
    assert listed.split() == ["gmon.out", "gmon.out.slowprog", "gmon.out.wc"]
    assert found["gmon.out.slowprog"][2] == 4
    near(found["gmon.out.slowprog"][0], RUNS)
    assert sum(count for count, _, _ in found.values()) == samples_of(total)
    assert re.search(r"process \d+ and its children: \d+ samples, 0 lost$", total)
    assert len(files) == 3
    # Each is whole: its own, and as many of others.
    flat = subprocess.run([OUT / "bin" / "gprof", "-b", "-N", OUT / "user" / "slowprog",
                           folder / "gmon.out.slowprog"],
                          check=True, text=True, stdout=subprocess.PIPE).stdout
    counts = {name: int(count) for count, name in
              re.findall(r"^ *[\d.]+ +\d+ +(\d+) .*\b(ten|twenty|thirty|forty)$", flat, re.M)}
    shares.check(counts, {"ten": 10, "twenty": 20, "thirty": 30, "forty": 40})
    value = values(parse((folder / "gmon.out.slowprog").read_bytes()))
    assert value.get(OTHERS, 0) == samples_of(total) - found["gmon.out.slowprog"][0]


def test_no_profile_takes_anothers_place(job) -> None:
    """A file replaced is another program: each has a profile, and no two profiles have one name.

    Whom a sample finds between fork() and its own program is one more process of its parent's, of
    which this one has four.
    """
    said, listed = job[0]["replaced"].text.split("\n\n")
    found = re.findall(r"^(gmon\.out\S*): (\d+) samples of (\S+)(?: in [2-5] processes)?$", said,
                       re.MULTILINE)
    files = re.findall(r" (gmon\.out\S*)$", listed, re.MULTILINE)
    assert sorted(name for name, _, _ in found) == sorted(files), job[0]["replaced"].text
    counts = {name: int(count) for name, count, _ in found}
    assert {"gmon.out", "gmon.out.job.1", "gmon.out.job", "gmon.out.job.2"} <= set(counts)
    near(counts["gmon.out.job.1"], 4)
    near(counts["gmon.out.job"], 20)
    near(counts["gmon.out.job.2"], 40)


def test_processes_side_by_side(job) -> None:
    said, _ = job
    found = re.search(r"^gmon.out.slowprog: (\d+) samples of slowprog in 2 processes$",
                      said["at once"].text, re.MULTILINE)
    near(int(found[1]), 40)
    found = re.search(r"^p.slowprog: (\d+) samples of slowprog in 2 processes$",
                      said["proxy"].text, re.MULTILINE)
    near(int(found[1]), 40)


def test_what_is_not_followed_is_told(job) -> None:
    said, _ = job
    assert said["status"] == ("", 3)
    assert re.search(r"process \d+ started 1 others, which were not sampled; -children follows "
                     r"them$", said["alone"].text), said["alone"]
    assert "executes another program now, which was not sampled; -children follows it" in \
        said["became"].text, said["became"]
    assert said["left over"].text.startswith("0") and "it goes on" in said["left over"].text
    assert said["by what"].status == 2 and "process, command, job or user" in said["by what"].text
    assert said["both"].status == 2
    assert said["nobody else"].text.count("only root may do that") == 2


def test_the_tree_of_a_recording(job) -> None:
    """By our reader, by gprof, and by perf itself."""
    said, folder = job
    recording = perf_data.read((folder / "file").read_bytes())
    (first,) = re.findall(r"^monctl: process (\d+)$", said["recorded"].text, re.MULTILINE)
    ran = Counter(recording.commands[sample.pid, sample.tid] for sample in recording.samples)
    near(ran["slowprog"], RUNS)
    workers = {sample.pid for sample in recording.samples
               if recording.commands[sample.pid, sample.tid] == "slowprog"}
    assert len(workers) == 4
    for pid in workers:
        assert recording.ends[pid] >= max(one.time for one in recording.samples if one.pid == pid)
        assert recording.users[pid] == 100
        while pid != int(first):
            pid = recording.parents[pid]
    gprof = subprocess.run([OUT / "bin" / "gprof", "--by=job", OUT / "user" / "slowprog",
                            folder / "file"], check=True, text=True, stdout=subprocess.PIPE).stdout
    table = rows(gprof)
    job_row = table[f"{first} sh"]
    assert job_row[:2] == (len(recording.samples),) * 2
    loop = table["sh, 3 processes"]
    near(loop[1], 12)
    assert loop[2] == job_row[2] + 1 and table["slowprog, 3 processes"][2] == loop[2] + 1
    users = subprocess.run([OUT / "bin" / "gprof", "--by=user", OUT / "user" / "slowprog",
                            folder / "file"], check=True, text=True, stdout=subprocess.PIPE).stdout
    assert list(rows(users)) == ["100 student"]
    later = perf_data.read((folder / "later").read_bytes())
    assert "slowprog" in later.commands.values()


def test_tables_of_a_job(job) -> None:
    said, _ = job
    table = rows(said["by job"].text)
    loops = [row for name, row in table.items() if re.fullmatch(r"\d+ sh", name)]
    assert samples_of(said["by job"].text) in [row[0] for row in loops]
    assert all(row[0] == row[1] for row in loops)
    near(table["slowprog, 3 processes"][1], 12)


def test_a_table_for_each_flavor(job) -> None:
    """The clock's samples and events are not to be added up."""
    last = job[0]["by flavor"].text.split("\n\n")[-1]
    tables = {flavor: (int(count), rows(table)) for flavor, count, table in
              re.findall(r"^(\w+): (\d+) samples\n((?: .*\n?)+)", last, re.MULTILINE)}
    assert sum(count for count, _ in tables.values()) == samples_of(last), last
    assert set(tables) <= {"periodic", "zfill"}
    for count, table in tables.values():
        assert sum(row[0] for row in table.values()) == count
    assert tables["zfill"][1]["vmprog"][1] >= 2000, last


def test_nobody_samples_another_user(root) -> None:
    said, _ = root
    text = said["other user"].text
    assert "gmon.out.own" in text and "suid" not in text.replace("/tmp/suid", ""), text
    count = int(re.search(r"gmon.out.own: (\d+) samples of own$", text, re.MULTILINE)[1])
    near(count, 10)
    shares.check_times(samples_of(text.split("children: ")[1]), 50)


def test_for_a_job(root) -> None:
    said, folder = root
    tables = said["for a job"].text.split("\n\n")
    table = rows(tables[-1])
    served = sum(count for count, _, _ in table.values())
    assert served == samples_of(tables[-1])
    # Three quarters of what both loops do would be more; what was done before it began is missing.
    assert 0.5 * 900 < table["slowprog, 3 processes"][1] < 1.1 * 900
    recording = perf_data.read((folder / "all").read_bytes())
    first = int(said["recorded"].text.split()[-1])
    assert recording.samples
    for sample in recording.samples:
        pid = int(re.match(r"/(\d+):", recording.labels[sample.label])[1])
        while pid != first:
            pid = recording.parents[pid]
    # One process is its shell alone, in whichever program.
    assert [name.split()[0] for name, row in rows(said["for one"].text).items() if row[0]] in \
        ([], [said["for one"].text.split()[-1]])
    # Its shell waits for the first, and then executes the second.
    near(samples_of(said["one that goes on"].text.split("\n\n")[-1]), 40)


def test_top(root) -> None:
    said, _ = root
    text = said["top"].text
    assert "\033" not in text
    table = rows(text)
    busy = samples_of(text)
    assert re.match(r"busy \d+\.\d %: \d+ samples, \d+ idle, 0 lost\n for whom", text)
    shells = [row for name, row in table.items() if re.fullmatch(r"\d+ sh|sh, 2 processes", name)]
    assert shells and max(row[1] for row in shells) > 0.9 * busy
    users = rows(said["top of users"].text)
    assert users["100 student"][0] > 0.7 * samples_of(said["top of users"].text)
    assert said["top, twice"].text.count("busy ") == 2
    assert said["wrong"].text.count("usage: ") == 3 and said["wrong"].status == 2
    assert said["wrong"].text.count("process, command, job or user") >= 2


def test_the_kernels_list(root) -> None:
    text = root[0]["kernel"].text
    by_command, by_user, by_job = text.split("samples  for ")[1:]
    found = re.search(r"([\d.]+) % +(\d+)  callbench, \d+ processes$", by_command, re.MULTILINE)
    assert float(found[1]) > 50
    assert re.search(r"^ *[\d.]+ % +\d+  0 root$", by_user, re.MULTILINE)
    # With what they started.
    job = re.search(r"^ *([\d.]+) % +(\d+)  +callbench, 8 processes$", by_job, re.MULTILINE)
    assert int(job[2]) > int(found[2]) and float(job[1]) > 75
