# SPDX-License-Identifier: MIT
"""An answer to an exercise of docs/debugging.md: `source` it in gdb, after `make gdb`.

    assay queues    lists the run queues by priority
"""

from typing import Iterator

import gdb

PRIORITIES = 64


def thread_at(link: gdb.Value) -> gdb.Value:
    """The thread that hangs on a queue or in a group by this link."""
    offset = next(field.bitpos // 8 for field in gdb.lookup_type("struct thread").fields()
                  if field.name == "run_link")
    kind = gdb.lookup_type("struct thread").pointer()
    return gdb.Value(int(link) - offset).cast(kind).dereference()


def threads_of(link: gdb.Value, priority: int) -> Iterator[gdb.Value]:
    """The thread that waits in a queue by this link, or those of the group that does."""
    share = link.cast(gdb.lookup_type("struct run_entry").pointer())["group_of"]
    if not share:
        yield thread_at(link)
        return
    head = share["groups"][priority]["threads"]
    member = head["next"]
    while member != head.address:
        yield thread_at(member)
        member = member["next"]


def queued(queue: gdb.Value) -> Iterator[gdb.Value]:
    """Threads of a run queue, the best first, those of one priority in the order of their turns."""
    for priority in range(PRIORITIES):
        head = queue["lists"][priority]
        link = head["next"]
        while link != head.address:
            yield from threads_of(link, priority)
            link = link["next"]


class Queues(gdb.Command):
    """Lists the run queues by priority: assay queues"""

    def __init__(self) -> None:
        super().__init__("assay queues", gdb.COMMAND_DATA)

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        self.show("common", gdb.parse_and_eval("sched_common"))
        for number in range(int(gdb.parse_and_eval("n_cpus"))):
            self.show(f"CPU {number}", gdb.parse_and_eval(f"cpus[{number}].bound"))

    def show(self, name: str, queue: gdb.Value) -> None:
        threads = list(queued(queue))
        print(f"{name}: {len(threads)}")
        for thread in threads:
            task = thread["task"]["name"].string() if int(thread["task"]) else "-"
            print(f"  {int(thread['priority']):>3}  {int(thread['id']):>4}  {task}")


Queues()
