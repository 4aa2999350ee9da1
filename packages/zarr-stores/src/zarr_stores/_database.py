"""Base classes of stores in key-value databases."""

from __future__ import annotations

import errno
import os
import stat
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import quote, unquote

from zarr_core.extension import (
    BufferByteReader,
    ByteReader,
    Store,
    StoreError,
    StoreKeyError,
    check_key,
    check_prefix,
)
from zarr_core.tools import key_lock

from zarr_stores.unknown_options import check_options

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Self

    from zarr_core.extension import Buffer, Buffers, Change

T = TypeVar("T")

INVALID_NAMES = "backslashreplace"
"""Error handler for names in a database: names that are not UTF-8 decode to invalid keys."""

# Optimistic attempts of ``update`` before it locks the whole database.
_SWAP_ATTEMPTS = 3


class KeyValueStore(Store):
    """A store in a service or library that maps keys to values."""

    @abstractmethod
    def _get(self, key: str) -> bytes | None:
        """Return the value of a valid key, or None if the key is missing."""

    def get(self, key: str) -> Buffer | None:
        self._check(key)
        return self._get(key)

    def erase(self, key: str) -> None:  # a subclass defines it or erase_values
        self.erase_values([key])

    # --- checks ---

    def _check(self, key: str) -> None:
        check_key(key)
        if not key.isascii():
            encode_key(key)

    def _check_writable(self, key: str) -> None:
        self._check(key)
        self._require_writable(key)

    def _check_prefix_writable(self, prefix: str) -> None:
        check_prefix(prefix)
        self._require_writable(prefix)


class DatabaseStore(KeyValueStore):
    """A key-value database in the local file system.

    Parameters
    ----------
    path : str or os.PathLike
        Path of the database.
    read_only : bool
        If True, changes raise an error and no file is created.
    """

    scheme: ClassVar[str]
    """Scheme of the URLs."""

    options: ClassVar[frozenset[str]]
    """Options of ``from_url`` in addition to ``read_only``."""

    def __init__(self, path: str | os.PathLike[str], read_only: bool = False) -> None:
        text = os.fspath(path)
        if not isinstance(text, str) or not text or "\0" in text:
            raise StoreError(f"cannot open a database from {path!r}; pass a non-empty path")
        self.path: str = os.path.abspath(text)
        """Absolute path of the database."""
        self.read_only = read_only

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Create a store from ``scheme:///absolute/path`` or a path.

        Parameters
        ----------
        url : str
            URL or path.  Percent escapes are decoded in a URL, not in a path.
        read_only : bool
            If True, changes raise an error and no file is created.
        **options
            Further arguments of the class.

        Raises
        ------
        StoreError
            If an option is unknown, or the URL's path is not absolute.
        """
        check_options(options, cls.options, url)
        path = url
        scheme, separator, rest = url.partition("://")
        if separator:
            if not rest.startswith("/"):
                raise StoreError(
                    f"the URL needs an absolute path, as in {scheme}:///data/field",
                    store=f"{scheme}://...",  # the URL may contain a password
                )
            path = unquote(rest)
        return cls(path, read_only=read_only, **options)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{quote(self.path)}"

    # --- operations of a database ---

    @abstractmethod
    def _swap(self, key: str, old: bytes | None, new: bytes | None) -> bool:
        """Replace a value atomically if it equals ``old``; return whether it did."""

    @abstractmethod
    def _update_locked(self, key: str, change: Change) -> None:
        """Read, change and write a value while all other writers are locked out."""

    # --- operations based on them ---

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other updates of the key.

        Notes
        -----
        The database is not locked while ``change`` runs, because it allows one writer at a
        time.  The new value is stored if the old value is still present.  After several
        conflicts the database is locked until the change is complete.
        """
        self._check_writable(key)

        def look() -> tuple[bytes | None, bytes | None]:
            old = self._get(key)
            return old, old

        with key_lock(self.url, key):
            if not compare_and_swap(change, look, lambda old, new: self._swap(key, old, new)):
                self._update_locked(key, change)

    # --- the object ---

    def _identity(self) -> Hashable:
        return os.path.realpath(self.path)

    def __repr__(self) -> str:
        read_only = ", read_only=True" if self.read_only else ""
        return f"{type(self).__name__}({self.path!r}{read_only})"


def compare_and_swap(
    change: Change,
    look: Callable[[], tuple[bytes | None, T]],
    swap: Callable[[T, bytes | None], bool],
    tries: int = _SWAP_ATTEMPTS,
) -> bool:
    """Change a value by compare-and-swap; return whether an attempt succeeded.

    Parameters
    ----------
    change : callable
        The argument of ``update``.
    look : callable
        Returns the value and a token that identifies it.
    swap : callable
        Takes the token of the old value, and the new value.  Stores the new value if the old
        one is still present; returns whether it was stored.
    tries : int
        Number of attempts.
    """
    for _ in range(tries):
        old, seen = look()
        value = change(None if old is None else BufferByteReader(old))
        if isinstance(value, ByteReader) or (old is None and value is None):
            return True
        if swap(seen, None if value is None else to_bytes(value)):
            return True
    return False


def to_bytes(value: Buffers) -> bytes:
    """Return a value as one immutable ``bytes`` object."""
    if isinstance(value, bytes):
        return value
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else b"".join(value)


def encode_key(key: str) -> bytes:
    """Return a key encode_key as UTF-8.

    Raises
    ------
    StoreKeyError
        If the key contains surrogates.
    """
    try:
        return key.encode()
    except UnicodeEncodeError as error:
        raise StoreKeyError("cannot be encoded as UTF-8", key=ascii(key)) from error


def path_exists(path: str) -> bool:
    """Return whether a path exists.

    Raises
    ------
    OSError
        If the path cannot be inspected; a permission error does not mean that it is missing.
        If it is a pipe, a socket or a device: opening it would wait for another program.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "the path is a pipe, a socket or a device, not a file", path)
    return True


def is_key(key: Any, prefix: str = "") -> bool:
    """Return whether a name found in a database is a valid key below a prefix."""
    try:
        return isinstance(key, str) and key.startswith(prefix) and bool(check_key(key))
    except StoreKeyError:
        return False
