"""A store in the memory of this process: a dictionary, or any mutable mapping.

Name:           memory
URL:            memory://name, shared by everyone in this process who uses that name
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import StoreError, StoreKeyError, StoreReadError, StoreReadOnlyError
from zarr_core.interfaces.store import Store, check_key, check_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping
    from typing import Self

    from zarr_core.interfaces.store import Pieces

__all__ = ["MemoryStore"]

_SCHEME = "memory://"
_named: dict[str, dict[str, bytes]] = {}


class MemoryStore(Store):
    """Keys and values in a mapping.

    Parameters
    ----------
    mapping : MutableMapping of str to bytes, optional
        Where the values are kept; a dictionary of its own if not given.  What is
        written into it is always ``bytes``, never memory of the caller.
    read_only : bool
        Refuse changes.

    Notes
    -----
    Pickling a store that can be written to raises :class:`StoreError`: another
    process would get a copy, and what it wrote would be lost without a word.  A
    read-only store is pickled with all its values.
    """

    in_memory = True

    def __init__(
        self, mapping: MutableMapping[str, bytes] | None = None, read_only: bool = False
    ) -> None:
        self._mapping: MutableMapping[str, bytes] = {} if mapping is None else mapping
        self._name: str | None = None
        self.read_only = read_only

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """The store of a name, the same for everyone in this process.

        Parameters
        ----------
        url : str
            ``memory://name``.
        read_only : bool
            Refuse changes.
        **options
            There are none.
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

    def set(self, key: str, value: Pieces) -> None:
        check_key(key)
        self._require_writable(key)
        copy = bytes(value) if isinstance(value, _BUFFERS) else b"".join(value)
        try:
            self._mapping[key] = copy
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
        return (key for key in keys if _is_key(key, prefix))

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryStore):
            return NotImplemented
        return self._mapping is other._mapping

    def __hash__(self) -> int:
        return hash((MemoryStore, id(self._mapping)))

    def __repr__(self) -> str:
        return f"MemoryStore({self.url!r}{', read_only=True' if self.read_only else ''})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        # A store is a place: a copy of the object is the same place, as for files.
        return self

    def __reduce__(self) -> tuple[type[MemoryStore], tuple[dict[str, bytes], bool]]:
        if self.read_only:
            return MemoryStore, (dict(self._mapping), True)
        raise StoreError(
            "cannot be pickled: another process would write into a copy, and its work would be "
            "lost. Use a LocalStore (a directory), threads instead of processes, or read_only=True",
            store=self,
        )

    # --- helpers ---

    def _require_writable(self, key: str) -> None:
        if self.read_only:
            raise StoreReadOnlyError("the store is open for reading only", store=self, key=key)

    def _as_bytes(self, key: str, value: Any) -> bytes:
        try:
            return memoryview(value).tobytes()
        except TypeError as error:
            raise StoreReadError(
                f"the mapping holds {type(value).__name__} here, where bytes are needed",
                store=self,
                key=key,
            ) from error

    def _unreadable(self, key: str, error: Exception) -> StoreReadError:
        return StoreReadError(f"the mapping failed: {_said(error)}", store=self, key=key)


_BUFFERS = (bytes, bytearray, memoryview)


def _is_key(key: Any, prefix: str) -> bool:
    """Whether something in a mapping of the user's is a key below a prefix."""
    try:
        # The grammar last: it takes ten times as long, and most keys lie elsewhere.
        return isinstance(key, str) and key.startswith(prefix) and bool(check_key(key))
    except StoreKeyError:
        return False


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
