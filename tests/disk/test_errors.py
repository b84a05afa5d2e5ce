# SPDX-License-Identifier: MIT
"""A disk that fails once, at each of its reads and writes in turn, under a machine whose steps end
with the first that fails.  What was synced is there afterwards, and what fsync() said to be."""

import functools
import random
import struct
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from assay import machine, unix
from assay.setup import Disk

from disk import cuts
from disk.ext2 import Image


def without_sync(steps: list[str]) -> list[str]:
    """sync() tells of no error.  A step that is marked has its number at its end."""
    kept = [step for step in steps if step[0] != "s"]
    return [f"{step.rpartition(' ')[0]} {number}" if step[0] == "f" else step
            for number, step in enumerate(kept)]


STEPS = without_sync(cuts.workload(11, 60))
MODEL = cuts.Model(STEPS)
REQUESTS = {"write": 145, "read": 24}  # As many as the steps take, or some less.
FAILING = "driver=raw,file.driver=blkdebug,file.config={rules},file.image.driver=file," \
          "file.image.filename={{file}}"


class Ended(NamedTuple):
    """How far the machine came, and its disk."""

    status: int
    log: str
    data: bytearray

    @property
    def has_failed(self) -> bool:
        return "vd0: record" in self.log

    @property
    def mark(self) -> int:
        image = Image(self.data)
        mark = next(image.contents(inode) for path, inode in image.walk() if path == "/mark")
        return struct.unpack_from("<I", mark, len(cuts.MARK))[0] if any(mark) else -1


def rules(kind: str, number: int) -> str:
    """QEMU counts the requests by going from state to state."""
    states = "".join(f'[set-state]\nevent = "{kind}_aio"\nstate = "{state}"\n'
                     f'new_state = "{state + 1}"\n' for state in range(1, number))
    return states + f'[inject-error]\nevent = "{kind}_aio"\nstate = "{number}"\n' \
                    f'iotype = "{kind}"\nerrno = "5"\nonce = "on"\n'


@functools.cache
def fresh_disk() -> bytes:
    with tempfile.TemporaryDirectory(prefix="assay.") as name:
        return cuts.make_disk(Path(name), STEPS).read_bytes()


def run(kind: str, number: int) -> Ended:
    with tempfile.TemporaryDirectory(prefix="assay.") as name:
        folder = Path(name)
        image = folder / "disk"
        image.write_bytes(fresh_disk())
        (folder / "rules").write_text(rules(kind, number))
        disk = Disk(image, through=FAILING.format(rules=folder / "rules"))
        result = machine.run([unix.server_command("vd0 init=/init", "")], limit=cuts.LIMIT,
                             disks=(disk,))
        assert result.outcome == "exit", result.log.decode()[-2000:]
        return Ended(result.status, result.log.decode(), bytearray(image.read_bytes()))


def check(kind: str, number: int) -> bool:
    """Whether the disk has failed; all that is promised holds if it has."""
    ended = run(kind, number)
    if ended.status == 0 and not ended.has_failed:
        return False
    assert ended.has_failed, ended.log[-1000:]
    with tempfile.TemporaryDirectory(prefix="assay.") as folder:
        cuts.check_disk(ended.data, Path(folder), "-fy")
        assert cuts.check_disk(ended.data, Path(folder), "-fn") == 0
    wrong = cuts.Judge(MODEL).judge(ended.data, ended.mark)
    assert wrong == [], (kind, number, ended.status, wrong, ended.log[-500:])
    return True


@pytest.mark.parametrize("kind,count", (("write", 5), ("read", 2)))
def test_some_errors(kind: str, count: int) -> None:
    chance = random.Random(1)
    assert sum(check(kind, chance.randrange(2, REQUESTS[kind])) for _ in range(count)) == count


@pytest.mark.nightly
@pytest.mark.parametrize("kind", REQUESTS)
def test_each_request_fails_once(kind: str) -> None:
    """QEMU itself reads first, before there is a machine."""
    assert all([check(kind, number) for number in range(2, REQUESTS[kind])])
