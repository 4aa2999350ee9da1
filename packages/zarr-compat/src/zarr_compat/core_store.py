"""A store of zarr-python's interface in front of one of the core."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.extension import ByteRange
from zarr_core.interfaces.store import SetIfMissing

from zarr_compat.store import (
    OffsetByteRequest,
    RangeByteRequest,
    Store,
    SuffixByteRequest,
    buffer_of,
    to_bytes,
)

if TYPE_CHECKING:
    import builtins
    from collections.abc import AsyncIterator, Callable, Iterable
    from typing import Self

    import zarr_core

    from zarr_compat.store import ByteRequest

__all__ = ["CoreStore", "in_thread", "wrap_core_store"]

T = TypeVar("T")


class ReadOnlyCopyError(NotImplementedError, TypeError):
    """A store cannot be opened again; zarr-python raises NotImplementedError."""


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Run a blocking function in a thread."""
    import asyncio  # slow to import

    return await asyncio.to_thread(function, *arguments)


class CoreStore(Store):
    """A store with the interface of zarr-python that wraps a store of the core.

    Parameters
    ----------
    core : zarr_core.Store
        The store.
    reopen : callable, optional
        Returns a store of the core for the same location, given ``read_only``.
    """

    def __init__(
        self, core: zarr_core.Store, reopen: Callable[[bool], zarr_core.Store] | None = None
    ) -> None:
        super().__init__(read_only=core.read_only)
        self._is_open = True
        self.core = core
        """The store of the core."""
        self._reopen = reopen

    @property
    def supports_writes(self) -> bool:
        return not self.core.read_only

    @property
    def supports_deletes(self) -> bool:
        return self.core.traits.supports_erasing

    @property
    def supports_listing(self) -> bool:
        return self.core.supports_listing

    def with_read_only(self, read_only: bool = False) -> Self:
        if read_only == self.read_only:
            return self
        if self._reopen is None:
            raise ReadOnlyCopyError(f"with_read_only is not implemented for {type(self).__name__}")
        other = copy(self)
        CoreStore.__init__(other, self._reopen(read_only), self._reopen)
        return other

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    async def get(
        self, key: str, prototype: Any = None, byte_range: ByteRequest | None = None
    ) -> Any:
        return await self._call(
            partial(self.get_sync, prototype=prototype, byte_range=byte_range), key
        )

    async def get_partial_values(
        self, prototype: Any, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Any]:
        return [await self.get(key, prototype, part) for key, part in key_ranges]

    def get_sync(
        self, key: str, *, prototype: Any = None, byte_range: ByteRequest | None = None
    ) -> Any:
        """Read a value as :meth:`get` does, without an event loop."""
        if byte_range is None:
            value = self.core.get(key)
        else:
            (value,) = self.core.get_partial_values([(key, _byte_range(byte_range))])
        return None if value is None else buffer_of(value, prototype)

    def set_sync(self, key: str, value: Any) -> None:
        """Store a value, without an event loop."""
        self.core.set(key, to_bytes(value))

    def delete_sync(self, key: str) -> None:
        """Remove a key, without an event loop."""
        self.core.erase(key)

    async def exists(self, key: str) -> bool:
        return bool(await self._call(self.core.exists, key))

    async def getsize(self, key: str) -> int:
        size = await self._call(self.core.getsize, key)
        return await super().getsize(key) if size is None else int(size)

    async def set(self, key: str, value: Any) -> None:
        await self._call(self.set_sync, key, value)

    async def set_if_not_exists(self, key: str, value: Any) -> None:
        data = to_bytes(value)
        await self._call(self.core.update, key, SetIfMissing(lambda: data))

    async def delete(self, key: str) -> None:
        await self._call(self.delete_sync, key)

    async def delete_dir(self, prefix: str) -> None:
        await self._call(self.core.erase_prefix, f"{prefix.rstrip('/')}/" if prefix else "")

    async def list(self) -> AsyncIterator[str]:
        for key in await self._call(sorted, self.core.list()):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        below = prefix[: prefix.rfind("/") + 1]
        for key in await self._call(sorted, self.core.list_prefix(below)):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        prefix = f"{prefix.rstrip('/')}/" if prefix else ""
        keys, prefixes = await self._call(self.core.list_dir, prefix)
        for name in sorted([*keys, *(item.rstrip("/") for item in prefixes)]):
            yield name.removeprefix(prefix)

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self.core.max_concurrency is None:
            return function(*arguments)
        return await in_thread(function, *arguments)

    def close(self) -> None:
        self.core.close()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreStore) and bool(self.core == other.core)

    def __hash__(self) -> int:
        return hash(self.core)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.core.url!r})"

    def __str__(self) -> str:
        return str(self.core)

    def __reduce__(self) -> tuple[Any, ...]:
        attributes = {
            key: vars(self)[key] for key in ("root", "path", "store", "fs") if key in vars(self)
        }
        return partial(wrap_core_store, self.core, type(self), **attributes), ()


def _byte_range(part: ByteRequest) -> ByteRange:
    if isinstance(part, RangeByteRequest):
        return ByteRange(part.start, max(0, part.end - part.start))
    if isinstance(part, OffsetByteRequest):
        return ByteRange(part.offset)
    if isinstance(part, SuffixByteRequest):
        return ByteRange(-part.suffix) if part.suffix else ByteRange(0, 0)
    raise TypeError(f"unexpected byte_range: {part!r}")


def wrap_core_store(core: zarr_core.Store, kind: type[CoreStore], **attributes: Any) -> CoreStore:
    """Wrap an existing store of the core in one of the classes of this package."""
    wrapper = object.__new__(kind)
    CoreStore.__init__(wrapper, core)
    vars(wrapper).update(attributes)
    return wrapper
