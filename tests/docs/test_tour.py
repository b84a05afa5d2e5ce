# SPDX-License-Identifier: MIT
"""The tour for the first hour, typed from its first command to its last, in a copy of the tree.

What the host's shell is given and what is typed at the machine's console come in the page's order:
the machine of `make qemu` stays until the page begins with runs that need no keyboard.
"""

import os
import re
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Mapping, Optional

import pytest
from assay import OUT, ROOT
from framework.keyboard import PROMPT, Keyboard
from framework.room import OF_MAKE, OTHERS

from docs import book
from docs.test_transcripts import unlike

PAGE = ROOT / "docs" / "tour.md"
ELSEWHERE = "make test"  # Would run these tests beside themselves.
LIMIT = 300  # Seconds, for the kernel's link on a busy host.
IN_KERNEL = re.compile(r"(\d+\.\d+) +kernel:page_alloc_zeroed")


class Tour:
    """Somebody who types what the page says."""

    def __init__(self, folder: Path, environment: Mapping[str, str], machines: ExitStack):
        self.folder, self.environment, self.machines = folder, environment, machines
        self.keyboard: Optional[Keyboard] = None

    def boot(self, command: str) -> str:
        self.keyboard = self.machines.enter_context(
            Keyboard(command.split(), self.folder, self.environment))
        return self.keyboard.wait_for(PROMPT)

    def at_console(self, command: str) -> str:
        printed = self.keyboard.say(command)
        assert self.keyboard.say("echo =$?").strip().endswith("=0"), f"{command}\n{printed}"
        return printed

    def on_host(self, command: str) -> str:
        done = subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def do(self, one: book.Example) -> str:
        if one.command.startswith("make qemu"):
            return self.boot(one.command)
        return self.on_host(one.command) if one.who == "host" else self.at_console(one.command)


def not_ours(folder: str, names: list[str]) -> list[str]:
    """Git's, and what in out/ belongs to somebody's machine or to a run of the tests."""
    if Path(folder) == OUT:
        return [name for name in names if OTHERS.fullmatch(name)]
    return [name for name in names if name in (".git", "__pycache__")]


@pytest.fixture(name="tour")
def tour_fixture(tmp_path: Path):
    folder = tmp_path / "tree"
    shutil.copytree(ROOT, folder, symlinks=True, ignore=not_ours)
    environment = {name: value for name, value in os.environ.items()
                   if name not in (*OF_MAKE, "ASSAY_OUT", "WERROR")}
    with ExitStack() as machines:
        yield Tour(folder, environment, machines)


@pytest.mark.skipif(OUT.name != "out", reason="what is typed names the stock build's folder")
def test_the_tour_s_commands_do_what_is_shown(tour: Tour) -> None:
    printed = []
    for one in book.of_blocks(PAGE):
        if one.command.startswith(ELSEWHERE):
            continue
        said = tour.do(one)
        shown = [line for line in one.shown if line.strip()]
        line = unlike(shown, said.splitlines()) if shown else ""
        assert not line, f"{one.command}\nshown: {line}\nprinted:\n{said}"
        printed.append(said)
    before, after = (float(found) for found in IN_KERNEL.findall("".join(printed)))
    assert 1.8 * before < after < 2.2 * before  # To clear a page is nearly all that it does.
