"""Reading one chunk: from its value in a store to elements in memory.

A chunk is read in one of three ways, between which :meth:`ChunkReader.read` chooses:

raw
    The stored bytes are the elements.  The store reads them into the result.
in part
    A codec, such as ``sharding_indexed``, requests only the bytes of the selected elements.
whole
    The stored bytes are read into scratch memory and decoded: into the result if that is
    possible, otherwise into more scratch memory, from which the selected elements are copied.
"""

from __future__ import annotations

from contextlib import nullcontext
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zarr_core.engine.scratch import Scratch, remote_memory
from zarr_core.errors import ChunkDecodeError, ValueReplacedError
from zarr_core.interfaces.byte_reader import ByteRange
from zarr_core.interfaces.selection import BasicIndexer, MaskIndexer
from zarr_core.interfaces.store import CachingStore
from zarr_core.messages import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.interfaces.byte_reader import Buffer, ByteReader
    from zarr_core.interfaces.selection import AnySelection
    from zarr_core.interfaces.store import Store

    Array = np.ndarray[Any, Any]

T = TypeVar("T")

THREADS_PAY_NBYTES = 1 << 16
"""Decoded bytes of a chunk above which threads are always faster."""

_UINT8 = np.dtype(np.uint8)  # NumPy takes a tenth of a microsecond to find it
_DENSE = 16  # if a mask selects one element of a chunk in so many, all are read
_ATTEMPTS = 5  # to read a value that is being replaced
_MAX_BUFFER_NBYTES = 1 << 24  # larger buffers are not reused
_MAX_REMOTE_NBYTES = 1 << 17  # larger ones count for the limit of memory of remote reads


# --- one chunk ---


class ChunkReader:
    """How chunks of one shape are read from one store."""

    def __init__(self, store: Store, codecs: PreparedCodecChain) -> None:
        self.store = store
        self.codecs = codecs
        largest = _MAX_BUFFER_NBYTES if store.max_concurrency is None else _MAX_REMOTE_NBYTES
        self._is_large = codecs.read_buffer_size > largest
        # Whether chunks are so small that several are read per task.
        self.in_batches = (
            codecs.has_memory_layout
            and not codecs.prefers_partial_decode
            and store.max_concurrency is None
            and codecs.max_concurrency is None
            and (codecs.decoded.nbytes or 0) < THREADS_PAY_NBYTES
        )

    def nbytes_at_once(self, selection: AnySelection) -> int | None:
        """Bytes that are decoded at once for a chunk; they decide whether threads are used."""
        codecs = self.codecs
        if not codecs.prefers_partial_decode or codecs.inner_codecs is not None:
            return codecs.inner_chunk_nbytes
        # Only the selected part of an uncompressed chunk is read.
        if isinstance(selection, BasicIndexer):
            return prod(map(min, selection.shape, codecs.decoded.shape)) * codecs.dtype.itemsize
        return None

    def read(self, key: str, selection: AnySelection | None, out: Array) -> bool:
        """Read the selected elements of a chunk, or all; return whether the chunk is stored."""
        codecs, store = self.codecs, self.store
        data: Buffer | int | None
        # Raw: what the store reads are the elements.
        if selection is None and codecs.is_raw:
            if out.flags.c_contiguous:
                octets = out.reshape(-1).view(_UINT8).data
                data = store.get_limited(key, len(octets), octets)
                if data is None:
                    return False
                size = data if isinstance(data, int) else len(data)
                if isinstance(data, int) or size != len(octets):
                    raise ChunkDecodeError(f"{size} bytes instead of {len(octets)}")
                if getattr(data, "obj", None) is not octets.obj:  # the store has it elsewhere
                    octets[:] = data
                return True
        # In part: the codecs request what they need, such as an index and then inner chunks.
        elif codecs.prefers_partial_decode and not (
            isinstance(selection, MaskIndexer)
            and not codecs.supports_partial_encode  # a shard
            and selection.shape[0] * _DENSE >= selection.mask.size
        ):
            part = codecs.full_selection if selection is None else selection
            return read_open(
                store, key, codecs.prefetch, lambda value: codecs.partial_decode(value, part, out)
            )
        # Whole: from where it is in memory, ...
        if store.in_memory or codecs.decoded.nbytes is None:
            data = self.get_whole(key)
            if data is not None:
                codecs.decode_into(data, out, selection)
            return data is not None
        # ... from a large buffer, which is allocated only if the chunk is stored, ...
        if self._is_large:
            return read_open(
                store, key, ByteRange(0), lambda value: self._decode_large(value, selection, out)
            )
        # ... or from a buffer that is reused for the next chunk.
        with Scratch(codecs.read_buffer_size) as buffer:
            data = store.get_limited(key, len(buffer), buffer)
            if isinstance(data, int):  # longer than the buffer
                data = self.get_whole(key)
            if data is not None:
                codecs.decode_into(data, out, selection)
        return data is not None

    def _decode_large(self, value: ByteReader, selection: AnySelection | None, out: Array) -> None:
        """Receive a value of a remote store when memory for it is available, and decode it."""
        codecs, nbytes = self.codecs, value.size
        codecs.check_size(nbytes)
        limit = remote_memory.reserve(lambda: nbytes + (codecs.decoded.nbytes or 0))
        is_remote = self.store.max_concurrency is not None
        with limit if is_remote else nullcontext(), Scratch(nbytes) as buffer:
            value.read_into([(0, buffer)])
            codecs.decode_into(buffer, out, selection)

    def get_whole(self, key: str) -> Buffer | None:
        """Return a value in its own memory, unless it is larger than the codecs permit."""
        if self.store.in_memory:
            return self.store.get(key)
        value = self.store.get_limited(key, self.codecs.max_encoded_size)
        if isinstance(value, int):
            self.codecs.check_size(value)
            raise ChunkDecodeError(f"{value} bytes")  # unreachable: the limit is not above that
        return value


def read_open(
    store: Store, key: str, prefetch: ByteRange | None, decode: Callable[[ByteReader], None]
) -> bool:
    """Open a value and decode it; retry if it is replaced meanwhile."""
    caching = store if isinstance(store, CachingStore) else None
    open_value = store.open_value if caching is None else caching.open_cached
    for attempt in range(_ATTEMPTS):
        try:
            value = open_value(key, prefetch)
            if value is None:
                return False
            with value:
                decode(value)
                value.verify()
                return True
        except ValueReplacedError:
            if attempt == _ATTEMPTS - 1:
                raise
            log("retries", "%s %r was replaced while it was read; reading it again", store, key)
            if caching is not None:
                caching.discard_cached(key)
    raise AssertionError("the last attempt raises")
