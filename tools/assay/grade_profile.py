# SPDX-License-Identifier: MIT
"""What grading scripts ask of a profile: shares of samples, and exact counts.

Both are taken from outside of the program: samples by root's monctl in the same machine, calls and
instructions by the emulator (tools/hot.c).  Nothing that the program writes is read.
"""

import json
import subprocess
from pathlib import Path
from typing import Any, Iterable, Mapping, NamedTuple, Optional

from assay import OUT, ToolError, hot

SIGMAS = 4.0  # Standard errors that a share may be off: by chance, once in 15,000 times.
FEW = 30  # Samples with which nothing can be said.
FOREIGN = 0.1  # Of a program's time that others may have.
NOT_FOREIGN = ("mach_kernel", "kernel", "ux", "su", "sh", "?")
STARTERS = ("/bin/sh", "/bin/su")  # They end by executing the program.


class Failed(Exception):
    """A submission is not as it should be; the message is for who handed it in.

    With `earned` between 0 and 1 that part of the points is given all the same.
    """

    def __init__(self, message: str, earned: float = 0.0):
        super().__init__(message)
        self.earned = earned


def check(condition: object, message: str) -> None:
    if not condition:
        raise Failed(message)


def standard_error(share: float, samples: int) -> float:
    """How far a share is off in the mean, of which so many samples were taken."""
    return (share * (1 - share) / samples) ** 0.5


class Stack(NamedTuple):
    """Samples of one flavor that were in the same functions, innermost first."""

    flavor: str
    count: int
    functions: tuple[str, ...]


class Counts(NamedTuple):
    """Of a function's executions, all of them."""

    instructions: int
    calls: int


class Profile:
    """Of all that was done for a program, whoever did it."""

    def __init__(self, stacks: Iterable[Stack], executed: Mapping[str, Counts]):
        self.stacks = tuple(stacks)
        self.executed = dict(executed)

    def samples(self, *functions: str, flavor: str = "periodic", own: bool = False) -> int:
        """In these functions or what they called, or with `own` in these; without any, of all."""
        return sum(stack.count for stack in self.stacks if stack.flavor == flavor and
                   (not functions or
                    not set(functions).isdisjoint(stack.functions[:1] if own else
                                                  stack.functions)))

    def share(self, *functions: str, flavor: str = "periodic", own: bool = False) -> float:
        """Their part of all samples, between 0 and 1."""
        total = self.samples(flavor=flavor)
        return self.samples(*functions, flavor=flavor, own=own) / total if total else 0.0

    def calls(self, *functions: str) -> int:
        """How often these were called, by anybody: executions of their first instructions."""
        return sum(self.executed[name].calls for name in functions if name in self.executed)

    def instructions(self, *functions: str) -> int:
        """That these executed themselves; without any, that the program did, its library too."""
        return sum(self.executed[name].instructions for name in functions or self.executed
                   if name in self.executed)

    # ---- What may be asked of it; each raises Failed ----

    def must_have_share(self, *functions: str, at_least: float = 0.0, at_most: float = 1.0,
                        without: tuple[str, ...] = (), own: bool = False, sigmas: float = SIGMAS,
                        flavor: str = "periodic") -> None:
        """The true share is in these bounds, as far as so many samples can tell.

        It is of what they called, too, but for what was called `without`.
        """
        total = self.samples(flavor=flavor)
        check(total >= FEW, f"only {total} samples were taken: the program ended too soon")
        within = set(functions)
        found = sum(stack.count for stack in self.stacks if stack.flavor == flavor and
                    within & set(stack.functions[:1] if own else stack.functions) and
                    not set(without) & set(stack.functions))
        share = found / total
        name = " and ".join(functions) + (f" without {' and '.join(without)}" if without else "")
        for bound, is_wrong, word in ((at_least, share < at_least, "at least"),
                                      (at_most, share > at_most, "at most")):
            tolerance = sigmas * standard_error(bound, total)
            check(not is_wrong or abs(share - bound) <= tolerance,
                  f"{name}: {share:.1%} of {total} samples, should be {word} {bound:.1%}"
                  f" (within {tolerance:.1%}, for chance)")

    def must_call(self, function: str, times: int, within: int = 0) -> None:
        """Calls are counted, not sampled: they can be asked for exactly."""
        calls = self.calls(function)
        check(abs(calls - times) <= within,
              f"{function} was called {calls} times, should be {times}"
              + (f" (within {within})" if within else ""))

    def must_call_at_most(self, functions: str | Iterable[str], times: int,
                          at_least: int = 0) -> None:
        """One function, or several together."""
        names = (functions,) if isinstance(functions, str) else tuple(functions)
        called = [name for name in names if self.calls(name)] or names[:1]
        calls = self.calls(*names)
        were = "was" if len(called) == 1 else "were"
        verb = f"{' and '.join(called)} {were} called {calls} times"
        check(calls <= times, f"{verb}, should be at most {times}")
        check(calls >= at_least, f"{verb}, should be at least {at_least}")


# ---------------- From what a run left ----------------

def view(gprof: Path, program: Path, recording: Path) -> dict[str, Any]:
    """What gprof says of a recording."""
    done = subprocess.run([gprof, "--view=json", "--any-date", program, recording], text=True,
                          capture_output=True, errors="replace", check=False)
    if done.returncode:
        raise ToolError(f"gprof cannot read a profile that root took: {done.stderr.strip()}")
    return json.loads(done.stdout)


def read_stacks(document: Mapping[str, Any], program: str) -> list[Stack]:
    """The samples since the program was there, which must be all that were delivered of them."""
    functions, flavors = document["functions"], document["flavors"]
    own = next((number for number, function in enumerate(functions)
                if function["object"] == program), None)
    check(own is not None, "was never seen to run: it ended too soon")
    stacks, foreign, taken = [], 0, 0
    for stack in document["stacks"]:
        taken += stack["count"]
        whose = functions[stack["functions"][0]]["object"]
        if whose in STARTERS:
            continue
        name = flavors[stack["flavor"]]["name"]
        if whose != program and whose.startswith(("/bin/", "/home/", "/tmp/", "/sbin/")):
            foreign += stack["count"]
        stacks.append(Stack(name, stack["count"], tuple(functions[number]["name"]
                                                        for number in stack["functions"])))
    counts = document["counts"]
    check("delivered" in counts and not counts.get("lost") and
          taken + counts["others"] == counts["delivered"],
          "its profile is not whole: did it fill the disk?")
    total = sum(stack.count for stack in stacks)
    check(foreign <= max(FEW, FOREIGN * total), "has its work done by another program")
    return stacks


def read_counts(path: Path, program: Path, kernel: Path) -> dict[str, Counts]:
    """What of the program was executed, by the emulator's account.

    A page of code is known by its bytes, so that a copy under another name is the program too.
    """
    image = hot.Image("kernel", kernel, is_kernel=True)
    counts = hot.read_counts(path)
    ours = [hot.Image(program.name, program), *hot.unix_images()]
    lines = hot.lines_of({number: each.count for number, each in enumerate(counts.instructions)},
                         hot.places(counts, image, ours))
    return {line.function: Counts(line.instructions, line.calls) for line in lines
            if line.image == program.name}


def gprof_program() -> Path:
    return OUT / "bin" / "gprof"
