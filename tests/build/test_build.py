# SPDX-License-Identifier: MIT
"""What the Makefile promises, tried on private copies of the tree.

One is as this run of the tests found it, with what is built; another is built from nothing.
"""

import filecmp
import os
import re
import resource
import shutil
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from functools import cache
from hashlib import sha256
from typing import Iterable, Iterator, NamedTuple

import pytest
from assay import OUT

from i386.test_kernel_file import check_frames

ROOT = Path(__file__).resolve().parents[2]
BUILT = OUT.relative_to(ROOT)
# What this run's own build was told.
KIND = {"san": ("SAN=1",), "clang": ("CLANG=1",),
        "fast": ("FAST=1",)}.get(OUT.name, ())
LIMIT = 1200  # Seconds; a tree is built beside other tests.
NOT_SOURCES = shutil.ignore_patterns("out", ".git", "__pycache__")
# What tests leave in out/ while this one copies it, and other builds.
NOT_BUILT = {"test", "fuzz", "defects", "grade", "mutants", "san", "clang", "fast"}

# The host tests' compiler here: they are compiled where they are run.
HOSTCC = """\
#!/bin/sh
while [ $# -gt 0 ] && [ "$1" != -o ]; do shift; done
[ $# -eq 0 ] || : >"$2"
"""

# Options of the make that runs the tests, and what it exports, must not reach those that they run.
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "ASSAY_OUT", "SAN", "CLANG",
           "FAST", "WERROR", "V", "T")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in OF_MAKE}


# Programs in user/ and servers/ that are built with the SDK.
UNIX_FOLDERS = ("auditd", "bin", "sbin", "work", "sh", "hostprof", "monctl", "pkgmon",
                "snames")


def make(tree: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["make", *arguments], cwd=tree, env=ENVIRONMENT, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=LIMIT, check=False)


def build(tree: Path, *arguments: str) -> str:
    """A make that must succeed and must not warn; returns what it printed."""
    done = make(tree, "WERROR=1", *arguments)
    assert done.returncode == 0, done.stdout
    assert "warning" not in done.stdout.lower()
    return done.stdout


def copy_built(tree: Path) -> None:
    """With the times of files, so that nothing is to be built again."""
    (tree / BUILT).mkdir(parents=True)
    for entry in OUT.iterdir():
        if entry.name not in NOT_BUILT:
            subprocess.run(["cp", "-a", entry, tree / BUILT], check=True)


@pytest.fixture(name="tree", scope="module")
def tree_fixture(tmp_path_factory) -> Iterator[Path]:
    """A copy of the tree, with what is built."""
    tree = tmp_path_factory.mktemp("build") / "tree"
    shutil.copytree(ROOT, tree, ignore=NOT_SOURCES, symlinks=True)
    copy_built(tree)
    build(tree, *KIND, "all", "iso")  # If sources were changed since.
    yield tree
    shutil.rmtree(tree)


@contextmanager
def built_elsewhere(tree: Path, folder: Path, *goals: str) -> Iterator[Path]:
    """The same sources in a folder of another name, built from nothing."""
    (folder / "hostcc").write_text(HOSTCC)
    (folder / "hostcc").chmod(0o755)
    other = folder / "other" / "place"
    shutil.copytree(tree, other, ignore=NOT_SOURCES, symlinks=True)
    (other / "GNUmakefile").write_text(
        f"HOSTCC = {folder}/hostcc\nHOSTOBJCOPY = true\ninclude Makefile\n")
    build(other, *KIND, *goals)
    yield other
    shutil.rmtree(folder)


@pytest.fixture(name="elsewhere", scope="module")
def elsewhere_fixture(tmp_path_factory, tree: Path) -> Iterator[Path]:
    """The kernel, a program that is all there is beside it, and a server with its
    interfaces.  At night it is all."""
    goals = ("kernel", *(str(BUILT / name) for name in ("user/hello", "servers/pager")))
    with built_elsewhere(tree, tmp_path_factory.mktemp("elsewhere"), *goals) as other:
        yield other


def images(out: Path) -> list[Path]:
    """What runs in the machine."""
    programs = [path for folder in ("user", "servers", "tests")
                for path in (out / folder).rglob("*") if path.is_file() and not path.suffix]
    return [out / "mach_kernel", *sorted(programs)]


# ---------------- Building again ----------------


def times(tree: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (tree / BUILT).rglob("*")
            if path.is_file() and path.suffix != ".iso"}


def test_second_make_does_nothing(tree: Path) -> None:
    before = times(tree)
    done = make(tree, *KIND)
    assert done.stdout == "make: Nothing to be done for 'all'.\n"
    assert make(tree, *KIND, "-q").returncode == 0
    assert times(tree) == before


@cache
def includes_of(tree: Path, source: Path) -> set[Path]:
    """What a source includes as its text says, and what that includes: paths from the root."""
    found: set[Path] = set()
    folders = ("kernel", "include", "lib", "tests/lib", BUILT / "gen/kernel", BUILT / "gen/user",
               "servers/ux")
    places = [source.parent, *(tree / name for name in folders)]
    for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)', source.read_text(), re.MULTILINE):
        path = next((place / name for place in places if (place / name).is_file()), None)
        if path is not None:
            found |= {path.relative_to(tree)} | includes_of(tree, path)
    return found


@pytest.fixture(name="includers", scope="module")
def includers_fixture(tree: Path):
    """Which sources of the machine's programs include a header."""
    patterns = ("kernel/*/*.[cS]", "kernel/*/*/*.[cS]", "lib/*.[cS]", "user/*/*.[cS]",
                "servers/*/*.[cS]",
                "servers/*/*/*.[cS]", "libprof/core/*.[cS]", "tests/*/*.c",
                f"{BUILT}/gen/*/mach/*.c", f"{BUILT}/gen/*/ux/*_server.c")
    sources = {path.relative_to(tree): includes_of(tree, path)
               for pattern in patterns for path in tree.glob(pattern)
               if path.parent.name not in UNIX_FOLDERS}
    no_part = set() if "SAN=1" in KIND else {Path("kernel/base/ubsan.c")}

    def includers(header: str) -> set[str]:
        return {str(source) for source, headers in sources.items()
                if Path(header) in headers and source not in no_part}

    return includers


@pytest.mark.parametrize("header", [
    "kernel/i386/cpu/frame.h", "include/assay/traps.h", "include/mach/traps.h",
    "lib/assay.h", "tests/lib/check.h",
])
def test_header_rebuilds_what_includes_it(tree: Path, includers, header: str) -> None:
    path = tree / header
    before = path.stat()
    path.touch()
    try:
        told = make(tree, *KIND, "-n", "kernel", "programs").stdout
        compiled = re.findall(r'echo "  CC +(\S+)"', told)
    finally:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert includers(header)
    assert set(compiled) == includers(header)


def rebuilt(tree: Path, *arguments: str) -> set[str]:
    """What would be compiled."""
    told = make(tree, *KIND, "-n", *arguments).stdout
    return set(re.findall(r'echo "  (?:HOST)?CC +(\S+)"', told))


def touched(tree: Path, name: str, *goals: str) -> set[str]:
    path = tree / name
    before = path.stat()
    path.touch()
    try:
        return rebuilt(tree, *goals)
    finally:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(("header", "compiled"), [
    ("user/sh/jobs.h", r"user/sh/\w+\.c"),
    ("lib/rollup/rollup.h", r"(lib/rollup|user|tools/gprof|tests/(gprof|monctl)/host)/.*\.c"),
    ("servers/ux/file/pipe_ring.h", r"(servers/ux|tests/ux/host)/.*\.c"),
    ("kernel/base/zone.h", r"(kernel|tests/\w+/host|out/.*gen/kernel)/.*\.c"),
])
def test_no_more_than_its_part_is_built_again(tree: Path, header: str, compiled: str) -> None:
    """Of the shell, of programs of both sides, of the server and its tests on the host."""
    found = touched(tree, header)
    assert found and all(re.fullmatch(compiled, name) for name in found), found
    includes = f'"(?:.*/)?{Path(header).name}"'
    direct = {str(path.relative_to(tree)) for path in (tree / header).parent.glob("*.c")
              if re.search(includes, path.read_text())}
    assert direct <= found


def test_a_flag_concerns_what_it_is_for(tree: Path) -> None:
    """Nothing else is compiled again; and what changes no byte concerns nothing."""
    assert not rebuilt(tree, "WERROR=1")
    kept = {path: (path.read_text(), path.stat())
            for path in (tree / "Makefile", tree / BUILT / "obj/text/libprof.")}
    text = kept[tree / "Makefile"][0]
    try:
        (tree / "Makefile").write_text(text.replace("-Ilibprof, ", "-Ilibprof -DNEW, ", 1))
        found = rebuilt(tree)
    finally:
        for path, (text, was) in kept.items():
            path.write_text(text)
            os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert found and all(name.startswith("libprof/") for name in found), found
    assert not rebuilt(tree)


def test_the_disk_is_not_made_anew_for_a_folder_s_time(tree: Path) -> None:
    (tree / "boot/disk/etc").touch()
    assert make(tree, *KIND, "-q").returncode == 0


def test_the_makefile_is_read_in_one_sitting() -> None:
    text = (ROOT / "Makefile").read_text()
    assert len(text.splitlines()) <= 300
    assert re.findall(r"^-?include (.*)$", text, re.MULTILINE) == [
        "$(shell test -d $(OUT) && find $(OUT) -name '*.d')"]
    assert text.count("-c -o") == 2, "one rule compiles, and one line the kernel's names"


def test_commands_are_shown_on_demand(tree: Path) -> None:
    source = "user/hello/hello.c"
    built = f"{BUILT}/obj/{source}.o"
    (tree / built).unlink()
    assert build(tree, *KIND, built) == f"  CC      {source}\n"
    (tree / built).unlink()
    assert re.search(rf"(gcc|clang) .*-Wall.* -o {built} {source}",
                     build(tree, *KIND, "V=1", built))
    build(tree, *KIND, "programs")


# ---------------- The same bytes ----------------


def different(tree: Path, elsewhere: Path) -> list[Path]:
    """Images that are not the same in both, with symbols and disassembly."""
    files = [path.relative_to(elsewhere) for path in images(elsewhere / BUILT)]
    assert len(files) >= 3
    beside = [file.with_name(file.name + end) for file in files for end in (".sym", ".asm")]
    return [file for file in (*files, *beside)
            if not filecmp.cmp(tree / file, elsewhere / file, shallow=False)]


def test_builds_are_reproducible(tree: Path, elsewhere: Path) -> None:
    """One of them step by step, as the sources came to be what they are."""
    assert not different(tree, elsewhere)


@pytest.mark.nightly
def test_all_that_is_built_is_reproducible(tree: Path, tmp_path_factory) -> None:
    with built_elsewhere(tree, tmp_path_factory.mktemp("all"), "all", "iso") as elsewhere:
        assert not different(tree, elsewhere)
        assert filecmp.cmp(tree / BUILT / "assay.iso", elsewhere / BUILT / "assay.iso",
                           shallow=False)


def test_images_do_not_say_where_they_were_built(elsewhere: Path) -> None:
    for image in images(elsewhere / BUILT):
        assert bytes(elsewhere) not in image.read_bytes()


def test_each_image_has_symbols_and_disassembly(elsewhere: Path) -> None:
    for image in images(elsewhere / BUILT):
        symbols = image.with_name(image.name + ".sym").read_text()
        assembly = image.with_name(image.name + ".asm").read_text()
        assert re.search(r"^[0-9a-f]{8} [Tt] \w+$", symbols, re.MULTILINE)
        assert re.search(r"^[0-9a-f]{8} <\w+>:$", assembly, re.MULTILINE)


# ---------------- Other compilers, other checks ----------------


class Variant(NamedTuple):
    """What is built and booted.  FAST=1 is for the kernel alone, with the usual programs."""

    options: tuple[str, ...]
    out: str
    hello: str = f"{BUILT}/user/hello"
    goals: tuple[str, ...] = ("kernel",)


CLANG_S = ("out/clang/user/hello", "out/clang/servers/pager")
VARIANTS = {
    "CLANG=1": Variant(("CLANG=1",), "out/clang", CLANG_S[0], ("kernel", *CLANG_S)),
    "FAST=1": Variant(("FAST=1",), "out/fast"),
}
# At night the checked kernel, too, and all of the other's programs.
WHOLE = {
    "SAN=1": Variant(("SAN=1",), "out/san"),
    "CLANG=1": Variant(("CLANG=1",), "out/clang", CLANG_S[0], ("kernel", "programs")),
}


def build_variant(tree: Path, variant: Variant) -> subprocess.CompletedProcess:
    return make(tree, "-j1", "WERROR=1", *variant.options, *variant.goals)


@pytest.fixture(name="variants", scope="module")
def variants_fixture(tree: Path) -> dict[str, subprocess.CompletedProcess]:
    """What the builds of all variants, side by side, said."""
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda variant: build_variant(tree, variant), VARIANTS.values())
        return dict(zip(VARIANTS, done))


def check_variant(tree: Path, machine, variant: Variant, done: subprocess.CompletedProcess) -> None:
    assert done.returncode == 0, done.stdout
    assert "warning" not in done.stdout.lower()
    result = machine([str(tree / variant.hello)], kernel=tree / variant.out / "mach_kernel", cpus=2)
    assert (result.outcome, result.status) == ("exit", 0)
    assert b"This is Assay." in result.output


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_builds_and_boots(tree: Path, machine, variants, variant: str) -> None:
    check_variant(tree, machine, VARIANTS[variant], variants[variant])


@pytest.mark.nightly
@pytest.mark.parametrize("variant", WHOLE)
def test_whole_variant_builds_and_boots(tree: Path, machine, variant: str) -> None:
    check_variant(tree, machine, WHOLE[variant], build_variant(tree, WHOLE[variant]))


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_tells_debuggers_of_its_entries(tree: Path, variants, variant: str) -> None:
    assert variants[variant].returncode == 0
    check_frames(tree / VARIANTS[variant].out / "mach_kernel")


def sample_of_tests(tree: Path, seed: int) -> list[str]:
    """Two that boot alone, as `kern/lock`, which the seed chooses: others when those are gone."""
    sources = sorted((tree / "tests").glob("[ikv][a-z]*/*.c"))
    names = [f"{source.parent.name}/{source.stem}" for source in sources
             if (machines := re.findall(r"^ \* machine: (.*)", source.read_text(), re.MULTILINE))
             and not any("limit=" in machine for machine in machines)]
    return sorted(names, key=lambda name: sha256(f"{seed} {name}".encode()).digest())[:2]


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_passes_a_sample_of_the_tests(tree: Path, variants, variant: str) -> None:
    """All of them are `make test` with the same options, and take as long."""
    assert variants[variant].returncode == 0
    names = sample_of_tests(tree, seed=list(VARIANTS).index(variant) + 1)
    out = VARIANTS[variant].out
    build(tree, *VARIANTS[variant].options, f"{out}/servers/pager",  # Which some have beside them.
          *(f"{out}/tests/{name}" for name in names))
    done = subprocess.run(
        ["/usr/bin/python3", "-m", "pytest", "--rootdir", "tests", "-c", "tests/pytest.ini", "-q",
         *(f"tests/{name}.c" for name in names)], cwd=tree, text=True, capture_output=True,
        env=ENVIRONMENT | {"ASSAY_OUT": str(tree / out)}, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= len(names)


# Seconds of CPU for a line of the kernel.  What the host's own kernel does for compilers is not
# counted: it takes several times as long when the host has other things to do.
AFTER_A_LINE = 5


def test_a_line_of_the_kernel_is_built_at_once(tree: Path, variants) -> None:
    assert variants["FAST=1"].returncode == 0
    source = tree / "kernel" / "thread" / "sched.c"
    text = source.read_text()
    source.write_text(text + "/* A line more. */\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        said = build(tree, "FAST=1", "kernel")
    finally:
        source.write_text(text)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "out/fast/mach_kernel" in said
    assert after.ru_utime - before.ru_utime < AFTER_A_LINE


@pytest.mark.parametrize("missing", ["CROSS=no-such-", "HOSTCC=no-such-gcc", "PYTHON=no-such-py"])
def test_missing_tool_in_one_line(tree: Path, missing: str) -> None:
    done = make(tree, missing)
    assert done.returncode != 0
    line, = done.stdout.splitlines()
    assert "no-such-" in line
    assert "./setup" in line


def test_help_needs_no_tools(tree: Path) -> None:
    done = make(tree, "CROSS=no-such-", "help")
    assert done.returncode == 0
    assert "make qemu" in done.stdout


# ---------------- From nothing ----------------


@pytest.fixture(name="sources", scope="module")
def sources_fixture(tmp_path_factory) -> Path:
    """What somebody has who has just fetched the tree."""
    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("fetched") / "tree",
                                ignore=NOT_SOURCES, symlinks=True))


@pytest.mark.parametrize("target", ["qemu", "qemu-grub", "qemu-gdb", "gdb", "iso"])
def test_the_disk_is_built_before_it_is_booted(sources: Path, target: str) -> None:
    done = make(sources, "-n", target)
    assert done.returncode == 0, done.stdout
    last = "tools/iso" if target == "iso" else "tools/qemu"
    assert 0 < done.stdout.find("IMAGE   out/disk.img") < done.stdout.rfind(last)


# ---------------- Help ----------------


def words_after_make(text: str) -> set[str]:
    return set(re.findall(r"^ *make ([a-z-]+)", text, re.MULTILINE))


def test_help_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split())
    named = words_after_make(make(ROOT, "help").stdout)
    assert targets - {"all", "help"} <= named, "targets that `make help` does not name"
    assert named <= targets, "names that are no targets"


def test_help_names_every_variable() -> None:
    makefile = (ROOT / "Makefile").read_text()
    opening = makefile.partition("\n\n")[0]
    variables = set(re.findall(r"\b([A-Z]+)=", opening))
    variables |= set(re.findall(r"^(\w+) *\?=", makefile, re.MULTILINE))
    assert {"SAN", "CROSS"} <= variables
    assert variables <= set(re.findall(r"\b([A-Z_]+)=", make(ROOT, "help").stdout))


# ---------------- The images ----------------

LOAD, STACK = 1, 0x6474E551
EXECUTE, WRITE = 1, 2
PAGE = 4096
KERNEL_START = 0xC0100000


def program_headers(image: Path) -> tuple[int, list[tuple[int, ...]]]:
    """The entry, and the program headers: type, offset, address, physical, sizes, flags, align."""
    elf = image.read_bytes()
    entry, offset = struct.unpack_from("<2I", elf, 24)
    size, count = struct.unpack_from("<2H", elf, 42)
    return entry, [struct.unpack_from("<8I", elf, offset + n * size) for n in range(count)]


def pages(headers: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, int, int]]:
    """First page, page behind the last, and flags of each segment, by address."""
    for _, _, address, _, _, size, flags, _ in sorted(headers, key=lambda header: header[2]):
        yield address // PAGE, (address + size + PAGE - 1) // PAGE, flags


@pytest.mark.parametrize("image", images(OUT), ids=lambda path: path.name)
def test_nothing_is_writable_and_executable(image: Path) -> None:
    entry, headers = program_headers(image)
    segments = list(pages(header for header in headers if header[0] == LOAD))
    assert all(flags & (WRITE | EXECUTE) != WRITE | EXECUTE for _, _, flags in segments)
    assert all(first[1] <= second[0] for first, second in zip(segments, segments[1:])), \
        "segments of different rights share a page"
    assert not any(header[6] & EXECUTE for header in headers if header[0] == STACK)
    # GRUB looks for the entry there too, whatever the segments' physical addresses are.
    assert any(first <= entry // PAGE < end and flags & EXECUTE for first, end, flags in segments)


def test_kernel_s_segments() -> None:
    _, headers = program_headers(OUT / "mach_kernel")
    assert [flags for _, _, flags in pages(headers)] == [5, 4, 6], "text, constants, data"
    for _, _, address, physical, *_ in headers:
        assert address % PAGE == 0
        assert address - physical == 0xC0000000
    assert min(header[2] for header in headers) == KERNEL_START


def test_size_of_the_kernel(record_testsuite_property) -> None:
    """No limit, but a figure: it is in the JUnit XML, and shown by `pytest -s`."""
    symbols = (OUT / "mach_kernel.sym").read_text()
    start, end = (int(re.search(rf"^(\w+) . {name}$", symbols, re.MULTILINE)[1], 16)
                  for name in ("kernel_start", "kernel_text_end"))
    print(f"kernel text: {end - start} bytes")
    record_testsuite_property("kernel_text_bytes", end - start)
    assert start == KERNEL_START
    assert 0 < end - start <= program_headers(OUT / "mach_kernel")[1][0][5]
