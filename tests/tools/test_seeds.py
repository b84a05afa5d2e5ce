# SPDX-License-Identifier: MIT
"""tools/seeds runs a program with each seed, says which fail, and makes machines smaller."""

import sys

import pytest
from framework.commands import load_command
from framework.runners import Run


@pytest.fixture(name="tool")
def tool_fixture():
    return load_command("seeds")


def test_a_machine_is_made_smaller(tool, monkeypatch, capsys) -> None:
    seen = []

    def run(_, configuration, names):
        seen.append((configuration.parameters["append"], configuration.arguments, names,
                     configuration.parameters["seed"], configuration.parameters["cpus"]))
        return Run("", ended=False, ending="stopped")

    monkeypatch.setattr(tool, "run_in_guest", run)
    monkeypatch.setattr(sys, "argv", ["seeds", "--seeds", "2", "--first", "7", "--small", "8",
                                      "--keep", "/dev/null/nowhere", "vm/swap_lost"])
    with pytest.raises(OSError):  # It fails, and what it said cannot be kept.
        tool.main()
    assert seen == [("pool=2 ramdisk=6", "small=8 ${host-port}", (), 7, 2)]
    monkeypatch.setattr(tool, "what_failed", lambda program, run: [])
    assert tool.main() == 0
    assert [run[3] for run in seen[1:]] == [7, 8]
    assert capsys.readouterr().out.endswith("2 runs, 0 failed\n")


def test_a_seed_that_fails_is_kept(tool, monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setattr(tool, "run_in_guest",
                        lambda *_: Run("half of it", ended=False, ending="stopped"))
    monkeypatch.setattr(sys, "argv", ["seeds", "--seeds", "1", "--first", "9", "--keep",
                                      str(tmp_path / "kept"), "vm/swap_lost"])
    assert tool.main() == 1
    said = capsys.readouterr().out
    assert said.startswith("vm/swap_lost with seed 9: ") and said.endswith("1 runs, 1 failed\n")
    assert "half of it" in (tmp_path / "kept" / "vm.swap_lost.9").read_text()


def test_small_machines_do_page(tool, monkeypatch, capsys, tmp_path) -> None:
    """A real run: the test itself fails if nothing went to swap."""
    monkeypatch.setattr(sys, "argv", ["seeds", "--seeds", "1", "--small", "8", "--keep",
                                      str(tmp_path), "vm/swap_lost"])
    assert tool.main() == 0
    assert capsys.readouterr().out == "1 runs, 0 failed\n"
