"""How zarr-python interprets ``array[...]``.

zarr-python interprets an index with one array, also combined with integers, and masks for all
dimensions as orthogonal selections.  Several arrays are a coordinate selection only if there is
one for each dimension.  The core follows NumPy, which differs in these cases.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

INTEGERS = (int, np.integer)

__all__ = ["cut_at_end", "kind_of", "split_fields"]


def cut_at_end(index: Any, value: Any, shape: tuple[int, ...]) -> Any:
    """Return the part of a value, if it is an array, that is within the array to write.

    As in zarr-python, a slice whose end is that of the array, or behind it, can be assigned a
    longer value: programs write whole chunks at the end.  The index has no field names.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    if any(item is Ellipsis for item in items):
        position = next(number for number, item in enumerate(items) if item is Ellipsis)
        items[position : position + 1] = [slice(None)] * (len(shape) - len(items) + 1)
    kept = [
        (item, length)
        for item, length in zip(items, shape, strict=False)
        if not isinstance(item, INTEGERS)
    ]
    if not hasattr(value, "shape") or len(kept) != len(value.shape):
        return value
    cut = [
        slice(len(range(*item.indices(length))))
        if isinstance(item, slice)
        and item.stop is not None
        and item.stop >= length
        and size > len(range(*item.indices(length)))
        else slice(None)
        for (item, length), size in zip(kept, value.shape, strict=True)
    ]
    return value[tuple(cut)] if any(item.stop is not None for item in cut) else value


def kind_of(index: Any, ndim: int) -> Literal["basic", "orthogonal", "numpy"]:
    """Return how zarr-python interprets an index without fields; ``"numpy"`` if NumPy agrees."""
    items = index if isinstance(index, tuple) else (index,)
    arrays = [np.asarray(item) for item in items if _is_array(item)]
    if not arrays:
        return "numpy"
    if len(items) == 1 and arrays[0].dtype.kind == "b" and arrays[0].ndim == ndim > 0:
        return "numpy"  # a mask of the array's shape
    if len(items) == ndim and not any(_is_slicing(item) for item in items):
        if all(array.dtype.kind in "iu" and array.ndim for array in arrays):
            return "numpy"  # coordinates
        if len(arrays) == len(items):
            return "orthogonal"
    return "orthogonal" if len(arrays) == 1 and arrays[0].ndim else "basic"


def split_fields(index: Any) -> tuple[Any, Any]:
    """Split an index into the part without field names, and the field names."""
    if not isinstance(index, tuple):
        return index, None
    names = [item for item in index if isinstance(item, str)]
    if not names:
        return index, None
    return tuple(item for item in index if not isinstance(item, str)), (
        names[0] if len(names) == 1 else names
    )


def _is_array(item: Any) -> bool:
    """Return whether an item is an index array or a boolean."""
    if isinstance(item, bool | np.bool_):
        return True
    if _is_slicing(item) or isinstance(item, int | str | np.integer):
        return False
    return bool(np.ndim(item)) or np.asarray(item).dtype.kind == "b"


def _is_slicing(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, slice)
