# SPDX-License-Identifier: MIT
"""What gdb's commands share: reading the kernel's lists and tables out of the machine's memory."""

from typing import Iterator

import gdb


def listed(head: gdb.Value, type_name: str, member: str) -> Iterator[gdb.Value]:
    """The objects on a list of the kernel's, which runs through their `member`."""
    kind = gdb.lookup_type(type_name)
    offset = next(field.bitpos // 8 for field in kind.fields() if field.name == member)
    link, end = head["next"], head.address
    while link != end and int(link):
        yield gdb.Value(int(link) - offset).cast(kind.pointer()).dereference()
        link = link["next"]


def tasks() -> Iterator[gdb.Value]:
    return listed(gdb.parse_and_eval("all_tasks"), "struct task", "link")


def entries_of(table: gdb.Value) -> Iterator[gdb.Value]:
    """Pointers of an array, but for those that point nowhere."""
    low, high = table.type.range()
    return (table[number] for number in range(low, high + 1) if int(table[number]))


def text(name: gdb.Value) -> str:
    return name.string(errors="replace")


def word(value: gdb.Value, prefix: str) -> str:
    """The name of an enumeration's value."""
    return str(value).removeprefix(prefix).lower()


def find_task(said: str, command: str) -> gdb.Value:
    """By its number, or by its name: the first task that has it."""
    if not said:
        raise gdb.GdbError(f"say which task: {command} TASK; `assay tasks` lists them")
    found = [task for task in tasks() if said in (str(int(task["id"])), text(task["name"]))]
    if not found:
        raise gdb.GdbError(f"there is no task {said}; `assay tasks` lists them")
    if not int(found[0]["space"]) or not int(found[0]["map"]):
        raise gdb.GdbError(f"task {said} has ended")
    return found[0]


class Look(gdb.Command):
    """What all commands have in common: they need the kernel's memory."""

    def look(self, argument: str) -> None:
        raise NotImplementedError

    def invoke(self, argument: str, _: bool) -> None:
        try:
            self.look(argument)
        except gdb.MemoryError:
            raise gdb.GdbError("there is no kernel in memory yet: first say `hbreak "
                               "kernel_main` and `continue`") from None
