"""Read parts of a stored value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from zarr_core.errors import StoreReadError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

Buffer: TypeAlias = "bytes | bytearray | memoryview"
"""Contiguous bytes.  A memoryview has format ``B``."""


class ByteRange(NamedTuple):
    """A part of a value, in bytes.

    A negative ``start`` counts from the end; ``length`` None means up to the end.
    """

    start: int
    length: int | None = None

    def within(self, size: int) -> tuple[int, int]:
        """Return start and stop for a value of this size."""
        first = max(0, size + self.start) if self.start < 0 else min(size, self.start)
        return first, size if self.length is None else min(size, first + self.length)


class ByteReader(ABC):
    """An open value whose parts can be read.  A context manager.

    All reads return the same generation of the value.  If it is replaced meanwhile, reads
    return the old one or raise :class:`ValueReplacedError`.  Several threads can read.
    """

    max_concurrency: int | None = None
    """Maximum number of concurrent reads; None for a value without latency."""

    gap_nbytes: int = 1 << 14
    """Largest gap in bytes between two parts that are read together."""

    generation: str | None = None
    """The generation of the value, as :meth:`Store.generation` returns it; None if unknown."""

    size: int
    """Length of the value, in bytes."""

    _store: Any = None
    _key: Any = None

    @abstractmethod
    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        """Read several parts, each ``(start, buffer)``, and fill each buffer.

        Raises a StoreReadError for a part beyond the end of the value, a ValueReplacedError if the
        opened generation no longer exists.
        """

    def read(self, start: int, length: int) -> memoryview:
        """Read one part into new memory."""
        buffer = memoryview(bytearray(length))
        self.read_into([(start, buffer)])
        return buffer

    def check_part(self, start: int, length: int) -> None:
        """Raise a StoreReadError if a part extends beyond the value."""
        if start < 0 or length < 0 or start + length > self.size:
            reason = f"bytes {start} to {start + length} are outside the value of {self.size} bytes"
            raise StoreReadError(reason, self._store, self._key)

    def read_limited(self, limit: int, out: memoryview | None = None) -> Buffer | int:
        """Read the value, or return its length, as :meth:`Store.get_limited`."""
        size = self.size
        if size > limit:
            return size
        if out is None:
            return self.read(0, size)
        if size:
            self.read_into([(0, out[:size])])
        return out[:size]

    def reference(self, start: int, length: int) -> Buffer | None:
        """Refer to a part in the new value of :meth:`Store.update`, instead of reading it.

        Returns a :class:`ValueReference`, which only this store can write: it copies the part
        without holding it in memory.  None, the default, if the store does not support it.
        """
        return None

    def verify(self) -> None:
        """Raise a ValueReplacedError if the generation was neither requested nor verified.

        Called after the last read from a reader of :meth:`CachingStore.open_cached`.  By default
        nothing, as the request that opens a value returns its present generation.
        """
        return

    def close(self) -> None:
        """Release resources."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ValueReference(ABC):
    """A part of the present value as one buffer of the new value in :meth:`Store.update`.

    Valid until the store has written the new value.
    """

    __slots__ = ()

    @abstractmethod
    def __len__(self) -> int:
        """Length of the part, in bytes."""


class BufferByteReader(ByteReader):
    """Reader of a value in memory, which is not copied."""

    __slots__ = ("_data", "size")

    def __init__(self, data: Buffer) -> None:
        self._data = memoryview(data)
        self.size: int = len(self._data)

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            end = start + len(buffer)
            if start < 0 or end > self.size:
                self.check_part(start, len(buffer))
            buffer[:] = self._data[start:end]

    def read(self, start: int, length: int) -> memoryview:
        end = start + length
        if start < 0 or length < 0 or end > self.size:
            self.check_part(start, length)
        return self._data[start:end]


class WrapperReader(ByteReader):
    """Reader of another reader, or of a range of its bytes, which it closes."""

    def __init__(self, inner: ByteReader, start: int = 0, size: int | None = None) -> None:
        self.inner = inner
        """The wrapped reader."""
        self.start = start
        """Offset of the range in the value."""
        self.size = inner.size if size is None else size
        self.max_concurrency = inner.max_concurrency
        self.gap_nbytes = inner.gap_nbytes
        self.generation = inner.generation

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        self.inner.read_into([(self.start + start, buffer) for start, buffer in parts])

    def read(self, start: int, length: int) -> memoryview:
        self.check_part(start, length)
        return self.inner.read(self.start + start, length)

    def verify(self) -> None:
        self.inner.verify()

    def close(self) -> None:
        self.inner.close()
