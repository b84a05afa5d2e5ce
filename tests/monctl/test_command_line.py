# SPDX-License-Identifier: MIT
"""monctl's command line: what it understands, and what it says to what it does not."""

FLAVORS = "periodic zfill reactivation pagein cow any faults".split()

# Wrong command lines, and a part of what is said to each.
WRONG = {
    "": "nothing to do",
    "-frob": "-frob: no such option",
    "-pid": "a value is missing",
    "-pid x -status": "not the number of a process",
    "-pid -4 -status": "not the number of a process",
    "-status": "which process?",
    "-pid 1": "what is to be done?",
    "-pid 1 -on sometimes": "not a list of flavors",
    "-pid 1 -on periodic,": "not a list of flavors",
    "-pid 1 -on periodic -off": "-on and -off exclude each other",
    "-pid 1 -on periodic -monfile f": "extract it by a command of its own before",
    "-pid 1 -on periodic -rate 0": "from 1 to 10000 Hz",
    "-pid 1 -on periodic -rate 10001": "from 1 to 10000 Hz",
    "-pid 1 -off -rate 100": "say -on too",
    "-pid 1 -off -nmi": "say -on too",
    "-pid 1 -status -fixed": "say -on too",
    "-pid 1 -monfile f -format elf": "gnu, 4.4bsd and bsd",
    "-pid 1 -status -format gnu": "-format is that of -monfile",
    "-pid 1 -status -stack": "-stack goes with -record only",
    "-pid 1 -status -thread 3": "-thread goes with",
    "-pid 1 -status -execfile f": "-execfile goes with -proxy only",
    "-pid 1 -status -bg": "-bg goes with -proxy or -record",
    "-pid 1 -proxy -live": "exclude one another",
    "-pid 1 -proxy -off": "go with no -proxy",
    "-proxy": "which process?",
    "-for 1 -status": "-for goes with",
    "-for all -proxy": "-proxy for which process?",
    "-pid 1 -live 0": "not a number of tables",
    "-pid 1 -record f -monfile g": "-monfile does not go with",
    "-run": "a command is missing",
    "-pid 1 -run true": "-pid does not go with it",
    "-proxy -run true": "-run needs no -proxy",
    "-bg -record f -run true": "-bg does not go with -run",
}


def test_wrong_lines_are_told(cases) -> None:
    said = cases({f"{place}": f"monctl {line}" for place, line in enumerate(WRONG)})
    for place, (line, message) in enumerate(WRONG.items()):
        text, status = said[f"{place}"]
        assert (message in text, status) == (True, 2), (line, text, status)


def test_help_names_the_flavors(cases) -> None:
    said = cases({"help": "monctl -help", "usual": "monctl -pid 1 --help"})
    text, status = said["help"]
    assert said["usual"] == said["help"]
    assert status == 0
    assert [line.split()[0] for line in text.split("flavors:\n")[1].splitlines()] == FLAVORS
