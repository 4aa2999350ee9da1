"""The metadata of a new array from whatever a user gave for its parts."""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.chain import CodecChain
from zarr_core.errors import MetadataValidationError
from zarr_core.given import codec_forms
from zarr_core.given.attributes import checked
from zarr_core.given.chunk_shapes import chunk_and_shard_shape
from zarr_core.given.data_types import data_type_of
from zarr_core.given.definitions import definition_of
from zarr_core.interfaces.chunk_grid import ChunkGrid
from zarr_core.interfaces.codec import ArrayRepresentation
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.problem import Problem
from zarr_core.registry.resolve import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from zarr_core.definition import JSON
    from zarr_core.given.chunk_shapes import Lengths
    from zarr_core.interfaces.data_type import DataType

WHERE = "new array"
"""What errors call it."""


def array_metadata(
    shape: tuple[int, ...],
    dtype: Any,
    *,
    chunks: Any,
    shards: Any,
    order: str,
    filters: Any,
    serializer: Any,
    compressors: Any,
    fill_value: Any,
    attributes: Mapping[str, Any] | None,
    chunk_key_encoding: ExtensionDefinition,
    dimension_names: Sequence[str | None] | None,
    storage_transformers: Sequence[Any],
) -> ArrayMetadata:
    """The metadata of a new array, in version 3's words, with every choice recorded.

    Parameters
    ----------
    shape : tuple of int
        Its shape.
    dtype, chunks, shards, order, filters, serializer, compressors, fill_value, attributes, dimension_names, storage_transformers
        As for :func:`zarr_core.create_array`; None for the default fill value.
    chunk_key_encoding : ExtensionDefinition
        The chunk key encoding.

    Raises
    ------
    MetadataValidationError, ExtensionError, CodecChainError
        As for :func:`zarr_core.create_array`.
    """
    data_type, byte_order = data_type_of(dtype)
    codecs = codec_forms.chain_of(
        _ordered(order, filters, len(shape)), serializer, compressors, byte_order, data_type
    )
    shards, index_location = _shards(shards)
    if isinstance(chunks, dict | ExtensionDefinition | ChunkGrid):
        if shards is not None:
            raise ValueError(
                "shards go with chunk shapes, not with a chunk grid; "
                'there, give the codec "sharding_indexed" as the serializer'
            )
        grid = definition_of(chunks, "chunk grid")
    else:
        item_size = data_type.item_size or 16
        chunk, shard = chunk_and_shard_shape(shape, item_size, chunks, shards)
        if shard is not None:
            codecs = codec_forms.sharded(chunk, codecs, index_location)
        grid = _grid(chunk if shard is None else shard)
    try:
        fill = data_type.default_fill_value() if fill_value is None else data_type.cast(fill_value)
    except (ValueError, TypeError, OverflowError) as error:
        raise MetadataValidationError(WHERE, [Problem("/fill_value", str(error))]) from error
    document: dict[str, JSON] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": data_type.to_definition().to_json(),
        "chunk_grid": grid.to_json(),
        "chunk_key_encoding": chunk_key_encoding.to_json(),
        "fill_value": data_type.fill_value_to_json(fill),
        "codecs": [
            definition.to_json() for definition in _resolved(codecs, grid, shape, data_type, fill)
        ],
        "attributes": checked(attributes or {}, WHERE),
    }
    if dimension_names is not None:
        given = (dimension_names,) if isinstance(dimension_names, str) else dimension_names
        document["dimension_names"] = list(given)
    if storage_transformers:
        one = isinstance(storage_transformers, str | dict | ExtensionDefinition)
        several = [storage_transformers] if one else storage_transformers
        document["storage_transformers"] = [
            definition_of(item, "storage transformer").to_json() for item in several
        ]
    return ArrayMetadata.from_json(document, WHERE)


def _resolved(
    codecs: list[ExtensionDefinition],
    grid: ExtensionDefinition,
    shape: tuple[int, ...],
    data_type: DataType,
    fill_value: np.ndarray[Any, Any],
) -> tuple[ExtensionDefinition, ...]:
    """Definitions with everything recorded that was left to be chosen."""
    chunk_grid = require("chunk_grid", grid, WHERE, "/chunk_grid")
    try:
        axes = chunk_grid.axes(shape)
    except ValueError as error:
        raise MetadataValidationError(WHERE, [Problem("/chunk_grid", str(error))]) from error
    chunk = chunk_grid.chunk_shape(axes, (0,) * len(axes))
    chain = CodecChain.of(*codecs, where=WHERE, pointer="/codecs")
    return chain.resolve(ArrayRepresentation(chunk, data_type, fill_value)).to_definitions()


def _grid(lengths: Lengths) -> ExtensionDefinition:
    """The definition of a grid with one length of chunk in each dimension, or with several."""
    shape: list[JSON] = [list(item) if isinstance(item, tuple) else item for item in lengths]
    if not any(isinstance(item, list) for item in shape):
        return ExtensionDefinition("regular", {"chunk_shape": shape})
    grid = ExtensionDefinition("rectilinear", {"kind": "inline", "chunk_shapes": shape})
    written: ExtensionDefinition = require("chunk_grid", grid, WHERE, "/chunk_grid").to_definition()
    return written


def _shards(given: Any) -> tuple[Any, str]:
    """Shape of the shards and place of their index."""
    if not isinstance(given, dict):
        return given, "end"
    if "shape" not in given or given.keys() - {"shape", "index_location"}:
        raise ValueError(f"shards={given!r} needs a shape, and may have an index_location")
    return given["shape"], given.get("index_location", "end")


def _ordered(order: str, filters: Any, ndim: int) -> Any:
    """The filters, after one that turns the dimensions round if ``order`` asks for it."""
    if order not in ("C", "F"):
        raise ValueError(f'order must be "C" or "F", not {order!r}')
    if order == "C" or ndim < 2:
        return filters
    turned: list[JSON] = [*reversed(range(ndim))]
    given = [] if codec_forms.is_auto(filters) else codec_forms.several(filters)
    return [ExtensionDefinition("transpose", {"order": turned}), *given]


def shape_of(shape: int | Sequence[int]) -> tuple[int, ...]:
    """The shape that a user gave."""
    items: Any = shape if hasattr(shape, "__iter__") else (shape,)
    try:
        return tuple(as_integer(length) for length in items)
    except TypeError:
        raise TypeError(f"a shape is an integer or a sequence of them, not {shape!r}") from None
