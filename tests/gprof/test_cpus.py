# SPDX-License-Identifier: MIT
"""What became of each CPU's due times: in tables and in views, of a gmon.out and of a recording."""

import json
import re
from pathlib import Path

import pytest
from gprof import perf_file
from gprof.gmon import EXTRA_CPU, PERIODIC, USER, Profile, make_program, output

NAMES = ("due", "fired", "missed", "parked", "idle", "elsewhere", "taken")
GMON = (9, 10, 11, 26, 12, 13, 14)  # Their numbers in <gmon.h>.
CPUS = [(100, 40, 3, 57, 10, 5, 25), (101, 60, 0, 41, 20, 0, 40)]
IN_TURN = 1 << 30


def words(cpus: list[tuple[int, ...]]) -> list[str]:
    return [f"cpu{n}=" + ",".join(f"{name}:{count}" for name, count in zip(NAMES, counts))
            for n, counts in enumerate(cpus)]


def sums(cpus: list[tuple[int, ...]]) -> dict[str, int]:
    return {name: sum(counts) for name, counts in zip(NAMES, zip(*cpus))}


def gmon(cpus: list[tuple[int, ...]]) -> bytes:
    extra = [(EXTRA_CPU, n << 8 | number, count) for n, counts in enumerate(cpus)
             for number, count in zip(GMON, counts)]
    total = sums(cpus)
    values = total | {"flavor": PERIODIC, "flavors": PERIODIC, "interval": 1000000,
                      "options": IN_TURN, "all_taken": total["taken"],
                      "delivered": total["taken"], "lost": 0}
    return Profile(USER, [total["taken"]] + [0] * 63, values=values, extra=extra,
                   exact=[(PERIODIC, 0, USER, total["taken"])]).ours()


def recording(cpus: list[tuple[int, ...]]) -> bytes:
    """The first line of counts is of the beginning alone: the last one holds."""
    total = sums(cpus)
    early = [tuple(count // 2 for count in counts) for counts in cpus]
    samples = [perf_file.Sample(PERIODIC, 9, 9, 9, [USER], [], time=n)
               for n in range(total["taken"])]
    return b"".join([
        perf_file.header(), perf_file.event(PERIODIC, "periodic", 1000000),
        perf_file.task(9, 9, "program", []), perf_file.image(9, USER, 0x80, 0x1000, "program"),
        perf_file.counts(*words(early), lost=0, options=IN_TURN, **sums(early)),
        *(perf_file.sample(sample, 1000000) for sample in samples),
        perf_file.counts(*words(cpus), lost=0, options=IN_TURN, **total)])


FILES = {"gmon.out": gmon, "recording": recording}


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    return make_program(tmp_path_factory.mktemp("cpus") / "program", ["main", "work"])


def rows(text: str) -> list[tuple[int, ...]]:
    """From the table: without the CPU's number, which counts up."""
    table = re.search(rf"^ +cpu +{' +'.join(NAMES)}\n((?: +\d+(?: +\d+)+\n)*)", text, re.M)
    if table is None:
        return []
    lines = [tuple(map(int, line.split())) for line in table[1].splitlines()]
    assert [line[0] for line in lines] == list(range(len(lines)))
    return [line[1:] for line in lines]


@pytest.mark.parametrize("kind", FILES)
def test_a_row_for_each(program: Path, tmp_path: Path, kind: str) -> None:
    file = tmp_path / kind
    file.write_bytes(FILES[kind](CPUS))
    text = output("-b", "-p", program, file)
    assert rows(text) == CPUS and "add up" not in text


@pytest.mark.parametrize("kind", FILES)
def test_a_row_that_does_not_add_up(program: Path, tmp_path: Path, kind: str) -> None:
    """Whichever count is wrong, of that CPU and of no other."""
    for column in range(len(NAMES)):
        wrong = list(CPUS[1])
        wrong[column] += 1
        file = tmp_path / kind
        file.write_bytes(FILES[kind]([CPUS[0], tuple(wrong)]))
        found = re.findall(r"^ +(\d+) .*  does not add up$",
                           output("-b", "-p", program, file), re.M)
        assert found == ["1"], NAMES[column]


def test_files_are_summed(program: Path, tmp_path: Path) -> None:
    """What -s writes says the same as the files together."""
    one, two, sum_ = tmp_path / "one", tmp_path / "two", tmp_path / "gmon.sum"
    two.write_bytes(gmon(CPUS))
    one.write_bytes(gmon(CPUS))
    doubled = [tuple(2 * count for count in counts) for counts in CPUS]
    assert rows(output("-b", "-p", program, two, one)) == doubled
    output("-s", "-b", program, two, one, cwd=tmp_path)
    assert rows(output("-b", "-p", program, sum_)) == doubled


@pytest.mark.parametrize("kind", FILES)
def test_views_say_it_too(program: Path, tmp_path: Path, kind: str) -> None:
    file, again = tmp_path / kind, tmp_path / "again"
    file.write_bytes(FILES[kind](CPUS))
    cpus = json.loads(output("--view=json", program, file))["cpus"]
    assert [tuple(one[name] for name in NAMES) for one in cpus] == CPUS
    for view in ("callgrind", "perf-script"):
        text = output(f"--view={view}", program, file)
        assert all(re.search(rf"^#? ?.*{word}$", text, re.M) for word in words(CPUS)), view
