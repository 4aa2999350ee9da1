"""Keys below an array that are not its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import create_extension
from zarr_core.names import is_manifest_key

if TYPE_CHECKING:
    from zarr_core import Array
    from zarr_core.extension import Format

    from zarr_cli.check.array_check import ArrayCheck


def check_keys_of_array(
    array: Array, format_: Format, chunks: set[str], result: ArrayCheck
) -> None:
    """Find keys below an array that are not chunks or metadata of it."""
    if array.metadata.storage_transformers:
        return  # transformers may use any keys
    known = chunks.union(format_.documents(array.path))
    encoding = create_extension("chunk_key_encoding", array.metadata.chunk_key_encoding)
    assert encoding is not None, "chunk key encodings are never ignored"
    start = format_.chunk_prefix(array.path)
    for prefix in format_.prefixes(array.path):
        for key in array.store.list_prefix(prefix):
            if key in known or is_manifest_key(key):
                continue
            chunk = None
            if key.startswith(start):
                chunk = encoding.decode(key[len(start) :], array.ndim)
            (result.unmanaged if chunk is None else result.outside).append(key)
    result.unmanaged.sort()
    result.outside.sort()
