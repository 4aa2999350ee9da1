"""Adapter for stores of zarr-python.

Names:          modules of the classes of such stores and of locations in them
URL:            none; pass the object to ``open``
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr.abc.store import Store as TheirStore
from zarr.storage import LocalStore as TheirLocalStore
from zarr.storage import MemoryStore as TheirMemoryStore
from zarr_compat.async_store import AsyncStore
from zarr_core.extension import Store, StoreError
from zarr_core.stores.local import LocalStore

from zarr_bridge.store_secrets import check_no_credentials

if TYPE_CHECKING:
    from typing import Self

__all__ = ["ZarrPythonStore"]


class ZarrPythonStore(AsyncStore):
    """Keys and values in a store of zarr-python; see :class:`zarr_compat.async_store.AsyncStore`."""

    def __init__(self, store: TheirStore, *arguments: Any, **options: Any) -> None:
        super().__init__(store, *arguments, **options)
        if isinstance(store, TheirMemoryStore):
            self.max_concurrency = None  # it has no latency

    @classmethod
    def from_object(
        cls, store_like: Any, *, read_only: bool = False, **options: Any
    ) -> Store | None:
        """Return a store for a store, store path, group or array of zarr-python.

        A local directory becomes a :class:`LocalStore`, which replaces files atomically.
        """
        store_like = getattr(store_like, "store_path", store_like)  # groups and arrays have it
        path = getattr(store_like, "path", "")
        is_store = isinstance(store_like, TheirStore)
        store = store_like if is_store else getattr(store_like, "store", None)
        if not isinstance(store, TheirStore):
            return None
        if is_store or not isinstance(path, str):
            path = ""
        if type(store) is TheirLocalStore:
            return LocalStore(store.root / path, read_only=read_only or store.read_only)
        if type(store).__module__.partition(".")[0] == "icechunk":
            from zarr_bridge.icechunk import IcechunkStore  # circular import

            return IcechunkStore(store, path, read_only)
        return cls(store, path, read_only)

    def __eq__(self, other: object) -> bool:
        if isinstance(self.store, TheirMemoryStore):  # its __eq__ compares values
            return (
                isinstance(other, ZarrPythonStore)
                and self._prefix == other._prefix
                and type(self.store) is type(other.store)
                and vars(self.store)["_store_dict"] is vars(other.store)["_store_dict"]
            )
        return super().__eq__(other)

    __hash__ = AsyncStore.__hash__

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        if isinstance(self.store, TheirMemoryStore) and not self.read_only:
            raise StoreError(
                "cannot be pickled, because changes by another process would be lost; open it "
                "read-only or use another store",
                store=self,
            )
        check_no_credentials(self.store, self)
        return super().__reduce__()
