# SPDX-License-Identifier: MIT
"""Where the symbols of a 32-bit ELF file are: enough of ELF to find a variable by its name."""

import struct
from pathlib import Path
from typing import Optional

from assay import ToolError

SHT_SYMTAB = 2
SYMBOL_SIZE = 16


def symbol_address(path: Path, name: str) -> Optional[int]:
    """The address of a symbol, or None if the file has none of that name."""
    elf = path.read_bytes()
    if elf[:6] != b"\x7fELF\x01\x01":
        raise ToolError(f"{path} is not a 32-bit ELF file")
    sh_offset, = struct.unpack_from("<I", elf, 32)
    sh_size, sh_count = struct.unpack_from("<HH", elf, 46)
    sections = [struct.unpack_from("<10I", elf, sh_offset + i * sh_size) for i in range(sh_count)]
    wanted = name.encode() + b"\0"
    for section in sections:
        kind, offset, size, names = section[1], section[4], section[5], section[6]
        if kind != SHT_SYMTAB:
            continue
        for at in range(offset, offset + size, SYMBOL_SIZE):
            name_at, address = struct.unpack_from("<II", elf, at)
            if elf.startswith(wanted, sections[names][4] + name_at):
                return address
    return None
