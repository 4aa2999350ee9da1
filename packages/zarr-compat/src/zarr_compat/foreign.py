"""Adapt stores derived from :class:`~zarr_compat.store.Store` to the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core.extension import StoreError, StoreReadError, ZarrError, check_key, check_prefix

from zarr_compat.buffer import Buffer, default_buffer_prototype
from zarr_compat.sync import collect_aiterator, sync

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from zarr_core.extension import Buffers

    from zarr_compat.store import Store

__all__ = ["ForeignStore"]

_PROTOTYPE = default_buffer_prototype()


class ForeignStore(zarr_core.Store):
    """A store of the core that wraps a store with asynchronous methods.

    Parameters
    ----------
    store : zarr_compat.store.Store
        The store.

    Notes
    -----
    ``update`` excludes other threads of this process.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        """The wrapped store."""
        self.read_only = store.read_only
        self.supports_listing = store.supports_listing
        self.supports_erasing = store.supports_deletes
        self.metadata_first = getattr(store, "metadata_first", False)

    @property
    def url(self) -> str:
        return f"{type(self.store).__qualname__.lower()}://{id(self.store):#x}"

    def get(self, key: str) -> bytes | None:
        check_key(key)
        value = self._call(key, self.store.get(key, _PROTOTYPE))
        return None if value is None else bytes(value.to_bytes())

    def exists(self, key: str) -> bool:
        check_key(key)
        return bool(self._call(key, self.store.exists(key)))

    def set(self, key: str, value: Buffers) -> None:
        check_key(key)
        self._require_writable(key)
        whole = isinstance(value, bytes | bytearray | memoryview)
        data = bytes(value) if whole else b"".join(value)  # type: ignore[arg-type]  # buffers
        self._call(key, self.store.set(key, Buffer(data)), StoreError)

    def erase(self, key: str) -> None:
        check_key(key)
        self._require_writable(key)
        if self.exists(key):
            self._call(key, self.store.delete(key), StoreError)

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        return iter(self._call(prefix, collect_aiterator(self.store.list_prefix(prefix))))

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
            return sync(work)
        except ZarrError:
            raise
        except Exception as error:  # stores may raise anything
            raise kind(f"{type(error).__name__}: {error}", store=self, key=key) from error
