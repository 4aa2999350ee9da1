"""The header of a block: its mode, its size in each dimension.

Specification: N5 file-system specification, item 9.  All numbers are big-endian: mode
(2 bytes), number of dimensions (2), length of each dimension (4 each), then, in mode 1
only, the number of elements (4).
"""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING

from zarr_core.extension import ChunkDecodeError

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

MOST_DIMENSIONS = 0xFFFF
LARGEST_LENGTH = 0xFFFF_FFFF

_DEFAULT, _VARIABLE, _OBJECT = 0, 1, 2
_START = struct.Struct(">HH")
_NUMBER = struct.Struct(">I")


def write_header(lengths: tuple[int, ...]) -> bytes:
    """The header of a block in mode 0, with lengths in the order of N5."""
    return struct.pack(f">HH{len(lengths)}I", _DEFAULT, len(lengths), *lengths)


def read_header(data: Buffer, ndim: int) -> tuple[tuple[int, ...], int]:
    """Read the header of a block.

    Returns the length of each dimension in the order of N5, and where the elements begin.
    """
    if len(data) < _START.size:
        raise _damage(f"{len(data)} bytes are too few for the header of a block")
    mode, count = _START.unpack_from(data)
    if mode == _OBJECT:
        raise _damage("the block holds serialised objects (mode 2), not numbers")
    if mode not in (_DEFAULT, _VARIABLE):
        raise _damage(f"the block has the mode {mode}; only 0 and 1 hold numbers")
    if count != ndim:
        raise _damage(f"the block has {count} dimensions instead of {ndim}")
    start = _START.size + _NUMBER.size * (count + (mode == _VARIABLE))
    if len(data) < start:
        raise _damage(f"{len(data)} bytes end within the header, which takes {start}")
    lengths = struct.unpack_from(f">{count}I", data, _START.size)
    if 0 in lengths:
        raise _damage(f"the block has lengths {list(lengths)}, so it has no elements")
    if mode == _VARIABLE:
        (elements,) = _NUMBER.unpack_from(data, start - _NUMBER.size)
        if elements != prod(lengths):
            raise _damage(
                f"the block declares {elements} elements, its lengths {list(lengths)} make "
                f"{prod(lengths)}"
            )
    return lengths, start


def _damage(reason: str) -> ChunkDecodeError:
    return ChunkDecodeError(reason)
