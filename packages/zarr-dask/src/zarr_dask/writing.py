"""Arrays of Dask stored, such that no two tasks write one stored object."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from zarr_core import Array, array_from_metadata, create_array, open_array
from zarr_core.extension import Forking, StoreReadOnlyError

from zarr_dask import _dask
from zarr_dask.alignment import (
    aligned,
    refuse_cut_edges,
    refuse_meeting,
    region_of,
    stored_lengths,
)
from zarr_dask.chunking import regular
from zarr_dask.sources import refuse_to_replace_sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_dask.alignment import Region

_BLOCKS = "blocks"


def to_zarr(
    x: Any,
    place: Any,
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
    """Store an array of Dask: in a new array, in one that is there, or in a part of one.

    Parameters
    ----------
    x : dask.array.Array or array-like
        What to store.
    place : Array or store-like
        An array to write into; or where a new one is made, or one that is there is opened
        if there is a ``region``: what :func:`zarr_core.open` takes.
    path : str, optional
        Path of the array below that place.
    chunks, shards
        Of a new array, as for :func:`zarr_core.create_array`; ``"blocks"`` for what the blocks
        of ``x`` are, in a ``rectilinear`` grid (zarr-grids) where their lengths differ.  Of
        neither, the blocks become chunks, and have one length then, but for the last.
    region : tuple of slice, slice, or dict of int to slice, optional
        The part of an array that is there to write.
    align : bool
        Whether to rechunk ``x`` if its blocks would meet in a stored object.
    partial_edges : bool
        Whether the region may begin or end within stored objects.  These are read, changed
        and stored under the lock of their key.
    overwrite : bool
        Whether a node that is there already is removed first; not one that ``x`` is computed
        from.
    compute : bool
        False to make the array, and give a ``dask.delayed.Delayed`` that writes.
    lock : bool or lock
        As for :func:`dask.array.store`; there is no need of any.
    storage_options : mapping, optional
        Further arguments for the store that a URL names.
    scheduler : str or callable, optional
        Of Dask, for this call; by default what Dask is set to.
    **options
        Further arguments of :func:`zarr_core.create_array`, such as ``compressors``,
        ``dimension_names``, ``zarr_format``.

    Returns
    -------
    Array or dask.delayed.Delayed

    Raises
    ------
    ValueError
        If blocks would meet in a chunk, or in a shard; says how to rechunk.  If blocks would be
        read from what ``overwrite`` removes.
    NodeExistsError
        If there is something already.
    StoreError
        If the tasks run in other processes, and the store is in the memory of this one.

    Notes
    -----
    What is refused is refused before anything is stored.  A task writes whole stored objects,
    each of which is replaced as a whole: one that is run again changes nothing.

    Where the store is in a transaction, as a session of Icechunk, each task has a fork of it;
    these are merged in the end, and it is for the user to commit.
    """
    blocks: Any = _dask.asarray(x)
    if any(isnan(length) for lengths in blocks.chunks for length in lengths):
        raise ValueError("the lengths of some blocks are not known: call x.compute_chunk_sizes()")
    fresh = region is None and not (isinstance(place, Array) and path is None)
    if not fresh and (options or overwrite or chunks is not None or shards is not None):
        given = sorted(options) or ["overwrite, chunks, shards"]
        raise TypeError(f"{', '.join(given)}: for new arrays only; here one is there already")
    if fresh:
        options |= _layout(blocks, chunks, shards)
        options |= {"shape": blocks.shape, "dtype": options.get("dtype", blocks.dtype)}
        array = _draft(options)
    elif isinstance(place, Array) and path is None:
        array = place
    else:
        array = open_array(place, "r+", path=path, storage_options=storage_options)
    if array.read_only:
        raise StoreReadOnlyError('opened for reading only; open it with mode="r+"', repr(array))
    where = region_of(region, array.shape, blocks.shape)
    stored = stored_lengths(array)
    what = "shards" if array.shards else "chunks"
    if not partial_edges:
        refuse_cut_edges(where, stored, what)
    wanted = aligned(blocks.chunks, where, stored)
    if align:
        blocks = blocks.rechunk(wanted)
    refuse_meeting(blocks.chunks, wanted, stored, what)
    if fresh:
        if overwrite:
            refuse_to_replace_sources(blocks, place, path, storage_options)
        array = create_array(
            place, name=path, overwrite=overwrite, storage_options=storage_options, **options
        )
    more = {} if scheduler is None else {"scheduler": scheduler}
    if isinstance(array.store, Forking):
        return _in_forks(blocks, array, where, lock, compute, more)
    if not more and _dask.current_client() is not None:
        _dask.check_travels(array)
    later = _dask.all_of(_dask.store(blocks, array, regions=where, lock=lock, compute=False))
    if not compute:
        return later
    later.compute(**more)
    return array


def _in_forks(
    blocks: Any, array: Array, region: Region, lock: Any, compute: bool, more: dict[str, Any]
) -> Array:
    """Write into forks of a transaction, and merge them."""
    store = array.store
    assert isinstance(store, Forking), "its changes stay with it"
    if not compute:
        raise ValueError(
            "compute=False: what is written later, perhaps elsewhere, would not come back to the "
            "transaction that the store is in"
        )
    forked = array_from_metadata(store.fork(), array.metadata, path=array.path)
    stored = _dask.store(
        blocks, forked, regions=region, lock=lock, compute=False,
        return_stored=True, load_stored=False,
    )  # fmt: skip
    store.merge([done.store for done in _dask.each_of(stored, **more)])
    return array


def _draft(options: Mapping[str, Any]) -> Array:
    """The new array in memory, to see what would be stored."""
    layout = {name: options[name] for name in ("shape", "dtype", "chunks", "shards")}
    # Other options do not matter to the grid; what is wrong with them is found on creation.
    return create_array(None, **layout, compressors=None)


def _layout(x: Any, chunks: Any, shards: Any) -> dict[str, Any]:
    """Chunks and shards of a new array, those that follow the blocks put into numbers."""
    if chunks is None and shards is None:
        lengths = [regular(each) for each in x.chunks]
        if None in lengths:
            raise ValueError(
                f"the blocks of x have differing lengths, {x.chunks}: give chunks=, and "
                'align=True if they are to be made to fit; or chunks="blocks" for chunks just '
                'like them (zarr-grids); or shards="blocks"'
            )
        chunks = [max(1, length or 1) for length in lengths]
    return {
        "chunks": _like_blocks(x) if _is_blocks(chunks) else "auto" if chunks is None else chunks,
        "shards": _like_blocks(x) if _is_blocks(shards) else shards,
    }


def _is_blocks(given: Any) -> bool:
    return isinstance(given, str) and given == _BLOCKS


def _like_blocks(x: Any) -> list[Any]:
    found: list[Any] = []
    for lengths in x.chunks:
        one = regular(lengths)
        some = [length for length in lengths if length]
        found.append(some or 1 if one is None else max(1, one))
    return found
