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
from assay.grade import (Assignment, Failed, Profile, Report, Submission, check, difference,
                         each)
from assay.grade_profile import Counts, Stack, read_stacks, standard_error
from assay.grade_run import OUTPUT

ROOT = Path(__file__).resolve().parents[2]
GRADE = ROOT / "tools" / "grade"

STACKS = [Stack("periodic", 100, ("main",)), Stack("periodic", 200, ("work", "main")),
          Stack("periodic", 100, ("strcmp", "work", "main")), Stack("zfill", 4, ("main",))]
EXECUTED = {"main": Counts(500, 1), "work": Counts(3000, 9), "strcmp": Counts(700, 4)}


# ---------------- Profiles ----------------

def test_what_a_profile_says() -> None:
    """A share is of what was called, too."""
    profile = Profile(STACKS, EXECUTED)
    assert (profile.samples(), profile.samples("work"), profile.share("work")) == (400, 300, 0.75)
    assert profile.samples("work", own=True) == 200 and profile.share("main") == 1
    assert profile.samples(flavor="zfill") == 4 and profile.samples(flavor="cow") == 0
    assert (profile.calls("work"), profile.calls("work", "strcmp")) == (9, 13)
    assert (profile.instructions(), profile.instructions("work")) == (4200, 3000)
    assert profile.calls("nobody") == profile.instructions("nobody") == 0
    profile.must_have_share("main", at_most=0.3, without=("work",), sigmas=0)


def make_document(**other: object) -> dict:
    """A recording as gprof tells it: a shell that becomes words, which calls the server."""
    functions = [{"name": "sh", "object": "/bin/sh"}, {"name": "same", "object": "/tmp/words"},
                 {"name": "read", "object": "/mach_servers/ux"},
                 {"name": "cat", "object": "/bin/cat"}]
    stacks = [{"flavor": 0, "count": count, "functions": [number]}
              for number, count in enumerate((50, 300, 10, 20))]
    return {"functions": functions, "stacks": stacks, "flavors": [{"name": "periodic"}],
            "counts": {"delivered": 400, "others": 20, "lost": 0}} | other


def test_whose_time_it_is() -> None:
    assert [stack.count for stack in read_stacks(make_document(), "/tmp/words")] == [300, 10, 20]


@pytest.mark.parametrize(("document", "program", "says"), [
    (make_document(counts={}), "/tmp/words", "not whole"),  # It was cut off before its end.
    (make_document(counts={"delivered": 401, "others": 20, "lost": 0}), "/tmp/words", "not whole"),
    (make_document(counts={"delivered": 400, "others": 20, "lost": 1}), "/tmp/words", "not whole"),
    (make_document(), "/tmp/other", "never seen"),
    (make_document(), "/bin/cat", "by another program"),
])
def test_profiles_that_say_nothing(document: dict, program: str, says: str) -> None:
    with pytest.raises(Failed, match=says):
        read_stacks(document, program)


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
        Profile(STACKS, EXECUTED).must_have_share("work", **bounds)
        return
    with pytest.raises(Failed, match="work: 75.0% of 400 samples"):
        Profile(STACKS, EXECUTED).must_have_share("work", **bounds)


def test_the_tolerance_follows_from_the_number_of_samples() -> None:
    assert standard_error(0.5, 100) == pytest.approx(0.05)
    assert standard_error(0.5, 10_000) == pytest.approx(0.005)
    few = [Stack("periodic", 29, ("work",))]
    with pytest.raises(Failed, match="only 29 samples"):
        Profile(few, {}).must_have_share("work", at_least=0.1)


def test_calls_are_exact() -> None:
    profile = Profile(STACKS, EXECUTED)
    profile.must_call("work", 9)
    profile.must_call("work", 8, within=1)
    profile.must_call_at_most("work", 9, at_least=9)
    profile.must_call_at_most(("work", "strcmp", "memcmp"), 13)
    for ask, says in (
            (lambda: profile.must_call("work", 8), "work was called 9 times, should be 8"),
            (lambda: profile.must_call_at_most("work", 8), "should be at most 8"),
            (lambda: profile.must_call_at_most("work", 10, at_least=10), "at least 10"),
            (lambda: profile.must_call_at_most(("work", "memcmp", "strcmp"), 12),
             "work and strcmp were called 13 times")):
        with pytest.raises(Failed, match=says):
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
    assert report.practice
    (tmp_path / "file").unlink()
    assert make_assignment().grade(tmp_path).verdicts[0].message == "file was not handed in"
    with pytest.raises(ToolError):
        make_assignment().grade(tmp_path / "nobody")


def test_partial_credit(tmp_path: Path) -> None:
    """Each part has its share; what is left of a point is not given."""
    assignment = Assignment("Parts")

    def no(message: str) -> None:
        raise Failed(message)

    @assignment.test("parts", points=10)
    def parts(_: Submission) -> None:
        each(("one", lambda: None), ("two", lambda: no("fails")), ("three", lambda: None))

    verdict, = assignment.grade(tmp_path).verdicts
    assert (verdict.points, verdict.passed, verdict.message) == (6, False, "two: fails")


def make_hidden() -> Assignment:
    assignment = make_assignment()

    @assignment.test("secret", points=5, hidden=True)
    def secret(_: Submission) -> None:
        raise Failed("42 is the answer")

    return assignment


def test_hidden_tests_tell_points_only(tmp_path: Path) -> None:
    """In whatever a student sees; Gradescope shows instructors what is hidden."""
    report = make_hidden().grade(tmp_path)
    for form in grade_output.text, grade_output.tap, grade_output.junit:
        assert "42" not in form(report) and "secret" in form(report)
    last = json.loads(grade_output.gradescope(report))["tests"][-1]
    assert (last["visibility"], last["output"]) == ("hidden", "42 is the answer")


def test_inputs_that_nobody_knows(tmp_path: Path) -> None:
    """They are of the secret, of what was handed in, and always the same."""
    def number(secret: bytes, text: str, name: str = "input") -> float:
        (tmp_path / "file").write_text(text)
        return Submission(tmp_path, tmp_path, secret).random(name).random()

    assert number(b"a", "one") == number(b"a", "one")
    assert len({number(b"a", "one"), number(b"b", "one"), number(b"a", "two"),
                number(b"a", "one", "other")}) == 4
    assert number(b"", "one") == number(b"", "two") != number(b"a", "one")


@pytest.mark.parametrize(("text", "mode", "says"), [("", 0o600, "is empty"),
                                                    ("x", 0o644, "read by everybody")])
def test_secrets_that_are_none(tmp_path: Path, text: str, mode: int, says: str) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "secret").write_text(text)
    (tmp_path / "secret").chmod(mode)
    done = grade(tmp_path / "script.py", tmp_path, "--secret", tmp_path / "secret")
    assert done.returncode == 2 and says in done.stderr


def test_text(report: Report) -> None:
    lines = grade_output.text(report).splitlines()
    assert lines[0].startswith("Title & <more> (practice: ") and lines[-1] == "3 of 10 points"
    assert "    3/3   is there: ok" in lines and r"    0/7   is #perfect \o/: FAILED" in lines


def test_tap(report: Report) -> None:
    lines = grade_output.tap(report).splitlines()
    assert lines[:3] == ["TAP version 13", "1..2", "ok 1 - is there"]
    assert r"not ok 2 - is \#perfect \\o/" in lines
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: ./setup")
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


# ---------------- A class ----------------

def test_a_class(tmp_path: Path) -> None:
    """A line and a row for each, in order, whatever becomes of one; formulas are text."""
    (tmp_path / "script.py").write_text(SCRIPT)
    for name, files in ("=b", ("file",)), ("a<", ()):
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).touch()
    folders = [tmp_path / "=b", tmp_path / "a<"]
    done = grade(tmp_path / "script.py", "--all", *folders, tmp_path / "none", "-j", 2,
                 "--csv", tmp_path / "csv", "--html", tmp_path / "html")
    assert done.returncode == 2 and "not graded, or not in all tests: none" in done.stderr
    assert (tmp_path / "csv").read_text() == (
        "submission,points,worth,nothing,error\n'=b,1,1,1,\na<,0,1,0,\n"
        f"none,,,,{tmp_path}/none is no folder with a submission\n")
    page = (tmp_path / "html").read_text()
    assert page.count("<tr>") == 4 and "a&lt;" in page
    assert "<pre>file was not handed in</pre>" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")  # It needs nothing else.
    done = grade(tmp_path / "script.py", "--all", *folders)
    assert (done.returncode, done.stdout.count("\n")) == (1, 3)


@pytest.mark.parametrize(("words", "says"), [
    (["script.py"], "say a grading script"),
    (["script.py", ".", "--all", "."], "say a grading script"),
    (["script.py", ".", "--csv", "-"], "say --all"),
    (["script.py", "--all", ".", "-j", "0"], "at least 1"),
])
def test_wrong_command_lines(words: list[str], says: str) -> None:
    done = grade(*words)
    assert done.returncode == 2 and says in done.stderr


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
    (tmp_path / "scratch").mkdir()
    submission = Submission(tmp_path, tmp_path / "scratch")
    program = submission.build("prints.c")
    assert submission.run(program, "3000", output=3000).must_end().output == b"x" * 3000
    for words, most in ("3000", 2999), ("-1", 2999), ("-1 x", OUTPUT):
        run = submission.run(program, words, output=most)
        with pytest.raises(Failed, match=f"^printed more than {most:,} bytes$"):
            run.must_end()
        assert run.output == (b"" if "x" in words else b"x" * most) and run.seconds == 0
