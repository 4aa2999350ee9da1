"""Reads without data: the engine reads an array whose store and codecs only record requests.

The selection of chunks, of inner chunks and of byte ranges is that of a real read, because it is
the same code.  Three things are replaced:

- the store: it records requests, and reads nothing but indexes of shards (:class:`DryStore`);
- the codecs: they decode nothing (:class:`DryChain`);
- the result: it has a shape and strides, but no memory (:class:`NullArray`).
"""

from __future__ import annotations

import copy
import mmap as memory_map
import sys
import threading
from contextlib import suppress
from math import prod
from mmap import mmap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from zarr_core.extension import (
    BufferByteReader,
    ByteRange,
    ByteReader,
    ChunkDecodeError,
    SubchunkCodec,
    WrapperStore,
    ZarrError,
)
from zarr_core.tools import PreparedCodecChain, StoredArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, Buffers, Store

    Array = np.ndarray[Any, Any]

_MAX_ADDRESSES = 1 << 46  # bytes
_MAP_NORESERVE = getattr(memory_map, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
_UNUSED = memory_map.MAP_PRIVATE | memory_map.MAP_ANON | _MAP_NORESERVE


# --- what is recorded ---


class Requests(NamedTuple):
    """The number of requests of a store, and the bytes of their responses."""

    requests: int = 0
    nbytes: int = 0


class Log:
    """Records requests; several threads may do so."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._total = Requests()

    def add(self, requests: int, nbytes: int) -> None:
        """Record requests."""
        with self._guard:
            old = self._total
            self._total = Requests(old.requests + requests, old.nbytes + nbytes)

    def take(self) -> Requests:
        """Return what was recorded since the last call."""
        with self._guard:
            total, self._total = self._total, Requests()
        return total


# --- the result ---


class NullArray(np.ndarray[Any, Any]):
    """An array that ignores assignments, so that it takes no memory however large it is."""

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: np.dtype[Any], order: str) -> Self:
        """Return an array that is contiguous in an order, if addresses suffice for it."""
        nbytes = prod(shape) * dtype.itemsize
        if dtype.kind not in "OT" and 0 < nbytes < _MAX_ADDRESSES:
            with suppress(OSError):
                memory = mmap(-1, nbytes, flags=_UNUSED)  # pages exist when they are written
                return cls(shape, dtype, memory, order="F" if order == "F" else "C")
        view: Self = np.broadcast_to(np.empty((), dtype), shape).view(cls)
        return view

    def __setitem__(self, index: Any, value: Any) -> None:
        return


# --- the codecs ---


class _ValueWasReadError(ZarrError):
    """The whole value was read, so nothing else is requested."""


class DryChain(PreparedCodecChain):
    """Codecs that request what a real chain requests, and decode nothing.

    If ``is_assumed``, indexes of shards are not read: every inner chunk is assumed to be stored, and to
    be as large as one that cannot be compressed.
    """

    def __init__(self, real: PreparedCodecChain, is_assumed: bool) -> None:
        self.__dict__.update(real.__dict__)
        self._is_boolean = False  # nothing is checked
        self.assumed_size: int = real.read_buffer_size
        """Bytes of a stored chunk that cannot be compressed."""
        self.is_indexed = False
        """Whether partial decoding reads an index first."""
        codec = real.array_to_bytes
        if not real.prefers_partial_decode or not isinstance(codec, SubchunkCodec):
            return
        for_plan: Any = getattr(codec, "for_plan", None)
        if for_plan is None:
            self.prefers_partial_decode = False  # assume that whole values are read
            return
        decoded = self._serialized
        chain = codec.inner_codecs(decoded)
        assert isinstance(chain, PreparedCodecChain)  # as for every use of the codec
        inner = DryChain(chain, is_assumed)
        assumed = inner.assumed_size if is_assumed else None
        self._partial, size = for_plan(decoded, inner, assumed)
        self.is_indexed = True
        if real.encoded_size is None and size is not None:
            self.assumed_size = size

    def decode_bytes_into(self, data: Buffer, out: memoryview) -> None:
        """Do nothing."""

    def decode_into(self, data: Buffer, out: Array, selection: Any = None) -> None:
        """Do nothing."""

    def partial_decode(self, reader: ByteReader, selection: Any, out: Array) -> None:
        """Make the requests of the codec; none for a value in memory."""
        if isinstance(reader, BufferByteReader):
            return
        try:
            super().partial_decode(_WholeReader(reader), selection, out)
        except _ValueWasReadError:
            return
        except ChunkDecodeError:
            if self.is_indexed:
                raise
            reader.read(0, reader.size)  # the codec needs stored bytes: at most the whole value


class _WholeReader(ByteReader):
    """Passes requests on; ends partial decoding when the whole value was read."""

    def __init__(self, inner: ByteReader) -> None:
        self._inner = inner
        self.size = inner.size
        self.max_concurrency = inner.max_concurrency
        self.gap_bytes = inner.gap_bytes

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        self._inner.read_into(parts)
        if any(len(buffer) == self.size for _, buffer in parts):
            raise _ValueWasReadError

    def read(self, start: int, length: int) -> memoryview:
        data = self._inner.read(start, length)
        if length == self.size:
            raise _ValueWasReadError
        return data


# --- the store ---


class DryStore(WrapperStore):
    """Records the requests of reading; sizes are assumed, or those of stored values.

    ``sizes`` has the bytes of stored values if they are known; keys that are missing are not stored.
    """

    def __init__(
        self, real: Store, log: Log, codecs: DryChain, sizes: Mapping[str, int] | None
    ) -> None:
        super().__init__(real)
        self.in_memory = False
        self._log = log
        self._codecs = codecs
        self._sizes = sizes

    def _size(self, key: str) -> int | None:
        return self._codecs.assumed_size if self._sizes is None else self._sizes.get(key)

    def get(self, key: str) -> Buffer | None:
        size = self._size(key)
        self._log.add(1, size or 0)
        return None if size is None else b""  # the codecs decode nothing

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        if out is None:
            return self.get(key)
        size = self._size(key)
        self._log.add(1, min(size or 0, limit))
        return size if size is None or size > limit else out[:size]

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        source = None
        if self._sizes is None or not self._codecs.is_indexed:
            size = self._size(key)
        else:
            source = self.inner.open_value(key, first)
            size = None if source is None else source.size
        if size is None:
            self._log.add(1, 0)
            return None
        if first is None:
            first = ByteRange(0, self.traits.opening_nbytes)
        gaps_may_shrink = self._sizes is None and self._codecs.is_indexed
        return DryReader(self._log, self.inner, size, first, source, gaps_may_shrink)

    def set(self, key: str, value: Buffers) -> None:
        raise AssertionError("a plan writes nothing")

    def erase(self, key: str) -> None:
        raise AssertionError("a plan writes nothing")

    def list_prefix(self, prefix: str) -> Iterator[str]:
        raise AssertionError("a plan does not list")


class DryReader(ByteReader):
    """Records the requests for parts of a value.

    A store with latency reads the part ``first`` with the request that opens the value, and parts
    with small gaps together.  With ``gaps_may_shrink``, gaps may be smaller than assumed, as stored
    parts are compressed: then all gaps that may be read count, so that the bytes are an upper limit.
    """

    def __init__(
        self,
        log: Log,
        store: Store,
        size: int,
        first: ByteRange,
        source: ByteReader | None,
        gaps_may_shrink: bool,
    ) -> None:
        self._log, self.size, self._source = log, size, source
        self._gaps_may_shrink = gaps_may_shrink
        self.max_concurrency = store.max_concurrency
        self.gap_bytes = store.traits.gap_bytes if source is None else source.gap_bytes
        self._held = (0, 0)
        if self.max_concurrency is not None:
            self._held = first.within(size)
            log.add(1, self._held[1] - self._held[0])

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        self._request([(start, start + len(buffer)) for start, buffer in parts])

    def read(self, start: int, length: int) -> memoryview:
        self._request([(start, start + length)])
        if self._source is not None:  # an index
            return self._source.read(start, length)
        return memoryview(bytes(length))

    def _request(self, parts: list[tuple[int, int]]) -> None:
        if self.max_concurrency is None:
            self._log.add(len(parts), sum(stop - start for start, stop in parts))
            return
        first, last = self._held
        left = []
        for start, stop in parts:
            before, after = min(stop, first), max(start, last)
            if first >= last or before == stop or after == start:
                left.append((start, stop))
            else:
                left += [part for part in ((start, before), (after, stop)) if part[0] < part[1]]
        end = None
        count = nbytes = 0
        for start, stop in sorted(left):
            if end is not None and start - end <= self.gap_bytes:
                nbytes += max(0, stop - end)
                end = max(end, stop)
            else:
                if end is not None and self._gaps_may_shrink:
                    nbytes += self.gap_bytes
                count, nbytes, end = count + 1, nbytes + stop - start, stop
        self._log.add(count, nbytes)

    def close(self) -> None:
        if self._source is not None:
            self._source.close()


# --- the array ---


class DryArray(StoredArray):
    """An array whose reads only record requests.

    ``sizes`` has the bytes of its stored chunks by key; None to assume that all chunks are stored, and
    cannot be compressed.  Shards need no size: they are opened.
    """

    __slots__ = ("_chains", "_real", "is_assumed", "log", "sizes")

    def __init__(self, real: StoredArray, sizes: Mapping[str, int] | None = None) -> None:
        self._real = real
        self.is_assumed = sizes is None
        self.sizes: Mapping[str, int] = sizes or {}
        self._chains: dict[PreparedCodecChain, DryChain] = {}
        self.log = Log()
        resolved = copy.copy(real.resolved)
        resolved.codecs = self.dry(real.codecs)
        put = resolved.__dict__.__setitem__
        put("codecs_for", lambda at: self.dry(real.resolved.codecs_for(at)))
        super().__init__(
            real.store, real.path, real.format, real.metadata, resolved,
            read_only=True, extensions=real.extensions, fixed=True,
        )  # fmt: skip
        self.native = None
        self.chunk_store = self._store(resolved.codecs)

    def dry(self, real: PreparedCodecChain) -> DryChain:
        """Return the dry chain of a real one."""
        chain = self._chains.get(real)
        if chain is None:
            chain = self._chains[real] = DryChain(real, self.is_assumed)
        return chain

    def _new_reader(self, codecs: Any) -> Any:
        reader = super()._new_reader(codecs)
        reader.store = self._store(codecs)
        return reader

    def _store(self, codecs: Any) -> DryStore:
        sizes = None if self.is_assumed else self.sizes
        return DryStore(self._real.chunk_store, self.log, codecs, sizes)
