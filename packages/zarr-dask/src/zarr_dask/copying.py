"""Copying hierarchies, rechunking them, by all the workers that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core import Array, Group, consolidate_metadata, empty_like

from zarr_dask.workers import Workers, planned

if TYPE_CHECKING:
    from zarr_core.extension import RechunkingPlan


def copy(
    source: Any,
    dest: Any,
    name: str | None = None,
    *,
    client: Any = None,
    max_memory: int | str = "256 MiB",
    work: Any = None,
    retries: int = 2,
    consolidated: bool | None = None,
    **options: Any,
) -> Array | Group:
    """Copy an array, or a group with everything below it, by many workers.

    Parameters
    ----------
    source : Array, Group or store-like
        What to copy.
    dest : store-like
        Where to: a group, or any other place, in any store.
    name : str, optional
        Path of the copy below that place, as for :func:`zarr_core.copy`.
    client, max_memory, work, retries
        As for :class:`Workers`.
    consolidated : bool, optional
        Whether a group that was copied gets consolidated metadata, in the end.  By default if
        the source has some.
    **options
        Further arguments of :func:`zarr_core.copy`: ``if_exists``, ``overwrite``, ``progress`` and
        others; ``chunks``, ``shards``, ``compressors``, ``zarr_format`` and what else
        :func:`zarr_core.create_array` takes, to decode arrays and write them anew.

    Returns
    -------
    Array or Group
        The copy.

    Raises
    ------
    NodeExistsError
        If there is something already.
    ValueError
        If a stored object takes more memory than a task may take.
    StoreError
        If the workers are other processes, and a store is in the memory of this one.

    Notes
    -----
    Documents are written here, that of an array after its chunks, that of a group after its
    members: what can be seen is complete.  What was interrupted is continued by the same
    call, of a group with ``if_exists="skip"``: arrays that are there are left, and of one
    that is decoded the stored objects that are there.
    """
    opened = source if isinstance(source, Array | Group) else zarr_core.open(source, "r")
    carrier = Workers(client, max_memory, work, retries)
    made: Any = zarr_core.copy(opened, dest, name, carrier=carrier, **options)
    if isinstance(made, Group):
        if consolidated is None:
            consolidated = opened.metadata.consolidated is not None  # type: ignore[union-attr]  # a group, too
        if consolidated:
            return consolidate_metadata(made)
    return made  # type: ignore[no-any-return]  # of an overload that says what a dry run gives


def plan(source: Array, *, max_memory: int | str = "256 MiB", **layout: Any) -> RechunkingPlan:
    """Say how :func:`copy` would decode an array and write it anew; nothing is stored.

    Parameters
    ----------
    source : Array
        The array.
    max_memory : int or str
        Bytes that a task may take.
    **layout
        ``chunks``, ``shards`` and others, as for :func:`copy`.

    Raises
    ------
    ValueError
        If a stored object takes more memory than a task may take.
    """
    dest = empty_like(source, **{**layout, "store": None})
    return planned(source, dest, max_memory)
