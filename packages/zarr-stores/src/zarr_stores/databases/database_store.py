"""Base classes of stores in databases."""

from __future__ import annotations

import errno
import os
import stat
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote, unquote

from zarr_core.extension import (
    KeyValueStore,
    StoreError,
    StoreKeyError,
    StoreReadError,
    check_key,
    check_prefix,
)

from zarr_stores.remedies import check_options

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import Self

INVALID_NAMES = "backslashreplace"
"""Error handler for names in a database: names that are not UTF-8 decode to invalid keys."""


class DatabaseStore(KeyValueStore):
    """A key-value database in the local file system."""

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
        """Create a store from ``scheme:///absolute/path`` or a path."""
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

    # --- the object ---

    def _identity(self) -> Hashable:
        return os.path.realpath(self.path)

    def __repr__(self) -> str:
        read_only = ", read_only=True" if self.read_only else ""
        return f"{type(self).__name__}({self.path!r}{read_only})"


def path_exists(path: str) -> bool:
    """Return whether a path exists."""
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


class SortedStore(KeyValueStore):
    """A database with its keys in order, which finds those below a prefix by a range."""

    @abstractmethod
    def _erase_below(self, prefix: str) -> None:
        """Remove every key below a prefix at once; the empty prefix means all keys."""

    @abstractmethod
    def _children(self, prefix: str) -> Iterable[str]:
        """Return one name below each child of a prefix, without reading all that are below."""

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix in one step."""
        check_prefix(prefix)
        self._require_writable(prefix)
        self.request(prefix, StoreError, "erased", lambda: self._erase_below(prefix))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        keys: list[str] = []
        prefixes: list[str] = []
        for name in self.request(prefix, StoreReadError, "listed", lambda: self._children(prefix)):
            head, slash, _ = name[len(prefix) :].partition("/")
            if is_key(prefix + head):
                (prefixes if slash else keys).append(prefix + head + slash)
        return keys, prefixes


def key_range(prefix: str) -> tuple[str, str]:
    """Return the half-open range of keys below a prefix that is not empty: "0" follows "/"."""
    return prefix, f"{prefix[:-1]}0"
