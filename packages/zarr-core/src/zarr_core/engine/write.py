"""Writing a selection: from an array in memory into chunks in a store.

:class:`_Writer` writes the chunks of one call.  A complete chunk is encoded and stored.  Any other
is changed with :meth:`Store.update`, which reads, changes and stores a value under the lock of its
key, so that concurrent writes to different elements of a chunk are not lost.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, nullcontext
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zarr_core.engine.fill_value import fill_test
from zarr_core.engine.read import decode_again, located
from zarr_core.engine.scratch import scratch
from zarr_core.errors import ChunkDecodeError, CodecError, StoreError, unconfirmed_note
from zarr_core.interfaces.chunk_observer import changing, observers
from zarr_core.interfaces.selection import BasicIndexer
from zarr_core.selection.projection import project, put
from zarr_core.threads import INTERRUPTS, parallel_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from zarr_core.engine.prepared_chain import PreparedCodecChain
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.interfaces.byte_reader import ByteReader
    from zarr_core.interfaces.selection import AnySelection
    from zarr_core.interfaces.store import Buffers, Store
    from zarr_core.selection.projection import ChunkProjection

    Array = np.ndarray[Any, Any]

T = TypeVar("T")

# Seconds to encode a chunk above which threads are faster: a file system creates the small
# files of a directory one after the other.
_MIN_TASK_SECONDS = 150e-6
_MAX_ENCODED = 16  # encoded chunks that are kept when all elements have one value
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
        """Add a key that is not stored after a failure.

        Raises
        ------
        StoreError
            If there are too many keys, so that the call ends.
        """
        if len(self.keys) >= MAX_UNCONFIRMED:
            self.check()
        self.keys.append(key)

    @contextmanager
    def follow(
        self, tasks: Iterable[T], work: Callable[[T], None], key: Callable[[T], str]
    ) -> Iterator[tuple[Iterator[T], Callable[[T], None]]]:
        """Add the keys of the tasks that may not be stored to an interrupt of the block.

        Returns the tasks and the function with which the block must replace its own.
        """
        pending: dict[str, None] = {}

        def begin() -> Iterator[T]:
            for task in tasks:
                pending[key(task)] = None
                yield task

        def work_on(task: T) -> None:
            work(task)
            pending.pop(key(task), None)

        left = begin()
        try:
            yield left, work_on
        except INTERRUPTS as interrupt:
            for _ in islice(left, MAX_INTERRUPTED):
                pass  # adds the keys of all other tasks
            name_unconfirmed(interrupt, [*self.keys, *pending])
            raise

    def check(self) -> None:
        """Raise the first failure, with all keys in ``unconfirmed``."""
        if self._error is not None:
            self._error.unconfirmed = tuple(dict.fromkeys(self.keys))
            raise self._error


def name_unconfirmed(interrupt: BaseException, keys: Iterable[str]) -> None:
    """Add the keys of values that may not be stored to an interrupt, unless it has some."""
    if not hasattr(interrupt, "unconfirmed"):
        names = tuple(dict.fromkeys(islice(keys, MAX_INTERRUPTED)))
        interrupt.unconfirmed = names  # type: ignore[attr-defined]  # as errors have
        if names:
            interrupt.add_note(unconfirmed_note(names))


class _Batch:
    """Small encoded chunks that a store keeps together, as it has transactions.

    Parameters
    ----------
    store : Store
        Store of the chunks; with ``traits.batch_nbytes``.
    unconfirmed : UnconfirmedKeys
        Receives the keys of chunks that cannot be stored.
    """

    def __init__(self, store: Store, unconfirmed: UnconfirmedKeys) -> None:
        self._store = store
        self._unconfirmed = unconfirmed
        self._guard = threading.Lock()
        self._values: list[tuple[str, bytes]] = []
        self._erased: list[str] = []
        self._nbytes = 0

    def set(self, key: str, buffers: Buffers) -> None:
        """Store a chunk now or with others; copies its bytes, since scratch memory is reused."""
        pieces = [buffers] if isinstance(buffers, bytes | bytearray | memoryview) else buffers
        nbytes = sum(map(len, pieces))
        if nbytes >= self._store.traits.batch_nbytes:
            self._store.set(key, buffers)
            return
        data = b"".join(pieces)
        with self._guard:
            self._values.append((key, data))
            self._nbytes += nbytes + len(key)
            if self._nbytes < self._store.traits.batch_nbytes:
                return
            values, self._values, self._nbytes = self._values, [], 0
        self._send(values, [])

    def erase(self, key: str) -> None:
        """Remove a chunk when all others are stored."""
        with self._guard:
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
    """Write a selection.

    Parameters
    ----------
    selection : Selection
        The elements to write.
    value : ndarray
        Their values; shape of the selection.  Cast to the data type as NumPy casts.
    fields : str or list of str, optional
        The fields to which the values belong; other fields keep their values.

    Raises
    ------
    CodecError
        If a codec cannot encode a chunk, or a chunk that is written in part is damaged.
    StoreError
        If the store fails; ``unconfirmed`` has the keys of all chunks that may not be stored.
    """
    if not value.size:
        return
    with changing(stored.chunk_store, stored.prefix) if observers else nullcontext():
        try:
            _write(stored, selection, value, fields)
        except INTERRUPTS as interrupt:
            # For a store without latency, stored values are not counted.
            parts = project(selection, stored.axes)
            name_unconfirmed(interrupt, (stored.chunk_key(it.chunk_coords) for it in parts))
            raise


def _write(
    stored: StoredArray, selection: AnySelection, value: Array, fields: str | list[str] | None
) -> None:
    codecs = stored.codecs
    projections: Iterable[ChunkProjection] | None = None
    parallel = True if fields else stored.parallel(codecs.inner_chunk_nbytes)
    one = None
    if fields is None and value.size > 1 and not any(value.strides):
        # One value everywhere.  It has no dimensions: a scalar may be a Python object.
        one = _cast(stored, value[(slice(0, 1),) * value.ndim].reshape(()))
        projections = _stored_projections(stored, selection, one)
        parallel = parallel if projections is None else None
    writer = _Writer(stored, value, one, fields)
    if projections is None:
        projections = project(selection, stored.axes)
        if (
            stored.native is not None
            and not (one is not None or fields)
            and (value.dtype == stored.resolved.dtype)
        ):
            # Compiled code returns the chunks that it leaves to Python, or None for all.
            left = stored.native.write(stored, selection, value)
            if left is not None:
                projections = (it for it in projections if it.chunk_coords in left)
    with writer.follow(projections) as (parts, work):
        try:
            parallel_for(
                parts, work, parallel, stored.threads, codecs.inner_chunk_count, _MIN_TASK_SECONDS
            )
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
    """The projections onto stored chunks alone, if the value is what missing chunks contain.

    None if every chunk of the selection has to be visited.
    """
    store, decoded = stored.chunk_store, stored.codecs.decoded
    if (
        not isinstance(selection, BasicIndexer)
        or any(part.step != 1 for part in selection.index)
        or decoded.write_empty_chunks
        or not (store.supports_listing and store.traits.supports_erasing)
        or not fill_test(decoded.fill_value)(value)
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
    """The projection of slices with step 1 onto one chunk; its ``out_selection`` is not used."""
    index = []
    for part, axis, number in zip(selection.index, stored.axes, chunk_coords, strict=True):
        start = axis.start(number)
        stop = min(part.stop, start + axis.length(number))
        index.append(slice(max(part.start, start), stop, 1))
    [projection] = project(BasicIndexer(tuple(index)), stored.axes)
    return projection


class _Writer:
    """Writes the chunks of one call.

    Parameters
    ----------
    stored : StoredArray
        The array.
    value : ndarray
        The values; shape of the selection.
    one : ndarray, shape (), optional
        The value of all elements: chunks of one shape are then encoded once.
    fields : str or list of str, optional
        The fields to which the values belong.

    Attributes
    ----------
    unconfirmed : UnconfirmedKeys
        The keys of chunks that are not stored after a failure.
    batch : _Batch or None
        Chunks that are stored together.
    """

    def __init__(
        self,
        stored: StoredArray,
        value: Array,
        one: Array | None,
        fields: str | list[str] | None,
    ) -> None:
        self.unconfirmed = UnconfirmedKeys()
        store = stored.chunk_store
        self.batch = _Batch(store, self.unconfirmed) if store.traits.batch_nbytes else None
        self._stored = stored
        self._value = value
        self._one = one
        self._fields = fields
        self._encoded: dict[PreparedCodecChain, Buffers | None] = {}

    def follow(
        self, projections: Iterable[ChunkProjection]
    ) -> AbstractContextManager[tuple[Iterable[ChunkProjection], Any]]:
        """Follow which chunks are stored, if the store has latency."""
        if self._stored.threads is None:
            return nullcontext((projections, self.write))
        return self.unconfirmed.follow(
            projections, self.write, lambda it: self._stored.chunk_key(it.chunk_coords)
        )

    def write(self, projection: ChunkProjection) -> None:
        """Write the elements of one chunk, unless another chunk could not be stored."""
        stored, chunk_coords = self._stored, projection.chunk_coords
        key = stored.chunk_key(chunk_coords)
        if self.unconfirmed.keys:
            self.unconfirmed.skip(key)
            return
        resolved = stored.resolved
        codecs = resolved.codecs if resolved.is_uniform else resolved.codecs_for(chunk_coords)
        try:
            if self._one is not None:
                self._write_one(codecs, key, projection, self._one)
                return
            new = self._value[projection.out_selection]
            if new.dtype != resolved.dtype and self._fields is None:
                new = _cast(stored, new)  # chunk by chunk, to save memory
            if projection.is_complete_chunk and self._fields is None:
                self._write_complete(codecs, key, projection, new)
            else:
                self._change(codecs, key, projection.chunk_selection, new)
        except (CodecError, MemoryError) as error:
            raise located(stored, key, codecs.decoded.shape, error) from error
        except StoreError as error:
            self.unconfirmed.fail([key], error)

    def _write_one(
        self, codecs: PreparedCodecChain, key: str, projection: ChunkProjection, one: Array
    ) -> None:
        """Write one value to all selected elements of a chunk."""
        encoded = self._encoded
        if projection.is_whole_encoded_chunk and codecs in encoded:
            self._store(codecs, key, encoded[codecs])  # the usual case: nothing is created
            return
        new = np.broadcast_to(one, projection.chunk_selection.shape)
        if projection.is_whole_encoded_chunk:
            buffers = codecs.encode(new)
            if len(encoded) < _MAX_ENCODED:
                encoded[codecs] = buffers
            self._store(codecs, key, buffers)
        elif projection.is_complete_chunk:
            self._write_complete(codecs, key, projection, new)
        else:
            self._change(codecs, key, projection.chunk_selection, new)

    def _write_complete(
        self, codecs: PreparedCodecChain, key: str, projection: ChunkProjection, value: Array
    ) -> None:
        """Store a chunk of which all elements inside the array are new."""
        selection, is_whole = projection.chunk_selection, projection.is_whole_encoded_chunk
        if not is_whole and codecs.supports_partial_encode and codecs.inner_codecs is not None:
            # A shard that extends beyond the array has only the inner chunks inside the array.
            self._store(codecs, key, codecs.partial_encode(None, selection, value))
            return
        nbytes = codecs.decoded.nbytes
        if nbytes is None or (
            # The store keeps the encoded bytes: no scratch memory.
            is_whole and self._stored.chunk_store.in_memory and not codecs.bytes_to_bytes
        ):
            array = value if is_whole else codecs.read_whole(None)
            if not is_whole:
                put(array, selection, value)
            self._store(codecs, key, codecs.encode(array))
            return
        with scratch(nbytes) as memory:
            if is_whole:
                self._store(codecs, key, codecs.encode(value, memory))
                return
            with scratch(nbytes) as elements:
                array = np.frombuffer(elements, codecs.dtype).reshape(codecs.decoded.shape)
                array[...] = codecs.decoded.fill_value
                put(array, selection, value)
                self._store(codecs, key, codecs.encode(array, memory))

    def _change(
        self, codecs: PreparedCodecChain, key: str, selection: AnySelection, value: Array
    ) -> None:
        """Change a part of a stored chunk; read it again if it cannot be decoded."""
        store, fields = self._stored.chunk_store, self._fields

        def change(reader: ByteReader | None) -> Buffers | None:
            if codecs.supports_partial_encode and fields is None:
                buffers = codecs.partial_encode(reader, selection, value)
            else:
                array = codecs.read_whole(reader)
                put(array if fields is None else array[fields], selection, value)
                buffers = codecs.encode(array)
            if buffers is None and reader is not None and not store.traits.supports_erasing:
                return _encode_empty(codecs)
            return buffers

        try:
            store.update(key, change)
        except ChunkDecodeError as error:
            decode_again(store, key, error, lambda: store.update(key, change))

    def _store(self, codecs: PreparedCodecChain, key: str, buffers: Buffers | None) -> None:
        """Store an encoded chunk, or remove it if it is empty."""
        store = self._stored.chunk_store
        batch = store if self.batch is None else self.batch
        if buffers is not None:
            batch.set(key, buffers)
        elif store.traits.supports_erasing:
            batch.erase(key)
        else:
            store.update(key, lambda reader: None if reader is None else _encode_empty(codecs))


def _encode_empty(codecs: PreparedCodecChain) -> Buffers | None:
    """Encode an empty chunk, for a store that cannot remove keys."""
    return codecs.with_write_empty_chunks().encode(codecs.read_whole(None))
