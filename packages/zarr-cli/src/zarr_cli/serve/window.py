"""The endpoint ``window``: the decoded elements of a selection.

Numbers are sent little-endian in C order; other elements are sent as text.
"""

from __future__ import annotations

from http import HTTPStatus
from math import ceil, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.exceptions import HTTPException
from starlette.responses import Response
from zarr_core.messages import format_bytes, pluralize

from zarr_cli.cat.selection import SelectionTextError, as_index, lengths, parse_selection
from zarr_cli.serve.query import requested_array
from zarr_cli.serve.responses import JsonResponse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core import Array
    from zarr_core.extension import Store

    from zarr_cli.cat.selection import Part

_MOST_ELEMENTS = 1 << 22
_MOST_TEXTS = 10_000
_MOST_BYTES = 1 << 29  # maximum size of the chunks to decode
_LONGEST_TEXT = 500

_NUMBERS = "biufc"


def window(store: Store, root: str, query: Mapping[str, str]) -> Response:
    """Return the elements of a selection such as ``3,0:512:2,0:512:2``."""
    array = requested_array(store, root, query)
    try:
        parts = parse_selection(query.get("selection", ""), array.shape)
    except SelectionTextError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from None
    numbers = are_numbers(array.dtype)
    _check_size(array, parts, _MOST_ELEMENTS if numbers else _MOST_TEXTS)
    elements = np.asarray(array[as_index(parts)])
    shape = ",".join(map(str, elements.shape))
    if not numbers:
        texts = [_text(item) for item in elements.reshape(-1)]
        return JsonResponse({"shape": elements.shape, "texts": texts})
    if array.dtype.kind not in _NUMBERS or array.dtype == np.float16:  # not types of JavaScript
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


def _check_size(array: Array, parts: Sequence[Part], most: int) -> None:
    """Reject selections that need too much memory or time."""
    elements, touched = prod(lengths(parts)), 1
    for axis, part in enumerate(parts):
        length, chunks = _chunk_length(array, axis), 1
        if not isinstance(part, int):
            span = abs(part[-1] - part[0]) + 1 if part else 0
            chunks = min(len(part), ceil(span / length) + 1)
        touched *= chunks * length
    nbytes = touched * max(1, array.dtype.itemsize)
    if elements > most:
        raise HTTPException(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the selection has {pluralize(elements, 'element')}; the maximum is {most:,}",
        )
    if nbytes > _MOST_BYTES and elements > 1:
        raise HTTPException(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the selection requires decoding {format_bytes(nbytes)} of chunks; the maximum is "
            f"{format_bytes(_MOST_BYTES)}: choose a smaller selection",
        )


def _chunk_length(array: Array, axis: int) -> int:
    length: Any = array.chunks[axis]
    return max(1, length if isinstance(length, int) else max(length, default=1))


def _text(item: Any) -> str:
    text = item if isinstance(item, str) else str(item)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " ..."
