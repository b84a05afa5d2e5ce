# SPDX-License-Identifier: MIT
"""The example assignment: its verdicts, and the files by which GitHub and GitLab grade it."""

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from assay import OUT, ROOT, viewers

EXAMPLE = ROOT / "docs" / "grading"
SAYS = {
    "right": "100 points, 1 times with 1 verdict",
    "wrong": "same was called ",
    "hanging": "did not end in time",
    "panicking": "the machine failed: panic: ",
    "forking": "wanted to have more than 32 processes at a time",
}


def test_make_grade() -> None:
    """As make does it, with out/ as a name in the tree; there it is ten times each."""
    environment = os.environ | {"ASSAY_OUT": os.path.relpath(OUT, ROOT)}
    done = subprocess.run(["tools/grade", "--example", "--runs", "1"], cwd=ROOT, text=True,
                          capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    blocks = dict(re.findall(r"^---- (\w+): ((?:(?!^----)[\s\S])*)", done.stdout, re.MULTILINE))
    assert list(blocks) == list(SAYS)
    assert all(said in blocks[name] for name, said in SAYS.items()), done.stdout
    assert done.stdout.endswith("\n5 passed, 0 failed\n")


# ---------------- The CI files ----------------

# What such a file may consist of, of all that GitHub and GitLab know what one for grading needs.
GITHUB = {"name", "on", "jobs"}
GITHUB_JOB = {"runs-on", "container", "timeout-minutes", "steps"}
GITHUB_STEP = {"name", "if", "uses", "with", "run"}
GITLAB_JOB = {"image", "timeout", "variables", "script", "artifacts"}
ARTIFACTS = {"when", "paths", "reports"}


def load(name: str) -> dict:
    yaml = pytest.importorskip("yaml", reason=f"python3-yaml: {viewers.HOW}")
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
    return [step["run"] for step in job["steps"] if "run" in step]


def gitlab_commands() -> list[str]:
    document = load("gitlab-ci.yml")
    assert set(document) == {"grade"} and set(document["grade"]) == GITLAB_JOB
    artifacts = document["grade"]["artifacts"]
    assert set(artifacts) <= ARTIFACTS and artifacts["when"] == "always"
    assert artifacts["reports"] == {"junit": "words.xml"}
    assert re.fullmatch(r"\d+ minutes", document["grade"]["timeout"])
    return document["grade"]["script"]


@pytest.mark.parametrize(("commands", "results"), [(github_commands, True),
                                                   (gitlab_commands, False)])
def test_ci_files(commands, results: bool, tmp_path: Path) -> None:
    """A shell understands what they run, and the last of it grades a repository."""
    script = commands()
    for command in script:
        subprocess.run(["sh", "-n", "-c", command], check=True)
    assert any("cd assay && ./setup && make" in command for command in script)
    (tmp_path / "assay").symlink_to(ROOT)
    shutil.copy(EXAMPLE / "submissions" / "right" / "words.c", tmp_path)
    done = subprocess.run(["sh", "-e", "-c", script[-1]], cwd=tmp_path, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    suite, = xml.parse(tmp_path / "words.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("4", "0")
    if results:
        assert json.loads((tmp_path / "results.json").read_text())["score"] == 100
