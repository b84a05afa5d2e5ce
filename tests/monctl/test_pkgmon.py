# SPDX-License-Identifier: MIT
"""pkgmon and pkgprof: what was done for a process, by the kernel, the servers and itself.

Who knows it from elsewhere is the emulator's plugin, which reads from the machine's memory on whose
behalf each instruction is executed, and GNU's gprof, which reads what pkgprof has put together.
"""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from assay import OUT, ROOT, hot, pkgprof, unix
from assay.files import Files, Get, Put
from assay.machine import find_kernel

from prof import test_call_labels as labels
from prof.call_oracle import calls_in

PKGPROF = ROOT / "tools" / "pkgprof"
FLAT = re.compile(r"^ *[\d.]+ +[\d.]+ +[\d.]+ +(?:(\d+) +[\d.]+ +[\d.]+ +)?(\S+)$", re.MULTILINE)


def measure(unix_machine, folder: Path, command: str, files: tuple[str, ...],
            put: tuple[Put, ...] = (), **options):
    """Its files, in a folder of the host's."""
    get = tuple(Get(f"/root/gmon.out.{name}", folder / f"gmon.out.{name}") for name in files)
    run = unix_machine(command, user="root", files=Files(put=put, get=get), **options)
    assert (run.outcome, run.status) == ("exit", 0), run.output
    return run


# How a process's last thread goes, when its parent has been told already and counting has ended:
# some functions of the kernel's, each of them once more.
ITS_END = 40

# What it does: it asks the server, or it waits for what comes by a pipe, and the CPU is idle.
LOADS = {"files": "seq 3000 >f; pkgmon -c cat f f", "pipe": "(sleep 1; echo a) | pkgmon -c cat"}


@pytest.mark.parametrize("load", LOADS)
def test_counts_are_the_process_s(unix_machine, tmp_path: Path, load: str) -> None:
    """All of its life, from the first instruction on, in the kernel and by the server for it."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    out = tmp_path / "counts"
    measure(unix_machine, tmp_path, f"{LOADS[load]} >/dev/null; mv gmon.out.*k.cat gmon.out.k;"
            "mv gmon.out.-k.kernel gmon.out.system", ("k", "system"),
            plugin=hot.plugin_option(out, kernel, by=("label",)))
    ours, system = (calls_in(tmp_path / f"gmon.out.{name}") for name in ("k", "system"))
    counts = hot.read_counts(out)
    executed = labels.executed_by_label(kernel, counts)
    mine = max(label for label, name in counts.names.items()
               if label in executed and name == "cat")
    assert sum(ours.values()) > 300
    differing = labels.differing(kernel, ours, executed[mine])
    at_its_end = 0
    for name, (counted, known) in differing.items():
        missing = known - counted
        if missing > system[kernel.function(name).start]:  # Else an event had called it.
            assert missing == 1, (name, differing)
            at_its_end += 1
    assert at_its_end <= ITS_END, differing


CHILDREN = ("12{}.sh", "13{}.sh", "13+1{}.cat", "12+1{}.cat")  # In the order of their beginnings.


@pytest.mark.parametrize("cpus", (1, 2))
def test_children_s_counts_are_their_own(unix_machine, tmp_path: Path, cpus: int) -> None:
    """A child that executes a program, and then the first itself: each from its first instruction
    on, as the plugin counts it.  That ends when pkgmon has ended counting and asks for the first:
    threads that the server had for a child are left with its label until their next request."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    out = tmp_path / "counts"
    end = kernel.function("host_calls_get_for").start
    names = tuple(name.format("k") for name in CHILDREN)
    measure(unix_machine, tmp_path, "seq 3000 >f; pkgmon -f -c sh -c 'cat f; cat f f' >/dev/null",
            (*names, "-k.kernel"), cpus=cpus,
            plugin=hot.plugin_option(out, kernel, stop=end, by=("label",)))
    system = calls_in(tmp_path / "gmon.out.-k.kernel")
    counts = hot.read_counts(out)
    executed = labels.executed_by_label(kernel, counts)
    tasks = sorted(label for label, name in counts.names.items()
                   if label in executed and name in ("sh", "cat"))[-len(names):]
    for name, task in zip(names, tasks):
        ours = calls_in(tmp_path / f"gmon.out.{name}")
        assert sum(ours.values()) > 300, name
        for function, (counted, known) in labels.differing(kernel, ours, executed[task]).items():
            at_its_end = known - counted - system[kernel.function(function).start]
            assert counted < known and at_its_end <= 1, (name, function)  # Its last thread goes.


def test_children_are_in_the_listing(unix_machine, tmp_path: Path) -> None:
    """Each with its program, its requests and its samples."""
    parts = {"12": "sh", "13": "sh", "13+1": "sort"}
    run = measure(unix_machine, tmp_path, "seq 9000 >f; pkgmon -a -f -r 10000 sh -c "
                  "'sort -r f f f >g; :'",
                  ("-r.requests", "-k.kernel", "-k.other",
                   *(f"{number}{part}.{name}" for number, name in parts.items()
                     for part in ("", *"kux"))))
    done = put_together(tmp_path, "--", "-b", "-p")
    assert done.returncode == 0, done.stderr
    rows = flat(done.stdout)
    assert {"13+1u:key_of", "13+1k:fault", "12k:trap_mach_msg", "13k:trap_mach_msg"} <= set(rows)
    listed = put_together(tmp_path, "--requests", "--pid", "13").stdout
    assert re.search(r"^ +\d+ 13\+1x:_Xread +13\+1u:read <", listed, re.MULTILINE), listed
    assert not re.search(r" 12[a-z]:", listed), listed
    assert b"process 13+1 (sort)" in run.log and b"not measured" not in run.log


def test_of_children_without_room_it_is_said(unix_machine) -> None:
    """The kernel tells 31 apart: a shell, and those of 17 children that each execute something."""
    run = unix_machine("pkgmon -f -s sh -c 'for i in $(seq 16); do id >/dev/null; done; :';"
                       " ls | cat", user="root", files=Files(size=64))
    assert (run.outcome, run.status) == ("exit", 0), run.log
    assert b" 4 children were not measured: there was no room for them" in run.log
    assert len(re.findall(rb"^gmon\.out\.[0-9+]+k\.", run.output, re.MULTILINE)) == 31


def executed_at(counts: hot.Counts, label: int, task: int) -> Counter:
    """How often each instruction was, in that task on behalf of that label."""
    mine = counts.of(lambda who: (who.label, who.task) == (label, task))
    found: Counter = Counter()
    for instruction in mine.instructions:
        found[instruction.address] += instruction.count
    return found


def begun_in(whole: pkgprof.Whole, name: str, executed: Counter) -> Counter:
    """How often each routine for messages was entered, of the part with that name."""
    image = next(part.image for part in whole.placed if part.part.name == name)
    return +Counter({f.name: executed[f.start] for f in image.functions
                     if f.name.startswith("_X")})


def entered_in(part: pkgprof.Placed) -> Counter:
    """How often each of a server's functions was, as the part tells it."""
    found: Counter = Counter()
    for (_, entered), count in part.data.arcs.items():
        found[part.image.function_at(entered).name] += count
    return found


def entered_by_plugin(image: hot.Image, executed: Counter, names: Counter) -> Counter:
    return Counter({f.name: executed[f.start] for f in image.functions if f.name in names})


CALL_SIZE = 5


def own_calls(whole: pkgprof.Whole, name: str) -> Counter:
    """Within a part, by where it returns to and what was called there."""
    part = next(p for p in whole.placed if p.part.name == name)
    found: Counter = Counter()
    for (caller, called), count in whole.arcs().items():
        if all(part.base <= address < part.base + part.high - part.low
               for address in (caller, called)):
            function = part.image.function_at(called - part.base + part.low)
            found[caller - part.base + part.low + 1, function.name] += count
    return found


def check_callers_of_stubs(calls: Counter, executed: Counter) -> None:
    """The call graph has them: of read() and the like each call is one request."""
    assert {name for _, name in calls} >= {"open", "read", "write", "close"}
    for (returns_to, name), count in calls.items():
        assert executed[returns_to - CALL_SIZE] == count, name


@pytest.mark.parametrize("cpus", (1, 2))
def test_requests_are_those_that_were_made(unix_machine, tmp_path: Path, cpus: int) -> None:
    """By the emulator's plugin: how often each place called a stub, and how often the server and
    the kernel began with what was asked of them, for this process.  Nobody has executed this file
    before, so that its pages are asked for, too."""
    kernel, program = hot.Image("kernel", find_kernel(None), is_kernel=True), OUT / "user" / "cat"
    out = tmp_path / "counts"
    names = ("-r.requests", "-k.kernel", "-k.other", *(f"12{part}.cat" for part in ("", *"kux")))
    measure(unix_machine, tmp_path, "seq 3000 >f; pkgmon -a -c /tmp/cat f f >/dev/null", names,
            (Put(program, "/tmp/cat"),), cpus=cpus,
            plugin=hot.plugin_option(out, kernel, by=("label", "task")))
    whole = pkgprof.put_together(tmp_path, [12], {"/tmp/cat": program})
    counts = hot.read_counts(out)
    cat = max(task for task, name in counts.names.items() if name == "cat")
    server = next(task for task, name in counts.names.items() if name == "ux")
    asked, called = Counter(), {"x": Counter(), "k": Counter()}
    for request in whole.requests:
        routine = whole.routine(request)
        assert routine is not None, request
        called[request.server][routine.name] += request.count
        if request.caller == "u":
            asked[whole.callers(request)[0] - CALL_SIZE] += request.count
    assert sum(asked.values()) > 15
    executed = executed_at(counts, cat, cat)
    assert {*asked.items()} <= {*executed.items()}
    check_callers_of_stubs(own_calls(whole, "12u"), executed)
    in_server, in_cat = (executed_at(counts, cat, task) for task in (server, cat))
    begun = {"x": begun_in(whole, "12x", in_server),
             "k": begun_in(whole, "12k", in_server + in_cat)}
    # That one says nothing is to be answered, so nobody works for whom; this the kernel asks for.
    assert called["x"].pop("_Xexit") == 1
    assert begun["x"].pop("_Xmemory_object_data_request") > 0
    assert begun == called


@pytest.mark.parametrize("cpus", (1, 2))
def test_a_server_s_calls_are_whose_they_are(unix_machine, tmp_path: Path, cpus: int) -> None:
    """Function by function, those that the plugin saw entered in the server for this process; and
    those for others and for nobody are all the rest that the server told the kernel of."""
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    out = tmp_path / "counts"
    names = ("-r.requests", "-k.kernel", "-k.other", "-.other", "-x.other", "-.server", "-x.server",
             *(f"12{part}.cat" for part in ("", *"kux")))
    measure(unix_machine, tmp_path, "seq 3000 >f; pkgmon -a -c cat f f >/dev/null", names,
            cpus=cpus, server="ux-pg", plugin=hot.plugin_option(out, kernel, by=("label", "task")))
    program = {"/mach_servers/startup": OUT / "servers" / "ux-pg"}
    parts = {p.part.name: p for p in pkgprof.put_together(tmp_path, None, program).placed}
    image = parts["12x"].image
    counted, others, own = (entered_in(parts[name]) for name in ("12x", "-x", "server-x"))
    counts = hot.read_counts(out)
    cat = max(task for task, name in counts.names.items() if name == "cat")
    ux = next(task for task, name in counts.names.items() if name == "ux-pg")
    executed, for_itself = (executed_at(counts, label, ux) for label in (cat, ux))
    assert counted.total() == executed[image.label("mcount")] > 500
    assert counted == entered_by_plugin(image, executed, counted)
    told = image.label("assay_count_call")
    assert own.total() == for_itself[told] > 10
    assert own <= entered_by_plugin(image, for_itself, own)  # It was at work before, too.
    in_all = counts.of(lambda who: who.task == ux)
    assert counted.total() + others.total() + own.total() == \
        sum(i.count for i in in_all.instructions if i.address == told)
    assert "process_exit" in own and not {"process_exit"} & set(others + counted)


LATER = Path(__file__).parent / "programs" / "later.c"


def test_calls_within_the_pager(unix_machine, tmp_path: Path) -> None:
    """For a child whose memory it puts away, since its parent needs some, and for that."""
    out, program, image = tmp_path / "counts", tmp_path / "later", OUT / "servers" / "pager-pg"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-o", program, LATER], check=True)
    measure(unix_machine, tmp_path, "pkgmon -f -a -c /tmp/later swap >/dev/null",
            ("12p.later",), (Put(program, "/tmp/later"), Put(image, "/sbin/pager")), mem=96,
            plugin=hot.plugin_option(out, hot.Image("kernel", find_kernel(None), is_kernel=True),
                                     by=("label", "task")))
    pager = hot.Image("pager", image)
    counted: Counter = Counter()
    for entered, count in calls_in(tmp_path / "gmon.out.12p.later").items():
        counted[pager.function_at(entered).name] += count
    counts = hot.read_counts(out)
    child = max(task for task, name in counts.names.items() if name == "later")
    server = next(task for task, name in counts.names.items() if name == "pager")
    executed = executed_at(counts, child, server)
    assert counted.total() == executed[pager.label("mcount")] > 500
    assert counted == entered_by_plugin(pager, executed, counted)


def put_together(folder: Path, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([PKGPROF, folder, *options], text=True, capture_output=True, check=False)


READS = Path(__file__).parent / "programs" / "reads.c"
READS_FILES = ("-r.requests", "-k.kernel", "-k.other", *(f"12{part}.reads"
                                                         for part in ("", *"kux")))


def measure_reads(folder: Path, is_counted: bool) -> Path:
    """A program of few functions, which counts its own calls or not."""
    program = folder / "reads"
    options = ("-O1", "-pg") if is_counted else ("-O1",)
    subprocess.run([OUT / "sdk/bin/ux-cc", *options, "-o", program, READS], check=True)
    command = "seq 9 >f; pkgmon -a ./reads f"
    own = ("own", "12n.reads") if is_counted else ()  # It checks in with the name server.
    measure(unix.run, folder, f"{command}; mv gmon.out gmon.out.own" if own else command,
            (*READS_FILES, *own), put=(Put(program, "/root/reads"),))
    return program


def arcs_by_name(folder: Path, program: Path, **options) -> dict[tuple[str, str], int]:
    """Of process 12, by whom and what was called: 12u:main, 12u:read."""
    whole = pkgprof.put_together(folder, [12], {"/root/reads": program}, **options)
    names = [(start, start + size, name) for name, start, size in whole.functions()]

    def name_at(address: int) -> str:
        return next((name for start, end, name in names if start <= address < end), "")

    found: Counter = Counter()
    for (caller, called), count in whole.arcs().items():
        found[name_at(caller), name_at(called)] += count
    return found


@pytest.mark.parametrize("is_counted", (True, False), ids=("with", "without"))
def test_a_request_is_reached_from_main(tmp_path: Path, is_counted: bool) -> None:
    """By the stub's callers if nobody counts in the program, and else by what it counted."""
    program = measure_reads(tmp_path, is_counted)
    arcs = arcs_by_name(tmp_path, program)
    assert arcs["12u:main", "12u:open"] == arcs["12u:main", "12u:close"] == 3
    assert arcs["12u:read_all", "12u:read"] == arcs["12u:read", "12x:_Xread"] == 6
    assert arcs["12u:main", "12u:read_all"] == (3 if is_counted else 0)
    all_callers = arcs_by_name(tmp_path, program, has_callers=True)
    assert all_callers["12u:main", "12u:read_all"] == (3 if is_counted else 6)
    assert all(all_callers[pair] >= count for pair, count in arcs.items())
    done = put_together(tmp_path, "--callers", "--pid", "12", "--program",
                        f"/root/reads={program}", "--gprof", shutil.which("gprof"),
                        "--", "-b", "-q")
    assert re.search(r" [36]/[36] +12u:read_all \[", done.stdout), done.stderr


def flat(text: str) -> dict[str, str]:
    """Counts of calls by name, as far as there are some."""
    return {name: calls or "" for calls, name in FLAT.findall(text)}


@pytest.fixture(name="measured", scope="module")
def measured_fixture(tmp_path_factory) -> Path:
    """A program that computes and asks the server, sampled often and counted."""
    folder = tmp_path_factory.mktemp("measured")
    measure(unix.run, folder, "seq 9000 >f; pkgmon -r 10000 sort -r f f f f f f f f >g",
            ("12.sort", "12k.sort", "12u.sort", "12x.sort", "-k.kernel", "-k.other"))
    return folder


def test_all_parts_are_in_one_listing(measured: Path) -> None:
    done = put_together(measured, "--", "-b", "-p")
    assert done.returncode == 0, done.stderr
    rows = flat(done.stdout)
    assert {"12u:key_of", "12k:fault", "other:trap_mach_msg"} <= set(rows)
    assert int(rows["12k:trap_mach_msg"]) > 20
    known = calls_in(measured / "gmon.out.12k.sort")
    kernel = hot.Image("kernel", find_kernel(None), is_kernel=True)
    fault = kernel.function("fault")
    assert fault is not None and int(rows["12k:fault"]) == known[fault.start]


def test_gnu_gprof_reads_the_same(measured: Path) -> None:
    gnu = shutil.which("gprof")
    assert gnu is not None
    ours = put_together(measured, "--", "-b", "-p")
    theirs = put_together(measured, "--gprof", gnu, "--", "-b", "-p")
    assert theirs.returncode == 0, theirs.stderr
    counts = {name: calls for name, calls in flat(ours.stdout).items() if calls}
    assert len(counts) > 50
    assert counts == {name: calls for name, calls in flat(theirs.stdout).items() if calls}


def test_the_kernel_is_called_from_the_program(measured: Path) -> None:
    graph = put_together(measured, "--", "-b", "-q").stdout
    block = next(block for block in graph.split("-----\n")
                 if re.search(r"^\[\d+\].* 12k:kernel_start", block, re.MULTILINE))
    callers = re.findall(r" 12[a-z]:(\S+)", re.split(r"^\[", block, flags=re.MULTILINE)[0])
    assert callers and not {"strcmp", "key_of"} & set(callers), block
    faults = next(block for block in graph.split("-----\n")
                  if re.search(r"^\[\d+\].* 12k:interrupt_entry", block, re.MULTILINE))
    assert " 12u:" in re.split(r"^\[", faults, flags=re.MULTILINE)[0], faults


def test_what_cannot_be_read_is_said(measured: Path, tmp_path: Path) -> None:
    assert "pkgmon has left no files there" in put_together(tmp_path).stderr
    assert "no files of process 77" in put_together(measured, "--pid", "77").stderr
    broken = tmp_path / "broken"
    shutil.copytree(measured, broken)
    whole = (broken / "gmon.out.12k.sort").read_bytes()
    for end in (-3, 5000, 20):
        (broken / "gmon.out.12k.sort").write_bytes(whole[:end])
        done = put_together(broken)
        assert (done.returncode, done.stdout) == (1, "")
        assert "gmon.out.12k.sort is cut off" in done.stderr, end
    (broken / "gmon.out.12k.sort").write_bytes(b"nothing")
    assert "no gmon.out of pkgmon's" in put_together(broken).stderr
    done = put_together(measured, "--program", "sort")
    assert done.returncode == 2 and "say GUEST=HOST" in done.stderr
    other = f"/bin/sort={OUT / 'user' / 'cat'}"
    assert "is of another program than" in put_together(measured, "--program", other).stderr


def test_what_lies_there_beside_changes_nothing(measured: Path, tmp_path: Path) -> None:
    """A folder, a profile that was given another name, and one of whom it does not say."""
    beside = tmp_path / "beside"
    shutil.copytree(measured, beside)
    (beside / "gmon.out.old").mkdir()
    shutil.copy(beside / "gmon.out.12k.sort", beside / "gmon.out.1.old")
    shutil.copy(beside / "gmon.out.-k.other", beside / "gmon.out")
    assert put_together(beside, "--", "-b").stdout == put_together(measured, "--", "-b").stdout
    (beside / "gmon.out.-r.requests").write_text("foo u x 3 4 ff\n")
    said = put_together(beside, "--requests").stderr
    assert "'foo u x 3 4 ff' is nothing that pkgmon says" in said


def test_a_process_s_kernel_is_its_own(measured: Path, tmp_path: Path) -> None:
    """Also if another one's number begins with the same digit: what is 12's is not 1's."""
    both = tmp_path / "both"
    shutil.copytree(measured, both)
    for name in ("1.sort", "1k.sort"):
        shutil.copy(both / f"gmon.out.12{name[1:]}", both / f"gmon.out.{name}")
    information = both / "gmon.out.1.sort"
    information.write_text("pid 1\nprogram sort\npart 1k\nof /mach_kernel\n")
    graph = put_together(both, "--", "-b", "-q").stdout
    block = next(block for block in graph.split("-----\n")
                 if re.search(r"^\[\d+\].* 1k:kernel_start", block, re.MULTILINE))
    assert " 12" not in re.split(r"^\[", block, flags=re.MULTILINE)[0], block


WRONG = {
    "pkgmon": "say a command, or a process by -p PID",
    "pkgmon -c -s true": "that leaves nothing to be measured",
    "pkgmon -a -s true": "who asks is counted where calls are",
    "pkgmon -p 99": "process 99: there is none; ps -a lists them",
    "pkgmon -p x": "-p x: say a whole number from 1",
    "pkgmon -r 0 true": "-r 0: say a whole number from 1 to 10000",
    "pkgmon nix": "nix: there is no such command",
    "kgmon -b; pkgmon true; kgmon -h -r": "kgmon -h -r ends and forgets that",
    "cd /proc 2>/dev/null; pkgmon false; echo status $?": "status 1",
    "pkgmon -s sh -c 'cat /etc/rc >/dev/null; id >/dev/null; :'": "started 2 others",
    "pkgmon -s sh -c 'exec true'": "executes another program now, which was not measured",
    "su student -c '/sbin/pkgmon true'": "only root may do that",
}


def test_what_cannot_be_done_is_said(unix_machine) -> None:
    run = unix_machine("; ".join(WRONG), user="root")
    said = (run.output + run.log).decode()
    for expected in WRONG.values():
        assert expected in said, said


def test_children_without_counts_are_somebody_s(unix_machine) -> None:
    run = unix_machine("pkgmon -s -f sleep 2 & sleep 1; pkgmon true; echo status $?; wait",
                       user="root")
    assert b"are counted already" in run.log and b"status 1" in run.output


def test_more_children_than_there_is_room_for(unix_machine) -> None:
    """As another one has the kernel forget the first ones, and has its own."""
    true = "; ".join(["/bin/true"] * 15)
    run = unix_machine(f"pkgmon -f sh -c '{true}; sleep 4; true' & sleep 2; kgmon -h -r >/dev/null;"
                       f"pkgmon -f -c sh -c '{true}; sleep 4; true'; wait $!; echo status $?",
                       user="root")
    assert b"SIGSEGV" not in run.log and b"status 1" in run.output, run.log


def test_who_was_killed_leaves_nothing_for_ever(unix_machine) -> None:
    run = unix_machine("yes >/dev/null & y=$!; pkgmon -p $y & sleep 0.3; kill -9 $!; pkgmon true;"
                       "kgmon -h -r; pkgmon true && echo fine; pkgmon -p $y & sleep 0.3; kgmon -h;"
                       "kill $!; wait $!; echo status $?; kgmon -r; pkgmon -p $y & sleep 0.6;"
                       "kill -HUP $!; wait $!; echo then $?; pkgmon true && echo well; kill $y",
                       user="root")
    assert b"are counted already" in run.log
    assert b"fine" in run.output and b"status 1" in run.output
    assert b"those after that are missing" in run.log
    assert b"then 0" in run.output and b"well" in run.output


def test_a_process_that_runs(unix_machine, tmp_path: Path) -> None:
    """For so long; and a client's work is not its server's."""
    run = measure(unix_machine, tmp_path,
                  "yes >/dev/null & p=$!; pkgmon -t 1 -p $p; kill $p; pkgmon -s true; kgmon",
                  ("10k.yes", "10u.yes"))
    assert b"process 10 (yes)" in run.log
    assert sum(calls_in(tmp_path / "gmon.out.10k.yes").values()) > 1000
