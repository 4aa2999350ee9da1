"""Reading parts of one stored value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from zarr_core.errors import StoreReadError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from zarr_core.interfaces.codec import Buffer


class ByteRange(NamedTuple):
    """A part of a value.

    ``start`` counts from the first byte, or from the end if negative; ``length``
    None means up to the end.
    """

    start: int
    length: int | None = None

    def within(self, size: int) -> tuple[int, int]:
        """First byte, and the one behind the last, in a value of this size."""
        first = max(0, size + self.start) if self.start < 0 else min(size, self.start)
        return first, size if self.length is None else min(size, first + self.length)


class ValueReader(ABC):
    """One stored value, opened for reading parts of it.

    All reads see the same version of the value.  If it is replaced meanwhile, they go on
    seeing the old one, or raise :class:`ValueReplacedError` where the store has it no more.
    They may come from several threads at once.
    Used as a context manager.
    """

    requests: int | None = None
    """How many reads to keep in flight; None for a value without latency."""

    gap_bytes: int = 1 << 14
    """Unneeded bytes between two parts that are read rather than skipped."""

    version: str | None = None
    """The value's version, as :meth:`Store.version` gives it; None if that is not known."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the value, in bytes."""

    @abstractmethod
    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        """Read several parts, each ``(start, buffer)``, filling each buffer.

        Raises
        ------
        StoreReadError
            If a part reaches beyond the end of the value.
        ValueReplacedError
            If it is no more there.
        """

    def read(self, start: int, length: int) -> memoryview:
        """Read one part into fresh memory."""
        buffer = memoryview(bytearray(length))
        self.read_into([(start, buffer)])
        return buffer

    def close(self) -> None:
        """Release what the reader holds."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class BufferReader(ValueReader):
    """A value that is in memory.

    Parameters
    ----------
    data : Buffer
        The value; it is not copied.
    """

    __slots__ = ("_data", "size")

    def __init__(self, data: Buffer) -> None:
        self._data = memoryview(data)
        self.size: int = len(self._data)

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            end = start + len(buffer)
            if start < 0 or end > self.size:
                raise self._beyond(start, end)
            buffer[:] = self._data[start:end]

    def read(self, start: int, length: int) -> memoryview:
        end = start + length
        if start < 0 or length < 0 or end > self.size:
            raise self._beyond(start, end)
        return self._data[start:end]

    def _beyond(self, start: int, end: int) -> StoreReadError:
        return StoreReadError(f"bytes {start} to {end} of a value of {self.size} bytes")


class WrapperReader(ValueReader):
    """A reader around another one, to which every read is passed on.

    Parameters
    ----------
    inner : ValueReader
        The reader that does the work; closed with this one.
    """

    def __init__(self, inner: ValueReader) -> None:
        self.inner = inner
        """The reader that does the work."""
        self.requests = inner.requests
        self.gap_bytes = inner.gap_bytes
        self.version = inner.version

    @property
    def size(self) -> int:
        return self.inner.size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        self.inner.read_into(parts)

    def read(self, start: int, length: int) -> memoryview:
        return self.inner.read(start, length)

    def close(self) -> None:
        self.inner.close()
