"""A store in the memory of this process.

Name:           memory
URL:            memory://name, one store for each name in this process
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import StoreError
from zarr_core.stores.mapping import MappingStore

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

_SCHEME = "memory://"
_named: dict[str, dict[str, bytes]] = {}


class MemoryStore(MappingStore):
    """Keys and values in a dictionary.

    A writable store cannot be pickled (:class:`StoreError`), because writes to the copy in another
    process would be lost.  A read-only store is pickled with all its values.

    Parameters
    ----------
    mapping : Mapping of str to bytes, optional
        The values; by default a new dictionary.  Written values are always ``bytes``.
    read_only : bool
        Reject changes.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> store = zarr.MemoryStore()
    >>> _ = zarr.create_array(store, data=[1, 2])
    >>> sorted(store.list())
    ['c/0', 'zarr.json']
    """

    def __init__(self, mapping: Mapping[str, Any] | None = None, read_only: bool = False) -> None:
        super().__init__({} if mapping is None else mapping, read_only)
        self._name: str | None = None

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Return the store ``memory://name``; all stores of one name in this process share values.

        There are no options.

        Raises
        ------
        StoreError
            If the URL has another scheme, or options are passed.
        """
        if not url.startswith(_SCHEME) or options:
            wrong = f"no options {sorted(options)}" if options else "a URL such as memory://name"
            raise StoreError(f"a memory store takes {wrong}", store=url)
        name = url.removeprefix(_SCHEME).strip("/")
        mapping = _named.setdefault(name, {})
        store = cls(mapping, read_only)
        store._name = name
        return store

    @property
    def url(self) -> str:
        if self._name is not None:
            return f"{_SCHEME}{self._name}"
        return f"{_SCHEME}{id(self._mapping):#x}"
