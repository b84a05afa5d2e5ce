# SPDX-License-Identifier: MIT
"""tools/hot counts every instruction, finds whose it is, and does not disturb the machine."""

import re
from pathlib import Path

import pytest
from assay import ToolError, hot
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

    def count(programs: list[str], marked: bool = False, **parameters):
        out = tmp_path / "counts"
        plugin = hot.plugin_option(out, kernel, marked=marked)
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


def write_counts(path: Path, instructions: list[str], total: int) -> Path:
    ending = ["stretch 0 0 00000000 00000000", "windows 1", f"total {total}"]
    path.write_text("\n".join(["hot 1", *instructions, *ending, ""]))
    return path


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
