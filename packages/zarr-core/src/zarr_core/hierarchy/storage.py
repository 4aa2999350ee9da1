"""What a node takes in its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.engine.chunks import Chunks
    from zarr_core.interfaces.store import Store


def stored_chunks(chunks: Chunks) -> Iterator[tuple[tuple[int, ...], str]]:
    """Grid coordinates and keys of the chunks that are stored, by listing them.

    Keys that are no chunk's, or of a chunk outside the array, are left out.
    """
    prefix = chunks.prefix
    counts = [axis.count for axis in chunks.axes]
    decode = chunks.binding.key_encoding.decode
    for key in chunks.store.list_prefix(prefix):
        chunk = decode(key[len(prefix) :], len(counts))
        if chunk is not None and all(
            number < count for number, count in zip(chunk, counts, strict=True)
        ):
            yield chunk, key


def stored_chunk_keys(chunks: Chunks) -> Iterator[str]:
    """Keys of the chunks that are stored."""
    return (key for _, key in stored_chunks(chunks))


def nbytes_of(store: Store, keys: Iterable[str]) -> int:
    """Bytes that the values of some keys take; a key that vanished counts nothing."""
    return sum(store.getsize(key) or 0 for key in keys)
