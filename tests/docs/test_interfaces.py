# SPDX-License-Identifier: MIT
"""docs/interfaces.md against the definitions: every routine is in both, by the same number.

And kernel_call_large against the generated stubs: no reply is larger than the kernel expects.
"""

import re
from pathlib import Path

import pytest
from assay import OUT

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "interfaces.md"
DEFS = ROOT / "defs" / "mach"

SECTION = re.compile(r"^## (\w+): from (\d+)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (\d+) \| (\d*) ?\| `(\w+)` \| (.+) \|$", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STATEMENT = re.compile(r"\b(skip|simpleroutine|routine)\b\s*(\w*)")

# Not answered here: there are no definitions yet.
WITHOUT_DEFINITIONS = {"mach_debug"}
UNKNOWN = "`MIG_BAD_ID`"  # How the state of a routine begins that other kernels have.
SMALL = 232  # MESSAGE_SMALL


def documented() -> dict[str, tuple[int, dict[int, tuple[str, str, str]]]]:
    """The page: of each interface its base and the routines, by id, with the reply's and state."""
    return {name: (int(base), {int(id_): (routine, reply, state)
                               for id_, reply, routine, state in ROW.findall(rows)})
            for name, base, rows in SECTION.findall(PAGE.read_text())}


def defined(path: Path) -> tuple[int, dict[int, str]]:
    """A definition: its base and its routines by id."""
    text = COMMENT.sub("", path.read_text())
    base = int(re.search(rf"\b{path.stem}\s+(\d+)\s*;", text)[1])
    kinds = STATEMENT.findall(text[text.index(f"{base}") :])
    return base, {base + n: name for n, (kind, name) in enumerate(kinds) if kind != "skip"}


def interfaces() -> list[Path]:
    return [path for path in sorted(DEFS.glob("*.defs")) if not path.stem.endswith("_types")]


def test_the_page_has_all_interfaces() -> None:
    assert set(documented()) == WITHOUT_DEFINITIONS | {path.stem for path in interfaces()}


@pytest.mark.parametrize("path", interfaces(), ids=lambda path: path.stem)
def test_the_page_has_the_routines(path: Path) -> None:
    base, routines = defined(path)
    page_base, page = documented()[path.stem]
    assert page_base == base
    assert {id_: name for id_, (name, _, state) in page.items()
            if not state.startswith(UNKNOWN)} == routines


@pytest.mark.parametrize("name", sorted(documented()))
def test_replies_are_a_hundred_later(name: str) -> None:
    for id_, (_, reply, _) in documented()[name][1].items():
        assert reply in ("", str(id_ + 100))


def large_replies() -> set[int]:
    """Ids whose generated stub may fill more than a small message."""
    found = set()
    for path in sorted((OUT / "gen" / "kernel" / "mach").glob("*_server.c")):
        base, routines = defined(DEFS / f"{path.stem.removesuffix('_server')}.defs")
        ids = {name: id_ for id_, name in routines.items()}
        for body in path.read_text().split("\nmig_internal void _X")[1:]:
            name = body.split()[0]
            reply = re.search(r"typedef struct \{(?:(?!typedef).)*?\} Reply;", body, re.DOTALL)[0]
            arrays = [int(n) * (1 if kind == "char" else 8)
                      for kind, n in re.findall(r"(\w+) \w+\[(\d+)\];", reply)]
            sizes = [int(n) for n in re.findall(r"OutP->Head\.msgh_size = (\d+);", body)]
            if max(sizes, default=0) > SMALL or sum(arrays) > SMALL - 64:
                found.add(ids[name])
        assert base in (2000, 2600, 2800, 3200, 3800, 4000, 4200, 4600)
    return found


def test_the_kernel_knows_the_large_replies() -> None:
    text = (ROOT / "kernel" / "ipc" / "kernel_object.c").read_text()
    body = text[text.index("kernel_call_large[] = {"):]
    ids = {name.upper(): id_ for path in interfaces() for id_, name in defined(path)[1].items()}
    named = re.findall(r"\{ID_(\w+), MESSAGE_\w+\}", body)
    assert len(named) > 10 and {ids[name] for name in named} == large_replies()
