"""What a copy that decodes arrays does not carry over, as it is part of no node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import ZarrError
from zarr_core.formats.detect import formats_without
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.rechunking.note import NAME
from zarr_core.registry.resolve import make
from zarr_core.transfer.plan import tops_of
from zarr_core.transfer.source import Owners

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.transfer.ends import Ends


def left_behind(ends: Ends, nodes: list[tuple[str, NodeMetadata]]) -> list[str]:
    """Keys that are neither documents of nodes nor chunks.

    Parameters
    ----------
    ends, nodes
        What is copied.

    Notes
    -----
    Documents that nodes have in other formats do not count, nor what copies that were
    interrupted have left.  Those of other nodes do: they are no members here.
    """
    if not ends.source.supports_listing:
        return []
    paths = [path for path, _ in nodes]
    formats = (ends.format_, *formats_without(ends.format_.name))
    documents = {key for it in formats for path in paths for key in it.documents(path)}
    owners = Owners(ends.format_, paths)
    are_chunks = [_chunk_test(ends, path, metadata) for path, metadata in nodes]
    prefixes = (prefix for path in tops_of(nodes) for prefix in ends.format_.prefixes(path))
    found = []
    for key in (key for prefix in prefixes for key in ends.source.list_prefix(prefix)):
        owner = owners(key)
        if key not in documents and (owner is None or not are_chunks[owner](key)):
            found.append(key)
    return sorted(found)


def _chunk_test(ends: Ends, path: str, metadata: NodeMetadata) -> Callable[[str], bool]:
    """What tells whether a key that belongs to a node is a chunk's, or left beside some."""
    if not isinstance(metadata, ArrayMetadata):
        return lambda key: False
    try:
        encoding = make("chunk_key_encoding", metadata.chunk_key_encoding)
    except ZarrError:
        encoding = None
    if encoding is None or metadata.storage_transformers:
        return lambda key: True  # nobody can tell
    prefix, ndim = ends.format_.chunk_prefix(path), len(metadata.shape)
    decode = encoding.decode
    return lambda key: decode(key[len(prefix) :], ndim) is not None or key.startswith(prefix + NAME)
