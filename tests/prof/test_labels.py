# SPDX-License-Identifier: MIT
"""Who sets labels: the sources are read for it.

A label says on whose behalf a thread runs.  It follows messages, so the code that passes messages
on sets it, and the trap by which a server says whose work it takes up; nobody else.
"""

import re
from pathlib import Path

KERNEL = Path(__file__).resolve().parents[2] / "kernel"
ASSIGNMENT = re.compile(r"(\w+(?:\(\))?)(?:->|\.)label\s*=[^=]|"
                        r"^\s+machine_label_(?:set|back)\((\w+(?:\(\))?),", re.MULTILINE)
OF_THREADS = {"thread", "current_thread()", "receiver", "sender", "server", "to", "next", "self"}

# Outside of kernel/ipc: a new thread works for its task; thread_serve; what a request has waited
# for at a device, which interrupt_work() does on behalf of who made it; an interrupt, which is for
# whom its driver says; the end of a wait in time, for who waits; and a page that is put away, for
# who had the memory.
ALLOWED = {("thread/thread.c", "thread"), ("task/label.c", "current_thread()"),
           ("device/device_request.c", "thread"), ("device/interrupt.c", "thread"),
           ("thread/thread.c", "self"), ("vm/pager/pageout.c", "self")}


def assignments(kernel: Path = KERNEL) -> set[tuple[str, str]]:
    """File and what is assigned to, for each label in the kernel that is."""
    found = set()
    for source in sorted(kernel.rglob("*.[ch]")):
        place = str(source.relative_to(kernel))
        found |= {(place, assigned or set_to) for assigned, set_to in
                  ASSIGNMENT.findall(source.read_text())}
    return found


def test_nobody_else_sets_the_label_of_a_thread() -> None:
    others = {(place, name) for place, name in assignments() if not place.startswith("ipc/")}
    assert {pair for pair in others if pair[1] in OF_THREADS} == ALLOWED
    # What else has a label is a message, a request, a sample or an object, which take over a
    # thread's, and a device's interrupt, which takes over a request's.
    assert {name for _, name in others} - OF_THREADS <= {
        "message", "request", "sample", "stream", "slot", "interrupt", "input",
        "object"}


def test_it_is_set_where_messages_are_received() -> None:
    places = {place for place, name in assignments() if name in OF_THREADS}
    assert {"ipc/fast_path.c", "ipc/message_copyout.c"} <= places


def test_it_is_seen_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "vm").mkdir()
    (tmp_path / "vm" / "fault.c").write_text(
        "\tcurrent_thread()->label = 0;\n\tif (a->label == 1)\n\tmachine_label_set(to, 1);\n")
    assert assignments(tmp_path) == {("vm/fault.c", "current_thread()"), ("vm/fault.c", "to")}


def test_who_runs_is_told_of_it() -> None:
    """A plain assignment to the running thread's would be missed by calls counted by label."""
    plain = re.compile(r"^\s+(?:thread|self|current_thread\(\))->label\s*=[^=]", re.MULTILINE)
    found = {str(source.relative_to(KERNEL)) for source in KERNEL.rglob("*.[ch]")
             if plain.search(source.read_text())}
    # A new one, which does not run yet; and in an event, which stays whose it is up to its end.
    assert found == {"thread/thread.c", "device/interrupt.c"}
