"""Whether two arrays have the same chunks, by their metadata or with a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.engine.chain import CodecChain
from zarr_core.extension import (
    ArrayRepresentation,
    ExtensionDefinition,
    ZarrError,
    create_extension,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import JSON, ArrayMetadata

    NDArray = np.ndarray[Any, Any]


_LARGEST = 1 << 26  # maximum bytes of a chunk for the test with a sample


def same_bytes(one: ArrayMetadata, other: ArrayMetadata) -> bool:
    """Whether all chunks of two arrays are identical, byte for byte, as far as is known."""
    return (
        one.shape == other.shape
        and same("data_type", one.data_type, other.data_type)
        and same("chunk_grid", one.chunk_grid, other.chunk_grid)
        and same_codecs(one.codecs, other.codecs)
        and one.storage_transformers == other.storage_transformers
        and one.chunk_memory_layout == other.chunk_memory_layout
    )


def same_codecs(some: Sequence[ExtensionDefinition], others: Sequence[ExtensionDefinition]) -> bool:
    """Whether two lists of codecs are equivalent."""
    return len(some) == len(others) and all(
        same("codec", one, other) for one, other in zip(some, others, strict=True)
    )


def same(kind: str, one: ExtensionDefinition, other: ExtensionDefinition) -> bool:
    """Whether two definitions are equal or result in equal extensions."""
    if one == other:
        return True
    if one.name != other.name:
        return False
    try:
        return bool(create_extension(kind, one) == create_extension(kind, other))
    except ZarrError:
        return False


def is_definition(value: JSON) -> bool:
    """Whether a value is a definition of an extension."""
    return isinstance(value, str) or (isinstance(value, dict) and "name" in value)


def decodes(old: ArrayMetadata, new: ArrayMetadata) -> bool:
    """Whether one array decodes chunks of the other to the same elements, by a sample."""
    try:
        one, other = _bound(old), _bound(new)
        elements = None if one is None else _sample(one.decoded.shape, one.dtype)
        if one is None or other is None or elements is None or one.dtype != other.dtype:
            return False
        buffers = one.encode(elements)
        if buffers is None:
            return False
        data = buffers if isinstance(buffers, bytes | memoryview) else b"".join(_as_list(buffers))
        result = np.ascontiguousarray(other.decode(bytes(data)), elements.dtype)
    except ZarrError:
        return False
    return result.tobytes() == elements.tobytes()


def _as_list(buffers: Any) -> Any:
    return [buffers] if isinstance(buffers, bytearray) else buffers


def _bound(metadata: ArrayMetadata) -> PreparedCodecChain | None:
    """Return the codecs prepared for the first chunk."""
    if metadata.storage_transformers or metadata.chunk_memory_layout is not None:
        return None
    data_type = create_extension("data_type", metadata.data_type)
    grid = create_extension("chunk_grid", metadata.chunk_grid)
    if data_type is None or grid is None:
        return None
    axes = grid.axes(metadata.shape)
    if any(axis.count == 0 for axis in axes):
        return None
    shape = grid.chunk_shape(axes, (0,) * len(axes))
    decoded = ArrayRepresentation(
        shape, data_type, data_type.default_fill_value(), write_empty_chunks=True
    )
    if decoded.nbytes is None or decoded.nbytes > _LARGEST:
        return None
    chain = CodecChain.from_definitions(metadata.codecs)
    return None if chain.ignored else chain.prepare(decoded)


def _sample(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray | None:
    """Return random elements; None for unsupported data types."""
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
