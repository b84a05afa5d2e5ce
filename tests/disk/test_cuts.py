# SPDX-License-Identifier: MIT
"""After every power cut what was fsynced is there, no file shows another's bytes, and e2fsck
repairs the disk without asking."""

import pytest

from disk import cuts

WORKLOADS = (1, 2)
LENGTH = 500
SEQUENCES = 1000


@pytest.fixture(name="short", scope="module")
def short_fixture() -> cuts.Recorded:
    return cuts.record(cuts.workload(7, 120))


def test_some_cuts(short: cuts.Recorded) -> None:
    places = cuts.every_cut(short)
    found = cuts.Examiner(short, repair_each=8).examine(places)
    assert found.wrong == [] and found.disks > 200


def test_some_torn_writes(short: cuts.Recorded) -> None:
    found = cuts.Examiner(short, repair_each=2).examine(cuts.torn_cuts(short, 1, 60))
    assert found.wrong == [] and found.disks == 60


def test_some_short_sequences() -> None:
    recorded = cuts.record(cuts.sequences(3, 40))
    found = cuts.Examiner(recorded, repair_each=4).examine(cuts.cuts_of_sequences(recorded, 4))
    assert found.wrong == [] and found.disks > 100


def test_each_write_is_flushed(short: cuts.Recorded) -> None:
    """The log has a flush as a write of nothing.  QEMU takes a new disk's first for needless."""
    for write, after in zip(short.writes[1:], short.writes[2:]):
        assert not (write.data and after.data), "two writes without a flush in between"


def without(recorded: cuts.Recorded, number: int) -> cuts.Recorded:
    return recorded._replace(writes=recorded.writes[:number] + recorded.writes[number + 1:])


def test_a_write_that_is_missing_is_found(short: cuts.Recorded) -> None:
    """Each that has tags of a file's: somewhere after it something is wrong."""
    tagged = [number for number, write in enumerate(short.writes)
              if any(tag and tag[0] for tag in cuts.tags(write.data[:cuts.SECTOR]))]
    for number in tagged[::len(tagged) // 5]:
        broken = without(short, number)
        places = [place for place in cuts.every_cut(broken) if place.writes >= number]
        assert cuts.Examiner(broken, repair_each=10**6).examine(places).wrong != []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", WORKLOADS)
def test_every_cut(seed: int) -> None:
    recorded = cuts.record(cuts.workload(seed, LENGTH))
    found = cuts.Examiner(recorded).examine(cuts.every_cut(recorded))
    assert found.wrong == [] and found.disks > 1000
    assert cuts.Examiner(recorded).examine(cuts.torn_cuts(recorded, seed, 300)).wrong == []


@pytest.mark.nightly
def test_many_short_sequences() -> None:
    recorded = cuts.record(cuts.sequences(5, SEQUENCES))
    found = cuts.Examiner(recorded).examine(cuts.cuts_of_sequences(recorded, 6))
    assert found.wrong == [] and found.disks > 2 * SEQUENCES
