# SPDX-License-Identifier: MIT
"""GNU's options, each beside GNU's own output of the same files; what is wrong gets a hint."""

import random
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import ROOT
from gprof.gmon import (FUNCTION_BYTES, GNU, GPROF, PERIODIC, USER, Profile, assemble, make_bins,
                        make_program, output, read_flat, read_graph, run)
from gprof.test_gnu import FUNCTIONS, differences, random_profile

NAMES = ["main", "work", "leaf", "rest", "idle"]
MAIN, WORK, LEAF, REST, IDLE = (USER + FUNCTION_BYTES * i for i in range(5))
ARCS = [(MAIN + 5, WORK, 4), (WORK + 5, LEAF, 12), (LEAF + 5, LEAF, 3), (MAIN + 9, LEAF, 4),
        (WORK + 7, REST, 1), (REST + 5, WORK, 2)]
OURS = "uncounted"  # A label: nothing is counted there.


@pytest.fixture(name="made", scope="module")
def made_fixture(tmp_path_factory) -> Path:
    """A folder with a program and profiles of it in each form."""
    folder = tmp_path_factory.mktemp("made")
    make_program(folder / "program", NAMES)
    bins = make_bins(NAMES, {MAIN: 10, WORK: 20, LEAF: 40, REST: 30})
    profile = Profile(USER, bins, ARCS)
    (folder / "gmon.out").write_bytes(profile.gnu())
    (folder / "bsd").write_bytes(profile.bsd())
    (folder / "bsd44").write_bytes(profile.bsd(44))
    profile.dimension, profile.rate = "seconds", 100
    profile.values = {"flavor": PERIODIC, "flavors": PERIODIC, "interval": 10_000_000}
    profile.exact = [(PERIODIC, 0, USER + 2 * i, n) for i, n in enumerate(bins) if n]
    (folder / "ours").write_bytes(profile.ours())
    return folder


def both(made: Path, *options: str, file: str = "gmon.out") -> tuple[str, str]:
    """What ours and GNU's print."""
    return (output("-b", *options, "program", file, cwd=made),
            output("-b", *options, "program", file, cwd=made, gprof=GNU))


# ---------------- Which tables, and of what ----------------

@pytest.mark.parametrize("options", [
    [], ["-p"], ["-q"], ["-P"], ["-Q"], ["-P", "-Q"], ["-p", "-q"], ["-p", "-P"], ["-P", "-p"],
    ["-pleaf"], ["-Pleaf"], ["-qleaf"], ["-Qleaf"], ["-J"], ["-J", "-p"], ["-T"], ["-Tp"],
    ["--flat-profile"], ["--graph"], ["--no-flat-profile"], ["--no-graph"], ["--flat-profile=leaf"],
    ["--no-graph=leaf"], ["--no-annotated-source"], ["--traditional", "--gra"],
    ["--no-exec-counts"]], ids=str)
def test_which_tables(made: Path, options: list[str]) -> None:
    ours, theirs = both(made, *options)
    is_flat = "self/" in theirs or "  cumulative " in theirs
    assert ("Flat profile" in ours, "Index by" in ours) == (is_flat, "Index by" in theirs)
    assert ("Call graph" in ours) == ("called/total" in theirs or "index %" in theirs)


@pytest.mark.parametrize("options", [
    ["-pleaf"], ["-pleaf", "-pwork"], ["-Pleaf"], ["-Pleaf", "-Pmain"], ["-pleaf", "-Pleaf"],
    ["-Pwork", "-prest"], ["--flat-profile=work"], ["--no-flat-profile=work"]], ids=str)
def test_functions_of_the_flat_profile(made: Path, options: list[str]) -> None:
    """Those that are shown are all there is: shares are of their sum."""
    ours, theirs = both(made, *options)
    assert read_flat("Flat profile" + ours) == read_flat("Flat profile" + theirs) != {}
    shares = [{line.split()[-1]: float(line.split()[0]) for line in text.splitlines()
               if line.split()[-1:] and line.split()[-1] in NAMES} for text in (ours, theirs)]
    assert shares[0] == pytest.approx(shares[1], abs=0.06) and sum(shares[0].values()) > 99


def random_options(random_: random.Random, alone: list[str]) -> list[str]:
    """Of a cycle of which a part is chosen GNU's shows what its first function has: so time is
    asked of functions that are in none."""
    options = []
    for _ in range(random_.randint(1, 3)):
        option = random_.choice(["-q", "-Q", "-n", "--no-time="])
        is_time = option in ("-n", "--no-time=")
        options.append(option + (random_.choice(alone) if is_time else f"f{random_.randrange(12)}"))
    # Of several -n the inner ones' callers decide for GNU's how much of them counts.
    return options if sum(option[:2] == "-n" for option in options) < 2 else options[:1]


@pytest.mark.parametrize("seed", range(8))
def test_functions_of_the_graph(tmp_path: Path, seed: int) -> None:
    """On random graphs: the entries, and the time that is passed on in them, are GNU's."""
    random_ = random.Random(seed)
    program = make_program(tmp_path / "program", [f"f{i}" for i in range(FUNCTIONS)])
    file, changed, runs = tmp_path / "gmon.out", 0, 20
    for number in range(runs):
        file.write_bytes(random_profile(random.Random(100 * seed + number), USER).gnu())
        plain = read_graph(output("-b", program, file))
        alone = [name for name, one in plain.items() if not one.cycle and name[:5] != "cycle"]
        options = random_options(random_, alone or ["f0"])
        assert not [line for line in differences(program, file, *options)
                    if not line.startswith("cycle ")], (number, options)
        changed += plain != read_graph(output("-b", *options, program, file))
    assert changed > runs / 2


def test_hidden_entries_keep_their_numbers(made: Path) -> None:
    for options in ["-qleaf"], ["-Qleaf", "-Qwork"]:
        found = [set(re.findall(r"([\[(])\d+[\])] (\w+)", text[text.index("Index by"):]))
                 for text in both(made, *options)]
        assert found[0] == found[1]


# ---------------- Counts, files, widths ----------------

def test_file_info(made: Path) -> None:
    for file in "gmon.out", "bsd", "bsd44":
        ours, theirs = both(made, "-i", file=file)
        assert ours == theirs
    ours, theirs = both(made, "--file-info", file="ours")
    known, extra = re.search(r"(\d+) call-graph.*?(\d+) Assay's own", ours, re.DOTALL).groups()
    assert int(known) == len(ARCS) and f"\t{int(known) + int(extra)} call-graph records" in theirs


def test_file_info_of_several(made: Path) -> None:
    text = output("-i", "program", "gmon.out", "ours", cwd=made)
    assert re.findall(r"^File `(\w+\.?\w+)'", text, re.MULTILINE) == ["gmon.out", "ours"]
    assert "Flat" not in text


def test_width_of_the_index(made: Path) -> None:
    lines = {}
    for width in "20", "45", "200":
        text = both(made, "-w", width)[0]
        index = text[text.index("Index by"):].splitlines()[2:]
        assert all(len(line) <= int(width) for line in index)
        lines[width] = len(index)
        assert sum(line.count("]") for line in index) == 5
    assert lines["20"] == 5 and 1 < lines["45"] < 5 and lines["200"] == 1


def test_sum_without_tables(made: Path, tmp_path: Path) -> None:
    """-s prints the tables as well; the long name is GNU's."""
    arguments = (made / "program", made / "gmon.out", made / "gmon.out")
    assert output("--sum", *arguments, cwd=tmp_path) == ""
    assert read_flat(output("-b", "program", tmp_path / "gmon.sum", cwd=made))["leaf"][0] == 80
    assert "Call graph" in output("-s", *arguments, cwd=tmp_path)


def test_labels_that_are_no_functions(tmp_path: Path) -> None:
    """What GNU's manual says of -D; its gprof has them all the same."""
    program = assemble(tmp_path / "program", f".globl a,{OURS}\n.type a,@function\na: .zero 64\n"
                       f".size a,64\n{OURS}: .zero 64\n", "a")
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(USER, [1] * 32 + [2] * 32).gnu())
    assert read_flat(output("-b", program, file)).keys() == {"a", OURS}
    for option in "-D", "--ignore-non-functions":
        flat = read_flat(output("-b", option, program, file))
        assert {name: row[0] for name, row in flat.items()} == {"a": 32, "<outside>": 64}


# ---------------- Sources ----------------

SOURCE = """\
static int leaf(int x)
{
\treturn x * 7;
}

int two(int x)
{
\treturn leaf(x) / 3;
}

int main(void)
{
\treturn two(4) + leaf(5);
}
"""


@pytest.fixture(name="sourced", scope="module")
def sourced_fixture(tmp_path_factory) -> Path:
    """A program with debug information, and calls of its functions without samples."""
    folder = tmp_path_factory.mktemp("sourced")
    (folder / "a.c").write_text(SOURCE)
    subprocess.run(["i686-linux-gnu-gcc", "-g", "-O1", "-fno-inline", "-fno-ipa-cp", "-nostdlib",
                    "-static", "-fno-pic", "-no-pie", f"-Wl,-Ttext={USER:#x},-e,main", "-o", "p",
                    folder / "a.c"], cwd=folder, check=True)
    names = subprocess.run(["nm", "p"], cwd=folder, text=True, check=True, capture_output=True)
    place = {line.split()[2]: int(line.split()[0], 16) for line in names.stdout.splitlines()}
    arcs = [(place["main"] + 5, place["two"], 3), (place["two"] + 5, place["leaf"], 3),
            (place["main"] + 9, place["leaf"], 4)]
    (folder / "gmon.out").write_bytes(Profile(USER, [0] * 8, arcs).gnu())
    (folder / "samples").write_bytes(Profile(USER, [9] + [0] * 7, arcs).gnu())
    return folder


def gnu_calls(text: str) -> dict[str, int]:
    return {line[2]: int(line[1]) for line in re.finditer(r"^ +(\d+) -> (.*)$", text,
                                                          re.MULTILINE)}


def our_calls(text: str) -> dict[str, int]:
    lines = re.finditer(r"^ +(\d+) +(?:[\d.]+ +[\d.]+ +)?\d+  (.*)$", text, re.MULTILINE)
    return {line[2]: int(line[1]) for line in lines}


@pytest.mark.parametrize("options", [
    ["-A"], ["-Aleaf"], ["-Jleaf"], ["-A", "-m", "4"], ["-A", "-m", "8"], ["-Aa.c:two"],
    ["-A", "--min-count=4"], ["--annotated-source=two"], ["--no-annotated-source=two"],
    ["-Aa.c:2"], ["-Aa.c"], ["-A", "-Jtwo"]], ids=str)
def test_calls_beside_sources(sourced: Path, options: list[str]) -> None:
    ours, theirs = (output("-b", *options, "p", "gmon.out", cwd=sourced, gprof=gprof)
                    for gprof in (GPROF, GNU))
    assert our_calls(ours[:ours.find("Top ")]) == gnu_calls(theirs)
    if options in (["-A"], ["-Jleaf"]):
        assert our_calls(ours)
    assert "Call graph" not in ours


@pytest.mark.parametrize("length", [0, 1, 2, 10])
def test_lines_with_the_most(sourced: Path, length: int) -> None:
    """Without any samples these are the lines with the most calls, as they are to GNU's."""
    ours, theirs = (output("-b", "-A", "-t", str(length), "p", "gmon.out", cwd=sourced,
                           gprof=gprof) for gprof in (GPROF, GNU))
    top = [(int(line), int(calls)) for line, calls in
           re.findall(r"^ +(\d+) +(\d+)$", theirs[theirs.find("Top "):theirs.find("Exec")],
                      re.MULTILINE)]
    found = ours[ours.find("Top "):] if "Top " in ours else ""
    assert [(int(line), int(calls)) for calls, line in
            re.findall(r"^ +(\d+) +(\d+)  $", found, re.MULTILINE)] == top


def test_separate_files(sourced: Path, tmp_path: Path) -> None:
    text = output("-b", "-A", "-y", sourced / "p", sourced / "samples", cwd=tmp_path)
    assert text.endswith("\na.c-ann\n") and "return" not in text
    found = (tmp_path / "a.c-ann").read_text()
    assert our_calls(found)["{"] == 7
    assert re.search(r"^ +\d* +100\.00 +9 +\d+  \S", found, re.MULTILINE)
    output("-b", "-A", "-y", sourced / "p", sourced / "samples", cwd=tmp_path)
    assert (tmp_path / "a.c-ann").read_text() == found, "written anew, not added to"


def test_paths_of_sources(sourced: Path) -> None:
    """As GNU's: without its folders a source is as short as in the flat profile by line."""
    for option in ["-l"], ["-A"], ["--exec-counts"]:
        short, full = (output("-b", *more, "p", "samples", cwd=sourced)
                       for more in (option, [*option, "-L"]))
        assert f"{sourced}/a.c" in full and str(sourced) not in short and "a.c" in short
        assert full == output("-b", *option, "--print-path", "p", "samples", cwd=sourced)


@pytest.mark.parametrize(("ours", "theirs"), [
    (["--exec-counts"], ["-C"]), (["--exec-counts=leaf"], ["-Cleaf"]),
    (["--no-exec-counts=leaf"], ["-Zleaf"]), (["--exec-counts", "-L"], ["--exec-counts", "-L"])])
def test_a_tally_of_calls(sourced: Path, ours: list[str], theirs: list[str]) -> None:
    """The letter -C is CMU's."""
    one = output("-b", "-L", *ours, "p", "gmon.out", cwd=sourced)
    assert sorted(one.splitlines()) == \
        sorted(output(*theirs, "p", "gmon.out", cwd=sourced, gprof=GNU).splitlines()) != []
    text = output("--exec-counts", "-m", "4", "p", "gmon.out", cwd=sourced)
    assert re.findall(r"\((\w+):", text) == ["leaf"]


def test_a_tally_without_lines(made: Path) -> None:
    assert output("--exec-counts", "program", "gmon.out", cwd=made) == \
        output("-C", "program", "gmon.out", cwd=made, gprof=GNU) != ""


@pytest.mark.parametrize(("spec", "names"), [
    ("a.c:", {"leaf", "two", "main"}), ("a.c", {"leaf", "two", "main"}), ("a.c:two", {"two"}),
    ("a.c:2", {"leaf"}), ("leaf", {"leaf"})])
def test_functions_by_their_sources(sourced: Path, spec: str, names: set[str]) -> None:
    text = output("-b", "-z", f"-p{spec}", "p", "samples", cwd=sourced)
    assert set(re.findall(r"  (\w+)$", text, re.MULTILINE)) - {"name"} == names
    done = run(GPROF, "-pb.c:two", "p", "samples", cwd=sourced)
    assert (done.returncode, done.stderr) == \
        (1, "gprof: -p b.c:two: p has no function of that name\n")


# ---------------- Spelling ----------------

def options() -> list[tuple[str | None, str | None]]:
    """Letters and long names, as --help has them."""
    found = []
    for line in output("--help").split("\n\n", 1)[1].splitlines():
        letter, name = re.match("^  -(\\w)", line), re.match("^  (?:-\\w.*, )?--([\\w-]+)", line)
        if letter or name:
            found.append((letter and letter[1], name and name[1]))
    return found


def test_help_and_version() -> None:
    for option in "-h", "--help", "--hel":
        assert output(option) == output("--help")
    letters = Counter(letter for letter, _ in options() if letter)
    assert set(letters.values()) == {1} and set("pqPQnJywtmiDLTv") <= letters.keys()
    version = re.search(r'version\[\] = "Assay ([\d.]+)', (ROOT / "kernel/host/host.c").read_text())
    for option in "-v", "--version":
        assert output(option) == f"gprof of Assay {version[1]}\n"


def test_the_manual_has_all_options() -> None:
    manual = (ROOT / "docs/commands/gprof.md").read_text()
    table = manual[manual.index("\n## Options\n"):manual.index("\n## Letters ")]
    for letter, name in options():
        assert letter is None or re.search(rf"^\| `-{letter}[`\[ ]", table, re.MULTILINE), letter
        assert name is None or f"`--{name}" in table, name


def test_long_names_are_those_of_the_letters(made: Path) -> None:
    for letter, name in (("-a", "no-static"), ("-z", "display-unused-functions"), ("-b", "brief"),
                         ("-c", "static-call-graph"), ("-p", "flat-profile"), ("-q", "graph")):
        texts = [output(*one, "program", "gmon.out", cwd=made)
                 for one in ([letter], [f"--{name}"], [f"--{name[:-1]}"], [])]
        assert texts[0] == texts[1] == texts[2]
        assert name in ("no-static", "static-call-graph") or texts[0] != texts[3]


@pytest.mark.parametrize(("word", "hint"), [
    ("--flat-profle", ": is it --flat-profile?"), ("--wiew=json", ": is it --view?"),
    ("--flavour=cow", ": is it --flavor?"), ("-Z", ": GNU's is --no-exec-counts here"),
    ("-B", ": the call graph alone is -q"),
    ("--all-lines", ": GNU's; -A counts samples of all lines"),
    ("--file-ordering", ": GNU's; what to link in which order is not said here"),
    ("--no-such", ""), ("-X", ""), ("--z", "")])
def test_what_does_not_exist(word: str, hint: str) -> None:
    done = run(GPROF, "-b", word)
    assert (done.returncode, done.stdout) == (1, "")
    first, rest = done.stderr.split("\n", 1)
    assert first == f"gprof: {word}: there is no such option{hint}"
    assert rest == output("--help").split("\n\n")[0] + "\n"


@pytest.mark.parametrize(("options_", "what"), [
    (["--fla"], "--fla: is it --flat-profile or --flavor?"),
    (["--brief=yes"], "--brief: has no value"),
    (["-w", "wide"], "wide: the number of -w must be a whole number from 0 "),
    (["-r", "5x"], "5x: the milliseconds of -r must be a number above 0"),
    (["-r", "x"], "x: the milliseconds of -r must be"), (["-r0"], "0: the milliseconds of -r must"),
    (["-r-1"], "-1: the milliseconds of -r must be"), (["-r1e99"], "1e99: the milliseconds of -r"),
    (["-t-1"], "-1: the number of -t must be"), (["-y"], "-y: is where sources go"),
    (["-pnobody"], "-p nobody: program has no function of that name"),
    (["-Qnobody"], "-Q nobody: program has"), (["-nnobody"], "-n nobody: program has"),
    (["--no-time=nobody"], "--no-time nobody: program has"),
    (["-e", "leaf", "-Qwork"], "two ways to say the same"),
    (["--view=json", "-p"], "-p: is for tables"), (["-A"], "no line numbers")], ids=str)
def test_wrong_options(made: Path, options_: list[str], what: str) -> None:
    done = run(GPROF, *options_, "program", "gmon.out", cwd=made)
    assert (done.returncode, done.stdout) == (1, "") and what in done.stderr


def test_without_names_the_program_is_a_out(made: Path, tmp_path: Path) -> None:
    """And the profile gmon.out, as GNU's."""
    done = subprocess.run([GPROF], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "gprof: a.out: cannot be read: No such file or directory\n"
    (tmp_path / "a.out").write_bytes((made / "program").read_bytes())
    (tmp_path / "gmon.out").write_bytes((made / "gmon.out").read_bytes())
    named = subprocess.run([GPROF, "a.out", "gmon.out"], cwd=tmp_path, capture_output=True,
                           check=True)
    bare = subprocess.run([GPROF], cwd=tmp_path, capture_output=True, check=True)
    assert bare.stdout == named.stdout
