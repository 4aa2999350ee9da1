"""The store interface of zarr-python 3, with asynchronous methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_compat.buffer import Buffer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from typing import Self, TypeAlias

__all__ = [
    "ByteRequest",
    "OffsetByteRequest",
    "RangeByteRequest",
    "Store",
    "SuffixByteRequest",
]


@dataclass(frozen=True, slots=True)
class RangeByteRequest:
    """A byte range with start and exclusive end."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class OffsetByteRequest:
    """A byte range from an offset to the end."""

    offset: int


@dataclass(frozen=True, slots=True)
class SuffixByteRequest:
    """A byte range of the last ``suffix`` bytes."""

    suffix: int


ByteRequest: TypeAlias = "RangeByteRequest | OffsetByteRequest | SuffixByteRequest"


class Store(ABC):
    """Base class for stores of programs; :mod:`zarr_compat.foreign` adapts them.

    Parameters
    ----------
    read_only : bool
        Whether the store is read-only.
    """

    supports_writes: bool = True
    supports_deletes: bool = True
    supports_listing: bool = True
    supports_partial_writes: bool = False
    supports_consolidated_metadata: bool = True

    def __init__(self, *, read_only: bool = False) -> None:
        self._read_only = read_only

    @property
    def read_only(self) -> bool:
        """Whether the store is read-only."""
        return self._read_only

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return a store for the same location with another ``read_only``."""
        raise TypeError(f"{type(self).__name__} does not support with_read_only")

    @abstractmethod
    async def get(
        self, key: str, prototype: Any = None, byte_range: ByteRequest | None = None
    ) -> Any:
        """Read a value as a buffer, or None if the key does not exist."""

    async def get_partial_values(
        self, prototype: Any, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Any]:
        """Read byte ranges of values."""
        return [await self.get(key, prototype, part) for key, part in key_ranges]

    @abstractmethod
    async def exists(self, key: str) -> bool:
        """Return whether a key exists."""

    @abstractmethod
    async def set(self, key: str, value: Any) -> None:
        """Store a value."""

    async def set_if_not_exists(self, key: str, value: Any) -> None:
        """Store a value if the key does not exist."""
        if not await self.exists(key):
            await self.set(key, value)

    @abstractmethod
    async def delete(self, key: str) -> None:
        """Remove a key."""

    async def delete_dir(self, prefix: str) -> None:
        """Remove all keys below a prefix."""
        prefix = f"{prefix.rstrip('/')}/" if prefix else ""
        for key in [key async for key in self.list_prefix(prefix)]:
            await self.delete(key)

    async def clear(self) -> None:
        """Remove all keys."""
        await self.delete_dir("")

    @abstractmethod
    def list(self) -> AsyncIterator[str]:
        """Yield all keys."""

    @abstractmethod
    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield all keys with a prefix."""

    @abstractmethod
    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names directly below a prefix."""

    async def is_empty(self, prefix: str) -> bool:
        """Return whether no key has a prefix."""
        prefix = f"{prefix.rstrip('/')}/" if prefix else ""
        async for _ in self.list_prefix(prefix):
            return False
        return True

    async def getsize(self, key: str) -> int:
        """Return the length of a value.

        Raises
        ------
        FileNotFoundError
            If the key does not exist.
        """
        value = await self.get(key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    async def getsize_prefix(self, prefix: str) -> int:
        """Return the total length of all values with a prefix."""
        return sum([await self.getsize(key) async for key in self.list_prefix(prefix)])

    def close(self) -> None:
        """Release resources."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def slice_buffer(value: Any, part: ByteRequest | None) -> Buffer:
    """Return a byte range of a value."""
    whole = memoryview(value)
    if isinstance(part, RangeByteRequest):
        whole = whole[part.start : part.end]
    elif isinstance(part, OffsetByteRequest):
        whole = whole[part.offset :]
    elif isinstance(part, SuffixByteRequest):
        whole = whole[max(0, len(whole) - part.suffix) :]
    return Buffer(whole)
