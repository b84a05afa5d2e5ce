# SPDX-License-Identifier: MIT
"""A recording and a gmon.out together; and which times are said to be estimates."""

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from gprof import perf_file, read_back
from gprof.gmon import (FUNCTION_BYTES, GPROF, PERIODIC, USER, Profile, make_program, output,
                        read_flat, read_graph, run)
from gprof.test_stacks import (CLOCK, FUNCTIONS, PIDS, address, expected_arcs, random_samples,
                               read_arcs, write)

TASK, PID = next(iter(PIDS.items()))
COUNTED = {(0, 1): 90, (0, 2): 10, (1, 3): 900, (2, 3): 100, (3, 3): 7, (4, 5): 3}
TICKS = 50


@pytest.fixture(name="program", scope="module")
def program_fixture(tmp_path_factory) -> Path:
    return make_program(tmp_path_factory.mktemp("gprof") / "program", FUNCTIONS)


def gmon(path: Path, **values: int) -> Path:
    """Of ours, with TICKS samples in f3 and calls; and what it says of its run."""
    exact = [(PERIODIC, 0, address(3, 4), TICKS)]
    bins = [0] * (len(FUNCTIONS) * FUNCTION_BYTES // 4)
    bins[(3 * FUNCTION_BYTES + 4) // 4] = TICKS
    arcs = [(address(caller, 9), address(callee, 0), count)
            for (caller, callee), count in COUNTED.items()]
    profile = Profile(USER, bins, arcs, step=4, rate=1000, dimension="seconds", exact=exact,
                      values={"flavor": PERIODIC, "flavors": PERIODIC, "interval": 1_000_000,
                              "rate": 1000, "due": TICKS, "fired": TICKS, "taken": TICKS,
                              "all_taken": TICKS, "delivered": TICKS, "lost": 0} | values)
    path.write_bytes(profile.ours())
    return path


def calls(text: str) -> dict[tuple[str, str], tuple[int, int]]:
    """By caller and callee, from the lines above each entry: `called/total`."""
    found = {}
    for entry in re.split(r"^-{40,}$", text, flags=re.MULTILINE):
        above, _, own = entry.partition("\n[")
        name = re.search(r"(\S+) \[\d+\]$", own.partition("\n")[0])
        for line in re.findall(r"^ .* (\d+)/(\d+) +(\S+) \[\d+\]$", above, re.MULTILINE):
            found[line[2], name[1]] = int(line[0]), int(line[1])
    return found


def expected_calls() -> dict[tuple[str, str], tuple[int, int]]:
    totals = Counter()
    for (caller, callee), count in COUNTED.items():
        totals[callee] += count if caller != callee else 0
    return {(FUNCTIONS[caller], FUNCTIONS[callee]): (count, totals[callee])
            for (caller, callee), count in COUNTED.items() if caller != callee}


@pytest.mark.parametrize("order", [1, -1])
def test_calls_of_the_one_and_stacks_of_the_other(program: Path, tmp_path: Path,
                                                  order: int) -> None:
    samples = random_samples(30)
    chains = [chain for _, chain in samples]
    recording = write(tmp_path / "stacks", program, [sample for sample, _ in samples])
    counted = gmon(tmp_path / "gmon.out", pid=PID, task=TASK)
    text = output("-b", "-N", program, *[recording, counted][::order])
    graph = read_graph(text)
    assert {name: entry.self + entry.child for name, entry in graph.items()
            if entry.self + entry.child} == Counter(name for chain in chains
                                                    for name in set(chain))
    assert {name: row[0] for name, row in read_flat(text).items() if row[0]} == \
        Counter(chain[0] for chain in chains)
    arcs = read_arcs(re.sub(r" +\d+/\d+ ", " ", text[:text.index("Flat profile")]))
    assert {arc: count for arc, count in arcs.items() if count} == expected_arcs(chains)
    assert calls(text) == expected_calls()
    assert (graph["f3"].calls, graph["f3"].self_calls) == (1000, 7)
    assert read_flat(text)["f3"][1] == 1000
    assert (f"samples: the recording's; counts of calls: of the same run's gmon.out; its {TICKS} "
            "samples are not added\n") in text
    assert "nothing is divided by calls" in text
    assert "lost: 4; missed by the clock: 1 of 500" in text


def test_counts_of_calls_in_views(program: Path, tmp_path: Path) -> None:
    samples = random_samples(31)
    recording = write(tmp_path / "stacks", program, [sample for sample, _ in samples])
    counted = gmon(tmp_path / "gmon.out", pid=PID, task=TASK)
    profile = json.loads(output("--view=json", program, counted, recording))
    names = [function["name"] for function in profile["functions"]]
    assert {(names[call["caller"]], names[call["callee"]]): call["count"]
            for call in profile["calls"]} == {(FUNCTIONS[caller], FUNCTIONS[callee]): count
                                              for (caller, callee), count in COUNTED.items()}
    own = Counter(chain[0] for _, chain in samples)
    assert read_back.of_json(json.dumps(profile), "periodic") == own
    text = output("--view=callgrind", program, counted, recording)
    assert read_back.callgrind_calls(text)["f0", "f1"] == COUNTED[0, 1]


def without_stacks(samples: list) -> list[perf_file.Sample]:
    return [sample._replace(user=sample.user[:1]) for sample, _ in samples]


def test_samples_of_one_run_count_once(program: Path, tmp_path: Path) -> None:
    """Also if the recording has no stacks; those of another run are added up."""
    samples = random_samples(32)
    recording = write(tmp_path / "record", program, without_stacks(samples))
    own = Counter(chain[0] for _, chain in samples)
    for values, added in (({"pid": PID, "task": TASK}, 0), ({"pid": PID, "task": 99}, TICKS),
                          ({"pid": 99, "task": TASK}, TICKS), ({}, TICKS)):
        text = output("-b", "-N", program, recording, gmon(tmp_path / "gmon.out", **values))
        assert {name: row[0] for name, row in read_flat(text).items() if row[0]} == \
            own + Counter({"f3": added}), values
        assert f"its {TICKS} samples are not added" in text or added
        assert read_flat(text)["f3"][1] == 1000
    both = run(GPROF, "--view=folded", program, recording, tmp_path / "gmon.out")
    assert both.returncode == 1 and "have no common form" in both.stderr


def test_stacks_and_another_run(program: Path, tmp_path: Path) -> None:
    """What has stacks and what has none does not add up; a run that is not said may be the same."""
    samples = random_samples(33)
    recording = write(tmp_path / "stacks", program, [sample for sample, _ in samples])
    other = gmon(tmp_path / "gmon.out", pid=PID, task=99)
    done = run(GPROF, "-b", program, recording, other)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"is of process {PID}, task 99, which was not recorded" in done.stderr
    text = output("-b", "-N", program, recording, gmon(tmp_path / "gmon.out"))
    assert "of a gmon.out that does not say which run it is of; its 50 samples" in text
    assert calls(text) == expected_calls()
    assert sum(row[0] for row in read_flat(text).values()) == len(samples)


def test_what_counts_calls_is_not_below_its_callers(tmp_path: Path) -> None:
    """Its samples are in the flat profile only, with stacks as without."""
    program = make_program(tmp_path / "program", ["main", "mcount", "work", *FUNCTIONS[3:]])
    stacks = [[1, 2, 0]] * 30 + [[2, 0]] * 10 + [[1, 0]] * 5
    file = write(tmp_path / "stacks", program, [
        perf_file.Sample(CLOCK, PID, PID, TASK, [address(function, 5) for function in stack])
        for stack in stacks])
    text = output("-b", "-N", program, file)
    graph = read_graph(text)
    assert {name: entry.self + entry.child for name, entry in graph.items()} == \
        {"main": 10, "work": 10}
    assert re.search(r"^\[\d+\] +100\.0 +0\.00 +10\.00 .*main", text, re.MULTILINE)
    assert read_flat(text)["mcount"][0] == 35


# ---------------- What is an estimate ----------------

def divided(own: dict[int, int], arcs: dict[tuple[int, int], int]) -> float:
    """Samples of whose callers some were guessed, of a graph without circles: those in a function
    that several call, or that is called, by whatever way, by one that several call."""
    callers = {callee: {one for one, other in arcs if other == callee} for _, callee in arcs}

    def is_guessed(function: int) -> bool:
        above = callers.get(function, set())
        return len(above) > 1 or any(is_guessed(one) for one in above)

    return sum(count for function, count in own.items() if is_guessed(function))


@pytest.mark.parametrize("seed", range(6))
def test_how_much_is_estimated(program: Path, tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    pairs = [(one, other) for one in range(12) for other in range(one + 1, 12)]
    arcs = {pair: choose.randint(1, 9) for pair in choose.sample(pairs, 10)}
    own = {function: choose.randint(1, 30) for function in choose.sample(range(12), 8)}
    bins = [0] * (len(FUNCTIONS) * FUNCTION_BYTES // 4)
    for function, count in own.items():
        bins[(function * FUNCTION_BYTES + 4) // 4] = count
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(USER, bins, [(address(caller, 9), address(callee, 0), count)
                                          for (caller, callee), count in arcs.items()],
                             step=4).gnu())
    text = output("-b", program, file)
    guessed = divided(own, arcs)
    said = re.findall(r"^callers are estimated for (\d+) of (\d+) samples: where `called'", text,
                      re.MULTILINE)
    assert said == ([(str(guessed), str(sum(own.values())))] * 2 if guessed else [])
    assert ("callers: no sample had to be divided" in text) == (not guessed)
    assert "monctl -record FILE -stack" in text or not guessed


def test_a_cycle_with_one_caller_divides_nothing(program: Path, tmp_path: Path) -> None:
    bins = [0] * (len(FUNCTIONS) * FUNCTION_BYTES // 4)
    bins[(2 * FUNCTION_BYTES + 4) // 4] = 20
    arcs = [(0, 1, 1), (1, 2, 5), (2, 1, 4), (0, 2, 3)]
    file = tmp_path / "gmon.out"
    for more, said in ((), "no sample had to be divided"), (((3, 2, 1),), "for 20 of 20 samples"):
        file.write_bytes(Profile(USER, bins, [
            (address(caller, 9), address(callee, 0), count) for caller, callee, count in
            (*arcs, *more)], step=4).gnu())
        assert said in output("-b", program, file)


def test_nothing_is_said_of_calls_that_were_not_counted(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "gmon.out"
    file.write_bytes(Profile(USER, [1] * (len(FUNCTIONS) * FUNCTION_BYTES // 4), step=4).gnu())
    assert "callers" not in output("-b", program, file)


def test_the_explanations_say_it_too(program: Path, tmp_path: Path) -> None:
    text = output(program, gmon(tmp_path / "gmon.out"))
    assert "Without, they are estimates wherever" in text and "Without call stacks that is" in text
