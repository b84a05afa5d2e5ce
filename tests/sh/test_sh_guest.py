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
