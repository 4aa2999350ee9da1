"""A window of an array, decoded here: for codecs that a browser does not have.

Numbers go as they lie in memory, little-endian in C order; everything else as text.
"""

from __future__ import annotations

from http import HTTPStatus
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_cli.serve.answers import Answer, RefusedError, json_answer
from zarr_cli.serve.asked import array_asked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core import Array
    from zarr_core.extension import Store

_MOST_ELEMENTS = 1 << 22
_MOST_TEXTS = 10_000
_MOST_BYTES = 1 << 29  # of decoded chunks that are looked into
_LONGEST_TEXT = 500

_NUMBERS = "biufc"


def window(store: Store, root: str, asked: Mapping[str, str]) -> Answer:
    """The elements of a selection such as ``3,0:512:2,0:512:2``.

    Raises
    ------
    RefusedError
        If it is none, or would take more memory than a look is worth.
    """
    array = array_asked(store, root, asked)
    selection = _selection(asked.get("selection", ""), array.shape)
    numbers = are_numbers(array.dtype)
    _check(array, selection, _MOST_ELEMENTS if numbers else _MOST_TEXTS)
    elements = np.asarray(array[selection])
    shape = ",".join(map(str, elements.shape))
    if not numbers:
        texts = [_text(item) for item in elements.reshape(-1)]
        return json_answer({"shape": elements.shape, "texts": texts})
    if array.dtype.kind not in _NUMBERS:
        elements = elements.astype("float32")
    little = elements.astype(elements.dtype.newbyteorder("<"), order="C", copy=False)
    return Answer(
        HTTPStatus.OK,
        {
            "Content-Type": "application/octet-stream",
            "Cache-Control": "no-store",
            "Zarr-Shape": shape,
            "Zarr-Data-Type": f"{little.dtype.kind}{little.dtype.itemsize}",
        },
        little.tobytes(),
    )


def are_numbers(dtype: np.dtype[Any]) -> bool:
    """Whether elements go as numbers: NumPy's own, and others that become such, as bfloat16."""
    if dtype.kind in _NUMBERS:
        return True
    return dtype.kind == "V" and dtype.names is None and np.can_cast(dtype, "float32", "same_kind")


def _selection(text: str, shape: tuple[int, ...]) -> tuple[int | slice, ...]:
    """Read a selection: for each dimension an index or ``start:stop:step``."""
    parts = text.split(",") if text else []
    try:
        if len(parts) != len(shape):
            raise ValueError
        found = [_index(part, size) for part, size in zip(parts, shape, strict=True)]
    except ValueError:
        raise RefusedError(
            HTTPStatus.BAD_REQUEST,
            f"the selection {text!r} is not an index or start:stop:step, within the array, "
            f"for each of its {len(shape)} dimensions",
        ) from None
    return tuple(found)


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


def _check(array: Array, selection: tuple[int | slice, ...], most: int) -> None:
    """Refuse what would take too much memory, or too long."""
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
    nbytes = touched * max(1, array.itemsize)
    if elements > most:
        raise RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the selection has {elements} elements; at most {most} are sent at once",
        )
    if nbytes > _MOST_BYTES and elements > 1:
        raise RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"{nbytes >> 20} MiB of chunks would be decoded for the selection; at most "
            f"{_MOST_BYTES >> 20} MiB are: choose a smaller one",
        )


def _chunk_length(array: Array, axis: int) -> int:
    length: Any = array.chunks[axis]
    return max(1, length if isinstance(length, int) else max(length, default=1))


def _text(item: Any) -> str:
    text = item if isinstance(item, str) else str(item)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " ..."
