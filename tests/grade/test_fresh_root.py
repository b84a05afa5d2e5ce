# SPDX-License-Identifier: MIT
"""Grading where nothing of ours is installed: the Dockerfile, Gradescope's scripts, and a build by
a host that has no MIG, in systems that are made from nothing.

There need be no Docker: a small reader of Dockerfiles, which knows the words that ours uses, does
what it says.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Callable, Iterator

import pytest
from assay import OUT, ROOT
from framework.commands import load_command
from framework.copies import copy_sources
from framework.fresh_root import FreshRoot, NotHere

EXAMPLE = ROOT / "docs" / "grading"
RELEASES = {"debian:12": "bookworm"}
SUBMISSIONS = list(load_command("grade").EXPECTED)
OF_WORDS = [name for name in SUBMISSIONS if "/" not in name]
SECRET = "0123456789abcdef\n"
SPY = '#include "{}"\nint main(void)\n{{\n\treturn 0;\n}}\n'


@pytest.fixture(name="fresh")
def fresh_fixture(tmp_path: Path) -> Iterator[Callable[[str], FreshRoot]]:
    """Makes a system of a release; the test is skipped where that cannot be."""
    with tempfile.TemporaryDirectory(prefix="root.", dir=tmp_path) as folder:
        def make(suite: str) -> FreshRoot:
            try:
                return FreshRoot(Path(folder) / suite, suite)
            except NotHere as why:
                pytest.skip(str(why))
        yield make


@pytest.fixture(name="bundle")
def bundle_fixture(tmp_path: Path) -> Path:
    subprocess.run([ROOT / "tools" / "bundle", tmp_path / "assay-grader.tar"], check=True)
    return tmp_path / "assay-grader.tar"


def test_who_cannot_make_one_is_told_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotHere, match="^debootstrap is not installed: ./setup nightly"):
        FreshRoot(tmp_path / "root", "bookworm")


# ---------------- Docker ----------------

class Image:
    """What a Dockerfile makes."""

    def __init__(self, dockerfile: Path, context: Path, make: Callable[[str], FreshRoot]):
        self.make, self.context = make, context
        self.variables: dict[str, str] = {}
        self.folder, self.command = "/", []
        for line in instructions(dockerfile.read_text()):
            word, _, rest = line.partition(" ")
            getattr(self, f"do_{word.lower()}")(rest)

    def do_from(self, image: str) -> None:
        self.root = self.make(RELEASES[image])

    def do_add(self, words: str) -> None:
        """A tar archive is unpacked."""
        archive, folder = words.split()
        target = self.root.folder / folder.lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "xf", self.context / archive, "-C", target], check=True)

    def do_run(self, command: str) -> None:
        self.root.must_run(command, self.folder, **self.variables)

    def do_env(self, setting: str) -> None:
        name, _, value = setting.partition("=")
        self.variables[name] = value

    def do_workdir(self, folder: str) -> None:
        self.folder = folder

    def do_entrypoint(self, words: str) -> None:
        self.command = json.loads(words)

    def start(self, arguments: str) -> subprocess.CompletedProcess:
        return self.root.run(f"{' '.join(self.command)} {arguments}", self.folder,
                             **self.variables)


def instructions(text: str) -> list[str]:
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", "").splitlines()
    return [line for line in lines if line.strip()]


def test_the_dockerfile_s_words() -> None:
    """The reader knows them all, and what is added is what `make bundle` makes."""
    lines = instructions((EXAMPLE / "Dockerfile").read_text())
    words = [line.partition(" ")[0] for line in lines]
    assert words[0] == "FROM" and words[-1] == "ENTRYPOINT"
    assert all(hasattr(Image, f"do_{word.lower()}") for word in words)
    assert "ADD assay-grader.tar /opt/" in lines and lines[0].split()[1] in RELEASES


@pytest.mark.nightly
def test_the_dockerfile(fresh, bundle: Path) -> None:
    """An image of it says of the example, word for word, what this host says, and shows nothing."""
    arguments = f"--example {' '.join(SUBMISSIONS)} --runs 1"
    image = Image(EXAMPLE / "Dockerfile", bundle.parent, fresh)
    here = subprocess.run([ROOT / "tools" / "grade", *arguments.split()], text=True, check=True,
                          capture_output=True)
    there = image.start(arguments)
    assert (there.stdout, there.returncode) == (here.stdout, 0), there.stderr
    (image.root.folder / "submission").mkdir()
    (image.root.folder / "submission" / "words.c").write_text(
        SPY.format("/opt/assay-grader/docs/grading/submissions/right/words.c"))
    assert "Permission denied" in image.start("docs/grading/grade_words.py /submission").stdout
    assert here.stdout.endswith(f"\n{len(SUBMISSIONS)} passed, 0 failed\n")


# ---------------- Without MIG ----------------

@pytest.mark.nightly
def test_a_build_without_mig(fresh, tmp_path: Path) -> None:
    """On Ubuntu, which has none; what was built runs."""
    make = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run(["make", "mig-output"], cwd=ROOT, env=make, check=True)
    root = fresh("jammy")
    copy_sources(ROOT, root.folder / "assay")
    subprocess.run(["tar", "xf", OUT / "mig-output.tar", "-C", root.folder], check=True)
    for command in "./setup", "make", "make -q":
        root.must_run(command, "/assay", MIG_OUTPUT="/mig-output")
    assert root.run("command -v i686-gnu-mig").returncode != 0
    assert root.must_run("tools/guest run --icount -- 'echo here'", "/assay") == "here\n"


# ---------------- Gradescope ----------------

class Gradescope:
    """Does what the harness does with a zip file that was uploaded, and with what is handed in."""

    def __init__(self, root: FreshRoot, archive: Path):
        self.root, self.folder = root, root.folder / "autograder"
        shutil.unpack_archive(archive, self.folder / "source")
        shutil.copy(self.folder / "source" / "run_autograder", self.folder)
        (self.folder / "run_autograder").chmod(0o755)
        root.must_run("apt-get -q update && bash /autograder/source/setup.sh")

    def grade(self, submission: Path) -> dict:
        for name in "submission", "results":
            shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(submission, self.folder / "submission")
        (self.folder / "results").mkdir()
        self.root.must_run("./run_autograder", "/autograder")
        return json.loads((self.folder / "results" / "results.json").read_text())


def zip_as_the_book_says(folder: Path, bundle: Path, secret: str) -> Path:
    """By the command of docs/tools/grade.md."""
    text = (ROOT / "docs" / "tools" / "grade.md").read_text()
    command, = re.findall(r"^    (python3 -m zipfile (?:.*\\\n)?.*)$", text, re.MULTILINE)
    (folder / "out").mkdir()
    (folder / "docs").symlink_to(ROOT / "docs")
    (folder / "out" / "assay-grader.tar").symlink_to(bundle)
    (folder / "secret").write_text(secret)
    subprocess.run(["sh", "-c", command], cwd=folder, check=True)
    return folder / "autograder.zip"


def points(results: dict) -> dict[str, int]:
    return {test["name"]: test["score"] for test in results["tests"]}


def grade_here(submission: Path, folder: Path) -> dict:
    (folder / "key").write_text(SECRET)
    (folder / "key").chmod(0o600)
    subprocess.run([ROOT / "tools" / "grade", EXAMPLE / "grade_words.py", submission, "--secret",
                    folder / "key", "--gradescope", folder / "here.json"], check=False,
                   capture_output=True)
    return json.loads((folder / "here.json").read_text())


@pytest.mark.nightly
def test_gradescope(fresh, bundle: Path, tmp_path: Path) -> None:
    """On Ubuntu, as there: all have the points that they have here, and none sees the secret."""
    (tmp_path / "zip").mkdir()
    archive = zip_as_the_book_says(tmp_path / "zip", bundle, SECRET)
    there = Gradescope(fresh("jammy"), archive)
    for name in OF_WORDS:
        submission = EXAMPLE / "submissions" / name
        assert points(there.grade(submission)) == points(grade_here(submission, tmp_path)), name
    (tmp_path / "spy").mkdir()
    (tmp_path / "spy" / "words.c").write_text(SPY.format("/autograder/source/secret"))
    said = json.dumps(there.grade(tmp_path / "spy"))
    assert "Permission denied" in said and SECRET.strip() not in said


def test_gradescope_wants_a_secret(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "gradescope", tmp_path / "source")
    done = subprocess.run(["sh", tmp_path / "source" / "setup.sh"], text=True, check=False,
                          capture_output=True)
    assert done.returncode == 1 and "has no file 'secret'" in done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="--sandbox=user takes root")
def test_gradescope_s_script(bundle: Path, tmp_path: Path) -> None:
    """As far as it goes without installing anything: one submission, in a folder of this host's."""
    here = tmp_path / "autograder"
    shutil.copytree(EXAMPLE / "gradescope", here / "source")
    shutil.copy(EXAMPLE / "gradescope" / "run_autograder", here)
    shutil.copytree(EXAMPLE / "submissions" / "panicking", here / "submission")
    (here / "results").mkdir()
    (here / "source" / "secret").write_text(SECRET)
    shutil.copy(bundle, here / "source")
    (tmp_path / "apt-get").write_text("#!/bin/sh\nexit 1\n")  # What is missing stays so.
    (tmp_path / "apt-get").chmod(0o755)
    for script in "source/setup.sh", "run_autograder":
        subprocess.run([here / script], check=True, capture_output=True,
                       env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    results = json.loads((here / "results" / "results.json").read_text())
    assert results["score"] == 0 and "panic" in json.dumps(results)
    assert (here / "source").stat().st_mode & 0o077 == 0
