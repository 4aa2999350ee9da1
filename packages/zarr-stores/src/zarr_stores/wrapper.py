"""A store around another one, to which every operation is passed on.

The base of the wrappers of this package, which replace what they are about.  They
stack in any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import Store, StoreError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces, ValueReader

    # Named here, because within the class ``list`` is the operation of that name.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]

__all__ = ["WrapperStore"]


class WrapperStore(Store):
    """Passes every operation on to another store.

    Parameters
    ----------
    inner : Store
        The store that does the work; closed with this one.

    Notes
    -----
    The same place as ``inner``, so equal to it.  What it can do, whether it is read
    only and how many requests it wants in flight are taken from it, once.  ``update``
    is the inner store's, with all its exclusion.

    Raises
    ------
    StoreError
        If ``inner`` is no store.
    """

    def __init__(self, inner: Store) -> None:
        if not isinstance(inner, Store):
            raise StoreError(
                f"{type(self).__name__} goes around a store, and a {type(inner).__name__} is none: "
                "give LocalStore(path), MemoryStore(mapping), or the store of an array or group",
                store=repr(inner),
            )
        self.inner = inner
        """The store that does the work."""
        self.read_only = inner.read_only
        self.supports_listing = inner.supports_listing
        self.supports_erasing = inner.supports_erasing
        self.in_memory = inner.in_memory
        self.requests = inner.requests
        self.realm = inner.realm

    @property
    def url(self) -> str:
        return self.inner.url

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        return self.inner.get(key)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        return self.inner.get_partial_values(key_ranges)

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        return self.inner.get_into(key, buffer)

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        return self.inner.open_value(key, first)

    def exists(self, key: str) -> bool:
        return self.inner.exists(key)

    def getsize(self, key: str) -> int | None:
        return self.inner.getsize(key)

    def version(self, key: str) -> str | None:
        return self.inner.version(key)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self.inner.set(key, value)

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        self.inner.set_partial_values(key_start_values)

    def update(self, key: str, change: Change) -> None:
        self.inner.update(key, change)

    def erase(self, key: str) -> None:
        self.inner.erase(key)

    def erase_values(self, keys: Iterable[str]) -> None:
        self.inner.erase_values(keys)

    def erase_prefix(self, prefix: str) -> None:
        self.inner.erase_prefix(prefix)

    def move_prefix(self, prefix: str, target: str) -> bool:
        return self.inner.move_prefix(prefix, target)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return self.inner.list_prefix(prefix)

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return self.inner.list_sizes(prefix)

    def list(self) -> Iterator[str]:
        return self.inner.list()

    def list_dir(self, prefix: str) -> Listing:
        return self.inner.list_dir(prefix)

    # --- the object ---

    def close(self) -> None:
        self.inner.close()

    @property
    def place(self) -> Hashable:
        """What is compared: the innermost store, unless a wrapper leads elsewhere."""
        return self.inner.place if isinstance(self.inner, WrapperStore) else self.inner

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Store):
            return NotImplemented
        return self.place == (other.place if isinstance(other, WrapperStore) else other)

    def __hash__(self) -> int:
        return hash(self.place)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._arguments()))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments()

    def _arguments(self) -> tuple[Any, ...]:
        """What the class is called with to make this object again."""
        return (self.inner,)
