# SPDX-License-Identifier: MIT
"""The benchmarks measure what they say, the same in every run, and tools/bench judges by it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from assay import ROOT, ToolError, bench, hot
from assay.machine import find_kernel
from assay.programs import find_program
from framework.commands import load_command

# Every kind of run that there is: one CPU, two tasks, two CPUs, mean and median, boot.
REPEATED = ("boot", "trap", "two-cpus", "switch-tasks", "tick", "zero-fill")

LOAD = "while True: pass"  # A host process that wants a CPU for itself.
NOT_THE_CLOCK = 3  # How user/bench ends when it finds no instruction clock.


@pytest.fixture(name="tool")
def tool_fixture():
    return load_command("bench")


@pytest.fixture(name="judge")
def judge_fixture(tool, monkeypatch, tmp_path: Path):
    """Runs tools/bench with other rows; returns its status and the values that it wrote."""

    def judge(rows: list[bench.Row], *arguments: str):
        path = tmp_path / "values.json"
        monkeypatch.setattr(tool, "choose", lambda names: rows)
        monkeypatch.setattr(sys, "argv", ["bench", "--json", str(path), *arguments])
        return tool.main(), json.loads(path.read_text())

    return judge


def row(value: float, target: float | None = None, **parameters) -> bench.Row:
    figure = bench.Figure(value, bench.limits(0, 0, 0, 1))
    return bench.Row("some", "Some row", "units", lambda: figure, target, **parameters)


def measure(path: Path) -> str:
    command = [ROOT / "tools" / "bench", "--json", path, *REPEATED]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_same_in_every_run(tmp_path: Path) -> None:
    first = measure(tmp_path / "first")
    with subprocess.Popen([sys.executable, "-c", LOAD]) as load:
        try:
            second = measure(tmp_path / "second")
        finally:
            load.kill()
    assert first == second
    values = json.loads((tmp_path / "first").read_text())
    assert values == json.loads((tmp_path / "second").read_text())
    assert set(REPEATED) <= {value["name"] for value in values}
    assert all(set(value) == {"name", "value", "unit", "better"} for value in values)


def test_trap_is_what_was_executed() -> None:
    """The figure against a count of the functions that make it up, and the call of the stub."""
    programs = ("bench trap",)
    figure = bench.measure_operation(programs)[0]["median"]
    _, counts, kernel = bench.boot_counted(programs, marked=True)
    lines = hot.histogram(counts, kernel, [hot.Image("bench", find_program("bench"))]).lines
    stub = next(line for line in lines if line.function == "null_trap")
    in_kernel = sum(line.instructions for line in lines if line.image == "kernel")
    executed = (stub.instructions + in_kernel) / stub.calls + 1
    # A clock tick or two may come into the window of a thousand traps.
    assert figure <= executed < figure + 2


def test_usage(machine) -> None:
    """A name that is no benchmark, and counts out of range, end in the usage."""
    result = machine(["bench no-such-name"])
    assert (result.status, result.output[:6]) == (2, b"usage:")
    assert machine(["bench trap 0"]).status == 2
    assert machine(["bench trap 4001"]).status == 2


def test_without_the_instruction_clock_there_is_no_figure(machine) -> None:
    """Here an instruction is several counts, as many as the host's speed has them be."""
    result = machine(["bench trap"], icount=False, accel="icount")
    assert (result.outcome, result.status) == ("exit", NOT_THE_CLOCK)
    assert b"fixed instruction clock" in result.output
    assert b"median" not in result.output


def test_unknown_row() -> None:
    command = [ROOT / "tools" / "bench", "trap", "no-such-row"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stdout == ""
    for name in ("no-such-row", "trap", "stretch"):
        assert name in run.stderr


def test_rows_come_in_their_order() -> None:
    assert [row.name for row in bench.choose(["lines", "trap"])] == ["trap", "lines"]
    assert bench.choose([]) == list(bench.ROWS)


@pytest.mark.parametrize(
    ("some", "status"),
    [
        (row(45, 45), 0),
        (row(45.1, 45), 1),
        (row(45), 0),
        (row(40, 45, limits=bench.limits(0, 0, 0, 1)), 0),
        (row(40, 45, limits=bench.limits(0, 0, 0, 0)), 1),
    ],
    ids=["kept", "missed", "no-target", "costs-kept", "costs-missed"],
)
def test_check(judge, capsys, some: bench.Row, status: int) -> None:
    assert judge([some], "--check")[0] == status
    captured = capsys.readouterr()
    assert ("MISSED" in captured.out) == bool(status)
    assert ("missed: some:" in captured.err) == bool(status)
    assert judge([some])[0] == 0, "without --check nothing fails"


def test_values(judge) -> None:
    figure = bench.Figure(7, None, "a note", (("part", 3.5),))
    some = bench.Row("some", "Some row", "units", lambda: figure)
    assert judge([some])[1] == [
        {"name": "some", "value": 7, "unit": "units", "better": "less"},
        {"name": "some.part", "value": 3.5, "unit": "units", "better": "less"},
    ]
    names = [value["name"] for value in judge([row(7)])[1]]
    assert names == ["some", "some.cr3", "some.flushes", "some.ipis", "some.locked"]


def test_counts_that_disagree_are_refused() -> None:
    bench.cross_check({"cr3": 2000, "flushes": 7}, {"cr3": 2004, "invlpg": 3})
    with pytest.raises(ToolError, match="counted 2000 .* but 1900"):
        bench.cross_check({"cr3": 2000, "flushes": 0}, {"cr3": 1900, "invlpg": 0})


@pytest.mark.parametrize("smallest", [1, 16, 17, 255, 256])
def test_bisection(monkeypatch, smallest: int) -> None:
    monkeypatch.setattr(bench, "boots", lambda mem: mem >= smallest)
    assert bench.measure_memory().value == smallest


def test_text_is_the_kernels_code() -> None:
    """By another road: the sizes of its functions; between them is alignment."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    text = bench.measure_text().value
    in_functions = sum(f.end - f.start for f in kernel.functions)
    assert in_functions <= text < 1.5 * in_functions
