# SPDX-License-Identifier: MIT
"""Grades the exercise of docs/grading/README.md: tools/grade docs/grading/grade_words.py FOLDER."""

import random

from assay.grade import Assignment, Profile, Run, Submission, check

DIFFERENT, LINES, ROUNDS = 100, 2000, 300
LOOKUPS = LINES * ROUNDS
LIMIT = 2  # Seconds of the machine's: a right submission takes a quarter of one.

assignment = Assignment("Words")


def make_text() -> tuple[str, int]:
    """Lines of one word each, the same every time; and how many different ones there are."""
    choose = random.Random(1)
    words = ["".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=8)) for _ in range(DIFFERENT)]
    lines = [choose.choice(words) for _ in range(LINES)]
    return "".join(f"{line}\n" for line in lines), len(set(lines))


TEXT, ANSWER = make_text()


def measured(submission: Submission) -> Run:
    """The one run that all tests look at."""
    return submission.run(submission.build("words.c"), f"{ROUNDS} </tmp/text",
                          put={"/tmp/text": TEXT}, limit=LIMIT,
                          append=submission.text("kernel.args", ""))


def profile(submission: Submission) -> Profile:
    return measured(submission).profile()


@assignment.test("counts the different words", points=40)
def counts(submission: Submission) -> None:
    measured(submission).must_print(f"{ANSWER}\n")


@assignment.test("hashes each word once", points=10)
def hashes_once(submission: Submission) -> None:
    profile(submission).must_call("hash", LOOKUPS)
    profile(submission).must_be_called_by("hash", {"insert"})


@assignment.test("compares few words", points=20)
def compares_few(submission: Submission) -> None:
    profile(submission).must_call_at_most("same", 2 * LOOKUPS)


@assignment.test("does not spend its time on comparing", points=30)
def compares_fast(submission: Submission) -> None:
    profile(submission).must_have_share("same", at_most=0.45)
    check(profile(submission).share("hash") > 0, "hash takes no time: is it called?")
