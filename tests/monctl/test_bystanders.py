# SPDX-License-Identifier: MIT
"""What a server needs for itself is not charged to whoever it happens to serve."""

from collections import Counter
from pathlib import Path

from assay.files import Files, Get

from monctl import perf_data

LIMIT = 60
WAITING = 30  # Programs for which a thread of the server waits, each of which it has to make.
PAGES = 12  # Of such a thread's stack.


def test_threads_of_the_server_are_its_own(unix_machine, tmp_path: Path) -> None:
    """Their stacks are zeroed for the server, not for those that wait for a pipe."""
    result = unix_machine(
        "cd; monctl -for all -on zfill -record all & M=$!; monctl -help >/dev/null; n=0; "
        f"while [ $n -lt {WAITING} ]; do sleep 1 | cat & n=$((n + 1)); done; sleep 1; "
        "kill $M; wait $M",
        user="root", limit=LIMIT, files=Files(get=(Get("/root/all", tmp_path / "all"),)))
    assert (result.outcome, result.status) == ("exit", 0), result.log
    recording = perf_data.read((tmp_path / "all").read_bytes())
    labels = Counter(recording.labels[sample.label].partition(":")[2]
                     for sample in recording.samples
                     if recording.commands[sample.pid, sample.tid] == "ux")
    assert labels["ux"] >= PAGES * (WAITING - 5), labels
    assert labels["cat"] < PAGES * 5, labels
