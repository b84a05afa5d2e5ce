# SPDX-License-Identifier: MIT
"""What the Unix server does later is done for whom it is.

The emulator's plugin says on whose behalf each function was entered: the kernel's by which a RAM
disk is written, which stands for all that a request to a disk is, and those of the server's by
which a signal is sent and delivered.
"""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import OUT, hot
from assay.files import Files, Put
from assay.machine import find_kernel

SOURCE = Path(__file__).resolve().parent / "programs" / "later.c"
TIMES = 5
PAGEOUTS = 256


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("later") / "later"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
                    SOURCE], check=True)
    return program


class Done:
    """What was done between the markers, and for whom."""

    def __init__(self, unix_machine, folder: Path, program: Path, mode: str, cpus: int,
                 server: str = "ux", **machine):
        self.images = {"kernel": hot.Image("kernel", find_kernel(None), is_kernel=True),
                       "ux": hot.Image("ux", OUT / "servers" / "ux")}
        run = unix_machine(f"/tmp/later {mode}", user="root", cpus=cpus, **machine,
                           files=Files(put=(Put(program, "/tmp/later"),)),
                           plugin=hot.plugin_option(folder / "counts", self.images["kernel"],
                                                    marked=True, by=("label", "task")))
        assert (run.outcome, run.status) == ("exit", 0), run.output
        labels = dict(re.findall(r"^(parent|child) (\d+)$", run.output.decode(), re.M))
        self.counts = hot.read_counts(folder / "counts")
        self.who = {0: "system"} | {int(label): name for name, label in labels.items()}
        self.server = next(task for task, name in self.counts.names.items() if name == server)

    def calls(self, image: str, function: str, anywhere: bool = False) -> Counter:
        """How often the server had this done, or did it, by whom that was for."""
        start = self.images[image].function(function).start
        found: Counter = Counter()
        for who, executed in self.counts.by.items():
            if anywhere or who.task == self.server:
                name = self.who.get(who.label, "itself" if who.label == self.server else "others")
                found[name] += sum(count for n, count in executed.items()
                                   if self.counts.instructions[n].address == start)
        return +found


@pytest.mark.parametrize("cpus", (1, 2))
def test_what_is_written_back_is_for_who_wrote_it(unix_machine, tmp_path, program, cpus) -> None:
    """And for nobody else.  A request has 64 blocks, so that the child's 120 need two at least."""
    done = Done(unix_machine, tmp_path, program, "stay", cpus)
    written = done.calls("kernel", "ramdisk_write")
    assert set(written) == {"child", "parent"} and written["child"] >= 2, written
    assert done.calls("ux", "block_device_write") == written


def test_of_who_is_gone_nothing_is_told(unix_machine, tmp_path, program) -> None:
    written = Done(unix_machine, tmp_path, program, "go", 1).calls("kernel", "ramdisk_write")
    assert set(written) == {"itself"}, written


def test_who_asks_for_it_has_it_done(unix_machine, tmp_path, program) -> None:
    written = Done(unix_machine, tmp_path, program, "sync", 1).calls("kernel", "ramdisk_write")
    assert set(written) == {"parent"}, written


def test_a_timer_is_whose_it_is(unix_machine, tmp_path, program) -> None:
    """What the server does for itself is to tell of the child's end, and to wait again."""
    done = Done(unix_machine, tmp_path, program, "timer", 1)
    assert done.calls("ux", "signal_process") == {"child": TIMES, "itself": 1}
    assert done.calls("ux", "signal_deliver") == {"child": TIMES}
    for function in ("ux_sleep", "ux_sleep_until"):
        waits = done.calls("ux", function)
        assert waits["child"] == 0 and waits["itself"] >= TIMES, (function, waits)


def test_a_kernel_s_timer_is_for_who_waits(unix_machine, tmp_path, program) -> None:
    """And not for the one who is interrupted: that is its parent, or who serves that."""
    done = Done(unix_machine, tmp_path, program, "nap", 1)
    woken = done.calls("kernel", "sched_make_runnable", anywhere=True)
    assert woken["child"] >= TIMES, woken


def test_a_page_is_put_away_for_who_has_it(unix_machine, tmp_path, program) -> None:
    """Not for the one who needs the memory, nor for the system, which finds the page."""
    done = Done(unix_machine, tmp_path, program, "swap", 1, server="pager", mem=96)
    written = done.calls("kernel", "ramdisk_write")
    assert written["child"] >= PAGEOUTS / 2 and written["system"] == 0, written


def test_a_signal_is_sent_and_taken(unix_machine, tmp_path, program) -> None:
    """It is sent for one, and delivered for the other."""
    done = Done(unix_machine, tmp_path, program, "kill", 1)
    assert done.calls("ux", "signal_process") == {"parent": TIMES, "itself": 1}
    assert done.calls("ux", "signal_deliver") == {"child": TIMES}
