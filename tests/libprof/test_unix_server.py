# SPDX-License-Identifier: MIT
"""The Unix server's own profile, of each of its three builds: UX_PROFILE in the Makefile."""

import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT
from assay.files import Files, Get, Put
from libprof.gmon_reader import EXTRA_END, Gmon, parse, pcs, values

SOURCE = Path(__file__).resolve().parents[1] / "ux" / "profiles" / "server.c"
PERIODIC, PAGEIN = 0x1, 0x40
USER, KERNEL = 0, 1
PROFILER = 19  # GMON_PROFILER
CALLS = 3000  # Of stat(): server.c.
NO_PROFILING, NOT_ALLOWED = 3, 4


class Run(NamedTuple):
    status: int
    said: dict[str, int]  # What the program printed: names and numbers in turn.
    gmon: Gmon


def kind(flavor: int, mode: int) -> int:
    return 2 * (flavor.bit_length() - 1) + mode


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("server") / "server"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O2", "-Wall", "-Werror", "-o", program, SOURCE],
                   check=True)
    return program


@pytest.fixture(name="profile")
def profile_fixture(unix_machine, program: Path, tmp_path: Path):
    """Runs the program under one of the servers."""

    def profile(server: str, flavors: int, work: str, user: str = "root", **options) -> Run:
        file = tmp_path / "gmon.out"
        files = Files(put=(Put(program, "/tmp/server"),), get=(Get("/tmp/gmon.out", file),))
        result = unix_machine(f">/tmp/gmon.out; chmod 666 /tmp/gmon.out; "
                              f"/tmp/server {flavors} /tmp/gmon.out {work}",
                              user=user, server=server, files=files, limit=60, **options)
        assert result.outcome == "exit", result.message
        words = result.output.decode().splitlines()[-1].split()
        said = {name: int(number) for name, number in zip(words[::2], words[1::2])
                if number.isdigit()}
        data = file.read_bytes()
        return Run(result.status, said, parse(data) if data else Gmon([], [], b""))

    return profile


def functions(server: str) -> list[tuple[int, str]]:
    """Functions of the server, by address."""
    lines = (OUT / "servers" / f"{server}.sym").read_text().splitlines()
    return [(int(address, 16), name) for address, kind_, name in map(str.split, lines)
            if kind_ in "tT"]


def name_at(table: list[tuple[int, str]], address: int) -> str:
    return [name for start, name in table if start <= address][-1]


def check_samples(server: str, run: Run) -> None:
    """They are where the server works when it looks paths up."""
    table = functions(server)
    low, high = table[0][0], table[-1][0]
    taken = pcs(run.gmon, kind(PERIODIC, USER))
    assert run.said["lost"] == 0 and run.said["were"] == PERIODIC and run.said["are"] == 0
    assert sum(taken.values()) > 300
    assert all(low <= pc < high for pc in taken)
    names = Counter()
    for pc, count in taken.items():
        names[name_at(table, pc)] += count
    assert {"path_lookup", "directory_lookup", "cache_get", "find", "step"} & set(names), names


def test_sample(profile) -> None:
    run = profile("ux", PERIODIC, "calls")
    assert run.status == 0, run.said
    check_samples("ux", run)
    assert run.said["arcs"] == 0
    assert not [arc for arc in run.gmon.arcs if arc[0] >= EXTRA_END]


def test_pg(profile) -> None:
    """Calls are counted, each of them."""
    run = profile("ux-pg", PERIODIC, "calls")
    assert run.status == 0, run.said
    check_samples("ux-pg", run)
    table = functions("ux-pg")
    calls = Counter()
    for source, target, count in run.gmon.arcs:
        if source >= EXTRA_END:
            calls[name_at(table, source), name_at(table, target)] += count
    assert calls["_Xstat", "ux_stat"] == CALLS
    assert calls["ux_stat", "path_lookup"] == calls["ux_stat", "vnode_stat"] == CALLS


def test_none(profile) -> None:
    assert profile("ux-none", PERIODIC, "calls").status == NO_PROFILING


@pytest.mark.parametrize(("user", "status"), [("ta", 0), ("student", NOT_ALLOWED)])
def test_who_may(profile, user: str, status: int) -> None:
    assert profile("ux", PERIODIC, "calls", user).status == status


def test_page_ins_are_of_what_others_send(profile) -> None:
    """The server's text is wired: none is there.  A long write brings what was swapped out."""
    run = profile("ux", PAGEIN, "swap", append="pool=24 ramdisk=32")
    assert run.status == 0, run.said
    brought = pcs(run.gmon, kind(PAGEIN, KERNEL))
    assert pcs(run.gmon, kind(PAGEIN, USER)) == {}
    own = values(run.gmon).get(PROFILER, 0)  # The collector's memory can be paged.
    assert sum(brought.values()) + own == run.said["taken"] == run.said["pageins"] > 100
    table = functions("ux")
    assert {name_at(table, pc) for pc in brought} == {"mach_msg_trap"}


def test_tokens_are_the_same_in_the_same_run(unix_machine) -> None:
    """And others in another, so that a grader's cannot be known from one's own."""
    program = OUT / "tests" / "ux" / "programs" / "executable"
    files = Files(put=(Put(program, "/tmp/executable"),))
    tokens = [unix_machine("TEST_ROLE=token /tmp/executable; :", files=files, seed=seed).output
              for seed in (0, 0, 1)]
    assert len(tokens[0]) == 32 and tokens[0] == tokens[1] != tokens[2]
