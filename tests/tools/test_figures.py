# SPDX-License-Identifier: MIT
"""tools/figures: what the book's pictures of experiments say, and that they are pictures."""

import subprocess
import xml.etree.ElementTree as xml

import pytest
from assay import ROOT, experiments

SVG = "{http://www.w3.org/2000/svg}"


def bars(picture: str) -> list[float]:
    return [float(bar.get("width", 0)) for bar in xml.fromstring(picture).iter(f"{SVG}rect")]


def test_bars_are_as_long_as_their_values() -> None:
    figure = experiments.Figure("a <title>", [experiments.Bar("one", 3, "3"),
                                              experiments.Bar("& two", 1.5, "1.5"),
                                              experiments.Bar("none", 0, "0")], 6, "the mark")
    picture = experiments.draw(figure)
    assert bars(picture) == [experiments.WIDTH / 2, experiments.WIDTH / 4, 0]
    texts = [text.text for text in xml.fromstring(picture).iter(f"{SVG}text")]
    assert {"a <title>", "one", "& two", "the mark"} <= set(texts)


@pytest.mark.parametrize("name", experiments.FIGURES)
def test_the_book_has_them(name: str) -> None:
    assert len(bars((ROOT / "docs/figures" / f"{name}.svg").read_text())) > 1
    assert f"(figures/{name}.svg)" in (ROOT / "docs/for-whom.md").read_text()


def test_one_that_there_is_not_is_told() -> None:
    done = subprocess.run([ROOT / "tools/figures", "rembrandt"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and "there is no figure rembrandt" in done.stderr


def test_the_server_s_clients() -> None:
    """Three quarters and one, within five standard errors of so many samples."""
    shares = [bar.value for bar in experiments.clients().bars]
    assert len(shares) == 2 and abs(sum(shares) - 100) < 0.001
    assert abs(shares[0] - 75) < 5


@pytest.mark.nightly
def test_reading_a_file_takes_at_most_three_percent_longer() -> None:
    """But for ten times as many samples, and who asked whom."""
    costs = {bar.name: bar.value for bar in experiments.file_read().bars}
    limits = {"pkgmon -r 10000: both": 4, "pkgmon -a: and who asked": 8}
    assert costs["nobody measures"] == 0
    assert all(cost <= limits.get(name, 3) for name, cost in costs.items()), costs


@pytest.mark.nightly
def test_what_receiving_takes_more() -> None:
    """Of packets that are awaited by the program and by a server; counting alone, and by label."""
    costs = experiments.line_costs()
    for line, by_label in (("waits", 1.12), ("a server waits", 1.16)):
        alone = costs[line]["nobody measures"]
        assert alone < costs[line]["kgmon -b"] < 1.05 * alone, costs
        assert costs[line]["kgmon -b"] < costs[line]["pkgmon"] < by_label * alone, costs
