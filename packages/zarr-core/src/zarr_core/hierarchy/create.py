"""Making new nodes."""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core import strictjson
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.chain import CodecChain
from zarr_core.errors import MetadataValidationError
from zarr_core.formats.detect import format_named
from zarr_core.hierarchy import cached, codec_forms
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.chunk_shapes import chunk_and_shard_shape
from zarr_core.hierarchy.data_types import data_type_of
from zarr_core.hierarchy.group import Group
from zarr_core.hierarchy.location import locate
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.open import array_settings
from zarr_core.hierarchy.placing import place_node, refuse_leftovers
from zarr_core.interfaces.codec import ArrayRepresentation
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.metadata.problem import Problem
from zarr_core.registry.resolve import require
from zarr_core.registry.scope import extensions as scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.definition import JSON
    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.data_type import DataType

_WHERE = "new array"


def create_array(
    store: StoreLike = None,
    *,
    name: str | None = None,
    shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    data: Any = None,
    chunks: Any = "auto",
    shards: Any = None,
    filters: Any = "auto",
    compressors: Any = "auto",
    serializer: Any = "auto",
    fill_value: Any = None,
    zarr_format: int | str = 3,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    storage_transformers: Sequence[Any] = (),
    storage_options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    config: Mapping[str, Any] | None = None,
    write_data: bool = True,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
) -> Array:
    """Make a new array.

    Parameters
    ----------
    store : store-like
        Where: a path, a URL, a store, a mapping, a group; None for memory.
    name : str, optional
        Path of the array in the store.  Groups that lead to it are made.
    shape : int or sequence of int
        Length of each dimension; that of ``data`` if not given.
    dtype : data-type-like
        A name (``"float32"``, ``"r16"``), a NumPy dtype, a definition; that of
        ``data`` if not given, else ``float64``.
    data : array-like, optional
        What the array holds at first.
    chunks, shards
        Shapes, or ``"auto"``: see
        :func:`zarr_core.hierarchy.chunk_shapes.chunk_and_shard_shape` for the forms and
        the rule.  ``shards`` may be a dictionary with ``shape`` and ``index_location``.
        ``chunks`` may be the definition of a chunk grid.
    filters, compressors
        The array -> array codecs and the bytes -> bytes codecs, of the chunks within the
        shards if there are shards: names, definitions, codecs, one or several, or
        None.  By default no filters, and zstd with checksums if it is installed.
    serializer
        The array -> bytes codec; by default ``bytes``, in the byte order of ``dtype``.
    fill_value : scalar, optional
        What elements are that were never written; by default zero.
    zarr_format : int or str
        The format to write.
    attributes : mapping, optional
        Attributes; NumPy scalars and arrays become numbers and lists.
    chunk_key_encoding : str, dict or ExtensionDefinition, optional
        ``"default"``, ``"v2"`` or a definition.  ``{"name": "default", "separator": "."}``
        is understood as well.
    dimension_names : sequence of str or None, optional
        One a dimension.
    storage_transformers : sequence
        Definitions of storage transformers.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.
    overwrite : bool
        Whether a node that is there already is removed first, with all below it.
    config : mapping, optional
        ``write_empty_chunks`` and ``missing_chunks`` for this array alone.
    write_data : bool
        False to make the array like ``data`` and leave it empty.
    extensions : mapping, optional
        Code for this call alone: ``{"codec": {"acme.xor": Xor}}``.

    Returns
    -------
    Array

    Raises
    ------
    NodeExistsError
        If there is a node, or something else, at that path.
    MetadataValidationError
        If the parts do not fit each other; names each.
    ExtensionError
        If an extension is unknown, broken or wrongly configured.
    CodecChainError
        If the codecs do not form a chain for such chunks.
    """
    if extensions:
        given = {key: value for key, value in locals().items() if key != "extensions"}
        with scope(extensions):
            return create_array(**given)
    values = None if data is None else _values(data)
    if values is not None:
        if shape is not None and _shape(shape) != values.shape:
            raise ValueError(f"shape {_shape(shape)} is not that of data, {values.shape}")
        shape = values.shape
    if shape is None:
        raise TypeError("a new array needs a shape, or data to take it from")
    if dtype is None:
        dtype = np.float64 if values is None else values.dtype
    keep_empty, missing_is_error = array_settings(config)
    metadata = _array_metadata(
        _shape(shape), dtype, chunks, shards, filters, serializer, compressors, fill_value,
        attributes, chunk_key_encoding, dimension_names, storage_transformers,
    )  # fmt: skip
    place, path = locate(store, name, storage_options=storage_options)
    binding = cached.binding(metadata, place, path, keep_empty)
    format_ = format_named(zarr_format)
    consolidation = store._consolidation if isinstance(store, Node) else None
    if isinstance(store, Node):
        store._check_writable()
    array = Array(
        place, path, format_, binding,
        missing_is_error=missing_is_error, consolidation=consolidation,
    )  # fmt: skip
    if not overwrite:
        refuse_leftovers(array._chunks, format_, path)
    place_node(place, path, format_, metadata, overwrite=overwrite)
    if consolidation is not None:
        consolidation.put(path, metadata)
    if values is not None and write_data:
        array[...] = values
    return array


def create_group(
    store: StoreLike = None,
    *,
    path: str | None = None,
    zarr_format: int | str = 3,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Make a new group.

    Parameters
    ----------
    store : store-like
        Where: a path, a URL, a store, a mapping, a group; None for memory.
    path : str, optional
        Path of the group in the store.  Groups that lead to it are made.
    zarr_format : int or str
        The format to write.
    overwrite : bool
        Whether a node that is there already is removed first, with all below it.
    attributes : mapping, optional
        Attributes.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.

    Raises
    ------
    NodeExistsError
        If there is a node, or something else, at that path.
    """
    place, below = locate(store, path, storage_options=storage_options)
    document: dict[str, JSON] = {"zarr_format": 3, "node_type": "group", "attributes": {}}
    if attributes:
        document["attributes"] = strictjson.plain(dict(attributes), "new group", "/attributes")
    metadata = GroupMetadata.from_json(document, "new group")
    consolidation = store._consolidation if isinstance(store, Node) else None
    if isinstance(store, Node):
        store._check_writable()
    format_ = format_named(zarr_format)
    place_node(place, below, format_, metadata, overwrite=overwrite)
    if consolidation is not None:
        consolidation.put(below, metadata)
    return Group(place, below, format_, metadata, consolidation=consolidation)


def _array_metadata(
    shape: tuple[int, ...],
    dtype: Any,
    chunks: Any,
    shards: Any,
    filters: Any,
    serializer: Any,
    compressors: Any,
    fill_value: Any,
    attributes: Mapping[str, Any] | None,
    chunk_key_encoding: Any,
    dimension_names: Sequence[str | None] | None,
    storage_transformers: Sequence[Any],
) -> ArrayMetadata:
    data_type, byte_order = data_type_of(dtype)
    codecs = codec_forms.chain_of(filters, serializer, compressors, byte_order)
    index_location = "end"
    if isinstance(shards, dict):
        index_location = shards.get("index_location", "end")
        shards = shards["shape"]
    if isinstance(chunks, dict | ExtensionDefinition):
        grid = ExtensionDefinition.from_json(chunks) if isinstance(chunks, dict) else chunks
    else:
        item_size = data_type.item_size or 16
        chunk, shard = chunk_and_shard_shape(shape, item_size, chunks, shards)
        if shard is not None:
            codecs = codec_forms.sharded(chunk, codecs, index_location)
        grid = ExtensionDefinition("regular", {"chunk_shape": list(shard or chunk)})
    try:
        fill = data_type.default_fill_value() if fill_value is None else data_type.cast(fill_value)
    except (ValueError, TypeError, OverflowError) as error:
        raise MetadataValidationError(_WHERE, [Problem("/fill_value", str(error))]) from error
    document: dict[str, JSON] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": data_type.to_definition().to_json(),
        "chunk_grid": grid.to_json(),
        "chunk_key_encoding": _key_encoding(chunk_key_encoding).to_json(),
        "fill_value": data_type.fill_value_to_json(fill),
        "codecs": [
            definition.to_json() for definition in _resolved(codecs, grid, shape, data_type, fill)
        ],
        "attributes": strictjson.plain(dict(attributes or {}), _WHERE, "/attributes"),
    }
    if dimension_names is not None:
        document["dimension_names"] = list(dimension_names)
    if storage_transformers:
        document["storage_transformers"] = [
            codec_forms.one(item).to_json() for item in storage_transformers
        ]
    return ArrayMetadata.from_json(document, _WHERE)


def _resolved(
    codecs: list[ExtensionDefinition],
    grid: ExtensionDefinition,
    shape: tuple[int, ...],
    data_type: DataType,
    fill_value: np.ndarray[Any, Any],
) -> tuple[ExtensionDefinition, ...]:
    """Definitions with everything recorded that was left to be chosen."""
    chunk_grid = require("chunk_grid", grid, _WHERE, "/chunk_grid")
    try:
        axes = chunk_grid.axes(shape)
    except ValueError as error:
        raise MetadataValidationError(_WHERE, [Problem("/chunk_grid", str(error))]) from error
    chunk = chunk_grid.chunk_shape(axes, (0,) * len(axes))
    chain = CodecChain.of(*codecs, where=_WHERE, pointer="/codecs")
    return chain.resolve(ArrayRepresentation(chunk, data_type, fill_value)).to_definitions()


def _key_encoding(given: Any) -> ExtensionDefinition:
    if given is None:
        return ExtensionDefinition("default", {"separator": "/"})
    if isinstance(given, ExtensionDefinition):
        return given
    if isinstance(given, str):
        return (
            ExtensionDefinition(given, {"separator": "/" if given == "default" else "."})
            if (given in ("default", "v2"))
            else ExtensionDefinition(given)
        )
    if isinstance(given, dict):
        if "separator" in given:  # as zarr-python takes it
            return ExtensionDefinition(given["name"], {"separator": given["separator"]})
        return ExtensionDefinition.from_json(given)
    return ExtensionDefinition.from_json(given.to_dict())


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    items: Any = shape if hasattr(shape, "__iter__") else (shape,)
    return tuple(as_integer(length) for length in items)


def _values(data: Any) -> Any:
    """What has a shape and a dtype and can be read in parts."""
    if isinstance(data, np.ndarray) or (
        hasattr(data, "shape") and hasattr(data, "dtype") and not isinstance(data, np.generic)
    ):
        return data
    return np.asarray(data)
