# SPDX-License-Identifier: MIT
"""Grading: what may be asked of a profile, the forms of a report, and the command."""

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from assay import ToolError, grade_output, viewers
from assay.grade import (OUTPUT, Assignment, Failed, Profile, Report, Submission, check,
                         difference, standard_error)

ROOT = Path(__file__).resolve().parents[2]
GRADE = ROOT / "tools" / "grade"

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


@pytest.mark.parametrize(("found", "wanted", "says"), [
    (b"1\n", b"2\n", r"printed '1\n', should be '2\n'"),
    (b"same\n" * 200 + b"1\n", b"same\n" * 200 + b"2\n",
     r"line 201 of its output is '1\n', should be '2\n'"),
    (b"same\n" * 200, b"same\n" * 201,
     r"line 201 of its output is the end, should be 'same\n'"),
])
def test_how_outputs_differ(found: bytes, wanted: bytes, says: str) -> None:
    assert difference(found, wanted) == says


# ---------------- Reports ----------------

def make_assignment() -> Assignment:
    assignment = Assignment("Title & <more>")

    @assignment.test("is there", points=3)
    def is_there(submission: Submission) -> None:
        check(submission.text("file") == "contents", "has other contents")

    @assignment.test(r"is #perfect \o/", points=7)
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
    assert "    3/3   is there: ok" in lines and r"    0/7   is #perfect \o/: FAILED" in lines


def test_tap(report: Report) -> None:
    lines = grade_output.tap(report).splitlines()
    assert lines[:3] == ["TAP version 13", "1..2", "ok 1 - is there"]
    assert r"not ok 2 - is \#perfect \\o/" in lines
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: ./setup viewers")
    blocks = grade_output.tap(report).split("  ---\n")[1:]
    second = yaml.safe_load(blocks[1].partition("  ...")[0])
    assert second == {"points": 0, "worth": 7, "message": "is not\nperfect?"}


@pytest.mark.skipif(shutil.which("prove") is None, reason="prove, of Perl, is not installed")
def test_prove_reads_tap(report: Report, tmp_path: Path) -> None:
    (tmp_path / "report.tap").write_text(grade_output.tap(report))
    done = subprocess.run(["prove", "-v", "--exec", "cat", tmp_path / "report.tap"], text=True,
                          capture_output=True, check=False)
    assert "Failed 1/2 subtests" in done.stdout and "Failed test:  2" in done.stdout, done
    assert "Parse errors" not in done.stdout


# What JUnit's XML may consist of, as junit-10.xsd of Jenkins' xunit plugin says: by element its
# attributes (those with a ! must be there) and what may be in it.
JUNIT = {
    "testsuites": ("name time tests failures errors", "testsuite"),
    "testsuite": ("name! tests! failures! errors! group time skipped timestamp hostname id package"
                  " file log url", "testsuite properties testcase system-out system-err"),
    "testcase": ("name! time classname group", "skipped error failure system-out system-err"),
    "failure": ("type message", ""),
    "error": ("type message", ""),
}
SECONDS = re.compile(r"[0-9]{1,3}\.[0-9]{3}")  # All versions of it know these.


def unlike_junit(element: xml.Element) -> list[str]:
    """What is in the tree that may not be there, and what is not that must be."""
    attributes, children = map(str.split, JUNIT[element.tag])
    must = {name.rstrip("!") for name in attributes if name.endswith("!")}
    known = {name.rstrip("!") for name in attributes}
    wrong = [f"{element.tag} {name}" for name in (must - set(element.keys())) |
             (set(element.keys()) - known)]
    wrong += [f"{child.tag} in {element.tag}" for child in element if child.tag not in children]
    return wrong + [fault for child in element if child.tag in children
                    for fault in unlike_junit(child)]


def test_junit_s_structure(report: Report) -> None:
    text = grade_output.junit(report)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    assert unlike_junit(xml.fromstring(text)) == []
    times = [element.get("time") for element in xml.fromstring(text).iter() if "time" in
             element.keys()]
    assert len(times) == 3 and all(map(SECONDS.fullmatch, times))
    other = xml.fromstring(text.replace(' name="is there"', ' title="is there"'))
    assert sorted(unlike_junit(other)) == ["testcase name", "testcase title"]


def test_junit(report: Report) -> None:
    suite, = xml.fromstring(grade_output.junit(report))
    assert (suite.get("tests"), suite.get("failures"), suite.get("name")) == (
        "2", "1", "Title & <more>")
    failure = suite[1].find("failure")
    assert {case.get("classname") for case in suite} == {"Title & <more>"}  # GitLab's suite.
    assert failure.get("message") == "is not" and failure.text == "is not\nperfect?"


def test_gradescope(report: Report) -> None:
    results = json.loads(grade_output.gradescope(report))
    assert results["score"] == 3 and [test["score"] for test in results["tests"]] == [3, 0]
    assert sum(test["max_score"] for test in results["tests"]) == 10
    assert {test["status"] for test in results["tests"]} == {"passed", "failed"}
    assert results["output_format"] == "text"  # Else it would be HTML.


STRING, NUMBER, VISIBILITY = {"type": "string"}, {"type": "number"}, {
    "enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
# gradescope-autograders.readthedocs.io, "Autograder Specifications", "Output format".
GRADESCOPE = {
    "type": "object",
    "required": ["tests"],
    "additionalProperties": False,
    "properties": {
        "score": NUMBER, "execution_time": NUMBER, "output": STRING, "output_format": FORMAT,
        "test_output_format": FORMAT, "test_name_format": FORMAT, "visibility": VISIBILITY,
        "stdout_visibility": VISIBILITY, "extra_data": {}, "leaderboard": {"type": "array"},
        "tests": {"type": "array", "items": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "score": NUMBER, "max_score": NUMBER, "status": {"enum": ["passed", "failed"]},
                "name": STRING, "name_format": FORMAT, "number": STRING, "output": STRING,
                "output_format": FORMAT, "tags": {"type": "array", "items": STRING},
                "visibility": VISIBILITY, "extra_data": {},
            },
        }},
    },
}


def test_gradescope_s_structure(report: Report) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason=f"jsonschema: {viewers.HOW}")
    results = json.loads(grade_output.gradescope(report))
    jsonschema.validate(results, GRADESCOPE)
    results["tests"][0]["number"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(results, GRADESCOPE)


@pytest.mark.parametrize(("name", "points", "says"), [
    ("is there", 1, "two tests"),  # GitLab would show one of them.
    ("is\nhere", 1, "one line"),
    ("", 1, "one line"),
    ("is worth it", -1, "fewer than 0"),
])
def test_names_and_points_that_no_report_can_say(name: str, points: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make_assignment().test(name, points=points)


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


def test_a_stroke_is_standard_output(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "file").touch()
    usual = grade(tmp_path / "script.py", tmp_path)
    done = grade(tmp_path / "script.py", tmp_path, "--text", "-")
    assert (done.returncode, done.stdout) == (0, usual.stdout)
    done = grade(tmp_path / "script.py", tmp_path, "--text", tmp_path / "report", "--tap", "-")
    assert done.stdout.startswith("TAP version") and not Path("-").exists()


def test_reports_are_utf_8_everywhere(tmp_path: Path) -> None:
    """What a student writes is shown on every host alike, and control characters are not."""
    (tmp_path / "script.py").write_text(SCRIPT.replace('text("file")', 'build("a.c")'))
    (tmp_path / "a.c").write_bytes('/* \xe9 */ int m\x1b[1m = "é\xff";\n'.encode("latin-1"))
    texts = set()
    for locale in ("C", "C.UTF-8", "de_DE.ISO-8859-1"):
        done = subprocess.run([GRADE, tmp_path / "script.py", tmp_path], check=False,
                              capture_output=True, env=os.environ | {"LC_ALL": locale})
        assert done.returncode == 1 and b"does not compile" in done.stdout, done
        assert "\x1b" not in done.stdout.decode()
        texts.add(done.stdout)
    assert len(texts) == 1


@pytest.mark.parametrize(("script", "says"), [
    ("x = 1", "makes no Assignment"),
    ("x = ", "SyntaxError"),
    ("import no_such_module", "no_such_module"),
    ("raise SystemExit(0)", "SystemExit: 0"),
])
def test_a_wrong_script_is_not_the_student_s_fault(tmp_path: Path, script: str, says: str) -> None:
    (tmp_path / "script.py").write_text(script)
    done = grade(tmp_path / "script.py", tmp_path)
    assert (done.returncode, done.stdout) == (2, "") and says in done.stderr


@pytest.mark.parametrize(("fault", "says"), [("1 / 0", "ZeroDivision"),
                                             ("raise SystemExit(0)", "SystemExit")])
def test_a_script_that_fails_in_one_test(tmp_path: Path, fault: str, says: str) -> None:
    """The others are graded, and it is told; under a name without .py, too."""
    script = tmp_path / "script"
    script.write_text(SCRIPT + f"""
@assignment.test("divides", points=1)
def divides(submission): {fault}
""")
    (tmp_path / "file").touch()
    done = grade(script, tmp_path, "--junit", tmp_path / "junit.xml")
    assert done.returncode == 2 and "fails in 1 of its tests" in done.stderr
    assert f"  0/1   divides: ERROR\n          the grading script fails: {says}" in done.stdout
    assert done.stdout.endswith("\n1 of 2 points\n")
    suite, = xml.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    assert unlike_junit(suite) == [] and suite[1].find("error") is not None


def test_what_does_not_link_is_told_alike(tmp_path: Path) -> None:
    """Without the names of the linker's temporary files, or of this host's folders."""
    texts = set()
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "script.py").write_text(SCRIPT.replace('text("file")', 'build("a.c", "b.c")'))
        (folder / "a.c").write_text("int b(void);\nint main(void) { return b(); }\n")
        (folder / "b.c").write_text("int missing(void);\nint b(void) { return missing(); }\n")
        texts.add(grade(folder / "script.py", folder).stdout)
    text, = texts
    assert "b.c:2: undefined reference to `missing'" in text and "tmp" not in text, text


# ---------------- Too much output ----------------

PRINTS = """
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
	FILE *to = count > 2 ? stderr : stdout;

	setvbuf(to, NULL, _IOFBF, BUFSIZ);
	for (long left = atol(words[1]); left != 0; left -= left > 0)
		fputc('x', to);
	return 0;
}
"""


def test_who_prints_without_end_is_told(tmp_path: Path) -> None:
    """And nothing that depends on when the host saw it; to the byte as much as is allowed is."""
    (tmp_path / "prints.c").write_text(PRINTS)
    submission = Submission(tmp_path, tmp_path)
    program = submission.build("prints.c", profiled=False)
    assert submission.run(program, "3000", output=3000).must_end().output == b"x" * 3000
    for words, most in ("3000", 2999), ("-1", 2999), ("-1 x", OUTPUT):
        run = submission.run(program, words, output=most)
        with pytest.raises(Failed, match=f"^printed more than {most:,} bytes$"):
            run.must_end()
        assert run.output == (b"" if "x" in words else b"x" * most) and run.seconds == 0
