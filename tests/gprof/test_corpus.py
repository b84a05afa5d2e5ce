# SPDX-License-Identifier: MIT
"""The inputs that fuzzing has kept: gprof's readers read each, and the sanitizers find nothing."""

import subprocess

from assay import ROOT


def test_corpus() -> None:
    done = subprocess.run([ROOT / "tests/gprof/fuzz/run", "--replay"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 500
