"""Check that a file of LMDB is complete, before LMDB maps it into memory.

LMDB reads pages from memory without comparing their numbers with the length of the file, so that the
process is killed by a page that is missing, as after an interrupted download.

Format: data version 1 of LMDB 0.9 (``mdb.c``), little endian or the byte order of this machine.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from zarr_core.extension import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

__all__ = ["check_file"]

_META = struct.Struct("@16xIIQQ")  # magic, version, address, size of the map
_TREE = struct.Struct("@IHHQQQQQ")  # size of a page or padding, flags, depth, counts, root
_LAST = struct.Struct("@QQ")  # number of the last page, transaction
_TREES_AT, _LAST_AT = 40, 136
_MAGIC, _VERSION = 0xBEEFC0DE, 1
_PAGE = struct.Struct("@QHHHH")
_HEADER = 16  # bytes of a page
_NODE = struct.Struct("@HHHH")  # two parts of a size or page number, flags, size of the key
_BRANCH, _LEAF = 1, 2  # flags of a page
_LARGE = 1  # flag of a node: its value is in pages of its own
_NONE = 2**64 - 1
_LARGEST_DEPTH = 32


class _DamageError(Exception):
    """A page is missing or damaged."""


def check_file(path: str) -> None:
    """Raise an error if an LMDB file is truncated.

    Only if the file is shorter than its newest transaction says, the pages of its trees are read:
    pages at the end that were never used may be missing.
    """
    try:
        with open(path, "rb") as file:
            _check(file)
    except (_DamageError, struct.error) as error:
        raise StoreError(
            f"the LMDB file is truncated or damaged ({error}): {path!r}; copy it again", store=path
        ) from None


def _check(file: BinaryIO) -> None:
    if not os.fstat(file.fileno()).st_size:  # created, but not yet written to
        return
    metas = []
    size = 0
    for number in range(2):
        file.seek(number * size)
        page = file.read(_LAST_AT + _LAST.size)
        if len(page) < _LAST_AT + _LAST.size:
            raise _DamageError("it ends within its first pages")
        magic, version, *_ = _META.unpack_from(page)
        if magic != _MAGIC or version != _VERSION:
            return  # of another version, or no database: LMDB says so
        trees = [_TREE.unpack_from(page, _TREES_AT + at * _TREE.size) for at in range(2)]
        last, transaction = _LAST.unpack_from(page, _LAST_AT)
        size = size or int(trees[0][0])
        if not 256 <= size <= 1 << 16:
            raise _DamageError(f"pages of {size} bytes")
        metas.append((transaction, last, [tree[-1] for tree in trees]))
    _, last, roots = max(metas)
    length = os.fstat(file.fileno()).st_size  # pages are written before the transaction
    if length >= (last + 1) * size:
        return
    pages = length // size
    for root in roots:
        if root != _NONE:
            _check_tree(file, root, size, pages)


def _check_tree(file: BinaryIO, root: int, size: int, pages: int) -> None:
    """Check that all pages of a tree are in the file."""
    below = [(root, 0)]
    while below:
        number, depth = below.pop()
        if number >= pages or depth > _LARGEST_DEPTH:
            raise _DamageError(f"page {number} of {pages} is missing")
        file.seek(number * size)
        page = file.read(size)
        flags = _PAGE.unpack_from(page)[2]
        if flags & _BRANCH:
            below += [(child, depth + 1) for child in _children(page)]
        elif flags & _LEAF:
            _check_values(file, page, size, pages)
        else:
            raise _DamageError(f"page {number} is not part of a tree")


def _nodes(page: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the offset and the members of each node of a page."""
    lower = _PAGE.unpack_from(page)[3]
    for at in range(_HEADER, min(lower, len(page)), 2):
        (offset,) = struct.unpack_from("@H", page, at)
        low, high, flags, key_size = _NODE.unpack_from(page, offset)
        yield offset, low, high, flags, key_size


def _children(page: bytes) -> Iterator[int]:
    for _, low, high, flags, _ in _nodes(page):
        yield low | high << 16 | flags << 32


def _check_values(file: BinaryIO, page: bytes, size: int, pages: int) -> None:
    for offset, low, high, flags, key_size in _nodes(page):
        if flags & _LARGE:
            (first,) = struct.unpack_from("@Q", page, offset + _NODE.size + key_size)
            count = -(-(_HEADER + (low | high << 16)) // size)
            if first + count > pages:
                raise _DamageError(f"page {first + count - 1} of {pages} is missing")
