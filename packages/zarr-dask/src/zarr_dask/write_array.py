"""Write Dask arrays such that no two tasks write to the same stored object."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

from zarr_core import Array, MemoryStore, array_from_metadata, create_array, open_array
from zarr_core.extension import StoreReadOnlyError
from zarr_core.hierarchy.rollback import Rollback

from zarr_dask import _dask
from zarr_dask.alignment import (
    align_blocks,
    check_alignment,
    check_region_edges,
    normalize_region,
)
from zarr_dask.block_lengths import regular, stored_edges
from zarr_dask.sources import check_not_source

if TYPE_CHECKING:
    from zarr_dask.alignment import Region

_BLOCKS = "blocks"


def to_zarr(
    x: Any,
    store: Any,
    path: str | None = None,
    *,
    chunks: Any = None,
    shards: Any = None,
    region: Any = None,
    align: bool = False,
    partial_edges: bool = False,
    overwrite: bool = False,
    compute: bool = True,
    lock: Any = False,
    storage_options: Mapping[str, Any] | None = None,
    scheduler: Any = None,
    **options: Any,
) -> Any:
    """Write a Dask array to a new array, to an existing array, or to a region of one.

    Parameters
    ----------
    x : dask.array.Array or array-like
        The array to write.
    store : Array or store-like
        An existing array, or a location as for :func:`zarr_core.open`: the location of a new
        array or, with ``region``, of an existing one.
    path : str, optional
        Path of the array below ``store``.
    chunks, shards
        Of a new array, as for :func:`zarr_core.create_array`; ``"blocks"`` for the shapes of
        the blocks of ``x``, in a ``rectilinear`` grid (zarr-grids) if their lengths differ.
        By default they are those of ``metadata``, or the blocks become chunks and must have one
        length, except the last.
    region : tuple of slice, slice, or dict of int to slice, optional
        The part of an existing array to write.
    align : bool
        Whether to rechunk ``x`` if its blocks are not aligned with stored objects.
    partial_edges : bool
        Whether the region may start or end within stored objects.  These are read, changed
        and stored under the lock of their key.
    overwrite : bool
        Whether an existing node is removed first.  Not supported for a node that ``x`` is
        computed from.
    compute : bool
        If false, create the array and return a ``dask.delayed.Delayed`` that writes.
    lock : bool or lock
        As for :func:`dask.array.store`; not needed.
    storage_options : mapping, optional
        Options for the store if it is a URL.
    scheduler : str or callable, optional
        The scheduler of Dask for this call; by default the configured one.
    **options
        Further arguments of :func:`zarr_core.create_array`, such as ``compressors``,
        ``dimension_names``, ``zarr_format``, and ``metadata``, a part of a ``zarr.json``.  For an
        existing array, only ``metadata``, with which it is compared.

    Returns
    -------
    Array or dask.delayed.Delayed

    Raises
    ------
    ValueError
        If blocks are not aligned with chunks or shards; the message contains the required
        ``rechunk``.  If ``x`` is computed from a node that ``overwrite`` removes.
    NodeExistsError
        If a node already exists.
    StoreError
        If the tasks run in other processes and the store is in the memory of this process.

    Notes
    -----
    Invalid requests fail before anything is stored.  A task writes whole stored objects, each
    atomically, so tasks can be repeated.  If writing fails or is interrupted, a new array is
    removed; notes of the exception list everything that remains.

    If the store is in a transaction, such as a session of Icechunk, each task writes to a
    fork.  The forks are merged at the end; the user commits the session.

    Examples
    --------
    >>> import dask.array as da
    >>> import zarr_core as zarr
    >>> from zarr_dask import to_zarr
    >>> _ = to_zarr(da.ones((4, 4), chunks=2), "ones.zarr")
    >>> zarr.open("ones.zarr").chunks
    (2, 2)
    """
    blocks: Any = _dask.asarray(x)
    if any(isnan(length) for lengths in blocks.chunks for length in lengths):
        raise ValueError("the lengths of some blocks are unknown; call x.compute_chunk_sizes()")
    is_new = region is None and not (isinstance(store, Array) and path is None)
    metadata = None if is_new else options.pop("metadata", None)
    if not is_new and (options or overwrite or chunks is not None or shards is not None):
        names = sorted(options) or ["overwrite, chunks, shards"]
        raise TypeError(f"{', '.join(names)}: only supported for new arrays, but the array exists")
    if is_new:
        options |= _layout(blocks, chunks, shards, options.get("metadata"))
        options |= {"shape": blocks.shape, "dtype": options.get("dtype", blocks.dtype)}
        array = _draft(options)
    elif isinstance(store, Array) and path is None and metadata is None:
        array = store
    else:
        array = open_array(
            store, None if isinstance(store, Array) else "r+", path=path,
            storage_options=storage_options, metadata=metadata,
        )  # fmt: skip
    if array.read_only:
        raise StoreReadOnlyError('opened for reading only; open it with mode="r+"', repr(array))
    where = normalize_region(region, array.shape, blocks.shape)
    stored = stored_edges(array)
    what = "shards" if array.shards else "chunks"
    if not partial_edges:
        check_region_edges(where, stored, what)
    wanted = align_blocks(blocks.chunks, where, stored)
    if align:
        blocks = blocks.rechunk(wanted)
    check_alignment(blocks.chunks, wanted, stored, what)
    more = {} if scheduler is None else {"scheduler": scheduler}
    if not is_new:
        return _written(blocks, array, where, lock, compute, more)
    if overwrite:
        check_not_source(blocks, store, path, storage_options)
    with Rollback() as rollback:
        with rollback.nested():
            array = create_array(
                store, path=path, overwrite=overwrite, storage_options=storage_options, **options
            )
        return _written(blocks, array, where, lock, compute, more)


def _written(
    blocks: Any, array: Array, where: Region, lock: Any, compute: bool, more: dict[str, Any]
) -> Any:
    """Write to an existing array, or return a ``Delayed`` that does."""
    if hasattr(array.store, "fork"):  # a transaction of several processes
        return _in_forks(blocks, array, where, lock, compute, more)
    if not more and _dask.current_client() is not None:
        _dask.check_picklable(array)
    stored = _dask.store(blocks, array, regions=where, lock=lock, compute=False)
    later = _dask.gather(stored, _none)
    if not compute:
        return later
    later.compute(**more)
    return array


def _in_forks(
    blocks: Any, array: Array, region: Region, lock: Any, compute: bool, more: dict[str, Any]
) -> Array:
    """Write to forks of a transaction and merge them."""
    store: Any = array.store
    if not compute:
        raise ValueError(
            "compute=False is not supported for a store in a transaction: chunks that are written "
            "later would not be part of the transaction"
        )
    forked = array_from_metadata(store.fork(), array.metadata, path=array.path)
    stored = _dask.store(
        blocks, forked, regions=region, lock=lock, compute=False,
        return_stored=True, load_stored=False,
    )  # fmt: skip
    store.merge([done.store for done in _dask.gather(stored, list).compute(**more)])
    return array


def _none(_blocks: list[None]) -> None:
    return


def _draft(options: Mapping[str, Any]) -> Array:
    """Return the new array without storing its metadata, to determine its stored objects."""
    layout = {name: options[name] for name in ("shape", "dtype", "chunks", "shards")}
    # Other options do not affect the grid and are validated when the array is created.
    metadata = options.get("metadata")
    if metadata is None:
        layout["compressors"] = None
    return array_from_metadata(MemoryStore(), metadata, fixed=True, **layout)


def _layout(x: Any, chunks: Any, shards: Any, metadata: Any) -> dict[str, Any]:
    """Return the chunks and shards of a new array, with ``"blocks"`` resolved.

    By default they are those of ``metadata``, or else the blocks.
    """
    members = metadata if isinstance(metadata, Mapping | None) else metadata.to_json()
    if chunks is None and shards is None and "chunk_grid" not in (members or ()):
        lengths = [regular(each) for each in x.chunks]
        if None in lengths:
            raise ValueError(
                f"the blocks of x have different lengths, {x.chunks}: pass chunks=, with "
                'align=True to rechunk x; or chunks="blocks" for chunks of the same lengths '
                '(zarr-grids); or shards="blocks"'
            )
        chunks = [max(1, length or 1) for length in lengths]
    return {
        "chunks": _like_blocks(x) if _is_blocks(chunks) else "auto" if chunks is None else chunks,
        "shards": _like_blocks(x) if _is_blocks(shards) else shards,
    }


def _is_blocks(value: Any) -> bool:
    return isinstance(value, str) and value == _BLOCKS


def _like_blocks(x: Any) -> list[Any]:
    blocks: list[Any] = []
    for lengths in x.chunks:
        one = regular(lengths)
        some = [length for length in lengths if length]
        blocks.append(some or 1 if one is None else max(1, one))
    return blocks
