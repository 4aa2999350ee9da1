"""Existing keys and nodes at the destination of a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import MetadataError
from zarr_core.tools import concurrent_map

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.extension import Store
    from zarr_core.tools import NodeMetadata

    from zarr_transfer.spec import CopySpec


def existing_keys(spec: CopySpec, tops: list[str]) -> set[str]:
    """Return all existing keys at the destination of top-level nodes; none without listing."""
    store, format_ = spec.dest.before, spec.dest.format_
    if not store.supports_listing:
        return set()
    prefixes: list[str] = []
    outside: list[str] = []  # metadata outside the prefixes
    for target in map(spec.target, tops):
        own = tuple(format_.prefixes(target))
        prefixes += own
        outside += (key for key in format_.documents(target) if not key.startswith(own))
    present = present_keys(store, outside)
    listed = concurrent_map(
        prefixes, lambda prefix: list(store.list_prefix(prefix)), store.max_concurrency
    )
    return present.union(*(keys for _, keys in listed))


def present_keys(store: Store, keys: Iterable[str]) -> set[str]:
    """Return the existing keys, with one request for each."""
    return {
        key
        for key, is_there in concurrent_map(keys, store.exists, store.max_concurrency)
        if is_there
    }


def existing_nodes(
    spec: CopySpec, nodes: list[tuple[str, NodeMetadata]], keys: set[str]
) -> dict[str, NodeMetadata | MetadataError]:
    """Return existing metadata, or errors, at the destination, by the path of the source."""

    def read(path: str) -> NodeMetadata | MetadataError | None:
        try:
            return spec.dest.format_.read(spec.dest.store, spec.target(path))
        except MetadataError as error:
            return error

    # Implied groups, without metadata, do not count.
    listed = spec.dest.store.supports_listing
    paths = [
        path
        for path, _ in nodes
        if not (listed and keys.isdisjoint(spec.dest.format_.documents(spec.target(path))))
    ]
    pairs = concurrent_map(paths, read, spec.dest.store.max_concurrency)
    return {path: metadata for path, metadata in pairs if metadata is not None}
