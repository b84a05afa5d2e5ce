# SPDX-License-Identifier: MIT
"""Grading: what may be asked of a profile, the forms of a report, and the example assignment."""

import json
import os
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from assay import ToolError, grade_output
from assay.grade import Assignment, Failed, Profile, Report, Submission, check, standard_error

ROOT = Path(__file__).resolve().parents[2]
GRADE = ROOT / "tools" / "grade"
EXAMPLE = ROOT / "docs" / "grading"

DOCUMENT = {
    "counts": {"lost": 0},
    "flavors": [{"name": "periodic"}, {"name": "zfill"}],
    "functions": [{"name": "main", "self": [100, 4]}, {"name": "work", "self": [300, 0]},
                  {"name": "mcount", "self": [1000, 0]}],
    "calls": [{"caller": 0, "callee": 1, "count": 7}, {"caller": 1, "callee": 1, "count": 2}],
}


# ---------------- Profiles ----------------

def test_what_a_profile_says() -> None:
    """What it costs to count calls is left out."""
    profile = Profile(DOCUMENT)
    assert (profile.samples(), profile.samples("work"), profile.share("work")) == (400, 300, 0.75)
    assert profile.samples(flavor="zfill") == 4 and profile.samples(flavor="cow") == 0
    assert (profile.calls("work"), profile.calls("work", "main")) == (9, 7)
    assert profile.calls("main") == 0
    assert profile.callers("work") == {"main", "work"}


@pytest.mark.parametrize(("bounds", "holds"), [
    ({"at_least": 0.75}, True),
    ({"at_most": 0.75}, True),
    ({"at_most": 0.70}, True),  # Four standard errors are 0.092.
    ({"at_most": 0.65}, False),
    ({"at_least": 0.80}, True),
    ({"at_least": 0.85}, False),
    ({"at_most": 0.70, "sigmas": 1}, False),
])
def test_a_share_may_be_off_as_far_as_chance_takes_it(bounds: dict, holds: bool) -> None:
    if holds:
        Profile(DOCUMENT).must_have_share("work", **bounds)
        return
    with pytest.raises(Failed, match="work: 75.0% of 400 samples"):
        Profile(DOCUMENT).must_have_share("work", **bounds)


def test_the_tolerance_follows_from_the_number_of_samples() -> None:
    assert standard_error(0.5, 100) == pytest.approx(0.05)
    assert standard_error(0.5, 10_000) == pytest.approx(0.005)
    few = DOCUMENT | {"functions": [{"name": "work", "self": [29, 0]}]} | {"calls": []}
    with pytest.raises(Failed, match="only 29 samples"):
        Profile(few).must_have_share("work", at_least=0.1)


def test_calls_are_exact() -> None:
    profile = Profile(DOCUMENT)
    profile.must_call("work", 9)
    profile.must_call("work", 7, caller="main")
    profile.must_call_at_most("work", 9)
    profile.must_be_called_by("work", ["work", "main"])
    for ask in (lambda: profile.must_call("work", 8), lambda: profile.must_call_at_most("work", 8),
                lambda: profile.must_be_called_by("work", ["main"])):
        with pytest.raises(Failed):
            ask()


# ---------------- Reports ----------------

def make_assignment() -> Assignment:
    assignment = Assignment("Title & <more>")

    @assignment.test("is there", points=3)
    def is_there(submission: Submission) -> None:
        check(submission.text("file") == "contents", "has other contents")

    @assignment.test("is #perfect", points=7)
    def is_perfect(_: Submission) -> None:
        raise Failed("is not\nperfect\x1b")

    return assignment


@pytest.fixture(name="report")
def report_fixture(tmp_path: Path) -> Report:
    (tmp_path / "file").write_text("contents\n")
    return make_assignment().grade(tmp_path)


def test_points(report: Report, tmp_path: Path) -> None:
    assert (report.points, report.worth, report.passed) == (3, 10, False)
    (tmp_path / "file").unlink()
    assert make_assignment().grade(tmp_path).verdicts[0].message == "file was not handed in"
    with pytest.raises(ToolError):
        make_assignment().grade(tmp_path / "nobody")


def test_text(report: Report) -> None:
    lines = grade_output.text(report).splitlines()
    assert lines[0] == "Title & <more>" and lines[-1] == "3 of 10 points"
    assert "    3/3   is there: ok" in lines and "    0/7   is #perfect: FAILED" in lines


def test_tap(report: Report) -> None:
    lines = grade_output.tap(report).splitlines()
    assert lines[:3] == ["TAP version 13", "1..2", "ok 1 - is there"]
    assert r"not ok 2 - is \#perfect" in lines
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: ./setup viewers")
    blocks = grade_output.tap(report).split("  ---\n")[1:]
    second = yaml.safe_load(blocks[1].partition("  ...")[0])
    assert second == {"points": 0, "worth": 7, "message": "is not\nperfect\x1b"}


def test_junit(report: Report) -> None:
    suite, = xml.fromstring(grade_output.junit(report))
    assert (suite.get("tests"), suite.get("failures"), suite.get("name")) == (
        "2", "1", "Title & <more>")
    failure = suite[1].find("failure")
    assert failure.get("message") == "is not" and failure.text == "is not\nperfect?"


def test_gradescope(report: Report) -> None:
    results = json.loads(grade_output.gradescope(report))
    assert results["score"] == 3 and [test["score"] for test in results["tests"]] == [3, 0]
    assert sum(test["max_score"] for test in results["tests"]) == 10
    assert {test["status"] for test in results["tests"]} == {"passed", "failed"}


# ---------------- The command ----------------

def grade(*words: object) -> subprocess.CompletedProcess:
    return subprocess.run([GRADE, *map(str, words)], text=True, capture_output=True, check=False,
                          env=os.environ)


SCRIPT = """
from assay.grade import Assignment
assignment = Assignment("Nothing")
@assignment.test("nothing", points=1)
def nothing(submission): submission.text("file")
"""


def test_all_forms_at_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    outputs = {form: tmp_path / form for form in grade_output.FORMS}
    words = [word for form, path in outputs.items() for word in (f"--{form}", path)]
    done = grade(tmp_path / "script.py", tmp_path, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert all(path.stat().st_size for path in outputs.values())
    (tmp_path / "file").touch()
    done = grade(tmp_path / "script.py", tmp_path)
    assert done.returncode == 0 and done.stdout.endswith("1 of 1 points\n")


@pytest.mark.parametrize(("script", "says"), [
    ("x = 1", "makes no Assignment"),
    ("x = ", "SyntaxError"),
    ("import no_such_module", "no_such_module"),
])
def test_a_wrong_script_is_not_the_student_s_fault(tmp_path: Path, script: str, says: str) -> None:
    (tmp_path / "script.py").write_text(script)
    done = grade(tmp_path / "script.py", tmp_path)
    assert (done.returncode, done.stdout) == (2, "") and says in done.stderr


# ---------------- The example ----------------

POINTS = {"wrong": 50, "hanging": 0, "panicking": 0}
SAYS = {"wrong": "same: ", "hanging": "did not end in time",
        "panicking": "the machine failed: panic: "}


@pytest.mark.parametrize("name", POINTS)
def test_the_example_s_verdicts(name: str) -> None:
    done = grade(EXAMPLE / "grade_words.py", EXAMPLE / "submissions" / name)
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith(f"\n{POINTS[name]} of 100 points\n"), done.stdout
    assert SAYS[name] in done.stdout


def test_a_right_submission_twice(tmp_path: Path) -> None:
    """The same to the byte, in all forms; `make grade` does it ten times with all four."""
    texts = set()
    for number in range(2):
        outputs = [tmp_path / f"{form}{number}" for form in grade_output.FORMS]
        words = [word for form, path in zip(grade_output.FORMS, outputs)
                 for word in (f"--{form}", path)]
        done = grade(EXAMPLE / "grade_words.py", EXAMPLE / "submissions" / "right", *words)
        assert done.returncode == 0, done.stderr
        texts.add(tuple(path.read_text() for path in outputs))
    assert len(texts) == 1 and "\n100 of 100 points\n" in texts.pop()[0]


def test_what_does_not_compile(tmp_path: Path) -> None:
    (tmp_path / "words.c").write_text("int main(void) { return nothing; }\n")
    done = grade(EXAMPLE / "grade_words.py", tmp_path)
    assert done.returncode == 1 and done.stdout.endswith("\n0 of 100 points\n")
    assert "does not compile:" in done.stdout and "nothing" in done.stdout


@pytest.mark.parametrize("name", ["github-actions.yml", "gitlab-ci.yml"])
def test_ci_files(name: str) -> None:
    """They can be read, and what they run is there."""
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: ./setup viewers")
    document = yaml.safe_load((EXAMPLE / name).read_text())
    if name.startswith("github"):
        job, = document["jobs"].values()
        assert document[True] == ["push"]  # YAML takes `on` for true, and GitHub does not.
        commands = "\n".join(step.get("run", "") for step in job["steps"])
    else:
        commands = "\n".join(document["grade"]["script"])
    assert "assay/tools/grade assay/docs/grading/grade_words.py" in commands
    assert "./setup && make" in commands
