"""Create arrays, from values too, and groups."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.chain import inner_order
from zarr_core.engine.stored_node import StoredGroup
from zarr_core.errors import CodecChainError
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.assigned_values import cast_data, data_to_array, data_type_of
from zarr_core.hierarchy.create_node import NewNode, check_leftovers
from zarr_core.hierarchy.from_metadata import array_settings, stored_array
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.hierarchy.store_path import NodeOptions
from zarr_core.metadata.attributes import check_attributes
from zarr_core.metadata.group import GroupMetadata
from zarr_core.normalize.array_metadata import (
    NEW_ARRAY,
    NEW_GROUP,
    array_metadata,
    parse_order,
    parse_shape,
)
from zarr_core.optional import with_advice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.metadata.array import ArrayMetadata

_MAX_NBYTES = 1 << 26  # read at once from a chunked array


@with_advice
def create_array(
    store: StoreLike = None,
    *,
    path: str | None = None,
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
    order: Literal["C", "F"] | Sequence[int] = "C",
    storage_options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    config: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | ArrayMetadata | None = None,
) -> Array:
    """Create an array.

    Parameters
    ----------
    store : store-like
        Location: a path, a URL, a store, a mapping, a group; None for memory.
    path : str, optional
        Path of the array in the store.  Missing parent groups are created.
    shape : int or sequence of int
        Length of each dimension; by default that of ``data``.
    dtype : data-type-like
        A name (``"float32"``, ``"r16"``), a NumPy dtype or a definition; by default that of
        ``data``, else ``float64``.
    data : array-like, optional
        The elements of the array.
    chunks, shards
        The lengths of chunks and of shards: one per dimension, such as ``(100, 100)``, or one for
        all.  -1 or None is the whole dimension; ``chunks=False`` is one chunk.  ``"auto"``, also
        for single dimensions, halves the longest dimension until a chunk has at most 1 MiB, and
        doubles the lengths of shards up to 32 MiB.  Shards are multiples of chunks; by default
        there are none.  A :class:`ChunkLayout` describes sizes instead of lengths.  Different
        lengths along a dimension, as in ``[[10, 20, 30], 5]``, select a ``rectilinear`` grid
        (zarr-grids).  ``chunks`` may also be a chunk grid or the definition of one; ``shards`` a
        dictionary with ``shape`` and ``index_location``.
    filters, compressors
        The array -> array and bytes -> bytes codecs of the chunks, or inner chunks if there are
        shards: names, definitions, codecs, one or several, or None.  By default no filters, and
        zstd with checksums if it is installed.
    serializer
        The array -> bytes codec; by default that of the data type: ``bytes`` in the byte order of
        ``dtype``, or another for elements of variable size.
    fill_value : scalar, optional
        Value of elements that were never written; by default zero.  None is an undefined fill
        value in formats that permit it, such as version 2, and zero in others.
    zarr_format : int or str, optional
        The format to write: 2, 3, or the name of an installed format.  By default that of the
        hierarchy that contains the array, otherwise 3.
    attributes : mapping, optional
        Attributes; NumPy scalars and arrays become numbers and lists.
    chunk_key_encoding : str, dict or ExtensionDefinition, optional
        ``"default"``, ``"v2"``, a definition, or ``"."`` or ``"/"`` for the separator in the keys
        of the format.
    dimension_names : sequence of str or None, optional
        One per dimension; a string names the only dimension.
    order : {"C", "F"} or sequence of int
        Whether the last or the first dimension of a chunk is contiguous in storage; or all
        dimensions, the contiguous one last, as :func:`zarr_core.extension.inner_order`.  In version 3,
        any other order than ``C`` is a ``transpose`` codec, and another one among the filters is
        an error.  Version 2 has only ``C`` and ``F``, which are also the orders of results in
        memory.
    storage_options : mapping, optional
        Further arguments for the store of a URL.
    overwrite : bool
        Whether an existing node is removed first, with everything below it.
    config : mapping, optional
        ``write_empty_chunks`` and ``missing_chunks`` for this array, and ``order``, ``"C"`` or
        ``"F"``, for another order of results in memory.  If the fill value is undefined, chunks
        of zeros are stored, because readers may return any values for missing chunks;
        ``write_empty_chunks="never"`` leaves them out.
    metadata : mapping or ArrayMetadata, optional
        Part of a ``zarr.json``, in version 3 terms for every format, combined with the other
        arguments.  Lengths in ``shape`` can be null, the array -> bytes codec can be omitted, and
        codecs can have any form that ``compressors`` accepts, with a part of their configuration.
        A fill value of null is undefined (version 2).  Members without an argument are given
        here, such as ``{"storage_transformers": [...]}``.

    Raises
    ------
    NodeExistsError
        If a node or another key exists at that path.
    TypeError
        If an argument is unknown (the error says which one is similar, or what to use instead),
        or contradicts ``metadata``; has all contradictions.
    MetadataValidationError
        If the arguments are inconsistent; contains all problems.
    ExtensionError
        If an extension is unknown, broken or has an invalid configuration.
    CodecChainError
        If the codecs do not form a chain for such chunks.

    Notes
    -----
    If the call fails or is interrupted after the array was created, the array and its new parent
    groups are removed.  The exception has a note about everything that remains, and about a node
    that ``overwrite`` has removed.

    An array like ``data`` without its elements is :func:`empty_like`.  Code for one array is given
    by :func:`override_extensions`.  Locks for a store without locks between processes are in
    ``zarr_stores.wrappers.synchronizers``.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> array = zarr.create_array(
    ...     "field.zarr", shape=(1000, 1000), chunks=(100, 100), shards=(500, 500), dtype="float32",
    ... )
    >>> array[:100, :100] = 1
    >>> array.chunks, array.shards, float(array[99:101, 0].sum())
    ((100, 100), (500, 500), 1.0)
    """
    values = None if data is None else data_to_array(data)
    if values is not None:
        if shape is not None and parse_shape(shape) != values.shape:
            raise ValueError(f"shape {parse_shape(shape)} is not that of data, {values.shape}")
        shape = values.shape
    settings = array_settings(config)
    options = NodeOptions(path, zarr_format, storage_options, overwrite=overwrite)
    new = NewNode(store, options)
    arguments = {
        "shape": shape, "dtype": dtype, "chunks": chunks, "shards": shards, "order": order,
        "filters": filters, "serializer": serializer, "compressors": compressors,
        "fill_value": fill_value, "attributes": attributes,
        "chunk_key_encoding": chunk_key_encoding, "dimension_names": dimension_names,
    }  # fmt: skip
    data_dtype = None if values is None else data_type_of(values)
    new_metadata = array_metadata(new.format, arguments, metadata, data_dtype)
    stored = stored_array(
        new.store, new.path, new.format, new_metadata, settings, consolidated=new.consolidated
    )
    if not (isinstance(order, str) and order == "C"):
        _check_order(stored.codecs, order)
    stored.resolved.check_lengths(NEW_ARRAY)
    if values is not None and values is not data:
        values = cast_data(values, data, stored.resolved.data_type)
    array = Array(stored)
    if not overwrite:
        check_leftovers(stored, new.snapshot)
    with Rollback() as rollback:
        new.create(new_metadata, rollback)
        if values is not None:
            _write_values(array, values)
    return array


def array(data: Any, *, store: StoreLike = None, **options: Any) -> Array:
    """Create an array that contains ``data``; options as for :func:`create_array`.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> zarr.array([[1, 2], [3, 4]], chunks=(1, 2))[:, 1]
    array([2, 4])
    """
    return create(None, store=store, data=data, **options)


def create(
    shape: int | Sequence[int] | None = None, *, store: StoreLike = None, **options: Any
) -> Array:
    """Create an array of a shape; by default that of ``data``, and in memory.

    Options as for :func:`create_array`.
    """
    return create_array(store, shape=shape, **options)


def empty(shape: int | Sequence[int], **options: Any) -> Array:
    """Create an array of the default fill value; options as for :func:`create_array`.

    Its elements are defined, unlike those of :func:`numpy.empty`.
    """
    return create(shape, **options)


def zeros(shape: int | Sequence[int], **options: Any) -> Array:
    """Create an array of zeros; options as for :func:`create_array`.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> array = zarr.zeros((3, 4), chunks=2, dtype="int8")
    >>> array[0, 0] = 5
    >>> int(array[...].sum())
    5
    """
    return full(shape, 0, **options)


def ones(shape: int | Sequence[int], **options: Any) -> Array:
    """Create an array of ones; options as for :func:`create_array`."""
    return full(shape, 1, **options)


def full(shape: int | Sequence[int], fill_value: Any, **options: Any) -> Array:
    """Create an array of one value; options as for :func:`create_array`.

    The value is the array's fill value; no chunk is stored for it.
    """
    return create(shape, fill_value=fill_value, **options)


def new_group(
    store: Any, options: NodeOptions, attributes: Mapping[str, Any] | None
) -> StoredGroup:
    """Create a group; see :func:`zarr_core.create_group`."""
    new = NewNode(store, options)
    metadata = GroupMetadata(attributes=check_attributes(attributes or {}, NEW_GROUP))
    metadata = new.format.to_format(metadata, NEW_GROUP)
    with Rollback() as rollback:
        new.create(metadata, rollback)
    return StoredGroup(new.store, new.path, new.format, metadata, consolidated=new.consolidated)


ARRAY_ARGUMENTS = frozenset(signature(create_array).parameters)
"""The names of the arguments of :func:`create_array`."""


def _check_order(codecs: PreparedCodecChain, order: str | Sequence[int]) -> None:
    """Raise a CodecChainError if codecs within another codec change the order of dimensions."""
    inner = inner_order(codecs)
    if inner is not None and [*inner] != parse_order(order, len(inner)):
        raise CodecChainError(
            f"{NEW_ARRAY.at('/codecs')}: the codecs store the dimensions in the order {inner}, which "
            f"contradicts order={order!r}; leave out order, or the transpose in the serializer"
        )


def _write_values(array: Array, values: Any) -> None:
    """Write all elements; those of a chunked array in rows of chunks, up to 64 MiB each."""
    if isinstance(values, np.ndarray) or not array.ndim or array.nbytes <= _MAX_NBYTES:
        array[...] = values
        return
    axis = array.stored.axes[0]
    # Whole chunks, if they have one length.
    nbytes = array.nbytes // axis.size * axis.length(0)
    step = axis.length(0) * max(1, _MAX_NBYTES // nbytes)
    for first in range(0, axis.size, step):
        rows = slice(first, min(first + step, axis.size))
        array[rows] = np.asarray(values[rows])
