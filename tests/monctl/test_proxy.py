# SPDX-License-Identifier: MIT
"""monctl -proxy, and control of what it exports; in few machines, as the cases build on each other.

$P is a program that runs, $X its proxy.
"""

import re
import struct
from pathlib import Path

from assay import OUT
from assay.files import Files, Get
from libprof.gmon_reader import EXTRA_END, parse

SLOWPROG = OUT / "user" / "slowprog"
MAGICS = {"gnu": (0, b"gmon\x01\0\0\0"), "4.4bsd": (12, struct.pack("<I", 0x51879))}


def keys(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def got(folder: Path, *names: str) -> Files:
    return Files(get=tuple(Get(f"/home/student/{name}", folder / Path(name).name)
                           for name in names))


CONTROL = {
    "start": "sleep 1000 & P=$!; echo $P",
    "no such process": "monctl -pid 77 -status",
    "nothing exported": "monctl -pid $P -status",
    "not ours": "monctl -pid 1 -proxy",
    "no program": "monctl -pid $P -proxy -execfile /etc/passwd",
    "no file": "monctl -pid $P -proxy -execfile /nowhere",
    "another program": "monctl -pid $P -proxy -execfile /bin/cat",
    "no thread": "monctl -pid $P -live 1 -thread 99999",
    "the whole machine": "monctl -for all -live 1",
    "nmi": "monctl -pid $P -live 1 -nmi -fixed",
    "another host": "monctl -host bershad.pc.cs.cmu.edu -pid $P -status",
    "the server": "monctl -pid 0 -on periodic",
    "proxy of the server": "monctl -pid 0 -proxy",
    # It is still registering when it is asked.
    "proxy": "monctl -pid $P -proxy -monfile end & X=$!; monctl -pid $P -status",
    "again": "monctl -pid $P -proxy",
    "in the background": "monctl -pid $P -proxy -bg",
    "on": "monctl -pid $P -on zfill -rate 500 -on cow; monctl -pid $P -status",
    "unwritable": "monctl -pid $P -off -monfile /nowhere/f",
    "another file": "monctl -pid $P -monfile f.gnu; monctl -pid $P -off monfile note; "
                    "cmp f.gnu note",
    "off": "monctl -pid $P -status",
    "formats": "for f in 4.4bsd bsd; do monctl -pid $P -monfile f.$f -format $f || echo no; done",
    "end": "kill $P; wait $X; echo $?; ls end",
    "afterwards": "monctl -pid $P -status",
}

# What each says, in part, and its status.
ANSWERS = {
    "no such process": ("there is no process 77", 1),
    "nothing exported": ("process {P} exports no profiling; start a proxy: "
                         "monctl -pid {P} -proxy -execfile /bin/sleep &", 1),
    "not ours": ("process 1 is not yours: only its owner and root may sample it", 1),
    "no program": ("/etc/passwd: is not an ELF file", 1),
    "no file": ("/nowhere: No such file or directory", 1),
    "another program": ("/bin/cat is not what process {P} executes: the text differs at 0x", 1),
    "no thread": ("process {P} has no thread 99999; it has ", 1),
    "the whole machine": ("-for: only root may do that", 1),
    "nmi": ("0 samples, 0 lost\n   share     periodic  function", 0),
    "another host": ("-host bershad.pc.cs.cmu.edu: there is no network server", 1),
    "the server": ("only root and the group kmem may control the Unix server's profiling", 1),
    "proxy of the server": ("the Unix server: only root and the group kmem may sample it", 1),
    "again": ("process {P} has a proxy already; use monctl -pid {P} -on periodic", 1),
    "in the background": ("process {P} has a proxy already", 1),
    "unwritable": ("/nowhere/f: No such file or directory; nothing is lost", 1),
    "another file": ("", 0),
    "formats": ("", 0),
    "end": ("process {P}: 0 samples, 0 lost, end\n0\nend", 0),
    "afterwards": ("there is no process {P}", 1),
}


def test_control(cases, tmp_path: Path) -> None:
    said = cases(CONTROL, files=got(tmp_path, "f.gnu", "f.4.4bsd", "f.bsd"))
    program = said["start"].text.split()[-1]
    for name, (text, status) in ANSWERS.items():
        assert (text.format(P=program) in said[name].text, said[name].status) == (True, status), (
            name, said[name])

    fresh, on, off = (keys(said[name].text) for name in ("proxy", "on", "off"))
    assert (fresh["pid"], fresh["flavors"], fresh["taken"]) == (program, "periodic", "0")
    assert int(fresh["proxy"]) > int(program)
    assert (on["flavors"], off["flavors"]) == ("zfill,cow", "none")

    # A proxy counts no calls: there are our own records only.
    arcs = parse((tmp_path / "f.gnu").read_bytes()).arcs
    assert arcs and all(arc[0] < EXTRA_END for arc in arcs) and on["arcs"] == "0"
    for form, (place, magic) in MAGICS.items():
        data = (tmp_path / f"f.{form}").read_bytes()
        assert data[place:place + len(magic)] == magic
    data = (tmp_path / "f.bsd").read_bytes()
    low, high, size = struct.unpack("<3I", data[:12])
    assert low < high and size == len(data)


# It waits before and after, since monctl would have to wait while it computes.
COMPUTES = "sleep 0.5; n=0; while [ $n -lt 5000 ]; do n=$((n + 1)); done; sleep 1000; :"

SAMPLED = {
    # Nothing is said of what to sample.
    "at once": "slowprog 40 >/dev/null & monctl -pid $! -proxy -execfile /bin/slowprog; echo $?; "
               "rm gmon.out",
    "whom to kill": "sleep 1000 & P=$!; monctl -pid $P -proxy -bg -monfile b 2>said; "
                    "cat said; set -- $(cat said); kill $3; until [ -s b ]; do sleep 0.1; done; "
                    "kill $P",
    "start": f"cp /bin/sh copy; mkdir d; cd d; sh -c '{COMPUTES}' & P=$!; "
             "monctl -pid $P -proxy -execfile ../copy -on periodic -rate 500 & X=$!; cd ..",
    "running": "monctl -pid $P -status | grep ^proxy=; echo proxy=$X",
    "rate": "sleep 2; monctl -pid $P -off -status",
    "zeroed": "monctl -pid $P -on cow; monctl -pid $P -off -status",
    "term": "monctl -pid $P -on periodic; kill -TERM $X; wait $X; echo $?; ls d",
    "int": "monctl -pid $P -proxy -on periodic -monfile /nowhere/f & X=$!; "
           "monctl -pid $P -status | grep flavors; kill -INT $X; wait $X; echo $?; ls /tmp",
    "ended": "monctl -pid $P -proxy -on periodic -monfile short -bg && kill $P; "
             "until [ -s short ]; do sleep 0.1; done",
}


def test_samples_and_ends(cases) -> None:
    """Its own end, by a signal or the target's, leaves the profile, wherever that can be."""
    said = cases(SAMPLED)
    counted = re.fullmatch(r"process \d+: (\d+) samples, 0 lost, gmon.out\n0",
                           said["at once"].text)
    assert counted and int(counted[1]) > 20, said["at once"]
    assert re.search(r"^monctl: process (\d+) samples in the background; kill \1 ends it$",
                     said["whom to kill"].text, re.M), said["whom to kill"]
    proxy, own = said["running"].text.splitlines()
    assert proxy == own
    counts = {key: int(value) for key, value in keys(said["rate"].text).items()
              if value.isdecimal()}
    assert counts["rate"] == 500 and counts["taken"] > 20
    assert counts["taken"] == counts["delivered"] + counts["lost"] + counts["buffered"]
    assert (counts["lost"], counts["buffered"]) == (0, 0)
    assert counts["due"] == counts["fired"] + counts["missed"]
    assert counts["fired"] == counts["taken"] + counts["idle"] + counts["elsewhere"]
    assert said["rate"].text.startswith(
        f"process {counts['pid']} is not sampled now; its proxy, process {counts['proxy']}, has "
        f"{counts['taken']} samples, 0 lost\nof {counts['due']} times that a sample was due it ran "
        f"at {counts['taken']}, something else at {counts['elsewhere']}, nothing (idle) at "
        f"{counts['idle']}; {counts['missed']} were missed\npid=")
    # Before and behind what it computes it sleeps, and nobody else has anything to do.
    assert counts["idle"] > 20
    assert keys(said["zeroed"].text)["taken"] == "0"
    assert "of 0 times" not in said["zeroed"].text
    assert re.fullmatch(r"process \d+: \d+ samples, 0 lost, gmon.out\n0\ngmon.out",
                        said["term"].text), said["term"]
    assert re.search(r"^flavors=periodic\n.*/nowhere/f: .*kept in /tmp/(gmon.out.\d+)\n"
                     r"process \d+: \d+ samples, 0 lost, /tmp/\1\n1\n(.*\n)*\1",
                     said["int"].text, re.S), said["int"]
    assert re.search(r"process \d+: \d+ samples, 0 lost, short", said["ended"].text), said["ended"]


def test_the_server(cases) -> None:
    """UX says itself how it is profiled; those of group kmem may, and root."""
    said = cases({
        "proxy": "monctl -pid 0 -proxy",
        "on": "monctl -pid 0 -on periodic -rate 10000 && ls -l /bin >/dev/null && readprog /bin/sh",
        "status": "monctl -pid 0 -off -monfile ux.out -status",
        "no name server": "set -- $(ps -a | grep '[s]names'); kill -9 $2; "
                          "monctl -pid 0 -on periodic && monctl -pid 0 -off -status",
    }, user="root")
    assert said["proxy"] == (
        "monctl: UX exports its own profiling; use monctl -pid 0 -on periodic", 1)
    assert said["on"].status == 0, said["on"]
    assert int(keys(said["status"].text)["taken"]) > 0, said["status"]
    # It is asked by the port of Unix's own calls.
    assert keys(said["no name server"].text)["flavors"] == "none", said["no name server"]
