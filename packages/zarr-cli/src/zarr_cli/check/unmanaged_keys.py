"""Unmanaged keys: keys that belong to no node of the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import create_extension
from zarr_core.names import is_manifest_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core import Array, Store
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


def unmanaged_keys(
    store: Store, format_: Format, groups: Iterable[str], nodes: set[str]
) -> list[str]:
    """Return keys and prefixes in groups that belong to no member."""
    documents = {key for path in nodes for key in format_.documents(path)}
    known = {*documents, *(prefix for path in nodes for prefix in format_.prefixes(path))}
    leading = {above for name in known for above in _above(name)}
    unmanaged: list[str] = []
    for path in groups:
        for prefix in format_.prefixes(path):
            keys, prefixes = store.list_dir(prefix)
            unmanaged += [key for key in keys if key not in documents and not is_manifest_key(key)]
            unmanaged += [below for below in prefixes if below not in leading]
    return sorted(set(unmanaged))


def _above(name: str) -> Iterator[str]:
    """Yield all prefixes of a key; for a prefix, including itself."""
    start = name.find("/")
    while start >= 0:
        yield name[: start + 1]
        start = name.find("/", start + 1)
