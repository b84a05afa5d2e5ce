# SPDX-License-Identifier: MIT
"""Only a program's own profile is shown with it: another one's is refused, whatever it is like."""

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from gprof.gmon import (EXTRA_LABEL, EXTRA_LABEL_NAME, EXTRA_LABEL_PID, FUNCTION_BYTES, GNU, GPROF,
                        PERIODIC, USER, Profile, code_records, make_program, output, read_flat,
                        read_graph, run)

NAMES = ["main", "work", "leaf", "rest"]
CODE_BYTES = len(NAMES) * FUNCTION_BYTES


def code_of(program: Path, start: int = USER, length: int = CODE_BYTES) -> bytes:
    """What a program has at an address: of its first segment of code."""
    image = program.read_bytes()
    at, size, n = (*struct.unpack_from("<I", image, 28), *struct.unpack_from("<HH", image, 42))
    for i in range(n):
        kind, offset, address, _, _, _, flags, _ = struct.unpack_from("<8I", image, at + i * size)
        if kind == 1 and flags & 1:
            return image[offset + start - address:][:length]
    raise AssertionError("no code")


def ours(program: Path, pieces=((USER, CODE_BYTES),), **values: int) -> bytes:
    """A profile of four functions that says what code it is of."""
    extra = [record for start, length in pieces
             for record in code_records(start, code_of(program, start, length))]
    return Profile(USER, [1] + [0] * (CODE_BYTES // 2 - 1), rate=1000, dimension="seconds",
                   values={"flavor": PERIODIC, "flavors": PERIODIC, "interval": 1000000} | values,
                   exact=[(PERIODIC, 0, USER, 1)], extra=extra).ours()


def refuse(program: Path, file: Path, what: str, *options: str) -> None:
    done = run(GPROF, *options, program, file)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert what in done.stderr


@pytest.fixture(name="programs", scope="module")
def programs_fixture(tmp_path_factory) -> dict[str, Path]:
    """One, one with a call more in the same place, one with a function more, one with a constant
    more behind the code."""
    folder = tmp_path_factory.mktemp("programs")
    return {"one": make_program(folder / "one", NAMES, calls={"rest": ["work"]}),
            "changed": make_program(folder / "changed", NAMES, calls={"rest": ["leaf"]}),
            "larger": make_program(folder / "larger", [*NAMES, "more"], calls={"rest": ["work"]})}


@pytest.mark.parametrize(("other", "pieces"), [
    ("changed", [(USER, CODE_BYTES)]), ("changed", [(USER, 64), (USER + 192, 64)]),
    ("larger", [(USER, CODE_BYTES + FUNCTION_BYTES)])], ids=str)
def test_a_file_that_says_what_code_it_is_of(programs, tmp_path: Path, other: str, pieces) -> None:
    """No option makes it pass, and whoever compiled anew is told so."""
    file = tmp_path / "gmon.out"
    file.write_bytes(ours(programs[other], pieces))
    assert "main" in read_flat(output("-b", programs[other], file))
    for options in ([], ["--any-date"], ["-N"], ["--view=folded"]):
        refuse(programs["one"], file, "of another program than", *options)
    os.utime(file, (1, 1))
    for options in ([], ["--any-date"]):
        refuse(programs["one"], file, "made anew after", *options)


def test_the_length_of_its_text(programs, tmp_path: Path) -> None:
    """A smaller and a larger program, of which the sum is of what both have."""
    file = tmp_path / "gmon.out"
    for name, length in ("one", CODE_BYTES), ("larger", CODE_BYTES + FUNCTION_BYTES):
        file.write_bytes(ours(programs[name], [(USER, 64)], text_low=USER, text_high=USER + length))
        for program in "one", "larger":
            if program == name:
                assert "main" in read_flat(output("-b", programs[program], file))
            else:
                refuse(programs[program], file, "its code is another")


def test_compiled_anew_with_the_same_code(programs, tmp_path: Path) -> None:
    file, stripped = tmp_path / "gmon.out", tmp_path / "one"
    file.write_bytes(ours(programs["one"]))
    shutil.copy(programs["one"], stripped)
    subprocess.run(["i686-linux-gnu-strip", "-N", "rest", stripped], check=True)
    os.utime(file, (1, 1))
    refuse(stripped, file, "though its code is the same: --any-date")
    assert "main" in read_flat(output("-b", "--any-date", stripped, file))


def test_damaged_sums(programs, tmp_path: Path) -> None:
    data, file = ours(programs["one"]), tmp_path / "gmon.out"
    for field in 0, 1, 2:  # The record's kind, the address, the length.
        records = code_records(USER, code_of(programs["one"]))
        wrong = [list(record) for record in records]
        wrong[0][field] += 1
        file.write_bytes(data.replace(struct.pack("<III", *records[0]),
                                      struct.pack("<III", *wrong[0])))
        refuse(programs["one"], file, "a sum of no code")


def test_a_sum_says_it_too(programs, tmp_path: Path) -> None:
    """-s: gmon.sum is refused where its parts are."""
    file = tmp_path / "gmon.out"
    file.write_bytes(ours(programs["one"], text_low=USER, text_high=USER + CODE_BYTES))
    output("-s", programs["one"], file, file, cwd=tmp_path)
    assert read_flat(output("-b", programs["one"], tmp_path / "gmon.sum"))["main"][0] == 0.002
    refuse(programs["changed"], tmp_path / "gmon.sum", "its code is another")


# ---------------- Other people's ----------------

@pytest.mark.parametrize(("low", "high", "is_asked"), [
    (0, CODE_BYTES, False), (-16, CODE_BYTES, False), (0, CODE_BYTES + 4, False),
    (0, CODE_BYTES + 16, False), (0, 0x1000, False), (0, 0x1002, False), (0, 0x2000, True),
    (-0x1000, CODE_BYTES, False), (-0x2000, CODE_BYTES, False), (-0x3000, CODE_BYTES, True),
    (-0x4000, 0x4000, True)])
def test_empty_bins_outside(programs, tmp_path: Path, low: int, high: int, is_asked: bool) -> None:
    """They speak against nothing; if there are many, a line asks whether this program was meant."""
    file = tmp_path / "gmon.out"
    for write in Profile.gnu, Profile.bsd:
        bins = [0] * ((high - low) // 2)
        bins[-low // 2] = bins[(CODE_BYTES - low) // 2 - 1] = 7
        file.write_bytes(write(Profile(USER + low, bins)))
        text = output("-b", programs["one"], file)
        assert read_flat(text)["main"][0] == read_flat(text)["rest"][0] > 0
        asked = f"covers {USER + low:#x} to {USER + high:#x}, more than the program, with nothing"
        assert text.count(asked) == 2 * is_asked


@pytest.mark.parametrize(("low", "high", "place"), [
    (-0x1000, CODE_BYTES + 16, -2), (-0x3000, CODE_BYTES, -0x2002), (0, 0x4000, CODE_BYTES + 14),
    (0, 0x3000, 0x2ffe)])
def test_samples_outside(programs, tmp_path: Path, low: int, high: int, place: int) -> None:
    """One is enough to show that it was another program."""
    file = tmp_path / "gmon.out"
    bins = [0] * ((high - low) // 2)
    bins[-low // 2] = 1000
    for write in Profile.gnu, Profile.bsd:
        file.write_bytes(write(Profile(USER + low, bins)))
        assert read_flat(output("-b", programs["one"], file)).keys() == {"main"}
    bins[(place - low) // 2] = 1
    for write in Profile.gnu, Profile.bsd:
        file.write_bytes(write(Profile(USER + low, bins)))
        refuse(programs["one"], file, "there are addresses that it has not")


def test_empty_bins_outside_of_ours(programs, tmp_path: Path) -> None:
    """A file of ours with exact counts, that says no sum of the code."""
    file = tmp_path / "gmon.out"
    values = {"flavor": PERIODIC, "flavors": PERIODIC, "interval": 1000000}
    bins = [1] + [0] * 0x2000
    for place in 0, 0x3000:
        exact = [(PERIODIC, 0, USER, 1)]
        if place:
            exact.append((PERIODIC, 0, USER + place, 1))
            bins[place // 2] = 1
        file.write_bytes(Profile(USER, bins, rate=1000, dimension="seconds", values=values,
                                 exact=exact).ours())
        if place:
            refuse(programs["one"], file, "there are addresses that it has not")
        else:
            assert "main" in read_flat(output("-b", programs["one"], file))


def test_each_of_several_files(programs, tmp_path: Path) -> None:
    """A file of another program is none of this one's because one before it was."""
    values = {"flavor": PERIODIC, "flavors": PERIODIC, "interval": 1000000}
    files = {}
    for name, address in ("own", USER), ("other", USER + 0x3000):
        files[name] = tmp_path / name
        bins = [int(address == USER)] + [0] * (CODE_BYTES // 2 - 1)
        files[name].write_bytes(Profile(USER, bins, rate=1000, dimension="seconds", values=values,
                                        exact=[(PERIODIC, 0, address, 1)]).ours())
    assert "main" in read_flat(output("-b", programs["one"], files["own"], files["own"]))
    refuse(programs["one"], files["other"], "there are addresses that it has not")
    done = run(GPROF, programs["one"], files["own"], files["other"])
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{files['other']}: " in done.stderr


@pytest.mark.parametrize(("low", "high"), [
    (-0x1000, CODE_BYTES - 16), (0x1000, 0x2000), (CODE_BYTES + 32, CODE_BYTES + 64),
    (-0x4000, -0x2000)])
def test_a_histogram_of_elsewhere(programs, tmp_path: Path, low: int, high: int) -> None:
    """Beside the code, or from the headers on to where no section ends: empty or not."""
    file = tmp_path / "gmon.out"
    for count in 0, 1:
        file.write_bytes(Profile(USER + low, [count] * ((high - low) // 2)).gnu())
        refuse(programs["one"], file, "there are addresses that it has not")


def test_a_histogram_that_ends_early(programs, tmp_path: Path) -> None:
    """Who chose its range means it, so it is shown; and so is that it is strange."""
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(USER, [3] * (CODE_BYTES // 2)).gnu())
    text = output("-b", programs["larger"], file)
    assert text.count("the program's code at 0x8049140: is it of this program?\n") == 2


SOURCE = """
volatile int sum;
__attribute__((noinline)) int half(int n) { for (int i = 0; i < n; i++) sum += i; return sum; }
__attribute__((noinline)) int whole(int n) { return half(n) + half(n); }
int main(void) { for (int i = 0; i < 300; i++) whole(i * 100); return 0; }
"""
MORE = "__attribute__((noinline)) int more(int n) { return n + 1; }\n"


@pytest.mark.parametrize("options", [["-static"], ["-no-pie"], ["-pie"]], ids=str)
def test_programs_of_this_host(tmp_path: Path, options: list[str]) -> None:
    """64 bits, profiled by GNU's own library: as GNU's gprof has it, and of no other program."""
    for name, source in ("one", SOURCE), ("other", MORE * 30 + SOURCE):
        source = source.replace(MORE * 30, "".join(MORE.replace("more", f"more{i}")
                                                   for i in range(30)))
        subprocess.run(["gcc", "-O1", "-pg", *options, "-xc", "-o", tmp_path / name, "-"],
                       input=source, text=True, check=True)
    subprocess.run([tmp_path / "one"], check=True, cwd=tmp_path)
    file = tmp_path / "gmon.out"
    graph = read_graph(output("-b", tmp_path / "one", file))
    theirs = read_graph(output("-b", "-q", tmp_path / "one", file, gprof=GNU))
    for name in "half", "whole":
        assert (graph[name].calls, graph[name].self) == (theirs[name].calls, theirs[name].self)
    if options == ["-static"]:
        refuse(tmp_path / "other", file, "is the profile of another program than")


def test_calls_that_are_counted_nowhere(tmp_path: Path) -> None:
    """A program of the same length whose functions are elsewhere in it."""
    functions = ["a: push %ebp\ncall mcount\n.fill 90,1,0x90\nret\n",
                 "b: call mcount\n.fill 40,1,0x90\nret\n"]
    programs = []
    for i, order in enumerate((functions, functions[::-1])):
        source = tmp_path / f"{i}.s"
        source.write_text(".globl a,b,mcount\n.type a,@function\n.type b,@function\n" +
                          "".join(order) + ".type mcount,@function\nmcount: ret\n")
        subprocess.run(["i686-linux-gnu-gcc", "-nostdlib", "-static", f"-Wl,-Ttext={USER:#x},-ea",
                        "-o", tmp_path / str(i), source], check=True)
        programs.append(tmp_path / str(i))
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(USER, [1] * 72, [(USER + 120, USER + 6, 7),
                                              (USER + 50, USER + 102, 2)]).gnu())
    assert read_graph(output("-b", programs[0], file))["a"].calls == 7
    refuse(programs[1], file, "calls were counted where it counts none")


# ---------------- What a file of ours says beside ----------------

def label(task: int, samples: int, pid: int, name: str) -> list[tuple[int, int, int]]:
    words = name.encode().ljust(-len(name) % 4 + len(name), b"\0")
    return [(EXTRA_LABEL, task, samples), (EXTRA_LABEL_PID, task, pid + 1 & 0xFFFFFFFF),
            *((EXTRA_LABEL_NAME + i, task, word)
              for i, (word,) in enumerate(struct.iter_unpack("<I", words)))]


def test_on_whose_behalf(programs, tmp_path: Path) -> None:
    """A kernel's profile says it in sums, and of whom else there were samples."""
    file = tmp_path / "gmon.out"
    extra = [(EXTRA_LABEL, 0, 5), *label(9, 70, 12, "a.longer.name"), *label(8, 30, -1, ""),
             (EXTRA_LABEL, 11, 1)]
    values = {"flavor": PERIODIC, "flavors": PERIODIC, "interval": 1000000, "lost": 3, "due": 200,
              "missed": 1, "fired": 199, "others": 44, "idle": 199}
    file.write_bytes(Profile(USER, [106] + [0] * 127, rate=1000, dimension="seconds",
                             values=values, exact=[(PERIODIC, 0, USER, 106)], extra=extra).ours())
    line = "on behalf of: 12:a.longer.name 70, task 8 30, system 5, what has ended 1\n"
    text = output("-b", programs["one"], file)
    assert text.count(line) == 2
    assert text.count("lost: 3; missed by the clock: 1 of 200 due (0.50%); of others: 44\n") == 2
    for option in "--for=12", "--for=each":
        refuse(programs["one"], file, "has only sums of on whose behalf", option)
    output("-s", programs["one"], file, file, cwd=tmp_path)
    text = output("-b", programs["one"], tmp_path / "gmon.sum")
    assert "12:a.longer.name 140, task 8 60, system 10, what has ended 2\n" in text


def test_many_tasks(programs, tmp_path: Path) -> None:
    file = tmp_path / "gmon.out"
    extra = [(EXTRA_LABEL, task, task) for task in range(1, 21)]
    file.write_bytes(Profile(USER, [0] * 128, rate=1000, dimension="seconds", extra=extra,
                             values={"flavor": PERIODIC, "interval": 1000000}).ours())
    assert "task 13 13, others 78\n" in output("-b", programs["one"], file)
