"""Unmanaged keys: those that are neither metadata documents nor chunks of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import NodeExistsError
from zarr_core.extension import ArrayMetadata, Location, ZarrError
from zarr_core.tools import CHECKPOINT_NAME, create_extension, formats_without

from zarr_transfer.source_keys import KeyOwners, top_level

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core import Array
    from zarr_core.tools import NodeMetadata

    from zarr_transfer.copy_executor import KeyPair
    from zarr_transfer.plan import CopyStep
    from zarr_transfer.spec import CopySpec


def unmanaged_keys(spec: CopySpec, nodes: list[tuple[str, NodeMetadata]]) -> list[str]:
    """Return the unmanaged keys of the source, including metadata of other nodes.

    Checkpoints, and metadata of the nodes in other formats, are not unmanaged.
    """
    if not spec.source.store.supports_listing:
        return []
    paths = [path for path, _ in nodes]
    formats = (spec.source.format_, *formats_without(spec.source.format_.name))
    documents = {key for format_ in formats for path in paths for key in format_.documents(path)}
    owners = KeyOwners(spec.source.format_, paths)
    are_chunks = [_chunk_test(spec, path, metadata) for path, metadata in nodes]
    prefixes = (
        prefix for path in top_level(paths) for prefix in spec.source.format_.prefixes(path)
    )
    unmanaged = []
    for key in (key for prefix in prefixes for key in spec.source.store.list_prefix(prefix)):
        owner = owners(key)
        if key not in documents and (owner is None or not are_chunks[owner](key)):
            unmanaged.append(key)
    return sorted(unmanaged)


def _chunk_test(spec: CopySpec, path: str, metadata: NodeMetadata) -> Callable[[str], bool]:
    """Return a function that tells whether a key of a node is a chunk or checkpoint."""
    if not isinstance(metadata, ArrayMetadata):
        return lambda key: False
    try:
        encoding = create_extension("chunk_key_encoding", metadata.chunk_key_encoding)
    except ZarrError:
        encoding = None
    if encoding is None or metadata.storage_transformers:
        return lambda key: True  # unknown
    prefix, ndim = spec.source.format_.chunk_prefix(path), len(metadata.shape)
    decode = encoding.decode
    return lambda key: (
        decode(key[len(prefix) :], ndim) is not None or key.startswith(prefix + CHECKPOINT_NAME)
    )


def check_existing_keys(
    spec: CopySpec, steps: Sequence[CopyStep], pairs: list[KeyPair], existing: set[str]
) -> None:
    """Raise an error if there are keys that would be read as chunks of a copied array."""
    arrays = [spec.dest.at(step.path) for step in steps if step.action == "copy" and step.is_array]
    unmanaged = existing.difference(pair.target for pair in pairs)
    unmanaged.difference_update(
        key for step in steps for key in spec.dest.format_.documents(spec.dest.at(step.path))
    )
    if not unmanaged or not arrays:
        return
    prefixes = {spec.dest.format_.chunk_prefix(path): path for path in arrays}
    for key in sorted(unmanaged):
        parts = key.split("/")
        for depth in range(len(parts)):
            path = prefixes.get("".join(f"{part}/" for part in parts[:depth]))
            if path is not None:
                raise NodeExistsError(
                    Location(spec.dest.store, path),
                    f"holds {key!r}, which is not part of a node; remove it first",
                )


def check_unmanaged(array: Array, own: set[str]) -> None:
    """Raise an error if there are keys at the path of a new array that the copy does not own."""
    documents = array.stored.format.documents(array.path)
    unmanaged = set(array.store.list_prefix(array.stored.prefix)) - own - {*documents}
    if unmanaged:
        raise NodeExistsError(
            array.stored.location,
            f"holds {min(unmanaged)!r}, which is not part of a node; remove it first",
        )
