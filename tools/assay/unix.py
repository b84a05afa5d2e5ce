# SPDX-License-Identifier: MIT
"""Runs shell commands under the Unix server: what machine.py is for boot programs.

The root is a RAM disk with a private copy of the disk image.  The commands are a file on it, which
init has a shell execute; init also keeps the time limit, so that what the commands wrote is there
after it.  How they ended is in the status with which init halts the machine.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Iterable, NamedTuple

from assay import OUT, ToolError, machine
from assay.files import Files, Put
from assay.image import USERS
from assay.programs import find_program

IMAGE = OUT / "disk.img"
COMMANDS = "/.commands"
PORTS = "${host-port} ${device-port} ${kernel-command-line}"
SWAP = 16  # MiB of the RAM disk behind the root's.
GRACE = 20  # Seconds that init may need beyond its limit.

# How init tells what became of the commands: user/sbin/init.c.
BY_SIGNAL, TIMED_OUT, NOT_BEGUN, TOO_MANY = 0x100, 0x200, 0x400, 0x800
VALUE = 0xFF

DEFAULT_USER = "student"
SERVER = "ux"  # Of out/servers; others, such as ux-pg, can be named instead, or a path.
SERVER_FILE = "/mach_servers/startup"  # Where its users find it: servers/ux/process/info.c.
ROOT = (0, 0)


class User(NamedTuple):
    name: str
    uid: int
    gid: int


def find_user(name: str, said: str = "--user ") -> User:
    users = {line.split(":")[0]: line.split(":") for line in USERS.read_text().splitlines() if line}
    if name not in users:
        raise ToolError(f"{said}{name}: there is no such user; there are {', '.join(users)}")
    return User(name, int(users[name][2]), int(users[name][3]))


def server_command(root: str, words: str, server: str = SERVER, processes: int = 0) -> str:
    """The boot module that is the Unix server: its root's device, and what init is told."""
    limit = f" processes={processes}" if processes else ""
    return f"{server} {PORTS} root={root}{limit} -- {words}".strip()


def server_files(server: str, put: tuple[Put, ...]) -> tuple[Put, ...]:
    """The server that runs, where the disk has the usual one: profilers read its symbols there."""
    if server == SERVER or any(file.guest == SERVER_FILE for file in put):
        return ()
    return (Put(find_program(server.split()[0]), SERVER_FILE, ROOT),)


def run(commands: str, *, user: str = DEFAULT_USER, files: Files = Files(),
        limit: float = machine.DEFAULT_LIMIT, append: str = "", server: str = SERVER,
        modules: Iterable[str] = (), processes: int = 0, grace: float = GRACE,
        **options: Any) -> machine.Result:
    """Boots the Unix server and runs the commands; the options are those of machine.run().

    Commands that want to have more than so many `processes` at a time, the shell that runs them
    among them, are ended: the outcome is `processes`.
    """
    owner = find_user(user)
    seconds = f" limit={max(1, round(limit))}" if limit else ""
    with tempfile.TemporaryDirectory(prefix="assay.") as name:
        script = Path(name) / "commands"
        script.write_text(commands + "\n")
        script.chmod(0o755)
        put = (*files.put, *server_files(server, files.put), Put(script, COMMANDS))
        all_files = replace(files, put=put, base=IMAGE,
                            owner=(owner.uid, owner.gid))
        result = machine.run(
            [*modules,
             server_command("rd0", f"user={user} run={COMMANDS}{seconds}", server,
                            processes)],
            files=all_files,
            append=f"ramdisk={SWAP} {append}", limit=limit + grace if limit else 0, **options)
    return judge(result)


def judge(result: machine.Result) -> machine.Result:
    """What init's status means."""
    if result.outcome != "exit":
        return result
    status = result.status
    if status & NOT_BEGUN:
        return replace(result, outcome="tool-error", status=0,
                       message="init could not begin the commands")
    if status & TOO_MANY:
        return replace(result, outcome="processes", status=0)
    if status & TIMED_OUT:
        return replace(result, outcome="timeout", status=0)
    if status & BY_SIGNAL:
        return replace(result, outcome="signal", status=status & VALUE)
    return result
