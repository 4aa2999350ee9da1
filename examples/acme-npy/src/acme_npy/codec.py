"""Codec ``acme.npy``: a chunk as a ``.npy`` file, which ``numpy.load`` can read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0
from zarr_core.extension import ArrayRepresentation, ArrayToBytesCodec, Buffer, ChunkDecodeError

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAGIC = b"\x93NUMPY"
_LONGEST = 1 << 12  # bytes of a header; even those with 64 dimensions are shorter
# A Python expression with the usual order of keys; it is not evaluated.
_HEADER = re.compile(
    rb"\{'descr': '([<>|=])([biufc][0-9]+)', 'fortran_order': (True|False), "
    rb"'shape': \(((?:[0-9]+, ?)*[0-9]*)\), \} *\n?"
).fullmatch


@dataclass(frozen=True, slots=True)
class NpyCodec(ArrayToBytesCodec):
    """Writes files of version 1.0 in C order; reads all files with numbers.

    A file may be smaller than the chunk, for example at the end of the array.  The rest of
    the chunk has the fill value.
    """

    def check(self, decoded: ArrayRepresentation) -> None:
        dtype = decoded.data_type.numpy_dtype
        if dtype.kind not in "biufc" or decoded.data_type.unused_bits:
            raise ValueError(f"requires a data type of numbers, not {dtype}")

    def encode(self, array: np.ndarray[Any, Any], decoded: ArrayRepresentation) -> Sequence[Buffer]:
        elements = np.asarray(array, order="C")
        header = BytesIO()
        write_array_header_1_0(header, header_data_from_array_1_0(elements))
        return [header.getvalue(), elements.reshape(-1).view(np.uint8).data]

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> np.ndarray[Any, Any]:
        dtype = decoded.data_type.numpy_dtype
        start, order, kind, fortran, shape = _parsed(data)
        if kind != dtype.str[1:]:
            raise ChunkDecodeError(f"has data type {kind}, but the array has {dtype.str[1:]}")
        if len(shape) != len(decoded.shape) or any(map(int.__gt__, shape, decoded.shape)):
            raise ChunkDecodeError(f"has shape {shape}, but the chunk has {decoded.shape}")
        if len(data) - start != prod(shape) * dtype.itemsize:
            raise ChunkDecodeError(
                f"has {len(data) - start} bytes, which do not match shape {shape} of {kind}"
            )
        found = np.frombuffer(data, order + kind, offset=start)
        found = found.reshape(shape, order="F" if fortran else "C")
        if shape == decoded.shape:
            return found
        chunk = np.full(decoded.shape, decoded.fill_value, dtype)
        chunk[tuple(map(slice, shape))] = found
        return chunk


def _parsed(data: Buffer) -> tuple[int, str, str, bool, tuple[int, ...]]:
    """Return the start of the elements, byte order, type, whether in Fortran order, and shape."""
    head = bytes(data[:12])
    start = 10 if head[6:7] == b"\1" else 12  # versions 2 and 3 have a larger length field
    end = start + int.from_bytes(head[8:start], "little")
    if not head.startswith(_MAGIC) or end - start > _LONGEST:
        raise ChunkDecodeError("is not a .npy file")
    match = _HEADER(bytes(data[start:end]))
    if match is None:
        raise ChunkDecodeError("is a .npy file whose elements are not numbers")
    order, kind, fortran, shape = (part.decode() for part in match.groups())
    lengths = tuple(int(length) for length in shape.split(",") if length.strip())
    return end, order, kind, fortran == "True", lengths
