"""Stored arrays as arrays of Dask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import Array, open_array
from zarr_core.extension import Chunking

from zarr_dask import _dask
from zarr_dask.alignment import stored_lengths
from zarr_dask.chunking import gather

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
    """Make a Dask array of a stored one; no chunk is read before something is computed.

    Parameters
    ----------
    source : Array or store-like
        The array, or where it is: what :func:`zarr_core.open` takes.
    path : str, optional
        Path of the array below that place.
    chunks : "auto", None or as for :func:`dask.array.from_array`
        ``"auto"``: whole stored objects (shards, or chunks where there are no shards), as
        many in a block as Dask's setting ``array.chunk-size`` allows.  None: one stored
        object a block.  Anything else is taken as it is: chunks that a block has part of
        are read, and decoded, once for each such block.
    inline_array : bool
        Whether tasks have the array with them, which is small, or refer to a task that
        has it.
    name : str, optional
        Name of the Dask array.  By default it follows from what the array is and where: who
        stores other elements meanwhile, and has results of the old ones kept by a cluster,
        gives another.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.
    **options
        Further arguments of :func:`zarr_core.open_array`.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    NodeNotFoundError, NodeTypeError
        If there is no array.
    """
    if isinstance(source, Array) and path is None:
        array = source
    else:
        array = open_array(source, "r", path=path, storage_options=storage_options, **options)
    if chunks is None:
        blocks = stored_lengths(array)
    elif isinstance(chunks, str) and chunks == "auto":
        blocks = gather(stored_lengths(array), _dask.block_bytes() // Chunking.of(array).item_size)
    else:
        blocks = _dask.normalize_chunks(
            chunks, shape=array.shape, dtype=array.dtype, previous_chunks=stored_lengths(array)
        )
    return _dask.from_array(
        array,
        chunks=blocks,
        name=name or f"zarr-{_dask.tokenize(array, blocks)}",
        inline_array=inline_array,
        # Otherwise Dask asks for no elements of the array, to see what it is made of.
        meta=np.empty((0,) * array.ndim, array.dtype),
    )
