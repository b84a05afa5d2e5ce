# SPDX-License-Identifier: MIT
"""Source lines in the forms of callgrind and pprof, by the programs that show these.

Each line of the program's source is one instruction of one byte, so that which line an address has
is known by where it is.
"""

import random
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from gprof import perf_file, read_back
from gprof.gmon import USER, Profile, output
from gprof.test_views import needs

NAMES = [f"f{i}" for i in range(6)]
LENGTH = 16  # Of each function: lines, and bytes.
PID, LABEL = 137, 5
TEXT = {(name, number): f"nop # {name} {number}" for name in NAMES for number in range(LENGTH)}


class Case(NamedTuple):
    program: Path
    data: Path
    lines: dict[tuple[str, int], int]  # By function and byte.
    stacks: list[list[tuple[str, int]]]  # Places, innermost first.


def make_program(folder: Path) -> tuple[Path, dict[tuple[str, int], int]]:
    source, program = folder / "program.s", folder / "program"
    text, lines = [], {}
    for name in NAMES:
        text += [f".globl {name}", f".type {name}, @function", f"{name}:"]
        for number in range(LENGTH):
            text.append(TEXT[name, number])
            lines[name, number] = len(text)
        text.append(f".size {name}, . - {name}")
    source.write_text("\n".join(text) + "\n")
    subprocess.run(["i686-linux-gnu-gcc", "-g", "-nostdlib", "-static", "-no-pie",
                    f"-Wl,--build-id=none,-e,f0,-Ttext={USER:#x}", "-o", program, source],
                   check=True)
    return program, lines


def address(place: tuple[str, int]) -> int:
    return USER + NAMES.index(place[0]) * LENGTH + place[1]


@pytest.fixture(name="case", scope="module")
def case_fixture(tmp_path_factory) -> Case:
    """What calls is before what is returned to: at a line's end."""
    folder = tmp_path_factory.mktemp("lines")
    program, lines = make_program(folder)
    choose, stacks, samples = random.Random(4), [], []
    for time in range(300):
        callers = sorted(choose.sample(range(1, len(NAMES)), choose.randint(0, 3)), reverse=True)
        stack = [(NAMES[i], choose.randrange(LENGTH)) for i in (*callers, 0)]
        user = [address(place) + (i > 0) for i, place in enumerate(stack)]
        samples.append(perf_file.Sample(1, PID, PID, LABEL, user, time=time))
        stacks.append(stack)
    data = folder / "perf.data"
    data.write_bytes(b"".join([
        perf_file.header(), perf_file.event(1, "periodic", 1_000_000),
        perf_file.task(LABEL, PID, "program", []),
        perf_file.image(PID, USER, LENGTH * len(NAMES), 0x1000, str(program)),
        *(perf_file.sample(sample, 1_000_000) for sample in samples),
        perf_file.lost(0), perf_file.round_end()]))
    return Case(program, data, lines, stacks)


def own(case: Case) -> Counter:
    return Counter((name, case.lines[name, number]) for (name, number), *_ in case.stacks)


@needs("go")
def test_pprof(case: Case, tmp_path: Path) -> None:
    """Own samples of each line, and those with what it called."""
    file = tmp_path / "profile.pb.gz"
    output("--view=pprof", "-o", file, case.program, case.data)
    flat, cumulative = read_back.pprof(file, "periodic", "-lines")
    source = case.program.with_suffix(".s")
    assert flat == {f"{name} {source}:{line}": count for (name, line), count in own(case).items()}
    every = Counter(f"{name} {source}:{case.lines[name, number]}" for stack in case.stacks
                    for name, number in set(stack))
    assert cumulative == every
    said = read_back.call("go", "tool", "pprof", "-list", "^f0$", file)
    rows = re.findall(r"^ +(\d+|\.) +(\d+|\.) +(\d+):nop # f0 (\d+)$", said, re.MULTILINE)
    assert {int(line): int(count) for count, _, line, _ in rows if count != "."} == \
        {line: count for (name, line), count in own(case).items() if name == "f0"}


@needs("callgrind_annotate")
def test_callgrind(case: Case, tmp_path: Path) -> None:
    """Beside the source: own samples of each line, and what it called."""
    file = tmp_path / "callgrind.out"
    output("--view=callgrind", "-o", file, case.program, case.data)
    text = read_back.call("callgrind_annotate", "--threshold=100", "--auto=yes",
                          "--context=1000", file)
    rows = re.findall(r"^ *(\d+) \( *[\d.]+%\) +(nop # f\d+ \d+)$", text, re.MULTILINE)
    assert {words: int(count) for count, words in rows} == \
        Counter(TEXT[stack[0]] for stack in case.stacks)
    calls = Counter((TEXT[caller], callee[0]) for stack in case.stacks
                    for callee, caller in zip(stack, stack[1:]))
    found, line = {}, ""
    for row in text.splitlines():
        line = (re.search(r"nop # f\d+ \d+$", row) or [line])[0]
        call = re.match(r"^ *(\d+) \( *[\d.]+%\) +=> \S*:(f\d) \((\d+)x\)$", row)
        if call:
            found[line, call[2]] = int(call[1])
            assert call[1] == call[3]
    assert found == calls


def test_sums_are_those_of_the_samples(case: Case) -> None:
    """By a reader of our own, without which line 0 would pass unseen."""
    text = output("--view=callgrind", case.program, case.data)
    found, name, names, is_call = Counter(), "", {}, False
    for row in text.splitlines():
        match = re.match(r"fn=(\(\d+\))(?: (.*))?$", row) or re.match(
            r"cfn=(\(\d+\))(?: (.*))?$", row)
        if match:
            names.setdefault(match[1], match[2])
            name = names[match[1]] if row.startswith("fn") else name
        elif row.startswith("calls="):
            is_call = True
        elif re.match(r"\d+ \d+$", row):
            if not is_call:
                found[name, int(row.split()[0])] += int(row.split()[1])
            is_call = False
    assert found == own(case) and sum(found.values()) == len(case.stacks)


def test_calls_that_were_counted_are_at_their_lines(case: Case, tmp_path: Path) -> None:
    """One function calls another at two places, not equally often."""
    bins = [0] * (LENGTH * len(NAMES))
    bins[address(("f1", 3)) - USER] = 40
    arcs = [(address(("f0", 2)) + 1, address(("f1", 0)), 30),
            (address(("f0", 9)) + 1, address(("f1", 0)), 10)]
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(USER, bins, arcs, step=1, rate=1000, dimension="seconds").gnu())
    text = output("--view=callgrind", "--any-date", case.program, file)
    entry = case.lines["f1", 0]
    for number, calls in (2, 30), (9, 10):
        assert f"calls={calls} {entry}\n{case.lines['f0', number]} {calls}\n" in text


INLINED = """\
static inline __attribute__((always_inline)) void inner(void)
{
	__asm__ volatile("in_inner: .globl in_inner; nop");
}
void _start(void)
{
	__asm__ volatile("in_start: .globl in_start; nop");
	inner(); /* Line 8. */
	__asm__ volatile("nop");
}
"""


@pytest.mark.parametrize("view", ["callgrind", "pprof"])
def test_what_was_inlined_is_at_the_line_that_called_it(tmp_path: Path, view: str) -> None:
    """A function's lines are all of its own source."""
    source, program = tmp_path / "inlined.c", tmp_path / "inlined"
    source.write_text(INLINED)
    subprocess.run(["i686-linux-gnu-gcc", "-g", "-O1", "-nostdlib", "-static", "-no-pie",
                    "-ffreestanding", "-o", program, source], check=True)
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in
               read_back.call("nm", program).splitlines()}
    low = symbols["_start"]
    bins = [0] * (symbols["in_inner"] + 4 - low)
    bins[symbols["in_inner"] - low], bins[symbols["in_start"] - low] = 5, 3
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(low, bins, step=1, rate=1000, dimension="seconds").gnu())
    if view == "callgrind":
        text = output("--view=callgrind", "--any-date", program, file)
        assert re.findall(r"^(\d+ \d+)$", text, re.MULTILINE) == ["7 3", "8 5"]
    elif not needs("go").args[0]:
        view_file = tmp_path / "view.pb.gz"
        output("--view=pprof", "--any-date", "-o", view_file, program, file)
        assert read_back.pprof(view_file, "periodic", "-lines")[0] == {
            f"_start {source}:7": 3, f"_start {source}:8": 5}


def test_a_source_that_is_gone(tmp_path: Path) -> None:
    """The samples of the program are told of as before, and why there is no text."""
    program, _ = make_program(tmp_path)
    bins = [7] + [0] * (len(NAMES) * LENGTH // 2 - 1)
    (tmp_path / "gmon.out").write_bytes(Profile(USER, bins, []).gnu())
    text = output("-A", program, "gmon.out", cwd=tmp_path)
    assert TEXT["f0", 0] in text and "no such source" not in text
    (tmp_path / "program.s").unlink()
    text = output("-A", program, "gmon.out", cwd=tmp_path)
    assert "(no such source from this folder; debug information names it so)" in text
    assert TEXT["f0", 0] not in text
