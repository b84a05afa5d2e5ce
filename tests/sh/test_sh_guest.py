# SPDX-License-Identifier: MIT
"""The scripts of language.txt and commands.txt again, in the guest.

The shell and the commands do there what they do on the host, and so do the Unix server and our C
library below them.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay.files import Files, Put

HERE = Path(__file__).resolve().parent

# In the guest's seconds.
LIMIT = 600

# One script in a shell and a directory of its own; then what became of it.
STEP = """
mkdir $TOP/{index}; cd $TOP/{index}
cat > ../script <<'@@@@'
{script}
@@@@
HOME=/home/u sh -c "$(cat ../script)" name a1 'a 2' a3 > ../output 2> ../errors < /dev/null
echo "@@BEGIN {index} $? $(wc -c < ../errors)"
cat ../output
echo @@END
"""

FOUND = re.compile(r"^@@BEGIN (\d+) (\d+) (\d+)\n(.*?)@@END\n", re.MULTILINE | re.DOTALL)


def read_cases(name: str) -> Iterator[tuple[str, tuple[int, bool, str]]]:
    """Scripts, and status, whether it complains, output: as test_sh_host.py says."""
    for case in re.split("^%%\n", (HERE / name).read_text(), flags=re.MULTILINE):
        script, _, rest = case.partition("\n--- ")
        head, _, output = rest.partition("\n")
        status, *complains = head.split()
        yield script, (int(status), bool(complains), output.removesuffix("\n\\\n"))


@pytest.mark.parametrize("name", ["language.txt", "commands.txt"])
def test_scripts(unix_machine, tmp_path: Path, name: str) -> None:
    cases = list(read_cases(name))
    whole = tmp_path / "all"
    whole.write_text("mkdir top; TOP=$PWD/top\n" + "".join(
        STEP.format(index=index, script=script) for index, (script, _) in enumerate(cases)))
    result = unix_machine("sh /home/student/all", limit=LIMIT,
                          files=Files(put=(Put(whole, "/home/student/all"),)))
    assert (result.outcome, result.status) == ("exit", 0)
    found = {int(index): (int(status), int(errors) > 0, output)
             for index, status, errors, output in FOUND.findall(result.output.decode("latin1"))}
    wrong = {script: (found.get(index), wanted) for index, (script, wanted) in enumerate(cases)
             if found.get(index) != wanted}
    assert not wrong


TURNS = "n=0; while [ $n -lt 100 ]; do n=$((n + 1)); done"
REAL = re.compile(rb"^real\s+(?:(\d+)m)?(\d+\.\d+)", re.MULTILINE)


def test_a_loop_with_a_bracket_reads_no_folder(unix_machine) -> None:
    """`[` alone is no pattern: a folder of 1,000 files makes no difference."""
    result = unix_machine(
        "mkdir many none; cd many; n=0; while [ $n -lt 1000 ]; do n=$((n + 1)); : >f$n; done; "
        f"cd ../none; time sh -c '{TURNS}' 2>&1; cd ../many; time sh -c '{TURNS}' 2>&1",
        limit=LIMIT, icount=True)
    few, many = (60 * int(minutes or 0) + float(seconds)
                 for minutes, seconds in REAL.findall(result.output + result.log))
    assert result.status == 0 and many < 2 * few, (few, many)


def test_what_is_root_s_is_in_root_s_path(unix_machine) -> None:
    """Whoever gets a shell, and however."""
    asked = "echo $PATH; which halt hostprof kgmon snames"
    student = unix_machine(asked, limit=LIMIT, icount=True)
    assert (student.output, student.status) == (b"/bin\n", 1)
    root = unix_machine(f"{asked}; su student -c 'echo $PATH'; su ta -c 'su'; su -c 'echo $PATH'",
                        user="root", limit=LIMIT, icount=True)
    assert root.output.decode().splitlines() == [
        "/bin:/sbin", "/sbin/halt", "/sbin/hostprof", "/sbin/kgmon", "/sbin/snames", "/bin",
        "/bin:/sbin"]
