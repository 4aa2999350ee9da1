"""The corners of an array, as NumPy prints what is too long to be printed."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_cli.slicing.selection import Part, as_index, lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core import Array

WHOLE = 1000
"""So many elements are printed whole."""

_EDGE = 3


def glance(array: Array, parts: Sequence[Part], width: int = 80) -> str:
    """The selected elements in NumPy's manner; of many only the corners, and only these are read.

    Parameters
    ----------
    array : Array
        The array.
    parts : sequence of int or range
        What is wanted of each dimension.
    width : int
        Characters of a line.
    """
    if prod(lengths(parts)) <= WHOLE:
        return _printed(np.asarray(array[as_index(parts)]), width, WHOLE)
    corners = [[part] if isinstance(part, int) else _corner(part) for part in parts]
    found = np.asarray(array.oindex[tuple(corners)])
    shape = [
        len(corner)
        for part, corner in zip(parts, corners, strict=True)
        if not isinstance(part, int)
    ]
    return _printed(found.reshape(shape), width, 0)


def _corner(part: range) -> list[int]:
    """Indices at both ends, with one more between: NumPy prints dots in its place."""
    if len(part) <= 2 * _EDGE + 1:
        return [*part]
    return [*part[: _EDGE + 1], *part[-_EDGE:]]


def _printed(array: np.ndarray[Any, Any], width: int, threshold: int) -> str:
    return np.array2string(
        array, max_line_width=width, threshold=threshold, edgeitems=_EDGE, separator=" "
    )
