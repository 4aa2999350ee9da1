"""A store in a mapping of keys to values, such as a dictionary in the memory of this process.

Name:           memory
URL:            memory://name, one store for each name in this process
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from zarr_core.errors import StoreError, StoreKeyError, StoreReadError
from zarr_core.interfaces.keys import check_key, check_prefix, only_keys
from zarr_core.interfaces.store import Store, to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from zarr_core.interfaces.store import Buffers

_SCHEME = "memory://"
_named: dict[str, dict[str, bytes]] = {}


class MemoryStore(Store):
    """Keys and values in a dictionary or any other mapping.

    Several threads use the mapping at once.  ``update`` excludes only other threads of this
    process.  ``close`` does not close the mapping.

    A writable store cannot be pickled (:class:`StoreError`), because writes to the copy in another
    process would be lost.  A read-only store is pickled with all its values.

    Parameters
    ----------
    mapping : Mapping of str to bytes, optional
        Keys and values; by default a new dictionary.  Values support the buffer protocol; written
        values are always ``bytes``.  Only ``KeyError`` means that a key is missing.  The store is
        read-only if this is not a ``MutableMapping``.
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

    in_memory = True

    def __init__(self, mapping: Mapping[str, Any] | None = None, read_only: bool = False) -> None:
        self._mapping: Any = {} if mapping is None else mapping
        self._name: str | None = None
        self.read_only = read_only or not isinstance(self._mapping, MutableMapping)

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
        kind = type(self._mapping)
        name = "" if kind is dict else f"{kind.__module__}.{kind.__qualname__}/"
        return f"{_SCHEME}{name}{id(self._mapping):#x}"

    # --- readable ---

    def get(self, key: str) -> bytes | None:
        check_key(key)
        try:
            value = self._mapping[key]
        except KeyError:
            return None
        except Exception as error:
            raise self._failure(key, error, reads=True) from error
        if type(value) is bytes:
            return value
        return self._as_bytes(key, value)

    def exists(self, key: str) -> bool:
        check_key(key)
        try:
            return key in self._mapping
        except Exception as error:
            raise self._failure(key, error, reads=True) from error

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        check_key(key)
        self._require_writable(key)
        data = to_bytes(value)
        try:
            self._mapping[key] = data
        except Exception as error:
            raise self._failure(key, error) from error

    def erase(self, key: str) -> None:
        check_key(key)
        self._require_writable(key)
        try:
            del self._mapping[key]
        except KeyError:
            return
        except Exception as error:
            raise self._failure(key, error) from error

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        try:
            keys = list(self._mapping)  # one step for a dictionary, also without the GIL
        except Exception as error:
            raise self._failure(prefix, error, reads=True) from error
        names = [key for key in keys if isinstance(key, str) and key.startswith(prefix)]
        return iter(only_keys(names))

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryStore):
            return NotImplemented
        return self._mapping is other._mapping

    def __hash__(self) -> int:
        return hash(id(self._mapping))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.read_only:
            raise StoreError(
                "cannot be pickled: another process would write into a copy, and its work would "
                "be lost. Use a LocalStore (a directory), threads instead of processes, or "
                "read_only=True",
                store=self,
            )
        mapping = self._mapping
        if isinstance(mapping, dict | MappingProxyType):  # which cannot be pickled itself
            mapping = dict(mapping)
        return type(self), (mapping, True)

    # --- helpers ---

    def _as_bytes(self, key: str, value: Any) -> bytes:
        with suppress(TypeError, ValueError):  # not a buffer
            view = memoryview(value)
            if "O" not in view.format:  # not pointers
                return view.tobytes()
        raise StoreReadError(
            f"the mapping holds {type(value).__name__} here, where bytes are needed",
            store=self,
            key=key,
        )

    def _failure(self, key: str, error: Exception, reads: bool = False) -> StoreError:
        if isinstance(error, UnicodeError):
            return StoreKeyError(f"the mapping has no such keys: {error}", self, ascii(key))
        reason = f"the mapping failed: {type(error).__name__}: {error}"
        return (StoreReadError if reads else StoreError)(reason, store=self, key=key)
