# SPDX-License-Identifier: MIT
"""Makes CD images that boot through GRUB, reproducibly: the same files give the same bytes.

GRUB's own grub-mkrescue puts whatever GRUB platforms and languages the host has on the image, and
the time of day.  Here grub-mkimage builds one core with the few GRUB modules that the menu needs,
and xorriso writes the image with every date fixed.  The image boots from a CD and, copied to it,
from a USB stick; 0.5 MiB instead of 10.
"""

import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Iterable, Mapping, NamedTuple

from assay import OUT, ROOT, ToolError
from assay.programs import find_kernel, find_program

MENU = ROOT / "boot" / "grub.cfg"
GRUB = Path("/usr/lib/grub/i386-pc")
GRUB_MODULES = (
    # The disc, also as a USB stick, and how to recognise it,
    *("biosdisk", "iso9660", "part_msdos", "search", "search_fs_file"),
    # the menu, on screen and on the first serial port, and what it starts.
    *("normal", "serial", "terminal", "multiboot", "test", "echo"),
)
CORE = "boot/grub/core.img"

# The core runs this first: the firmware does not say whether it booted a CD or a stick.
FIND_MENU = """\
search --no-floppy --set=root --file /boot/grub/grub.cfg
set prefix=($root)/boot/grub
"""

DATE = "2026010100000000"  # YYYYMMDDhhmmsscc
MENU_LINE = re.compile(r"^\s*(multiboot|module) /boot/(\S+)(.*)$", re.MULTILINE)


class Entry(NamedTuple):
    """What one entry of a menu starts."""

    arguments: str
    modules: tuple[str, ...]


def menu(arguments: str, modules: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """A menu that starts the kernel at once, with these modules: path on the disc and words."""
    lines = [f"multiboot /boot/mach_kernel {quoted(arguments.split())}"]
    lines += [f"module /boot/{path} {quoted(words)}" for path, words in modules]
    body = "\n".join(f"\t{line}" for line in lines)
    return f'set timeout=0\nmenuentry "Assay" {{\n{body}\n}}\n'


def quoted(words: Iterable[str]) -> str:
    """GRUB's script language expands `$` and `(` outside of quotes, as a shell does."""
    return " ".join(map(shlex.quote, words))


def files_of_menu(text: str) -> set[str]:
    """The files below /boot that a menu names."""
    return {match[2] for match in MENU_LINE.finditer(text)}


def first_entry(text: str) -> Entry:
    """What a menu starts when nobody chooses."""
    entry = text[text.index("\nmenuentry") :]
    lines = MENU_LINE.findall(entry[: entry.index("\n}")])
    arguments = [rest.strip() for kind, _, rest in lines if kind == "multiboot"]
    modules = [" ".join(shlex.split(rest)) for kind, _, rest in lines if kind == "module"]
    return Entry(" ".join(arguments), tuple(modules))


def build_menu(output: Path) -> None:
    """Writes the image that boot/grub.cfg describes."""
    text = MENU.read_text()
    build(output, text, {name: find_file(name) for name in sorted(files_of_menu(text))})


def find_file(name: str) -> Path:
    if name == "mach_kernel":
        return find_kernel()
    return OUT / name if (OUT / name).is_file() else find_program(name)


def run_tool(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ToolError(f"{command[0]} is not installed: run ./setup") from None
    if done.returncode:
        raise ToolError(f"{command[0]} failed:\n{done.stderr.strip()}")


def build(output: Path, menu_text: str, files: Mapping[str, Path]) -> None:
    """Writes an image with that menu and those files, by their names below /boot."""
    if not (GRUB / "boot_hybrid.img").exists():
        raise ToolError("GRUB's files are not installed (grub-pc-bin): run ./setup")
    with tempfile.TemporaryDirectory(prefix="assay.iso.") as name:
        tree = Path(name) / "tree"
        (tree / CORE).parent.mkdir(parents=True)
        (tree / "boot/grub/grub.cfg").write_text(menu_text)
        for path, file in files.items():
            (tree / "boot" / path).parent.mkdir(exist_ok=True)
            shutil.copyfile(file, tree / "boot" / path)
        find_menu = Path(name) / "find_menu"
        find_menu.write_text(FIND_MENU)
        run_tool(
            *("grub-mkimage", "-O", "i386-pc-eltorito", "-d", str(GRUB), "-p", "/boot/grub"),
            *("-c", str(find_menu), "-o", str(tree / CORE), *GRUB_MODULES),
        )
        image = Path(name) / "image"
        write_image(image, tree)
        shutil.copyfile(image, output)


def write_image(image: Path, tree: Path) -> None:
    run_tool(
        *("xorriso", "-as", "mkisofs", "-o", str(image), "-R", "-V", "ASSAY"),
        *("--modification-date=" + DATE, "--set_all_file_dates", DATE),
        *("-uid", "0", "-gid", "0", "-file-mode", "0444", "-dir-mode", "0555"),
        *("-b", CORE, "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table"),
        *("--grub2-boot-info", "--grub2-mbr", str(GRUB / "boot_hybrid.img")),
        *("--protective-msdos-label", str(tree)),
    )
