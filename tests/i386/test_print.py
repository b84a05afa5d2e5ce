# SPDX-License-Identifier: MIT
"""mach_print given addresses that are not the program's: no byte of the kernel gets out."""

PAGE = 4096


def test_wild_strings(machine):
    """The output is what print_wild.c says, and nothing else."""
    result = machine(["i386/print_wild"])
    before, _, rest = result.output.partition(b"ok nothing_between\n")
    assert result.outcome == "exit"
    assert before == b"<\n>\n"
    printed, _, end = rest.partition(b"\n")
    assert set(printed) <= {ord("+")} and len(printed) <= PAGE
    assert end == b"ok only_ours\ndone 2 0\n"
