# SPDX-License-Identifier: MIT
"""--tree: a call tree out of stacks, or out of calls."""

import os
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from gprof.gmon import (COW, FUNCTION_BYTES, GPROF, PERIODIC, USER, ZFILL, Profile, make_bins,
                        make_program, output, read_graph, run)
from gprof.test_stacks import FUNCTIONS, random_samples, write

NAMES = ["main", "work", "leaf", "rest"]
MAIN, WORK, LEAF, REST = (USER + FUNCTION_BYTES * i for i in range(4))
CHAIN = [(MAIN + 5, WORK, 1), (WORK + 5, LEAF, 3), (REST + 5, LEAF, 1)]
LINE = re.compile(r"^ *([\d.]+) +([\d.]+) +([\d.]+)  ((?:[|`] ?[- ]? ?|   )*)(\S.*)$")


@pytest.fixture(name="plain", autouse=True)
def plain_fixture(monkeypatch) -> None:
    for name in "LC_ALL", "LC_CTYPE", "LANG":
        monkeypatch.delenv(name, raising=False)


def read(text: str) -> list[tuple[tuple[str, ...], float, float, float]]:
    """Paths with share, own share and amount, in the order of the tree."""
    path: list[str] = []
    found = []
    for line in text[text.index("function\n"):].splitlines()[1:]:
        match = LINE.match(line)
        if match:
            del path[len(match[4]) // 3:]
            path.append(match[5])
            found.append((tuple(path), *(float(match[i]) for i in (1, 2, 3))))
    return found


@pytest.fixture(name="made", scope="module")
def made_fixture(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_program(folder / "program", NAMES)
    bins = make_bins(NAMES, {MAIN: 10, WORK: 20, LEAF: 40, REST: 30})
    (folder / "gmon.out").write_bytes(Profile(USER, bins, CHAIN).gnu())
    cycle = [*CHAIN, (LEAF + 5, WORK, 2)]
    (folder / "cycle").write_bytes(Profile(USER, bins, cycle).gnu())
    return folder


def test_out_of_calls(made: Path) -> None:
    """Divided by calls, and said so; each part of a function is divided below it as the whole."""
    text = output("--tree", "program", "gmon.out", cwd=made)
    assert "callers are estimated for " in text and "Call graph" not in text
    assert read(text) == [
        (("main",), 60, 10, 60), (("main", "work"), 50, 20, 50),
        (("main", "work", "leaf"), 30, 30, 30), (("rest",), 40, 30, 40),
        (("rest", "leaf"), 10, 10, 10)]


@pytest.mark.parametrize(("flavors", "names"), [
    ({ZFILL: 3}, []), ({ZFILL: 3, COW: 4}, ["zfill", "cow"]),
    ({PERIODIC: 200, ZFILL: 3, COW: 4}, ["periodic", "zfill", "cow"])], ids=["one", "two", "three"])
def test_a_tree_for_each_flavor(made: Path, flavors: dict[int, int], names: list[str]) -> None:
    """By its name, unless there is one only."""
    profile = Profile(USER, make_bins(NAMES, {LEAF: flavors.get(PERIODIC, 0)}), CHAIN,
                      values={"flavor": PERIODIC, "flavors": sum(flavors), "interval": 1000000},
                      exact=[(flavor, 0, LEAF, count) for flavor, count in flavors.items()])
    (made / "flavors").write_bytes(profile.ours())
    text = output("--tree", "program", "flavors", cwd=made)
    assert re.findall(r"^(\w+):$", text, re.MULTILINE) == names
    trees = text.split("function\n")[1:]
    assert len(trees) == len(flavors)
    for tree, (flavor, count) in zip(trees, flavors.items()):
        roots = [row for row in read("function\n" + tree) if len(row[0]) == 1]
        assert sum(row[1] for row in roots) == pytest.approx(100)
        assert sum(row[3] for row in roots) == (0.2 if flavor == PERIODIC else count)


def test_a_cycle_is_one_place(made: Path) -> None:
    rows = {path: rest for path, *rest in read(output("--tree", "program", "cycle", cwd=made))}
    cycle = next(path[1] for path in rows if path[0] == "main" and len(path) == 2)
    assert re.fullmatch(r"<cycle 1> (work leaf|leaf work)", cycle)
    assert rows["main", cycle] == [30, 30, 30] and rows["rest", cycle] == [30, 30, 30]


@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_the_graph(tmp_path: Path, seed: int) -> None:
    """However many paths there are to a function, they have together what its entry has."""
    random_, names = random.Random(seed), [f"f{i}" for i in range(12)]
    program, file = make_program(tmp_path / "program", names), tmp_path / "gmon.out"
    arcs = [(USER + FUNCTION_BYTES * i + 5, USER + FUNCTION_BYTES * j, random_.randrange(1, 9))
            for i in range(12) for j in range(i + 1, 12) if random_.random() < 0.3]
    bins = [0] * (12 * FUNCTION_BYTES // 2)
    for i in range(12):
        bins[i * FUNCTION_BYTES // 2] = random_.randrange(10_000, 60_000)
    file.write_bytes(Profile(USER, bins, arcs).gnu())
    rows = read(output("--tree", "--min-share=0", program, file))
    own, sums = 0.0, Counter()
    for path, share, self, amount in rows:
        own += self
        sums[path[-1]] += amount
        assert share >= self
    graph = read_graph(output("-b", "-q", program, file))
    assert own == pytest.approx(100, abs=0.05 * len(rows))
    for name, entry in graph.items():
        assert sums[name] == pytest.approx(entry.self + entry.child, abs=len(rows)), name


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    return make_program(tmp_path_factory.mktemp("gprof") / "program", FUNCTIONS)


def expected(chains: list[list[str]]) -> dict[tuple[str, ...], list[int]]:
    """All samples and own ones of each path, a function's calls of itself as one."""
    paths: dict[tuple[str, ...], list[int]] = {}
    for chain in chains:
        path: list[str] = []
        for name in reversed(chain):
            if path and path[-1].lstrip("^") == name:
                continue
            above = {one.lstrip("^") for one in path}
            path.append(f"^{name}" if name in above else name)
            paths.setdefault(tuple(path), [0, 0])[0] += 1
        paths[tuple(path)][1] += 1
    return paths


@pytest.mark.parametrize("seed", range(4))
def test_out_of_stacks(program: Path, tmp_path: Path, seed: int) -> None:
    """Measured, and said so: as somebody else counts the stacks, line by line."""
    samples = random_samples(seed)
    file = write(tmp_path / "perf.data", program, [sample for sample, _ in samples])
    text = output("--tree", "--min-share=0", "-w", "200", "-N", program, file)
    assert "nothing is divided by calls" in text
    rows = read(text)
    want = expected([chain for _, chain in samples])
    assert {path: amount for path, _, _, amount in rows} == \
        {path: counts[0] for path, counts in want.items()}
    for path, share, self, _ in rows:
        assert share == pytest.approx(100 * want[path][0] / len(samples), abs=0.051)
        assert self == pytest.approx(100 * want[path][1] / len(samples), abs=0.051)
    siblings: dict[tuple[str, ...], float] = {}
    for path, _, _, amount in rows:
        assert amount <= siblings.get(path[:-1], amount), "the largest first"
        siblings[path[:-1]] = amount


@pytest.mark.parametrize(("depth", "share"), [(1, 0), (3, 5), (200, 2), (2, 0), (200, 60)])
def test_what_is_cut_off_is_a_line(program: Path, tmp_path: Path, depth: int, share: int) -> None:
    """Below each function that is shown, all lines together have what it has."""
    samples = random_samples(9)
    file = write(tmp_path / "perf.data", program, [sample for sample, _ in samples])
    rows = read(output(f"--tree={depth}", f"--min-share={share}", "-N", "-w", "900", program, file))
    below, deepest = Counter(), 0
    for path, part, _, amount in rows:
        below[path[:-1]] += amount
        if path[-1] not in ("(others)", "(deeper)"):
            assert part >= share - 0.051
            deepest = max(deepest, len(path))
    own = {path: counts[1] for path, counts in
           expected([chain for _, chain in samples]).items()}
    assert below[()] == len(samples) and deepest <= depth
    for path, _, _, amount in rows:
        if path in below:
            assert below[path] == amount - own[path]
    assert any(row[0][-1][0] == "(" for row in rows)


def test_width_and_strokes(program: Path, tmp_path: Path) -> None:
    samples = random_samples(3)
    file = write(tmp_path / "perf.data", program, [sample for sample, _ in samples])
    for options, width in ([], 100), (["-w", "60"], 60), (["-w", "5"], 50):
        text = output("--tree", "--min-share=0", *options, program, file)
        lines = text[text.index("function\n"):].splitlines()
        assert max(map(len, lines)) <= width and text.isascii()
    for name, value, is_drawn in (("LANG", "C.UTF-8", True), ("LC_ALL", "de_DE.utf8", True),
                                  ("LANG", "C", False), ("LC_CTYPE", "de_DE.ISO-8859-1", False)):
        os.environ[name] = value
        drawn = output("--tree", program, file)
        del os.environ[name]
        assert ("\u251c\u2500 " in drawn) == is_drawn
        assert read(drawn.replace("\u251c\u2500 ", "|- ").replace("\u2502  ", "|  ")
                    .replace("\u2514\u2500 ", "`- ")) == read(output("--tree", program, file))


@pytest.mark.parametrize(("options", "what"), [
    (["--tree=0"], "0: the levels of --tree must be a whole number from 1 "),
    (["--tree=201"], "201: --tree has 200 levels at most"),
    (["--tree", "--min-share=101"], "101: --min-share is of percent"),
    (["--tree", "-f", "leaf"], "--tree: is of all functions"),
    (["--tree", "-k", "main/work"], "--tree: is of all functions"),
    (["--tree", "--view=json"], "--tree: is of all functions")], ids=str)
def test_wrong_trees(made: Path, options: list[str], what: str) -> None:
    done = run(GPROF, *options, "program", "gmon.out", cwd=made)
    assert (done.returncode, done.stdout) == (1, "") and what in done.stderr
