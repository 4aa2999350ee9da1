"""A preview of a large array: its corners, as NumPy prints them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_cli.cat.selection import Part, as_index, lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core import Array

WHOLE = 1000
"""The number of elements up to which an array is printed completely."""

_EDGE = 3


def preview(array: Array, parts: Sequence[Part], width: int = 80) -> str:
    """Return the selected elements as NumPy prints them; of many, only the corners are read."""
    if prod(lengths(parts)) <= WHOLE:
        return _format(np.asarray(array[as_index(parts)]), width, WHOLE)
    corners = [[part] if isinstance(part, int) else _corner(part) for part in parts]
    values = np.asarray(array.oindex[tuple(corners)])
    shape = [
        len(corner)
        for part, corner in zip(parts, corners, strict=True)
        if not isinstance(part, int)
    ]
    return _format(values.reshape(shape), width, 0)


def _corner(part: range) -> list[int]:
    """Return the indices at both ends and one between, which NumPy prints as dots."""
    if len(part) <= 2 * _EDGE + 1:
        return [*part]
    return [*part[: _EDGE + 1], *part[-_EDGE:]]


def _format(array: np.ndarray[Any, Any], width: int, threshold: int) -> str:
    return np.array2string(
        array, max_line_width=width, threshold=threshold, edgeitems=_EDGE, separator=" "
    )
