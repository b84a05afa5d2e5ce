# SPDX-License-Identifier: MIT
"""Grades the exercise of docs/grading/kernel/README.md, a change to the scheduler."""

from pathlib import Path

from assay.grade import Assignment, Submission, check

HERE = Path(__file__).parent
MAY_CHANGE = ("kernel/thread/sched.c", "kernel/thread/turn.c", "kernel/thread/turn.h")
SOME, MOST = 0.05, 0.7
LIMIT = 3  # Seconds of the machine's.

assignment = Assignment("No starving", files=["change.patch"])


def shares(submission: Submission) -> dict[str, float]:
    """What part of their instructions each of the two executed: the emulator has counted."""
    kernel = submission.build_kernel("change.patch", MAY_CHANGE)
    program = submission.build_boot("starving.c", ours=HERE)
    milliseconds = submission.random("time").randint(800, 1200)
    run = submission.boot(f"{program} {milliseconds}", kernel=kernel, limit=LIMIT).must_end()
    executed = run.executed(program)
    counts = {name: executed[name].instructions if name in executed else 0
              for name in ("better", "worse")}
    check(sum(counts.values()) > 0, "neither thread ran")
    return {name: count / sum(counts.values()) for name, count in counts.items()}


@assignment.test("still runs", points=20)
def runs(submission: Submission) -> None:
    shares(submission)


@assignment.test("a worse thread runs", points=50)
def does_not_starve(submission: Submission) -> None:
    share = shares(submission)["worse"]
    check(share >= SOME, f"it had {share:.1%} of the CPU, should have at least {SOME:.0%}")


@assignment.test("and the better one has most", points=30)
def still_prefers(submission: Submission) -> None:
    share, other = (shares(submission)[name] for name in ("better", "worse"))
    check(share >= MOST, f"it had {share:.1%} of the CPU, should have at least {MOST:.0%}")
    check(other >= SOME, "but the worse one does not run")
