# SPDX-License-Identifier: MIT
"""perf.data: callers out of stacks, samples on somebody's behalf, samples of other programs."""

import json
import random
import re
import struct
from collections import Counter
from pathlib import Path

import pytest
from gprof import perf_file
from gprof.gmon import (FUNCTION_BYTES, GPROF, KERNEL, USER, Profile, make_program, output,
                        read_flat, read_graph, run)

FUNCTIONS = [f"f{i}" for i in range(12)]
CLOCK = 1
PERIOD = 1_000_000
PIDS = {7: 137, 8: 138}  # By label, which is the task's number.


def address(function: int, into: int) -> int:
    return USER + function * FUNCTION_BYTES + into


def random_samples(seed: int) -> list[tuple[perf_file.Sample, list[str]]]:
    """Samples, and the functions of each, the innermost first."""
    random_, samples = random.Random(seed), []
    for i in range(400):
        stack = [random_.choice([0, 1])]
        while random_.random() < 0.75:
            stack.append(random_.randrange(len(FUNCTIONS)))
        stack.reverse()
        user = [address(stack[0], random_.randrange(FUNCTION_BYTES)),
                *(address(function, 1 + random_.randrange(FUNCTION_BYTES))
                  for function in stack[1:])]
        is_kernel = random_.random() < 0.2
        label = random_.choice(list(PIDS))
        names = ["<kernel>"] * is_kernel + [FUNCTIONS[function] for function in stack]
        samples.append((perf_file.Sample(CLOCK, PIDS[label], PIDS[label], label, user,
                                         [0xC0100040] if is_kernel else [], time=i), names))
    return samples


def write(path: Path, program: Path, samples: list[perf_file.Sample],
          images: dict[int, str] | None = None, place: int = USER, period: int = PERIOD) -> Path:
    images = images or dict.fromkeys(PIDS.values(), str(program))
    length = len(FUNCTIONS) * FUNCTION_BYTES
    path.write_bytes(b"".join([
        perf_file.header(), perf_file.event(CLOCK, "periodic", period),
        *(perf_file.task(label, pid, f"p{pid}", []) for label, pid in PIDS.items()),
        *(perf_file.image(pid, place, length, 0x1000, image) for pid, image in images.items()),
        perf_file.kernel_image(0xC0100000, 0x100000),
        *(perf_file.sample(sample, period) for sample in samples),
        perf_file.lost(4), perf_file.counts(lost=4, missed=1, due=500, fired=499),
        perf_file.round_end()]))
    return path


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    return make_program(tmp_path_factory.mktemp("gprof") / "program", FUNCTIONS)


def expected_arcs(chains: list[list[str]]) -> Counter:
    """Samples below each call: (caller, callee)."""
    return Counter(arc for chain in chains
                   for arc in {(caller, callee) for callee, caller in zip(chain, chain[1:])
                               if caller != callee})


def read_arcs(text: str) -> dict[tuple[str, str], float]:
    """From the lines above and below each entry's own; both say the same of a call."""
    arcs: dict[tuple[str, str], float] = {}
    for entry in re.split(r"^-{40,}$", text, flags=re.MULTILINE):
        own, above = None, []
        for line in entry.splitlines():
            match = re.match(r"^(\[\d+\])? +.*?([\d.]+) +([\d.]+) +(\S+) \[\d+\]$", line)
            if not match:
                continue
            samples = float(match[2]) + float(match[3])
            if match[1]:
                own = match[4]
                arcs |= {(caller, own): count for caller, count in above}
            elif own is None:
                above.append((match[4], samples))
            else:
                assert arcs.setdefault((own, match[4]), samples) == samples
    return arcs


@pytest.mark.parametrize("seed", range(5))
def test_callers_are_those_of_the_stacks(program: Path, tmp_path: Path, seed: int) -> None:
    samples = random_samples(seed)
    chains = [chain for _, chain in samples]
    file = write(tmp_path / "perf.data", program, [sample for sample, _ in samples])
    text = output("-b", "-N", program, file)
    graph = read_graph(text)
    own = Counter(chain[0] for chain in chains)
    with_callees = Counter(name for chain in chains for name in set(chain))
    assert {name: entry.self for name, entry in graph.items() if entry.self} == own
    assert {name: entry.self + entry.child for name, entry in graph.items()} == with_callees
    assert read_arcs(text[:text.index("Flat profile")]) == expected_arcs(chains)
    assert {name: row[0] for name, row in read_flat(text).items() if row[0]} == own
    assert "cycle" not in text and "lost: 4; missed by the clock: 1 of 500 due" in text


def test_samples_on_behalf(program: Path, tmp_path: Path) -> None:
    samples = random_samples(9)
    file = write(tmp_path / "perf.data", program, [sample for sample, _ in samples])
    counts = [sum(row[0] for row in read_flat(output("-b", "-N", f"--for={pid}", program,
                                                     file)).values())
              for pid in (*PIDS.values(), *(f"p{pid}" for pid in PIDS.values()))]
    assert counts == 2 * [sum(sample.label == label for sample, _ in samples) for label in PIDS]
    done = run(GPROF, "-b", "--for=nobody", program, file)
    assert (done.returncode, done.stderr) == (1, "gprof: --for=nobody: there are no samples on "
                                              "behalf of it; --by=process shows who has some\n")


def first_of_its_kind(samples: list) -> list:
    """The first sample is the only one of its label."""
    (first, chain), *others = samples
    return [(first, chain), *(one for one in others if one[0].label != first.label)]


@pytest.mark.parametrize("chosen", (list, first_of_its_kind))
def test_samples_on_each_s_behalf(program: Path, tmp_path: Path, chosen) -> None:
    samples = chosen(random_samples(12))
    file = write(tmp_path / "perf.data", program, [sample for sample, _ in samples])
    text = output("-b", "-N", "--for=each", program, file)
    flat = text[text.index("Flat profile"):]
    most = Counter(sample.label for sample, _ in samples).most_common()
    assert re.search(" +".join(f"{PIDS[label]}:p{PIDS[label]}" for label, _ in most), flat)
    rows = re.findall(r"^ *[\d.]+ +(\d+) +[\d.]+ +(\d+) +(\S+)$", flat, re.MULTILINE)
    for column, (label, _) in enumerate(most):
        assert {row[2]: int(row[column]) for row in rows if row[column] != "0"} == \
            Counter(chain[0] for sample, chain in samples if sample.label == label)


def test_samples_of_other_programs(program: Path, tmp_path: Path) -> None:
    samples = random_samples(10)
    file = write(tmp_path / "perf.data", program, [sample for sample, _ in samples],
                 {137: "/bin/program", 138: "/bin/other"})
    text = output("-b", "-N", program, file)
    strange = sum(sample.pid == 138 for sample, _ in samples)
    assert f"samples of other programs, not shown: {strange}\n" in text
    assert sum(row[0] for row in read_flat(text).values()) == len(samples) - strange


def refused(program: Path, *arguments: str | Path) -> str:
    done = run(GPROF, program, *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    return done.stderr


def test_another_program_s(program: Path, tmp_path: Path) -> None:
    """One program's alone, whatever it is called: where its code lay tells."""
    samples = [sample for sample, _ in random_samples(13)]
    file = write(tmp_path / "perf.data", program, samples, {137: "/bin/renamed"})
    assert "f1" in read_flat(output("-b", program, file))
    file = write(tmp_path / "perf.data", program, samples, {137: "/bin/other"}, USER + 0x10000)
    assert "of another program, whose code lay elsewhere" in refused(program, file)
    file = write(tmp_path / "perf.data", program, samples, {137: "/bin/a", 138: "/bin/b"},
                 USER - 0x10000)
    assert "samples of other programs only" in refused(program, file)


@pytest.mark.parametrize("how", ["another task", "the same task", "no times"])
def test_a_process_that_executes_another_program(program: Path, tmp_path: Path, how: str) -> None:
    """At one address and with one pid: each sample is of the program that ran when it was taken,
    though some of the old one's stand behind the new one's beginning."""
    labels = (7, 7) if how == "the same task" else (7, 9)
    has_times = how != "no times"
    samples = [perf_file.sample(perf_file.Sample(CLOCK, 5, 5, labels[i >= 60], [address(i % 5, 3)],
                                                 time=1000 + i), PERIOD) for i in range(100)]
    begins = [perf_file.executes(labels[i], 5, name, time if has_times else None) +
              perf_file.image(5, USER, len(FUNCTIONS) * FUNCTION_BYTES, 0, path,
                              time if has_times else None)
              for i, (name, path, time) in enumerate([("sh", "/bin/sh", 0),
                                                      ("program", "/bin/program", 1060)])]
    late = 10 if has_times else 0
    file = tmp_path / "perf.data"
    file.write_bytes(b"".join([
        perf_file.header(), perf_file.event(CLOCK, "periodic", PERIOD, times=True), begins[0],
        *samples[:60 - late], begins[1], *samples[60:], *samples[60 - late:60],
        perf_file.round_end()]))
    text = output("-b", "-N", program, file)
    assert "samples of other programs, not shown: 60\n" in text
    assert {name: row[0] for name, row in read_flat(text).items()} == \
        dict.fromkeys(FUNCTIONS[:5], 8)
    view = output("--view=folded", program, file)
    assert Counter({line.split()[0]: int(line.split()[1]) for line in view.splitlines()}) == \
        Counter({"sh": 60} | dict.fromkeys(FUNCTIONS[:5], 8))
    if how != "the same task":  # The view of perf has a program for each task.
        again = tmp_path / "again"
        output("--view=perf-data", "-o", again, program, file)
        assert output("--view=folded", program, again) == view


def test_threads_have_numbers_of_their_own(program: Path, tmp_path: Path) -> None:
    """For perf a thread's number may be no process's: ours are larger by a round number."""
    file = tmp_path / "perf.data"
    samples = [perf_file.Sample(CLOCK, 137, 1_000_000_000 + thread, 7, [address(1, 3)])
               for thread in (138, 139)]
    write(file, program, samples)
    assert [sample["thread"] for sample in
            json.loads(output("--view=json", program, file))["stacks"]] == [138, 139]


def test_where_in_its_file_code_lies(program: Path, tmp_path: Path) -> None:
    """Of a program that is not at hand its recording says it: the view of perf has it, too."""
    samples = [sample for sample, _ in random_samples(16)]
    file = write(tmp_path / "perf.data", program, samples,
                 {137: str(program), 138: "/mach_servers/startup"})
    view = tmp_path / "view"
    output("--view=perf-data", "-o", view, program, file)
    offsets, data, at = {}, view.read_bytes(), 16
    while at < len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == 10:
            path = data[at + 8 + 64:].partition(b"\0")[0].decode()
            offsets[path] = struct.unpack_from("<Q", data, at + 8 + 24)[0]
        at += size
    assert offsets["/mach_servers/startup"] == 0x1000
    assert offsets[str(program)] == 0x1000


def test_other_rates_are_not_summed(program: Path, tmp_path: Path) -> None:
    samples = [sample for sample, _ in random_samples(14)]
    fast = write(tmp_path / "fast", program, samples)
    slow = write(tmp_path / "slow", program, samples, period=10 * PERIOD)
    bins = [1] * (len(FUNCTIONS) * FUNCTION_BYTES // 2)
    gnu = tmp_path / "gmon.out"
    gnu.write_bytes(Profile(USER, bins, rate=100, dimension="seconds").gnu())
    assert sum(row[0] for row in read_flat(output("-b", program, fast, fast)).values()) == \
        pytest.approx(2 * len(samples) / 1000)
    bare = write(tmp_path / "bare", program, [sample._replace(user=sample.user[:1])
                                              for sample in samples])
    for files in ((fast, slow), (slow, fast), (bare, gnu), (gnu, bare)):
        assert "another rate" in refused(program, *files)
    assert "its 384 samples are not added" in output("-b", program, fast, gnu)  # Calls have none.


def test_names_do_not_reach_the_terminal(program: Path, tmp_path: Path) -> None:
    samples = [sample for sample, _ in random_samples(15)]
    data = write(tmp_path / "perf.data", program, samples).read_bytes()
    (tmp_path / "perf.data").write_bytes(data.replace(b":p137\0", b":\x1b[7m\0"))
    text = output("-b", "--for=each", program, tmp_path / "perf.data")
    assert "137:?[7m" in text and "\x1b" not in text
    bad = tmp_path / "bad"
    bad.write_bytes(program.read_bytes().replace(b"\0f7\0", b"\0f\x1b\0"))
    assert "name is no text" in refused(bad, tmp_path / "perf.data")


def test_one_routine(program: Path, tmp_path: Path) -> None:
    samples = random_samples(11)
    file = write(tmp_path / "perf.data", program, [sample for sample, _ in samples])
    text = output("-b", "-x", "f3", program, file)
    rows = re.findall(r"^([0-9a-f]{8}) +\+\d+ +(\d+) +[\d.]+ +(<kernel>)?", text, re.MULTILINE)
    expected = Counter((sample.user[0], bool(sample.kernel)) for sample, chain in samples
                       if chain[bool(sample.kernel)] == "f3")
    assert {(int(pc, 16), bool(kernel)): int(count) for pc, count, kernel in rows} == expected


# ---------------- The kernel's functions ----------------

IN_KERNEL = ["trap", "f3", "copy", "idle"]  # One has the name of a function of the program.


@pytest.fixture(name="kernel", scope="module")
def kernel_fixture(tmp_path_factory) -> Path:
    return make_program(tmp_path_factory.mktemp("gprof") / "kernel", IN_KERNEL, KERNEL)


def in_kernel(samples: list[tuple[perf_file.Sample, list[str]]]
              ) -> list[tuple[perf_file.Sample, list[str]]]:
    """With a stack in the kernel where there was one address."""
    random_, result = random.Random(3), []
    for sample, chain in samples:
        if sample.kernel:
            stack = random_.choices(range(len(IN_KERNEL)), k=random_.randint(1, 3))
            pcs = [KERNEL + i * FUNCTION_BYTES + 1 + random_.randrange(FUNCTION_BYTES - 1)
                   for i in stack]
            chain = [f"kernel:{IN_KERNEL[i]}" for i in stack] + chain[1:]
            sample = sample._replace(kernel=pcs)
        result.append((sample, chain))
    return result


def test_functions_of_the_kernel(program: Path, kernel: Path, tmp_path: Path) -> None:
    """Own samples, callers through the trap, one routine's addresses; and in a view."""
    samples = in_kernel(random_samples(20))
    chains = [chain for _, chain in samples]
    file = write(tmp_path / "perf.data", program, [sample for sample, _ in samples])
    text = output("-b", "-N", f"--kernel={kernel}", program, file)
    graph = read_graph(text)
    own = Counter(chain[0] for chain in chains)
    assert {name: entry.self for name, entry in graph.items() if entry.self} == own
    assert {name: entry.self + entry.child for name, entry in graph.items()} == \
        Counter(name for chain in chains for name in set(chain))
    assert read_arcs(text[:text.index("Flat profile")]) == expected_arcs(chains)
    assert {"kernel:f3", "f3"} <= own.keys() and "<kernel>" not in text

    text = output("-b", "--kernel", kernel, "-x", "kernel:copy", program, file)
    rows = re.findall(r"^([0-9a-f]{8}) +\+\d+ +(\d+) ", text, re.MULTILINE)
    assert {int(pc, 16): int(count) for pc, count in rows} == \
        Counter(sample.kernel[0] for sample, chain in samples if chain[0] == "kernel:copy")
    view = output("--view=folded", f"--kernel={kernel}", program, file)
    assert sum(int(line.split()[-1]) for line in view.splitlines() if "copy" in line) == \
        sum("kernel:copy" in chain for chain in chains)
    assert read_flat(output("-b", "-N", program, file))["<kernel>"][0] == \
        sum(chain[0].startswith("kernel:") for chain in chains)


def test_kernels_that_will_not_do(program: Path, kernel: Path, tmp_path: Path) -> None:
    samples = [sample for sample, _ in random_samples(21)]
    file = write(tmp_path / "perf.data", program, samples)
    assert "is not the kernel that ran" in refused(program, f"--kernel={program}", file)
    assert "is not an ELF file" in refused(program, f"--kernel={file}", file)
    gnu = tmp_path / "gmon.out"
    gnu.write_bytes(Profile(USER, [1] * 16).gnu())
    assert "does not say where in the kernel" in refused(program, f"--kernel={kernel}", gnu)
