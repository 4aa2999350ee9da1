"""The chunks and codecs of an array as they are stored, from its internal attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.extension import SubchunkCodec

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from zarr_core import Array, Group
    from zarr_core.extension import ChunkAxis, Codec, Store
    from zarr_core.tools import PreparedCodecChain

    Integers = np.ndarray[Any, np.dtype[np.int64]]


class NamedCodec(NamedTuple):
    """A codec with its name in metadata."""

    name: str
    codec: Codec


class StoredChunks:
    """The chunks of an array as they are stored.

    Parameters
    ----------
    array : Array
        The array.

    Attributes
    ----------
    axes : tuple of ChunkAxis
        The stored objects along each dimension: chunks, or shards with sharding.
    inner_chunk_shape : tuple of int or None
        The shape of the inner chunks; None without sharding.
    item_size : int or None
        The size of an element in memory; None if elements differ.
    sharding_codec : Codec or None
        The sharding codec; None without sharding.
    store : Store
        The store of the chunks, behind all storage transformers.
    """

    def __init__(self, array: Array) -> None:
        stored = self._stored = array.stored
        self._outer: PreparedCodecChain = stored.codecs
        self._inner: PreparedCodecChain = stored.inner_codecs
        self.axes: tuple[ChunkAxis, ...] = stored.axes
        self.inner_chunk_shape = self._inner.decoded.shape if stored.is_sharded else None
        self.item_size: int | None = stored.resolved.data_type.item_size
        self.store: Store = stored.chunk_store
        self.sharding_codec = self._outer.array_to_bytes if stored.is_sharded else None

    def has_fixed_size(self, inner: bool) -> bool:
        """Return whether all encoded chunks have the same size; inner chunks if ``inner``."""
        return (self._inner if inner else self._outer).encoded_size is not None

    def codecs(self) -> list[NamedCodec]:
        """Return the codecs of a stored object in the order of encoding."""
        return _codecs(self._outer)

    def inner_codecs(self) -> list[NamedCodec]:
        """Return the codecs of an inner chunk in the order of encoding; empty without sharding."""
        return [] if self._inner is self._outer else _codecs(self._inner)

    def key(self, chunk: tuple[int, ...]) -> str:
        """Return the key of a stored object."""
        return self._stored.chunk_key(chunk)

    def chunks(self) -> Iterator[tuple[tuple[int, ...], str]]:
        """List the grid coordinates and keys of the stored objects."""
        return self._stored.stored_chunks()

    def sizes(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """List the grid coordinates and sizes of the stored objects."""
        return self._stored.stored_sizes()

    def inner_chunk_sizes(self, chunk: tuple[int, ...], key: str) -> Integers | None:
        """Return the stored sizes of the inner chunks of a shard; None if it is not stored.

        Raises
        ------
        ChunkDecodeError
            If the index is damaged.
        """
        codecs = self._stored.resolved.codecs_for(chunk)
        reader = self.store.open_value(key, codecs.prefetch)
        if reader is None:
            return None
        with reader:
            codec = codecs.array_to_bytes
            if not isinstance(codec, SubchunkCodec):
                return None
            return codec.inner_chunk_sizes(reader, codecs.decoded)

    def where(self, key: str) -> str:
        """Return the location of a stored object for messages."""
        return self._stored.where(key)


def format_name(node: Array | Group) -> str:
    """Return the name of the format of a node, such as ``v3``."""
    return node.stored.format.name


def _codecs(chain: PreparedCodecChain) -> list[NamedCodec]:
    codecs = (*chain.array_to_array, chain.array_to_bytes, *chain.bytes_to_bytes)
    return [NamedCodec(*item) for item in zip(chain.names, codecs, strict=True)]
