# SPDX-License-Identifier: MIT
"""Submissions that would harm who grades them: each is told, and the host has not noticed."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from assay import ROOT, ToolError, grade_patch, sandbox
from assay.files import Files, Get, Put, fetch_one, make_image
from assay.grade import Assignment, Failed, Submission

# A machine without namespaces says so by the environment: .ci/run does.
NAMESPACES = sandbox.kind == "bubblewrap"
KINDS = ["bubblewrap"] * NAMESPACES + ["user"] * (os.getuid() == 0)
EXAMPLE = ROOT / "docs" / "grading"
HELLO = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n"


@pytest.fixture(name="kind", params=KINDS)
def kind_fixture(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sandbox, "kind", request.param)
    return request.param


@pytest.fixture(name="submission")
def submission_fixture(tmp_path: Path) -> Submission:
    (tmp_path / "handed-in").mkdir()
    return Submission(tmp_path / "handed-in", tmp_path)


def hand_in(submission: Submission, text: str) -> Submission:
    (submission.path / "a.c").write_text(text)
    return submission


# ---------------- What is compiled ----------------

def test_what_is_well_is_compiled(kind: str, submission: Submission) -> None:
    program = hand_in(submission, HELLO).build("a.c")
    assert program.read_bytes()[:4] == b"\x7fELF"


HOST_FILES = ['__asm__(".incbin \\"/etc/passwd\\"");', '#include "/etc/passwd"',
              f'__asm__(".incbin \\"{ROOT}/Makefile\\"");',
              f'#include "{ROOT}/docs/grading/grade_words.py"']


@pytest.mark.skipif(not NAMESPACES, reason="whoever has no namespaces can read what all can")
@pytest.mark.parametrize("text", HOST_FILES)
def test_a_source_shows_no_file_of_the_host_s(submission: Submission, text: str) -> None:
    """A compiler on the host would take the first ones, or quote what they say."""
    with pytest.raises(Failed, match="does not compile") as failed:
        hand_in(submission, f"{text}\n{HELLO}").build("a.c")
    assert re.search("No such file|file not found|Permission denied|can't open", str(failed.value))
    assert "root:" not in str(failed.value)


WHERE_OURS_IS = {"bubblewrap": "/room/ours", "user": "../../ours"}


@pytest.fixture(name="ours")
def ours_fixture(tmp_path: Path) -> Path:
    """A teacher's folder: what is compiled with a submission, and what nobody may see."""
    folder = tmp_path / "ours"
    (folder / "submissions" / "right").mkdir(parents=True)
    (folder / "main.c").write_text("int answer(void);\nint main(void) { return answer(); }\n")
    (folder / "grade_it.py").write_text("assert hidden_answer == 42\n")
    (folder / "submissions" / "right" / "a.c").write_text("int answer(void) { return 42; }\n")
    return folder


@pytest.mark.parametrize("text", [
    '#include "{}/grade_it.py"', '#include "{}/submissions/right/a.c"',
    '__asm__(".incbin \\"{}/grade_it.py\\"");'], ids=["include", "right", "incbin"])
def test_a_source_shows_nothing_beside_the_teacher_s_sources(
        kind: str, submission: Submission, ours: Path, text: str) -> None:
    """Hidden tests and what others handed in are not in the room; what is needed is."""
    answer = "int answer(void) { return 1; }\n"
    hand_in(submission, answer).build("main.c", "a.c", ours=ours)
    text = text.format(WHERE_OURS_IS[kind])
    with pytest.raises(Failed, match="does not compile:") as failed:
        hand_in(submission, text + "\n" + answer * ("right" not in text)).build(
            "main.c", "./a.c", ours=ours)
    assert re.search("No such file|file not found", str(failed.value))
    assert "hidden_answer" not in str(failed.value)


@pytest.mark.parametrize("target", [grade_patch.KERNEL, grade_patch.SERVER])
def test_a_patch_s_room_has_nothing_of_the_examples(target: grade_patch.Target) -> None:
    folders = grade_patch.folders(target).values()
    assert not [path for path in folders
                if EXAMPLE.is_relative_to(path) or path.is_relative_to(EXAMPLE)]


@pytest.mark.parametrize("text", [
    '__asm__(".data; .fill 400 << 20, 1, 1");', "char all[400 << 20] = {1};",
    "#define A(x) x x x x x x x x\nint b[] = {A(A(A(A(A(A(A(A(A(1,)))))))))};"])
def test_what_is_too_much_for_the_compiler(submission: Submission, text: str) -> None:
    """Whichever bound it is, the same words."""
    with pytest.raises(Failed, match="^does not compile: the compiler took too much time, memory"):
        hand_in(submission, f"{text}\n{HELLO}").build("a.c")


def test_400_mib_without_contents(submission: Submission) -> None:
    """They are in no file; in the machine there is no such memory."""
    touch = "for (int i = 0; i < 400 << 20; i += 4096) all[i] = 1; puts"
    text = "static volatile char all[400 << 20];\n" + HELLO.replace("puts", touch)
    program = hand_in(submission, text).build("a.c")
    assert program.stat().st_size < 1 << 20
    with pytest.raises(Failed, match="ended|end in time|disk full") as first:
        submission.run(program, limit=5).must_end()
    assert "the machine failed" not in str(first.value)


# ---------------- What is left behind ----------------

class Short(sandbox.Limits):
    wall = 2


class Enough(sandbox.Limits):
    wall = 30


def processes(word: str) -> list[str]:
    """Of those that run, what was started with this word."""
    lines = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            lines.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except (OSError, UnicodeDecodeError):
            continue
    return [line for line in lines if re.search(rf"\b{word}\b", line)]


@pytest.mark.parametrize(("script", "too_much"), [
    ("setsid sleep 98.{} </dev/null >/dev/null 2>&1 & printf made", False),
    ("setsid sleep 98.{} & sleep 97", True)])
def test_no_process_is_left(kind: str, script: str, too_much: bool) -> None:
    """Neither when all is well nor when the time is over."""
    word = f"{os.getpid()}{time.monotonic_ns()}"
    made = sandbox.run(script.format(word), {}, Short if too_much else Enough)
    assert (made.too_much, made.data) == (too_much, b"" if too_much else b"made")
    deadline = time.monotonic() + 10
    while (left := processes(f"98.{word}")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == []


def test_what_is_printed_without_end_is_not_kept(kind: str) -> None:
    assert sandbox.run("yes", {}).too_much and sandbox.run("yes >&2", {}).too_much


def test_no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled in the open then: it is refused, with what to do."""
    monkeypatch.setattr(sandbox, "kind", "bubblewrap")
    sandbox.find.cache_clear()
    monkeypatch.setattr(sandbox, "PROGRAM", "no-such-program")
    with pytest.raises(ToolError, match="not installed: run ./setup"):
        sandbox.run("true", {})
    monkeypatch.setattr(sandbox, "PROGRAM", "false")
    with pytest.raises(ToolError, match="--sandbox=user"):
        sandbox.run("true", {})
    sandbox.find.cache_clear()


@pytest.mark.skipif(os.getuid() != 0, reason="--sandbox=user takes root")
def test_who_is_ended_from_outside_is_not_blamed(submission: Submission, monkeypatch) -> None:
    """By another container's grader, which has the same user: no verdict, and no points lost."""
    monkeypatch.setattr(sandbox, "kind", "user")
    killed = sandbox.run("kill -KILL $$", {"handed_in": submission.path})
    monkeypatch.setattr(sandbox, "run", lambda *_: killed)
    hand_in(submission, HELLO)
    with pytest.raises(ToolError, match="ended from outside, by signal 9"):
        submission.build("a.c")


@pytest.mark.skipif(os.getuid() != 0, reason="--sandbox=user takes root")
def test_containers_begin_with_other_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """They cannot see each other's locks."""
    numbers = []
    for namespace in 4026531836, 4026532178:
        monkeypatch.setattr(sandbox, "namespace", lambda: namespace)
        with sandbox.User() as user:
            numbers.append(user.number)
    assert numbers[0] != numbers[1] and min(numbers) >= sandbox.FIRST_USER


# ---------------- What is handed in ----------------

def make_link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def make_large(path: Path) -> None:
    path.write_bytes(b"x")
    os.truncate(path, 3 << 30)


@pytest.mark.parametrize(("make", "says"), [
    (make_link, "a.c is a link"), (os.mkfifo, "a.c is no file"),
    (make_large, "a.c has more than 1,048,576 bytes")])
def test_what_is_no_file(tmp_path: Path, make, says: str) -> None:
    (tmp_path / "in").mkdir()
    make(tmp_path / "in" / "a.c")
    assignment = Assignment("Any", files=["*.c"])
    assignment.test("compiles", points=1)(lambda submission: submission.build("a.c"))
    assert assignment.grade(tmp_path / "in").verdicts[0].message == says


@pytest.mark.parametrize(("arguments", "says"), [
    ("x" * 300_000, "kernel.args has more than 65,536 bytes"),
    ("x" * 2000, "more than 1,024 characters"),
    ("crash=\0", "printable ASCII"), ("a\nb", "printable ASCII"), ("\u00e9", "printable ASCII")],
    ids=["300 KB", "2 KB", "NUL", "lines", "UTF-8"])
def test_kernel_arguments(tmp_path: Path, arguments: str, says: str) -> None:
    """The grading is reported, and it is not the script's fault."""
    (tmp_path / "a.c").write_text(HELLO)
    (tmp_path / "kernel.args").write_text(arguments)
    assignment = Assignment("Any", files=["a.c", "kernel.args"])

    @assignment.test("runs", points=1)
    def runs(submission: Submission) -> None:
        submission.run(submission.build("a.c"), append=submission.text("kernel.args")).must_end()

    verdict, = assignment.grade(tmp_path).verdicts
    assert says in verdict.message and not verdict.is_error


def test_a_file_of_holes_does_not_come_out(tmp_path: Path) -> None:
    """3 GiB that take no room in the machine would take it here."""
    (tmp_path / "hole").write_bytes(b"x")
    image = make_image(Files(put=(Put(tmp_path / "hole", "/hole"),)), tmp_path)
    subprocess.run(["debugfs", "-w", "-R", f"set_inode_field /hole size {3 << 30}", image],
                   check=True, capture_output=True,
                   env=os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})
    with pytest.raises(ToolError, match="3,221,225,472 bytes, more than its disk"):
        fetch_one(image, Get("/hole", tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


@pytest.mark.skipif(os.getuid() != 0 or not NAMESPACES, reason="one of the two cannot work here")
def test_the_same_program_whoever_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict tells of times, to which a program's size belongs."""
    made = []
    for name in sandbox.KINDS:
        monkeypatch.setattr(sandbox, "kind", name)
        (tmp_path / name / "in").mkdir(parents=True)
        submission = hand_in(Submission(tmp_path / name / "in", tmp_path / name), HELLO)
        (submission.path / "b.c").write_text('#include "assay.h"\nint main(void) { return 0; }\n')
        made.append([submission.build("a.c").read_bytes(),
                     submission.build_boot("b.c").read_bytes()])
    assert made[0] == made[1]
