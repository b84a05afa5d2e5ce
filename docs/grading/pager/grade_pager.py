# SPDX-License-Identifier: MIT
"""Grades the exercise of docs/grading/pager/README.md, a program that needs no Unix server."""

from pathlib import Path

from assay.grade import Assignment, Run, Submission, check

HERE = Path(__file__).parent
PAGES, MAPPED, STEPS = 8, 16, 400
LIMIT = 1  # Seconds of the machine's.
WORD = 1 << 32

assignment = Assignment("A pager", files=["pager.c", "kernel.args"])


def expected(seed: int, steps: int) -> str:
    """What file.c prints with a pager that is right."""
    pages, total = list(range(PAGES)), 0
    for _ in range(steps):
        seed = (seed * 1664525 + 1013904223) % WORD
        page = (seed >> 8) % PAGES
        if seed >> 16 & 1:
            pages[page] = seed
        total = (total * 31 + pages[page]) % WORD
    return f"{total}\n"


def run(submission: Submission, seed: int, steps: int) -> tuple[Run, Path]:
    program = submission.build_boot("file.c", "pager.c", ours=HERE)
    return submission.boot(f"{program} {seed} {steps}", limit=LIMIT,
                           append=submission.text("kernel.args", "")), program


@assignment.test("has pages to read", points=20)
def reads(submission: Submission) -> None:
    seed = submission.random("reads").randrange(WORD)
    run(submission, seed, MAPPED - 1)[0].must_print(expected(seed, MAPPED - 1))


@assignment.test("keeps what was written", points=60, hidden=True)
def keeps(submission: Submission) -> None:
    seed = submission.random("keeps").randrange(WORD)
    run(submission, seed, STEPS)[0].must_print(expected(seed, STEPS))


@assignment.test("is asked for pages, and gets them back", points=20)
def is_a_pager(submission: Submission) -> None:
    seed = submission.random("keeps").randrange(WORD)
    ran, program = run(submission, seed, STEPS)
    executed = ran.must_end().executed(program)
    for name, least in ("memory_object_data_request", PAGES), ("memory_object_data_return", 1):
        calls = executed[name].calls if name in executed else 0
        check(calls >= least, f"{name} was called {calls} times, should be at least {least}")
