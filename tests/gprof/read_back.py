# SPDX-License-Identifier: MIT
"""What a view says, by the program that users open it with: own samples by function."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

Counts = dict[str, int]


def call(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def nonzero(counts: Counts) -> Counts:
    return {name: count for name, count in counts.items() if count}


# ---------------- By ourselves ----------------

def folded(text: str, flavor: str = "") -> Counts:
    """With a flavor: of files that have several."""
    found: Counts = Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        if stack == "<lost>" or (flavor and stack.split(";")[0] != flavor):
            continue
        found[stack.split(";")[-1]] += int(count)
    return dict(found)


def of_json(text: str, flavor: str) -> Counts:
    profile = json.loads(text)
    index = [entry["name"] for entry in profile["flavors"]].index(flavor)
    found: Counts = Counter()
    for entry in profile["functions"]:  # Programs that ran more than once are there each time.
        found[entry["name"]] += entry["self"][index]
    return nonzero(found)


def perf_script(text: str, flavor: str) -> Counts:
    """The text that perf writes, and we too."""
    found: Counts = Counter()
    for block in re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)):
        lines = block.strip("\n").splitlines()
        if lines and lines[0].rstrip().endswith(f" {flavor}:"):
            found[lines[1].split()[1].partition("+")[0]] += 1
    return dict(found)


def callgrind_calls(text: str) -> dict[tuple[str, str], int]:
    """How often which function called which, as the file says it."""
    names: dict[str, str] = {}
    found: dict[tuple[str, str], int] = Counter()
    function = callee = ""
    for line in text.splitlines():
        match = re.match(r"(c?fn)=(\(\d+\))(?: (.*))?$", line)
        if match:
            names.setdefault(match[2], match[3])
            function, callee = ((names[match[2]], "") if match[1] == "fn" else
                                (function, names[match[2]]))
        elif line.startswith("calls="):
            found[function, callee] += int(line[6:].split()[0])
    return dict(found)


def of_speedscope(text: str, index: int = 0) -> Counts:
    document = json.loads(text)
    names = [frame["name"] for frame in document["shared"]["frames"]]
    profile, found = document["profiles"][index], Counter()
    for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
        found[names[stack[-1]]] += weight
    assert profile["endValue"] == sum(found.values())
    return dict(found)


# ---------------- By others ----------------

def pprof(file: Path, flavor: str, *options: str) -> tuple[Counts, Counts]:
    """Own samples, and those with what functions called."""
    text = call("go", "tool", "pprof", "-top", f"-sample_index={flavor}", "-nodecount=100000",
                "-nodefraction=0", "-edgefraction=0", *options, file)
    rows = [line.split(None, 5) for line in text.partition("cum%\n")[2].splitlines()]
    return (nonzero({row[5]: int(row[0]) for row in rows}),
            nonzero({row[5]: int(row[3]) for row in rows}))


def pprof_tags(file: Path, key: str) -> Counts:
    text = call("go", "tool", "pprof", "-tags", file)
    block = re.search(rf"^ *{key}: Total .*\n((?:  .*\n)+)", text, re.MULTILINE)[1]
    return {line.partition(": ")[2]: round(float(line.split()[0])) for line in block.splitlines()}


def callgrind(file: Path, column: int, *options: str) -> Counts:
    text = call("callgrind_annotate", "--threshold=100", "--auto=no", *options, file)
    table = text.partition("file:function\n")[2]
    found = {}
    for line in table.splitlines():
        match = re.match(r"^((?: *(?:[\d,]+ \( *[\d.]+%\)|[\d,]+|\.) +)+)\S*?:(.+?) \[", line)
        if match:
            columns = re.findall(r"(?:^| )([\d,]+|\.)(?= )", re.sub(r"\(.*?%\)", "", match[1]))
            text = columns[column].replace(",", "")
            found[match[2]] = 0 if text == "." else int(text)
    return nonzero(found)


def perf_report(file: Path, flavor: str, period: int, *options: str) -> Counts:
    """Of user mode; what is in the kernel is one function."""
    text = call("perf", "report", "--stdio", "-g", "none", "--no-children", "-t", ",",
                "-F", "period,sym", *options, "-i", file)
    block = re.search(rf"of event '{flavor}'\n((?:.*\n)*?)(?:# Samples|\Z)", text)
    found: Counts = Counter()
    for line in (block[1] if block else "").splitlines():
        match = re.match(r" *(\d+) *,\[(.)\] (.*?) *$", line)
        if match:
            found["<kernel>" if match[2] == "k" else match[3]] += int(match[1])
    assert all(count % period == 0 for count in found.values())
    return {name: count // period for name, count in found.items()}


def perf_annotate(file: Path, function: str) -> dict[int, int]:
    """Of the first event in one function: samples by address."""
    text = call("perf", "annotate", "--stdio", "-n", "-s", function, "-i", file)
    first = text.split(" Samples |")[1]
    rows = re.findall(r"^ *(\d+) +: +([0-9a-f]{7,}):", first, re.MULTILINE)
    return {int(address, 16): int(count) for count, address in rows if int(count)}
