"""Writing a selection: from an array in memory into chunks in a store.

:func:`write` divides a selection at the edges of chunks, and :class:`_ChunkWriter` writes the
elements of one chunk after the other, in one of two ways:

- All elements of the chunk inside the array are new: it is encoded and stored.
- Others remain: :meth:`Store.update` reads the stored value, changes it and stores the new one under
  the lock of its key, so that concurrent writes to different elements of a chunk are not lost.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.scratch import Scratch
from zarr_core.errors import CodecError, StoreError, unconfirmed_note
from zarr_core.interfaces.chunk_observer import changing, observers
from zarr_core.interfaces.selection import BasicIndexer
from zarr_core.interfaces.store import to_bytes
from zarr_core.selection.projection import project, put
from zarr_core.threads import INTERRUPTS, parallel_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.interfaces.byte_reader import ByteReader
    from zarr_core.interfaces.selection import AnySelection
    from zarr_core.interfaces.store import Buffers, Store
    from zarr_core.selection.projection import ChunkProjection

    Array = np.ndarray[Any, Any]

# Seconds to encode a chunk above which threads are faster: a file system creates the small
# files of a directory one after the other.
_MIN_TASK_SECONDS = 150e-6
_FEW_ELEMENTS = 100  # whose chunks are visited without listing
_MAX_ENCODED = 16  # shapes of chunks that are encoded once when all elements are equal
MAX_UNCONFIRMED = 1_000_000  # keys that are collected; a call may write more than fit into memory
MAX_INTERRUPTED = 100_000  # keys after an interrupt, which must not take long


class UnconfirmedKeys:
    """Collects the keys that a call that stores many values does not store after a failure.

    After the first failure, the call adds the keys of its other tasks instead of executing them.
    If nothing fails, a task only tests ``keys``.  Several threads may add keys.
    """

    __slots__ = ("_error", "keys")

    def __init__(self) -> None:
        self.keys: list[str] = []
        """Keys whose values may not be stored; not empty after a failure."""
        self._error: StoreError | None = None

    def fail(self, keys: Iterable[str], error: StoreError) -> None:
        """Add the keys of a request that failed."""
        self._error = self._error or error
        self.keys += keys

    def skip(self, key: str) -> None:
        """Add a key that is not stored after a failure; raises it if there are too many keys."""
        if len(self.keys) >= MAX_UNCONFIRMED:
            self.check()
        self.keys.append(key)

    def check(self) -> None:
        """Raise the first failure, with all keys in ``unconfirmed``."""
        if self._error is not None:
            self._error.unconfirmed = tuple(dict.fromkeys(self.keys))
            raise self._error


class _Batch:
    """Encoded chunks that a store with transactions stores together."""

    def __init__(self, store: Store, unconfirmed: UnconfirmedKeys) -> None:
        self._store = store
        self._unconfirmed = unconfirmed
        self._guard = threading.Lock()
        self._values: list[tuple[str, bytes]] = []
        self._erased: list[str] = []
        self._nbytes = 0

    def set(self, key: str, buffers: Buffers) -> None:
        """Store a chunk now or with others; copies its bytes, since scratch memory is reused."""
        data = to_bytes(buffers)
        with self._guard:
            self._values.append((key, data))
            self._nbytes += len(key) + len(data)
            if self._nbytes < self._store.traits.batch_nbytes:
                return
            values, self._values, self._nbytes = self._values, [], 0
        self._send(values, [])

    def erase(self, key: str) -> None:
        """Remove a chunk when all others are stored."""
        self._erased.append(key)

    def flush(self) -> None:
        """Store the remaining chunks."""
        self._send(self._values, self._erased)

    def _send(self, values: list[tuple[str, bytes]], erased: list[str]) -> None:
        try:
            if values:
                self._store.set_values(values)
                values = []
            if erased:
                self._store.erase_values(erased)
        except StoreError as error:
            self._unconfirmed.fail([*(key for key, _ in values), *erased], error)


def write(
    stored: StoredArray,
    selection: AnySelection,
    value: Array,
    fields: str | list[str] | None = None,
) -> None:
    """Write values of the shape of a selection, cast as NumPy casts.

    With ``fields``, other fields keep their values.  ``unconfirmed`` of a StoreError has the keys of
    all chunks that may not be stored.
    """
    if not value.size:
        return
    with changing(stored.chunk_store, stored.prefix) if observers else nullcontext():
        try:
            _write_chunks(stored, selection, value, fields)
        except INTERRUPTS as interrupt:
            # Which of the chunks are stored is not known: threads were left that still send some.
            chunks = islice(project(selection, stored.axes), MAX_INTERRUPTED)
            keys = tuple(stored.chunk_key(chunk.chunk_coords) for chunk in chunks)
            interrupt.unconfirmed = keys  # type: ignore[union-attr]  # as errors have
            interrupt.add_note(unconfirmed_note(keys))
            raise


def _write_chunks(
    stored: StoredArray, selection: AnySelection, value: Array, fields: str | list[str] | None
) -> None:
    codecs = stored.codecs
    parallel = True if fields else stored.parallel(codecs.inner_chunk_nbytes)
    projections: Iterable[ChunkProjection] | None = None
    constant: Array | None = None
    if fields is None and value.size > 1 and not any(value.strides):
        # A scalar was broadcast: one element is cast.  It may be a Python object, so it is taken
        # from the array without dimensions.
        constant = _cast(stored, value[(slice(0, 1),) * value.ndim].reshape(()))
        value = np.broadcast_to(constant, value.shape)
        if value.size > _FEW_ELEMENTS:
            projections = _stored_projections(stored, selection, constant)
    if projections is not None:
        parallel = None
    else:
        projections = project(selection, stored.axes)
        is_plain = constant is None and not fields and value.dtype == stored.resolved.dtype
        if is_plain and (plan := stored.native) is not None:
            # Compiled code returns the chunks that it leaves to Python, or None for all.
            left = plan.write(stored, selection, value)
            if left is not None:
                projections = (item for item in projections if item.chunk_coords in left)
    writer = _ChunkWriter(stored, value, constant, fields)
    pieces = codecs.inner_chunk_count
    try:
        parallel_for(projections, writer.write, parallel, stored.threads, pieces, _MIN_TASK_SECONDS)
    finally:
        if writer.batch is not None:
            writer.batch.flush()
    writer.unconfirmed.check()


def _cast(stored: StoredArray, values: Array) -> Array:
    """Cast values to the data type; a RuntimeError of NumPy becomes a ValueError."""
    try:
        return values.astype(stored.resolved.dtype)
    except RuntimeError as error:  # dates that do not fit into strings
        raise ValueError(
            f"{stored.location}: {values.dtype} cannot be stored as {stored.resolved.dtype}: {error}"
        ) from error


def _stored_projections(
    stored: StoredArray, selection: AnySelection, value: Array
) -> Iterator[ChunkProjection] | None:
    """The projections onto stored chunks alone, if missing chunks contain the value; otherwise None."""
    store = stored.chunk_store
    if (
        not isinstance(selection, BasicIndexer)
        or any(part.step != 1 for part in selection.index)
        or stored.codecs.decoded.write_empty_chunks
        or not (store.supports_listing and store.traits.supports_erasing)
        or not stored.codecs.is_fill(value)
    ):
        return None
    box = [
        range(axis.chunk_of(part.start), axis.chunk_of(part.stop - 1) + 1)
        for part, axis in zip(selection.index, stored.axes, strict=True)
    ]
    chunks = stored.stored_chunks_in([box])
    if chunks is None:
        return None
    return (_projection_onto(stored, selection, chunk_coords) for chunk_coords in chunks)


def _projection_onto(
    stored: StoredArray, selection: BasicIndexer, chunk_coords: tuple[int, ...]
) -> ChunkProjection:
    """The projection of slices with step 1 onto one chunk."""
    index, out_selection = [], []
    for part, axis, number in zip(selection.index, stored.axes, chunk_coords, strict=True):
        start = max(part.start, axis.start(number))
        stop = min(part.stop, axis.start(number) + axis.length(number))
        index.append(slice(start, stop, 1))
        out_selection.append(slice(start - part.start, stop - part.start, 1))
    [projection] = project(BasicIndexer(tuple(index)), stored.axes)
    return projection._replace(out_selection=tuple(out_selection))


class _ChunkWriter:
    """Writes the chunks of one call; if all elements are equal, encodes them once."""

    def __init__(
        self,
        stored: StoredArray,
        value: Array,
        constant: Array | None,
        fields: str | list[str] | None,
    ) -> None:
        self.unconfirmed = UnconfirmedKeys()
        self._store = store = stored.chunk_store
        self.batch = _Batch(store, self.unconfirmed) if store.traits.batch_nbytes else None
        self._stored = stored
        self._value = value
        self._fields = fields
        self._encode_constant: Callable[[PreparedCodecChain], Buffers | None] | None = None
        if constant is not None:
            self._encode_constant = lru_cache(_MAX_ENCODED)(
                lambda codecs: codecs.encode(np.broadcast_to(constant, codecs.decoded.shape))
            )

    def write(self, projection: ChunkProjection) -> None:
        """Write the elements of one chunk, unless another chunk could not be stored."""
        stored, store = self._stored, self._store
        chunk_coords, selection, out_selection, is_complete, is_whole = projection
        key = stored.chunk_key(chunk_coords)
        if self.unconfirmed.keys:
            self.unconfirmed.skip(key)
            return
        resolved = stored.resolved
        codecs = resolved.codecs if resolved.is_uniform else resolved.codecs_for(chunk_coords)
        try:
            elements = self._value[out_selection]
            if elements.dtype != resolved.dtype and self._fields is None:
                elements = _cast(stored, elements)  # chunk by chunk, to save memory
            if not is_complete or self._fields is not None:
                change = partial(self._change, codecs, selection, elements)
                stored.decode(key, store.update, key, change)
            elif not is_whole:
                # The chunk extends beyond the array; there it has fill values.  A shard has only
                # the inner chunks inside the array.
                self._put(codecs, key, self._change(codecs, selection, elements, None))
            elif self._encode_constant is not None:
                self._put(codecs, key, self._encode_constant(codecs))
            elif codecs.decoded.nbytes is None or (store.in_memory and not codecs.bytes_to_bytes):
                # A store in memory keeps the bytes, unless a codec makes others: no scratch memory.
                self._put(codecs, key, codecs.encode(elements))
            else:
                with Scratch(codecs.decoded.nbytes) as memory:
                    self._put(codecs, key, codecs.encode(elements, memory))
        except (CodecError, MemoryError) as error:
            raise stored.located(key, codecs.decoded.shape, error) from error
        except StoreError as error:
            self.unconfirmed.fail([key], error)

    def _change(
        self,
        codecs: PreparedCodecChain,
        selection: AnySelection,
        elements: Array,
        reader: ByteReader | None,
    ) -> Buffers | None:
        """Encode a stored chunk, or a missing one, with new elements in a part."""
        fields = self._fields
        if codecs.supports_partial_encode and fields is None:
            # A shard: inner chunks without new elements keep their bytes and are not decoded.
            buffers = codecs.partial_encode(reader, selection, elements)
        else:
            array = codecs.read_whole(reader)
            put(array if fields is None else array[fields], selection, elements)
            buffers = codecs.encode(array)
        if buffers is None and not self._store.traits.supports_erasing:
            return _empty_instead(codecs, reader)
        return buffers

    def _put(self, codecs: PreparedCodecChain, key: str, buffers: Buffers | None) -> None:
        """Store an encoded chunk, or remove it if it is empty."""
        target = self._store if self.batch is None else self.batch
        if buffers is not None:
            target.set(key, buffers)
        elif self._store.traits.supports_erasing:
            target.erase(key)
        else:
            self._store.update(key, partial(_empty_instead, codecs))


def _empty_instead(codecs: PreparedCodecChain, reader: ByteReader | None) -> Buffers | None:
    """Encode an empty chunk that replaces a stored one, for a store that cannot remove keys."""
    if reader is None:
        return None
    return codecs.with_settings(write_empty_chunks=True).encode(codecs.read_whole(None))
