# SPDX-License-Identifier: MIT
"""Views of a recording of a whole machine: programs, flavors, labels and threads, and losses.

A server and its two clients, and threads that compute, ran while monctl recorded; and while
monctl was stopped, so that samples were lost, a program touched new pages.  What must come out is
read from the recording by a reader of the tests' own.
"""

import base64
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import OUT, ROOT, recorded, unix, viewers
from assay.files import Files, Get
from assay.hot import Image
from monctl import perf_data
from prof import shares

from gprof import read_back
from gprof.test_views import in_pprof, needs

PROGRAM = OUT / "user" / "rpcprog"
COMMANDS = """cd
monctl -for all -stack -on periodic,zfill -record all & M=$!
monctl -help >/dev/null  # Which comes to its turn only after it.
rpcprog 60
spinners 3
kill -STOP $M
vmprog 8000
kill -CONT $M; kill $M; wait $M"""
PERIODS = {"periodic": 1_000_000, "zfill": 1}
THREADS = 3  # Of spinners that compute.
LIMIT = 60
PERF_THREADS = 1_000_000_000


IN_MACHINE = {"startup": OUT / "servers/ux", "snames": OUT / "servers/snames",
              "mach_kernel": OUT / "mach_kernel"}


class Case(NamedTuple):
    folder: Path
    data: Path
    lost: int
    own: dict[str, Counter]  # By flavor and function, as views name them;
    functions: dict[str, Counter]  # of the program alone, and of the kernel;
    labels: dict[str, Counter]
    threads: dict[str, Counter]
    served: dict[str, int]  # Samples in serve(), by the name of the label.

    def view(self, name: str) -> Path:
        file = self.folder / f"out.{name}{'.pb.gz' if name == 'pprof' else ''}"
        with file.open("wb") as out:
            subprocess.run([OUT / "bin" / "gprof", f"--view={name}", PROGRAM, self.data],
                           check=True, stdout=out)
        return file

    def text(self, name: str) -> str:
        return self.view(name).read_text()


def placer(recording: perf_data.Recording):
    """Of a sample, the name that views have for where it was taken."""
    images = sorted((one.pid, time, one.path.rpartition("/")[2])
                    for one, time in zip(recording.maps, recording.map_times)
                    if one.misc != 1 and one.path != perf_data.NO_PROGRAM)
    program = Image(PROGRAM.name, PROGRAM)

    def image_of(sample: perf_data.Sample) -> str:
        """What its process ran by then; "" if that is not known."""
        own = [name for pid, time, name in images if pid == sample.pid and time <= sample.time]
        return own[-1] if own else ""

    def place(sample: perf_data.Sample) -> str:
        if sample.in_kernel:
            return "<kernel>"
        image = image_of(sample)
        if image != PROGRAM.name:
            return image or recording.commands[sample.pid, sample.tid]
        function = program.function_at(sample.ip)
        return function.name if function else "<outside>"

    return place


def program_at(name: str) -> Path:
    """Where a program of the recording is built."""
    return IN_MACHINE.get(name, OUT / "user" / name)


def place_all(recording: perf_data.Recording, flavor: str) -> Counter:
    """Samples by program and function, of all programs and the kernel.  A function that has
    several names has them all."""
    images: dict[str, tuple[Image, dict[int, str]]] = {}
    found: Counter = Counter()
    for sample in recording.samples:
        if recording.events[sample.flavor] != flavor:
            continue
        name = ("mach_kernel" if sample.in_kernel else
                recording.program_of(sample).rpartition("/")[2])
        if name not in images:
            image = Image(name, program_at(name))
            names: dict[int, set[str]] = {}
            for label in image._labels():
                names.setdefault(label.start, set()).add(label.name)
            images[name] = image, {start: "|".join(sorted(all_)) for start, all_ in names.items()}
        image, names = images[name]
        function = image.function_at(sample.ip)
        found[name, names[function.start] if function else "?"] += 1
    return found


def named_as(found: Counter, expected: Counter) -> Counter:
    """With all names that the function has, where another reader has one of them."""
    names = {(program, name): all_ for program, all_ in expected for name in all_.split("|")}
    return Counter({(program, names.get((program, name), name)): count
                    for (program, name), count in found.items()})


@pytest.fixture(name="case", scope="module")
def case_fixture(tmp_path_factory) -> Case:
    folder = tmp_path_factory.mktemp("views")
    data = folder / "all"
    (folder / "bin").mkdir()
    (folder / "bin" / PROGRAM.name).symlink_to(PROGRAM)  # As it lies in the machine: for perf.
    result = unix.run(COMMANDS, user="root", limit=LIMIT,
                      files=Files(get=(Get("/root/all", data),)))
    assert (result.outcome, result.status) == ("exit", 0), result.log.decode()
    recording = perf_data.read(data.read_bytes())
    place, by_flavor = placer(recording), {name: Counter() for name in PERIODS}
    case = Case(folder, data, recording.lost, by_flavor,
                *({name: Counter() for name in PERIODS} for _ in range(3)), Counter())
    known = {function.name for function in Image(PROGRAM.name, PROGRAM).functions} | {"<kernel>"}
    for sample in recording.samples:
        flavor, where = recording.events[sample.flavor], place(sample)
        label = recording.labels[sample.label].lstrip("/")
        case.own[flavor][where] += 1
        case.labels[flavor][label] += 1
        case.threads[flavor][str(sample.tid)] += 1
        if where in known:
            case.functions[flavor][where] += 1
        if where == "serve" and flavor == "periodic":
            case.served[label] += 1
    return case


def test_the_recording_has_what_it_should(case: Case) -> None:
    """Else the rest would prove little."""
    periodic, zfill = case.own["periodic"], case.own["zfill"]
    assert {"serve", "spinners", "monctl", "<kernel>"} <= set(periodic)
    assert case.lost > 1000 and sum(zfill.values()) > 1000 and sum(periodic.values()) > 300
    assert len(case.labels["periodic"]) >= 4 and len(case.threads["periodic"]) >= THREADS + 2
    first, second = sorted(case.served, key=lambda label: int(label.partition(":")[0]))
    shares.check(case.served, {first: 3, second: 1})


def test_forms_of_text(case: Case) -> None:
    folded, json, script = (case.text(name) for name in ("folded", "json", "perf-script"))
    assert folded.endswith(f"\n<lost> {case.lost}\n") and f"# lost={case.lost}\n" in script
    assert read_back.json.loads(json)["counts"]["lost"] == case.lost
    for flavor, own in case.own.items():
        assert read_back.folded(folded, flavor) == own
        assert read_back.of_json(json, flavor) == own
        assert read_back.perf_script(script, flavor) == own


@needs("go")
def test_pprof(case: Case) -> None:
    file = case.view("pprof")
    for flavor, own in case.own.items():
        assert read_back.pprof(file, flavor)[0] == in_pprof(own)
        for label, count in case.labels[flavor].items():
            focused = read_back.pprof(file, flavor, f"-tagfocus=process=^{re.escape(label)}$")[0]
            assert sum(focused.values()) == count
    assert read_back.nonzero(read_back.pprof_tags(file, "process")) == case.labels["periodic"]
    threads = {str(int(thread) % PERF_THREADS): count  # perf's numbers are larger.
               for thread, count in case.threads["periodic"].items()}
    assert read_back.nonzero(read_back.pprof_tags(file, "thread")) == threads
    for label, count in case.served.items():
        of_one = read_back.pprof(file, "periodic", f"-tagfocus=process=^{label}$")[0]
        assert of_one["serve"] == count
    assert f"lost={case.lost}\n" in read_back.call("go", "tool", "pprof", "-comments", file)


@needs("callgrind_annotate")
def test_callgrind(case: Case) -> None:
    file = case.view("callgrind")
    columns = re.search("^events: (.*)", file.read_text(), re.MULTILINE)[1].split()
    for flavor, own in case.own.items():
        assert read_back.callgrind(file, columns.index(flavor)) == own
    said = read_back.call("callgrind_annotate", file)
    assert re.search(rf"^Recording: .*\blost={case.lost}\b", said, re.MULTILINE), said[:1000]


BY_ROW = re.compile(r"% +(\d+) +[\d.]+ % +(\d+)  ([1-9]\d*) ", re.MULTILINE)


def test_by_process(case: Case) -> None:
    """A table for each flavor, as the clock's samples and events are not to be added up."""
    program = [OUT / "bin" / "gprof", "--by=process"]
    text, alone = (subprocess.run([*program, *flavor, PROGRAM, case.data], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout
                   for flavor in ([], ["--flavor=zfill"]))
    tables = {flavor: (int(count), table) for flavor, count, table in
              re.findall(r"^(\w+): (\d+) samples\n((?:.+\n)+)", text, re.MULTILINE)}
    assert set(tables) == set(PERIODS) and alone == tables["zfill"][1]
    recording = perf_data.read(case.data.read_bytes())
    for flavor, (count, table) in tables.items():
        samples = [one for one in recording.samples if recording.events[one.flavor] == flavor]
        served = Counter(recording.labels[one.label].lstrip("/").partition(":")[0]
                         for one in samples)
        ran = Counter(str(one.pid) for one in samples)
        rows = BY_ROW.findall(table)
        assert count == len(samples) and len(rows) > 3
        assert [(served[pid], ran[pid]) for _, _, pid in rows] == [
            (int(one), int(other)) for one, other, _ in rows]
        assert {pid for pid in served if re.fullmatch(r"[1-9]\d*", pid)} <= {
            pid for _, _, pid in rows}
    done = subprocess.run([*program, "--flavor=cow", PROGRAM, case.data], check=False,
                          capture_output=True, text=True)
    assert done.returncode != 0 and "no such samples; it has:" in done.stderr, done


def perf_rows(file: Path, key: str, flavor: str) -> Counter:
    """What perf makes of the samples, sorted by something."""
    report = read_back.call("perf", "report", "--stdio", "-g", "none", "--sort", key, "-t", "|",
                            "-F", f"period,{key}", "--no-children", "-i", file)
    block = re.search(rf"of event '{flavor}'\n((?:.*\n)*?)(?:# Samples|\Z)", report)[1]
    found = Counter()
    for row in re.findall(r"^ *(\d+) *\|(.*?) *$", block, re.MULTILINE):
        found[row[1].strip().lstrip("/")] += int(row[0]) // PERIODS[flavor]
    return found


@needs("perf")
@pytest.mark.parametrize("name", ["what gprof wrote", "what monctl wrote"])
def test_perf(case: Case, name: str) -> None:
    """By function of the one program that it is shown, by label and by thread."""
    file = case.view("perf-data") if name == "what gprof wrote" else case.data
    options = ["--symfs", str(case.folder)] if file == case.data else []
    for flavor, period in PERIODS.items():
        shown = read_back.perf_report(file, flavor, period, *options)
        assert sum(shown.values()) == sum(case.own[flavor].values())
        assert {function: shown[function] for function in case.functions[flavor]} == (
            case.functions[flavor])
        labels = perf_rows(file, "cgroup", flavor)
        labels["system"] += labels.pop("N/A", 0)  # Whose number is 0, which to perf is none.
        assert +labels == case.labels[flavor]
        threads = Counter()
        for thread, count in perf_rows(file, "pid", flavor).items():
            threads[thread.partition(":")[0]] += count
        assert threads == case.threads[flavor]
    header = read_back.call("perf", "report", "--stdio", "-g", "none", "--header", "-i", file)
    assert f"# Total Lost Samples: {case.lost}\n" in header and f" lost={case.lost} " in header


def test_views_with_all_programs(case: Case, tmp_path: Path) -> None:
    """Of the whole machine, each function of each program and of the kernel."""
    recording = perf_data.read(case.data.read_bytes())
    assert not recorded.link_programs(case.data, tmp_path)
    view = tmp_path / "view"
    subprocess.run([OUT / "bin" / "gprof", "--view=json", f"--programs={tmp_path}", "-o", view,
                    OUT / "mach_kernel", case.data], check=True)
    profile = read_back.json.loads(view.read_text())
    names = [flavor["name"] for flavor in profile["flavors"]]
    for flavor in PERIODS:
        expected = place_all(recording, flavor)
        found = Counter({(entry["object"].rpartition("/")[2], entry["name"]):
                         entry["self"][names.index(flavor)] for entry in profile["functions"]})
        assert named_as(+found, expected) == expected
    programs = {program for flavor in PERIODS for program, _ in place_all(recording, flavor)}
    assert len(programs) > 4


@needs("speedscope")
def test_profile_view_of_the_machine(case: Case) -> None:
    done = subprocess.run([ROOT / "tools" / "profile-view", case.data, "--no-browser"], text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    script = (OUT / "profile-view" / "profile.js").read_text()
    text = base64.b64decode(re.search(r', "([^"]*)"\)', script)[1]).decode()
    recording = perf_data.read(case.data.read_bytes())
    names = [profile["name"].partition(",")[0]
             for profile in read_back.json.loads(text)["profiles"]]
    expected: Counter = Counter()
    for (_, function), count in place_all(recording, "periodic").items():
        expected[function] += count
    aliases = {name: all_ for all_ in expected for name in all_.split("|")}
    found = Counter()
    for name, count in read_back.of_speedscope(text, names.index("periodic")).items():
        found[aliases.get(name, name)] += count
    assert found == expected


@needs("perf")
def test_make_perf_of_the_machine(case: Case) -> None:
    """Each program's functions, and our kernel by its own name."""
    done = subprocess.run([ROOT / "tools" / "perf", case.data, "report", "--stdio", "-g", "none",
                           "--sort", "dso,sym", "-t", "|", "-F", "period,dso,sym"],
                          text=True, capture_output=True, check=False)
    assert done.returncode == 0 and "kallsyms" not in done.stdout + done.stderr
    recording = perf_data.read(case.data.read_bytes())
    for flavor, period in PERIODS.items():
        block = re.search(rf"of event '{flavor}'\n((?:.*\n)*?)(?:# Samples|\Z)", done.stdout)[1]
        found = Counter({(row[1], row[3]): int(row[0]) // period for row in
                         re.findall(r"^ *(\d+) *\|(\S+) *\|\[(.)\] (.*?) *$", block,
                                    re.MULTILINE)})
        expected = place_all(recording, flavor)
        assert named_as(found, expected) == expected


@needs("chromium", "speedscope")
def test_speedscope(case: Case) -> None:
    text = case.text("speedscope")
    names = [profile["name"].partition(",")[0]
             for profile in read_back.json.loads(text)["profiles"]]
    for flavor, own in case.own.items():
        assert read_back.of_speedscope(text, names.index(flavor)) == own
    shown, = viewers.speedscope_reads({"speedscope": text.encode()})
    assert read_back.nonzero(shown.functions) == case.own["periodic"]
    assert f"{case.lost} samples lost" in shown.title
