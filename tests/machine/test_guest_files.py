# SPDX-License-Identifier: MIT
"""Files into the RAM disk of a machine and out of it: tools/guest run --put and --get."""

import os
import re
import shutil
import stat
import subprocess
import time
import zlib
from pathlib import Path

import pytest
from assay import OUT, ToolError, report
from assay.files import Files, fetch, guest_path, make_image, read_get, read_put, unsound
from assay.symbols import symbol_address

ROOT = Path(__file__).resolve().parents[2]
GUEST = ROOT / "tools" / "guest"
MACHINE_FAILED = 125
TIMED_OUT = 124
LIMIT = 60  # Seconds; none of these runs is near it.

DISK = "disk ${device-port}"
BYTES = bytes(range(256)) * 300 + b"the end"


def guest(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([GUEST, "boot", "--icount", *map(str, arguments)], capture_output=True,
                          check=False, stdin=subprocess.DEVNULL, timeout=LIMIT)


def image_of(folder: Path, *put: str, size: int = 0) -> Path:
    folder.mkdir()
    return make_image(Files(tuple(map(read_put, put)), size=size), folder)


@pytest.fixture(name="source")
def source_fixture(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(BYTES)
    return path


# ---------------- Images ----------------

def test_image_is_the_same_whenever_it_is_made(source: Path, tmp_path: Path) -> None:
    first = image_of(tmp_path / "1", f"{source}:/b/c", f"{source}:/a").read_bytes()
    time.sleep(1.1)
    source.touch()
    assert image_of(tmp_path / "2", f"{source}:/a", f"{source}:/b/c").read_bytes() == first


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 12 * 4096 + 1, 5 << 20])
def test_file_comes_back_as_it_went(size: int, tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.write_bytes(bytes(n * 7 % 251 for n in range(size)))
    image = image_of(tmp_path / "image", f"{source}:/deep/er/name with blanks")
    get = read_get(f"/deep/er/name with blanks:{out}")
    assert not fetch(Files(get=(get,)), image)
    assert out.read_bytes() == source.read_bytes()


def test_image_has_room_for_many_files(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"1")
    put = [f"{tmp_path}/one:/{n % 7}/{n}" for n in range(500)]
    image = image_of(tmp_path / "image", *put)
    get = tuple(read_get(f"/{n % 7}/{n}:{tmp_path}") for n in (0, 499))
    assert not fetch(Files(get=get), image)
    assert (tmp_path / "499").read_bytes() == b"1"


@pytest.mark.parametrize(("text", "path"), [
    ("/a", "/a"), ("//a//b", "/a/b"), ("/a/./b", "/a/b"), ("/a b", "/a b")])
def test_paths_in_the_guest(text: str, path: str) -> None:
    assert guest_path(text) == path


@pytest.mark.parametrize("text", ["a", "", "/", "/a/", "/../a", '/a"b', "/a\nb"])
def test_paths_that_are_refused(text: str) -> None:
    with pytest.raises(ToolError):
        guest_path(text)


# ---------------- Runs ----------------

def test_guest_sees_the_image(source: Path, tmp_path: Path) -> None:
    image = image_of(tmp_path / "image", f"{source}:/source").read_bytes()
    done = guest("--put", f"{source}:/source", "--", f"{DISK} sum")
    assert done.stdout.decode().split() == [str(len(image)), f"{zlib.crc32(image):08x}"]
    assert done.returncode == 0


@pytest.mark.parametrize(("mem", "machine"), [(96, "pc"), (96, "q35"), (256, "q35"), (1024, "pc")])
def test_no_firmware_writes_into_the_image(mem: int, machine: str, tmp_path: Path) -> None:
    """It lies in the machine's memory before that starts: one without zeroes, all of it."""
    (tmp_path / "full").write_bytes(BYTES * 254)
    image = image_of(tmp_path / "image", f"{tmp_path}/full:/full").read_bytes()
    done = guest("--put", f"{tmp_path}/full:/full", "--mem", mem, "--machine", machine, "--",
                 f"{DISK} sum")
    start = int(re.search(rb"rd0 is \d+ bytes at 0x(\w+)", done.stderr)[1], 16) >> 20
    assert start == min(mem, 768) - 24 - (len(image) >> 20)
    assert done.stdout.decode().split() == [str(len(image)), f"{zlib.crc32(image):08x}"]


def test_the_image_is_rd0_behind_other_disks_too(source: Path, tmp_path: Path) -> None:
    """A disk of a boot module comes first, so that the image is one then, the first."""
    (tmp_path / "other").write_bytes(bytes(4096))
    image = image_of(tmp_path / "image", f"{source}:/source").read_bytes()
    for more in (["--append", "ramdisk=1,2"], ["--module", f"{tmp_path}/other $(ramdisk-create)"]):
        done = guest("--put", f"{source}:/source", *more, "--", f"{DISK} sum")
        assert done.stdout.decode().split() == [str(len(image)), f"{zlib.crc32(image):08x}"]


def test_the_image_is_there_however_many_arguments_there_are() -> None:
    """The kernel reads so many words and leaves out the others, which are the user's then."""
    done = guest("--ramdisk-image", 3, "--append", "x=1 " * 70, "--", f"{DISK} sum")
    assert done.returncode == 0 and done.stdout.split()[-2] == str(3 << 20).encode()


def test_the_image_makes_way_for_large_modules(tmp_path: Path) -> None:
    """It is a boot module then, as in a machine that is too small."""
    large = tmp_path / "large"
    shutil.copyfile(OUT / "user" / "hello", large)
    os.truncate(large, large.stat().st_size + (7 << 20))
    done = guest("--mem", 56, "--ramdisk-image", 24, "--", f"{large} a")
    assert done.returncode == 0, done.stderr


def test_no_more_comes_out_of_a_machine_than_it_has(tmp_path: Path) -> None:
    """Whatever its kernel says of the disk."""
    kernel, mem = OUT / "mach_kernel", 64 << 20
    place = symbol_address(kernel, "machine_ramdisks") - report.KERNEL_BASE
    with (tmp_path / "memory").open("w+b") as memory:
        memory.truncate(mem)
        for address, size, comes in ((0, 0xfffff000, mem), (mem - 4096, 8192, 4096)):
            os.pwrite(memory.fileno(), report.RAMDISK.pack(address, size), place)
            report.SharedReport(kernel, memory.fileno()).save_ramdisk(0, tmp_path / "disk")
            assert (tmp_path / "disk").stat().st_size == comes


def test_size_of_the_image_can_be_chosen() -> None:
    done = guest("--ramdisk-image", 3, "--", f"{DISK} sum")
    assert done.stdout.split()[0] == str(3 << 20).encode()


def test_file_goes_through_the_machine(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = guest("--put", f"{source}:/home/source", "--get", f"/home/source:{out}", "--",
                 f"{DISK} sum")
    assert (done.returncode, out.read_bytes()) == (0, BYTES)


def test_what_the_guest_wrote_comes_out(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "folder"
    source.write_bytes(b"before\nwantonly\nafter\n")
    out.mkdir()
    done = guest("--put", f"{source}:/text", "--get", f"/text:{out}", "--",
                 f"{DISK} replace wantonly properly")
    assert done.returncode == 0
    assert (out / "text").read_bytes() == b"before\nproperly\nafter\n"
    assert source.read_bytes() == b"before\nwantonly\nafter\n"


def test_files_come_out_of_a_run_that_fails(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = guest("--put", f"{source}:/s", "--get", f"/s:{out}", "--", "act exit 7")
    assert (done.returncode, out.read_bytes()) == (7, BYTES)


def test_files_come_out_after_a_timeout(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = guest("--timeout", 1, "--put", f"{source}:/s", "--get", f"/s:{out}", "--", "act spin")
    assert (done.returncode, out.read_bytes()) == (TIMED_OUT, BYTES)


def test_two_runs_give_the_same_bytes(source: Path) -> None:
    first, second = (guest("--put", f"{source}:/s", "--", f"{DISK} sum") for _ in range(2))
    assert (first.stdout, first.stderr) == (second.stdout, second.stderr)


def test_put_from_the_cd(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = guest("--firmware", "grub", "--put", f"{source}:/s", "--get", f"/s:{out}", "--",
                 f"{DISK} sum")
    assert (done.returncode, out.read_bytes()) == (0, BYTES)


# ---------------- The system's disk, which becomes larger ----------------

def grown(folder: Path, base: Path, **wishes: object) -> Path:
    folder.mkdir()
    return make_image(Files(base=base, **wishes), folder)


def test_a_disk_grows_as_is_said_or_as_its_files_need(tmp_path: Path) -> None:
    base = image_of(tmp_path / "base", size=8)
    (tmp_path / "large").write_bytes(b"x" * (9 << 20))
    large = read_put(f"{tmp_path}/large:/large")
    (tmp_path / "little").write_bytes(b"y")
    little = read_put(f"{tmp_path}/little:/little")
    sizes = {"said": {"size": 20}, "again": {"size": 20}, "needed": {"put": (large,)},
             "enough": {"put": (little,)}, "nothing": {}}
    images = {name: grown(tmp_path / name, base, **wishes) for name, wishes in sizes.items()}
    found = {name: image.stat().st_size >> 20 for name, image in images.items()}
    assert found["said"] == 20 and 13 <= found["needed"] <= 16, found
    assert found["enough"] == found["nothing"] == 8, found
    assert images["said"].read_bytes() == images["again"].read_bytes()
    assert not any(unsound(image) for image in images.values())
    with pytest.raises(ToolError, match="--ramdisk-image 4: the system's own files are on a disk"):
        grown(tmp_path / "less", base, size=4)


def test_commands_have_the_room_that_was_said(unix_machine) -> None:
    result = unix_machine("cat /dev/zero >f 2>/dev/null; wc -c <f", files=Files(size=48),
                          icount=True, limit=LIMIT)
    assert result.status == 0 and 24 << 20 < int(result.output) < 48 << 20


def test_a_machine_without_room_is_told_of_mem() -> None:
    done = subprocess.run([GUEST, "run", "--icount", "--mem", "24", "--", "true"], timeout=LIMIT,
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == MACHINE_FAILED
    assert done.stderr.endswith("; --mem M gives it M MiB of memory\n"), done.stderr


# ---------------- What cannot be done ----------------

@pytest.mark.parametrize(("options", "message"), [
    (["--put", "nowhere:/a"], "--put nowhere:/a: nowhere is not there"),
    (["--put", "{folder}:/a"], "is a folder"),
    (["--put", "{source}:a"], "'a': a path in the guest begins with /"),
    (["--put", "{source}"], "say HOST:GUEST"),
    (["--put", "{source}:/a", "--put", "{source}:/a"], "two files for /a"),
    (["--put", "{source}:/a", "--put", "{source}:/a/b"], "/a cannot be a file and a folder"),
    (["--put", "{big}:/a", "--ramdisk-image", "2"], "the files do not fit into 2 MiB"),
    (["--get", "a:{folder}/b"], "'a': a path in the guest begins with /"),
    (["--get", "/a"], "say GUEST:HOST"),
    (["--get", "/a:{folder}/no/such"], "there is no folder {folder}/no"),
    (["--get", "/a:{folder}/b"], "/a is not there in the guest after the run"),
    (["--put", "{source}:/a/b", "--get", "/a:{folder}/b"], "/a is no regular file"),
    (["--get", "/a:{folder}/b", "--emulator", "bochs"], "Bochs"),
])
def test_mistakes_get_one_line(options: list[str], message: str, source: Path,
                               tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * (3 << 20))
    places = {"source": source, "folder": tmp_path, "big": tmp_path / "big"}
    log = tmp_path / "log"
    words = [word.format(**places) for word in options]
    icount = [] if "bochs" in words else ["--icount"]
    done = subprocess.run([GUEST, "boot", *icount, "--stderr", log, *words, "--", "act exit 0"],
                          capture_output=True, check=False, text=True, timeout=LIMIT)
    assert done.returncode == MACHINE_FAILED
    assert message.format(**places) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_spoilt_file_system_is_told(source: Path, tmp_path: Path) -> None:
    done = guest("--put", f"{source}:/s", "--get", f"/s:{tmp_path}/out", "--", f"{DISK} spoil")
    assert done.returncode == MACHINE_FAILED
    assert b"no sound file system" in done.stderr


def test_target_that_cannot_be_written(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "folder" / "out"
    out.parent.mkdir()
    out.mkdir()
    (out / "s").mkdir()
    done = guest("--put", f"{source}:/s", "--get", f"/s:{out}", "--", "act exit 0")
    assert done.returncode == MACHINE_FAILED
    assert b"Is a directory" in done.stderr


def test_mode_is_the_hosts(source: Path, tmp_path: Path) -> None:
    source.chmod(source.stat().st_mode | stat.S_IXUSR)
    executable = image_of(tmp_path / "1", f"{source}:/s").read_bytes()
    source.chmod(0o644)
    assert image_of(tmp_path / "2", f"{source}:/s").read_bytes() != executable
