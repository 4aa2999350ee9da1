"""Keys of a store that belong to no node of its hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import make_extension

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core import Array, Store
    from zarr_core.extension import Format

    from zarr_cli.checking.result import ArrayCheck


def check_keys_of_array(
    array: Array, format_: Format, chunks: set[str], result: ArrayCheck
) -> None:
    """Find keys below an array that are no chunks of it.

    Parameters
    ----------
    array, format_
        The array, and how it is laid out.
    chunks : set of str
        Keys of its chunks.
    result : ArrayCheck
        Receives the others.
    """
    if array.metadata.storage_transformers:
        return  # which keys these use is their own affair
    known = chunks.union(format_.documents(array.path))
    encoding = make_extension("chunk_key_encoding", array.metadata.chunk_key_encoding)
    assert encoding is not None, "of a kind that is never left out"
    start = format_.chunk_prefix(array.path)
    for prefix in format_.prefixes(array.path):
        for key in array.store.list_prefix(prefix):
            if key in known:
                continue
            chunk = None
            if key.startswith(start):
                chunk = encoding.decode(key[len(start) :], array.ndim)
            (result.foreign if chunk is None else result.outside).append(key)
    result.foreign.sort()
    result.outside.sort()


def foreign_keys(
    store: Store, format_: Format, groups: Iterable[str], nodes: set[str]
) -> list[str]:
    """Keys, or prefixes of keys, that lie in a group and belong to none of its members.

    Parameters
    ----------
    store, format_
        Where the hierarchy is, how it is laid out.
    groups : iterable of str
        Paths of the groups.
    nodes : set of str
        Paths of all nodes.
    """
    documents = {key for path in nodes for key in format_.documents(path)}
    known = {*documents, *(prefix for path in nodes for prefix in format_.prefixes(path))}
    leading = {above for place in known for above in _above(place)}
    found: list[str] = []
    for path in groups:
        for prefix in format_.prefixes(path):
            keys, prefixes = store.list_dir(prefix)
            found += [key for key in keys if key not in documents]
            found += [below for below in prefixes if below not in leading]
    return sorted(set(found))


def _above(place: str) -> Iterator[str]:
    """The prefixes that lead to a key or prefix, itself included if it is a prefix."""
    start = place.find("/")
    while start >= 0:
        yield place[: start + 1]
        start = place.find("/", start + 1)
