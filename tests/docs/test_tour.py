# SPDX-License-Identifier: MIT
"""The tour for the first hour, typed from its first command to its last, with a kernel of its own.

What the host's shell is given and what is typed at the machine's console come in the page's order:
the machine of `make qemu` stays until the page begins with runs that need no keyboard.
"""

import re
import shutil
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path
from typing import Iterable, Optional

import pytest
from assay import OUT, ROOT
from framework.keyboard import PROMPT, Keyboard
from framework.room import Room

from docs import book
from docs.test_transcripts import unlike

PAGE = ROOT / "docs" / "tour.md"
CHANGES = "sed -i"  # The kernel.
ELSEWHERE = "make test"  # Would run these tests beside themselves.
IN_KERNEL = re.compile(r"(\d+\.\d+) +kernel:page_alloc_zeroed")


class Tour:
    """Somebody who types what the page says."""

    def __init__(self, room: Room, machines: ExitStack):
        self.room, self.machines = room, machines
        self.keyboard: Optional[Keyboard] = None

    def boot(self, command: str) -> str:
        self.keyboard = self.machines.enter_context(
            Keyboard(command.split(), self.room.folder, self.room.environment))
        return self.keyboard.wait_for(PROMPT)

    def at_console(self, command: str) -> str:
        printed = self.keyboard.say(command)
        assert self.keyboard.say("echo =$?").strip().endswith("=0"), f"{command}\n{printed}"
        return printed

    def on_host(self, command: str) -> str:
        done = self.room.run(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def do(self, one: book.Example) -> str:
        if one.command.startswith("make qemu"):
            return self.boot(one.command)
        return self.on_host(one.command) if one.who == "host" else self.at_console(one.command)


def copy_of(link: Path) -> None:
    """What a link of the room leads to takes its place, so that it can be changed."""
    original = link.resolve()
    link.unlink()
    if original.is_dir():
        shutil.copytree(original, link)
    else:
        shutil.copy2(original, link)


def links_in(link: Path) -> None:
    """The folder that a link leads to becomes one of links."""
    original = link.resolve()
    link.unlink()
    link.mkdir()
    for entry in original.iterdir():
        (link / entry.name).symlink_to(entry)


@pytest.fixture(name="tour")
def tour_fixture(tmp_path: Path):
    """In a room with a kernel of its own, to change and to link."""
    room = Room(tmp_path / "tree")
    copy_of(room.folder / "kernel")
    links_in(room.out / "obj")
    copy_of(room.out / "obj" / "kernel")
    for kernel in room.out.glob("mach_kernel*"):
        copy_of(kernel)
    with ExitStack() as machines:
        yield Tour(room, machines)


BY_THE_STOCK_BUILD = pytest.mark.skipif(OUT.name != "out",
                                        reason="what is typed names the stock build's folder")


def follow(tour: Tour, examples: Iterable[book.Example]) -> str:
    """Types the commands, which do what the page shows: what all of them printed."""
    printed = []
    for one in examples:
        if one.command.startswith(ELSEWHERE):
            continue
        said = tour.do(one)
        shown = [line for line in one.shown if line.strip()]
        line = unlike(shown, said.splitlines()) if shown else ""
        assert not line, f"{one.command}\nshown: {line}\nprinted:\n{said}"
        printed.append(said)
    return "".join(printed)


@BY_THE_STOCK_BUILD
def test_the_tour_s_commands_do_what_is_shown(tour: Tour) -> None:
    """Until the kernel is to be changed and built again: test_the_whole_tour()."""
    examples = list(book.of_blocks(PAGE))
    first = [*takewhile(lambda one: not one.command.startswith(CHANGES), examples)]
    assert 10 < len(first) < len(examples)
    assert len(IN_KERNEL.findall(follow(tour, first))) == 1


@pytest.mark.nightly
@BY_THE_STOCK_BUILD
def test_the_whole_tour(tour: Tour) -> None:
    before, after = map(float, IN_KERNEL.findall(follow(tour, book.of_blocks(PAGE))))
    assert 1.8 * before < after < 2.2 * before  # To clear a page is nearly all that it does.
