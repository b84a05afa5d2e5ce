# SPDX-License-Identifier: MIT
"""tools/guest from its command line: bytes, statuses and files, and nothing left behind."""

import contextlib
import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUEST = ROOT / "tools" / "guest"
TIMED_OUT = 124
MACHINE_FAILED = 125
LIMIT = 60  # Seconds; none of these runs is near it.
PATIENCE = 20  # Seconds until a process that was told to end must have.

EVERY_BYTE = bytes(range(1, 256)) + b"one\ntwo\n"
REAL_TIME = ("--accel", "tcg", "--timeout", "4")  # Of a host that does other things, too.


def guest(*arguments: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([GUEST, "boot", *map(str, arguments)], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=LIMIT, **options)


@pytest.mark.parametrize(("programs", "status"), [
    ("act exit 0", 0),
    ("act exit 7", 7),
    ("act exit 124", 124),
    ("act exit 255", 255),
    ("act exit 300", 255),
    ("act exit 0; act exit 5", 5),
    ("act exit 6; act exit 5", 6),
])
def test_status_is_the_programs_own(programs: str, status: int, tmp_path: Path) -> None:
    result = tmp_path / "result"
    assert guest("--icount", "--result", result, "--", programs).returncode == status
    assert json.loads(result.read_text())["outcome"] == "exit"


def test_output_is_byte_for_byte() -> None:
    done = guest("--icount", "--", "act bytes")
    assert done.stdout == EVERY_BYTE
    assert b"machine: exit status 0" in done.stderr


def test_log_to_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = guest("--icount", "--stderr", log, "--", "act bytes")
    assert (done.stdout, done.stderr) == (EVERY_BYTE, b"")
    assert log.read_bytes().startswith(b"Assay: ")
    assert log.read_bytes().endswith(b"machine: exit status 0\n")


def test_result_as_json(tmp_path: Path) -> None:
    path = tmp_path / "result"
    guest("--icount", "--cpus", 2, "--result", path, "--", "act exit 7")
    result = json.loads(path.read_text())
    assert (result["outcome"], result["status"], result["cpus"]) == ("exit", 7, 2)
    assert 0 < result["tsc_entry"] < result["tsc_user"] < result["tsc_end"]
    assert result["instructions"] == result["tsc_end"] - result["tsc_entry"]
    assert result["counts"]
    assert all(count["before"] == count["after"] for count in result["counts"].values())


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    def run(number: int) -> tuple:
        result = tmp_path / str(number)
        done = guest("--icount", "--seed", 3, "--cpus", 2, "--result", result, "--", "act race")
        return done.returncode, done.stdout, done.stderr, result.read_bytes()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    assert first[0] == 0
    assert first == second


def test_timeout_of_the_guest_s_time(tmp_path: Path) -> None:
    """A program that sleeps costs no time: the clock leaps to the limit, which on the host would be
    longer than LIMIT."""
    result = tmp_path / "result"
    done = guest("--icount", "--timeout", 4 * LIMIT, "--result", result, "--", "act sleep")
    assert done.returncode == TIMED_OUT
    assert json.loads(result.read_text())["outcome"] == "timeout"
    assert b"timeout: the time limit of the run (limit=) is over" in done.stderr
    assert b"guest: the time limit passed" in done.stderr


def test_timeout_by_the_host_s_clock(tmp_path: Path) -> None:
    """A kernel that spins with interrupts off is asked by NMI where it is."""
    result = tmp_path / "result"
    done = guest(*REAL_TIME, "--append", "crash=hang-off", "--result", result, "--", "hello")
    assert done.returncode == TIMED_OUT
    assert json.loads(result.read_text())["outcome"] == "timeout"
    assert b" crash_hang" in done.stderr


@pytest.mark.parametrize(("crash", "outcome"), [("null", "panic"), ("nonsense", "refused")])
def test_machine_that_fails(tmp_path: Path, crash: str, outcome: str) -> None:
    result = tmp_path / "result"
    done = guest("--icount", "--append", f"crash={crash}", "--result", result, "--", "hello")
    assert done.returncode == MACHINE_FAILED
    assert json.loads(result.read_text())["outcome"] == outcome


@pytest.mark.parametrize(("arguments", "says"), [
    (("--", "no-such-program"), b"no program no-such-program"),
    (("--", "./no-such-program"), b"no program ./no-such-program"),
    (("--",), b"nothing to run"),
    (("--", "hello 'a b'"), b"no quoting"),
    (("--cpus", "0", "--", "hello"), b"must be at least 1"),
    (("--kernel", "no-such-kernel", "--", "hello"), b"no kernel no-such-kernel"),
    (("--user", "a", "--", "hello"), b"unrecognized arguments: --user"),
    (("--stderr", "/no/such/folder", "--", "hello"), b"/no/such/folder"),
])
def test_mistakes_of_the_caller(arguments: tuple[str, ...], says: bytes) -> None:
    done = guest(*arguments)
    assert done.returncode == MACHINE_FAILED
    assert says in done.stderr
    assert done.stdout == b""


def children_of(process: subprocess.Popen) -> list[int]:
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in path.read_text().split()]


def kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def wait_for(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    """No emulator, whatever the signal; and no folder, if the tool could do anything about it."""
    command = [GUEST, "boot", "--icount", "--append", "crash=hang-off", "--", "hello"]
    process = subprocess.Popen(command, env=os.environ | {"TMPDIR": str(tmp_path)},
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    try:
        process.stderr.readline()  # From the kernel: the machine runs.
        emulators = children_of(process)
        assert emulators
        assert list(tmp_path.iterdir())
        process.send_signal(number)
        process.wait(PATIENCE)
    finally:
        process.kill()
        process.communicate()
    try:
        assert wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in emulators))
    finally:
        kill(emulators)
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert process.returncode == 128 + number
        assert not list(tmp_path.iterdir())


def test_reader_that_has_seen_enough() -> None:
    """As with `| head -1`: the run ends, and quietly."""
    process = subprocess.Popen([GUEST, "boot", "--icount", "--", "act bytes; act sleep"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    process.stdout.close()
    try:
        assert process.wait(PATIENCE) == 128 + signal.SIGPIPE
    finally:
        process.kill()
        process.wait()
