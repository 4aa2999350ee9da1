"""Comparison of the elements of two arrays."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import CodecError, StoreError
from zarr_core.messages import pluralize

from zarr_cli.cat.blocks import BUDGET, blocks
from zarr_cli.cat.elements import as_text
from zarr_cli.cat.selection import Part, as_index, lengths
from zarr_cli.compare.difference import Difference
from zarr_cli.compare.stored_blocks import stored_blocks

if TYPE_CHECKING:
    from zarr_core import Array
    from zarr_core.optional import Reporter

    NDArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The tolerance for numbers: ``atol + rtol * abs(b)``, with ``b`` of the second array."""

    rtol: float = 0.0
    atol: float = 0.0


def compare_values(
    a: Array, b: Array, path: str, tolerance: Tolerance, reporter: Reporter
) -> Difference | None:
    """Compare all elements of two arrays, in blocks that fit into memory.

    NaN is equal to NaN, and NaT to NaT.
    """
    count, first, largest = 0, None, 0.0
    whole = tuple(map(range, a.shape))
    reporter.begin(a.path, prod(a.shape), "elements")
    itemsize = max(a.dtype.itemsize, b.dtype.itemsize)
    some = stored_blocks(a, b, BUDGET)
    left = a.size
    for block in blocks(whole, a.chunks, itemsize) if some is None else some:
        try:
            one, other = (np.asarray(array[as_index(block)]) for array in (a, b))
            differ = unequal(one, other, tolerance)
        except (CodecError, StoreError) as error:
            return _unreadable(path, block, str(error))
        except TypeError:  # NumPy cannot compare the data types
            message = f"elements of {a.dtype} in A cannot be compared with {b.dtype} in B"
            return Difference(path, "values", "", str(a.dtype), str(b.dtype), message)
        if differ.any():
            number = int(differ.argmax())
            index = _index(block, number)
            if first is None or index < first[0]:
                one_of, its = (
                    as_text(values.reshape(-1)[number : number + 1])[0] for values in (one, other)
                )
                first = (index, one_of, its)
            count += int(np.count_nonzero(differ))
            largest = max(largest, _largest(one, other, differ))
        reporter.advance(prod(lengths(block)))
        left -= prod(lengths(block))
    reporter.advance(left)  # elements without stored chunks
    reporter.end()
    if first is None:
        return None
    where, mine, its = ", ".join(map(str, first[0])), *first[1:]
    text = f"{count:,} of {a.size:,} differ, first at [{where}]: {mine} in A, {its} in B"
    if largest:
        text += f"; maximum difference {largest:.6g}"
    return Difference(path, "values", f"[{where}]", mine, its, text)


def unequal(one: NDArray, other: NDArray, tolerance: Tolerance) -> NDArray:
    """Return a boolean array: where the elements of two arrays of one shape differ."""
    names = one.dtype.names
    if names is not None or other.dtype.names is not None:
        if names != other.dtype.names:
            raise TypeError("the field names differ")
        differ = np.zeros(one.shape, bool)
        for name in names or ():
            below = unequal(one[name], other[name], tolerance)
            differ |= below.any(axis=tuple(range(one.ndim, below.ndim)))
        return differ
    # NumPy compares variable-length strings only up to a null character.
    if one.dtype.kind == other.dtype.kind and one.dtype.kind in "OT":
        pairs = zip(one.reshape(-1).tolist(), other.reshape(-1).tolist(), strict=True)
        return np.array([_objects_differ(*pair) for pair in pairs], bool).reshape(one.shape)
    differ = np.asarray(one != other)
    if differ.shape != one.shape:
        raise TypeError("not compared element by element")
    differ &= ~(np.asarray(one != one) & np.asarray(other != other))
    if tolerance != Tolerance() and _is_number(one) and _is_number(other):
        with np.errstate(invalid="ignore"):
            differ &= ~np.isclose(one, other, tolerance.rtol, tolerance.atol)
    return differ


def _objects_differ(one: Any, other: Any) -> bool:
    """Whether two Python objects differ; elements may be arrays of varying length."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape != other.shape or bool(unequal(one, other, Tolerance()).any())
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return True
    return bool(one != other) and not (one != one and other != other)


def _is_number(array: NDArray) -> bool:
    return array.dtype.kind in "iufc"


def _largest(one: NDArray, other: NDArray, differ: NDArray) -> float:
    """Return the largest difference between numbers; 0 for other data types."""
    if not (_is_number(one) and _is_number(other)):
        return 0.0
    wide = np.result_type(one, other, np.float64)
    with np.errstate(all="ignore"):
        distances = np.abs(one[differ].astype(wide) - other[differ].astype(wide))
    finite = distances[np.isfinite(distances)]
    return float(finite.max()) if finite.size else 0.0


def _index(block: tuple[Part, ...], number: int) -> tuple[int, ...]:
    """Return the index in the array of an element of a block, given by its flat index."""
    at = np.unravel_index(number, lengths(block)) if block else ()
    starts = [part.start for part in block if isinstance(part, range)]
    return tuple(start + int(n) for start, n in zip(starts, at, strict=True))


def _unreadable(path: str, block: tuple[Part, ...], reason: str) -> Difference:
    size = prod(lengths(block))
    where = ", ".join(f"{part.start}:{part.stop}" for part in block if isinstance(part, range))
    message = f"{pluralize(size, 'element')} at [{where}] cannot be read, and the comparison stops here: {reason}"
    return Difference(path, "values", f"[{where}]", "", "", message)
