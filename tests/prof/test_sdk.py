# SPDX-License-Identifier: MIT
"""What a program needs to receive samples is in the SDK, all of it."""

import os
import subprocess
from pathlib import Path

from assay import OUT, ROOT

INCLUDE = OUT / "sdk" / "include"
PROGRAM = """#include <mach/pc_sample.h>
#include <mach/prof.h>
#include "prof_server.c"

kern_return_t receive_samples(mach_port_t port, sample_array_t samples, mach_msg_type_number_t n)
{
\treturn port != MACH_PORT_NULL && samples[0] == n ? KERN_SUCCESS : KERN_FAILURE;
}
"""


def test_mach_prof_defs(tmp_path: Path) -> None:
    """MIG makes prof_server() of it, which calls the program's receive_samples()."""
    mig = ["i686-gnu-mig", "-migcom", ROOT / "tools/migcom", "-n", f"-I{INCLUDE}",
           "-user", "/dev/null", "-header", "/dev/null", "-server", "prof_server.c",
           "-sheader", "prof_server.h", INCLUDE / "mach/prof.defs"]
    subprocess.run(mig, cwd=tmp_path, env=os.environ | {"CC": "i686-linux-gnu-gcc"}, check=True)
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run([OUT / "sdk/bin/ux-cc", "-c", "program.c"], cwd=tmp_path, check=True)
