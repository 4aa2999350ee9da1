"""Dask arrays from stored arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import Array, open_array
from zarr_transfer import Chunking

from zarr_dask import _dask
from zarr_dask.block_lengths import MAX_BLOCKS, block_lengths, gather, stored_edges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dask.array import Array as DaskArray


def from_zarr(
    source: Any,
    path: str | None = None,
    *,
    chunks: Any = "auto",
    inline_array: bool = True,
    name: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> DaskArray:
    """Return a Dask array for a stored array; chunks are read when it is computed.

    Parameters
    ----------
    source : Array or store-like
        The array or its location, as for :func:`zarr_core.open`.
    path : str, optional
        Path of the array below ``source``.
    chunks : "auto", None or as for :func:`dask.array.from_array`
        ``"auto"``: blocks of whole stored objects (shards, or chunks without sharding), up to
        Dask's setting ``array.chunk-size``.  None: one stored object per block.  With other
        values, a chunk that overlaps several blocks is read and decoded once per block.
    inline_array : bool
        Whether each task contains the array, which is small, or refers to another task.
    name : str, optional
        Name of the Dask array.  The default depends on the metadata and the location of the
        array.  Pass another name if the elements change while a cluster keeps old results.
    storage_options : mapping, optional
        Options for the store if it is a URL.
    **options
        Further arguments of :func:`zarr_core.open_array`.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    NodeNotFoundError, NodeTypeError
        If the array does not exist.
    ValueError
        If there are more than 10,000,000 blocks along the dimensions, because Dask keeps the
        length of each.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> from zarr_dask import from_zarr
    >>> array = zarr.create_array("lazy.zarr", data=[[1, 2], [3, 4]], chunks=(1, 2))
    >>> int(from_zarr(array).sum().compute())
    10
    """
    if isinstance(source, Array) and path is None:
        array = source
    else:
        array = open_array(source, "r", path=path, storage_options=storage_options, **options)
    stored = stored_edges(array)
    if chunks is None:
        blocks = block_lengths(stored, array)
    elif isinstance(chunks, str) and chunks == "auto":
        elements = _dask.target_block_nbytes() // Chunking.of(array).item_size
        blocks = block_lengths(gather(stored, elements), array)
    else:
        few = sum(along.count for along in stored) <= MAX_BLOCKS
        blocks = _dask.normalize_chunks(
            chunks,
            shape=array.shape,
            dtype=array.dtype,
            previous_chunks=block_lengths(stored, array) if few else None,
        )
    return _dask.from_array(
        array,
        chunks=blocks,
        name=name or f"zarr-{_dask.tokenize(array, blocks)}",
        inline_array=inline_array,
        # Without it, Dask reads an empty selection to determine the array type.
        meta=np.empty((0,) * array.ndim, array.dtype),
    )
