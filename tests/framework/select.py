# SPDX-License-Identifier: MIT
"""The pytest plugins that choose tests: `make test T=name` picks them by their own, program or area
name, and `make nightly` those with the marker `nightly`, which nobody else runs."""

from pathlib import PurePath

import pytest

from framework.program import BALANCE

NIGHTLY = "nightly"


def names_of(nodeid: str) -> set[str]:
    """Every name by which one may ask for the test `AREA/FILE::TEST[PARAMETERS]`.

    Those are AREA, NAME, AREA/NAME, TEST, TEST[PARAMETERS], NAME::TEST and the nodeid itself, where
    NAME is FILE without its suffix, and also without test_ in front.
    """
    path, _, rest = nodeid.partition("::")
    file = PurePath(path)
    test = rest.rpartition("::")[2]
    plain = test.partition("[")[0]
    programs = {file.stem, file.stem.removeprefix("test_")}
    names = {nodeid, path, rest, test, plain, plain.removeprefix("test_"), *programs}
    names |= {str(parent) for parent in file.parents if parent.name}
    names |= {f"{parent}/{program}" for parent in file.parents for program in programs
              if parent.name}
    names |= {f"{program}::{part}" for program in programs for part in (test, plain)}
    return names


def run_of(item: pytest.Item) -> tuple[str, str]:
    """What a test shares with the others of the same program and configuration."""
    return item.parent.nodeid, item.name.partition("[")[2]


class Selection:
    """Keeps the tests that were asked for.

    A program's balance comes with any of its tests: it is the part of the verdict that says whether
    the run can be believed.
    """

    def __init__(self, wanted: list[str]):
        self.wanted = wanted

    def asks_for(self, item: pytest.Item) -> bool:
        """True if one of the wanted names is a name of this test."""
        return not names_of(item.nodeid).isdisjoint(self.wanted)

    def pytest_collection_modifyitems(self, config, items):
        """Drops what was not asked for; a name that nothing bears is an error, not an empty run."""
        for name in self.wanted:
            if not any(name in names_of(item.nodeid) for item in items):
                raise pytest.UsageError(f"no test, program or area is called {name}")
        runs = {run_of(item) for item in items if self.asks_for(item)}
        kept, dropped = [], []
        for item in items:
            is_balance = item.name.partition("[")[0] == BALANCE
            is_wanted = self.asks_for(item) or (is_balance and run_of(item) in runs)
            (kept if is_wanted else dropped).append(item)
        items[:] = kept
        config.hook.pytest_deselected(items=dropped)


class Night:
    """Keeps the tests for the night, or the others."""

    def __init__(self, nightly: bool):
        self.nightly = nightly

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        """After the names were looked at: of what was asked for something must be left."""
        kept = [item for item in items
                if (item.get_closest_marker(NIGHTLY) is not None) == self.nightly]
        if items and not kept:
            raise pytest.UsageError("there is nothing of that name for the night" if self.nightly
                                    else "that runs at night: `make nightly T=...`")
        dropped = set(items) - set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item in dropped])
        items[:] = kept


def pytest_addoption(parser):
    """Makes the options known; conftest.py takes this hook over."""
    parser.addoption("--only", action="append", default=[], metavar="NAME",
                     help="run the tests, programs or areas of this name")
    parser.addoption("--nightly", action="store_true",
                     help=f"run the tests that are marked `{NIGHTLY}`, and no others")


def install_selection(config: pytest.Config) -> None:
    """Selects tests by the options."""
    config.addinivalue_line("markers", f"{NIGHTLY}: takes minutes, and runs in `make nightly` only")
    config.pluginmanager.register(Night(config.getoption("--nightly")), "night")
    if config.getoption("--only"):
        config.pluginmanager.register(Selection(config.getoption("--only")), "selection")
