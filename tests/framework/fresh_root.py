# SPDX-License-Identifier: MIT
"""A system of Debian's or Ubuntu's made from nothing, in which commands are run by chroot.

debootstrap makes it, from where this host's apt gets the same release, or else from where its own
script for the release says.  What is mounted is so for one command only, whose processes all end
with it.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

LIMIT = 3600  # Seconds.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
COMPONENTS = {"bookworm": "main", "jammy": "main universe"}
NEEDED = ("debootstrap",)  # The rest is of every Debian.
NETWORK = ("http_proxy", "https_proxy", "no_proxy")
OF_APT = ("Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check")
SCRIPTS = Path("/usr/share/debootstrap/scripts")
NO_ARCHIVE = "Failed getting release file"


class NotHere(Exception):
    """Such a system cannot be made on this host; says why."""


class FreshRoot:
    def __init__(self, folder: Path, suite: str):
        if missing := [name for name in NEEDED if shutil.which(name) is None]:
            raise NotHere(f"{' and '.join(missing)} is not installed: ./setup nightly installs it")
        if os.getuid():
            raise NotHere("debootstrap takes root")
        self.folder = folder
        self.network = {name: os.environ[name] for name in NETWORK if name in os.environ}
        done = subprocess.run(["debootstrap", "--variant=minbase", suite, folder, *mirror(suite)],
                              text=True, capture_output=True, timeout=LIMIT, check=False)
        if NO_ARCHIVE in done.stdout + done.stderr:
            raise NotHere(f"no archive has {suite}: {done.stdout.splitlines()[-1]}")
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr
        self.let_apt_find(suite)

    def let_apt_find(self, suite: str) -> None:
        """All that the archive has, in the same way as on this host."""
        sources = self.folder / "etc/apt/sources.list"
        archive = sources.read_text().split()[1]
        sources.write_text("".join(f"deb {archive} {release} {COMPONENTS[suite]}\n"
                                   for release in (suite, f"{suite}-updates")))
        options = "".join(f"{line}\n" for line in run("apt-config", "dump").splitlines()
                          if line.startswith(OF_APT))
        (self.folder / "etc/apt/apt.conf.d/99host").write_text(options)

    def run(self, command: str, folder: str = "/", **variables: str) -> subprocess.CompletedProcess:
        """What its shell does with a command, as root."""
        environment = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8"} | self.network | variables
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--root={self.folder}",
             f"--wd={folder}", "--mount-proc", "sh", "-c", command], env=environment, text=True,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT, check=False)

    def must_run(self, command: str, folder: str = "/", **variables: str) -> str:
        done = self.run(command, folder, **variables)
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout


def run(*command: str) -> str:
    return subprocess.run(command, text=True, capture_output=True, check=False).stdout


def mirror(suite: str) -> list[str]:
    """The argument of debootstrap's that says where the release is; none: where it looks itself."""
    lines = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)",
                "Created-By: Packages").splitlines()
    known = [uri for uri, release in map(str.split, lines) if release == suite]
    script = SCRIPTS / suite
    if script.is_file():
        known += re.findall(r"default_mirror (https?://archive\S+)", script.read_text())
    return known[:1]
