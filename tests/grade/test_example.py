# SPDX-License-Identifier: MIT
"""The example assignment: its verdicts, and the files by which GitHub and GitLab grade it."""

import base64
import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from assay import OUT, ROOT, grade_patch
from assay.grade import Failed, Run
from assay.machine import Result
from framework.room import Room

EXAMPLE = ROOT / "docs" / "grading"
NO_YAML = "python3-yaml is not installed: ./setup installs it"
SAYS = {
    "right": "100 points, 1 times with 1 verdict",
    "wrong": "same was called ",
    "printing": "printed something else than it should",
    "searching": "strcmp was called ",
    "padding": "did not end in time",
    "meddling": "strcmp was called ",
    "hanging": "did not end in time",
    "panicking": "the machine failed: panic: ",
    "forking": "wanted to have more than 32 processes at a time",
    "pager/right": "100 points, 1 times with 1 verdict",
    "pager/wrong": "40 of 100 points",
    "pager/cheating": "memory_object_data_request was called 0 times",
    "pager/hanging": "did not end in time",
    "pager/crashing": "ended with status 129, should be 0",
    "pager/panicking": "the machine failed: panic: page fault",
    "kernel/right": "100 points, 1 times with 1 verdict",
    "kernel/wrong": "% of the CPU, should have at least 70%",  # How many of them, turns decide.
    "kernel/cheating": "the patch may not change Makefile; it may change kernel/thread/sched.c",
    "kernel/hanging": "did not end in time",
    "kernel/panicking": "the machine failed: panic: kernel/thread/sched.c:",
    "server/right": "100 points, 1 times with 1 verdict",
    "server/wrong": "77 of 100 points",
    "server/cheating": "to any size: printed something else than it should",
    "server/hanging": "to any size: did not end in time",
    "server/panicking": "the Unix server failed: EXC_BAD_ACCESS",
}
# The rest is for `make nightly`.
SAMPLE = ("right", "panicking", "pager/right", "pager/cheating", "pager/hanging",
          "pager/panicking", "kernel/cheating", "server/panicking")


def grade_example(*names: str) -> str:
    """As make does it, with out/ as a name in the tree; there it is ten times each."""
    environment = os.environ | {"ASSAY_OUT": os.path.relpath(OUT, ROOT)}
    done = subprocess.run(["tools/grade", "--example", *names, "--runs", "1"], cwd=ROOT, text=True,
                          capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"\n{len(names)} passed, 0 failed\n")
    blocks = dict(re.findall(r"^---- ([\w/]+): ((?:(?!^----)[\s\S])*)", done.stdout, re.MULTILINE))
    assert sorted(blocks) == sorted(names)
    assert not {name: blocks[name] for name in names if SAYS[name] not in blocks[name]}


def test_make_grade() -> None:
    grade_example(*SAMPLE)


@pytest.mark.nightly
def test_make_grade_with_all() -> None:
    grade_example(*(set(SAYS) - set(SAMPLE)))


@pytest.mark.parametrize("patch", sorted(EXAMPLE.glob("*/submissions/*/change.patch")),
                         ids=lambda patch: f"{patch.parts[-4]}/{patch.parent.name}")
def test_the_patches_are_of_this_tree(patch: Path) -> None:
    """One that no longer applies has no points either, and would be taken for a wrong one."""
    subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, check=True)


@pytest.mark.parametrize(("patch", "says"), [
    ("", "changes nothing"),
    ("--- a/kernel/thread/sched.c\n+++ b/kernel/../Makefile\n",
     "may not change kernel/../Makefile"),
    ("diff --git a/kernel/thread/sched.c b/Makefile\nrename to Makefile\n", "not change Makefile"),
    ("--- kernel/thread/sched.c\n+++ kernel/thread/turn.c\n", "not change kernel/thread/turn.c"),
])
def test_what_a_patch_may_not(patch: str, says: str) -> None:
    with pytest.raises(Failed, match=says):
        grade_patch.check_names(patch.encode(), ("kernel/thread/sched.c",))


def test_what_a_patch_may() -> None:
    patch = (EXAMPLE / "kernel" / "submissions" / "right" / "change.patch").read_bytes()
    grade_patch.check_names(patch, ("kernel/thread/*.c",))
    assert grade_patch.names(patch) == {"kernel/thread/sched.c"}


@pytest.mark.parametrize(("log", "says"), [
    ("ux: servers/ux/file/pipe.c:52: not so: x == 0\n", "servers/ux/file/pipe.c:52: not so: x"),
    ('task 1 "ux-sample", thread 18: EXC_BAD_ACCESS, code 1: ended\n', "EXC_BAD_ACCESS, code 1"),
    ('task 9 "pipes", thread 20: EXC_BAD_ACCESS, code 1: ended\n', ""),
])
def test_a_server_that_fails_is_told_from_a_program(log: str, says: str) -> None:
    run = Run(Result("exit", 1, b"", b"ux: a word\n" + log.encode(), "", None, (), None))
    with pytest.raises(Failed) as failed:
        run.must_end()
    assert str(failed.value).startswith(f"the Unix server failed: {says}" if says else "ended with")
    run.must_end(1)


@pytest.mark.skipif(OUT.name != "out", reason="what is typed names the stock build's folder")
def test_the_readme_s_commands(tmp_path: Path) -> None:
    """What they show of a right program is within the limits that the grader has."""
    room = Room(tmp_path / "room")
    shutil.copy(EXAMPLE / "submissions" / "right" / "words.c", room.folder)
    text = (EXAMPLE / "README.md").read_text().partition("## How it is graded")[0]
    lines = re.findall(r"^    ((?:for|out|tools).*?(?:\\\n.*)?)$", text, re.MULTILINE)
    assert len(lines) == 6
    done = [room.run(line) for line in lines]
    assert all(each.returncode == 0 for each in done), [each.stderr for each in done]
    assert done[2].stdout == "100\n" and "[5]" in done[3].stdout
    calls = re.search(r"([\d,]+)  same  ", done[4].stdout)
    assert 200_000 - 100 <= int(calls[1].replace(",", "")) <= 400_000
    profile = json.loads(room.run("out/bin/gprof --view=json words profile").stdout)
    names = [function["name"] for function in profile["functions"]]
    stacks = [({names[number] for number in stack["functions"]}, stack["count"])
              for stack in profile["stacks"]]
    compares = sum(count for names, count in stacks if "insert" in names and "hash" not in names)
    assert 0.3 < compares / sum(count for _, count in stacks) < 0.65
    assert "100 of 100 points" in done[5].stdout
    check_kept(room, done[5].stdout)


def check_kept(room: Room, report: str) -> None:
    """Of two runs each three files, which the report names: a picture, and what gprof reads."""
    named = [name for line in re.findall(r"^ +kept: (.*)$", report, re.MULTILINE)
             for name in line.split(", ")]
    folder = room.folder / "profiles"
    assert sorted(named) == sorted(str(file.relative_to(folder))
                                   for file in folder.rglob("*") if file.is_file())
    stems = sorted({folder / name.partition(".")[0] for name in named})
    assert len(stems) == 2 and len(named) == 6
    for stem in stems:
        assert xml.parse(stem.with_suffix(".svg")).getroot().tag.endswith("svg")
        recording, program = stem.with_suffix(".perf"), stem.with_suffix(".program") / "words"
        profile = json.loads(room.run(f"out/bin/gprof --view=json {program} {recording}").stdout)
        assert {"hash", "same", "insert"} <= {each["name"] for each in profile["functions"]}
        assert profile["counts"]["lost"] == 0


@pytest.mark.skipif(OUT.name != "out", reason="what is typed names the stock build's folder")
def test_a_class_by_the_readme_s_line(tmp_path: Path) -> None:
    """Two that are profiled: the points of each test, and the pictures of each."""
    room = Room(tmp_path / "room")
    for name in "right", "padding":
        shutil.copytree(EXAMPLE / "submissions" / name, room.folder / "CLASS" / name)
    (room.folder / "FILE").write_text("a secret\n")
    line, = re.findall(r"^    (tools/grade .* --all .*)$", (EXAMPLE / "README.md").read_text(),
                       re.MULTILINE)
    assert line.endswith(" --secret FILE")
    assert "can be read by everybody" in room.run(line).stderr  # So it is used.
    (room.folder / "FILE").chmod(0o600)
    done = room.run(line)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")  # Not all have all points.
    rows = list(csv.DictReader((room.folder / "points.csv").read_text().splitlines()))
    assert [(row["submission"], row["points"]) for row in rows] == [("padding", "65"),
                                                                    ("right", "100")]
    fixed = ("submission", "points", "worth", "error")
    for row in rows:
        points = [int(given) for test, given in row.items() if test not in fixed]
        assert len(points) == 6 and sum(points) == int(row["points"]) and row["error"] == ""
    _, *parts = (room.folder / "class.html").read_text().split("<h2 ")
    pictures = [re.findall(r"<svg .*?</svg>", part, re.DOTALL) for part in parts]
    assert len(pictures) == 2 and all(pictures)
    assert all("insert" in "".join(xml.fromstring(picture).itertext())
               for of_one in pictures for picture in of_one)


def with_what_they_call(tools: set[str]) -> set[str]:
    """Tools, and those that stand in what they do."""
    lines = [line for tool in tools for line in (ROOT / tool).read_text().splitlines()
             if not line.startswith("#")]
    named = set(re.findall(r"tools/\w+", "\n".join(lines)))
    more = tools | {tool for tool in named if (ROOT / tool).is_file()}
    return tools if more == tools else with_what_they_call(more)


def test_a_changed_kernel_s_tools_are_there() -> None:
    """Those that make calls when it builds the kernel: in the room, and in the bundle."""
    rule = re.search(r"^\$\(OUT\)/mach_kernel: (.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert rule is not None
    tools = with_what_they_call({*re.findall(r"tools/\S+", rule[1]), "tools/mig"})
    assert {"tools/ksyms", "tools/migcom"} <= tools
    bundle = (ROOT / "tools" / "bundle").read_text()
    assert all(tool in grade_patch.KERNEL.copied and f'"{tool}"' in bundle for tool in tools)


def test_a_bundle_needs_no_tree(tmp_path: Path) -> None:
    """It is the same each time, and grades where nothing of the tree is."""
    for name in "one.tar", "other.tar":
        subprocess.run([ROOT / "tools" / "bundle", tmp_path / name], check=True)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "other.tar").read_bytes()
    subprocess.run(["tar", "xf", "one.tar"], cwd=tmp_path, check=True)
    environment = {name: text for name, text in os.environ.items() if name != "ASSAY_OUT"}
    assert not (tmp_path / "assay-grader" / "out" / "obj").exists()
    # A program, and a patch, for which MIG's output is there: of this host's MIG nothing is known.
    makefile = tmp_path / "assay-grader" / "Makefile"
    makefile.write_text(re.sub(r"^MIG .*", "MIG := no-mig", makefile.read_text(), flags=re.M))
    for folder, script in ("pager", "grade_pager.py"), ("server", "grade_pipes.py"):
        exercise = Path("docs/grading") / folder
        done = subprocess.run(["tools/grade", exercise / script, exercise / "submissions/right"],
                              cwd=tmp_path / "assay-grader", env=environment, text=True,
                              capture_output=True, check=False)
        assert done.returncode == 0 and "100 of 100 points" in done.stdout, done.stdout
    links = [path for path in (tmp_path / "assay-grader").rglob("*") if path.is_symlink()]
    assert links == []


# ---------------- The CI files ----------------

# What such a file may consist of, of all that GitHub and GitLab know what one for grading needs.
GITHUB = {"name", "on", "jobs"}
GITHUB_JOB = {"runs-on", "container", "timeout-minutes", "steps"}
GITHUB_STEP = {"name", "if", "uses", "with", "run", "env"}
GITHUB_SECRET = {"ASSAY_SECRET": "${{ secrets.ASSAY_SECRET }}"}
GITLAB_JOB = {"image", "timeout", "variables", "script", "artifacts"}
ARTIFACTS = {"when", "paths", "reports"}


def load(name: str) -> dict:
    yaml = pytest.importorskip("yaml", reason=NO_YAML)
    # YAML 1.1 takes `on` for true, and GitHub does not.
    return yaml.load((EXAMPLE / name).read_text(), Loader=yaml.BaseLoader)


def github_commands() -> list[str]:
    """The commands of the file, which must be one that GitHub understands."""
    document = load("github-actions.yml")
    assert set(document) == GITHUB and document["on"] == ["push"]
    job, = document["jobs"].values()
    assert set(job) == GITHUB_JOB and job["timeout-minutes"].isdigit()
    for step in job["steps"]:
        assert set(step) <= GITHUB_STEP and ("uses" in step) != ("run" in step), step
        assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]), step
        assert "with" not in step or "uses" in step, step
    uses = [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]
    assert uses == ["actions/checkout", "actions/upload-artifact"]
    runs = [step for step in job["steps"] if "run" in step]
    assert [step.get("env") for step in runs] == [None] * (len(runs) - 1) + [GITHUB_SECRET]
    return [step["run"] for step in runs]


def gitlab_commands() -> list[str]:
    document = load("gitlab-ci.yml")
    assert set(document) == {"grade"} and set(document["grade"]) == GITLAB_JOB
    artifacts = document["grade"]["artifacts"]
    assert set(artifacts) <= ARTIFACTS and artifacts["when"] == "always"
    assert artifacts["reports"] == {"junit": "words.xml"}
    assert re.fullmatch(r"\d+ minutes", document["grade"]["timeout"])
    return document["grade"]["script"]


def grade_as_ci_does(command: str, folder: Path, submission: str, secret: str) -> None:
    """Runs a repository's last command, with that secret in its environment."""
    (folder / "assay").symlink_to(ROOT)
    shutil.copy(EXAMPLE / submission / "words.c", folder)
    done = subprocess.run(["sh", "-e", "-c", command], cwd=folder, text=True, check=False,
                          capture_output=True, env=os.environ | {"ASSAY_SECRET": secret})
    assert done.stderr == "" and done.returncode == (submission == "classroom"), done
    assert ("(practice" in done.stdout) == (not secret)


@pytest.mark.parametrize(("commands", "results"), [(github_commands, True),
                                                   (gitlab_commands, False)])
def test_ci_files(commands, results: bool, tmp_path: Path) -> None:
    """A shell understands what they run, and the last of it grades a repository."""
    if os.getuid() and not results:
        pytest.skip("--sandbox=user takes root")
    script = commands()
    for command in script:
        subprocess.run(["sh", "-n", "-c", command], check=True)
    assert any("cd assay && ./setup && make" in command for command in script)
    for submission, secret in ("classroom", ""), ("submissions/right", "a secret"):
        folder = tmp_path / submission
        folder.mkdir(parents=True)
        grade_as_ci_does(script[-1], folder, submission, secret)
    suite, = xml.parse(folder / "words.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("6", "0")
    if results:
        assert json.loads((folder / "results.json").read_text())["score"] == 100


# ---------------- GitHub Classroom ----------------

class Classroom:
    """Runs a workflow's commands as Actions does, and adds up as Classroom's reporter does."""

    def __init__(self, folder: Path, submission: Path):
        yaml = pytest.importorskip("yaml", reason=NO_YAML)
        self.repository, self.temp = folder / "repository", folder / "temp"
        shutil.copytree(EXAMPLE / "classroom", self.repository)
        self.temp.mkdir()
        shutil.copy(submission, self.repository)
        self.workflow = yaml.load(
            (self.repository / ".github" / "workflows" / "classroom.yml").read_text(),
            Loader=yaml.BaseLoader)
        tar = folder / "assay-grader.tar"
        subprocess.run([ROOT / "tools" / "bundle", tar], check=True)
        with gzip.open(self.repository / "assay-grader.tar.gz", "wb", compresslevel=1) as packed:
            packed.write(tar.read_bytes())
        (folder / "apt-get").write_text("#!/bin/sh\nexit 1\n")  # What is missing stays so.
        (folder / "apt-get").chmod(0o755)
        self.environment = {name: text for name, text in os.environ.items() if "ASSAY" not in name}
        self.environment |= {
            "PATH": f"{folder}:{os.environ['PATH']}", "RUNNER_TEMP": str(self.temp),
            "GITHUB_WORKSPACE": str(self.repository), "GITHUB_OUTPUT": str(self.temp / "output")}

    def run(self, secret: str) -> dict:
        """The steps; returns what the reporter is given."""
        assert self.workflow["name"] == "Autograding Tests"
        (name, job), = self.workflow["jobs"].items()
        assert name == "run-autograding-tests"
        *steps, report = job["steps"]
        for step in steps:
            variables = {key: secret if value == "${{ secrets.ASSAY_SECRET }}" else value
                         for key, value in step.get("env", {}).items()}
            if "run" in step:
                done = subprocess.run(["sh", "-e", "-c", step["run"]], cwd=self.repository,
                                      env=self.environment | variables, text=True, check=False,
                                      capture_output=True)
                assert done.returncode == 0, done.stdout + done.stderr
                self.said = done.stdout
        assert report["uses"].startswith("classroom-resources/autograding-grading-reporter@v")
        runner = report["with"]["runners"]
        assert report["env"] == {
            f"{runner.upper()}_RESULTS": "${{ steps.%s.outputs.result }}" % steps[-1]["id"]}
        outputs = dict(re.findall("^(.*?)=(.*)$", (self.temp / "output").read_text(), re.MULTILINE))
        return json.loads(base64.b64decode(outputs["result"]))


@pytest.mark.skipif(os.getuid() != 0, reason="--sandbox=user takes root")
@pytest.mark.parametrize(("submission", "secret", "points"), [
    ("submissions/hanging", "a secret", 6),  # Of a test of 30.
    ("classroom", "", 6),  # Right without words.
])
def test_classroom(tmp_path: Path, submission: str, secret: str, points: int) -> None:
    classroom = Classroom(tmp_path, EXAMPLE / submission / "words.c")
    results = classroom.run(secret)
    assert (results["status"], results["max_score"]) == ("fail", 100)
    assert sum(test["score"] for test in results["tests"]) == points
    assert [test["status"] for test in results["tests"]] == ["fail"] * 6
    assert ("(practice" in classroom.said) == (not secret)
    assert "compile" not in classroom.said and "(a hidden test)" in classroom.said


def test_classroom_s_table() -> None:
    """What is to be done is the same there as in the exercise, and as in its script."""
    tables = [re.findall(r"^\| (\d+) \|", (EXAMPLE / name).read_text(), re.MULTILINE)
              for name in ("README.md", "classroom/README.md")]
    assert tables[0][:6] == tables[1] and sum(map(int, tables[1])) == 100
