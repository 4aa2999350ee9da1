"""Base class of stores that wrap another store.

Subclasses override the operations that they change.  Wrappers can be nested in any order.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from zarr_core.errors import StoreError
from zarr_core.interfaces.store import CachingStore, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from zarr_core.interfaces.byte_reader import ByteRange, ByteReader

    _Method = TypeVar("_Method", bound=Callable[..., Any])

# Operations of one kind: if a subclass overrides one of a first set, it takes the others of both sets
# from Store, where they call the one that is overridden, and not those of the inner store.
_KINDS: tuple[tuple[set[str], set[str]], ...] = (
    ({"get", "get_limited", "get_partial_values", "open_value", "open_cached"},
     {"exists", "getsize", "list_sizes"}),
    ({"set", "set_values", "update", "erase", "erase_values", "erase_prefix"}, set()),
    ({"list_prefix", "list_dir"}, {"list_sizes"}),
)  # fmt: skip
# Pairs of which a wrapper may override both: its subclass that overrides only the first one takes the
# second one from Store, too, instead of that of the wrapper.
_DERIVED = {
    "get": "get_limited", "open_value": "open_cached", "set": "set_values", "url": "__str__",
}  # fmt: skip


def _forward(method: _Method) -> _Method:
    """Return a method that calls the same method of the inner store."""
    name = method.__name__

    @wraps(method, updated=())  # not abstract
    def forward(self: WrapperStore, *arguments: Any, **options: Any) -> Any:
        return getattr(self.inner, name)(*arguments, **options)

    return cast("_Method", forward)


class WrapperStore(CachingStore):
    """A store that passes every operation on to ``inner``, and closes it.

    A wrapper is equal to ``inner``, because it has the same location.  Its attributes are copied
    from ``inner`` when it is created.

    If a subclass overrides one operation that reads, writes or lists, the others of that kind call
    it, as in :class:`Store`: a subclass with its own ``get`` and ``set`` changes all values.  It
    overrides ``update`` as well to keep the guarantees of ``inner.update`` for several processes.
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
        self.in_memory = inner.in_memory
        self.max_concurrency = inner.max_concurrency
        self.traits = inner.traits._replace(files=None, chunk_reader=None)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        wrappers = cls.__mro__[: cls.__mro__.index(WrapperStore)]
        replaced = {name for wrapper in wrappers for name in vars(wrapper)}
        for kind, others in _KINDS:
            for name in () if kind.isdisjoint(replaced) else (kind | others) - replaced:
                if name not in Store.__abstractmethods__:
                    setattr(cls, name, getattr(CachingStore, name))
        for name, derived in _DERIVED.items():
            base = next(one for one in cls.__mro__ if {name, derived} & vars(one).keys())
            if derived not in vars(base):
                setattr(cls, derived, getattr(CachingStore, derived))

    @property
    def url(self) -> str:
        return self.inner.url

    # --- readable ---

    get = _forward(Store.get)
    get_limited = _forward(Store.get_limited)
    get_partial_values = _forward(Store.get_partial_values)
    open_value = _forward(Store.open_value)
    exists = _forward(Store.exists)
    getsize = _forward(Store.getsize)
    generation = _forward(Store.generation)

    def open_cached(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        inner = self.inner
        if isinstance(inner, CachingStore):
            return inner.open_cached(key, first)
        return inner.open_value(key, first)

    def discard_cached(self, key: str) -> None:
        if isinstance(self.inner, CachingStore):
            self.inner.discard_cached(key)

    # --- writeable ---

    set = _forward(Store.set)
    set_values = _forward(Store.set_values)
    update = _forward(Store.update)
    erase = _forward(Store.erase)
    erase_values = _forward(Store.erase_values)
    erase_prefix = _forward(Store.erase_prefix)

    # --- listable ---

    list_prefix = _forward(Store.list_prefix)
    list_sizes = _forward(Store.list_sizes)
    list_dir = _forward(Store.list_dir)

    # --- the object ---

    close = _forward(Store.close)

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
        return str(self.inner)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._arguments()))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments()

    def _arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the class that recreate this object."""
        return (self.inner,)
