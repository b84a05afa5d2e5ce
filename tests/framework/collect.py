# SPDX-License-Identifier: MIT
"""The pytest plugin that shows test programs as tests.

Each test program is a pytest file; in it, each TEST of each configuration is an item, and `balance`
one more, for the run as a whole.  One run serves all items of a configuration: it happens when the
first of them is asked for and is kept.  A program has a machine of its own, for its balance would
see what other programs do at the same time; a boot takes a fraction of a second.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from framework.judge import Run, Verdict, judge_run, judge_test
from framework.program import BALANCE, Configuration, SourceError, Program, find_program
from framework.select import NIGHTLY

# Runs a program in a configuration; the names are the tests to run, none meaning all.
Runner = Callable[[Program, Configuration, tuple[str, ...]], Run]


class ProgramRuns:
    """The runs of one program, each made once."""

    def __init__(self, program: Program, runner: Runner):
        self.program = program
        self.runner = runner
        self.selected: dict[str, set[str]] = {}  # Label of a configuration to names of tests.
        self.done: dict[str, Run] = {}

    def expect(self, configuration: Configuration, test: str) -> None:
        """Notes that an item wants this test."""
        self.selected.setdefault(configuration.label, set()).add(test)

    def names(self, configuration: Configuration) -> tuple[str, ...]:
        """The tests that somebody wants, in order; all of them if only the balance is wanted."""
        wanted = self.selected.get(configuration.label, set())
        return tuple(name for name in self.program.tests if name in wanted) or self.program.tests

    def get(self, configuration: Configuration) -> Run:
        """The run in this configuration."""
        if configuration.label not in self.done:
            names = self.names(configuration)
            arguments = () if names == self.program.tests else names
            self.done[configuration.label] = self.runner(self.program, configuration, arguments)
        return self.done[configuration.label]


class TestFailed(Exception):
    """Carries the message of a failed test to pytest."""


class ProgramItem(pytest.Item):
    """One TEST of a program, or its balance, in one configuration."""

    def __init__(self, *, test: str, configuration: Configuration, runs: ProgramRuns, **rest):
        super().__init__(**rest)
        self.test = test
        self.configuration = configuration
        self.runs = runs

    def judge(self) -> Verdict:
        """The verdict on this item."""
        run = self.runs.get(self.configuration)
        if self.test == BALANCE:
            return judge_run(run, self.runs.names(self.configuration))
        return judge_test(run, self.test)

    def runtest(self) -> None:
        verdict = self.judge()
        if verdict.outcome == "skipped":
            pytest.skip(verdict.message)
        if verdict.outcome != "passed":
            raise TestFailed(verdict.message)

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, TestFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, f"{self.runs.program.area}/{self.runs.program.name}::{self.name}"


class ProgramFile(pytest.File):
    """A test program."""

    def __init__(self, *, program: Program, runner: Runner, **rest):
        super().__init__(**rest)
        self.runs = ProgramRuns(program, runner)

    def collect(self):
        program = self.runs.program
        for configuration in program.configurations:
            suffix = f"[{configuration.label}]" if len(program.configurations) > 1 else ""
            for test in (*program.tests, BALANCE):
                item = ProgramItem.from_parent(self, name=test + suffix, test=test,
                                               configuration=configuration, runs=self.runs)
                if configuration.is_nightly:
                    item.add_marker(NIGHTLY)
                yield item


class Programs:
    """Collects the programs below `tests` and runs them with the runners it was given."""

    def __init__(self, tests: Path, guest: Runner, host: Runner):
        self.tests = tests
        self.guest = guest
        self.host = host

    def pytest_collect_file(self, file_path: Path, parent):
        """Takes the sources of test programs."""
        if not file_path.is_relative_to(self.tests):
            return None
        try:
            program = find_program(file_path, self.tests)
        except SourceError as error:
            raise pytest.Collector.CollectError(f"{file_path}: {error}") from None
        if program is None:
            return None
        runner = self.host if program.is_host else self.guest
        return ProgramFile.from_parent(parent, path=file_path, program=program, runner=runner)

    def pytest_collection_finish(self, session):
        """Tells each program which of its tests are wanted, when the selection stands."""
        for item in session.items:
            if isinstance(item, ProgramItem) and item.test != BALANCE:
                item.runs.expect(item.configuration, item.test)
