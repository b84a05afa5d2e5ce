# SPDX-License-Identifier: MIT
"""Reads an ext2 image, as its format is described and not as the server reads it: what is reached
from the root, by name, and the data.  What cannot be is an error."""

import struct
from typing import Iterator, NamedTuple

ROOT = 2
DIRECT = 12
DIRECTORY, REGULAR = 0o040000, 0o100000


class Damaged(Exception):
    """What is on the image makes no sense."""


class Inode(NamedTuple):
    number: int
    mode: int
    links: int
    size: int
    map: tuple[int, ...]

    @property
    def is_directory(self) -> bool:
        return self.mode & 0o170000 == DIRECTORY

    @property
    def is_regular(self) -> bool:
        return self.mode & 0o170000 == REGULAR


class Image:
    """An image in memory, as it is now."""

    def __init__(self, data: bytearray):
        self.data = data
        self.inodes, self.blocks = struct.unpack_from("<II", data, 1024)
        self.first, shift = struct.unpack_from("<II", data, 1024 + 20)
        self.per_group, = struct.unpack_from("<I", data, 1024 + 40)
        self.inode_size, = struct.unpack_from("<H", data, 1024 + 88)
        self.block_size = 1024 << shift

    def block(self, number: int) -> memoryview:
        if not 0 < number < self.blocks:
            raise Damaged(f"there is no block {number}")
        begin = number * self.block_size
        return memoryview(self.data)[begin:begin + self.block_size]

    def inode(self, number: int) -> Inode:
        if not 0 < number <= self.inodes:
            raise Damaged(f"there is no inode {number}")
        group, index = divmod(number - 1, self.per_group)
        table, = struct.unpack_from("<I", self.data,
                                    (self.first + 1) * self.block_size + group * 32 + 8)
        place = table * self.block_size + index * self.inode_size
        mode, _, size = struct.unpack_from("<HHI", self.data, place)
        links, = struct.unpack_from("<H", self.data, place + 26)
        return Inode(number, mode, links, size, struct.unpack_from("<15I", self.data, place + 40))

    def tree(self, block: int, levels: int) -> Iterator[int]:
        """The blocks that a word of a map leads to, of so many levels; 0 for each hole."""
        if levels == 0:
            yield block
            return
        words = self.block_size // 4
        if block == 0:
            yield from [0] * words ** levels
            return
        for word in struct.unpack(f"<{words}I", self.block(block)):
            yield from self.tree(word, levels - 1)

    def contents(self, inode: Inode) -> bytes:
        count = -(-inode.size // self.block_size)
        parts: list[bytes] = []
        for slot, word in enumerate(inode.map):
            for block in self.tree(word, max(0, slot - DIRECT + 1)):
                if len(parts) == count:
                    return b"".join(parts)[:inode.size]
                parts.append(bytes(self.block(block)) if block else bytes(self.block_size))
        raise Damaged(f"inode {inode.number} has no map for {inode.size} bytes")

    def entries(self, directory: Inode) -> Iterator[tuple[str, int]]:
        data = self.contents(directory)
        place = 0
        while place < len(data):
            number, length, name_length = struct.unpack_from("<IHB", data, place)
            if length < 8 or length % 4 or place % self.block_size + length > self.block_size or \
                    number and name_length + 8 > length:
                raise Damaged(f"directory {directory.number} has an odd entry at {place}")
            name = data[place + 8:place + 8 + name_length].decode("latin-1")
            if number and name not in (".", ".."):
                yield name, number
            place += length

    def walk(self, number: int = ROOT, path: str = "",
             above: tuple[int, ...] = ()) -> Iterator[tuple[str, Inode]]:
        """All that has a name and is not deleted."""
        if number in above:
            raise Damaged(f"{path} is in itself")
        for name, below in self.entries(self.inode(number)):
            inode = self.inode(below)
            if inode.links == 0:
                continue
            yield f"{path}/{name}", inode
            if inode.is_directory:
                yield from self.walk(below, f"{path}/{name}", (*above, number))
