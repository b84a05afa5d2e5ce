# SPDX-License-Identifier: MIT
"""MIG's output, made on a host that has MIG and used on one that has none."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from assay import OUT, ROOT, grade_patch
from framework.room import OF_MAKE

NOT_SOURCES = shutil.ignore_patterns("out", ".git", "__pycache__")


def make(tree: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items()
                   if name not in (*OF_MAKE, "ASSAY_OUT", "MIG_OUTPUT")}
    return subprocess.run(["make", *arguments], cwd=tree, text=True, check=False, timeout=600,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          env=environment | ({"PATH": path} if path else {}))


def copy_of_sources(folder: Path) -> Path:
    return Path(shutil.copytree(ROOT, folder, ignore=NOT_SOURCES, symlinks=True))


@pytest.fixture(name="with_mig", scope="module")
def with_mig_fixture(tmp_path_factory) -> Path:
    """A tree in which MIG has made its output, and nothing else was built."""
    tree = copy_of_sources(tmp_path_factory.mktemp("mig") / "tree")
    done = make(tree, "mig-output")
    assert done.returncode == 0, done.stderr
    subprocess.run(["tar", "xf", "out/mig-output.tar"], cwd=tree, check=True)
    return tree


def test_mig_has_room_where_patches_are_built(tmp_path: Path) -> None:
    """Also where QEMU executes it, which would like to reserve all that 32 bits can name."""
    bounds = grade_patch.Limits
    subprocess.run(["prlimit", f"--as={bounds.memory}", "tools/mig", "user", "mach/mach", tmp_path],
                   cwd=ROOT, check=True)
    made = tmp_path / "mach" / "mach_user.c"
    assert made.read_bytes() == (OUT / "gen" / "user" / "mach" / made.name).read_bytes()


@pytest.fixture(name="path", scope="module")
def path_fixture(tmp_path_factory) -> str:
    """The commands of this host, but for MIG."""
    folder = tmp_path_factory.mktemp("bin")
    for name in os.environ["PATH"].split(":"):
        for command in Path(name).glob("*"):
            if "mig" not in command.name and not (folder / command.name).is_symlink():
                (folder / command.name).symlink_to(command)
    return str(folder)


@pytest.fixture(name="without", scope="module")
def without_fixture(tmp_path_factory) -> Path:
    return copy_of_sources(tmp_path_factory.mktemp("without") / "tree")


def test_the_same_files_without_mig(with_mig: Path, without: Path, path: str) -> None:
    """All that this run's own build has had from MIG, and the same archive again."""
    done = make(without, f"MIG_OUTPUT={with_mig}/mig-output", "mig-output", path=path)
    assert done.returncode == 0, done.stderr
    assert " MIG " not in done.stdout and " COPY " in done.stdout
    names = {file.relative_to(OUT / "gen") for file in (OUT / "gen").rglob("*.[ch]")}
    assert len(names) > 50
    for name in names:
        assert (without / "out/gen" / name).read_bytes() == (OUT / "gen" / name).read_bytes(), name
    archives = [tree / "out" / "mig-output.tar" for tree in (with_mig, without)]
    assert archives[0].read_bytes() == archives[1].read_bytes()


@pytest.mark.parametrize(("half", "name", "options"), [
    ("kernel/mach/mach_host_server", "mach/mach_host",
     ("-DKERNEL_SERVER=1", "-DKERNEL=1", "-server", "{}.c", "-sheader", "{}.h")),
    ("user/ux/bsd_server", "ux/bsd", ("-DSERVER=1", "-server", "{}.c", "-sheader", "{}.h")),
])
def test_what_mig_writes_is_not_touched(tmp_path: Path, half: str, name: str,
                                        options: tuple[str, ...]) -> None:
    out = tmp_path / Path(half).name
    subprocess.run(["i686-gnu-mig", "-migcom", "tools/migcom", "-n", "-Idefs",
                    *(word.format(out) for word in options), f"defs/{name}.defs"],
                   cwd=ROOT, check=True)
    for made in tmp_path.iterdir():
        kept = OUT / "gen" / Path(half).parent / made.name
        assert made.read_bytes() == kept.read_bytes(), made.name


def test_numbers_of_messages_are_those_of_the_stubs() -> None:
    """<mach/messages.h> has them from MIG's list, the stubs from the definitions themselves."""
    text = (OUT / "gen/messages/mach/messages.h").read_text()
    numbers = {name: int(number) for name, number in re.findall(r"#define ID_(\w+) +(\d+)", text)}
    found = 0
    for stubs in (OUT / "gen/user").glob("*/*_user.c"):
        for name, number in re.findall(r"^/\* (?:Simple)?Routine (\w+) \*/.*?msgh_id = (\d+);",
                                       stubs.read_text(), re.MULTILINE | re.DOTALL):
            full = name if stubs.parent.name != "ux" or name.startswith("bsd_") else f"bsd_{name}"
            assert numbers[full.upper()] == int(number), name
            found += 1
    assert found > 200


def test_mig_is_not_missed(with_mig: Path, without: Path, path: str) -> None:
    """By any part of the build."""
    done = make(without, f"MIG_OUTPUT={with_mig}/mig-output", "-n", path=path)
    assert done.returncode == 0, done.stderr
    assert "IMAGE" in done.stdout and not re.search(r"\bi686-gnu-mig\b", done.stdout)


@pytest.mark.parametrize(("output", "says"), [
    ("", "not installed: i686-gnu-mig.*MIG_OUTPUT="),
    ("nowhere", "MIG_OUTPUT=nowhere is no folder with MIG's output: unpack"),
])
def test_what_to_do_without_mig(without: Path, path: str, output: str, says: str) -> None:
    done = make(without, f"MIG_OUTPUT={output}", "headers", path=path)
    assert done.returncode == 2 and re.search(says, done.stderr.replace("\n", " ")), done.stderr


@pytest.mark.parametrize(("file", "old", "new"), [
    ("defs/ux/bsd.defs", "subsystem", "/* Another. */ subsystem"),
    ("tools/mig", "-DSERVER=1 -server", "-DSERVER=2 -server"),
])
def test_output_of_other_definitions(with_mig: Path, tmp_path: Path, path: str, file: str,
                                     old: str, new: str) -> None:
    tree = copy_of_sources(tmp_path / "tree")
    text = (tree / file).read_text()
    assert old in text
    (tree / file).write_text(text.replace(old, new, 1))
    done = make(tree, f"MIG_OUTPUT={with_mig}/mig-output", "headers", path=path)
    assert done.returncode == 2 and "was made of other definitions" in done.stderr, done.stderr
    assert not list((tree / "out" / "gen").rglob("*.[ch]"))
