# SPDX-License-Identifier: MIT
"""The experiments of the chapter "for whom", and pictures of what came out.

Each is run in a machine of its own under the instruction clock, so that it comes out the same each
time.  What the paper on PKPROF tells of the same experiment stands beside it.
"""

import json
import re
import subprocess
import tempfile
from collections import Counter
from html import escape
from pathlib import Path
from typing import NamedTuple

from assay import OUT, ToolError, hot, machine, unix
from assay.files import Files, Get

LIMIT = 120
READS = 300  # Of a file of a megabyte.

# How a file is read, measured by whom.  What is timed is the reading alone.
TIMED = f"sh -c 'time cat {'big ' * READS}>/dev/null'"
WAYS = {
    "nobody measures": TIMED,
    "kgmon -b: calls and samples of all": f"kgmon -b; {TIMED}; kgmon -h -r >/dev/null",
    "pkgmon -s: samples, 1 kHz": f"pkgmon -s {TIMED}",
    "pkgmon -c: calls": f"pkgmon -c {TIMED}",
    "pkgmon: both, 1 kHz": f"pkgmon {TIMED}",
    "pkgmon -a: and who asked": f"pkgmon -a {TIMED}",
    "pkgmon -r 10000: both": f"pkgmon -r 10000 {TIMED}",
    "monctl -clients: stacks, 1 kHz":
        f"monctl -for all -clients -record r & M=$!; monctl -help >/dev/null; {TIMED}; kill $M; "
        "wait $M",
}
PAPER_READS = 3.0  # Percent: "less than".

# A line that is received: its bytes are awaited, or come before anybody asks; by the program or a
# server for it.
PACKETS = 50
LINES = {"waits": "", "comes later": "-l", "a server waits": "-s",
         "a server, later": "-l -s"}
RECEIVED_BY = {"nobody measures": "lineprog {}",
               "kgmon -b": "kgmon -b; lineprog {}; kgmon -h -r >/dev/null",
               "pkgmon -s": "pkgmon -s lineprog {}",
               "pkgmon": "pkgmon lineprog {}"}
# The line is nobody else's: the log is on the screen, and what serves tools/guest put has ended.
LINE_IS_FREE = "cd /tmp; mkdir m; cd m; ps | grep agent | { read who pid rest; kill $pid; }; "
PAPER_RECEIVES = 80.0  # Percent of the throughput that is lost.

CALLS = 100  # Of the second client; the first makes three times as many.
SERVED = ("cd; monctl -for all -rate 5000 -record all & M=$!; monctl -help >/dev/null; "
          f"rpcprog {CALLS}; kill $M; wait $M")


class Bar(NamedTuple):
    name: str
    value: float
    said: str  # Behind the bar.


class Figure(NamedTuple):
    title: str
    bars: list[Bar]
    mark: float | None = None  # A line at that value, and what it is.
    mark_is: str = ""


# ---------------- Running ----------------

def run(commands: str, files: Files = Files(), **parameters) -> machine.Result:
    result = unix.run(commands, user="root", limit=LIMIT, files=files, icount=True, **parameters)
    if (result.outcome, result.status) != ("exit", 0):
        raise ToolError(f"{commands}: {result.message or result.outcome}")
    return result


def seconds_of(way: str) -> float:
    """The loop's, by the machine's own clock; each file is in memory by then."""
    result = run(f"cd /tmp; mkdir m; cd m; seq 150000 >big; cat big >/dev/null; {{ {way}\n}} 2>&1")
    found = re.search(r"^real +(\d+\.\d+)", result.output.decode(), re.M)
    if found is None:
        raise ToolError(f"{way}: told no time:\n{result.output.decode()}")
    return float(found[1])


def file_read() -> Figure:
    times = {name: seconds_of(way) for name, way in WAYS.items()}
    alone = times["nobody measures"]
    bars = [Bar(name, 100 * (time / alone - 1), f"+{100 * (time / alone - 1):.1f} %, {time:.3f} s")
            for name, time in times.items()]
    return Figure(f"How much longer it takes to read a file {READS} times that is in memory", bars,
                  PAPER_READS, "PKPROF: less than 3 %")


def instructions_of(commands: str) -> int:
    """Between the program's markers, by the emulator's plugin, whoever executes them."""
    kernel = hot.Image("kernel", OUT / "mach_kernel", is_kernel=True)
    with tempfile.TemporaryDirectory(prefix="assay.") as folder:
        path = Path(folder) / "counts"
        option = hot.plugin_option(path, kernel, marked=True)
        run(commands, append="log=vga", plugin=option)
        return hot.read_counts(path).total


def line_costs() -> dict[str, dict[str, int]]:
    """Of each line and way: instructions a packet."""
    return {line: {way: instructions_of(LINE_IS_FREE + commands.format(f"{options} {PACKETS}"))
                   // PACKETS for way, commands in RECEIVED_BY.items()}
            for line, options in LINES.items()}


def line_receive() -> Figure:
    bars = []
    for line, costs in line_costs().items():
        alone = costs.pop("nobody measures")
        for way, cost in costs.items():
            bars.append(Bar(f"{line}: {way}", 100 * (1 - alone / cost),
                            f"{alone:,}, {cost:,}"))
    return Figure("Percent of the throughput lost, and instructions for 56 bytes on a serial line",
                  bars, PAPER_RECEIVES, "PKPROF: 80 %")


def label_shares(file: Path) -> dict[str, float]:
    """Of the server's samples, by the process that it worked for."""
    done = subprocess.run([OUT / "bin/gprof", "--view=json", OUT / "user/rpcprog", file],
                          check=True, capture_output=True, text=True)
    data = json.loads(done.stdout)
    names = {task["id"]: f"{task['name']} {task['pid']}" for task in data["tasks"]}
    serve = {n for n, function in enumerate(data["functions"]) if function["name"] == "serve"}
    found = Counter(names[stack["label"]] for stack in data["stacks"]
                    if stack["functions"][0] in serve)
    return {name: count / sum(found.values()) for name, count in found.most_common()}


def clients() -> Figure:
    with tempfile.TemporaryDirectory(prefix="assay.") as folder:
        file = Path(folder) / "all"
        run(SERVED, Files(get=(Get("/root/all", file),)))
        shares = label_shares(file)
    bars = [Bar(f"serve() for {name}", 100 * share, f"{100 * share:.1f} %")
            for name, share in shares.items()]
    return Figure("A server whose first client makes three calls for each of the second's", bars,
                  75, "75 %")


FIGURES = {"file-read": file_read, "line-receive": line_receive, "two-clients": clients}


# ---------------- Drawing ----------------

ROW, LEFT, TOP, WIDTH, TEXT = 30, 250, 46, 320, 130
STYLE = """text { font: 13px sans-serif; fill: #202020; }
.title { font-weight: bold; }
.bar { fill: #8fb0c8; stroke: #44687f; }
.mark { stroke: #b03030; stroke-dasharray: 4 3; }
.said { fill: #b03030; }"""


def draw(figure: Figure) -> str:
    most = max([bar.value for bar in figure.bars] + [figure.mark or 0]) or 1
    height = TOP + ROW * len(figure.bars) + 26
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + TEXT}" '
             f'height="{height}">', f"<style>{STYLE}</style>",
             f'<text class="title" x="10" y="22">{escape(figure.title)}</text>']
    for n, bar in enumerate(figure.bars):
        top = TOP + n * ROW
        length = max(bar.value, 0) / most * WIDTH
        lines += [f'<text x="{LEFT - 10}" y="{top + 15}" text-anchor="end">'
                  f"{escape(bar.name)}</text>",
                  f'<rect class="bar" x="{LEFT}" y="{top}" width="{length:.1f}" height="20"/>',
                  f'<text x="{LEFT + WIDTH + 10}" y="{top + 15}">{escape(bar.said)}</text>']
    if figure.mark is not None:
        at = LEFT + figure.mark / most * WIDTH
        lines += [f'<line class="mark" x1="{at:.1f}" y1="{TOP - 8}" x2="{at:.1f}" '
                  f'y2="{height - 20}"/>',
                  f'<text class="said" x="{at:.1f}" y="{height - 6}" text-anchor="middle">'
                  f"{escape(figure.mark_is)}</text>"]
    return "\n".join([*lines, "</svg>"]) + "\n"
