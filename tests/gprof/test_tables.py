# SPDX-License-Identifier: MIT
"""What the tables say: names in angle brackets, flavors, options; where GNU's gprof is wrong."""

import re
import subprocess
from pathlib import Path

import pytest
from gprof.gmon import (COW, FUNCTION_BYTES, GNU, GPROF, PERIODIC, USER, ZFILL, Profile, assemble,
                        make_program, output, read_flat, read_graph)

NAMES = ["main", "work", "leaf", "rest", "mcount", "mcountaux", "hidden"]
MAIN, WORK, LEAF, REST, MCOUNT, AUX, HIDDEN = (USER + FUNCTION_BYTES * i for i in range(7))
N_BINS = len(NAMES) * FUNCTION_BYTES // 2
CODE = {"main": ["work", "leaf"], "rest": ["work"], "leaf": ["leaf"]}


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    return make_program(tmp_path_factory.mktemp("gprof") / "program", NAMES, calls=CODE,
                        static=("hidden",))


@pytest.fixture(name="gprof")
def gprof_fixture(program: Path, tmp_path: Path):
    """Runs a gprof, ours unless told otherwise, over a profile of these samples and calls."""

    def gprof(counts: dict[int, int], arcs=(), *options: str, gnu: bool = False,
              ours: dict | None = None, exact=()) -> str:
        bins = [0] * N_BINS
        for pc, count in counts.items():
            bins[(pc - USER) // 2] += count
        profile = Profile(USER, bins, list(arcs), exact=list(exact))
        if ours is not None:
            profile.values = {"flavor": PERIODIC, "flavors": PERIODIC, "interval": 1000000} | ours
            profile.exact += [(profile.values["flavor"], 0, pc, n) for pc, n in counts.items()]
        file = tmp_path / "gmon.out"
        file.write_bytes(profile.gnu() if ours is None else profile.ours())
        return output("-b", *options, program, file, gprof=GNU if gnu else GPROF)

    return gprof


def entry(text: str, name: str) -> str:
    """The entry of a function: all lines between two rules."""
    own = re.compile(rf"^\[\d+\].* {re.escape(name)} ", re.MULTILINE)
    return next(part for part in re.split(r"^-{40,}$", text, flags=re.MULTILINE)
                if own.search(part))


# ---------------- Names in angle brackets ----------------

def test_counting_calls_is_in_the_flat_profile_alone(gprof) -> None:
    """GNU takes the time of mcount out of both; mcountaux, which it does not know, of none."""
    arguments = {LEAF: 100, MCOUNT: 15, AUX: 5}, [(MAIN + 5, LEAF, 1), (LEAF + 5, MCOUNT, 1)]
    text = gprof(*arguments)
    flat, graph = read_flat(text), read_graph(text)
    assert flat == {"leaf": (100, 1), "mcount": (15, 0), "mcountaux": (5, 0)}
    assert graph.keys() == {"main", "leaf"} and "mcount" not in entry(text, "leaf")
    assert re.search(r"^\[\d\] +100\.0 .* main", text, re.MULTILINE), "shares are of the graph"
    theirs = gprof(*arguments, gnu=True)
    assert re.search(r"^ .* mcountaux$", theirs, re.MULTILINE)
    assert not re.search(r"^ .* mcount$", theirs, re.MULTILINE)


def test_nobody_is_given_what_is_outside(tmp_path: Path) -> None:
    """GNU gives samples between two functions to the one before."""
    gap = assemble(tmp_path / "gap", ".globl a, b\n.type a,@function\na: ret\n.size a,.-a\n"
                   ".zero 63\n.type b,@function\nb: ret\n.zero 63\n.size b,64\n", "a")
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(USER, [1] + [0] * 15 + [100] + [0] * 15 + [7] + [0] * 31,
                             [(USER, USER + 64, 1)]).gnu())
    assert {name: row[0] for name, row in read_flat(output("-b", gap, file)).items()} == \
        {"a": 1, "b": 7, "<outside>": 100}
    theirs = read_graph(output("-b", "-q", gap, file, gprof=GNU))
    assert theirs["a"].self == 101


def test_the_kernel_stands_under_who_called_it(gprof) -> None:
    arcs = [(MAIN + 5, WORK, 1), (MAIN + 10, LEAF, 3)]
    text = gprof({WORK: 10}, arcs, "-N", ours={}, exact=[(PERIODIC, 1, WORK + 7, 30),
                                                         (PERIODIC, 1, LEAF, 2)])
    graph = read_graph(text)
    assert read_flat(text)["<kernel>"] == (32, 0)
    assert (graph["work"].self, graph["work"].child) == (10, 30)
    assert (graph["leaf"].self, graph["leaf"].child) == (0, 2)
    assert graph["main"].child == 42
    assert re.search(r"^ +30\.00 +0\.00 +<kernel> \[\d\]$", entry(text, "work"), re.MULTILINE)
    assert re.search(r"^ +30\.00 +0\.00 +work \[\d\]$", entry(text, "<kernel>"), re.MULTILINE)


def test_the_kernel_under_many(gprof) -> None:
    """Without any call that was counted, as in a profile of a program without -pg."""
    places = (MAIN, WORK, LEAF, REST, HIDDEN)
    graph = read_graph(gprof({}, [], "-N", ours={},
                             exact=[(PERIODIC, 1, place, 3) for place in places]))
    assert [graph[name].child for name in ("main", "work", "leaf", "rest", "hidden")] == [3] * 5
    assert graph["<kernel>"].self == 15


def test_unknown_callers_count(gprof) -> None:
    """GNU drops their calls, so that the known ones get all of the time."""
    arcs = [(MAIN + 5, LEAF, 1), (0, LEAF, 2), (0xC0100000, LEAF, 1)]
    text = gprof({LEAF: 100}, arcs)
    assert (read_graph(text)["leaf"].calls, read_graph(text)["main"].child) == (4, 25)
    assert re.search(r"75\.00 +0\.00 +3/4 +<spontaneous>", entry(text, "leaf"))
    theirs = read_graph(gprof({LEAF: 100}, arcs, "-q", gnu=True))
    assert (theirs["leaf"].calls, theirs["main"].child) == (1, 100)


def test_what_was_lost_is_in_every_report(gprof) -> None:
    values = {"due": 1000, "fired": 990, "missed": 10, "taken": 100, "idle": 890, "all_taken": 100,
              "delivered": 93, "lost": 7, "profiler": 3}
    text = gprof({LEAF: 90}, [], ours=values)
    line = "lost: 7; missed by the clock: 10 of 1000 due (1.00%); the profiler's own: 3\n"
    assert text.count(line) == 2 and "add up" not in text
    assert read_flat(text)["<profiler>"] == (0.003, 0)
    assert line in gprof({LEAF: 90}, [], "-x", "leaf", ours=values)
    assert "due, and fired + missed + parked: 1001 and 1000" in gprof(
        {LEAF: 90}, [], ours=values | {"due": 1001})
    assert gprof({LEAF: 90}, []).count("the profile does not say\n") == 2


def test_what_was_parked_is_not_due(gprof) -> None:
    values = {"due": 4000, "fired": 990, "missed": 10, "parked": 3000, "taken": 100, "idle": 890,
              "all_taken": 100, "delivered": 100, "lost": 0, "options": 1 << 30}
    text = gprof({LEAF: 90}, [], ours=values)
    assert text.count("lost: 0; missed by the clock: 10 of 1000 due (1.00%)\n") == 2
    assert text.count("the emulator ran the CPUs in turn: ") == 2 and "parked: 3000\n" in text
    assert "add up" not in text
    values["parked"] -= 1
    assert "fired + missed + parked: 4000 and 3999" in gprof({LEAF: 90}, [], ours=values)


def test_a_call_that_does_not_return(tmp_path: Path) -> None:
    """Its return address is the next function's first; GNU takes that one for the caller."""
    path = assemble(tmp_path / "ends", ".globl a, b\n.type a,@function\na: .zero 59\ncall b\n"
                    ".size a,64\n.type b,@function\nb: .zero 63\nret\n.size b,64\n", "a")
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(USER, [0] * 63 + [8], [(USER + 64, USER + 64, 5)]).gnu())
    graph = read_graph(output("-b", path, file))
    assert (graph["a"].child, graph["b"].calls, graph["b"].self_calls) == (8, 5, 0)
    assert read_graph(output("-b", "-q", path, file, gprof=GNU))["b"].self_calls == 5


# ---------------- Flavors ----------------

def test_flavors_are_columns(gprof) -> None:
    exact = [(ZFILL, 0, LEAF, 5), (COW, 0, WORK, 2), (COW, 1, WORK, 1)]
    values = {"flavors": PERIODIC | ZFILL | COW}
    text = gprof({LEAF: 1000}, [(MAIN + 5, LEAF, 1)], ours=values, exact=exact)
    flat = text[text.index("Flat"):]
    assert re.search(r"^ +periodic +zfill +cow$", flat, re.MULTILINE)
    assert re.search(r"^ 100\.0 +1\.000 100\.0 +5 +0\.0 +0 +1  leaf$", flat, re.MULTILINE)
    assert re.search(r"^ +0\.0 +0\.000 +0\.0 +0 +33\.3 +1 +<kernel>$", flat, re.MULTILINE)
    assert re.search(r"^\[\d\] .* 0\.000 +1\.000 +0\.00 +5\.00 +0\.00 +0\.00 .* main", text,
                     re.MULTILINE)
    alone = gprof({LEAF: 1000}, [], "--flavor=cow", ours=values, exact=exact)
    assert {name: row[0] for name, row in read_flat(alone).items()} == {"work": 2, "<kernel>": 1}


# ---------------- Options ----------------

def test_one_routine_by_address(gprof) -> None:
    text = gprof({MAIN: 1, MAIN + 5: 9, MAIN + 10: 10, LEAF: 4}, [], "-x", "main", "-N", ours={})
    assert "periodic: 20 of 24 samples (83.33%)" in text and "Call graph" not in text
    rows = re.findall(r"^(0804\w+) +\+(\d+) +(\d+) +([\d.]+) +(\w+)(.*)", text, re.MULTILINE)
    assert [(int(row[0], 16), *map(int, row[1:3]), row[4]) for row in rows] == \
        [(MAIN, 0, 1, "call"), (MAIN + 5, 5, 9, "call"), (MAIN + 10, 10, 10, "ret")]
    assert [row[3] for row in rows] == ["5.00", "45.00", "50.00"] and "<leaf>" in rows[1][5]
    assert gprof({MAIN: 8}, [], "-x", "main", "-x", "leaf").count("offset") == 2


def test_calls_that_the_code_has(gprof) -> None:
    """GNU finds no call backwards in a program of 32 bits."""
    arcs = [(MAIN + 5, WORK, 1)]
    text = gprof({WORK: 1}, arcs, "-c", "-z")
    assert "0/1" in entry(text, "rest"), "rest calls work, which lies before it"
    assert re.search(r"^ +0 +leaf", entry(text, "leaf"), re.MULTILINE), "leaf calls itself"
    assert "0/1" not in gprof({WORK: 1}, arcs, "-c", "-z", gnu=True)


def test_a_function_without_code_in_the_file_calls_nobody(tmp_path: Path) -> None:
    program = assemble(tmp_path / "program", """
        .text
        .globl main
        .type main, @function
        main: call later
        .balign 64
        .size main, . - main
        .section .later, "ax", @nobits
        .type later, @function
        later: .skip 64
        .size later, 64
        """, "main")
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(USER, [3] + [0] * 31).gnu())
    graph = read_graph(output("-b", "-c", "-z", program, file))
    assert {"main", "later"} <= set(graph)


CHAIN = [(MAIN + 5, WORK, 1), (WORK + 5, LEAF, 3), (REST + 5, LEAF, 1)]
TIMES = {MAIN: 10, WORK: 20, LEAF: 40, REST: 30}


@pytest.mark.parametrize(("options", "shown", "total"), [
    ([], {"main", "work", "leaf", "rest"}, 100),
    (["-e", "work"], {"main", "leaf", "rest"}, 100),
    (["-e", "main"], {"leaf", "rest"}, 100),  # work has no other caller, leaf has.
    (["-E", "main"], {"leaf", "rest"}, 40),   # A quarter of leaf's time is left.
    (["-f", "work"], {"work", "leaf"}, 100),
    (["-F", "work"], {"work", "leaf"}, 50),
    (["-k", "work", "leaf"], {"main", "work", "leaf", "rest"}, 100),
    (["-k", "work/leaf"], {"main", "work", "leaf", "rest"}, 100),
], ids=str)
def test_parts_of_the_graph(gprof, options: list[str], shown: set[str], total: int) -> None:
    text = gprof(TIMES, CHAIN, *options)
    graph = read_graph(text)
    assert graph.keys() == shown
    share = float(re.search(r"^\[\d\] +([\d.]+) +([\d.]+) +([\d.]+) .*leaf \[", text,
                            re.MULTILINE)[1])
    leaf = graph["leaf"].self + graph["leaf"].child
    assert share == pytest.approx(100 * leaf / total, abs=0.1)
    assert ("work" in entry(text, "leaf")) == ("-k" not in options)


def test_static_functions(gprof) -> None:
    counts = {AUX: 1, HIDDEN: 7}
    assert read_flat(gprof(counts))["hidden"] == (7, 0)
    assert read_flat(gprof(counts, [], "-a")) == {"mcountaux": (8, 0)}


def test_unused_functions(gprof) -> None:
    assert read_flat(gprof({LEAF: 1})).keys() == {"leaf"}
    assert read_flat(gprof({LEAF: 1}, [], "-z")).keys() == set(NAMES)


def test_cycles_are_broken(gprof) -> None:
    arcs = [(MAIN + 5, WORK, 9), (WORK + 5, LEAF, 9), (LEAF + 5, WORK, 1), (LEAF + 9, REST, 2),
            (REST + 5, LEAF, 1)]
    assert "cycle 1" in gprof({LEAF: 1}, arcs)
    assert "cycle 1" in gprof({LEAF: 1}, arcs, "-C", "4")
    text = gprof({LEAF: 1}, arcs, "-C2")
    assert "cycle" not in text and text.count("-C: arc taken out") == 2


def test_a_cycle_of_very_many_calls(tmp_path: Path) -> None:
    names = [f"f{i}" for i in range(100)]
    program, file = make_program(tmp_path / "many", names), tmp_path / "gmon.out"
    places = [USER + FUNCTION_BYTES * i for i in range(len(names))]
    arcs = [(one + 5, other, 1 + (one ^ other) % 5) for i, one in enumerate(places)
            for other in (places[(i + 1) % 100], places[(i + 7) % 100], places[(i * 3) % 100])]
    file.write_bytes(Profile(USER, [1] * (100 * FUNCTION_BYTES // 2), arcs).gnu())
    assert "<cycle 1 as a whole>" in output("-b", program, file)
    text = output("-b", "-C2", program, file)
    assert "<cycle" not in text and 0 < text.count("-C: arc taken out") < len(arcs) / 2


def test_explanations_and_index(program: Path, gprof, tmp_path: Path) -> None:
    brief = gprof(TIMES, CHAIN)
    long = output(program, tmp_path / "gmon.out")
    assert "share of all samples" in long and "share of all samples" not in brief
    index = brief[brief.index("Index by function name"):].split()[4:]
    names = index[1::2]
    assert sorted(names) == ["leaf", "main", "rest", "work"]


@pytest.fixture(name="sourced", scope="module")
def sourced_fixture(tmp_path_factory) -> Path:
    """A program with debug information."""
    folder = tmp_path_factory.mktemp("sourced")
    (folder / "a.c").write_text("int one(int x)\n{\n\treturn x * 7;\n}\n\n"
                                "int two(int x)\n{\n\treturn one(x) / 3;\n}\n")
    subprocess.run(["i686-linux-gnu-gcc", "-g", "-O1", "-fno-inline", "-nostdlib", "-static",
                    "-fno-pic", "-no-pie", f"-Wl,-Ttext={USER:#x},-e,one", "-o", "a", "a.c"],
                   cwd=folder, check=True)
    (folder / "gmon.out").write_bytes(Profile(USER, [3] + [0] * 7 + [1]).gnu())
    return folder


def test_lines(sourced: Path) -> None:
    text = output("-b", "-l", "a", "gmon.out", cwd=sourced)
    assert re.search(r"^ +75\.00 +3  \S*a\.c:2 \(one\)$", text, re.MULTILINE)
    text = output("-b", "-A", "a", "gmon.out", cwd=sourced)
    assert re.search(r"^ +75\.00 +3 +2  {$", text, re.MULTILINE)
    assert re.search(r"^ +4  }$", text, re.MULTILINE)
    assert re.search(r"a\.c:2$", output("-b", "-x", "one", "a", "gmon.out", cwd=sourced),
                     re.MULTILINE)
