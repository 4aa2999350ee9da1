"""A store of the keys of another store below a prefix."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from zarr_core.extension import Store, WrapperStore, check_key, check_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from zarr_core.extension import Buffers, ByteRange, ByteReader
    from zarr_core.interfaces.store import Listing, Values

    _Method = TypeVar("_Method", bound=Callable[..., Any])

__all__ = ["PrefixStore"]


def _translated(method: _Method) -> _Method:
    """Return a method that calls the same method of the inner store with the prefixed key."""
    name = method.__name__

    @wraps(method, updated=())  # without __isabstractmethod__
    def translated(self: PrefixStore, key: str, *others: Any, **options: Any) -> Any:
        return getattr(self.inner, name)(self._key(key), *others, **options)

    return cast("_Method", translated)


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

    get = _translated(Store.get)
    get_limited = _translated(Store.get_limited)
    open_value = _translated(Store.open_value)
    exists = _translated(Store.exists)
    getsize = _translated(Store.getsize)
    generation = _translated(Store.generation)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        return self.inner.get_partial_values([(self._key(key), part) for key, part in key_ranges])

    def open_cached(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        return super().open_cached(self._key(key), first)

    def discard_cached(self, key: str) -> None:
        super().discard_cached(self._key(key))

    # --- writeable ---

    set = _translated(Store.set)
    update = _translated(Store.update)
    erase = _translated(Store.erase)

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        self.inner.set_values([(self._key(key), value) for key, value in values])

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
        sizes = self.inner.list_sizes(self._below(prefix))
        return ((key[skip:], size) for key, size in sizes)

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
