# SPDX-License-Identifier: MIT
"""tools/qemu: whose shell it is."""

import pytest
from assay import ToolError
from framework.commands import load_command

qemu = load_command("qemu")


@pytest.mark.parametrize("said, user", [("root", "root"), ("", "student"), (None, "student")])
def test_login(tmp_path, monkeypatch, said: str | None, user: str) -> None:
    if said is None:
        monkeypatch.delenv("LOGIN", raising=False)
    else:
        monkeypatch.setenv("LOGIN", said)
    _, (server,) = qemu.what_to_boot(tmp_path, "", [], qemu.read_wishes().login)
    assert server.words[-2:] == ("--", f"user={user}")


def test_login_of_nobody(monkeypatch) -> None:
    monkeypatch.setenv("LOGIN", "bob")
    with pytest.raises(ToolError, match="^LOGIN=bob: there is no such user; there are root, stud"):
        qemu.read_wishes()


def test_too_little_memory(monkeypatch, capsys) -> None:
    """It is said before anything is booted, and how much is enough."""
    monkeypatch.setenv("MEM", "16")
    with pytest.raises(ToolError, match="^MEM=16: the Unix server and its swap need 32 MiB or mor"):
        with qemu.root_disk("direct", [], qemu.read_wishes()):
            pass


def test_words_of_a_command() -> None:
    """Several words are one command and lose nothing; one is what the shell is to read."""
    guest = load_command("guest")
    assert guest.shell_commands(["sleep 100; echo $?"]) == "sleep 100; echo $?"
    assert guest.shell_commands(["printf", "%s|", "a b", "$HOME", ";"]) == \
        "printf '%s|' 'a b' '$HOME' ';'"
