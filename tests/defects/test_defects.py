# SPDX-License-Identifier: MIT
"""That the defects of defects.py can be put back as the sources are now, and who finds them exists.

That they are found is what tests/defects/run sees, which takes minutes.
"""

import re
from pathlib import Path

import pytest
from defects.defects import DEFECTS

ROOT = Path(__file__).resolve().parents[2]
TABLE_ROW = re.compile(r"^\| (D\d+) \|", re.MULTILINE)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_it_can_be_put_back(defect) -> None:
    for change in defect.changes:
        assert (ROOT / change.file).read_text().count(change.right) == 1, change


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_who_finds_it_is_there(defect) -> None:
    for test in defect.tests:
        file, _, name = test.partition("::")
        text = (ROOT / "tests" / file).read_text()
        assert re.search(rf"^(TEST\(|def ){name.partition('[')[0]}\b", text, re.MULTILINE), test


def test_all_that_the_book_tells_of_are_here() -> None:
    told = set(TABLE_ROW.findall((ROOT / "docs" / "sampling.md").read_text()))
    assert told == {f"D{n}" for n in range(1, 18)}
    assert told <= {defect.name.partition("-")[0] for defect in DEFECTS}
