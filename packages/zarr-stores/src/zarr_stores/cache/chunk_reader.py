"""Reading of chunks that a cache keeps in decoded form.

The unit is a chunk, or an inner chunk of a shard.  A chunk that is not in the cache is decoded as
a whole, once for all threads that need it.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.chunk_grids import RegularAxis
from zarr_core.engine.read import ChunkReader, read_open
from zarr_core.extension import BasicIndexer, key_lock
from zarr_core.selection.projection import project, take

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import ByteReader, ChunkAxis, Store
    from zarr_core.selection.projection import ChunkProjection

    from zarr_stores.cache.chunk_cache import DecodedChunks

    AnySelection = Any  # of the engine
    Array = np.ndarray[Any, Any]
    _Box = tuple[list[int], list[int], Sequence[ChunkProjection]]

_ATTEMPTS = 5  # to combine chunks of one stored shard


class CachedChunkReader(ChunkReader):
    """How chunks of one shape are read through a cache."""

    def __init__(self, store: Store, codecs: PreparedCodecChain, cache: DecodedChunks) -> None:
        super().__init__(store, codecs)
        self.cache = cache
        # Otherwise the size in memory is unknown.
        self._is_cached = codecs.decoded.nbytes is not None and not codecs.dtype.hasobject
        if not self._is_cached:
            return
        self.in_batches = False
        inner = codecs.inner_codecs
        self._inner_axes: tuple[ChunkAxis, ...] | None = None
        if inner is not None and codecs.prefers_partial_decode:
            shapes = zip(codecs.decoded.shape, inner.decoded.shape, strict=True)
            self._inner_axes = tuple(
                RegularAxis(size, -(-size // length), length) for size, length in shapes
            )

    def nbytes_at_once(self, selection: AnySelection) -> int | None:
        """None, so that threads are used only if chunks are not in the cache."""
        return None

    def read(self, key: str, selection: AnySelection | None, out: Array) -> bool:
        """Read a chunk, or the selected inner chunks of a shard, through the cache."""
        if not self._is_cached:
            return super().read(key, selection, out)
        if self._inner_axes is None:
            return self._read_chunk(key, selection, out)
        return self._read_shard(key, selection, out, self._inner_axes)

    def _read_chunk(self, key: str, selection: AnySelection | None, out: Array) -> bool:
        cache, codecs = self.cache, self.codecs
        chunk = cache.use(key, codecs)
        if chunk is None:
            decoded = codecs.decoded
            if not cache.pool.fits(decoded.nbytes or 0):
                return super().read(key, selection, out)
            with key_lock(cache, key):
                chunk = cache.use(key, codecs)  # another thread may have decoded it
                if chunk is None:
                    state = cache.missed(key)
                    chunk = np.empty(decoded.shape, codecs.dtype)
                    if not super().read(key, None, chunk):
                        return False
                    chunk.flags.writeable = False
                    cache.keep(key, codecs, chunk, state)
        out[...] = chunk if selection is None else take(chunk, selection)
        return True

    def _read_shard(
        self, key: str, selection: AnySelection | None, out: Array, axes: Sequence[ChunkAxis]
    ) -> bool:
        """Combine inner chunks from the cache with those that it lacks, all of one stored shard."""
        cache = self.cache
        part = self.codecs.full_selection if selection is None else selection
        for _ in range(_ATTEMPTS):
            changes = cache.changes(key)
            parts = [*project(part, axes, complete=False)]
            missing = _put_cached(self, key, parts, out)
            if missing:
                if changes[-1]:  # the others may be replaced at any time
                    break
                with key_lock(cache, key):
                    missing = _put_cached(self, key, missing, out)
                    inner: Any = self.codecs.inner_codecs
                    if not cache.pool.fits(len(missing) * inner.decoded.nbytes):
                        break
                    if missing and not _read_missing(self, key, missing, out):
                        return False
            elif len(parts) == 1:
                return True
            if cache.changes(key) == changes:
                return True
        return super().read(key, part, out)


def _read_missing(
    reader: CachedChunkReader, key: str, missing: list[ChunkProjection], out: Array
) -> bool:
    """Decode inner chunks, keep them, and copy their selected elements.

    Nothing is copied if the chunks that are kept were from another value: the state then differs.
    """
    codecs, cache = reader.codecs, reader.cache
    inner: Any = codecs.inner_codecs
    shape = inner.decoded.shape
    first = [min(axis) for axis in zip(*(item.chunk_coords for item in missing), strict=True)]
    last = [max(axis) for axis in zip(*(item.chunk_coords for item in missing), strict=True)]
    count = prod(stop - start + 1 for start, stop in zip(first, last, strict=True))
    boxes: list[_Box]
    if count <= 2 * len(missing):  # one read of all, and of a few others
        boxes = [(first, last, missing)]
    else:
        boxes = [([*item.chunk_coords], [*item.chunk_coords], [item]) for item in missing]
    chunks: list[tuple[ChunkProjection, Array]] = []
    generation: str | None = None

    def decode(value: ByteReader) -> None:
        nonlocal generation
        chunks.clear()  # of a value that was replaced
        for box in boxes:
            chunks.extend(_decode_box(codecs, shape, box, value))
        generation = value.generation

    state = cache.missed_part(key)
    if not read_open(reader.store, key, codecs.prefetch, decode):
        return False
    confirmed = cache.confirm(key, state, generation)
    if confirmed is not None:
        for projection, chunk in chunks:
            chunk.flags.writeable = False
            cache.keep(key, (codecs, projection.chunk_coords), chunk, confirmed)
            out[projection.out_selection] = take(chunk, projection.chunk_selection)
    return True


def _put_cached(
    reader: CachedChunkReader, key: str, projections: Any, out: Array
) -> list[ChunkProjection]:
    """Copy the inner chunks that are in the cache; return the others."""
    use, codecs = reader.cache.use, reader.codecs
    missing = []
    for projection in projections:
        chunk = use(key, (codecs, projection.chunk_coords))
        if chunk is None:
            missing.append(projection)
        else:
            out[projection.out_selection] = take(chunk, projection.chunk_selection)
    return missing


def _decode_box(
    codecs: PreparedCodecChain, shape: tuple[int, ...], box: _Box, value: ByteReader
) -> Iterator[tuple[ChunkProjection, Array]]:
    """Decode a box of inner chunks; yield the missing ones."""
    first, last, missing = box
    starts = [number * length for number, length in zip(first, shape, strict=True)]
    stops = [
        min((number + 1) * length, size)
        for number, length, size in zip(last, shape, codecs.decoded.shape, strict=True)
    ]
    part = BasicIndexer(tuple(slice(*ends, 1) for ends in zip(starts, stops, strict=True)))
    elements = np.empty(part.shape, codecs.dtype)
    codecs.partial_decode(value, part, elements)
    for projection in missing:
        index = tuple(
            slice(number * length - start, (number + 1) * length - start)
            for number, length, start in zip(projection.chunk_coords, shape, starts, strict=True)
        )
        # A copy, which does not keep the memory of the others alive.
        yield projection, elements if first == last else elements[index].copy()
