# SPDX-License-Identifier: MIT
"""assay ports: a task's names, what rights it has by each, and to what."""

from typing import Iterator

import gdb
from kernel import Look, entries_of, find_task, tasks, text, word

# The values of mach_port_type_t are macros, which gdb does not know.
RIGHTS = {1 << 16: "send", 1 << 17: "receive", 1 << 18: "send-once", 1 << 19: "set",
          1 << 20: "dead"}
PORT_RIGHTS = 7 << 16
PORT_SET = 1 << 19
LEAF_ENTRIES = 32
LEVELS = 2  # Of nodes, between a space's far names and the last nodes, which hold leaves.


def leaves_below(node: gdb.Value, levels: int) -> Iterator[gdb.Value]:
    """The leaves on a node and on the nodes below it, by name."""
    members = node["nodes"] if levels else node["leaves"]
    for member in entries_of(members):
        if levels:
            yield from leaves_below(member.dereference(), levels - 1)
        else:
            yield member.dereference()


def entries(space: gdb.Value) -> Iterator[gdb.Value]:
    """Those in use."""
    leaves = []
    for number in range(int(space["near_end"]) // LEAF_ENTRIES):  # Beyond it nothing is set up.
        leaves += [leaf.dereference() for leaf in [space["near"]["leaves"][number]] if int(leaf)]
    for node in entries_of(space["far"]):
        leaves += leaves_below(node.dereference(), LEVELS)
    for leaf in leaves:
        low, high = leaf["entries"].type.range()
        yield from (entry for number in range(low, high + 1)
                    if int((entry := leaf["entries"][number])["type"]))


def holder(port: gdb.Value) -> str:
    """Who receives there."""
    for task in tasks():
        if int(task["space"]) == int(port["receiver"]):
            return f"{text(task['name'])}'s {int(port['name']):#x}"
    return "a task's that has ended"


def thing(port: gdb.Value) -> str:
    """What a port of the kernel stands for."""
    kind = word(port["kind"], "OBJECT_")
    kinds = {"task": "struct task", "thread": "struct thread", "device": "struct device"}
    if kind not in kinds:
        return "the kernel's" if kind == "none" else kind.replace("_", " ")
    thing = port["object"].cast(gdb.lookup_type(kinds[kind]).pointer()).dereference()
    if kind == "thread":
        return f"thread {int(thing['id'])}"
    return f"{kind} {text(thing['name'])}"


def described(port: gdb.Value) -> str:
    state = word(port["state"], "PORT_")
    if state == "held":
        return f"{holder(port)}, {int(port['n_messages'])} of {int(port['limit'])} messages"
    return {"moving": "in a message", "dead": "dead"}.get(state) or thing(port)


def line(entry: gdb.Value) -> str:
    kind = int(entry["type"])
    rights = " ".join(name for bit, name in RIGHTS.items() if kind & bit)
    if kind & PORT_RIGHTS:
        what = described(entry["port"].dereference())
    else:
        what = f"{int(entry['set']['n_members'])} members" if kind & PORT_SET else ""
    return f"{int(entry['name']):#10x}  {rights:<14}  {int(entry['refs']):>5}  {what}".rstrip()


class Ports(Look):
    """Lists a task's rights, and the queues of its ports: assay ports TASK

    TASK is a task's number or name.  The last column says what the right is to: something of the
    kernel's, or a port of that task, by the name that it has there."""

    def __init__(self) -> None:
        super().__init__("assay ports", gdb.COMMAND_DATA)

    def look(self, argument: str) -> None:
        task = find_task(argument, "assay ports")
        print(f"{'name':>10}  {'rights':<14}  {'users':>5}  to")
        for entry in entries(task["space"].dereference()):
            print(line(entry))
