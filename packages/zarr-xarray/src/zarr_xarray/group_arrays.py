"""The arrays directly below a group, from their own documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import Array, array_from_metadata
from zarr_core.extension import ArrayMetadata
from zarr_core.names import join
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import Format, Store


def array_at(
    store: Store,
    path: str,
    format_: Format,
    metadata: ArrayMetadata,
    write_empty_chunks: bool | None,
) -> Array:
    """Return an array with some metadata, without accessing the store."""
    config = None if write_empty_chunks is None else {"write_empty_chunks": write_empty_chunks}
    return array_from_metadata(store, metadata, path=path, zarr_format=format_.name, config=config)


def stored_arrays(
    store: Store,
    path: str,
    format_: Format,
    names: Iterable[str],
    write_empty_chunks: bool | None,
) -> dict[str, Array]:
    """Return the named arrays directly below a group that exist; only their documents are read."""
    arrays = concurrent_map(
        [*names], lambda name: format_.read(store, join(path, name)), store.max_concurrency
    )
    return {
        name: array_at(store, join(path, name), format_, metadata, write_empty_chunks)
        for name, metadata in arrays
        if isinstance(metadata, ArrayMetadata)
    }
