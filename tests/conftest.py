# SPDX-License-Identifier: MIT
"""How `make test` runs what it finds: test programs by framework/, Python tests by pytest.

Python tests boot machines by the fixtures `machine` and `unix_machine`.
"""

import signal
from pathlib import Path

import pytest
from assay import machine as assay_machine
from assay import unix

from framework.collect import Programs
from framework.judge import LOG_TAIL
from framework.runners import run_in_guest, run_on_host
from framework.select import install_selection, pytest_addoption  # noqa: F401  (a hook)

TESTS = Path(__file__).resolve().parent


def pytest_configure(config: pytest.Config) -> None:
    """Puts the framework's plugins in place.

    A shell starts what is in the background with SIGINT ignored, and programs under test would
    inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(Programs(TESTS, run_in_guest, run_on_host), "programs")
    install_selection(config)


def with_log(request: pytest.FixtureRequest, run):
    """Runs a machine, as `run` does; a test that fails shows the end of its logs."""

    def run_and_keep(*arguments, **parameters):
        result = run(*arguments, **parameters)
        log = result.log.decode(errors="replace").splitlines()[-LOG_TAIL:]
        request.node.add_report_section("call", "machine", "\n".join(log))
        return result

    return run_and_keep


@pytest.fixture(name="machine")
def machine_fixture(request: pytest.FixtureRequest):
    """A machine that runs boot programs."""
    return with_log(request, assay_machine.run)


@pytest.fixture(name="unix_machine")
def unix_machine_fixture(request: pytest.FixtureRequest):
    """A machine that runs shell commands under the Unix server."""
    return with_log(request, unix.run)
