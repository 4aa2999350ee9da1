"""The endpoint ``window``: the decoded elements of a selection.

Numbers are sent little-endian in C order; other elements are sent as text.
"""

from __future__ import annotations

from http import HTTPStatus
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.exceptions import HTTPException
from starlette.responses import Response

from zarr_cli.serve.query import requested_array
from zarr_cli.serve.responses import JsonResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core import Array
    from zarr_core.extension import Store

_MOST_ELEMENTS = 1 << 22
_MOST_TEXTS = 10_000
_MOST_BYTES = 1 << 29  # maximum size of the chunks to decode
_LONGEST_TEXT = 500

_NUMBERS = "biufc"


def window(store: Store, root: str, query: Mapping[str, str]) -> Response:
    """Return the elements of a selection such as ``3,0:512:2,0:512:2``."""
    array = requested_array(store, root, query)
    selection = _selection(query.get("selection", ""), array.shape)
    numbers = are_numbers(array.dtype)
    _check_size(array, selection, _MOST_ELEMENTS if numbers else _MOST_TEXTS)
    elements = np.asarray(array[selection])
    shape = ",".join(map(str, elements.shape))
    if not numbers:
        texts = [_text(item) for item in elements.reshape(-1)]
        return JsonResponse({"shape": elements.shape, "texts": texts})
    if array.dtype.kind not in _NUMBERS:
        elements = elements.astype("float32")
    little = elements.astype(elements.dtype.newbyteorder("<"), order="C", copy=False)
    return Response(
        little.tobytes(),
        headers={
            "Cache-Control": "no-store",
            "Zarr-Shape": shape,
            "Zarr-Data-Type": f"{little.dtype.kind}{little.dtype.itemsize}",
        },
        media_type="application/octet-stream",
    )


def are_numbers(dtype: np.dtype[Any]) -> bool:
    """Whether elements are sent as numbers: NumPy numbers, and types such as bfloat16."""
    if dtype.kind in _NUMBERS:
        return True
    return dtype.kind == "V" and dtype.names is None and np.can_cast(dtype, "float32", "same_kind")


def _selection(text: str, shape: tuple[int, ...]) -> tuple[int | slice, ...]:
    """Parse a selection: an index or ``start:stop:step`` per dimension."""
    parts = text.split(",") if text else []
    try:
        if len(parts) != len(shape):
            raise ValueError
        indices = [_index(part, size) for part, size in zip(parts, shape, strict=True)]
    except ValueError:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST,
            f"invalid selection {text!r}: pass an index or start:stop:step within the array "
            f"for each of its {len(shape)} dimensions",
        ) from None
    return tuple(indices)


def _index(text: str, size: int) -> int | slice:
    if ":" not in text:
        at = _natural(text)
        if at >= size:
            raise ValueError
        return at
    start, stop, *step = text.split(":")
    if len(step) > 1 or (step and _natural(step[0]) == 0):
        raise ValueError
    return slice(_natural(start), min(size, _natural(stop)), _natural(step[0]) if step else 1)


def _natural(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ValueError
    return int(text)


def _check_size(array: Array, selection: tuple[int | slice, ...], most: int) -> None:
    """Reject selections that need too much memory or time."""
    elements, touched = 1, 1
    for axis, item in enumerate(selection):
        length = _chunk_length(array, axis)
        if isinstance(item, slice):
            count = len(range(item.start, item.stop, item.step))
            span = max(0, item.stop - item.start)
            elements *= count
            touched *= min(count, ceil(span / length) + 1) * length
        else:
            touched *= length
    nbytes = touched * max(1, array.dtype.itemsize)
    if elements > most:
        raise HTTPException(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the selection has {elements} elements; the maximum is {most}",
        )
    if nbytes > _MOST_BYTES and elements > 1:
        raise HTTPException(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the selection requires decoding {nbytes >> 20} MiB of chunks; the maximum is "
            f"{_MOST_BYTES >> 20} MiB: choose a smaller selection",
        )


def _chunk_length(array: Array, axis: int) -> int:
    length: Any = array.chunks[axis]
    return max(1, length if isinstance(length, int) else max(length, default=1))


def _text(item: Any) -> str:
    text = item if isinstance(item, str) else str(item)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " ..."
