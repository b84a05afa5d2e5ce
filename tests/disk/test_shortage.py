# SPDX-License-Identifier: MIT
"""When memory is out, what is to be written waits for some: it is no error of the disk."""

import subprocess
from pathlib import Path

from assay import OUT
from assay.files import Files, Put

SOURCE = Path(__file__).parent / "work" / "hog.c"
COMMANDS = """\
hog & hog &
i=0
while test $i -lt 60
do
    i=$((i+1))
    cp /bin/true /tmp/x$i
    rm -f /tmp/x$i
    touch /tmp/y$i
    sync || echo "sync has failed"
done
"""


def test_a_shortage_is_no_error_of_the_disk(unix_machine, tmp_path: Path) -> None:
    """How the commands end is another matter: they may be without memory, too."""
    hog = tmp_path / "hog"
    subprocess.run([OUT / "sdk/bin/ux-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", hog, SOURCE],
                   check=True)
    result = unix_machine(COMMANDS, user="root", mem=48, limit=20,
                          files=Files(put=(Put(hog, "/bin/hog"),)))
    assert result.outcome not in ("panic", "refused", "tool-error"), result.message
    assert b"cannot write" not in result.log and b"cannot read" not in result.log
    assert b"sync has failed" not in result.output
