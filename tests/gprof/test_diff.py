# SPDX-License-Identifier: MIT
"""--diff: what differs between two profiles, and what only seems to."""

import math
import random
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from gprof.gmon import (FUNCTION_BYTES, GPROF, PERIODIC, USER, ZFILL, Profile, make_program, output,
                        run)

NAMES = [f"f{i}" for i in range(20)]
MOVED = ["fresh", *reversed(NAMES[1:])]  # Another build: all elsewhere, one new, one gone.
LINE = re.compile(r"^ *(-|[\d.]+) +(-|[\d.]+) +(-|[\d.]+) +(-|[\d.]+) +([+-][\d.]+) +([\d.]+) +"
                  r"([\d.]+|exact)(\*?) +(-|\d+) +(-|\d+) (!?) *(\S+)$", re.MULTILINE)


class Row(NamedTuple):
    before: str
    after: str
    difference: float
    error: float
    sure: str
    is_marked: bool
    calls: tuple[str, str]
    is_other: bool


def read(text: str) -> dict[str, Row]:
    """In the order of the table."""
    return {row[12]: Row(row[1], row[3], float(row[5]), float(row[6]), row[7], bool(row[8]),
                         (row[9], row[10]), bool(row[11])) for row in LINE.finditer(text)}


@pytest.fixture(name="programs", scope="module")
def programs_fixture(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("programs")
    return make_program(folder / "old", NAMES), make_program(folder / "new", MOVED)


def write(path: Path, names: list[str], counts: dict[str, int], calls: dict[str, int] | None = None,
          rate: int = 1000, **values: int) -> Path:
    bins, exact, arcs = [0] * (len(names) * FUNCTION_BYTES // 2), [], []
    for name, count in counts.items():
        place = FUNCTION_BYTES * names.index(name)
        bins[place // 2] = min(count, 65535)
        exact.append((PERIODIC, 0, USER + place, count))
    for name, count in (calls or {}).items():
        arcs.append((USER + 5, USER + FUNCTION_BYTES * names.index(name), count))
    path.write_bytes(Profile(USER, bins, arcs, rate=rate, dimension="seconds", exact=exact, values={
        "flavor": PERIODIC, "flavors": PERIODIC, "interval": 10**9 // rate, "lost": 0} | values
        ).ours())
    return path


def test_two_builds(programs, tmp_path: Path) -> None:
    """By name, wherever functions are now; numbers as another computes them."""
    old = write(tmp_path / "old", NAMES, {"f0": 40, "f1": 100, "f2": 400, "f3": 3},
                {"f1": 5, "f2": 7, "f4": 1})
    new = write(tmp_path / "new", MOVED, {"fresh": 90, "f1": 300, "f2": 410, "f3": 5},
                {"f1": 5, "f2": 8})
    text = output("--diff", programs[0], old, programs[1], new)
    rows = read(text)
    error = math.sqrt(402)
    assert rows["f1"][:4] == ("0.100", "0.300", 0.200, pytest.approx(error / 1000, abs=6e-4))
    assert rows["f1"].calls == ("5", "5") and not rows["f1"].is_other
    assert rows["f2"].calls == ("7", "8") and rows["f2"].is_other
    assert (rows["fresh"].before, rows["fresh"].after) == ("-", "0.090")
    assert (rows["f0"].before, rows["f0"].after, rows["f0"].difference) == ("0.040", "-", -0.04)
    assert rows["f4"].calls == ("1", "-")
    assert {name for name, row in rows.items() if row.is_marked} == {"f1", "fresh", "f0"}
    sure = [float(row.sure) for row in rows.values()]
    assert sure == sorted(sure, reverse=True) and sure[0] == pytest.approx(200 / error, abs=0.06)
    assert "before: " in text and ": 543 samples of 1 ms; lost and missed: 0" in text


def poisson(random_: random.Random, mean: float) -> int:
    """How many of events that are equally likely at all times."""
    count, at = -1, 0.0
    while at < mean:
        at += random_.expovariate(1)
        count += 1
    return count


@pytest.mark.parametrize("how", ["times", "shares"])
def test_chance_is_told_from_change(programs, tmp_path: Path, how: str) -> None:
    """Of twenty functions that did not change one is marked in a comparison of twenty at most; one
    that takes half as long again is nearly always."""
    random_, false, found, runs = random.Random(7), 0, 0, 60
    means = {name: 4 * (i + 1) for i, name in enumerate(NAMES)}
    for _ in range(runs):
        files = []
        for i in range(2):
            counts = {name: poisson(random_, mean) for name, mean in means.items()}
            counts["f19"] = poisson(random_, 800 if i == 0 else 1200)
            files.append(write(tmp_path / str(i), NAMES, counts))
        rows = read(output(f"--diff={how}", programs[0], *files))
        found += rows["f19"].is_marked
        false += any(row.is_marked for name, row in rows.items() if name != "f19")
    assert found == runs
    if how == "times":  # In shares the others did change, by what f19 has more.
        assert false <= runs / 20 + 3 * math.sqrt(runs / 20)


@pytest.mark.parametrize("how", ["times", "shares"])
def test_losses_are_held_against_it(programs, tmp_path: Path, how: str) -> None:
    """What was lost before may have been what is more now, and the other way round."""
    for first, second, losses in ((100, 300, (0, 190)), (300, 100, (190, 0))):
        for side, lost in enumerate(losses):
            marks = {}
            for kind in "none", "lost", "missed":
                files = [write(tmp_path / str(i), NAMES, {"f1": count, "f2": 1000}, due=5000,
                               **({kind: 190} if kind != "none" and i == side else {}))
                         for i, count in enumerate((first, second))]
                marks[kind] = read(output(f"--diff={how}", programs[0], *files))["f1"].is_marked
            is_hurt = lost == 0  # Of the side with less.
            assert marks["none"] and marks["lost"] == marks["missed"] == (not is_hurt), (side, lost)


def test_none_is_not_surely_none(programs, tmp_path: Path) -> None:
    files = [write(tmp_path / str(i), NAMES, {"f1": count, "f2": 50})
             for i, count in enumerate((0, 5))]
    row = read(output("--diff", programs[0], *files))["f1"]
    assert not row.is_marked and float(row.sure) == pytest.approx(5 / math.sqrt(7), abs=0.06)


def test_other_rates_and_lengths(programs, tmp_path: Path) -> None:
    """Ten times the rate is the same time; twice the time are the same shares."""
    slow = write(tmp_path / "slow", NAMES, {"f1": 100, "f2": 300}, rate=100)
    fast = write(tmp_path / "fast", NAMES, {"f1": 1000, "f2": 3000})
    long = write(tmp_path / "long", NAMES, {"f1": 2000, "f2": 6000})
    rows = read(output("--diff", programs[0], slow, fast))
    assert [row.difference for row in rows.values()] == [0, 0]
    assert rows["f1"].error == pytest.approx(math.sqrt(101 / 1e4 + 1001 / 1e6), abs=6e-4)
    assert all(row.is_marked for row in read(output("--diff", programs[0], fast, long)).values())
    shares = read(output("--diff=shares", programs[0], fast, long))
    assert not any(row.is_marked or row.difference for row in shares.values())
    assert shares["f1"].error == pytest.approx(
        100 * math.sqrt(0.25 * 0.75 * (1 / 4000 + 1 / 8000)), abs=0.01)
    for options, what in ((["-N"], "100 and 1000 samples a second"),
                          ([], "does not say how often")):
        if not options:
            slow.write_bytes(Profile(USER, [100] + [0] * 639).bsd())
        done = run(GPROF, "--diff", *options, programs[0], slow, fast)
        assert (done.returncode, done.stdout) == (1, "") and what in done.stderr


def test_events_are_exact(programs, tmp_path: Path) -> None:
    files = []
    for i, count in enumerate((100, 101)):
        path = tmp_path / str(i)
        path.write_bytes(Profile(USER, [count] + [0] * 639, dimension="zfill", values={
            "flavor": ZFILL, "flavors": ZFILL, "lost": 0}, exact=[(ZFILL, 0, USER, count)]).ours())
        files.append(path)
    row = read(output("--diff", programs[0], *files))["f0"]
    assert (row.difference, row.sure, row.is_marked) == (1, "exact", True)
    row = read(output("--diff", programs[0], files[0], files[0]))["f0"]
    assert (row.difference, row.is_marked) == (0, False)


def test_static_functions_of_one_name(tmp_path: Path) -> None:
    """Two of one name are told apart by their sources; one that moved is the same."""
    def build(name: str, sources: dict[str, str]) -> Path:
        objects = []
        for file, text in sources.items():
            (tmp_path / file).write_text(text)
            subprocess.run(["i686-linux-gnu-gcc", "-O0", "-fno-pic", "-c", "-o",
                            tmp_path / f"{name}{file}.o", file], cwd=tmp_path, check=True)
            objects.append(tmp_path / f"{name}{file}.o")
        subprocess.run(["i686-linux-gnu-ld", f"-Ttext={USER:#x}", "-e", "a", "-o", tmp_path / name,
                        *objects], check=True)
        return tmp_path / name

    one, two = "static int x(void) { return 1; }\n", "int {}(void) {{ return x(); }}\n"
    old = build("old", {"a.c": one + two.format("a"), "b.c": one + two.format("b")})
    files = []
    for i, (program, places) in enumerate(((old, "x"), (old, "x"))):
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        starts = [int(line.split()[0], 16) for line in symbols.splitlines()
                  if line.split()[2] == places]
        assert len(starts) == 2
        bins = [0] * ((max(starts) - USER) // 2 + 1)
        for j, start in enumerate(sorted(starts)):
            bins[(start - USER) // 2] = 100 * (j + 1) * (1 if i == 0 else 3 - 2 * j)
        files.append(tmp_path / f"gmon{i}")
        files[i].write_bytes(Profile(USER, bins, rate=100, dimension="seconds").gnu())
    text = output("--diff", old, *files)
    found = sorted((row[1], row[3]) for row in LINE.finditer(text) if row[12] == "x")
    assert found == [("1.00", "3.00"), ("2.00", "2.00")]


@pytest.mark.parametrize(("words", "what"), [
    (["P", "G"], "is of PROGRAM OLD NEW"), (["P", "G", "G", "G"], "is of PROGRAM OLD NEW"),
    (["P", "P", "G"], "is of PROGRAM OLD NEW"), (["P", "G", "P"], "is of PROGRAM OLD NEW"),
    (["P", "G", "P", "G", "P"], "is one program too many"), (["G", "G"], "is no program"),
    (["--diff=poems"], "--diff=poems: is of times or of shares"),
    (["-p", "P", "G", "G"], "leave out the options that choose tables"),
    (["P", "G", "N"], "cannot be read")], ids=str)
def test_wrong_words(programs, tmp_path: Path, words: list[str], what: str) -> None:
    file = write(tmp_path / "gmon.out", NAMES, {"f1": 1})
    names = {"P": programs[0], "G": file, "N": tmp_path / "none"}
    done = run(GPROF, "--diff", *(names.get(word, word) for word in words))
    assert (done.returncode, done.stdout) == (1, "") and what in done.stderr


def test_several_profiles_of_each(programs, tmp_path: Path) -> None:
    old = [write(tmp_path / f"o{i}", NAMES, {"f1": 10}) for i in range(3)]
    new = [write(tmp_path / f"n{i}", MOVED, {"f1": 20}) for i in range(2)]
    row = read(output("--diff", programs[0], *old, programs[1], *new))["f1"]
    assert (row.before, row.after) == ("0.030", "0.040")
