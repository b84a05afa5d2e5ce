# SPDX-License-Identifier: MIT
"""monctl -on wait: where a program stood while it did not run, for what, and how long.

A program waits for pages, for a server, for a lock and for its turn, and says by its own clock how
long each was.  What the recording shows of each function is compared with that.
"""

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, recorded, unix
from assay.files import Files, Get, Put

from monctl import perf_data

PROGRAMS = Path(__file__).resolve().parent / "programs"
LIMIT = 60
COMMANDS = """cd
monctl -for all -clients -on periodic,wait -record all & M=$!
monctl -help >/dev/null  # Which comes to its turn only after it.
/tmp/waiter
kill $M; wait $M"""

# What each function waits for, and what its server waits for meanwhile, if it has one.
REASONS = {"wait_for_pages": "wait-page", "wait_for_server": "wait-receive",
           "wait_for_lock": "wait-lock", "wait_for_turn": "wait-cpu"}
SERVERS = {"wait_for_pages": "supply_late", "wait_for_server": "serve_slowly"}


class Case(NamedTuple):
    file: Path
    programs: Path
    told: dict[str, int]  # By the program, in nanoseconds.

    def folded(self, flavor: str) -> list[tuple[list[str], int]]:
        """Stacks, the outermost function first, with their time."""
        done = subprocess.run([OUT / "bin/gprof", "--any-date", "--view=folded",
                               f"--flavor={flavor}", f"--programs={self.programs}",
                               OUT / "mach_kernel", self.file],
                              check=True, capture_output=True, text=True)
        lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
        return [(stack.split(";"), int(time)) for stack, _, time in lines]

    def times(self, flavor: str) -> Counter:
        """Of each of the functions, with all that it called or had done for it."""
        found: Counter = Counter()
        for stack, time in self.folded(flavor):
            for name in set(stack) & set(REASONS):
                found[name] += time
        return found


@pytest.fixture(name="case", scope="module")
def case_fixture(tmp_path_factory) -> Case:
    folder = tmp_path_factory.mktemp("waits")
    file, programs, program = folder / "all", folder / "programs", folder / "waiter"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
                    PROGRAMS / "waiter.c", "-lthreads"], check=True)
    result = unix.run(COMMANDS, user="root", limit=LIMIT,
                      files=Files(put=(Put(program, "/tmp/waiter"),),
                                  get=(Get("/root/all", file),)))
    assert (result.outcome, result.status) == ("exit", 0), result.log.decode()
    told = {name: int(time) for name, time in
            re.findall(r"^(wait_for_\w+) (\d+)$", result.output.decode(), re.M)}
    assert set(told) == set(REASONS)
    programs.mkdir()
    recorded.link_programs(file, programs)
    return Case(file, programs, told)


def test_the_program_waited_as_it_was_to(case: Case) -> None:
    """Some 40, 30, 20 and 10 % of its time, so that no one is too short to be seen."""
    total = sum(case.told.values())
    assert all(time * 100 > 8 * total for time in case.told.values()), case.told


@pytest.mark.parametrize("name", REASONS)
def test_each_wait_has_its_length(case: Case, name: str) -> None:
    """Within 1 % of what the program's own clock said.  Who has what he waited for may have to wait
    for his turn, if another is at work."""
    found = sum(case.times(flavor)[name] for flavor in {REASONS[name], "wait-cpu"})
    assert abs(found - case.told[name]) * 100 <= case.told[name], (found, case.told)


def test_time_as_it_passed_adds_up(case: Case) -> None:
    """What ran and what waited, here and in servers, is what passed; and so are the shares."""
    found, total = case.times("wall"), sum(case.told.values())
    for name, time in case.told.items():
        assert abs(found[name] - time) * 100 <= total, (name, found, case.told)
    assert abs(sum(found.values()) - total) * 100 <= total, (found, case.told)


@pytest.mark.parametrize("name", SERVERS)
def test_a_wait_leads_through_its_server(case: Case, name: str) -> None:
    """The program waits because the server sleeps: nine tenths of it are found there."""
    below = sum(time for stack, time in case.folded("wall")
                if name in stack and SERVERS[name] in stack and
                stack.index(name) < stack.index(SERVERS[name]) and stack[-1] == "wait-timer")
    assert below * 10 > 9 * case.told[name], (below, case.told)


def test_the_recording_is_whole(case: Case) -> None:
    """Each thread's waits are disjoint, and none is lost."""
    recording = perf_data.read(case.file.read_bytes())
    assert (recording.counts["lost"], recording.lost) == (0, 0)
    names = {number: name for number, name in recording.events.items() if "wait" in name}
    assert set(names.values()) >= set(REASONS.values())
    ends: dict[int, int] = {}
    waits = sorted((one for one in recording.samples if one.flavor in names),
                   key=lambda one: one.time)
    assert len(waits) > 100
    for one in waits:
        assert ends.get(one.tid, 0) <= one.time - one.period, one
        ends[one.tid] = one.time


def test_waits_are_for_recordings(cases) -> None:
    said = cases({"live": "monctl -for all -on wait -live 1",
                  "run": "monctl -on periodic,wait -run true"}, user="root")
    assert said["live"].status == said["run"].status == 2
    assert all("-on wait goes with -record only" in one.text for one in said.values())
