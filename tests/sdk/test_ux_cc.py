# SPDX-License-Identifier: MIT
"""ux-cc: what students type, what comes of it, and what it says when that cannot be."""

import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
from assay import OUT
from assay.files import Files, Put

ROOT = Path(__file__).resolve().parents[2]
SDK = (OUT / "sdk").resolve()
PAGE = 4096
LOAD, TLS = 1, 7
EXECUTABLE, WRITABLE = 1, 2

HELLO = """\
#include <math.h>
#include <pthread.h>
#include <stdio.h>

static __thread int own = 40;
int data[3000] = {1};
int zeros[30000];

static void *run(void *argument)
{
\town += *(int *)argument;
\tzeros[7] = own;
\treturn argument;
}

int main(int argc, char **argv)
{
\tint two = argc + 1;
\tpthread_t thread;

\tpthread_create(&thread, NULL, run, &two);
\tpthread_join(thread, NULL);
\tprintf("%s: %d %d %.3f\\n", argv[0], zeros[7], own, sqrt(two));
\treturn 0;
}
"""


class Compiler:
    """The SDK's compiler, at work in a folder."""

    def __init__(self, folder: Path, sdk: Path = SDK):
        self.folder = folder
        self.sdk = sdk

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def run(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.sdk / "bin" / "ux-cc", *words], cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False)

    def good(self, *words: str) -> Path:
        """Compiles without an error or a warning; returns where the program is."""
        done = self.run("-Wall", "-Wextra", *words)
        assert (done.returncode, done.stderr) == (0, "")
        return self.folder / (words[words.index("-o") + 1] if "-o" in words else "a.out")

    def bad(self, *words: str) -> str:
        """Must refuse; returns what it said."""
        done = self.run(*words)
        assert done.returncode == 1
        return done.stderr


@pytest.fixture(name="compiler")
def compiler_fixture(tmp_path: Path) -> Compiler:
    compiler = Compiler(tmp_path)
    compiler.write("hello.c", HELLO)
    return compiler


MACH_TYPES = """\
#include <mach/mach.h>

thread_act_t one(mach_port_make_send_t port);
thread_act_t one(mach_port_make_send_t port) { return port; }
int main(void) { return one(MACH_PORT_NULL) != MACH_PORT_NULL; }
"""


def test_types_of_later_systems_are_there(compiler: Compiler) -> None:
    compiler.write("types.c", MACH_TYPES)
    compiler.good("types.c")


class Segment(NamedTuple):
    """A program header."""

    type: int
    offset: int
    address: int
    physical: int
    file_size: int
    memory_size: int
    flags: int
    align: int


def segments(program: Path) -> Iterator[Segment]:
    image = program.read_bytes()
    assert image[:7] == b"\x7fELF\x01\x01\x01"
    kind, machine = struct.unpack_from("<HH", image, 16)
    assert (kind, machine) == (2, 3)  # An executable for a fixed address, i386.
    place, = struct.unpack_from("<I", image, 28)
    size, count = struct.unpack_from("<HH", image, 42)
    for n in range(count):
        yield Segment(*struct.unpack_from("<8I", image, place + n * size))


# ---------------- What works ----------------


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os", "-g"])
def test_levels_of_optimisation(compiler: Compiler, level: str) -> None:
    compiler.good(level, "hello.c", "-o", "hello")


@pytest.mark.parametrize("library", ["-lm", "-lpthread", "-lthreads", "-lc", "-lmach", "-pthread",
                                     "-static"])
def test_libraries_may_be_named(compiler: Compiler, library: str) -> None:
    compiler.good("hello.c", library)


def test_several_files(compiler: Compiler) -> None:
    compiler.write("one.c", "int one(void);\nint one(void) { return 1; }\n")
    compiler.write("main.c", "int one(void);\nint main(void) { return one(); }\n")
    compiler.good("-c", "one.c")
    compiler.good("-c", "main.c", "-o", "main.o")
    compiler.good("one.o", "main.o", "-o", "first")
    compiler.good("one.c", "main.c", "-o", "second")
    compiler.good("-E", "main.c", "-o", "main.i")
    compiler.good("-S", "main.c", "-o", "main.s")


def test_a_name_after_an_option_is_no_source(compiler: Compiler) -> None:
    assert compiler.good("hello.c", "-o", "hello.cpp").exists()
    assert "no input files" in compiler.bad("-o", "nothing")


def test_text_and_data_can_be_mapped_from_the_file(compiler: Compiler) -> None:
    text, data = [segment for segment in segments(compiler.good("-O2", "hello.c"))
                  if segment.type == LOAD]
    for segment in text, data:
        assert segment.align == PAGE
        assert segment.offset % PAGE == segment.address % PAGE
    assert text.flags & (EXECUTABLE | WRITABLE) == EXECUTABLE
    assert text.address == 0x08048000 and text.offset == 0
    assert data.flags & (EXECUTABLE | WRITABLE) == WRITABLE
    assert data.address // PAGE > (text.address + text.memory_size - 1) // PAGE
    assert data.memory_size >= data.file_size + 30000 * 4


def test_variables_of_threads_have_a_header(compiler: Compiler) -> None:
    assert [s.type for s in segments(compiler.good("hello.c"))].count(TLS) == 1


def test_frame_pointers_stay(compiler: Compiler) -> None:
    compiler.write("leaf.c", "int leaf(int a);\nint leaf(int a) { return a + 1; }\n")
    compiler.good("-O3", "-fomit-frame-pointer", "-S", "leaf.c", "-o", "leaf.s")
    text = (compiler.folder / "leaf.s").read_text()
    assert re.search(r"pushl\s+%ebp\n\s+movl\s+%esp, %ebp", text)


def test_the_sdk_can_be_moved(compiler: Compiler, tmp_path: Path) -> None:
    moved = tmp_path / "another place" / "sdk"
    shutil.copytree(SDK, moved)
    elsewhere = Compiler(tmp_path, moved)
    used = elsewhere.run("-M", "hello.c").stdout.replace("\\ ", "?")
    assert str(SDK) not in used
    elsewhere.good("hello.c")


def test_questions_are_for_gcc(compiler: Compiler) -> None:
    assert "gcc" in compiler.run("--version").stdout
    assert compiler.run("-print-libgcc-file-name").stdout.strip().endswith("libgcc.a")


def test_no_header_of_the_host_is_seen(compiler: Compiler) -> None:
    used = compiler.run("-M", "hello.c").stdout
    assert "/usr/include" not in used and "i686-linux-gnu/include" not in used
    compiler.write("linux.c", "#if defined linux || defined __linux__\n#error linux\n#endif\n"
                   "#ifndef __assay__\n#error where\n#endif\nint main(void) { return 0; }\n")
    compiler.good("linux.c")


FOLDERS = ("lib/libc/include", "lib/threads", "lib/cpuprofile")
HEADERS = ["mach.h", "gprof.h", "servers/gprof.h", "servers/gprof_server.h",
           *sorted(f"{folder}/{header.name}" for folder in ("prof", "sys")
                   for header in (ROOT / "include" / folder).glob("*.h")),
           *sorted(str(header.relative_to(ROOT / folder))
                   for folder in FOLDERS for header in (ROOT / folder).glob("**/*.h")
                   if (SDK / "include" / header.relative_to(ROOT / folder)).exists())]


@pytest.mark.parametrize("header", HEADERS)
def test_headers_need_no_others(compiler: Compiler, header: str) -> None:
    compiler.write("header.c", f"#include <{header}>\n#include <{header}>\n"
                   "int main(void) { return 0; }\n")
    compiler.good("-std=gnu11", "-fsyntax-only", "header.c")


def test_a_program_runs(compiler: Compiler, unix_machine) -> None:
    program = compiler.good("-O2", "hello.c", "-o", "hello")
    result = unix_machine("/tmp/hello", files=Files(put=(Put(program, "/tmp/hello"),)))
    assert (result.outcome, result.status) == ("exit", 0)
    assert result.output == b"/tmp/hello: 42 40 1.414\n"


def test_pg_counts_calls_and_links_what_that_needs(compiler: Compiler) -> None:
    for option in "-pg", "-p":
        program = compiler.good(option, "hello.c", "-o", "profiled")
        names = subprocess.run(["i686-linux-gnu-nm", program], text=True, capture_output=True,
                               check=True).stdout.split()
        assert {"mcount", "monstartup_crt0"} <= set(names)
    compiler.good("-c", "hello.c", "-o", "hello.o")
    compiler.good("-pg", "hello.o", "-o", "sampled")  # Not compiled with it, but begun by it.
    names = subprocess.run(["i686-linux-gnu-nm", compiler.folder / "sampled"], text=True,
                           capture_output=True, check=True).stdout.split()
    assert "monstartup_crt0" in names and "mcount" not in names


def test_the_beginnings_of_a_program_are_the_same() -> None:
    """As in Mach 3.0: which libraries are linked makes the difference."""
    crt0, gcrt0, moncrt0 = ((SDK / "lib" / name).read_bytes()
                            for name in ("crt0.o", "gcrt0.o", "moncrt0.o"))
    assert crt0 == gcrt0 == moncrt0


# ---------------- What does not ----------------


@pytest.mark.parametrize(("words", "message"), [
    (["hello.cpp"], r"hello.cpp: C\+\+: there is no library for it"),
    (["-x", "c++", "hello.c"], r"C\+\+: there is no library for it"),
    (["-shared", "hello.c"], "-shared: there are no shared libraries"),
    (["-m64", "hello.c"], "-m64: the machine is i386"),
    (["-fsanitize=address", "hello.c"], "-fsanitize=address: its library does not exist"),
    (["-pie", "hello.c"], "-pie: programs are linked for a fixed address"),
])
def test_what_cannot_be_is_refused(compiler: Compiler, words: list[str], message: str) -> None:
    said = compiler.bad(*words)
    assert re.fullmatch(f"ux-cc: {message}.*\n", said)
    assert not (compiler.folder / "a.out").exists()


def test_headers_that_are_missing(compiler: Compiler) -> None:
    compiler.write("net.c", "#include <sys/socket.h>\n")
    assert "sys/socket.h: No such file" in compiler.bad("net.c")


def test_a_compiler_that_is_missing(compiler: Compiler) -> None:
    done = subprocess.run([SDK / "bin" / "ux-cc", "hello.c"], cwd=compiler.folder, text=True,
                          env={"PATH": "/usr/bin:/bin", "CROSS": "none-"}, capture_output=True,
                          check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("ux-cc: none-gcc is not installed")


# ---------------- Names ----------------


def globals_of(library: str) -> set[str]:
    listing = subprocess.run(["i686-linux-gnu-nm", "-g", "--defined-only", SDK / "lib" / library],
                             text=True, capture_output=True, check=True).stdout
    return {line.split()[2] for line in listing.splitlines() if len(line.split()) == 3}


# Of the note on profiling, and of MIG.
OLD_NAMES = {"mcount", "mcountaux", "gprof_server"}


@pytest.mark.parametrize("library", ["libc.a", "libthreads.a", "libprof1.a"])
def test_a_program_may_have_any_name_that_no_header_has(library: str, compiler: Compiler) -> None:
    """A name of the library's own would collide with a program's: such begin with underscores."""
    compiler.write("all.c", "".join(f"#include <{header}>\n" for header in (*HEADERS, "ux/bsd.h")))
    declared = set(re.findall(r"\w+", compiler.run("-E", "-P", "-dD", "all.c").stdout))
    own = {name for name in globals_of(library) if not name.startswith("_")}
    assert len(own) > 20 and own - declared - OLD_NAMES == set()
