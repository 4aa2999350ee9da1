"""Copy and rechunk arrays and groups with many workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import zarr_core
import zarr_transfer
from zarr_core import Array, Group, consolidate_metadata
from zarr_transfer import empty_like, plan_rechunk

from zarr_dask.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_transfer import RechunkPlan


def copy(
    source: Any,
    dest: Any,
    dest_path: str | None = None,
    *,
    client: Any = None,
    max_memory: int | str = "256 MiB",
    temp_store: Any = None,
    retries: int = 2,
    consolidated: bool | None = None,
    source_storage_options: Mapping[str, Any] | None = None,
    temp_storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Array | Group:
    """Copy an array, or a group with all nodes below it, with many workers.

    Parameters
    ----------
    source : Array, Group or store-like
        The node to copy.
    dest : store-like
        The location of the copy.
    dest_path : str, optional
        Path of the copy below ``dest``, as for :func:`zarr_core.copy`.
    client, max_memory, temp_store, retries, temp_storage_options
        As for :class:`Workers`.
    consolidated : bool, optional
        Whether to consolidate the metadata of a copied group.  By default if the source has
        consolidated metadata.
    source_storage_options : mapping, optional
        Further arguments for the store if ``source`` is a URL.
    **options
        Further arguments of :func:`zarr_core.copy`: ``storage_options``, ``if_exists``, ``overwrite``, ``progress`` and
        others; ``chunks``, ``shards``, ``compressors``, ``zarr_format`` and other arguments of
        :func:`zarr_core.create_array`, to decode arrays and encode them with another layout.

    Returns
    -------
    Array or Group
        The copy.

    Raises
    ------
    NodeExistsError
        If a node already exists.
    ValueError
        If a single stored object needs more memory than ``max_memory``.
    StoreError
        If the workers are other processes and a store is in the memory of this process.

    Notes
    -----
    The calling process writes the metadata: that of an array after its chunks, that of a group
    after its members.  Visible nodes are therefore complete.  The same call resumes an interrupted
    copy, for a group with ``if_exists="skip"``: existing arrays and, in arrays that are decoded,
    existing stored objects are skipped.
    """
    if source_storage_options or not isinstance(source, Array | Group):
        source = zarr_core.open(source, "r", storage_options=source_storage_options)
    executor = Workers(client, max_memory, temp_store, retries, temp_storage_options)
    copied: Any = zarr_transfer.copy(source, dest, dest_path, executor=executor, **options)
    if isinstance(copied, Group):
        if consolidated is None:
            consolidated = source.metadata.consolidated is not None
        if consolidated:
            copied = consolidate_metadata(copied)
    return copied  # type: ignore[no-any-return]  # a dry run returns something else


def plan(source: Array, *, max_memory: int | str = "256 MiB", **layout: Any) -> RechunkPlan:
    """Plan how :func:`copy` rechunks an array, without storing anything.

    Parameters
    ----------
    source : Array
        The array.
    max_memory : int or str
        The maximum memory of a task, in bytes.
    **layout
        ``chunks``, ``shards`` and others, as for :func:`copy`.

    Raises
    ------
    ValueError
        If a single stored object needs more memory than ``max_memory``.
    """
    dest = empty_like(source, **{**layout, "store": None})
    return plan_rechunk(source, dest, executor=Workers(max_memory=max_memory))
