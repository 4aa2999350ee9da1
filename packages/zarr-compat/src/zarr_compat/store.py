"""The store interface of zarr-python 3, with asynchronous methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any, TypeAlias

from zarr_compat.zarr_python import interface_module

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from typing import Self

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


ByteRequest: TypeAlias = RangeByteRequest | OffsetByteRequest | SuffixByteRequest


class Store(ABC):
    """Base class for stores of programs; :class:`~zarr_compat.async_store.AsyncStore` adapts them."""

    supports_writes: bool = True
    supports_deletes: bool = True
    supports_listing: bool = True
    supports_partial_writes: bool = False
    supports_consolidated_metadata: bool = True

    def __init__(self, *, read_only: bool = False) -> None:
        self._is_open = False
        self._read_only = read_only

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Create a store with the arguments of the class, and open it."""
        store = cls(*args, **kwargs)
        await store._ensure_open()
        return store

    async def _open(self) -> None:
        """Open the store; stores of programs override it."""
        if self._is_open:
            raise ValueError("store is already open")
        self._is_open = True

    async def _ensure_open(self) -> None:
        """Open the store if it is not open."""
        if not self._is_open:
            await self._open()

    def _check_writable(self) -> None:
        """Raise an error if the store is read-only."""
        if self.read_only:
            raise ValueError("store was opened in read-only mode and does not support writing")

    @property
    def read_only(self) -> bool:
        """Whether the store is read-only."""
        return self._read_only

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return a store for the same location with another ``read_only``."""
        raise ReadOnlyCopyError(f"with_read_only is not implemented for {type(self).__name__}")

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

    async def get_ranges(
        self, key: str, byte_ranges: Iterable[ByteRequest | None], *, prototype: Any, **_: Any
    ) -> AsyncIterator[list[tuple[int, Any]]]:
        """Yield byte ranges of a value, in lists with the positions of the requests."""
        parts = [(key, part) for part in byte_ranges]
        yield _existing(key, await self.get_partial_values(prototype, parts))

    def get_ranges_sync(
        self, key: str, byte_ranges: Iterable[ByteRequest | None], *, prototype: Any, **_: Any
    ) -> list[tuple[int, Any]]:
        """Return byte ranges of a value with the positions of the requests."""
        read = getattr(self, "get_sync", None)
        if read is None:
            raise TypeError(f"{type(self).__name__} does not support synchronous reads")
        parts = [read(key, prototype=prototype, byte_range=part) for part in byte_ranges]
        return _existing(key, parts)

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
        async for _ in listed(self.list_prefix(prefix)):
            return False
        return True

    async def getsize(self, key: str) -> int:
        """Return the length of a value."""
        value = await self.get(key, interface_module("zarr.core.buffer").default_buffer_prototype())
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    async def getsize_prefix(self, prefix: str) -> int:
        """Return the total length of all values with a prefix."""
        return sum([await self.getsize(key) async for key in self.list_prefix(prefix)])

    def close(self) -> None:
        """Release resources."""
        self._is_open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ReadOnlyCopyError(NotImplementedError, TypeError):
    """A store cannot be opened again; zarr-python raises NotImplementedError."""


async def listed(names: Any) -> AsyncIterator[str]:
    """Yield the names of a listing, which is a coroutine in stores that cannot list."""
    if iscoroutine(names):
        names = await names
    async for name in names:
        yield name


def _existing(key: str, values: list[Any]) -> list[tuple[int, Any]]:
    if None in values:
        raise BaseExceptionGroup("cannot read byte ranges", [FileNotFoundError(key)])
    return [*enumerate(values)]


def to_bytes(value: Any) -> bytes:
    """Return the bytes of a buffer of zarr-python, or of a bytes-like object; ``bytes(5)`` has zeros."""
    if hasattr(value, "as_buffer_like"):
        data: bytes = value.to_bytes()
        return data
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise TypeError(f"a value must be a buffer, not {type(value).__name__}") from None


def buffer_of(value: Any, prototype: Any = None) -> Any:
    """Return a value as a buffer of a prototype."""
    classes = prototype or interface_module("zarr.core.buffer").default_buffer_prototype()
    return classes.buffer.from_bytes(memoryview(value))
