"""What stores in key-value databases share."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import quote, unquote

from zarr_core.extension import (
    BufferReader,
    Store,
    StoreError,
    StoreKeyError,
    ValueReader,
    check_key,
    check_prefix,
    key_lock,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from zarr_core.extension import Buffer, Change, Pieces

T = TypeVar("T")

NO_KEY = "backslashreplace"
"""How to decode names that others may have stored: what is no UTF-8 becomes no key."""

# So often ``update`` works without excluding the writers of other keys.
_FREE_TRIES = 3


class KeyValueStore(Store):
    """A store of a back end that has keys and values."""

    @abstractmethod
    def _get(self, key: str) -> bytes | None:
        """The value of a key that was checked."""

    def get(self, key: str) -> Buffer | None:
        self._check(key)
        return self._get(key)

    # --- checks ---

    def _check(self, key: str) -> None:
        check_key(key)
        if not key.isascii():
            encoded(key)

    def _check_to_change(self, key: str) -> None:
        self._check(key)
        self._require_writable(key)

    def _check_prefix_to_change(self, prefix: str) -> None:
        check_prefix(prefix)
        self._require_writable(prefix)


class DatabaseStore(KeyValueStore):
    """A key-value database in one place of the file system.

    Parameters
    ----------
    path : str or os.PathLike
        Where the database is.
    read_only : bool
        Refuse changes, and create nothing.
    """

    scheme: ClassVar[str]
    """The scheme of its URLs."""

    options: ClassVar[frozenset[str]]
    """What ``from_url`` takes besides ``read_only``."""

    def __init__(self, path: str | os.PathLike[str], read_only: bool = False) -> None:
        text = os.fspath(path)
        if not isinstance(text, str) or not text or "\0" in text:
            raise StoreError(f"not the path of a database: {path!r}")
        self.path: str = os.path.abspath(text)
        """Absolute path of the database."""
        self.read_only = read_only

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Make a store from ``scheme:///absolute/path`` or a path.

        Parameters
        ----------
        url : str
            Percent signs are escapes in a URL, and nothing special in a path.
        read_only : bool
            Refuse changes, and create nothing.
        **options
            Further arguments of the class.

        Raises
        ------
        StoreError
            If an option is unknown, or the URL's path is not absolute.
        """
        if unknown := sorted(options.keys() - cls.options):
            raise StoreError(f"{cls.__name__} has no options {', '.join(unknown)}", store=url)
        path = url
        scheme, separator, rest = url.partition("://")
        if separator:
            if not rest.startswith("/"):
                raise StoreError(
                    f"the URL needs an absolute path, as in {scheme}:///data/field", store=url
                )
            path = unquote(rest)
        return cls(path, read_only=read_only, **options)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{quote(self.path)}"

    # --- what a back end has ---

    @abstractmethod
    def _swap(self, key: str, old: bytes | None, new: bytes | None) -> bool:
        """Replace a value at once if it is the old one; whether it was."""

    @abstractmethod
    def _change_alone(self, key: str, change: Change) -> None:
        """Read, change, write a value while nobody else writes anything."""

    # --- what follows ---

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other such change of the key.

        Notes
        -----
        A database has one writer at a time, so it is not held while ``change`` works:
        the new value is stored if the old one is still there.  If others were faster
        several times, everyone else is kept from writing until this change is made.
        """
        self._check_to_change(key)

        def look() -> tuple[bytes | None, bytes | None]:
            old = self._get(key)
            return old, old

        with key_lock(self.url, key):
            if not change_freely(change, look, lambda old, new: self._swap(key, old, new)):
                self._change_alone(key, change)

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return os.path.realpath(self.path) == os.path.realpath(other.path)

    def __hash__(self) -> int:
        return hash((type(self), os.path.realpath(self.path)))

    def __repr__(self) -> str:
        read_only = ", read_only=True" if self.read_only else ""
        return f"{type(self).__name__}({self.path!r}{read_only})"


def change_freely(
    change: Change,
    look: Callable[[], tuple[bytes | None, T]],
    swap: Callable[[T, bytes | None], bool],
    tries: int = _FREE_TRIES,
) -> bool:
    """Change a value that others may change as well; whether one of the tries succeeded.

    Parameters
    ----------
    change : callable
        What ``update`` was given.
    look : callable
        Gives the value, and what it is known by.
    swap : callable
        Gets what the old value is known by, and the new value: stores it if the old one is
        still there, and says whether it was.
    tries : int
        How often to try.
    """
    for _ in range(tries):
        old, seen = look()
        value = change(None if old is None else BufferReader(old))
        if isinstance(value, ValueReader) or (old is None and value is None):
            return True
        if swap(seen, None if value is None else joined(value)):
            return True
    return False


def joined(value: Pieces) -> bytes:
    """A value in one piece that nobody else can change."""
    if isinstance(value, bytes):
        return value
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else b"".join(value)


def encoded(key: str) -> bytes:
    """A key as UTF-8.

    Raises
    ------
    StoreKeyError
        If it has surrogates.
    """
    try:
        return key.encode()
    except UnicodeEncodeError as error:
        raise StoreKeyError("cannot be encoded as UTF-8", key=ascii(key)) from error


def is_there(path: str) -> bool:
    """Whether there is anything at a path.

    Raises
    ------
    OSError
        If that cannot be known: what may not be looked at is not missing.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def is_key(key: Any, prefix: str = "") -> bool:
    """Whether something that others may have stored is a key below a prefix."""
    try:
        return isinstance(key, str) and key.startswith(prefix) and bool(check_key(key))
    except StoreKeyError:
        return False
