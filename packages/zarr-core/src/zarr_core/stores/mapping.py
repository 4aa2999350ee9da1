"""A store in a mapping of keys to values.

URL:            none: pass the mapping to ``open``
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from zarr_core.errors import StoreError, StoreKeyError, StoreReadError
from zarr_core.interfaces.keys import check_key, check_prefix, only_keys
from zarr_core.interfaces.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from zarr_core.interfaces.store import Buffers

__all__ = ["MappingStore"]


class MappingStore(Store):
    """Keys and values in any mapping.

    Several threads use the mapping at once.  ``update`` excludes only other threads of this
    process.  ``close`` does not close the mapping.

    Pickling a writable store raises :class:`StoreError` unless it is ``shared``, because writes
    to the copy in another process would be lost.

    Parameters
    ----------
    mapping : Mapping of str to bytes
        The values: objects with the buffer protocol, or arrays.  Written values are always
        ``bytes``.  Only ``KeyError`` means that a key is missing.  The store is read-only if
        this is not a ``MutableMapping``.
    read_only : bool
        Reject changes.
    shared : bool
        Whether the mapping, unpickled in another process, has the same contents there, as for
        files or a server.
    max_concurrency : int, optional
        Maximum number of concurrent requests, for a mapping with latency.
    """

    in_memory = True

    def __init__(
        self,
        mapping: Mapping[str, Any],
        read_only: bool = False,
        shared: bool = False,
        max_concurrency: int | None = None,
    ) -> None:
        self._mapping: Any = mapping
        self.read_only = read_only or not isinstance(mapping, MutableMapping)
        self.shared = shared
        """Whether copies in other processes have the same contents."""
        if max_concurrency is not None:
            self.max_concurrency = max_concurrency

    @property
    def url(self) -> str:
        kind = type(self._mapping)
        return f"mapping://{kind.__module__}.{kind.__qualname__}/{id(self._mapping):#x}"

    # --- readable ---

    def get(self, key: str) -> bytes | None:
        check_key(key)
        try:
            value = self._mapping[key]
        except KeyError:
            return None
        except Exception as error:
            raise self._unreadable(key, error) from error
        if type(value) is bytes:
            return value
        return self._as_bytes(key, value)

    def exists(self, key: str) -> bool:
        check_key(key)
        try:
            return key in self._mapping
        except Exception as error:
            raise self._unreadable(key, error) from error

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        check_key(key)
        self._require_writable(key)
        copy = bytes(value) if isinstance(value, _BUFFERS) else b"".join(value)
        try:
            self._mapping[key] = copy
        except UnicodeError as error:
            raise self._unreadable(key, error) from error
        except Exception as error:
            raise StoreError(
                f"the mapping did not store the value: {_describe(error)}", store=self, key=key
            ) from error

    def erase(self, key: str) -> None:
        check_key(key)
        self._require_writable(key)
        try:
            del self._mapping[key]
        except KeyError:
            return
        except Exception as error:
            raise StoreError(
                f"the mapping did not remove the key: {_describe(error)}", store=self, key=key
            ) from error

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        keys = self._keys(prefix)
        below = [key for key in keys if isinstance(key, str) and key.startswith(prefix)]
        return iter(only_keys(below))

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MappingStore):
            return NotImplemented
        mine, others = self._mapping, other._mapping
        if mine is others:
            return True
        compares = type(mine).__eq__ not in _BY_CONTENT
        return self.shared and other.shared and compares and bool(mine == others)

    def __hash__(self) -> int:
        return hash((MappingStore, type(self._mapping) if self.shared else id(self._mapping)))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if not (self.shared or self.read_only):
            raise StoreError(
                "cannot be pickled: another process would write into a copy, and its work would "
                "be lost. Use a LocalStore (a directory), threads instead of processes, or "
                "read_only=True; or MappingStore(mapping, shared=True) if the copy leads to the "
                "same place",
                store=self,
            )
        mapping = self._mapping
        if isinstance(mapping, MappingProxyType):  # cannot be pickled itself
            mapping = dict(mapping)
        return MappingStore, (mapping, self.read_only, self.shared, self.max_concurrency)

    # --- helpers ---

    def _keys(self, prefix: str) -> list[Any]:
        """Copy all keys; of a dictionary in one step, without the GIL too."""
        for attempt in range(_ATTEMPTS):
            try:
                return list(self._mapping)
            except RuntimeError as error:  # another thread changed another kind of mapping
                if attempt == _ATTEMPTS - 1:
                    raise self._unreadable(prefix, error) from error
            except Exception as error:
                raise self._unreadable(prefix, error) from error
        raise AssertionError("the last attempt raises")

    def _as_bytes(self, key: str, value: Any) -> bytes:
        try:
            view = memoryview(value)
        except (TypeError, ValueError):  # not a buffer, or unsupported elements
            array = value.__array__() if hasattr(value, "__array__") else None
            if array is not None and not array.dtype.hasobject:
                data: bytes = array.tobytes()
                return data
        else:
            if "O" not in view.format:  # not pointers
                return view.tobytes()
        raise StoreReadError(
            f"the mapping holds {type(value).__name__} here, where bytes are needed",
            store=self,
            key=key,
        )

    def _unreadable(self, key: str, error: Exception) -> StoreError:
        if isinstance(error, UnicodeError):
            return StoreKeyError(f"the mapping has no such keys: {error}", self, ascii(key))
        return StoreReadError(f"the mapping failed: {_describe(error)}", store=self, key=key)


_ATTEMPTS = 100
_BUFFERS = (bytes, bytearray, memoryview)
# These compare all values, but equal values do not mean the same location.
_BY_CONTENT: tuple[Any, ...] = (Mapping.__eq__, dict.__eq__)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
