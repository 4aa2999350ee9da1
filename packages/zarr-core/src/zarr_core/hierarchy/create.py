"""Making new nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.formats.detect import format_of_new
from zarr_core.given.attributes import checked
from zarr_core.given.key_encodings import key_encoding
from zarr_core.given.new_array import WHERE, array_metadata, shape_of
from zarr_core.given.older_words import understands_older_words
from zarr_core.hierarchy import cached
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.from_metadata import array_settings
from zarr_core.hierarchy.group import Group
from zarr_core.hierarchy.location import locate
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.values import as_assigned, dtype_of, values_of, write_values
from zarr_core.metadata.group import GroupMetadata
from zarr_core.nodes.placing import place_node, refuse_leftovers
from zarr_core.registry.scope import extensions as scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.store import Store


@understands_older_words
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
    fill_value: Any = ...,
    zarr_format: int | str | None = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    storage_transformers: Sequence[Any] = (),
    order: Literal["C", "F"] = "C",
    storage_options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    config: Mapping[str, Any] | None = None,
    write_data: bool = True,
    synchronizer: Any = None,
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
        :func:`zarr_core.given.chunk_shapes.chunk_and_shard_shape` for the forms and
        the rule.  ``shards`` may be a dictionary with ``shape`` and ``index_location``.
        Lengths that differ along a dimension, as in ``[[10, 20, 30], 5]``, make a
        ``rectilinear`` grid, which zarr-grids has.  ``chunks`` may be a chunk grid
        or the definition of one.
    filters, compressors
        The array -> array codecs and the bytes -> bytes codecs, of the chunks within the
        shards if there are shards: names, definitions, codecs, one or several, or
        None.  By default no filters, and zstd with checksums if it is installed.
    serializer
        The array -> bytes codec; by default the one that the data type names: ``bytes`` in
        the byte order of ``dtype``, for elements of variable size another.
    fill_value : scalar, optional
        What elements are that were never written; by default zero.  None leaves that
        open in formats that can, such as version 2, and is zero in others.
    zarr_format : int or str, optional
        The format to write: 2, 3, or the name of any that is installed.  By default
        that of the hierarchy around the array; 3 if there is none.
    attributes : mapping, optional
        Attributes; NumPy scalars and arrays become numbers and lists.
    chunk_key_encoding : str, dict or ExtensionDefinition, optional
        ``"default"``, ``"v2"``, a definition, or ``"."`` or ``"/"`` for the separator in the
        keys of the format.
    dimension_names : sequence of str or None, optional
        One a dimension; a string alone names the only one.
    storage_transformers : sequence
        Definitions of storage transformers, or one.
    order : {"C", "F"}
        Which dimension of a chunk is stored with its elements next to each other: the
        last or the first.  In version 3, ``F`` is a ``transpose`` codec.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.
    overwrite : bool
        Whether a node that is there already is removed first, with all below it.
    config : mapping, optional
        ``write_empty_chunks`` and ``missing_chunks`` for this array alone.
    write_data : bool
        False to make the array like ``data`` and leave it empty.
    synchronizer : object, optional
        Has locks for a store that cannot exclude other processes by itself; zarr-stores
        has some.
    extensions : mapping, optional
        Code for this array: ``{"codec": {"acme.xor": Xor}}``.

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
    values = None if data is None else values_of(data)
    if values is not None:
        if shape is not None and shape_of(shape) != values.shape:
            raise ValueError(f"shape {shape_of(shape)} is not that of data, {values.shape}")
        shape = values.shape
    if shape is None:
        raise TypeError("a new array needs a shape, or data to take it from")
    if dtype is None:
        dtype = np.float64 if values is None else dtype_of(values)
    keep_empty, missing_is_error = array_settings(config)
    place, path = locate(store, name, storage_options=storage_options, synchronizer=synchronizer)
    format_ = format_of_new(place, path, _format_asked(store, zarr_format))
    if isinstance(compressors, str) and compressors == "auto" and format_.compressors is not None:
        compressors = format_.compressors
    metadata = array_metadata(
        shape_of(shape), dtype, chunks=chunks, shards=shards, order=order, filters=filters,
        serializer=serializer, compressors=compressors,
        fill_value=None if fill_value is ... else fill_value, attributes=attributes,
        chunk_key_encoding=key_encoding(chunk_key_encoding, format_, WHERE),
        dimension_names=dimension_names, storage_transformers=storage_transformers,
    )  # fmt: skip
    if fill_value is None and format_.undefined_fill_values:
        metadata = metadata.replace(fill_value_undefined=True)
    metadata = format_.express(metadata, WHERE)
    binding = cached.binding(metadata, place, path, keep_empty)
    binding.check_lengths(WHERE)
    if values is not None and values is not data:
        values = as_assigned(values, data, binding.data_type)
    array = Array(
        place, path, format_, binding, missing_is_error=missing_is_error,
        consolidation=store._consolidation if isinstance(store, Node) else None,
    )  # fmt: skip
    if not overwrite:
        refuse_leftovers(array._chunks, format_, path)
    _place(store, place, path, format_, metadata, overwrite)
    if values is not None and write_data:
        write_values(array, values)
    return array


@understands_older_words
def create_group(
    store: StoreLike = None,
    *,
    path: str | None = None,
    zarr_format: int | str | None = None,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    synchronizer: Any = None,
) -> Group:
    """Make a new group.

    Parameters
    ----------
    store : store-like
        Where: a path, a URL, a store, a mapping, a group; None for memory.
    path : str, optional
        Path of the group in the store.  Groups that lead to it are made.
    zarr_format : int or str, optional
        The format to write; as for :func:`create_array`.
    overwrite : bool
        Whether a node that is there already is removed first, with all below it.
    attributes : mapping, optional
        Attributes.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.
    synchronizer : object, optional
        As for :func:`create_array`; for all that is below the group as well.

    Raises
    ------
    NodeExistsError
        If there is a node, or something else, at that path.
    """
    place, below = locate(store, path, storage_options=storage_options, synchronizer=synchronizer)
    format_ = format_of_new(place, below, _format_asked(store, zarr_format))
    metadata = GroupMetadata(attributes=checked(attributes or {}, "new group"))
    metadata = format_.express(metadata, "new group")
    _place(store, place, below, format_, metadata, overwrite)
    consolidation = store._consolidation if isinstance(store, Node) else None
    return Group(place, below, format_, metadata, consolidation=consolidation)


def _place(
    given: StoreLike,
    place: Store,
    path: str,
    format_: Format,
    metadata: NodeMetadata,
    overwrite: bool,
) -> None:
    """Store a new document, and its copy if it was made through a group that has copies."""
    if isinstance(given, Node):
        given._check_writable()
    made = place_node(place, path, format_, metadata, overwrite=overwrite)
    if isinstance(given, Node):
        given._record(gone=[path] if overwrite else [], there=[*made, path])


def _format_asked(store: StoreLike, zarr_format: int | str | None) -> int | str | None:
    """What was asked for; a member of a group that is open has the format of the group."""
    return store._format.name if zarr_format is None and isinstance(store, Node) else zarr_format
