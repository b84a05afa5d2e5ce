# SPDX-License-Identifier: MIT
"""assay map: what a task's memory is made of."""

import gdb
from kernel import Look, find_task, listed

RIGHTS = "rwx"  # VM_PROT_READ and so on, from bit 0 on.
FLAGS = {"pending": "copied when written", "shared": "shared", "wired": "wired"}
INHERITANCE = ("shared", "copied", "not")  # By a child: VM_INHERIT_*.


def rights(bits: gdb.Value) -> str:
    return "".join(sign if int(bits) >> bit & 1 else "-" for bit, sign in enumerate(RIGHTS))


def contents(entry: gdb.Value) -> str:
    """The object, and where its pages are."""
    if not int(entry["object"]):
        return "zeroes, untouched"
    one = entry["object"].dereference()
    words = [f"object {int(entry['object']):#x} from page {int(entry['index'])}:",
             f"{int(one['n_pages'])} of {int(one['size'])} pages here"]
    if int(one["n_swapped"]):
        words.append(f"{int(one['n_swapped'])} in swap")
    if int(one["pager"]):
        words.append("the rest at its pager")
    shadows = 0
    while int(one["shadow"]):
        shadows, one = shadows + 1, one["shadow"].dereference()
    if shadows:
        words.append(f"the rest in {shadows} behind it")
    return f"{words[0]} {', '.join(words[1:])}"


def line(entry: gdb.Value) -> str:
    attributes = entry["attributes"]
    flags = ", ".join(says for name, says in FLAGS.items() if entry[name])
    return (f"{int(entry['start']):08x}-{int(entry['end']):08x}  {rights(attributes['rights'])}  "
            f"{rights(attributes['max_rights'])}  "
            f"{INHERITANCE[int(attributes['inheritance'])]:<6}  {contents(entry)}"
            + (f" ({flags})" if flags else ""))


class Map(Look):
    """Lists what a task has mapped: assay map TASK

    TASK is a task's number or name.  The columns: addresses, what the task may do there, the most
    that it may be allowed, what a child gets, and what is mapped."""

    def __init__(self) -> None:
        super().__init__("assay map", gdb.COMMAND_DATA)

    def look(self, argument: str) -> None:
        task = find_task(argument, "assay map")
        print(f"{'addresses':<17}  may  max  child   what")
        for entry in listed(task["map"]["entries"], "struct map_entry", "link"):
            print(line(entry))
        mapped = task["map"]
        print(f"{int(mapped['size']) >> 10} KiB mapped, {int(mapped['wired']) >> 10} wired")
