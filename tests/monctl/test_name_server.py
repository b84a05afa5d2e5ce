# SPDX-License-Identifier: MIT
"""Another name server: whoever was found by a name before is found again, without being asked to.

Commands are root's.  `exports` was linked with libprof1, `open` too, for everybody.
"""

import re
from pathlib import Path

from assay.files import Files

from monctl.test_hardships import compiled, keys

END = "set -- $(ps -a | grep '[s]names'); kill -9 $2; while ps -a | grep -q '[s]names'; do " \
      "sleep 0.01; done"
AGAIN = f"{END}; snames"


def found(pid: str) -> str:
    """Until it is; the machine's limit is the test's."""
    return f"until monctl -pid {pid} -status >/tmp/status 2>&1; do sleep 0.01; done; " \
           "grep -E '^(pid|proxy|flavors)=' /tmp/status"


FOUND = "; ".join(map(found, ("$(cat /tmp/p)", "$(cat /tmp/q)", "$(cat /tmp/r)")))
KERNEL = "mkdir /tmp/k; cd /tmp/k; hostprof -p >/dev/null && ls"

SAID = {
    "program": "cd /tmp; su student -c './exports >/dev/null 2>&1 & echo $! >p'; "
               + found("$(cat /tmp/p)"),
    "proxy": "sleep 1000 & echo $! >/tmp/q; monctl -pid $! -proxy -bg -monfile /tmp/q.out; "
             + found("$(cat /tmp/q)"),
    "run": "cd /tmp; su student -c 'monctl -on cow -monfile r.out -run sleep 1000 2>/tmp/m &'; "
           "until grep -q process m; do sleep 0.01; done; set -- $(cat m); echo $3 >r; "
           + found("$(cat /tmp/r)"),
    "kernel": f"hostprof -b; {KERNEL}",
    "without": f"{END}; monctl -pid $(cat /tmp/p) -status; monctl -pid 0 -on periodic && "
               "monctl -pid 0 -off -status | grep pid",
    "begins without": "cd /tmp; ./open 2>/tmp/o & echo $! >/tmp/n; "
                      "until grep -q 'start snames' /tmp/o; do sleep 0.01; done; cat /tmp/o",
    "forks without": "cd /tmp; ./forks >/tmp/c 2>/tmp/f & "
                     "until [ -s /tmp/c ]; do sleep 0.01; done",
    "again": f"snames; {FOUND}; cd /tmp/k; rm gmon.out; "
             "until hostprof -p >/dev/null; do sleep 0.01; done; ls",
    "known by now": found("$(cat /tmp/n)"),
    "a child too": f"{found('$(cat /tmp/c)')}; cat /tmp/c; grep -c 'start snames' /tmp/f",
    "for its owner": "su ta -c 'monctl -pid $(cat /tmp/p) -status'; "
                     "su student -c 'monctl -pid $(cat /tmp/p) -on cow -rate 100'; "
                     "su student -c 'monctl -pid $(cat /tmp/q) -off'; echo $?",
    # More often than a queue is long, and a program that is stopped meanwhile.
    "often": f"kill -STOP $(cat /tmp/p); {'; '.join([AGAIN] * 6)}; kill -CONT $(cat /tmp/p); "
             f"{FOUND}",
    "who waits": "sleep 1000 & monctl -pid $! -record /tmp/rec -bg; " + AGAIN +
                 "; sleep 1000 & P=$!; for n in 1 2 3 4 5; do "
                 "monctl -pid $P -status >/dev/null 2>&1; done; time monctl -pid $P -status",
    "end": "kill $(cat /tmp/q) $(cat /tmp/r); until [ -s /tmp/q.out ] && [ -s /tmp/r.out ]; do "
           "sleep 0.01; done; ls /tmp/q.out /tmp/r.out",
}


def test_another_name_server_knows_all(cases, tmp_path: Path) -> None:
    said = cases(SAID, user="root", files=Files(put=(
        compiled(tmp_path, "exports"), compiled(tmp_path, "exports", "-DFOR_ALL", to="open"),
        compiled(tmp_path, "exports", "-DFORKS", to="forks"))))
    program, proxy, run = (said[name].text for name in ("program", "proxy", "run"))
    assert keys(program)["proxy"] == "0" and "0" not in (keys(proxy)["proxy"], keys(run)["proxy"])
    assert keys(run)["flavors"] == "cow" and keys(program)["flavors"] == "periodic"
    before = [keys(text) for text in (program, proxy, run)]
    texts = re.split(r"(?m)^(?=pid=)", said["again"].text)[1:]
    assert [keys(text) for text in texts] == before, said["again"]
    assert said["again"].text.endswith("\ngmon.out") and said["kernel"].text.endswith("\ngmon.out")
    assert "there is no name server: root starts it" in said["without"].text
    assert said["without"].text.endswith("pid=0"), said["without"]
    assert keys(said["known by now"].text)["flavors"] == "periodic", said
    # The child is found by its own name, and does not say again what its parent has said.
    child = keys(said["a child too"].text)
    assert said["a child too"].text.split("\n")[-2:] == [child["pid"], "1"], said["a child too"]
    refused = said["for its owner"].text
    assert "only its owner and root may control this program's profiling" in refused
    assert "serves only root" in refused and refused.count("monctl: ") == 2, refused
    texts = re.split(r"(?m)^(?=pid=)", said["often"].text)[1:]
    assert [keys(text)["proxy"] for text in texts] == [one["proxy"] for one in before], said
    # Nobody waits for a monctl that has no name to check in.
    assert float(re.search(r"real +(\d+\.\d+)", said["who waits"].text)[1]) < 1, said["who waits"]
    assert said["end"].text.split()[-2:] == ["/tmp/q.out", "/tmp/r.out"], said["end"]
