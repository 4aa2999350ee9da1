"""How a chunk is read from a store, whole or in part.

:class:`ChunkReader` selects it once for each shape of chunks of an array:

==================  ======================================  =========================
function            for                                     reads
==================  ======================================  =========================
`_read_raw`         whole chunks stored as their memory     into the result
`_read_partial`     codecs that prefer partial decoding     what the codec requests
`_read_value`       stores in memory, chunks without a      the value of the store,
                    fixed size                              without a copy
`_read_large`       chunks too large for a reused buffer;   if stored, into a buffer
                    large ones in remote stores             of its size
`_read_buffered`    all others                              into a reused buffer
==================  ======================================  =========================
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zarr_core.engine.scratch import remote_memory, scratch
from zarr_core.errors import ChunkDecodeError, ValueReplacedError
from zarr_core.interfaces.byte_reader import ByteRange
from zarr_core.interfaces.selection import BasicIndexer, MaskIndexer
from zarr_core.interfaces.store import Store
from zarr_core.log import log
from zarr_core.selection.projection import chunk_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zarr_core.engine.prepared_chain import PreparedCodecChain
    from zarr_core.interfaces.byte_reader import Buffer, ByteReader
    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.selection import AnySelection

    Array = np.ndarray[Any, Any]

T = TypeVar("T")

THREADS_PAY_NBYTES = 1 << 16
"""Decoded bytes of a chunk above which threads are always faster."""

_UINT8 = np.dtype(np.uint8)  # NumPy takes a tenth of a microsecond to find it
_DENSE = 16  # if one element in so many is selected, all are read
_ATTEMPTS = 5  # to read a value that is being replaced
_MAX_BUFFER_NBYTES = 1 << 24  # larger buffers are not reused
_MAX_REMOTE_NBYTES = 1 << 17  # larger ones count for the limit of memory of remote reads


def decode_again(store: Store, key: str, error: ChunkDecodeError, work: Callable[[], T]) -> T:
    """Repeat what reads a chunk after an error, past caches, if the store is remote.

    The bytes may have been damaged on the way.

    Raises
    ------
    ChunkDecodeError
        If the chunk is damaged again, or the store is not remote.
    """
    if store.max_concurrency is None:
        raise error
    log("retries", "%s %r cannot be decoded (%s); reading it again", store, key, error.reason)
    store.discard_cached(key)
    try:
        return work()
    except ChunkDecodeError as second:
        reason = f"{second.reason}, also when it was requested again"
        raise type(second)(reason, second.codec, second.location) from error


class ChunkReader:
    """How chunks of one shape are read from one store.

    Attributes
    ----------
    read_whole, read_part : callable
        Functions of the reader, key, selection within the chunk and output array.  They
        return whether the chunk is stored.
    in_batches : bool
        Whether chunks are so small that several are read per task.
    get : callable
        Returns a value, unless it is larger than the codecs permit.
    """

    __slots__ = ("codecs", "get", "in_batches", "read_decoded", "read_part", "read_whole", "store")

    def __init__(self, store: Store, codecs: PreparedCodecChain) -> None:
        self.store = store
        self.codecs = codecs
        self.get = _limited(store, codecs)
        if store.in_memory or codecs.decoded.nbytes is None:
            self.read_decoded = _read_value
        elif codecs.read_buffer_size > (
            _MAX_BUFFER_NBYTES if store.max_concurrency is None else _MAX_REMOTE_NBYTES
        ):
            self.read_decoded = _read_large
        else:
            self.read_decoded = _read_buffered
        self.read_part = _read_partial if codecs.prefers_partial_decode else self.read_decoded
        self.read_whole = _read_raw if codecs.is_raw else self.read_part
        self.in_batches = (
            codecs.has_memory_layout
            and not codecs.prefers_partial_decode
            and store.max_concurrency is None
            and codecs.max_concurrency is None
            and (codecs.decoded.nbytes or 0) < THREADS_PAY_NBYTES
        )

    def nbytes_at_once(
        self, selection: AnySelection, axes: Sequence[ChunkAxis], out: Array
    ) -> int | None:
        """Bytes that are decoded at once for a chunk; they decide whether threads are used."""
        codecs = self.codecs
        if not codecs.prefers_partial_decode or codecs.inner_codecs is not None:
            return codecs.inner_chunk_nbytes
        # Only the selected part of an uncompressed chunk is read.
        if isinstance(selection, BasicIndexer):
            return out.nbytes // chunk_count(selection, axes)
        return 0


# --- ways; a selection of None is the whole chunk ---


def _read_raw(reader: ChunkReader, key: str, selection: AnySelection | None, out: Array) -> bool:
    """Read a whole chunk into the result, if it is contiguous there."""
    if not out.flags.c_contiguous:
        return reader.read_decoded(reader, key, selection, out)
    octets = out.reshape(-1).view(_UINT8).data
    size = reader.store.get_into(key, octets)
    if size is not None and size != len(octets):
        raise ChunkDecodeError(f"{size} bytes instead of {len(octets)}")
    return size is not None


def _read_partial(
    reader: ChunkReader, key: str, selection: AnySelection | None, out: Array
) -> bool:
    """Let the codec read the bytes that it needs; decode the whole chunk for a dense mask."""
    codecs = reader.codecs
    if (
        isinstance(selection, MaskIndexer)
        and codecs.inner_codecs is None
        and selection.shape[0] * _DENSE >= selection.mask.size
    ):
        return reader.read_decoded(reader, key, selection, out)
    part = codecs.full_selection if selection is None else selection
    return read_open(
        reader.store, key, codecs.prefetch, lambda value: codecs.partial_decode(value, part, out)
    )


def _read_value(reader: ChunkReader, key: str, selection: AnySelection | None, out: Array) -> bool:
    """Decode the value that the store returns."""
    data = reader.get(key)
    if data is None:
        return False
    reader.codecs.decode_into(data, out, selection)
    return True


def _read_buffered(
    reader: ChunkReader, key: str, selection: AnySelection | None, out: Array
) -> bool:
    """Read a value into a buffer that is reused for the next chunk."""
    codecs = reader.codecs
    with scratch(codecs.read_buffer_size) as buffer:
        size = reader.store.get_into(key, buffer)
        if size is None:
            return False
        if size > len(buffer):
            codecs.decode_into(read_oversized(reader, key, size), out, selection)
        else:
            codecs.decode_into(buffer[:size], out, selection)
    return True


def _read_large(reader: ChunkReader, key: str, selection: AnySelection | None, out: Array) -> bool:
    """Allocate a buffer only if the value is stored.

    The value of a remote store is received when memory for it is available; the request is sent
    before.
    """
    codecs = reader.codecs
    remote = reader.store.max_concurrency is not None

    def decode(value: ByteReader) -> None:
        nbytes = value.size
        codecs.check_size(nbytes)
        limit = remote_memory.reserve(lambda: nbytes + (codecs.decoded.nbytes or 0))
        with limit if remote else nullcontext(), scratch(nbytes) as buffer:
            value.read_into([(0, buffer)])
            codecs.decode_into(buffer, out, selection)

    return read_open(reader.store, key, ByteRange(0), decode)


def read_open(
    store: Store, key: str, prefetch: ByteRange | None, decode: Callable[[ByteReader], None]
) -> bool:
    """Open a value and decode it; retry if it is replaced meanwhile."""
    for attempt in range(_ATTEMPTS):
        try:
            value = store.open_again(key, prefetch)
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
            store.discard_cached(key)
    raise AssertionError("the last attempt raises")


def read_oversized(reader: ChunkReader, key: str, size: int) -> Buffer:
    """Return a value that is larger than the buffer for it."""
    reader.codecs.check_size(size)
    data = reader.get(key)
    return b"" if data is None else data


def _limited(store: Store, codecs: PreparedCodecChain) -> Callable[[str], Buffer | None]:
    """Return a function that gets values that are not larger than the codecs permit."""
    if type(store).get_limited is Store.get_limited:  # it would get larger ones as well
        return store.get
    get_limited, limit = store.get_limited, codecs.max_encoded_size

    def get(key: str) -> Buffer | None:
        value = get_limited(key, limit)
        if isinstance(value, int):
            codecs.check_size(value)
            raise ChunkDecodeError(f"{value} bytes")  # unreachable: the limit is not above that
        return value

    return get
