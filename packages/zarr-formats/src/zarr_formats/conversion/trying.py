"""Trying with a sample whether the codecs of two arrays give the same chunks.

A format may say codecs in words that are read back as others: compressors by another
name, a byte order that does not matter.  Whether chunks can stay is then found out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import (
    ArrayRepresentation,
    CodecChain,
    ZarrError,
    make_extension,
)

if TYPE_CHECKING:
    from zarr_core.extension import ArrayMetadata, BoundChain

    NDArray = np.ndarray[Any, Any]

_LARGEST = 1 << 26  # bytes of a chunk with which it is tried


def decodes(old: ArrayMetadata, new: ArrayMetadata) -> bool:
    """Whether chunks that one array has encoded are decoded by another to the same elements.

    Parameters
    ----------
    old, new : ArrayMetadata
        Arrays with chunks of the same shapes.

    Returns
    -------
    bool
        False also where that cannot be tried.
    """
    try:
        one, other = _bound(old), _bound(new)
        elements = None if one is None else _sample(one.decoded.shape, one.dtype)
        if one is None or other is None or elements is None or one.dtype != other.dtype:
            return False
        pieces = one.encode(elements)
        if pieces is None:
            return False
        data = pieces if isinstance(pieces, bytes | memoryview) else b"".join(_several(pieces))
        found = np.ascontiguousarray(other.decode(bytes(data)), elements.dtype)
    except ZarrError:
        return False
    return found.tobytes() == elements.tobytes()


def _several(pieces: Any) -> Any:
    return [pieces] if isinstance(pieces, bytearray) else pieces


def _bound(metadata: ArrayMetadata) -> BoundChain | None:
    """The codecs bound to the first chunk."""
    if metadata.storage_transformers or metadata.chunk_memory_layout is not None:
        return None
    data_type = make_extension("data_type", metadata.data_type)
    grid = make_extension("chunk_grid", metadata.chunk_grid)
    if data_type is None or grid is None:
        return None
    axes = grid.axes(metadata.shape)
    if any(axis.count == 0 for axis in axes):
        return None
    shape = grid.chunk_shape(axes, (0,) * len(axes))
    decoded = ArrayRepresentation(shape, data_type, data_type.default_fill_value(), keep_empty=True)
    if decoded.nbytes is None or decoded.nbytes > _LARGEST:
        return None
    chain = CodecChain.from_definitions(metadata.codecs)
    return None if chain.skipped else chain.bind(decoded)


def _sample(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray | None:
    """Elements of all sorts; None for those of which nobody knows what they may be."""
    random = np.random.default_rng(0)

    def fill(array: NDArray) -> bool:
        kind = array.dtype.kind
        if array.dtype.names:
            return all(fill(array[name]) for name in array.dtype.names)
        if kind in "iufcmMSV" and not array.dtype.hasobject:
            octets = random.integers(0, 256, (*array.shape, array.dtype.itemsize), np.uint8)
            array[...] = octets.view(array.dtype).reshape(array.shape)
        elif kind == "b":
            array[...] = random.integers(0, 2, array.shape)
        elif kind == "U":
            points = random.integers(32, 127, (*array.shape, array.dtype.itemsize // 4), "u4")
            array[...] = points.view(array.dtype).reshape(array.shape)
        else:
            return False
        return True

    elements = np.zeros(shape, dtype)
    return elements if elements.itemsize and fill(elements) else None
