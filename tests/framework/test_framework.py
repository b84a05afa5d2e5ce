# SPDX-License-Identifier: MIT
"""The framework itself: a framework that cannot fail is a defect.

Each test here gives the framework a small tree with one test program, says what that program
prints, and runs the real tools/test on it.  What must fail must fail by name, in the exit status,
and in the last line.
"""

import json
import subprocess
import xml.etree.ElementTree
from dataclasses import dataclass
from pathlib import Path

import pytest

from framework.judge import Run, judge_run, judge_test, read_output
from framework.program import SourceError, find_program, read_configuration
from framework.select import names_of

TESTS = Path(__file__).resolve().parents[1]
TOOL = TESTS.parent / "tools" / "test"

SOURCE = """/* Two tests. */
TEST(first)
{
}

TEST(second)
{
}
"""

# The tree's own conftest.py: the framework with a runner that only repeats what it was told.
CONFTEST = """
import json
from pathlib import Path
from framework import select
from framework.collect import Programs
from framework.judge import Run
from framework.select import pytest_addoption

HERE = Path(__file__).parent

def replay(program, configuration, names):
    with (HERE / "runs").open("a") as file:
        file.write(f"{program.name} {configuration.label} {' '.join(names)}".rstrip() + "\\n")
    return Run(**json.loads((HERE / "run.json").read_text()))

def pytest_configure(config):
    config.pluginmanager.register(Programs(HERE, replay, replay), "programs")
    select.install_selection(config)
"""

GOOD = {
    "output": "ok first\nok second\ndone 2 0\n",
    "counts": [["pages", 7, 7]],
    "log": "kernel: all programs ended\n",
}


@dataclass
class Outcome:
    """What tools/test made of a tree."""

    status: int
    last: str
    text: str
    results: dict[str, str]  # Name of each test to passed, failed or skipped.
    runs: list[str]  # What was run: program, configuration, names.


class Tree:
    """A tree of tests with one program."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.write("pytest.ini", "[pytest]\naddopts = --import-mode=importlib -p no:cacheprovider\n"
                                 f"pythonpath = {TESTS}\n")
        self.write("conftest.py", CONFTEST)
        self.write("kern/sample.c", SOURCE)
        self.write("run.json", json.dumps(GOOD))

    def write(self, name: str, text: str) -> None:
        """Puts a file into the tree."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test(self, *names: str, jobs: int = 1, **changes) -> Outcome:
        """Runs tools/test, the program's run being GOOD but for the changes."""
        self.write("run.json", json.dumps(GOOD | changes))
        self.write("runs", "")
        out = self.folder / "out"
        result = subprocess.run([TOOL, "--tests", self.folder, "--out", out, f"--jobs={jobs}",
                                 *names], capture_output=True, text=True, check=False)
        xml_file = out / "test" / ("nightly.xml" if "--nightly" in names else "junit.xml")
        return Outcome(result.returncode, result.stdout.splitlines()[-1],
                       result.stdout + result.stderr,
                       read_results(xml_file) if xml_file.exists() else {},
                       (self.folder / "runs").read_text().splitlines())


def read_results(xml_file: Path) -> dict[str, str]:
    """What the JUnit XML says about each test."""
    results = {}
    for case in xml.etree.ElementTree.parse(xml_file).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        words = {"failure": "failed", "error": "failed", "skipped": "skipped"}
        results[case.get("name")] = words[kinds.pop()] if kinds else "passed"
    return results


@pytest.fixture(name="tree")
def tree_fixture(tmp_path: Path) -> Tree:
    """A tree with one program, whose two tests pass."""
    return Tree(tmp_path)


@pytest.mark.parametrize("jobs", [1, 2])
def test_good_run_passes(tree: Tree, jobs: int):
    outcome = tree.test(jobs=jobs)
    assert outcome.results == {"first": "passed", "second": "passed", "balance": "passed"}
    assert (outcome.status, outcome.last) == (0, "3 passed, 0 failed")


def test_one_run_serves_all_items(tree: Tree):
    assert tree.test().runs == ["sample"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_not_ok_fails_with_its_message(tree: Tree, jobs: int):
    outcome = tree.test(output="ok first\nnot ok second: sample.c:8: expected a == b\n"
                               "# second: sample.c:9: expected c\ndone 1 1\n", status=1, jobs=jobs)
    assert outcome.results == {"first": "passed", "second": "failed", "balance": "passed"}
    assert (outcome.status, outcome.last) == (1, "2 passed, 1 failed")
    assert "sample.c:8: expected a == b" in outcome.text
    assert "sample.c:9: expected c" in outcome.text


def test_missing_item_fails(tree: Tree):
    outcome = tree.test(output="ok first\ndone 1 0\n")
    assert outcome.results == {"first": "passed", "second": "failed", "balance": "passed"}
    assert (outcome.status, outcome.last) == (1, "2 passed, 1 failed")
    assert "second reported nothing" in outcome.text


def test_crash_midway_fails_the_rest_with_the_backtrace(tree: Tree):
    outcome = tree.test(output="ok first\n", ended=False, ending="ended in a panic", counts=[],
                        log="panic: assertion failed\n  thread_block+0x12\n")
    assert outcome.results == {"first": "passed", "second": "failed", "balance": "failed"}
    assert (outcome.status, outcome.last) == (1, "1 passed, 2 failed")
    assert "ended in a panic" in outcome.text
    assert "thread_block+0x12" in outcome.text


def test_imbalance_fails(tree: Tree):
    outcome = tree.test(counts=[["pages", 7, 7], ["threads", 3, 4]])
    assert outcome.results == {"first": "passed", "second": "passed", "balance": "failed"}
    assert (outcome.status, outcome.last) == (1, "2 passed, 1 failed")
    assert "balance: threads 3 -> 4" in outcome.text


def test_skip_is_told_apart(tree: Tree):
    outcome = tree.test(output="ok first\nskip second: one CPU\ndone 1 0\n")
    assert outcome.results == {"first": "passed", "second": "skipped", "balance": "passed"}
    assert (outcome.status, outcome.last) == (0, "2 passed, 0 failed, 1 skipped")


def test_last_line_comes_last_and_once(tree: Tree):
    lines = tree.test().text.splitlines()
    assert lines.count("3 passed, 0 failed") == 1
    assert lines[-1] == "3 passed, 0 failed"


def test_one_test_by_name_brings_its_balance(tree: Tree):
    outcome = tree.test("second", output="ok second\ndone 1 0\n")
    assert outcome.results == {"second": "passed", "balance": "passed"}
    assert outcome.runs == ["sample  second"]


@pytest.mark.parametrize("name", ["sample", "kern", "kern/sample", "kern/sample.c"])
def test_program_or_area_by_name(tree: Tree, name: str):
    outcome = tree.test(name)
    assert outcome.last == "3 passed, 0 failed"
    assert outcome.runs == ["sample"]


AT_NIGHT = """import pytest

@pytest.mark.nightly
def test_long():
    pass

def test_short():
    pass
"""


def test_the_night_has_its_own_tests(tree: Tree):
    tree.write("kern/test_both.py", AT_NIGHT)
    assert set(tree.test("both").results) == {"test_short"}
    assert "test_long" not in tree.test().results
    outcome = tree.test("--nightly")
    assert outcome.results == {"test_long": "passed"} and outcome.last == "1 passed, 0 failed"
    assert outcome.runs == [], "a program that nobody asked for was run"


def test_a_configuration_for_the_night(tree: Tree):
    tree.write("kern/sample.c",
               "/* machine: cpus=1 */\n/* machine: cpus=2 when=nightly */\n" + SOURCE)
    outcome = tree.test()
    assert set(outcome.results) == {f"{test}[cpus=1]" for test in ("first", "second", "balance")}
    assert outcome.runs == ["sample cpus=1"]
    outcome = tree.test("--nightly", "sample")
    assert set(outcome.results) == {f"{test}[cpus=2]" for test in ("first", "second", "balance")}
    assert outcome.runs == ["sample cpus=2"]


@pytest.mark.parametrize(("names", "why"), [
    (("test_long",), "that runs at night: `make nightly T=...`"),
    (("--nightly", "sample"), "there is nothing of that name for the night"),
    (("--nightly", "nonsense"), "no test, program or area is called nonsense"),
])
def test_at_the_wrong_time(tree: Tree, names: tuple[str, ...], why: str):
    tree.write("kern/test_both.py", AT_NIGHT)
    outcome = tree.test(*names)
    assert (outcome.status, outcome.last) == (1, "0 passed, 1 failed")
    assert why in outcome.text


def test_name_that_nothing_bears_fails(tree: Tree):
    outcome = tree.test("nonsense")
    assert (outcome.status, outcome.last) == (1, "0 passed, 1 failed")


def test_tree_without_tests_fails(tree: Tree):
    (tree.folder / "kern" / "sample.c").unlink()
    outcome = tree.test()
    assert (outcome.status, outcome.last) == (1, "0 passed, 1 failed")


def test_python_test_that_does_not_load_fails(tree: Tree):
    tree.write("kern/test_broken.py", "import no_such_module\n")
    outcome = tree.test()
    assert outcome.status == 1
    assert outcome.last.endswith(" passed, 1 failed")


def test_bad_directive_fails(tree: Tree):
    tree.write("kern/sample.c", "/* machine: colour=red */\n" + SOURCE)
    outcome = tree.test()
    assert (outcome.status, outcome.last) == (1, "0 passed, 1 failed")
    assert "colour=red" in outcome.text


def test_each_configuration_is_run_and_named(tree: Tree):
    tree.write("kern/sample.c", "/*\n * machine: cpus=1\n * machine: cpus=2 seed=7\n */\n" + SOURCE)
    outcome = tree.test()
    assert outcome.last == "6 passed, 0 failed"
    assert set(outcome.results) == {f"{test}[{label}]" for test in ("first", "second", "balance")
                                    for label in ("cpus=1", "cpus=2,seed=7")}
    assert outcome.runs == ["sample cpus=1", "sample cpus=2,seed=7"]


def test_one_configuration_by_name(tree: Tree):
    tree.write("kern/sample.c", "/* machine: cpus=1 */\n/* machine: cpus=2 */\n" + SOURCE)
    outcome = tree.test("first[cpus=2]", output="ok first\ndone 1 0\n")
    assert set(outcome.results) == {"first[cpus=2]", "balance[cpus=2]"}
    assert outcome.runs == ["sample cpus=2 first"]


def run(**changes) -> Run:
    """GOOD but for the changes."""
    return Run(**(GOOD | changes))


@pytest.mark.parametrize("changes, complaint", [
    ({"status": 1}, "status is 1"),
    ({"output": "ok first\nok second\n"}, "no line `done"),
    ({"output": "ok first\nok second\ndone 1 0\n"}, "after 2 passed"),
    ({"output": "ok first\nok first\nok second\ndone 2 0\n"}, "first reported twice"),
    ({"output": "ok first\nok second\nok third\ndone 3 0\n"}, "third reported"),
    ({"output": "ok first\nnot ok second: x\ndone 1 1\n", "status": 0}, "1 tests failed"),
    ({"counts": []}, "no counts"),
    ({"ended": False, "ending": "took too long"}, "took too long"),
])
def test_run_that_does_not_add_up_fails(changes: dict, complaint: str):
    verdict = judge_run(run(**changes), ("first", "second"))
    assert verdict.outcome == "failed"
    assert complaint in verdict.message


def test_host_run_has_no_counts():
    assert judge_run(run(counts=None), ("first", "second")).outcome == "passed"


def test_text_around_the_lines_is_passed_over():
    report = read_output("hello\nok first\n  ok second\nok second and more\n# first: stray\n")
    assert set(report.verdicts) == {"first"}
    assert report.verdicts["first"].message == ""


def test_message_of_an_item_in_a_crashed_run_shows_the_log():
    crashed = run(output="not ok first: x\n", ended=False, ending="ended in a panic", log="why\n")
    assert "why" in judge_test(crashed, "first").message


def test_parameters_are_read_by_their_kind():
    text = 'cpus=2 icount=no append="jitter=3 crash=null"'
    assert read_configuration(text).parameters == {
        "cpus": 2, "icount": False, "append": "jitter=3 crash=null"}


def test_modules_come_beside_the_program():
    configuration = read_configuration('cpus=2 module="pager a b" module=second arguments="x y"')
    assert configuration.modules == ("pager a b", "second")
    assert configuration.arguments == "x y"
    assert configuration.parameters == {"cpus": 2}


def test_machine_lines_can_be_continued(tree: Tree):
    lines = "/*\n * machine: cpus=2 \\\n *          seed=7\n * machine: cpus=1\n */\n"
    tree.write("kern/sample.c", lines + SOURCE)
    program = find_program(tree.folder / "kern/sample.c", tree.folder)
    assert [one.label for one in program.configurations] == ["cpus=2,seed=7", "cpus=1"]


@pytest.mark.parametrize("name", ["first", "balance"])
def test_names_that_would_be_taken_for_another_are_refused(tree: Tree, name: str):
    tree.write("kern/sample.c", f"{SOURCE}TEST({name})\n")
    with pytest.raises(SourceError):
        find_program(tree.folder / "kern/sample.c", tree.folder)


@pytest.mark.parametrize("text", ["cpus=two", "cpus", "colour=red", "icount=maybe"])
def test_mistakes_in_parameters_are_refused(text: str):
    with pytest.raises(SourceError):
        read_configuration(text)


def test_sources_that_are_no_test_programs(tree: Tree):
    for name, text in {"lib/check.c": SOURCE, "kern/deep/er/x.c": SOURCE, "kern/plain.c": "int x;",
                       "kern/quoted.c": " * TEST(example)\n"}.items():
        tree.write(name, text)
        assert find_program(tree.folder / name, tree.folder) is None


def test_host_program_is_found_where_it_is_built(tree: Tree):
    tree.write("kern/host/list.c", SOURCE)
    program = find_program(tree.folder / "kern/host/list.c", tree.folder)
    assert (program.is_host, program.built) == (True, "host/kern/list")


def test_names_of_a_python_test():
    names = names_of("kern/test_boot.py::test_smallest[16]")
    assert {"kern", "boot", "test_boot", "kern/boot", "smallest", "test_smallest",
            "test_smallest[16]", "boot::test_smallest"} <= names
    assert "test" not in names
