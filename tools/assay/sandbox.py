# SPDX-License-Identifier: MIT
"""Compiles what strangers wrote: in a room of its own, with bounds, and nothing left behind.

The room is bubblewrap's: namespaces of its own for files, processes, network and users.  In it are
the host's compilers (of /usr what is needed, to be read only), the folders that were asked for, and
a /tmp in memory that goes away with it.  So a source can name no file of the host's, and when the
room's first process ends, by itself or not, so does all that was started there.  What was made
comes out as a stream of bytes, never as a file that somebody else wrote.

Where no namespaces can be had, as in many containers, root may have `user` instead: another user's
rights, in an empty folder.  What all users may read of the host can be read then.
"""

import fcntl
import functools
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Mapping

from assay import ToolError

KINDS = ("bubblewrap", "user")
PROGRAM = "bwrap"
FOLDERS = ("bin", "lib", "lib32", "lib64", "libexec", "i686-linux-gnu")  # Of /usr.
LINKS = ("bin", "lib", "lib32", "lib64")  # Of /: folders, or names of those in /usr.
ALTERNATIVES = Path("/etc/alternatives")  # Where Debian's /usr/bin/awk and its like lead.
FIRST_USER = 61184  # Of those that Debian's policy leaves free and systemd hands out for a while.
USERS = 256


class Limits:
    """What all that is compiled in one go may take."""

    cpu = 30  # Seconds of the host's for each process,
    wall = 120  # and for all, on a host that has other things to do.
    memory = 1 << 30  # Bytes of address space for each process.
    room = 256 << 20  # Bytes of /tmp.
    file = 64 << 20  # Bytes of a file.
    output = 16 << 20  # Bytes of what was made,
    messages = 1 << 16  # and of what is said.


@dataclass(frozen=True)
class Made:
    """What came of commands: too_much says that they were stopped."""

    status: int
    data: bytes
    messages: str
    too_much: bool


# What gcc, its parts and the shell say when a bound of a process's ended it.
STOPPED = re.compile(r"Killed|CPU time limit|File size limit|[Oo]ut of memory|memory exhausted|"
                     r"cannot allocate|File truncated|No space left|file too large", re.IGNORECASE)
READ = 1 << 16
GRACE = 1  # Seconds from the end of its output to its own.

# What is used: tools/grade's --sandbox, or what is said for all that run in this environment.
kind = os.environ.get("ASSAY_SANDBOX", KINDS[0])


def run(script: str, folders: Mapping[str, Path], limits: type[Limits] = Limits) -> Made:
    """Has a shell run a script in the room.  Its standard output is what was made.

    The script knows a folder of the host's by a variable ($WORK for `work`), and /tmp as $TMP.
    """
    return (in_namespaces if kind == "bubblewrap" else as_another_user)(script, folders, limits)


def shell(script: str, limits: type[Limits]) -> list[str]:
    """The command that runs it, with the bounds that each process has."""
    return ["prlimit", f"--cpu={limits.cpu}:{limits.cpu + 1}", f"--as={limits.memory}",
            f"--fsize={limits.file}", "--core=0", "--", "/bin/sh", "-euc", script]


def environment(tmp: str, places: Mapping[str, str]) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": tmp, "TMPDIR": tmp,
            "TMP": tmp} | {name.upper(): place for name, place in places.items()}


# ---------------- With namespaces ----------------

def readable(folders: Mapping[str, Path]) -> list[str]:
    """Options of bubblewrap's for what can be read in the room."""
    words = []
    for name in FOLDERS:
        if (usr := Path("/usr") / name).is_dir():
            words += ["--ro-bind", str(usr), str(usr)]
    for name in LINKS:
        path = Path("/") / name
        if path.is_symlink():
            words += ["--symlink", f"usr/{name}", str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    if ALTERNATIVES.is_dir():
        words += ["--ro-bind", str(ALTERNATIVES), str(ALTERNATIVES)]
    for name, folder in folders.items():
        words += ["--ro-bind", str(folder.resolve()), f"/room/{name}"]
    return words


def in_namespaces(script: str, folders: Mapping[str, Path], limits: type[Limits]) -> Made:
    command = [find(), "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
               "--dev", "/dev", "--proc", "/proc", "--size", str(limits.room), "--tmpfs", "/tmp",
               *readable(folders), "--chdir", "/tmp", "--", *shell(script, limits)]
    places = {name: f"/room/{name}" for name in folders}
    return supervise(command, limits, Path("/"), environment("/tmp", places))


@functools.cache
def find() -> str:
    """Where bubblewrap is; a ToolError tells what to do where it is not, or cannot work."""
    path = shutil.which(PROGRAM)
    if path is None:
        raise ToolError("submissions are compiled in a room of their own, by bubblewrap, which is "
                        "not installed: run ./setup")
    done = subprocess.run([path, "--unshare-all", "--ro-bind", "/", "/", "true"], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise ToolError(f"no room of its own for the compiler: {done.stderr.strip()}; a container "
                        "needs --privileged for that, or grade as its root with --sandbox=user "
                        "(docs/tools/grade.md says how much less that is)")
    return path


# ---------------- Without ----------------

def as_another_user(script: str, folders: Mapping[str, Path], limits: type[Limits]) -> Made:
    """By a user that nobody else is, whose processes are all ended afterwards."""
    if os.getuid():
        raise ToolError("--sandbox=user needs root, who alone can become another user")
    with tempfile.TemporaryDirectory(prefix="assay.") as name, User() as user:
        room = Path(name)
        room.chmod(0o711)
        tmp = room / "tmp"
        tmp.mkdir()
        os.chown(tmp, user.number, user.number)
        places = {name: str(room / name) for name in folders}
        for name, place in places.items():
            copy(folders[name], place)
            subprocess.run(["chmod", "-R", "a+rX", place], check=True)
        command = ["setpriv", f"--reuid={user.number}", f"--regid={user.number}", "--clear-groups",
                   "--no-new-privs", *shell(script, limits)]
        return supervise(command, limits, tmp, environment(str(tmp), places))


def copy(path: Path, to: str) -> None:
    if path.is_dir():
        shutil.copytree(path, to, symlinks=True)
    else:
        shutil.copy2(path, to)


def namespace() -> int:
    """A number of this namespace of processes."""
    return os.stat("/proc/self/ns/pid").st_ino


class User:
    """A number that no other grader uses meanwhile: a lock, which ends with its process.

    Graders in other containers have locks of their own, and who sees their processes ends those of
    the same number as well; so each namespace of processes begins to look elsewhere.
    """

    def __enter__(self) -> "User":
        for number in range(USERS):
            self.number = FIRST_USER + (namespace() + number) % USERS
            self.lock = os.open(f"/run/lock/assay-{self.number}", os.O_CREAT | os.O_WRONLY, 0o600)
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return self
            except BlockingIOError:
                os.close(self.lock)
        raise ToolError(f"{USERS} submissions are being compiled already")

    def __exit__(self, *_: object) -> None:
        """Ends what is left: a process of that user can name all of them at once."""
        subprocess.run(["setpriv", f"--reuid={self.number}", f"--regid={self.number}",
                        "--clear-groups", "--", "/bin/sh", "-c", "kill -KILL -1"], check=False,
                       stderr=subprocess.DEVNULL)
        os.close(self.lock)


# ---------------- What they do ----------------

class Stream:
    """What is read of a process, up to a bound."""

    def __init__(self, most: int):
        self.most = most
        self.data = bytearray()

    def take(self, new: bytes) -> bool:
        """Whether it is not too much yet."""
        self.data += new
        return len(self.data) <= self.most


def supervise(command: list[str], limits: type[Limits], folder: Path,
              variables: Mapping[str, str]) -> Made:
    """Runs it to its end, or ends it where a bound is passed."""
    made, said = Stream(limits.output), Stream(limits.messages)
    with subprocess.Popen(command, cwd=folder, env=variables, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        try:
            is_whole = follow({process.stdout: made, process.stderr: said}, limits.wall)
        finally:
            end(process)
    messages = bytes(said.data[:limits.messages]).decode(errors="replace")
    too_much = not is_whole or STOPPED.search(messages) is not None
    return Made(process.returncode, bytes(made.data), messages, too_much)


def follow(streams: dict[IO[bytes], Stream], seconds: float) -> bool:
    """Reads until all have ended; whether that was within the bounds."""
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for file, stream in streams.items():
            selector.register(file, selectors.EVENT_READ, stream)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                return False
            for key, _ in ready:
                new = os.read(key.fd, READ)
                if not new:
                    selector.unregister(key.fileobj)
                elif not key.data.take(new):
                    return False
    return True


def end(process: subprocess.Popen) -> None:
    """By force if it has not ended; what it started ends with its namespace, or its user."""
    if process.poll() is None:
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
