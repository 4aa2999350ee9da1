"""Adapter for stores of zarr-python.

Names:          modules of the classes of such stores and of locations in them
URL:            none; pass the object to ``open``
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr.abc.store import RangeByteRequest
from zarr.abc.store import Store as TheirStore
from zarr.core.sync import sync
from zarr.storage import LocalStore as TheirLocalStore
from zarr.storage import MemoryStore as TheirMemoryStore
from zarr_compat.async_store import REQUESTS, AsyncStore, StoreInterface
from zarr_core.extension import Store, StoreError
from zarr_core.stores.local import LocalStore

from zarr_bridge.specs import PROTOTYPE
from zarr_bridge.store_secrets import check_no_credentials

if TYPE_CHECKING:
    from typing import Self

__all__ = ["ZarrPythonStore"]


class ZarrPythonStore(AsyncStore):
    """Keys and values in a store of zarr-python, or below a path in it.

    Parameters
    ----------
    store : zarr.abc.store.Store
        The wrapped store.
    path : str
        Path in the store below which the keys are.
    read_only : bool
        Whether changes raise an error, even if the store permits them.
    max_concurrency : int, optional
        Maximum number of concurrent requests.  A ``MemoryStore`` ignores it and has None.

    Notes
    -----
    ``close`` does not close the store of zarr-python.  ``update`` excludes other threads of this
    process that use this object, but not other processes: zarr-python has no locks.
    """

    def __init__(
        self,
        store: TheirStore,
        path: str = "",
        read_only: bool = False,
        max_concurrency: int | None = REQUESTS,
    ) -> None:
        in_memory = isinstance(store, TheirMemoryStore)
        super().__init__(store, path, read_only, None if in_memory else max_concurrency)

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

    def _interface(self) -> StoreInterface:
        return StoreInterface(TheirStore, RangeByteRequest, PROTOTYPE, sync)

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
