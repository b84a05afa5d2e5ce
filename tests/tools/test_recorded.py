# SPDX-License-Identifier: MIT
"""Which files are the programs of a recording: by path, by place, by the sum of their code; and
that perf and profile-view say which are not."""

import os
import subprocess
from pathlib import Path

import pytest
from assay import OUT, ROOT, recorded, viewers
from gprof import perf_file
from gprof.gmon import USER, code_sum, make_program

PID, LABEL = 9, 17


def write(file: Path, images: list[tuple[str, int]]) -> Path:
    """A recording of a sample in each program, and one in the kernel."""
    parts = [perf_file.header(), perf_file.event(1, "periodic", 1_000_000),
             perf_file.kernel_image(0xC0100000, 0x100000)]
    for number, (path, sum_) in enumerate(images):
        pid = PID + number
        image = bytearray(perf_file.image(pid, USER, 128, 0x1000, path))
        image[56:60] = sum_.to_bytes(4, "little")
        parts += [perf_file.task(LABEL + number, pid, f"p{pid}", []), bytes(image),
                  perf_file.sample(perf_file.Sample(1, pid, pid, LABEL + number, [USER + 4]),
                                   1_000_000)]
    parts += [perf_file.sample(perf_file.Sample(1, PID, PID, LABEL, [USER + 4], [0xC0100010]),
                               1_000_000), perf_file.round_end()]
    file.write_bytes(b"".join(parts))
    return file


def sum_of(program: Path) -> int:
    """By objcopy and the tests' own sum: the code of a program that has but one section."""
    code = program.with_suffix(".code")
    subprocess.run(["i686-linux-gnu-objcopy", "-O", "binary", "-j", ".text", program, code],
                   check=True)
    return code_sum(code.read_bytes())


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path) -> Path:
    make_program(tmp_path / "mine", ["first", "second"])
    make_program(tmp_path / "other", ["third", "fourth", "fifth"])
    return tmp_path


def test_files_are_found_by_what_they_are(folder: Path) -> None:
    mine = sum_of(folder / "mine")
    recording = write(folder / "all", [("/tmp/mine", mine), ("/bin/ls", 0), ("/bin/[", 0),
                                       ("/home/other", mine), ("/tmp/none", 5)])
    root = folder / "root"
    said = recorded.link_programs(recording, root)
    links = {f"/{link.relative_to(root)}": link.resolve() for link in root.rglob("*")
             if link.is_symlink()}
    assert links == {"/tmp/mine": folder / "mine", "/bin/ls": (OUT / "user/ls").resolve(),
                     "/bin/[": (OUT / "user/test").resolve(),
                     "/mach_kernel": (OUT / "mach_kernel").resolve()}
    assert [line.partition(",")[0] for line in said] == [
        f"/home/other: {folder}/other is another program than what ran",
        "/tmp/none: there is no such program here"]
    assert said[1].endswith("put it beside all")


def test_the_sum_of_what_was_built(folder: Path) -> None:
    """What gprof has of a program, which reads it in C: the wrong sum is another program's."""
    program = OUT / "user" / "ls"
    right = recorded.code_sum(program.read_bytes())
    (folder / "root/bin").mkdir(parents=True)
    (folder / "root/bin/ls").symlink_to(program.resolve())
    for sum_, said in (right, ""), (right ^ 1, "is another program than what ran"):
        recording = write(folder / "all", [("/bin/ls", sum_)])
        done = subprocess.run([OUT / "bin/gprof", "--view=folded", "--programs=root",
                               OUT / "mach_kernel", recording], cwd=folder, text=True,
                              capture_output=True, check=True)
        assert said in done.stderr and bool(said) == bool(done.stderr)
        assert ("\nls " in f"\n{done.stdout}") == bool(said)


def test_programs_are_for_views(folder: Path) -> None:
    done = subprocess.run([OUT / "bin/gprof", "--programs=root", "x"], text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "--programs: is for views" in done.stderr


@pytest.mark.skipif(bool(viewers.missing("perf")), reason=viewers.missing("perf") or "")
def test_perf_says_what_is_not_there(folder: Path) -> None:
    """And does not warn of a kernel that is hidden."""
    recording = write(folder / "all", [("/tmp/mine", sum_of(folder / "mine")), ("/tmp/none", 5)])
    done = subprocess.run([ROOT / "tools/perf", recording, "report", "--stdio", "-g", "none",
                           "--sort", "dso,sym"], text=True, capture_output=True, check=True)
    ours = [line for line in done.stderr.splitlines() if line.startswith("perf: ")]
    assert ours == ["perf: /tmp/none: there is no such program here, so its functions have no "
                    "names; put it beside all"]
    assert "restricted" not in done.stderr
    rows = [line.split()[1:] for line in done.stdout.splitlines() if "%" in line]
    assert ["mine", "[.]", "first"] in rows
    assert any(row[:2] == ["mach_kernel", "[k]"] for row in rows)


@pytest.mark.skipif(bool(viewers.missing("speedscope")), reason=viewers.missing("speedscope") or "")
def test_profile_view_needs_no_program_of_a_recording(folder: Path) -> None:
    recording = write(folder / "all", [("/tmp/mine", sum_of(folder / "mine")), ("/tmp/none", 5)])
    done = subprocess.run([ROOT / "tools/profile-view", recording, "--no-browser"], text=True,
                          capture_output=True, check=True, env=os.environ)
    assert done.stderr.startswith("profile-view: /tmp/none: there is no such program here")
