"""The array that metadata describe, whether or not their document is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import NodeTypeError
from zarr_core.formats.detect import format_named
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.location import locate
from zarr_core.hierarchy.open import node
from zarr_core.names import located
from zarr_core.registry.scope import extensions as scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.metadata.array import ArrayMetadata


def array_from_metadata(
    store: StoreLike,
    metadata: ArrayMetadata,
    *,
    path: str | None = None,
    zarr_format: int | str = 3,
    read_only: bool = False,
    config: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
) -> Array:
    """The array that metadata describe at a place; the store is not asked.

    For those who read or write chunks whose document is not there yet, or is
    another one: to convert arrays, to repair them.

    Parameters
    ----------
    store : store-like
        Where the chunks are: a path, a URL, a store, a mapping, an array or group.
    metadata : ArrayMetadata
        What the array is taken to be; it is neither compared nor stored.
    path : str, optional
        Path of the array in the store.
    zarr_format : int or str
        The format that says where the chunks of an array lie.
    read_only : bool
        Whether changes through the array are refused.
    config, extensions : mapping, optional
        As for :func:`zarr_core.open`.

    Raises
    ------
    ExtensionError, MetadataValidationError, CodecChainError
        If the metadata cannot be understood.
    NodeTypeError
        If they are those of a group.
    """
    if extensions:
        with scope(extensions):
            return array_from_metadata(
                store, metadata, path=path, zarr_format=zarr_format, read_only=read_only,
                config=config,
            )  # fmt: skip
    place, below = locate(store, path, read_only=read_only)
    format_ = format_named(zarr_format)
    found = node(place, below, format_, metadata, read_only=read_only, config=config)
    if not isinstance(found, Array):
        raise NodeTypeError(located(place, below), "the metadata are those of a group")
    return found
