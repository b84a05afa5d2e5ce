# SPDX-License-Identifier: MIT
"""How `make test` runs what it finds: test programs by framework/, Python tests by pytest.

Python tests boot machines by the fixture `machine`.
"""

from pathlib import Path

import pytest
from assay import machine as assay_machine

from framework.collect import Programs
from framework.judge import LOG_TAIL
from framework.runners import run_in_guest, run_on_host
from framework.select import install_selection, pytest_addoption  # noqa: F401  (a hook)

TESTS = Path(__file__).resolve().parent


def pytest_configure(config: pytest.Config) -> None:
    """Puts the framework's plugins in place."""
    config.pluginmanager.register(Programs(TESTS, run_in_guest, run_on_host), "programs")
    install_selection(config)


@pytest.fixture(name="machine")
def machine_fixture(request: pytest.FixtureRequest):
    """Runs a machine, as assay.machine.run does; a test that fails shows the end of its logs."""

    def run(programs, **parameters):
        result = assay_machine.run(programs, **parameters)
        log = result.log.decode(errors="replace").splitlines()[-LOG_TAIL:]
        request.node.add_report_section("call", "machine", "\n".join(log))
        return result

    return run
