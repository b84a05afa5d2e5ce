# SPDX-License-Identifier: MIT
"""./setup: what it asks for, that it repeats, and what it says when it may not install.

Nothing is installed or removed here: the script meets a dpkg-query, an apt-get, an id and a sudo of
our own, first on PATH, that keep a list of packages in a file.
"""

import os
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).resolve().parents[2] / "setup"

# Each stands in for the command of its name; $state is the folder that they share.
FAKES = {
    "dpkg-query": """
        while read -r name; do
            case " $* " in *" $name "*) echo "installed ${name%:*} ${name%:*}:${name#*:}";; esac
        done <$state/installed""",
    "dpkg": "echo dpkg $* >>$state/calls",
    "id": "cat $state/uid",
    "sudo": """
        test -e $state/sudo || exit 1
        [ "$1" = -n ] && shift
        echo sudo $* >>$state/calls
        exec "$@" """,
    "npm": """
        echo npm $* in $PWD >>$state/calls
        test -e $state/no-npm && exit 1
        mkdir -p node_modules/speedscope && echo {} >node_modules/speedscope/package.json""",
    "apt-get": """
        echo apt-get $* >>$state/calls
        case " $* " in
        *" update "*) exit 100;;
        *" install "*) for word; do grep -qxF -e "$word" $state/archive && echo "$word"
                       done >>$state/installed;;
        esac""",
}


class Machine:
    """A machine that has some packages, and whose archive offers some."""

    def __init__(self, folder: Path, script: Path = SETUP):
        self.folder = folder
        self.script = script
        folder.mkdir(exist_ok=True)
        self.all = [line.split()[0] for line in self.run("--list").stdout.splitlines()]
        self.write("uid", ["0"])
        self.write("installed", self.all)
        self.write("archive", self.all)
        for name, text in FAKES.items():
            script = folder / "bin" / name
            script.parent.mkdir(exist_ok=True)
            script.write_text(f"#!/bin/sh\nstate={folder}\n{text}\n")
            script.chmod(0o755)

    def write(self, name: str, lines: list[str]) -> None:
        """Sets one of the files that the stand-ins read."""
        (self.folder / name).write_text("".join(f"{line}\n" for line in lines))

    def lack(self, *packages: str) -> None:
        """Takes packages away."""
        self.write("installed", [name for name in self.all if name not in packages])

    def calls(self) -> str:
        """What was done to the machine."""
        record = self.folder / "calls"
        return record.read_text() if record.exists() else ""

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        """Runs ./setup on this machine."""
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "XDG_CACHE_HOME": str(self.folder / "cache"),
                                    "state": str(self.folder)}
        return subprocess.run([self.script, *arguments], env=environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False)


@pytest.fixture(name="box")
def box_fixture(tmp_path: Path) -> Machine:
    """A machine on which nothing is missing, and whoever runs the script is root."""
    return Machine(tmp_path)


def test_list_gives_each_package_a_reason(box: Machine):
    lines = box.run("--list").stdout.splitlines()
    assert len(lines) > 15
    assert all(len(line.split()) >= 2 for line in lines)
    assert len(set(box.all)) == len(box.all)


def test_packages_that_cannot_be_together_are_not_asked_for(box: Machine):
    assert "gcc-i686-linux-gnu" in box.all
    assert "gcc-multilib" not in box.all


def test_nothing_missing_changes_nothing(box: Machine):
    result = box.run()
    assert (result.returncode, result.stdout) == (0, "setup: nothing is missing\n")
    assert box.calls() == ""


def test_nothing_missing_starts_few_processes(box: Machine):
    """The promise is under a second; what can be counted is what takes the time."""
    trace = subprocess.run(["sh", "-x", SETUP], capture_output=True, text=True, check=True,
                           env=os.environ | {"PATH": f"{box.folder}/bin:{os.environ['PATH']}"})
    # Parts of a pipeline write at the same time, so that lines of the trace may be mixed.
    assert trace.stderr.count("dpkg-query -W") == 1
    steps = sum(line.startswith("+") for line in trace.stderr.splitlines())
    assert steps < 20 + 4 * len(box.all)


def test_root_installs_what_is_missing_though_update_fails(box: Machine):
    box.lack("xorriso", "mig-i686-gnu:i386")
    result = box.run()
    assert result.returncode == 0, result.stderr
    calls = box.calls()
    assert "dpkg --add-architecture i386" in calls
    install = next(line for line in calls.splitlines() if " install " in line)
    assert install.split()[-2:] == ["mig-i686-gnu:i386", "xorriso"]
    assert calls.index("add-architecture") < calls.index("update") < calls.index(install)


def test_second_run_finds_nothing_missing(box: Machine):
    box.lack("xorriso")
    assert box.run().returncode == 0
    before = box.calls()
    assert box.run().stdout == "setup: nothing is missing\n"
    assert box.calls() == before


def test_user_with_sudo_installs(box: Machine):
    box.write("uid", ["1000"])
    box.write("sudo", [])
    box.lack("mtools")
    result = box.run()
    assert result.returncode == 0, result.stderr
    assert "sudo env DEBIAN_FRONTEND=noninteractive apt-get" in box.calls()


def test_user_without_sudo_is_told_what_and_how(box: Machine):
    box.write("uid", ["1000"])
    box.lack("mtools", "gdb")
    result = box.run()
    assert result.returncode == 1
    assert "missing: mtools gdb" in result.stderr
    assert "apt-get install --no-install-recommends mtools gdb" in result.stderr
    assert box.calls() == ""


def test_package_that_cannot_be_had_is_named(box: Machine):
    box.write("archive", [name for name in box.all if name != "bochs"])
    box.lack("bochs", "gdb")
    result = box.run()
    assert result.returncode == 1
    assert "missing: bochs\n" in result.stderr


def test_unknown_argument_is_refused(box: Machine):
    result = box.run("--help-me")
    assert result.returncode == 2
    assert "usage" in result.stderr


def test_mig_is_emulated_where_it_cannot_be_executed(tmp_path: Path):
    """Known only when there is MIG; here the loader that is asked stands in for a host's."""
    script = tmp_path / "setup"
    script.write_text(SETUP.read_text().replace("/lib/ld-linux.so.2", "false")
                      .replace("command -v qemu-i386", "grep -q qemu-user $state/installed"))
    script.chmod(0o755)
    box = Machine(tmp_path / "box", script)
    box.lack("qemu-user", "gdb")
    result = box.run()
    assert result.returncode == 0, result.stderr
    installs = [line.split()[-1] for line in box.calls().splitlines() if " install " in line]
    assert installs == ["gdb", "qemu-user"]
    assert box.run().stdout == "setup: nothing is missing\n"


# ---------------- Less of it ----------------

def test_grading_needs_little(box: Machine):
    """No foreign architecture, no MIG, no compiler for the host, none of what tests."""
    box.lack(*box.all)
    result = box.run("grading")
    assert result.returncode == 0, result.stderr
    assert "add-architecture" not in box.calls()
    install, = (line for line in box.calls().splitlines() if " install " in line)
    installed = set(install.split()) & set(box.all)
    assert {"gcc-i686-linux-gnu", "qemu-system-x86", "e2fsprogs", "python3", "git"} <= installed
    assert not installed & {"mig-i686-gnu:i386", "gcc", "gdb", "python3-pytest"}


def test_mig_is_not_asked_for_if_its_output_is_there(box: Machine, monkeypatch):
    box.write("archive", [name for name in box.all if not name.startswith("mig-")])
    box.lack("mig-i686-gnu:i386", "gdb")
    assert "MIG_OUTPUT=" in box.run().stderr
    monkeypatch.setenv("MIG_OUTPUT", "mig-output")
    box.lack("mig-i686-gnu:i386", "gdb")
    result = box.run()
    assert (result.returncode, result.stderr) == (0, "setup: apt-get update failed in part;"
                                                     " going on\n")


# ---------------- For the night ----------------

def test_what_only_the_night_needs_is_a_group_of_its_own(box: Machine):
    box.lack("debootstrap", "gdb")
    assert box.run("nightly").returncode == 0
    install, = (line for line in box.calls().splitlines() if " install " in line)
    assert install.split()[-1] == "debootstrap"
    assert "installing gdb\n" in box.run().stdout


def test_what_tests_by_day_read_is_installed_with_the_rest(box: Machine):
    """Those of the CI files would be skipped, where only the viewers' tests may be."""
    box.lack("python3-yaml")
    assert "installing python3-yaml\n" in box.run().stdout


# ---------------- Viewers ----------------

def test_viewers_are_a_group_of_their_own(box: Machine):
    box.lack("valgrind", "gdb")
    result = box.run("viewers")
    assert result.returncode == 0, result.stderr
    install = next(line for line in box.calls().splitlines() if " install " in line)
    assert install.split()[-1] == "valgrind"
    assert "installing gdb" in box.run().stdout


def test_speedscope_comes_by_npm_once(box: Machine):
    assert box.run("viewers").returncode == 0
    assert f"npm ci --ignore-scripts --no-audit --no-fund in {box.folder}/cache" in box.calls()
    assert box.run("viewers").stdout == "setup: nothing is missing\n"
    assert box.calls().count("npm ci") == 1


def test_npm_that_fails_is_told_and_tried_again(box: Machine):
    box.write("no-npm", [])
    result = box.run("viewers")
    assert result.returncode == 1 and "speedscope" in result.stderr
    (box.folder / "no-npm").unlink()
    assert box.run("viewers").returncode == 0


def test_npm_from_elsewhere_will_do(box: Machine):
    """Debian's would not go beside it; one is on this machine's PATH."""
    box.lack("npm")
    assert box.run("viewers").returncode == 0
    assert "apt-get" not in box.calls()
