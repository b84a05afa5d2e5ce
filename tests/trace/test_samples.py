# SPDX-License-Identifier: MIT
"""kdump's views of a trace with the samples of a recording that was made meanwhile.

What slowprog did is known: it computes in functions of known shares, says one line, and ends.  So
are recordings that are made here.
"""

import json
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
from assay import OUT, unix, viewers
from assay.files import Files, Get
from framework import trace_file
from framework.trace_file import Maker

from monctl import perf_data

KDUMP = OUT / "bin" / "kdump"
LIMIT = 120
HOME = "/home/student"
ROUNDS = 20
COMMANDS = f"""cd {HOME}
monctl -on periodic,any -stack -children -record file -run ktrace -t +w slowprog {ROUNDS} 2>said
"""
SHARES = {"ten": 0.1, "twenty": 0.2, "thirty": 0.3, "forty": 0.4}
INTERVAL = 1000  # Microseconds between a clock's samples, in the mean.


class Case(NamedTuple):
    folder: Path
    recording: perf_data.Recording
    records: list[trace_file.Record]

    def kdump(self, view: str, *options: str) -> bytes:
        done = subprocess.run(
            [KDUMP, f"--view={view}", "-f", self.folder / "ktrace.out",
             f"--samples={self.folder / 'file'}", *options], capture_output=True, check=True)
        assert done.stderr == b""
        return done.stdout

    def with_names(self, view: str) -> bytes:
        return self.kdump(view, f"--programs={self.folder}")

    def begin(self) -> int:
        """The trace's first record, in microseconds."""
        return self.records[0].time

    def time_of(self, sample: perf_data.Sample) -> int:
        """Microseconds since the trace began, by the clocks' difference."""
        return (sample.time + self.recording.counts["wall"]) // 1000 - self.begin()

    def samples(self, periodic: bool = True) -> list[perf_data.Sample]:
        """Those that were taken while the trace was made."""
        last = self.records[-1].time - self.begin()
        return [one for one in self.recording.samples
                if (one.flavor == 1) == periodic and 0 <= self.time_of(one) <= last]


@pytest.fixture(name="case", scope="module")
def case_fixture(tmp_path_factory) -> Case:
    folder = tmp_path_factory.mktemp("samples")
    get = tuple(Get(f"{HOME}/{name}", folder / name) for name in ("ktrace.out", "file"))
    result = unix.run(COMMANDS, limit=LIMIT, icount=True, files=Files(get=get))
    assert (result.outcome, result.status) == ("exit", 0), result.log[-2000:]
    (folder / "bin").mkdir()
    for name in ("slowprog", "ktrace"):
        shutil.copy(OUT / "user" / name, folder / "bin" / name)
    shutil.copy(OUT / "mach_kernel", folder / "mach_kernel")
    return Case(folder, perf_data.read((folder / "file").read_bytes()),
                list(trace_file.read((folder / "ktrace.out").read_bytes())))


def spans_of(events: list[dict], category: str) -> list[dict]:
    return [one for one in events if one.get("cat") == category and one["ph"] == "X"]


def leaves(events: list[dict]) -> dict[int, str]:
    """Of each clock's sample, by its time, the innermost function."""
    return {one["ts"]: one["name"] for one in spans_of(events, "sample")}


# ---------------- Of a run ----------------

def test_all_samples_are_there_at_their_times(case: Case) -> None:
    events = json.loads(case.kdump("chrome"))["traceEvents"]
    wanted = [case.time_of(one) for one in case.samples()]
    assert len(wanted) > 50 and sorted(leaves(events)) == sorted(wanted)
    marks = Counter(one["ts"] for one in events
                    if one["ph"] == "i" and one.get("cat") == "sample")
    assert marks == Counter(case.time_of(one) for one in case.samples(periodic=False))


def test_samples_are_where_the_program_computed(case: Case) -> None:
    """Between its calls: in none of them, and in no wait, but for what the clocks' microsecond is.

    And they are in its functions, as often as each is due.
    """
    events = json.loads(case.with_names("chrome"))["traceEvents"]
    counts = Counter()
    for when, name in leaves(events).items():
        if name not in SHARES:
            continue
        counts[name] += 1
        for one in spans_of(events, "call") + spans_of(events, "wait"):
            assert not one["ts"] < when < one["ts"] + one["dur"] - 1, (name, when, one)
    assert counts.total() > 0.9 * len(case.samples())
    for name, share in SHARES.items():
        assert abs(counts[name] / counts.total() - share) < 0.12, counts


def test_functions_are_between_the_first_call_and_the_last(case: Case) -> None:
    """slowprog computes from when it was executed until it writes its line."""
    events = json.loads(case.with_names("chrome"))["traceEvents"]
    calls = {one["name"]: one for one in spans_of(events, "call")}
    own = [when for when, name in leaves(events).items() if name in SHARES]
    begin = calls["execve"]["ts"] + calls["execve"]["dur"]
    assert begin < min(own) and max(own) < calls["write"]["ts"]
    # And nearly all of that time: the clock sampled it from its beginning to its end.
    assert calls["write"]["ts"] - begin - (max(own) - min(own)) < 5 * INTERVAL


def test_stacks_lie_within_each_other(case: Case) -> None:
    """As long as it is the same sample, callers first; the next one begins when it has ended."""
    spans = spans_of(json.loads(case.with_names("chrome"))["traceEvents"], "sample")
    stacks: dict[tuple[int, int], list[dict]] = {}
    for one in spans:
        stacks.setdefault((one["tid"], one["ts"]), []).append(one)
    ends: dict[int, int] = {}
    for (tid, start), stack in sorted(stacks.items()):
        assert len({one["dur"] for one in stack}) == 1 and stack[0]["dur"] <= 2 * INTERVAL
        assert ends.get(tid, 0) <= start
        ends[tid] = start + stack[0]["dur"]
    names = {tuple(one["name"] for one in stack) for stack in stacks.values()}
    assert ("_start", "__libc_start", "main", "forty") in names


def test_who_was_sampled_has_a_row(case: Case) -> None:
    """The process was two programs, and each had a thread of the kernel's."""
    events = json.loads(case.kdump("chrome"))["traceEvents"]
    pid = case.records[0].pid
    rows = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    sampled = {one.tid for one in case.samples() + case.samples(periodic=False)}
    assert {tid for tid in rows if tid >= perf_data.THREAD} == sampled
    assert {rows[tid] for tid in sampled} == {f"ktrace {pid} samples", f"slowprog {pid} samples"}


def test_without_programs_there_are_addresses(case: Case) -> None:
    """And the program's name for a function's."""
    events = json.loads(case.kdump("chrome"))["traceEvents"]
    ips = Counter(one.ip for one in case.samples() if not one.in_kernel)
    shown = Counter()
    for one in spans_of(events, "sample"):
        assert one["name"] in ("slowprog", "ktrace", "<kernel>")
        shown[int(one["args"]["address"], 16)] += 1
    assert all(shown[ip] >= n for ip, n in ips.items())


def profiles(data: bytes) -> tuple[list[str], dict[str, dict]]:
    text = json.loads(data)
    return [one["name"] for one in text["shared"]["frames"]], {
        one["name"]: one for one in text["profiles"]}


def test_speedscope_has_them_at_their_times(case: Case) -> None:
    frames, all_of = profiles(case.with_names("speedscope"))
    pid = case.records[0].pid
    row, calls = all_of[f"slowprog {pid} samples"], all_of[f"slowprog {pid}/1"]
    assert row["type"] == "sampled" and row["unit"] == calls["unit"] == "microseconds"
    assert sum(row["weights"]) == row["endValue"] == calls["endValue"]
    at, when = 0, []
    for stack, weight in zip(row["samples"], row["weights"]):
        when += [(at, frames[stack[-1]])] if stack else []
        at += weight
    events = json.loads(case.with_names("chrome"))["traceEvents"]
    assert [one for one in when if one[1] in SHARES] == [
        one for one in sorted(leaves(events).items()) if one[1] in SHARES]


def records_of(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Of a perf.data each record's type, misc and rest."""
    assert data[:16] == perf_data.MAGIC
    at = 16
    while at < len(data):
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        assert size >= 8 and size % 8 == 0
        yield kind, misc, data[at + 8:at + size]
        at += size


def test_perf_has_them_between_the_calls(case: Case) -> None:
    """By a reader of our own: in the order of time, with address and stack."""
    names: dict[int, str] = {}
    samples = []
    for kind, misc, data in records_of(case.kdump("perf")):
        if kind == perf_data.UPDATE:
            names[struct.unpack_from("<QQ", data)[1]] = data[16:].split(b"\0")[0].decode()
        elif kind == perf_data.SAMPLE:
            ip, pid, tid, time, event, period, n = struct.unpack_from("<QIIQQQQ", data)
            assert len(data) == 48 + 8 * n and pid == case.records[0].pid
            chain = struct.unpack_from(f"<{n}Q", data, 48)
            samples.append((time, names[event], ip, tid, period, misc, chain))
    assert [one[0] for one in samples] == sorted(one[0] for one in samples)
    assert len({one[3] for one in samples}) == 1  # Its only thread.
    clocks = [(one[0] // 1000, one[2], one[5] == 1) for one in samples if one[1] == "periodic"]
    assert clocks == [(case.time_of(one), one.ip, one.in_kernel) for one in case.samples()]
    stacks = {one[-1] for one in samples if one[1] == "periodic"}
    assert {one.chain for one in case.samples() if not one.in_kernel} <= stacks
    calls = [one[1] for one in samples if one[1] not in ("periodic", "faults-any", "NAMI", "GIO")
             and not one[1].startswith("wait:")]
    assert calls == [one.call()[0] for one in case.records if one.type == trace_file.SYSCALL]


@pytest.mark.skipif(viewers.missing("perf") is not None, reason=viewers.missing("perf") or "")
def test_perf_reads_them(case: Case, tmp_path: Path) -> None:
    """With the names of the functions, in the program that the process was then."""
    (tmp_path / "perf.data").write_bytes(case.with_names("perf"))
    done = subprocess.run(
        ["perf", "script", "-i", tmp_path / "perf.data", "-F", "event,ip,sym", "-G"],
        check=True, capture_output=True, text=True)
    found = Counter(line.split()[2] for line in done.stdout.splitlines()
                    if line.split()[:1] == ["periodic:"])
    events = json.loads(case.with_names("chrome"))["traceEvents"]
    wanted = Counter(leaves(events).values())
    assert {name: found[name] for name in SHARES} == {name: wanted[name] for name in SHARES}
    assert found.total() == len(case.samples())


NO_SPEEDSCOPE = viewers.missing("chromium", "speedscope")


@pytest.mark.skipif(NO_SPEEDSCOPE is not None, reason=NO_SPEEDSCOPE or "")
def test_speedscope_reads_them(case: Case) -> None:
    """What it shows of the row, alone in its file, and that it takes the whole ones."""
    text = json.loads(case.with_names("speedscope"))
    alone = {**text, "profiles": [one for one in text["profiles"] if one["type"] == "sampled"
                                  and one["name"].startswith("slowprog")]}
    shown = viewers.speedscope_reads({
        "row": json.dumps(alone).encode(), "speedscope": json.dumps(text).encode(),
        "chrome": case.with_names("chrome")})
    assert all(one.kind for one in shown)
    assert set(SHARES) <= set(shown[0].functions)


# ---------------- Of recordings that are made here ----------------

WALL = trace_file.BEGIN * 1_000_000_000 - 5_000_000  # The kernel began 5 ms before the trace.
FIELDS = 0x1 | 0x2 | 0x4 | 0x40 | 0x100  # ip, tid, time, id, period


def record(kind: int, data: bytes, misc: int = 2) -> bytes:
    data += bytes(-len(data) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(data)) + data


def recording(samples: list[tuple[int, int, int]], words: tuple[str, ...]) -> bytes:
    """Of samples as (time in microseconds, pid, the kernel's thread), each a millisecond."""
    attribute = struct.pack("<IIQQQQQ", 1, 136, 0, 1_000_000, FIELDS, 0, 0) + bytes(88)
    parts = [perf_data.MAGIC, record(perf_data.ATTRIBUTE, attribute + struct.pack("<Q", 1))]
    parts += [record(perf_data.SAMPLE, struct.pack(
        "<QIIQQQ", 0x8048100, pid, perf_data.THREAD + thread, us * 1000, 1, 1_000_000))
        for us, pid, thread in samples]
    if words:
        body = b"".join(struct.pack("<I", len(word) + 1) + word.encode() + b"\0" for word in words)
        parts.append(record(perf_data.FEATURE, struct.pack("<QI", 11, len(words)) + body))
    return b"".join(parts)


def run(tmp_path: Path, made: bytes, *options: str) -> subprocess.CompletedProcess:
    trace, file = tmp_path / "trace", tmp_path / "made"
    threads = Maker().call("getpid").result("getpid", 12)
    threads.thread = 2
    threads.call("sync").result("sync")
    threads.pid, threads.thread = 13, 1
    threads.call("sync").result("sync")
    trace.write_bytes(threads.bytes())
    file.write_bytes(made)
    return subprocess.run([KDUMP, "-f", trace, f"--samples={file}", *options], check=False,
                          capture_output=True, text=True, errors="replace", cwd=tmp_path)


WORDS = ("monctl", f"wall={WALL}")


def test_only_what_is_in_the_trace(tmp_path: Path) -> None:
    """Neither other processes, nor what was before it or after it."""
    made = recording([(4999, 12, 7), (5000, 12, 7), (6500, 14, 9), (10000, 13, 8), (10001, 12, 7)],
                     WORDS)
    done = run(tmp_path, made, "--view=chrome")
    assert (done.returncode, done.stderr) == (0, "")
    events = json.loads(done.stdout)["traceEvents"]
    assert [(one["pid"], one["tid"], one["ts"], one["dur"])
            for one in spans_of(events, "sample")] == [
                (12, perf_data.THREAD + 7, 0, 1000), (13, perf_data.THREAD + 8, 5000, 0)]


def test_a_process_with_several_threads(tmp_path: Path) -> None:
    """Which of them a sample is of nobody says: it has a row of its own; else it is its."""
    made = recording([(5500, 12, 7), (5600, 12, 8), (9500, 13, 9)], WORDS)
    done = run(tmp_path, made, "--view=speedscope")
    assert list(profiles(done.stdout.encode())[1]) == [
        "cat 12/1", "cat 12/2", "cat 13/1", " 12 samples, kernel thread 7",
        " 12 samples, kernel thread 8", " 13 samples"]
    assert run(tmp_path, made, "--view=perf", "-p", "12").returncode == 0


@pytest.mark.parametrize(("made", "said"), [
    (recording([(5500, 12, 7)], ("monctl", "rate=1000")),
     "made: does not say when its clock began, so nobody knows which call a sample was in: record "
     "it again, with a monctl that writes that (the word `wall`)"),
    (b"gmon" + bytes(40),
     "made: is not a perf.data file; `monctl -record FILE` writes such files"),
    (recording([(5500, 12, 7)], WORDS)[:-4],
     "made: ends in the middle of a record; `monctl -record FILE` writes such files"),
])
def test_recordings_that_are_none(tmp_path: Path, made: bytes, said: str) -> None:
    done = run(tmp_path, made, "--view=chrome")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"kdump: {tmp_path}/{said}\n"


def test_none_of_the_traces(tmp_path: Path) -> None:
    """A view without samples, and the reason."""
    for view in ("chrome", "perf", "speedscope"):
        done = run(tmp_path, recording([(5500, 99, 7)], WORDS), f"--view={view}")
        assert done.returncode == 0
        assert done.stderr == (f"kdump: {tmp_path}/made: none of its 1 samples is of the trace's "
                               "processes and time\n")
    assert "none of its 0" in run(tmp_path, recording([], WORDS), "--view=chrome").stderr


def test_options_that_go_together(tmp_path: Path) -> None:
    done = run(tmp_path, recording([], WORDS))
    assert done.returncode == 2 and done.stderr.startswith(
        "kdump: --samples puts a recording beside a view: which is it to be? --view=chrome\n")
    alone = subprocess.run([KDUMP, "--view=perf", "--programs=."], check=False,
                           capture_output=True, text=True)
    assert alone.returncode == 2 and alone.stderr.startswith(
        "kdump: --programs names the functions of samples: --samples=FILE says which\n")
