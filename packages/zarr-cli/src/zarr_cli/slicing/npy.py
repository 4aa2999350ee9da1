"""Elements of a selection as an NPY file, while they are read."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class NoNpyError(ValueError):
    """A data type that NPY files cannot hold."""


def npy_header(shape: Sequence[int], dtype: np.dtype[Any]) -> bytes:
    """What stands before the elements in an NPY file.

    Parameters
    ----------
    shape : sequence of int
        Of all elements together.
    dtype : dtype
        Their data type.

    Raises
    ------
    NoNpyError
        If NPY has no word for the data type.
    """
    described = np.lib.format.dtype_to_descr(dtype) if dtype.kind not in "OT" else None
    if described is None or np.lib.format.descr_to_dtype(described) != dtype:
        raise NoNpyError(
            f"NPY files cannot hold elements of {dtype}; write them as csv or json instead"
        )
    header = {"descr": described, "fortran_order": False, "shape": tuple(shape)}
    target = BytesIO()
    try:
        np.lib.format.write_array_header_1_0(target, header)
    except ValueError:  # longer than that version can say
        np.lib.format.write_array_header_2_0(target, header)
    return target.getvalue()


def npy_parts(
    header: bytes, pieces: Iterable[np.ndarray[Any, Any]]
) -> Iterator[bytes | memoryview]:
    """The bytes of an NPY file.

    Parameters
    ----------
    header : bytes
        From :func:`npy_header`.
    pieces : iterable of ndarray
        The elements in C order.
    """
    yield header
    for piece in pieces:
        yield np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
