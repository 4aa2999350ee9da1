"""Base class of stores that wrap another store.

Subclasses override the operations that they change.  Wrappers can be nested in any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import Store, StoreError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from zarr_core.extension import Buffer, Buffers, ByteRange, ByteReader, Change

    # Defined here, because ``list`` is a method within the class.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]

__all__ = ["WrapperStore"]


class WrapperStore(Store):
    """A store that passes every operation on to another store.

    Parameters
    ----------
    inner : Store
        The wrapped store; closed by ``close``.

    Notes
    -----
    A wrapper is equal to ``inner``, because it has the same location.  Its capabilities,
    ``read_only`` and ``max_concurrency`` are copied from ``inner`` when it is created.  ``update``
    has the guarantees of the inner store.

    Raises
    ------
    StoreError
        If ``inner`` is not a store.
    """

    def __init__(self, inner: Store) -> None:
        if not isinstance(inner, Store):
            raise StoreError(
                f"{type(self).__name__} requires a store, not {type(inner).__name__}; pass "
                "LocalStore(path), MemoryStore(mapping), or the store of an array or group",
                store=repr(inner),
            )
        self.inner = inner
        """The wrapped store."""
        self.read_only = inner.read_only
        self.supports_listing = inner.supports_listing
        self.supports_erasing = inner.supports_erasing
        self.metadata_first = inner.metadata_first
        self.supports_consolidated_metadata = inner.supports_consolidated_metadata
        self.in_memory = inner.in_memory
        self.max_concurrency = inner.max_concurrency
        self.batch_nbytes = inner.batch_nbytes
        self.opening_nbytes, self.gap_bytes = inner.opening_nbytes, inner.gap_bytes
        self.realm = inner.realm

    @property
    def url(self) -> str:
        return self.inner.url

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        return self.inner.get(key)

    def get_limited(self, key: str, limit: int) -> Buffer | int | None:
        if type(self).get is not WrapperStore.get:  # a subclass that changes values
            return super().get_limited(key, limit)
        return self.inner.get_limited(key, limit)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        return self.inner.get_partial_values(key_ranges)

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        return self.inner.get_into(key, buffer)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self.inner.open_value(key, first)

    def open_again(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        if type(self).open_value is not WrapperStore.open_value:  # a subclass that changes values
            return self.open_value(key, first)
        return self.inner.open_again(key, first)

    def discard_cached(self, key: str) -> None:
        self.inner.discard_cached(key)

    def exists(self, key: str) -> bool:
        return self.inner.exists(key)

    def getsize(self, key: str) -> int | None:
        return self.inner.getsize(key)

    def generation(self, key: str) -> str | None:
        return self.inner.generation(key)

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        self.inner.set(key, value)

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        if type(self).set is not WrapperStore.set:  # a subclass that watches or changes values
            super().set_values(values)
        else:
            self.inner.set_values(values)

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

    def flush(self) -> None:
        self.inner.flush()

    def close(self) -> None:
        self.inner.close()

    @property
    def identity(self) -> Hashable:
        """Location for comparisons: the innermost store, unless a wrapper changes it."""
        return self.inner.identity if isinstance(self.inner, WrapperStore) else self.inner

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Store):
            return NotImplemented
        return self.identity == (other.identity if isinstance(other, WrapperStore) else other)

    def __hash__(self) -> int:
        return hash(self.identity)

    def __str__(self) -> str:
        return str(self.inner) if type(self).url is WrapperStore.url else self.url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._arguments()))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments()

    def _arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the class that recreate this object."""
        return (self.inner,)
