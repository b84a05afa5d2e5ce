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
