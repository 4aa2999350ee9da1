"""Store: where the values of a hierarchy live, each under its key.

Specification: v3.1, "Abstract store interface", whose names these are.  A store
needs four methods (``get``, ``set``, ``erase``, ``list_prefix``); everything else
has a fallback here, to be replaced where the back end can do better.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from zarr_core.errors import StoreCapabilityError, StoreKeyError, StoreReadError
from zarr_core.interfaces.keylock import key_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Any, Self

    from zarr_core.interfaces.codec import Buffer

Pieces: TypeAlias = "Buffer | Sequence[Buffer]"
"""A value: one buffer, or several that are stored one after the other."""

Change: TypeAlias = "Callable[[ValueReader | None], Pieces | ValueReader | None]"
"""What :meth:`Store.update` is given to make a new value out of the present one."""

# Named here, because within the class ``list`` is the operation of that name.
Values: TypeAlias = "list[Buffer | None]"
Listing: TypeAlias = tuple[list[str], list[str]]

# v3.1 asks only that a key does not end in "/".  The rest keeps every back end
# inside its root: no empty, "." or ".." segment, no backslash, no NUL, no drive.
_KEY = re.compile(r"(?!\.{1,2}(?:/|\Z))[^/\\\0]+(?:/(?!\.{1,2}(?:/|\Z))[^/\\\0]+)*\Z").match


def check_key(key: str) -> str:
    """Return the key if it is one.

    Raises
    ------
    StoreKeyError
        If it is empty, absolute, ends in ``/``, or has an empty, ``.`` or ``..``
        segment, a backslash or a NUL.
    """
    if not _KEY(key):
        raise StoreKeyError(
            "not a key: segments between '/' must not be empty, '.' or '..', "
            "nor contain a backslash or NUL",
            key=key,
        )
    return key


def check_prefix(prefix: str) -> str:
    """Return the prefix if it is one: empty, or a key followed by ``/``.

    Raises
    ------
    StoreKeyError
        If it is neither.
    """
    if prefix and not (prefix.endswith("/") and _KEY(prefix[:-1])):
        raise StoreKeyError("not a prefix: must be empty, or a key followed by '/'", key=prefix)
    return prefix


class ByteRange(NamedTuple):
    """A part of a value.

    ``start`` counts from the first byte, or from the end if negative; ``length``
    None means up to the end.
    """

    start: int
    length: int | None = None


class ValueReader(ABC):
    """One stored value, opened for reading parts of it.

    All reads see the same version of the value, even if it is replaced meanwhile.
    They may come from several threads at once.
    Used as a context manager.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of the value, in bytes."""

    @abstractmethod
    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        """Read several parts, each ``(start, buffer)``, filling each buffer.

        Raises
        ------
        StoreReadError
            If a part reaches beyond the end of the value.
        """

    def read(self, start: int, length: int) -> memoryview:
        """Read one part into fresh memory."""
        buffer = memoryview(bytearray(length))
        self.read_into([(start, buffer)])
        return buffer

    def close(self) -> None:
        """Release what the reader holds."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class BufferReader(ValueReader):
    """A value that is in memory.

    Parameters
    ----------
    data : Buffer
        The value; it is not copied.
    """

    __slots__ = ("_data",)

    def __init__(self, data: Buffer) -> None:
        self._data = memoryview(data)

    @property
    def size(self) -> int:
        return len(self._data)

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            piece = self._data[start : start + len(buffer)]
            if start < 0 or len(piece) != len(buffer):
                raise StoreReadError(
                    f"bytes {start} to {start + len(buffer)} of a value of {self.size} bytes"
                )
            buffer[:] = piece

    def read(self, start: int, length: int) -> memoryview:
        piece = self._data[start : start + length]
        if start < 0 or len(piece) != length:
            raise StoreReadError(
                f"bytes {start} to {start + length} of a value of {self.size} bytes"
            )
        return piece


class Store(ABC):
    """A map from keys to values.

    Only "not found" means that a value is missing: any other failure raises.
    Methods may be called from many threads at once.  Stores pickle, or say why
    they cannot.  Two stores are equal if they are the same place.
    """

    read_only: bool = False
    """Whether this object refuses changes."""

    supports_listing: bool = True
    """Whether ``list``, ``list_prefix`` and ``list_dir`` are there."""

    supports_erasing: bool = True
    """Whether keys can be erased; a zip archive's cannot."""

    in_memory: bool = False
    """Whether ``get`` gives values as they lie in memory, without copying."""

    requests: int | None = None
    """How many requests to keep in flight; None for a store without latency."""

    # --- opening ---

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Make a store from a URL or path; what ``open("scheme://...")`` calls.

        Parameters
        ----------
        url : str
            The URL, with its scheme; or the path of a file with the store's suffix.
        read_only : bool
            Refuse changes, and do not create anything.
        **options
            What the user gave as ``storage_options``.
        """
        raise StoreCapabilityError(f"{cls.__name__} cannot be made from a URL", store=url)

    @property
    def url(self) -> str:
        """The canonical URL, without credentials; for messages and tokens."""
        return f"{type(self).__name__.lower()}://{id(self):#x}"

    # --- readable ---

    @abstractmethod
    def get(self, key: str) -> Buffer | None:
        """The value of a key, or None if there is none.

        Raises
        ------
        StoreKeyError
            If the key breaks the grammar.
        StoreReadError
            If there is a value that cannot be read.
        """

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        """Parts of values, in the order asked for; None for a missing key.

        A part that reaches beyond the end of its value is cut there.
        """
        values: Values = []
        for key, (start, length) in key_ranges:
            reader = self.open_value(key)
            if reader is None:
                values.append(None)
                continue
            with reader:
                size = reader.size
                first = min(size, max(0, size + start) if start < 0 else start)
                last = size if length is None else min(size, first + length)
                values.append(reader.read(first, last - first))
        return values

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        """Read a value into memory that the caller has.

        Parameters
        ----------
        key : str
            The key.
        buffer : memoryview
            Writable, format ``B``.

        Returns
        -------
        int or None
            The length of the value; if it is more than ``len(buffer)``, the
            buffer holds its beginning.  None for a missing key.
        """
        value = self.get(key)
        if value is None:
            return None
        count = min(len(value), len(buffer))
        buffer[:count] = memoryview(value)[:count]
        return len(value)

    def open_value(self, key: str) -> ValueReader | None:
        """Open a value for reading parts of it; None for a missing key."""
        value = self.get(key)
        return None if value is None else BufferReader(value)

    def exists(self, key: str) -> bool:
        """Whether there is a value at a key."""
        return self.get(key) is not None

    def getsize(self, key: str) -> int | None:
        """Length of a value in bytes, or None for a missing key."""
        value = self.get(key)
        return None if value is None else len(value)

    # --- writeable ---

    @abstractmethod
    def set(self, key: str, value: Pieces) -> None:
        """Store a value: after an error or a crash the key has the old value or the new one.

        Raises
        ------
        StoreReadOnlyError
            If the store is read only.
        """

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Buffer]]) -> None:
        """Store parts of values, each ``(key, start, value)``; gaps are filled with zeros."""
        changes: dict[str, list[tuple[int, Buffer]]] = {}
        for key, start, value in key_start_values:
            changes.setdefault(key, []).append((start, value))
        for key, parts in changes.items():

            def change(reader: ValueReader | None, parts: list[Any] = parts) -> bytes:
                old = b"" if reader is None else reader.read(0, reader.size)
                new = bytearray(old)
                for start, value in parts:
                    new.extend(bytes(max(0, start + len(value) - len(new))))
                    new[start : start + len(value)] = value
                return bytes(new)

            self.update(key, change)

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other such change of the key.

        Parameters
        ----------
        key : str
            The key.
        change : callable
            Gets the present value (None if there is none), returns the new one, or
            None to have the key erased, or what it was given to leave all as it is.
            It may be called again if the store finds that someone else was faster.

        Notes
        -----
        By default exclusive among the threads of this process.  A store that
        others share must exclude them as well: by a file lock, a conditional
        write, a transaction.
        """
        with key_lock(self.url, key):
            reader = self.open_value(key)
            if reader is None:
                value = change(None)
            else:
                with reader:
                    value = change(reader)
            if value is None:
                if reader is not None:
                    self.erase(key)
            elif not isinstance(value, ValueReader):
                self.set(key, value)

    @abstractmethod
    def erase(self, key: str) -> None:
        """Remove a key; removing a missing one does nothing."""

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys."""
        for key in keys:
            self.erase(key)

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix (empty: all keys)."""
        self.erase_values(list(self.list_prefix(prefix)))

    # --- listable ---

    @abstractmethod
    def list_prefix(self, prefix: str) -> Iterator[str]:
        """All keys below a prefix, which is empty or ends in ``/``; in any order."""

    def list(self) -> Iterator[str]:
        """All keys."""
        return self.list_prefix("")

    def list_dir(self, prefix: str) -> Listing:
        """Keys and prefixes directly below a prefix, both in full; ``([], [])`` if none."""
        keys: list[str] = []
        prefixes: dict[str, None] = {}
        for key in self.list_prefix(prefix):
            head, slash, _ = key[len(prefix) :].partition("/")
            if slash:
                prefixes[f"{prefix}{head}/"] = None
            else:
                keys.append(key)
        return keys, list(prefixes)

    # --- lifetime ---

    def close(self) -> None:
        """Release what the store holds, after finishing what it has begun."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __str__(self) -> str:
        return self.url
