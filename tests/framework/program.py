# SPDX-License-Identifier: MIT
"""Test programs as their sources describe them.

A test program is tests/AREA/NAME.c, built for the guest as OUT/tests/AREA/NAME, or
tests/AREA/host/NAME.c, built for the host as OUT/host/AREA/NAME.  Its tests are the names in its
TEST(...) lines.  A line of its comments that reads

    machine: cpus=2 seed=7 append="crash=null"

gives the machine that it wants, by the parameters of assay.machine.run (ns=8 being one whose
instructions take 8 ns under the instruction clock), and with arguments="..."
what the program is called with besides names of tests; disk=4 gives it a virtio disk of 4 MiB of
zeroes, which is its own; module="NAME ARGS", as often as wanted, adds boot modules before the
program; when=nightly leaves it to the night.  A line that ends with a backslash goes on in the
next.  Each such line is one configuration, in which all of the program's tests run.  Without one
there is one configuration, the usual machine.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

TEST_LINE = re.compile(r"^TEST\((\w+)\)", re.MULTILINE)
MACHINE_LINE = re.compile(r"^\s*/?\*\s*machine:((?:.*\\\n)*.*?)(?:\*/)?\s*$", re.MULTILINE)
NEXT_LINE = re.compile(r"\\\n\s*\*")

# The name of the test that judges a program's run as a whole; no TEST may bear it.
BALANCE = "balance"

# Folders of tests/ that hold no test programs.
NOT_AREAS = {"lib", "framework"}


class SourceError(Exception):
    """A source that nobody can obey."""


def boolean(text: str) -> bool:
    """Reads yes or no; anything else is a mistake of the author."""
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text == "yes"


def night(text: str) -> bool:
    """Whether it is for the night: the only word there is."""
    if text != "nightly":
        raise ValueError("the only time that has a name is nightly")
    return True


# What a machine line may set, and how to read it.
PARAMETERS = {
    "cpus": int,
    "mem": int,
    "seed": int,
    "limit": int,
    "ns": int,
    "icount": boolean,
    "disk": int,
    "append": str,
    "machine": str,
    "arguments": str,
    "module": str,
    "when": night,
}


@dataclass(frozen=True)
class Configuration:
    """One machine that a program runs on: its text in the source, and the parameters in it."""

    label: str
    parameters: dict
    arguments: str = ""
    modules: tuple[str, ...] = ()
    is_nightly: bool = False

    def __hash__(self) -> int:
        return hash(self.label)


@dataclass(frozen=True)
class Program:
    """One test program."""

    area: str
    name: str
    is_host: bool
    tests: tuple[str, ...]
    configurations: tuple[Configuration, ...]

    @property
    def built(self) -> str:
        """Where the Makefile leaves it, below its output folder."""
        return f"{'host' if self.is_host else 'tests'}/{self.area}/{self.name}"


def read_configuration(text: str) -> Configuration:
    """Turns what follows `machine:` into parameters."""
    parameters = {}
    modules = []
    for word in shlex.split(text):
        key, equals, value = word.partition("=")
        if not equals or key not in PARAMETERS:
            raise SourceError(f"machine: {word!r} is not one of {', '.join(PARAMETERS)}=VALUE")
        try:
            parameters[key] = PARAMETERS[key](value)
        except ValueError as error:
            raise SourceError(f"machine: {word!r}: {error}") from None
        modules += [parameters.pop("module")] if key == "module" else []
    arguments = parameters.pop("arguments", "")
    is_nightly = parameters.pop("when", False)
    label = ",".join(word for word in shlex.split(text) if not word.startswith("when="))
    return Configuration(label, parameters, arguments, tuple(modules), is_nightly)


def read_configurations(source: str) -> tuple[Configuration, ...]:
    """All configurations of a program, in their order; the usual machine if it names none."""
    found = tuple(read_configuration(NEXT_LINE.sub("", text).strip())
                  for text in MACHINE_LINE.findall(source))
    if len(set(found)) != len(found):
        raise SourceError("machine: the same configuration twice")
    return found or (Configuration("", {}),)


def find_program(path: Path, tests: Path) -> Program | None:
    """The program whose source is `path`, or None if that is not the source of a test program.

    A program in an area without a TEST line is material for the Python tests beside it.
    """
    parts = path.relative_to(tests).parts
    is_host = len(parts) == 3 and parts[1] == "host"
    if path.suffix != ".c" or parts[0] in NOT_AREAS or not (len(parts) == 2 or is_host):
        return None
    source = path.read_text()
    names = tuple(TEST_LINE.findall(source))
    if not names:
        return None
    if len(set(names) | {BALANCE}) != len(names) + 1:
        raise SourceError(f"two tests of the same name, or one called {BALANCE}")
    return Program(parts[0], path.stem, is_host, names, read_configurations(source))
