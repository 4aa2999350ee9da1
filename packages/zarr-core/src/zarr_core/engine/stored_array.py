"""An array as it is stored: its metadata, codecs and chunk keys; reading and writing of elements."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice
from math import prod
from operator import lt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_core.config import config
from zarr_core.engine.native import native_plan
from zarr_core.engine.read import THREADS_PAY_NBYTES, ChunkReader
from zarr_core.engine.resolved_metadata import resolve_cached
from zarr_core.engine.scratch import Scratch, remote_memory
from zarr_core.engine.stored_node import StoredNode
from zarr_core.engine.write import write as write_selection
from zarr_core.errors import ChunkDecodeError, CodecError, MissingChunkError
from zarr_core.interfaces.codec import SubchunkCodec
from zarr_core.interfaces.keys import check_prefix
from zarr_core.interfaces.store import CachingStore
from zarr_core.location import Location
from zarr_core.messages import log
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.registry import overrides
from zarr_core.registry.resolve import create_extension
from zarr_core.selection.projection import project, take
from zarr_core.threads import parallel_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self, TypeVar

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.engine.resolved_metadata import ResolvedMetadata, WriteEmptyChunks
    from zarr_core.interfaces.codec import Codec
    from zarr_core.interfaces.native import NativePlan
    from zarr_core.interfaces.selection import AnySelection
    from zarr_core.selection.projection import ChunkProjection

    Array = np.ndarray[Any, Any]
    T = TypeVar("T")

_MAX_READERS = 256  # shapes of chunks
_BATCH = 16  # small chunks per task of a thread
_FEW_CHUNKS = 100  # visited without listing
_MANY_REQUESTS = 64  # concurrent ones, also for large chunks: responses wait for memory


@dataclass(eq=False, repr=False)
class StoredArray(StoredNode[ArrayMetadata]):
    """An array as it is stored, without the user interface.

    It is immutable: other metadata require another StoredArray.

    Parameters
    ----------
    store, path, format, metadata, read_only, consolidated, extensions, fixed
        The attributes of :class:`StoredNode`; by default the extensions of the current block.
    resolved : ResolvedMetadata
        The code of all extensions that the metadata name; shared with other arrays.
    missing_is_error : bool
        Whether reading a chunk that is not stored raises.
    result_order : {"C", "F"}, optional
        The memory order of results; by default that of the chunks.

    Attributes
    ----------
    chunk_store : Store
        The store after all storage transformers, which has the chunks.
    prefix : str
        Prefix of every chunk key: empty or ending in ``/``.
    axes : tuple of ChunkAxis
        The chunk grid, limited to the shape of the array.
    chunk_key : callable
        From the coordinates of a stored object to its key.
    threads : int or None
        The number of concurrent requests of a store with latency, or calls of a codec that waits:
        fewer for large chunks, since each needs memory.
    """

    resolved: ResolvedMetadata
    _: KW_ONLY
    missing_is_error: bool = False
    result_order: Literal["C", "F"] | None = None

    def __post_init__(self) -> None:
        store, resolved = self.store, self.resolved
        self.ignored_extensions = resolved.ignored
        self.read_only = self.read_only or store.read_only or bool(resolved.ignored)
        self.axes = resolved.axes
        prefix = self.prefix = check_prefix(self.format.chunk_prefix(self.path))
        # The first transformer is nearest to the array, the last to the store.
        for transformer in reversed(resolved.transformers):
            store = transformer.transform(store, prefix)
        self.chunk_store = store
        self.threads = store.max_concurrency or self.codecs.max_concurrency
        if self.threads:  # no more requests than responses that fit into the memory for them
            nbytes = self.codecs.inner_chunk_nbytes or 1
            most = max(remote_memory.limit // nbytes, _MANY_REQUESTS)
            self.threads = min(self.threads, most)
        if config.settings.native == "off":
            self.native = None
        if resolved.affixes is None or not self.axes:
            encode = resolved.key_encoding.encode
            self.chunk_key: Callable[[tuple[int, ...]], str] = lambda chunk: prefix + encode(chunk)
        else:  # formatting is several times as fast
            before, separator = resolved.affixes
            numbers = separator.replace("%", "%%").join(["%d"] * len(self.axes))
            self.chunk_key = ((prefix + before).replace("%", "%%") + numbers).__mod__
        self._readers: dict[PreparedCodecChain, ChunkReader] = {}

    @cached_property
    def native(self) -> NativePlan | None:
        """The plan of compiled code for the chunks, created at first use; None to use Python."""
        return native_plan(self)

    # --- elements ---

    def read(self, selection: AnySelection, out: Array) -> None:
        """Read a selection into an array of its shape and the data type."""
        if not out.size:
            return
        # Compiled code reads what it can.  ``left`` are the chunks that it leaves; None for all.
        plan = self.native
        left = None if plan is None else plan.read(self, selection, out)
        if left is not None and not left:
            return
        reader = self.chunk_reader((0,) * len(self.axes))
        in_batches = reader.in_batches and self.resolved.is_uniform  # chunks have one shape
        # Every projection says which elements of a chunk are read, and where they are in the result.
        chunk_key = self.chunk_key if in_batches and left is None else None
        projections = project(selection, self.axes, complete=False, chunk_key=chunk_key)
        if isinstance(projections, tuple):  # of a single chunk, whose elements are the whole result
            self._read_chunk(reader, projections[0], out)
            return
        if left is not None:
            projections = (item for item in projections if item.chunk_coords in left)
        if in_batches:
            read_batch = partial(self._read_batch, reader, out)
            first = list(islice(projections, _BATCH))
            if len(first) < _BATCH:
                read_batch(first)
                return
            batches = chain([first], iter(lambda: list(islice(projections, _BATCH)), []))
            parallel_for(batches, read_batch, None, pieces=_BATCH)
            return
        parallel_for(
            projections,
            partial(self._read_projection, reader, out),
            self.parallel(reader.nbytes_at_once(selection)),
            self.threads,
            self.codecs.inner_chunk_count,
        )

    def _read_projection(
        self, reader: ChunkReader, out: Array, projection: ChunkProjection
    ) -> None:
        """Read the elements of one chunk to their place in the result."""
        out_selection = projection.out_selection
        if all(type(item) is slice for item in out_selection):
            self._read_chunk(reader, projection, out[out_selection])
        else:  # not a view
            values = np.empty(projection.chunk_selection.shape, out.dtype)
            self._read_chunk(reader, projection, values)
            out[out_selection] = values

    def _read_chunk(self, reader: ChunkReader, projection: ChunkProjection, out: Array) -> None:
        """Read the elements of one chunk; the reader is that of the first chunk."""
        chunk_coords, chunk_selection, _, _, is_whole = projection
        if not self.resolved.is_uniform:
            reader = self.chunk_reader(chunk_coords)
        key = self.chunk_key(chunk_coords)
        selection = None if is_whole else chunk_selection
        try:
            is_stored = self.decode(key, reader.read, key, selection, out)
        except (CodecError, MemoryError) as error:
            raise self.located(key, reader.codecs.decoded.shape, error) from error
        if not is_stored:
            self._fill_missing(key, out)

    def _read_batch(
        self, reader: ChunkReader, out: Array, batch: Sequence[ChunkProjection]
    ) -> None:
        """Read small chunks of one shape, with as few steps per chunk as possible."""
        codecs, store = reader.codecs, reader.store
        in_memory, get, get_limited = store.in_memory, store.get, store.get_limited
        decode_bytes_into = codecs.decode_bytes_into if codecs.bytes_to_bytes else None
        shape, dtype = codecs.decoded.shape, codecs.memory_dtype
        nbytes, limit = codecs.decoded.nbytes or 0, codecs.read_buffer_size
        key: Any = ""
        part: Any
        # The decoded bytes of a chunk come first, aligned, and then the stored ones.
        with Scratch(nbytes + limit) as memory:
            decoded, buffer = memory[:nbytes], memory[nbytes:]
            array = np.ndarray(shape, dtype, decoded)
            try:
                # A projection with a key has an index of NumPy; others are of the general form.
                for key, part, out_selection, _, is_whole in batch:
                    if type(key) is not str:
                        key = self.chunk_key(key)
                    data: Any
                    if in_memory:
                        data = get(key)
                    else:
                        data = get_limited(key, limit, buffer)
                        if type(data) is int:  # longer than the buffer
                            data = reader.get_whole(key)
                    if data is None:
                        self._fill_missing(key, out, out_selection)
                        continue
                    # Without compression, an array is made of the stored bytes where they are.
                    if decode_bytes_into is not None:
                        decode_bytes_into(data, decoded)
                    elif len(data) != nbytes:
                        raise ChunkDecodeError(f"{len(data)} bytes instead of {nbytes}")
                    else:
                        array = np.ndarray(shape, dtype, data)
                    if is_whole:
                        out[out_selection] = array
                    else:
                        out[out_selection] = (
                            array[part] if type(part) is tuple else take(array, part)
                        )
            except (CodecError, MemoryError) as error:
                raise self.located(key, shape, error) from error

    def _fill_missing(self, key: str, out: Array, region: Any = ...) -> None:
        if self.missing_is_error:
            raise MissingChunkError(self.key_location(key))
        out[region] = self.resolved.fill_value

    def decode(self, key: str, method: Callable[..., T], *args: Any) -> T:
        """Call what decodes a value; once more, past caches, if a remote value is damaged."""
        store = self.chunk_store
        try:
            return method(*args)
        except ChunkDecodeError as error:
            if store.max_concurrency is None:
                raise
            # The bytes may have been damaged on the way.
            message = "%s %r cannot be decoded (%s); reading it again"
            log("retries", message, store, key, error.reason)
            if isinstance(store, CachingStore):
                store.discard_cached(key)
            try:
                return method(*args)
            except ChunkDecodeError as second:
                reason = f"{second.reason}, also when it was requested again"
                raise type(second)(reason, second.codec, second.location) from error

    def located(
        self,
        key: str,
        shape: tuple[int, ...],
        error: CodecError | MissingChunkError | MemoryError,
    ) -> CodecError | MissingChunkError:
        """The error of a chunk, with its key."""
        location = self.key_location(key)
        if isinstance(error, ChunkDecodeError):
            return error.located(location)
        if isinstance(error, MissingChunkError):
            return MissingChunkError(location, error.chunk)
        if isinstance(error, MemoryError):  # the chunk may be intact
            reason = f" ({error})" if str(error) else ""
            return CodecError(
                f"{location}: a chunk of shape {shape} does not fit into memory{reason}"
            )
        return CodecError(f"{location}: {error}")

    # The function itself: a method that calls it would take longer.
    write = write_selection

    # --- readers ---

    def chunk_reader(self, chunk_coords: tuple[int, ...]) -> ChunkReader:
        """The reader for a chunk, created once for each shape of chunks."""
        resolved = self.resolved
        codecs = resolved.codecs if resolved.is_uniform else resolved.codecs_for(chunk_coords)
        reader = self._readers.get(codecs)
        if reader is None:
            if len(self._readers) >= _MAX_READERS:
                self._readers.clear()
            reader = self._readers[codecs] = self._new_reader(codecs)
        return reader

    def _new_reader(self, codecs: PreparedCodecChain) -> ChunkReader:
        store = self.chunk_store
        if self.missing_is_error and isinstance(codecs.array_to_bytes, SubchunkCodec):
            return ChunkReader(store, codecs.with_settings(missing_is_error=True))
        supplied = store.traits.chunk_reader  # of a cache, which has no missing inner chunks
        return (supplied and supplied(codecs)) or ChunkReader(store, codecs)

    def parallel(self, nbytes: int | None) -> bool | None:
        """Whether threads are faster for chunks of this decoded size; None if unknown."""
        return True if self.threads is not None or (nbytes or 0) >= THREADS_PAY_NBYTES else None

    # --- codecs ---

    @property
    def codecs(self) -> PreparedCodecChain:
        """The codecs of a stored object: of a chunk, or of a shard if there are shards."""
        return self.resolved.codecs

    @property
    def inner_codecs(self) -> PreparedCodecChain:
        """The codecs of a chunk: of an inner chunk if there are shards."""
        return self.codecs.inner_codecs or self.codecs

    @property
    def filters(self) -> tuple[Codec, ...]:
        """The array to array codecs of a chunk, or what the format calls filters."""
        named = self.format.filters_and_compressors(self.metadata)
        return self.inner_codecs.array_to_array if named is None else self._codecs_of(named[0])

    @property
    def compressors(self) -> tuple[Codec, ...]:
        """The bytes to bytes codecs of a chunk, or what the format calls the compressor."""
        named = self.format.filters_and_compressors(self.metadata)
        return self.inner_codecs.bytes_to_bytes if named is None else self._codecs_of(named[1])

    def _codecs_of(self, definitions: Sequence[ExtensionDefinition]) -> tuple[Codec, ...]:
        with overrides.override_extensions(self.extensions):
            return tuple(
                create_extension("codec", definition, self.location) for definition in definitions
            )

    @property
    def is_sharded(self) -> bool:
        """Whether stored objects are shards."""
        return self.codecs.inner_codecs is not None

    # --- chunks ---

    def chunk_extent(self, chunk_coords: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of the part of a stored object that lies inside the array."""
        return tuple(
            min(axis.length(number), axis.size - axis.start(number))
            for axis, number in zip(self.axes, chunk_coords, strict=True)
        )

    def stored_chunks(self) -> Iterator[tuple[tuple[int, ...], str]]:
        """List stored chunks as (coordinates, key); ignores other keys."""
        return self._chunks_among((key, key) for key in self.chunk_store.list_prefix(self.prefix))

    def stored_chunks_in(self, boxes: Sequence[Sequence[range]]) -> list[tuple[int, ...]] | None:
        """List the stored chunks in boxes of the chunk grid.

        Each box has a range of grid coordinates for every dimension.  Returns None if visiting
        every chunk of the boxes is cheaper: if they are few, or fewer than all stored chunks.
        """
        count = sum(prod(part.stop - part.start for part in box) for box in boxes)
        if count <= _FEW_CHUNKS:
            return None
        chunks = []
        for number, (chunk, _) in enumerate(self.stored_chunks()):
            if number == count:
                return None
            if any(all(map(range.__contains__, box, chunk)) for box in boxes):
                chunks.append(chunk)
        return chunks

    def stored_sizes(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """List stored chunks as (coordinates, stored bytes)."""
        return self._chunks_among(self.chunk_store.list_sizes(self.prefix))

    def _chunks_among(self, items: Iterable[tuple[str, T]]) -> Iterator[tuple[tuple[int, ...], T]]:
        """Grid coordinates and values, of those keys in (key, value) that are keys of chunks."""
        skip, counts = len(self.prefix), [axis.count for axis in self.axes]
        for key, value in items:
            chunk = self.resolved.key_encoding.decode(key[skip:], len(counts))
            if chunk is not None and all(map(lt, chunk, counts)):
                yield chunk, value

    def key_location(self, key: str) -> Location:
        """Location of a stored object, for messages."""
        return Location(self.chunk_store, key=key)

    # --- other metadata ---

    def with_metadata(
        self, metadata: ArrayMetadata, write_empty_chunks: WriteEmptyChunks | None = None
    ) -> Self:
        """The same array with other metadata, resolved with the extensions that it was opened with.

        ``write_empty_chunks`` replaces the setting of the array.
        """
        old, resolved = self.metadata, self.resolved
        if write_empty_chunks is None:
            write_empty_chunks = resolved.write_empty_chunks
        is_resized = metadata.shape != old.shape
        if (
            metadata.extensions_key != old.extensions_key
            or write_empty_chunks != resolved.write_empty_chunks
            or (is_resized and (metadata.storage_transformers or not metadata.extensions_key))
        ):
            with overrides.override_extensions(self.extensions):
                resolved = resolve_cached(metadata, self.store, self.path, write_empty_chunks)
        elif is_resized:
            resolved = resolved.resized(metadata.shape, self.location)
        return replace(self, metadata=metadata, resolved=resolved)
