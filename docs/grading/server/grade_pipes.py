# SPDX-License-Identifier: MIT
"""Grades the exercise of docs/grading/server/README.md, a change to the Unix server."""

import errno
import random
from pathlib import Path

from assay.grade import Assignment, Run, Submission, each

HERE = Path(__file__).parent
MAY_CHANGE = ("servers/ux/file/pipe*.[ch]", "servers/ux/file/descriptors.h",
              "servers/ux/file/file_routines.c")
PAGE, FIRST, LARGEST = 4096, 16384, 65536
PIECE = 1000  # Of pipes.c.
LIMIT = 1  # Seconds of the machine's.
WORD = 1 << 32

assignment = Assignment("Pipes of any size", files=["change.patch"])


def run(submission: Submission, arguments: str) -> Run:
    server = submission.build_server("change.patch", MAY_CHANGE)
    program = submission.build("pipes.c", ours=HERE)
    return submission.run(program, arguments, server=server, limit=LIMIT)


def through(seed: int, size: int) -> str:
    """What pipes.c tells of so many bytes that came out of a pipe."""
    number, total = seed, 0
    for _ in range(size):
        number = (number * 1664525 + 1013904223) % WORD
        total = (total * 31 + (number >> 24)) % WORD
    return f"{size} {total}\n"


def sums(seed: int, before: int, size: int) -> str:
    """The same of `size` bytes, when so many came out before: the sum is of all."""
    return f"{size} {through(seed, before + size).split()[1]}\n"


def must_change(submission: Submission, choose: random.Random, smallest: int, largest: int) -> None:
    """To a size, with something in it that goes over the end of the old ring."""
    seed, pieces = choose.randrange(WORD), FIRST // PIECE
    left, size = choose.randint(500, 3000), PAGE * choose.randint(smallest, largest)
    run(submission, f"change {seed} {pieces} {left} {size}").must_print(
        f"{size} {sums(seed, pieces * PIECE - left, size)}")


@assignment.test("pipes carry what is written", points=10)
def carries(submission: Submission) -> None:
    choose = submission.random("carries")
    seed, pieces = choose.randrange(WORD), choose.randint(100, 150)
    run(submission, f"through {seed} {pieces}").must_print(through(seed, pieces * PIECE))


@assignment.test("a pipe says what it holds", points=10)
def says(submission: Submission) -> None:
    answers = [FIRST, 65536, 65536, 4096, 4096, 20480, 20480, f"error {errno.EINVAL}", 20480,
               f"error {errno.EINVAL}", 20480, f"error {errno.EINVAL}"]
    run(submission, "sizes 65536 1 16385 65537 0").must_print(
        "".join(f"{answer}\n" for answer in answers), tell=True)


@assignment.test("a larger pipe takes more, and keeps what is in it", points=50)
def grows(submission: Submission) -> None:
    choose = submission.random("grows")
    each(("to any size", lambda: must_change(submission, choose, FIRST // PAGE + 1, 15)),
         ("to the largest", lambda: must_change(submission, choose, 16, 16)))


@assignment.test("a smaller one too, if that fits", points=15, hidden=True)
def shrinks(submission: Submission) -> None:
    choose = submission.random("shrinks")
    seed, pieces = choose.randrange(WORD), choose.randint(9, 16)
    each(("it fits", lambda: must_change(submission, choose, 1, 3)),
         ("it does not", lambda: run(submission, f"refuse {seed} {pieces} {2 * PAGE}").must_print(
             f"error {errno.EBUSY}\n{through(seed, pieces * PIECE)}")))


@assignment.test("who waits for room goes on when there is some", points=15, hidden=True)
def wakes(submission: Submission) -> None:
    choose = submission.random("wakes")
    seed, size = choose.randrange(WORD), PAGE * choose.randint(6, 16)
    pieces = size // PIECE
    run(submission, f"wait {seed} {size}").must_print(f"0 {through(seed, pieces * PIECE)}")
