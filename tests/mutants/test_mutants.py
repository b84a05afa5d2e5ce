# SPDX-License-Identifier: MIT
"""tests/mutants/run makes the mutants that it should, the same for a seed, and tells what it found.

The whole way is gone in a tree of a few lines; the real one takes hours, of which `make nightly`
has a sample.
"""

import importlib.machinery
import importlib.util
import shutil
import subprocess
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import pytest
from assay import ROOT

RUN = ROOT / "tests" / "mutants" / "run"


@pytest.fixture(name="tool", scope="module")
def tool_fixture() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("mutants_run", str(RUN))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture(name="mutate", scope="module")
def mutate_fixture(tool: ModuleType) -> ModuleType:
    assert tool.AREAS
    return importlib.import_module("mutate")


SOURCE = """#include "x.h" /* == 1 */
static const int table = 7;

int f(int a)
{
\tint b = a + 1; /* a == b */

\tif (b == 3 || say("a == b"))
\t\treturn KERN_NO_SPACE;
\tfor (int i = 0; i < b; i++)
\t\tkernel_pause();
\tcount(b);
\tif (p == NULL)
\t\treturn 0;
}
"""


@pytest.mark.parametrize("kind, line, text", (
    ("operator", 8, '\tif (b != 3 || say("a == b"))'),
    ("operator", 8, '\tif (b == 3 && say("a == b"))'),
    ("operator", 10, "\tfor (int i = 0; i <= b; i++)"),
    ("constant", 8, '\tif (b == 4 || say("a == b"))'),
    ("condition", 8, '\tif (!(b == 3 || say("a == b")))'),
    ("condition", 8, "\tif (0)"),
    ("removed", 12, ""),
    ("error code", 9, "\t\treturn KERN_NOT_RECEIVER;"),
    ("pause", 11, ""),
    ("allocation", 13, "\tif (0)"),
))
def test_each_kind_is_made(mutate: ModuleType, kind: str, line: int, text: str) -> None:
    assert mutate.Mutant("f.c", line, kind, text) in mutate.mutants_of("f.c", SOURCE)


def test_what_is_no_code_is_left_alone(mutate: ModuleType) -> None:
    made = list(mutate.mutants_of("f.c", SOURCE))
    assert not [mutant for mutant in made if mutant.line in (1, 2, 4)]
    assert all('"a == b"' in mutant.text for mutant in made
               if mutant.line == 8 and "(0)" not in mutant.text)


def test_a_seed_is_a_choice(mutate: ModuleType, tool: ModuleType) -> None:
    for area in tool.AREAS.values():
        mutants = mutate.all_mutants(ROOT, area.sources)
        first = [list(mutate.choose(mutants, seed))[:40] for seed in (1, 1, 2)]
        assert first[0] == first[1] != first[2]
        assert len({mutant.kind for mutant in first[0]}) == len({m.kind for m in mutants})


# ---------------- The whole way ----------------

PROGRAM = """int main(int n, char **words)
{
\tif (n > 5)
\t\treturn n;
\treturn **words == 'x';
}
"""
MAKEFILE = """out/toy: out/obj/toy/toy.c.o
\tgcc -o $@ $<
out/obj/toy/toy.c.o: toy/toy.c
\tmkdir -p $(@D) && gcc -O1 -g -c -o $@ $<
"""
TEST = """import subprocess
def test_one(): assert subprocess.run(["x"], executable="out/toy").returncode == 1
def test_other(): assert subprocess.run(["y"], executable="out/toy").returncode == 0
def test_broken(): assert False
"""


@pytest.fixture(name="toy")
def toy_fixture(tmp_path: Path) -> Path:
    files = {"Makefile": MAKEFILE, "toy/toy.c": PROGRAM, "tests/toy/test_toy.py": TEST,
             "tests/toy/test_slow.py": "def test_slow(): assert False",
             "tests/pytest.ini": "[pytest]\n", "out/kept": "", ".gitignore": "out/\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def test_the_whole_way(tool: ModuleType, toy: Path, capsys) -> None:
    """What the tests ask for is found, the rest is not; a test that fails anyway proves nothing."""
    area = tool.Area(("toy/*.c",), "out/obj/{source}.o", ("out/toy",), ("toy/*.py",),
                     ("toy/test_slow",))
    options = Namespace(seed=3, count=99, seconds=60)
    found = {(verdict.mutant.line, verdict.mutant.text.strip()): verdict.found
             for verdict in tool.try_area(toy, toy / "out" / "mutants", area, options)}
    assert found[5, "return **words != 'x';"] is True
    assert found[3, "if (!(n > 5))"] is True
    assert found[3, "if (n >= 5)"] is False
    told = capsys.readouterr().out
    assert "without any mutant this fails" in told and "test_broken" in told
    assert "test_slow" not in told
    assert "\n    - if (n > 5)\n    + if (n >= 5)\n" in told
    assert (toy / "toy" / "toy.c").read_text() == PROGRAM


# ---------------- The real ones ----------------

ROLLUP = "lib/rollup/rollup.c"
ITS_TEST = "tests/gprof/host/rollup.c"
ROLLUP_S_MAKEFILE = f"""out/rollup: out/obj/{ROLLUP}.o {ITS_TEST}
\tgcc -Ilib -Itests/lib -Itests/lib/host -o $@ $^ tests/lib/host/host.c tests/lib/check.c
out/obj/{ROLLUP}.o: {ROLLUP}
\tmkdir -p $(@D) && gcc -Ilib -O1 -g -c -o $@ $<
"""
RUN_IT = """import subprocess
def test_it(): assert subprocess.run(["out/rollup"]).returncode == 0
"""


@pytest.fixture(name="rollup")
def rollup_fixture(toy: Path) -> Path:
    """A part of gprof in a tree of its own, with what it is tested by."""
    (toy / "Makefile").write_text(ROLLUP_S_MAKEFILE)
    (toy / "tests" / "toy" / "test_toy.py").write_text(RUN_IT)
    for path in (*(ROOT / "lib" / "rollup").iterdir(), *(ROOT / "tests" / "lib").glob("check.*"),
                 *(ROOT / "tests" / "lib" / "host").glob("*.[ch]"), ROOT / ITS_TEST):
        copy = toy / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return toy


def test_a_few_by_a_seed(tool: ModuleType, rollup: Path) -> None:
    area = tool.Area((ROLLUP,), "out/obj/{source}.o", ("out/rollup",), ("toy/test_toy.py",))
    options = Namespace(seed=seed_of_today(), count=5, seconds=10)
    verdicts = tool.try_area(rollup, rollup / "out" / "mutants", area, options)
    assert any(verdict.found for verdict in verdicts), (options.seed, verdicts)


def seed_of_today() -> int:
    """Another one with each commit, the same for all who try it; 1 where there is no history."""
    done = subprocess.run(["git", "rev-parse", "--show-toplevel", "HEAD"], cwd=ROOT, check=False,
                          capture_output=True, text=True)
    top, _, commit = done.stdout.strip().partition("\n")
    return int(commit[:6], 16) if done.returncode == 0 and Path(top) == ROOT else 1


@pytest.mark.nightly
@pytest.mark.parametrize("area", ("kernel", "ux", "libprof", "gprof"))
def test_most_are_found(area: str) -> None:
    """Of twenty that a seed chooses some mean nothing, in bad luck half; what was found is told."""
    command = [RUN, "--count", "20", "--seed", str(seed_of_today()), area]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    words = done.stdout.splitlines()[-1].split()
    print(" ".join(map(str, command)), done.stdout, sep="\n")
    assert int(words[0]) >= 8, done.stdout
