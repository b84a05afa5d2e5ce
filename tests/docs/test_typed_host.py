# SPDX-License-Identifier: MIT
"""What the book shows of the host's shell, typed at a terminal: that it does what it is for.

README.md's commands are test_docs.py's, the tour's are test_tour.py's, and those of pages that are
read as a session, with all that is printed, test_transcripts.py's.  What goes into a machine that
runs, or comes out of it, is tried by tests/tools/test_live.py.
"""

import re
from pathlib import Path

import pytest
from assay import OUT, ROOT
from framework.room import Room

from docs import book
from docs.test_transcripts import PAGES as TRANSCRIPTS
from docs.test_transcripts import unlike

ELSEWHERE = {"README.md", "docs/tour.md", *(f"docs/{page}" for page in TRANSCRIPTS)}

# A page's files.
WORDS = "docs/grading/submissions/right/words.c"
PREPARED = {
    "docs/commands/gprof.md":
        "tools/guest run --icount --get /tmp/file:. -- "
        "'monctl -record /tmp/file -run slowprog 20' 2>/dev/null",
    "docs/grading/README.md": f"cp {WORDS} .",
    "docs/tools/guest.md": "echo a note >notes",
}
# Shorter than in the book.
SHORTER = {"seq 1 100": "seq 1 2", "rounds=100": "rounds=5", "sleep 100": "sleep 0.1",
           "--timeout 2 --append crash": "--timeout 0.1 --append crash"}
STATUS = {"crash=null": 125, "crash=hang-off": 124}
COMPARED = {"docs/debugging.md"}  # What these show is what is printed, but for addresses.

EXCEPTIONS = {
    r"make (test|SAN=1|FAST=1)": "the tests run beside this one, and test_build.py builds these",
    r"make (qemu|gdb)(?!-)": "tests/docs/test_typed.py, tests/tools/test_live.py and "
                            "tests/tools/test_debugger.py sit at these; with FAST=1 the kernel "
                            "alone is another, which test_build.py boots",
    r"make qemu-gdb": "tests/tools/test_debugger.py has a gdb beside it, with the words behind it",
    r"make profile-view": "tests/gprof/test_profile_view.py looks at the page that it shows in a "
                         "browser",
    r"make perf": "tests/gprof/test_guest_views.py, where somebody has run `./setup viewers`",
    r"(go tool|google-)": "the same, in tests/gprof/test_views.py",
    r"tools/guest get": "tests/tools/test_live.py has a machine that runs",
    r"tools/grade": "tests/grade tries the example, with all that was handed in",
    r"tools/guest --icount$": "is no command but its name",
}


def reason(command: str) -> str:
    return next((why for start, why in EXCEPTIONS.items() if re.match(start, command)), "")


# Commands of which the book leaves something open: what is typed for them,
FILLED = {
    "tools/guest run --append '...'": "tools/guest run --append verbose -- true",
    "tools/guest run --timeout S": "tools/guest run --timeout 100 -- true",
    "tools/guest run --seed N": "tools/guest run --icount --seed 7 -- true",
    "tools/guest run --icount --cpus N": "tools/guest run --icount --cpus 2 -- true",
    "tools/guest run --disk FILE":
        "truncate -s 1M disk && tools/guest run --disk disk -- 'ls /dev'",
    "tools/guest run --ux FILE": "tools/guest run --ux ux-none -- true",
    "tools/guest boot --icount --append 'pool=48 ramdisk=1' -- "
    "'ipc/fuzz calls=1 seed=S first=B ${host-port} ${device-port}'":
        "tools/guest boot --icount --append 'pool=48 ramdisk=1' -- "
        "'ipc/fuzz calls=1 seed=1 first=0 ${host-port} ${device-port}'",
    "out/bin/kdump --view=chrome --samples=file --programs=FOLDER >timeline.json":
        "tools/guest run --icount --get /tmp/file:. --get /tmp/ktrace.out:. -- 'cd /tmp; monctl "
        "-children -stack -record file -run ktrace -t +w slowprog 20' 2>/dev/null && "
        "mkdir folder && ln -s $PWD/out/user folder/bin && "
        "out/bin/kdump --view=chrome --samples=file --programs=folder >timeline.json && "
        "python3 -m json.tool timeline.json >/dev/null",
}
# or why nothing is.
OPEN = {
    r"make qemu KERNEL_ARGS": "tests/tools/test_debugger.py, with qemu-gdb",
    r"make hot T=NAME$": "README.md has it with a name",
    r"make test FAST=1": "the tests run beside this one",
    r"tools/grade .*\b(FOLDER|CLASS)\b": "tests/grade tries each of the examples",
    r"for f in irq nmi": "is whole: test_transcripts.py runs it",
    r"make fuzz": "goes on for minutes: `make nightly` runs it (tests/tools/test_night.py)",
    r"tools/guest --seed N$": "is no command but its name",
    r"out/bin/gprof --view=NAME": "tests/gprof/test_views.py makes each view",
    r"make perf": "tests/gprof/test_guest_views.py, where perf is installed",
}

EXAMPLES = [one for one in book.examples() if one.who == "host" and one.page not in ELSEWHERE]
TRIED = [one for one in EXAMPLES if not reason(one.command)]


def shorter(command: str) -> str:
    for long, short in SHORTER.items():
        command = command.replace(long, short)
    lines = (line for line in command.split("\n") if not reason(line))
    return "\n".join(lines)


def strange(one: book.Example, printed: str) -> str:
    shown = [line for line in one.shown if line.strip()]
    return unlike(shown, printed.splitlines()) if shown and one.page in COMPARED else ""


@pytest.mark.skipif(OUT.name != "out", reason="what is typed names the stock build's folder")
@pytest.mark.parametrize("page", dict.fromkeys(one.page for one in TRIED))
def test_examples(tmp_path: Path, page: str) -> None:
    room = Room(tmp_path / "room")
    assert room.run(PREPARED.get(page, "true")).returncode == 0
    for one in TRIED:
        if one.page == page:
            status, said = room.type(shorter(one.command))
            wanted = next((status for word, status in STATUS.items() if word in one.command), 0)
            assert status == wanted, f"{one.command}\n{said}"
            assert not re.search(r"seed \d+: status", said), said
            assert not strange(one, said), said


def test_every_exception_is_needed() -> None:
    for start in EXCEPTIONS:
        assert any(re.match(start, one.command) for one in EXAMPLES), start


def test_every_gap_is_filled_or_has_its_reason() -> None:
    gaps = [one.command for one in book.with_gaps()]
    assert not [one for one in gaps if one not in FILLED and
                not any(re.match(start, one) for start in OPEN)]
    assert not [one for one in FILLED if one not in gaps]
    assert not [start for start in OPEN if not any(re.match(start, one) for one in gaps)]


@pytest.mark.skipif(OUT.name != "out", reason="what is typed names the stock build's folder")
@pytest.mark.parametrize("command", FILLED)
def test_what_is_left_open(tmp_path: Path, command: str) -> None:
    status, said = Room(tmp_path / "room").type(FILLED[command])
    assert status == 0, said


def is_borne(name: str) -> bool:
    """Whether something bears this name of `make test T=NAME`."""
    tests, (first, _, last) = ROOT / "tests", name.partition("::")
    if any(tests.glob(f"{first}{end}") for end in ("", ".c", "/*.c")) or \
            list(tests.glob(f"*/{first}.c")) or list(tests.glob(f"*/host/{first}.c")):
        first = last
    return not first or any(f"TEST({first})" in path.read_text() for path in tests.rglob("*.c"))


def test_names_of_tests_are_borne() -> None:
    names = [name for one in book.examples()
             for names in re.findall(r"make test (?:\w+=1 )*T=('[^']*'|\S+)", one.command)
             for name in names.strip("'").split()]
    assert "vm" in names
    assert not [name for name in names if not is_borne(name)]


def test_make_s_words_are_targets() -> None:
    """Of all that the book calls `make WORD`."""
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    for page in book.PAGES:
        words = re.findall(r"`make ([a-z-]+)", page.read_text())
        assert set(words) <= set(targets.split()), page


@pytest.mark.parametrize("text, commands", [
    ("# x\n\n    $ one a   # why\n    1\n    # two\n", ["student one a", "root two"]),
    ("# x\n\n    make x \\\n        y    why\n    tools/y z\n",
     ["host make x y", "host tools/y z"]),
    ("# x\n\n    make T=NAME\n\ntext `make x A=1` and `make y`\n", ["host make x A=1"]),
    ("# x\n\n    int make;\n", []),
])
def test_what_is_an_example(tmp_path: Path, monkeypatch, text: str, commands: list[str]) -> None:
    monkeypatch.setattr(book, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text)
    monkeypatch.setattr(book, "PAGES", (page,))
    assert [f"{one.who} {one.command}" for one in book.examples()] == commands
