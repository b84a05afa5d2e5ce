# SPDX-License-Identifier: MIT
"""From what a user types to the boot modules of a machine: finds programs, checks command lines.

A module's command line is words separated by blanks.  The boot protocol has no way to quote, so a
quote is refused here, where it can still be explained.
"""

from pathlib import Path
from typing import Iterable, NamedTuple, Optional

from assay import OUT, ROOT, ToolError


class Module(NamedTuple):
    file: Path
    words: tuple[str, ...]  # The name it has in the machine, and its arguments.

    @property
    def command(self) -> str:
        return " ".join(self.words)


class Staged(NamedTuple):
    """A module in the machine's folder, under a path that is the same in every run."""

    path: str
    words: tuple[str, ...]


def shown(path: Path) -> str:
    """A path as a message should give it: short if it lies in the tree."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def candidates(name: str) -> list[Path]:
    """Where a program of that name may lie, best first."""
    path = Path(name)
    if name.startswith((".", "/")):
        return [path]
    in_areas = sorted(OUT.glob(f"tests/*/{name}"))
    places = [OUT / folder / name for folder in ("user", "servers", "tests")]
    return [*places, *in_areas, path]


def find_program(name: str) -> Path:
    found = [path for path in candidates(name) if path.is_file()]
    areas = [path for path in found if path.is_relative_to(OUT / "tests")]
    if len(areas) > 1 and found[0] == areas[0]:
        choices = " or ".join(str(path.relative_to(OUT / "tests")) for path in areas)
        raise ToolError(f"there is more than one program {name}: say {choices}")
    if found:
        return found[0].resolve()
    if name.startswith((".", "/")):
        raise ToolError(f"there is no program {name}")
    folders = ", ".join(shown(OUT / folder) for folder in ("user", "servers", "tests"))
    places = f"{folders} or as a path"
    raise ToolError(f"there is no program {name} in {places}; `make` builds what the tree has")


def find_kernel(kernel: Optional[Path] = None) -> Path:
    """The kernel that the tree built, unless another is given."""
    path = kernel or OUT / "mach_kernel"
    if not path.is_file():
        raise ToolError(f"there is no kernel {shown(path)}; `make` builds it")
    return path.resolve()


def read_command(text: str) -> Module:
    """Turns `PROG ARGS` into a module."""
    for sign in "'\"\\":
        if sign in text:
            raise ToolError(f"{text!r}: a boot module's command line has no quoting, found {sign}")
    words = text.split()
    if not words:
        raise ToolError("a program has no name")
    file = find_program(words[0])
    return Module(file, (file.name, *words[1:]))


def split_commands(text: str) -> list[str]:
    """The commands of `PROG ARGS; PROG ARGS`."""
    return [command.strip() for command in text.split(";") if command.strip()]


def stage(directory: Path, kernel: Path, modules: Iterable[Module]) -> list[Staged]:
    """Links the kernel and its modules into the machine's folder.

    The kernel sees the paths.  They must not depend on where the tree lies or on the folder's name,
    or runs of the same programs would differ.
    """
    (directory / "mach_kernel").symlink_to(kernel.resolve())
    staged = []
    for number, module in enumerate(modules):
        link = directory / module.file.name
        if link.is_symlink() and link.resolve() != module.file:
            link = directory / str(number) / module.file.name
            link.parent.mkdir()
        if not link.is_symlink():
            link.symlink_to(module.file)
        staged.append(Staged(str(link.relative_to(directory)), module.words))
    return staged
