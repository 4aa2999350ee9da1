"""A store of the keys of another store below a prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import WrapperStore, check_key, check_prefix

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from zarr_core.extension import Buffer, Buffers, ByteRange, ByteReader, Change, Store
    from zarr_core.interfaces.store import Listing, Values


__all__ = ["PrefixStore"]


class PrefixStore(WrapperStore):
    """A view of the keys of another store that begin with a prefix.

    Parameters
    ----------
    inner : Store
        The store.
    prefix : str
        Prefix, with or without a trailing ``/``; empty for the whole store.

    Notes
    -----
    Keys are validated before the prefix is added, so no key can refer to data outside the
    prefix.  Two stores are equal if the inner stores and the prefixes are equal.  ``url`` is
    for messages: a path cannot be appended to the URL of every store.

    Raises
    ------
    StoreKeyError
        If the prefix is not valid.
    """

    def __init__(self, inner: Store, prefix: str) -> None:
        super().__init__(inner)
        text = prefix if not prefix or prefix.endswith("/") else f"{prefix}/"
        self.prefix = check_prefix(text)
        """Prefix of every key: empty, or ending in ``/``."""

    @property
    def url(self) -> str:
        return f"{self.inner.url.rstrip('/')}/{self.prefix}".rstrip("/")

    def _key(self, key: str) -> str:
        return self.prefix + check_key(key)

    def _below(self, prefix: str) -> str:
        return self.prefix + check_prefix(prefix)

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        return self.inner.get(self._key(key))

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        return self.inner.get_limited(self._key(key), limit, out)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        return self.inner.get_partial_values([(self._key(key), part) for key, part in key_ranges])

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return self.inner.open_value(self._key(key), first)

    def open_cached(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return super().open_cached(self._key(key), first)

    def discard_cached(self, key: str) -> None:
        super().discard_cached(self._key(key))

    def exists(self, key: str) -> bool:
        return self.inner.exists(self._key(key))

    def getsize(self, key: str) -> int | None:
        return self.inner.getsize(self._key(key))

    def generation(self, key: str) -> str | None:
        return self.inner.generation(self._key(key))

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        self.inner.set(self._key(key), value)

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        self.inner.set_values([(self._key(key), value) for key, value in values])

    def update(self, key: str, change: Change) -> None:
        self.inner.update(self._key(key), change)

    def erase(self, key: str) -> None:
        self.inner.erase(self._key(key))

    def erase_values(self, keys: Iterable[str]) -> None:
        self.inner.erase_values([self._key(key) for key in keys])

    def erase_prefix(self, prefix: str) -> None:
        self.inner.erase_prefix(self._below(prefix))

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        skip = len(self.prefix)
        return (key[skip:] for key in self.inner.list_prefix(self._below(prefix)))

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        skip = len(self.prefix)
        found = self.inner.list_sizes(self._below(prefix))
        return ((key[skip:], size) for key, size in found)

    def list_dir(self, prefix: str) -> Listing:
        skip = len(self.prefix)
        keys, prefixes = self.inner.list_dir(self._below(prefix))
        return [key[skip:] for key in keys], [below[skip:] for below in prefixes]

    # --- the object ---

    @property
    def identity(self) -> Hashable:
        return (super().identity, self.prefix) if self.prefix else super().identity

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self.prefix
