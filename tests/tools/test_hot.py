# SPDX-License-Identifier: MIT
"""tools/hot counts every instruction, finds whose it is, and does not disturb the machine."""

import re
import subprocess
from pathlib import Path

import pytest
from assay import ROOT, ToolError, hot
from assay.machine import find_kernel
from assay.programs import find_program

WINDOW = "tools/hot_window"
TURNS = 5_000_000
LOOP = 1 + 3 * TURNS  # The loop of hot_window.c between its markers.


@pytest.fixture(name="kernel")
def kernel_fixture() -> hot.Image:
    return hot.Image("kernel", find_kernel(None), is_kernel=True)


def image(name: str) -> hot.Image:
    path = find_program(name)
    return hot.Image(path.name, path)


@pytest.fixture(name="count")
def count_fixture(machine, kernel, tmp_path: Path):
    """Runs programs under the plugin; returns the run, the counts and the histogram."""

    def count(programs: list[str], marked: bool = False, by=(), check: bool = False,
              **parameters):
        out = tmp_path / "counts"
        plugin = hot.plugin_option(out, kernel, marked=marked, by=by, check=check)
        run = machine(programs, plugin=plugin, **parameters)
        assert run.outcome == "exit"
        counts = hot.read_counts(out)
        images = [image("hello"), image(WINDOW)]
        return run, counts, hot.histogram(counts, kernel, images)

    return count


@pytest.mark.parametrize("cpus", [1, 2])
def test_window_is_exact(count, cpus: int) -> None:
    run, counts, result = count([WINDOW], marked=True, cpus=cpus)
    assert counts.windows == 1
    loop = next(line for line in result.lines if line.function == "test_window")
    assert (loop.instructions, loop.image) == (LOOP, "hot_window")
    assert TURNS <= result.kinds["lock"] < TURNS + 1000
    assert result.total > LOOP, "no clock tick fell into the window"
    if cpus == 1:  # With two, the clock also has what the other CPU did outside of the window.
        clock = re.search(rb"^clock (\d+)$", run.output, re.MULTILINE)
        assert int(clock[1]) == result.total


def test_plugin_disturbs_nothing(machine, count) -> None:
    plain = machine([WINDOW])
    run, counts, _ = count([WINDOW])
    assert (plain.output, plain.log) == (run.output, run.log)
    assert plain.instructions == run.instructions
    assert counts.stretch.length > 0


def test_two_programs_at_one_address(count) -> None:
    """Each of them has the figures that it has alone."""

    def lines_of(programs: list[str]) -> set[hot.Line]:
        return {line for line in count(programs)[2].lines if line.image == "hot_window"}

    alone = lines_of([WINDOW])
    assert "test_window" in {line.function for line in alone}
    assert lines_of([WINDOW, "hello"]) == alone


# ---------------- Who executed it ----------------


MARKER, HLT = bytes.fromhex("6687db"), b"\xf4"


def who_executed(counts: hot.Counts, code: bytes) -> set[hot.Who]:
    numbers = {n for n, i in enumerate(counts.instructions) if i.code == code}
    return {who for who, mine in counts.by.items() if numbers & set(mine)}


@pytest.mark.parametrize("cpus", [1, 2])
def test_who_is_known_at_every_instruction(count, cpus: int) -> None:
    """The plugin looks again before each of them, and would end the run if it had not known."""
    _, counts, result = count([WINDOW], by=hot.KEYS, check=True, cpus=cpus)
    assert sum(counts.sums().values()) == counts.total == result.total
    task = next(task for task, name in counts.names.items() if name == "hot_window")
    openers = who_executed(counts, MARKER)
    assert openers and {(who.task, who.label) for who in openers} == {(task, task)}
    halting = who_executed(counts, HLT)
    assert all(who.idle for who in halting) and bool(halting) == (cpus > 1)


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_window_is_whose_it_is(count, kernel, cpus: int) -> None:
    _, counts, _ = count([WINDOW], marked=True, by=("task", "label"), cpus=cpus)
    task = next(task for task, name in counts.names.items() if name == "hot_window")
    loop = [who for who, mine in counts.by.items() if LOOP // 3 in mine.values()]
    assert loop == [hot.Who(task=task, label=task)]
    mine = counts.of(lambda who: who == loop[0])
    lines = hot.histogram(mine, kernel, [image(WINDOW)]).lines
    assert ("test_window", LOOP) in {(line.function, line.instructions) for line in lines}
    assert counts.windows == 1 and mine.total >= LOOP


def test_work_for_others(unix_machine, kernel, tmp_path: Path) -> None:
    """Known by construction: three of four calls are the first client's, and all are alike."""
    out = tmp_path / "counts"
    plugin = hot.plugin_option(out, kernel, by=("task", "label"))
    run = unix_machine("rpcprog 20", plugin=plugin)
    assert (run.outcome, run.status) == ("exit", 0)
    counts = hot.read_counts(out)
    found = hot.places(counts, kernel, [image("rpcprog")])
    serve = {}
    for who, mine in counts.by.items():
        calls = [n for n in mine if found[n] == hot.Place("serve", "rpcprog", True)]
        serve |= {who: mine[n] for n in calls}
    assert sorted(serve.values()) == [20, 60]
    assert len({who.task for who in serve}) == 1 and len({who.label for who in serve}) == 2
    assert {counts.names[who.label] for who in serve} == {"rpcprog"}


def test_to_know_who_disturbs_nothing(machine, count) -> None:
    plain = machine([WINDOW], cpus=2)
    run, _, _ = count([WINDOW], by=hot.KEYS, cpus=2)
    assert (plain.output, plain.instructions) == (run.output, run.instructions)


def test_split_by_fewer(tmp_path: Path) -> None:
    path = write_counts(tmp_path / "c", ["08048000 a 90 7", "08048001 a 90 2",
                                         "who 0 5 1 1 0", "0 3", "who 1 6 1 2 0", "0 4", "1 2"], 9)
    path.write_text(path.read_text().replace("stretch", "task 1 a name\nstretch"))
    counts = hot.read_counts(path)
    assert counts.names == {1: "a name"}
    assert counts.sums() == {hot.Who(0, 5, 1, 1): 3, hot.Who(1, 6, 1, 2): 6}
    assert counts.split(["task"]) == {hot.Who(task=1): {0: 7, 1: 2}}
    assert counts.of(lambda who: who.label == 2).total == 6


@pytest.mark.parametrize("sections", [[], ["who 0 - 1 - 0", "0 7"]])
def test_what_is_not_split_so(sections: list[str], tmp_path: Path) -> None:
    path = write_counts(tmp_path / "c", ["08048000 a 90 7", *sections], 7)
    with pytest.raises(ToolError, match="not split by label"):
        hot.read_counts(path).split(["label"])
    done = subprocess.run([ROOT / "tools" / "hot", "--by", "label", "--read", path, "--", "hello"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "not split by label" in done.stderr


def test_an_instruction_that_nobody_executed_is_noticed(tmp_path: Path) -> None:
    path = write_counts(tmp_path / "c", ["08048000 a 90 7", "who 0 - - - 0", "0 6"], 7)
    with pytest.raises(ToolError, match="that nobody executed"):
        hot.read_counts(path)


def test_a_key_that_there_is_not() -> None:
    done = subprocess.run([ROOT / "tools" / "hot", "--by", "user", "--", "hello"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "counts are split by cpu, thread" in done.stderr


def test_a_kernel_without_layout() -> None:
    with pytest.raises(ToolError, match="hello does not tell its layout"):
        image("hello").layout()


# ---------------- Reading counts ----------------


def write_counts(path: Path, instructions: list[str], total: int) -> Path:
    ending = ["stretch 0 0 00000000 00000000", "windows 1", f"total {total}"]
    path.write_text("\n".join(["hot 2", *instructions, *ending, ""]))
    return path


def test_counts_of_another_version(tmp_path: Path) -> None:
    path = write_counts(tmp_path / "c", ["08048000 a 90 7"], 7)
    path.write_text(path.read_text().replace("hot 2", "hot 1"))
    with pytest.raises(ToolError, match="another version, `hot 1`: count again"):
        hot.read_counts(path)


def test_what_no_image_holds_is_unknown(kernel, tmp_path: Path) -> None:
    lines = ["08048000 a 90 7", "fee00000 b 90 2"]
    counts = hot.read_counts(write_counts(tmp_path / "c", lines, 9))
    assert hot.histogram(counts, kernel, []).lines == [hot.Line(9, 0, "?", "?")]


def test_code_is_known_by_its_bytes(kernel, tmp_path: Path) -> None:
    program = image("hello")
    main = program.function("main").start
    code = program.bytes_at(main, 4)
    other = bytes(byte ^ 0xFF for byte in code)
    lines = [f"{main:x} a {code.hex()} 3", f"{main:x} b {other.hex()} 4"]
    counts = hot.read_counts(write_counts(tmp_path / "c", lines, 7))
    assert hot.histogram(counts, kernel, [program]).lines == [
        hot.Line(4, 0, "?", "?"), hot.Line(3, 3, "main", "hello"),
    ]


def test_most_of_a_page_decides(kernel, tmp_path: Path) -> None:
    hello, window = image("hello"), image(WINDOW)
    addresses = range(hello.function("_start").start, hello.function("_start").start + 0x400)
    same = [a for a in addresses if hello.bytes_at(a, 1) == window.bytes_at(a, 1)]
    other = [a for a in addresses if hello.bytes_at(a, 1) != window.bytes_at(a, 1)]
    lines = [f"{a:x} a {hello.bytes_at(a, 1).hex()} 1" for a in (same[0], *other[:2])]
    counts = hot.read_counts(write_counts(tmp_path / "c", lines, 3))
    for images in ([hello, window], [window, hello]):
        result = hot.histogram(counts, kernel, images)
        assert {line.image for line in result.lines} == {"hello"}


def test_an_instruction_without_line_is_noticed(kernel, tmp_path: Path) -> None:
    counts = hot.read_counts(write_counts(tmp_path / "c", ["08048000 a 90 7"], 8))
    with pytest.raises(ToolError, match="7 instructions have a line, but 8"):
        hot.histogram(counts, kernel, [])


def test_cut_off_counts_are_refused(tmp_path: Path) -> None:
    path = write_counts(tmp_path / "c", ["08048000 a 90 7"], 7)
    path.write_text(path.read_text().replace("total 7\n", ""))
    with pytest.raises(ToolError, match="cut off"):
        hot.read_counts(path)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("f0ff05", "lock"),  # lock incl
        ("66f00fb111", "lock"),  # lock cmpxchgw
        ("648705", "lock"),  # xchgl with memory
        ("86c1", None),  # xchgb of registers
        ("6687db", None),  # the marker
        ("0f22d8", "cr3"),  # movl %eax, %cr3
        ("0f22e0", None),  # movl %eax, %cr4
        ("0f0138", "invlpg"),
        ("0f0130", None),  # lmsw
        ("0f01f9", None),  # rdtscp
        ("f390", None),  # pause
    ],
)
def test_kind(code: str, kind: str | None) -> None:
    assert hot.kind_of(bytes.fromhex(code)) == kind
