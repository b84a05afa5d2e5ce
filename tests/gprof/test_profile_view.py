# SPDX-License-Identifier: MIT
"""`make profile-view`: from a gmon.out to a flame graph in a browser, without a network."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from assay import OUT, viewers
from gprof.test_views import gmon_fixture, needs  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(name="show")
def show_fixture(gmon, tmp_path: Path):
    """Runs the tool on the profile, in an out/ of its own, with a browser that notes all."""
    (tmp_path / "out" / "bin").mkdir(parents=True)
    shutil.copy(OUT / "bin" / "gprof", tmp_path / "out" / "bin" / "gprof")
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/opened\n')
    browser.chmod(0o755)

    def show(*words: str) -> subprocess.CompletedProcess:
        environment = os.environ | {"ASSAY_OUT": str(tmp_path / "out"), "BROWSER": str(browser)}
        return subprocess.run([ROOT / "tools" / "profile-view", *words], env=environment,
                              text=True, capture_output=True, check=False)

    return show


@needs("speedscope")
def test_one_command_opens_the_page(show, gmon, tmp_path: Path) -> None:
    """The program is the only one beside the profile."""
    done = show(str(gmon[1]))
    assert done.returncode == 0, done.stderr
    url = done.stdout.strip()
    assert (tmp_path / "opened").read_text().strip() == url
    assert url == (tmp_path / "out/profile-view/index.html").as_uri()


@needs("chromium", "speedscope")
def test_the_page_becomes_a_flame_graph(show, gmon) -> None:
    """In a browser without more rights than any other page's."""
    url = show(str(gmon[1]), str(gmon[0]), "--no-browser").stdout.strip()
    with viewers.dumped(url, more_rights=False) as page:
        assert "<title>periodic" in page or "<title>samples" in page
        assert "Left Heavy" in page


@pytest.mark.parametrize(("words", "said"), [
    (("no-such-file",), "no-such-file is not there"),
    (("",), "of which profile?  make profile-view F=FILE"),
    (("/proc/self/status", "no-such-program"), "no-such-program is no program"),
])
def test_what_is_wrong_in_one_line(show, words: tuple[str, ...], said: str) -> None:
    done = show(*words)
    assert done.returncode == 1 and not done.stdout
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_damaged_profile_is_told_by_gprof(show, gmon, tmp_path: Path) -> None:
    (tmp_path / "gmon.out").write_bytes(gmon[1].read_bytes()[:-3])
    done = show(str(tmp_path / "gmon.out"), str(gmon[0]))
    assert done.returncode == 1 and done.stderr.startswith("profile-view: ")
    assert done.stderr.count("\n") == 1
