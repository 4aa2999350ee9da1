"""A store in a mapping of keys to values.

URL:            none: the mapping itself is given to ``open``
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from zarr_core.errors import StoreError, StoreKeyError, StoreReadError
from zarr_core.interfaces.keys import check_key, check_prefix, only_keys
from zarr_core.interfaces.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from zarr_core.interfaces.store import Pieces, Values
    from zarr_core.interfaces.value import ByteRange

__all__ = ["MappingStore"]


class MappingStore(Store):
    """Keys and values in a mapping, whatever is behind it.

    Parameters
    ----------
    mapping : Mapping of str to bytes
        Where the values are kept.  They may be anything with the buffer protocol, or arrays;
        what is written is always ``bytes``.  Only ``KeyError`` means that a key is missing.
        What is no ``MutableMapping`` is read only.
    read_only : bool
        Refuse changes.
    shared : bool
        Say that the mapping, pickled and unpickled in another process, leads to the same
        place there: it stands for files or a server.
    requests : int, optional
        How many requests to keep in flight, for a mapping that has to wait for each answer.

    Notes
    -----
    A mapping that its user gave is not closed by ``close``.  It is called from several
    threads.  ``update`` excludes other threads of this process only.

    Pickling a store that can be written to raises :class:`StoreError` unless it is ``shared``:
    another process would get a copy, and what it wrote would be lost without a word.
    """

    in_memory = True

    def __init__(
        self,
        mapping: Mapping[str, Any],
        read_only: bool = False,
        shared: bool = False,
        requests: int | None = None,
    ) -> None:
        self._mapping: Any = mapping
        self.read_only = read_only or not isinstance(mapping, MutableMapping)
        self.shared = shared
        """Whether copies in other processes lead to the same place."""
        if requests is not None:
            self.requests = requests

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

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        if self.requests is not None:
            return super().get_partial_values(key_ranges)
        values: Values = []
        for key, (start, length) in key_ranges:
            value = self.get(key)
            if value is None:
                values.append(None)
                continue
            if start < 0:
                start = max(0, len(value) + start)
            values.append(memoryview(value)[start : None if length is None else start + length])
        return values

    def exists(self, key: str) -> bool:
        check_key(key)
        try:
            return key in self._mapping
        except Exception as error:
            raise self._unreadable(key, error) from error

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        check_key(key)
        self._require_writable(key)
        copy = bytes(value) if isinstance(value, _BUFFERS) else b"".join(value)
        try:
            self._mapping[key] = copy
        except UnicodeError as error:
            raise self._unreadable(key, error) from error
        except Exception as error:
            raise StoreError(
                f"the mapping did not take the value: {_said(error)}", store=self, key=key
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
                f"the mapping did not remove the key: {_said(error)}", store=self, key=key
            ) from error

    def erase_prefix(self, prefix: str) -> None:
        check_prefix(prefix)
        self._require_writable(prefix)
        super().erase_prefix(prefix)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        try:
            keys = tuple(self._mapping)
        except Exception as error:
            raise self._unreadable(prefix, error) from error
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

    def __repr__(self) -> str:
        read_only = ", read_only=True" if self.read_only else ""
        return f"{type(self).__name__}({self.url!r}{read_only})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        # A store is a place: a copy of the object is the same place, as for files.
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
        if isinstance(mapping, MappingProxyType):  # does not pickle, what it shows may
            mapping = dict(mapping)
        return MappingStore, (mapping, self.read_only, self.shared, self.requests)

    # --- helpers ---

    def _as_bytes(self, key: str, value: Any) -> bytes:
        try:
            view = memoryview(value)
        except (TypeError, ValueError):  # no buffer, or of elements that buffers cannot have
            array = value.__array__() if hasattr(value, "__array__") else None
            if array is not None and not array.dtype.hasobject:
                data: bytes = array.tobytes()
                return data
        else:
            if "O" not in view.format:  # pointers are no value
                return view.tobytes()
        raise StoreReadError(
            f"the mapping holds {type(value).__name__} here, where bytes are needed",
            store=self,
            key=key,
        )

    def _unreadable(self, key: str, error: Exception) -> StoreError:
        if isinstance(error, UnicodeError):
            return StoreKeyError(f"the mapping has no such keys: {error}", self, ascii(key))
        return StoreReadError(f"the mapping failed: {_said(error)}", store=self, key=key)


_BUFFERS = (bytes, bytearray, memoryview)
# They read all values, and what has the same values need not be the same place.
_BY_CONTENT: tuple[Any, ...] = (Mapping.__eq__, dict.__eq__)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
