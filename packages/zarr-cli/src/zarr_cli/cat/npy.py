"""Streaming output as an NPY file."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class NpyTypeError(ValueError):
    """The data type is not supported by NPY files."""


def npy_header(shape: Sequence[int], dtype: np.dtype[Any]) -> bytes:
    """Return the header of an NPY file."""
    described = np.lib.format.dtype_to_descr(dtype) if dtype.kind not in "OT" else None
    if described is None or np.lib.format.descr_to_dtype(described) != dtype:
        raise NpyTypeError(
            f"NPY files do not support elements of {dtype}; use --format csv or json"
        )
    header = {"descr": described, "fortran_order": False, "shape": tuple(shape)}
    target = BytesIO()
    try:
        np.lib.format.write_array_header_1_0(target, header)
    except ValueError:  # too long for version 1.0
        np.lib.format.write_array_header_2_0(target, header)
    return target.getvalue()


def npy_parts(
    header: bytes, blocks: Iterable[np.ndarray[Any, Any]]
) -> Iterator[bytes | memoryview]:
    """Yield the bytes of an NPY file."""
    yield header
    for block in blocks:
        yield np.ascontiguousarray(block).reshape(-1).view(np.uint8).data
