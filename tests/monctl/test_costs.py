# SPDX-License-Identifier: MIT
"""What a use of monctl costs does not grow with what it has seen; and the book says how much."""

import re
from pathlib import Path

import pytest
from assay import OUT, ROOT, uses
from assay.files import Files, Get

from monctl import perf_data

LIMIT = 60
BOOK = ROOT / "docs" / "sampling.md"
SOON = 600  # Commands that end between two messages, where nobody samples fast.


@pytest.mark.nightly  # `tools/bench --check` has it, too.
@pytest.mark.skipif(OUT.name == "san", reason="what checks cost is not monctl's")
def test_the_whole_machine_at_work_with_short_commands() -> None:
    """The dearest use: two tasks for each command, of whom the recorder has to learn."""
    rate, work = 10000, "commands"
    (cost,) = uses.measure(("all-record",), (rate,), (work,)).values()
    most = uses.MOST["all-record"]
    assert 0 < cost.ends <= most.ends
    assert 0 < cost.slower[rate, work] <= most.slower[rate, work]


def rows_of_book() -> dict[str, list[str]]:
    table = BOOK.read_text().partition("### A whole use")[2].partition("\n#")[0]
    rows = [re.split(r" *\| *", line) for line in table.splitlines() if line.startswith("| `")]
    return {row[1]: row[2:-1] for row in rows}


@pytest.mark.parametrize("use", uses.USES)
def test_the_book_has_the_limits_that_bench_keeps(use: str) -> None:
    command = uses.USES[use].replace("sh all '{work}'", "monctl -for all")
    words = re.sub(r" -rate \{rate\}| -monfile profile| recording| \{work\}", "", command)
    words += " -record" * use.startswith("all")
    most = uses.MOST[use]
    limits = [most.ends / 1e6, *most.slower.values()]
    assert rows_of_book()[f"`{words}`"] == [f"{limit:g}" for limit in limits]


def test_programs_of_which_many_end_at_once(unix_machine, tmp_path: Path) -> None:
    """All are known by name when their samples come, though nobody looked while they ran."""
    result = unix_machine(
        "cd; monctl -for all -on any -record file & M=$!; monctl -help >/dev/null; n=0; "
        f"while [ $n -lt {SOON} ]; do /bin/true; n=$((n + 1)); done; kill $M; wait $M",
        user="root", limit=LIMIT, files=Files(get=(Get("/root/file", tmp_path / "file"),)))
    assert (result.outcome, result.status) == ("exit", 0)
    recording = perf_data.read((tmp_path / "file").read_bytes())
    names = [recording.labels[sample.label] for sample in recording.samples]
    assert not [name for name in names if "task-" in name]
    assert len({name for name in names if name.endswith(":true")}) == SOON
