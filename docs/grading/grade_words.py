# SPDX-License-Identifier: MIT
"""Grades the exercise of docs/grading/README.md: tools/grade docs/grading/grade_words.py FOLDER."""

import random

from assay.grade import Assignment, Failed, Profile, Run, Submission, check, each

DIFFERENT, MORE, LINES, ROUNDS = 100, 1600, 2000, 100
LOOKUPS = LINES * ROUNDS
LIMIT = 0.8  # Seconds of the machine's: a right submission takes a tenth of that.
COMPARES = ("same", "strcmp", "strncmp", "memcmp")  # Whoever does it.
GROWTH = 1.5  # As long, with sixteen times as many words.

assignment = Assignment("Words", files=["words.c", "kernel.args"])


def make_text(choose: random.Random, different: int, lines: int) -> tuple[str, str]:
    """Lines of one word each, and the answer: how many different ones there are."""
    words = ["".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=choose.randint(6, 10)))
             for _ in range(different)]
    chosen = [choose.choice(words) for _ in range(lines)]
    return "".join(f"{line}\n" for line in chosen), f"{len(set(chosen))}\n"


def run(submission: Submission, text: str, rounds: int = 1,
        profiled: bool = False) -> Run:
    return submission.run(submission.build("words.c"), f"{rounds} </tmp/text",
                          put={"/tmp/text": text}, limit=LIMIT, profiled=profiled,
                          append=submission.text("kernel.args", ""))


def measured(submission: Submission, different: int = DIFFERENT) -> tuple[Profile, str]:
    """A long run's profile, and what should have been printed; it must have been."""
    text, answer = make_text(submission.random(f"measured {different}"), different, LINES)
    ran = run(submission, text, ROUNDS, profiled=True)
    ran.must_print(answer)
    return ran.profile(), answer


@assignment.test("counts the words of the README's example", points=10)
def counts(submission: Submission) -> None:
    text = "".join(f"{number}\n" for number in range(1, 1001))
    run(submission, text * 2).must_print("1000\n", tell=True)


@assignment.test("counts the words of other texts", points=30, hidden=True)
def counts_others(submission: Submission) -> None:
    def must_count(text: str, answer: str) -> None:
        run(submission, text).must_print(answer)

    choose = submission.random("others")
    word, number = make_text(choose, 1, 1)[0], choose.randint(2, 4000)
    each(("some words", lambda: must_count(*make_text(choose, choose.randint(50, 900), 3000))),
         ("nothing", lambda: must_count("", "0\n")),
         ("one word, again and again", lambda: must_count(word * number, "1\n")),
         ("no end of the last line", lambda: must_count(word * 2 + "last", "2\n")),
         ("4,096 lines", lambda: must_count(*make_text(choose, 3000, 4096))))


@assignment.test("hashes each word once", points=10)
def hashes_once(submission: Submission) -> None:
    measured(submission)[0].must_call("hash", LOOKUPS)


@assignment.test("compares few words", points=20)
def compares_few(submission: Submission) -> None:
    measured(submission)[0].must_call_at_most(COMPARES, 2 * LOOKUPS, at_least=LOOKUPS - DIFFERENT)


@assignment.test("does not spend its time on comparing", points=15)
def compares_fast(submission: Submission) -> None:
    profile, _ = measured(submission)
    profile.must_have_share("insert", "same", at_most=0.65, without=("hash",))
    profile.must_have_share("hash", at_least=0.1)


@assignment.test("takes hardly longer with sixteen times as many words", points=15)
def grows_little(submission: Submission) -> None:
    few, many = (measured(submission, different)[0].instructions()
                 for different in (DIFFERENT, MORE))
    if many > GROWTH * few:
        raise Failed(f"takes {many / few:.1f} times as many instructions, should take at most "
                     f"{GROWTH} times as many")
    check(many > LOOKUPS, "did not look up each word so often as it should")
