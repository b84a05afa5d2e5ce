# SPDX-License-Identifier: MIT
"""monctl's command line: what it understands, and what it says to what it does not."""

FLAVORS = "periodic zfill reactivation pagein cow any faults wait".split()

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
    "-pid 1 -status -open": "-open goes with -proxy or -run",
    "-open -record f -run true": "-open goes with -proxy or -run",
    "-pid 1 -proxy -live": "exclude one another",
    "-pid 1 -proxy -off": "go with no -proxy",
    "-proxy": "which process?",
    "-for 1 -status": "-for goes with",
    "-for nobody -live": "-for nobody: no process is called so; ps -a lists them",
    "-for job:-3 -live": "not the number of a process",
    "-for all -proxy": "-proxy for which process?",
    "-pid 1 -live 0": "not a number of tables",
    "-pid 1 -record f -monfile g": "-monfile does not go with",
    "-run": "a command is missing",
    "-pid 1 -run true": "-pid does not go with it",
    "-proxy -run true": "-run needs no -proxy",
    "-bg -record f -run true": "-bg does not go with -run",
}

# Words that are no options, and what is said to be meant.
MEANT = {
    "-h": "-help tells how it is used",
    "-b": "-on periodic",
    "--pid 7 -status": "an option has one dash: -pid\n",
    "-pid=7 -status": "the value is a word of its own: -pid 7\n",
    "--pid=7 -status": "the value is a word of its own: -pid 7\n",
    "-pid7 -status": "the value is a word of its own: -pid 7\n",
    "-off=1": "it takes no value: -off\n",
    "-statsu": "is it -status?\n",
    "-stauts": "is it -status?\n",
    "-sttus": "is it -status?\n",
    "-statuss": "is it -status?\n",
    "-o periodic": "is it -on or -off or -open?\n",
    "-monf": "is it -monfile?\n",
    "-zzz": "-zzz: no such option\n",
    "-": "-: no such option\n",
    "status": "an option begins with a dash: -status\n",
    "712 -status": "is it a process? say -pid 712\n",
    "-pid 1 -on periodic zfill,cow": "in one word: -on periodic,zfill,cow\n",
    "slowprog 10": "-run goes before it: -run slowprog\n",
    "-on periodic slowprog 10": "-run goes before it: -run slowprog\n",
    "-pid 3 -pid 4 -status": "-pid 3 and -pid 4: only one can be; a monctl for each",
    "-pid 3 -on cow -rate 5 -rate 6": "-rate 5 and -rate 6: only one can be; leave one out",
}


def test_wrong_lines_are_told(cases) -> None:
    wrong = WRONG | MEANT
    said = cases({f"{place}": f"monctl {line}" for place, line in enumerate(wrong)})
    for place, (line, message) in enumerate(wrong.items()):
        text, status = said[f"{place}"]
        assert (message in text, status) == (True, 2), (line, text, status)


def test_options_behind_the_command_are_told(cases) -> None:
    """They are the command's, as they may well be."""
    note = "is behind the command, and so an argument of echo; monctl's options go before -run"
    said = cases({
        "one": "monctl -monfile m -run echo -on periodic -rate 5",
        "none": "monctl -monfile m -run echo on -help -zzz monfile",
        "same twice": "monctl -monfile m -on zfill -on cow -rate 5 -rate 5 -run echo",
    })
    assert f"monctl: -on {note}\n" in said["one"].text and said["one"].text.count(note) == 1
    assert "-on periodic -rate 5\n" in said["one"].text and said["one"].status == 0
    assert note not in said["none"].text and "on -help -zzz monfile\n" in said["none"].text
    assert said["same twice"].status == 0, said["same twice"]


def test_no_escapes_where_no_screen_is(cases) -> None:
    """The console of commands that nobody types is none, though it is the same device."""
    tables = "monctl -live 1 -run slowprog 5; cd /; top -n 1 -d 1"
    shown = "\x1b[H\x1b[J"
    said = cases({"nobody": f"( {tables} ) >/dev/console",
                  "dumb": f"( TERM=dumb; export TERM; {tables} ) >/dev/console",
                  "piped": f"( TERM=ansi; export TERM; {tables} ) | cat",
                  "typed": f"( TERM=ansi; export TERM; {tables} ) >/dev/console"}, user="root")
    assert [text.count(shown) for text, _ in said.values()] == [0, 0, 0, 2], said
    assert all("samples" in text for text, _ in said.values()), said


def test_help_names_the_flavors(cases) -> None:
    said = cases({"help": "monctl -help", "usual": "monctl -pid 1 --help"})
    text, status = said["help"]
    assert said["usual"] == said["help"]
    assert status == 0
    assert [line.split()[0] for line in text.split("flavors:\n")[1].splitlines()] == FLAVORS
