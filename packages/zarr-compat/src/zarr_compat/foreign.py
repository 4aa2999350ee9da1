"""Adapt stores derived from :class:`~zarr_compat.store.Store` to the core."""

from __future__ import annotations

from inspect import iscoroutine
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core.extension import (
    StoreError,
    StoreReadError,
    StoreTraits,
    ZarrError,
    check_key,
    check_prefix,
)
from zarr_core.interfaces.store import to_bytes

from zarr_compat.zarr_python import interface_module

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from zarr_core.extension import Buffers

    from zarr_compat.store import Store

__all__ = ["ForeignStore"]

METADATA_NAMES = frozenset({"zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"})


class ForeignStore(zarr_core.Store):
    """A store of the core that wraps a store with asynchronous methods.

    Notes
    -----
    ``update`` excludes other threads of this process.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        """The wrapped store."""
        self.read_only = store.read_only
        self.supports_listing = store.supports_listing
        metadata_first = getattr(store, "metadata_first", False)
        self.traits = StoreTraits(store.supports_deletes, metadata_first)
        self._sync = interface_module("zarr.core.sync").sync
        self._prototype = interface_module("zarr.core.buffer").default_buffer_prototype()
        if not getattr(store, "_is_open", True):
            self._sync(store._ensure_open())  # noqa: SLF001 - as zarr-python does

    @property
    def url(self) -> str:
        return f"{type(self.store).__qualname__.lower()}://{id(self.store):#x}"

    def get(self, key: str) -> bytes | None:
        check_key(key)
        value = self._call(key, self.store.get(key, self._prototype))
        return None if value is None else bytes(value.to_bytes())

    def exists(self, key: str) -> bool:
        check_key(key)
        try:
            return bool(self._call(key, self.store.exists(key)))
        except StoreReadError as error:  # zarr-python reads without this method
            if not isinstance(error.__cause__, NotImplementedError):
                raise
            return self.get(key) is not None

    def set(self, key: str, value: Buffers) -> None:
        check_key(key)
        self._require_writable(key)
        data = self._prototype.buffer.from_bytes(to_bytes(value))
        self._call(key, self.store.set(key, data), StoreError)

    def erase(self, key: str) -> None:
        check_key(key)
        self._require_writable(key)
        if self.exists(key):
            self._call(key, self.store.delete(key), StoreError)

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        return iter(self._call(prefix, _collected(self.store.list_prefix(prefix))))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        try:
            return super().list_dir(prefix)
        except (NotImplementedError, StoreReadError) as error:
            if not isinstance(error.__cause__ or error, NotImplementedError):
                raise
        # Stores that list nodes only, such as VirtualiZarr's: all other names are those of nodes.
        found = self._call(prefix, _collected(self.store.list_dir(prefix.rstrip("/"))))
        names = dict.fromkeys(name.strip("/") for name in found)
        keys = [prefix + name for name in names if name in METADATA_NAMES]
        return keys, [f"{prefix}{name}/" for name in names if name not in METADATA_NAMES]

    def close(self) -> None:
        self.store.close()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ForeignStore) and bool(self.store == other.store)

    def __hash__(self) -> int:
        return hash(type(self.store))

    def __reduce__(self) -> tuple[Any, ...]:
        return ForeignStore, (self.store,)

    def _call(
        self, key: str, work: Coroutine[Any, Any, Any], kind: type[StoreError] = StoreReadError
    ) -> Any:
        try:
            return self._sync(work)
        except ZarrError:
            raise
        except Exception as error:  # stores may raise anything
            raise kind(f"{type(error).__name__}: {error}", store=self, key=key) from error


async def _collected(items: Any) -> list[str]:
    if iscoroutine(items):  # a method without yield, which raises NotImplementedError
        items = await items
    return [item async for item in items]
