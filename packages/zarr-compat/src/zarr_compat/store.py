"""The interface of stores as zarr-python 3 has it: coroutines that hand out buffers."""

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
    """From one byte up to another, which is not included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class OffsetByteRequest:
    """From one byte to the end."""

    offset: int


@dataclass(frozen=True, slots=True)
class SuffixByteRequest:
    """As many bytes at the end."""

    suffix: int


ByteRequest: TypeAlias = "RangeByteRequest | OffsetByteRequest | SuffixByteRequest"


class Store(ABC):
    """What programs derive their own stores from; :mod:`zarr_compat.foreign` uses them.

    Parameters
    ----------
    read_only : bool
        Whether changes are refused.
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
        """Whether changes are refused."""
        return self._read_only

    def with_read_only(self, read_only: bool = False) -> Self:
        """The same place, open otherwise."""
        raise TypeError(f"a {type(self).__name__} does not open the same place otherwise")

    @abstractmethod
    async def get(
        self, key: str, prototype: Any = None, byte_range: ByteRequest | None = None
    ) -> Any:
        """The buffer of a key, or None."""

    async def get_partial_values(
        self, prototype: Any, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Any]:
        """The buffers of parts of values."""
        return [await self.get(key, prototype, part) for key, part in key_ranges]

    @abstractmethod
    async def exists(self, key: str) -> bool:
        """Whether there is a value."""

    @abstractmethod
    async def set(self, key: str, value: Any) -> None:
        """Store a value."""

    async def set_if_not_exists(self, key: str, value: Any) -> None:
        """Store a value unless there is one."""
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
        """All keys."""

    @abstractmethod
    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """All keys that begin with a prefix."""

    @abstractmethod
    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Names directly below a prefix."""

    async def is_empty(self, prefix: str) -> bool:
        """Whether there is no key below a prefix."""
        prefix = f"{prefix.rstrip('/')}/" if prefix else ""
        async for _ in self.list_prefix(prefix):
            return False
        return True

    async def getsize(self, key: str) -> int:
        """Length of a value.

        Raises
        ------
        FileNotFoundError
            If there is none.
        """
        value = await self.get(key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    async def getsize_prefix(self, prefix: str) -> int:
        """Length of all values below a prefix."""
        return sum([await self.getsize(key) async for key in self.list_prefix(prefix)])

    def close(self) -> None:
        """Release what the store holds."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def cut(value: Any, part: ByteRequest | None) -> Buffer:
    """The part of a value that was asked for."""
    whole = memoryview(value)
    if isinstance(part, RangeByteRequest):
        whole = whole[part.start : part.end]
    elif isinstance(part, OffsetByteRequest):
        whole = whole[part.offset :]
    elif isinstance(part, SuffixByteRequest):
        whole = whole[max(0, len(whole) - part.suffix) :]
    return Buffer(whole)
