"""A store in a directory: a key is the path of a file.

Name:           file
URL:            file:///absolute/path, or a path
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Any

from zarr_core.errors import StoreError, StoreReadError
from zarr_core.interfaces.keylock import key_lock
from zarr_core.interfaces.keys import check_key, check_prefix
from zarr_core.interfaces.store import Store
from zarr_core.stores import local_file, local_read, local_tree, local_url, local_write
from zarr_core.stores.local_failure import no_key, not_a_name, unlistable, unreadable, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from zarr_core.interfaces.codec import Buffer
    from zarr_core.interfaces.store import Change, Listing, Pieces
    from zarr_core.interfaces.value import ByteRange, ValueReader

__all__ = ["LocalStore"]

_MISSING = -1
_FOLLOW = "If it is to be followed out of the store: LocalStore(..., follow_links=True)"


class LocalStore(Store):
    """Keys and values in a directory, which is created when first written to.

    Parameters
    ----------
    path : str or os.PathLike
        The directory.
    read_only : bool
        Refuse changes.
    fsync : bool
        Have every value on the disk, not only with the operating system, before
        ``set`` returns.  Only a power failure makes a difference.
    follow_links : bool
        Follow symbolic links that lead out of the directory.  Those that stay
        inside are followed always.

    Notes
    -----
    A value is written under another name and then renamed, so readers and crashes
    see the old value or the new one.  ``update`` excludes all threads and, by a lock
    file, all processes that use the directory; on a platform without ``fcntl``
    only the threads of one process.  Files whose names begin with ``.`` and end in
    ``.zarr-partial`` or ``.zarr-lock`` belong to this store and are never keys; the
    few that a killed process leaves do no harm, and :meth:`sweep` removes them.

    A directory is not a value: ``exists`` says no, but to read one raises
    :class:`StoreReadError`, as it does for pipes and devices, since what stands
    in the way of a chunk must not be taken for a missing one.

    Raises
    ------
    StoreError
        If there is something at the path that is not a directory.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        read_only: bool = False,
        fsync: bool = False,
        follow_links: bool = False,
    ) -> None:
        text = os.fspath(path)
        if not isinstance(text, str) or not text or "\0" in text:
            raise StoreError(f"not the path of a directory: {path!r}")
        self.path: str = os.path.abspath(text)
        """Absolute path of the directory."""
        self.read_only = read_only
        self._fsync = fsync
        self._root = self.path if self.path.endswith(os.sep) else self.path + os.sep
        self._boundary = local_tree.Boundary(self._root, follow_links)
        self._known = self._boundary.known
        try:
            mode = os.stat(self.path).st_mode
        except OSError:  # there is none yet, or it is told when it is needed
            return
        if not stat.S_ISDIR(mode):
            raise StoreError(local_file.told(self.path), store=self.path)

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Make a store from ``file:///absolute/path`` or a plain path.

        Parameters
        ----------
        url : str
            Percent signs are escapes in a URL, and nothing special in a path.
        read_only : bool
            Refuse changes.
        **options
            ``fsync`` and ``follow_links``.

        Raises
        ------
        StoreError
            If the URL names another machine, or an option is unknown.
        """
        if unknown := sorted(options.keys() - {"fsync", "follow_links"}):
            raise StoreError(f"a local store has no options {', '.join(unknown)}", store=url)
        return cls(local_url.to_path(url), read_only, **options)

    @property
    def url(self) -> str:
        return local_url.from_path(self.path)

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        descriptor = self._open(key)
        if descriptor == _MISSING:
            return None
        try:
            return local_read.read(descriptor, 0, local_read.size_of(descriptor))
        except (OSError, MemoryError, OverflowError) as error:
            raise unreadable(self, key, error) from error
        finally:
            os.close(descriptor)

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        # What nearly always happens, in one piece; everything else is below.
        if key[: key.rfind("/") + 1] in self._known and "\\" not in key:
            try:
                descriptor = os.open(self._root + key, local_read.OPEN_FLAGS)
            except (OSError, ValueError):
                pass
            else:
                try:
                    size = os.lseek(descriptor, 0, os.SEEK_END)
                    if 0 < size <= len(buffer) and os.preadv(descriptor, (buffer,), 0) == size:
                        return size
                except OSError:
                    pass
                finally:
                    os.close(descriptor)
        return self._get_into(key, buffer)

    def _get_into(self, key: str, buffer: memoryview) -> int | None:
        descriptor = self._open(key)
        if descriptor == _MISSING:
            return None
        try:
            return local_read.read_into(descriptor, buffer)
        except OSError as error:
            raise unreadable(self, key, error) from error
        finally:
            os.close(descriptor)

    def _part(self, key: str, part: ByteRange) -> Buffer | None:
        descriptor = self._open(key)
        if descriptor == _MISSING:
            return None
        try:
            return local_read.read_part(descriptor, part)
        except (OSError, MemoryError, OverflowError) as error:
            raise unreadable(self, key, error) from error
        finally:
            os.close(descriptor)

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        descriptor = self._open(key)
        if descriptor == _MISSING:
            return None
        try:
            return local_read.FileReader(descriptor, self, key, first is not None)
        except OSError as error:
            raise unreadable(self, key, error) from error

    def exists(self, key: str) -> bool:
        if key[: key.rfind("/") + 1] in self._known and "\\" not in key:
            try:
                if stat.S_ISREG(os.lstat(self._root + key).st_mode):
                    return True
            except FileNotFoundError:
                return not check_key(key)
            except (OSError, ValueError):
                pass
        return self._status(key) is not None

    def getsize(self, key: str) -> int | None:
        status = self._status(key)
        return None if status is None else status.st_size

    def version(self, key: str) -> str | None:
        # A value is never changed in place: a new one is a new file.
        it = self._status(key)
        return None if it is None else f"{it.st_ino:x}-{it.st_mtime_ns:x}-{it.st_size:x}"

    def _status(self, key: str) -> os.stat_result | None:
        self._check(key)
        try:
            status = os.lstat(self._root + key)
            if stat.S_ISLNK(status.st_mode):
                status = os.stat(self._linked(key))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable(self, key, error) from error
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            raise StoreReadError("not a regular file", store=self, key=key)
        return status

    def _open(self, key: str) -> int:
        """Open the file of a key for reading; ``_MISSING`` if there is none.

        The fastest path of the library.  A directory that was found good once is
        remembered, so that only the last segment is new; "", "." and ".." there
        name a directory, which cannot be read and then fails as a key.
        """
        if key[: key.rfind("/") + 1] not in self._known or "\\" in key:
            self._check(key)
        try:
            return os.open(self._root + key, local_read.OPEN_FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            check_key(key)
            return _MISSING
        except OSError as error:
            check_key(key)
            if error.errno != errno.ELOOP:
                raise unreadable(self, key, error) from error
            cause = error
        except ValueError as error:
            raise not_a_name(self, key) from error
        path = self._linked(key)
        try:
            return os.open(path, local_read.OPEN_FLAGS)
        except OSError:
            raise unreadable(self, key, cause) from cause

    def _linked(self, key: str) -> str:
        """Path that a symbolic link at a key leads to."""
        real = self._boundary.real_path(self._root + key)
        if real is None:
            reason = "a symbolic link that leads out of the store, in a circle or nowhere"
            raise StoreReadError(f"{reason}. {_FOLLOW}", self, key)
        return real

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        path = self._path_to_change(key)
        pieces = (value,) if isinstance(value, (bytes, bytearray, memoryview)) else value
        try:
            local_write.replace_file(path, pieces, sync=self._fsync)
        except OSError as error:
            raise unwritable(self, key, error) from error

    def update(self, key: str, change: Change) -> None:
        path = self._path_to_change(key)
        with key_lock(self.path, key):
            try:
                lock = local_write.lock(path)
            except OSError as error:
                raise unwritable(self, key, error) from error
            stored = False
            try:
                stored = self._change(key, change)
            finally:
                local_write.unlock(path, lock)
                if not stored:  # the lock file may have been the last in its directory
                    local_write.remove_empty_directories(os.path.dirname(path), self._root)

    def erase(self, key: str) -> None:
        path = self._path_to_change(key)
        try:
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise unwritable(self, key, error) from error
        local_write.remove_empty_directories(os.path.dirname(path), self._root)

    def erase_prefix(self, prefix: str) -> None:
        check_prefix(prefix)
        path = self._path_to_change(prefix[:-1]) if prefix else self.path
        self._require_writable(prefix)
        try:
            if prefix and os.path.islink(path):
                os.unlink(path)
            elif os.path.isdir(path):
                local_tree.remove_tree(path, keep_top=not prefix)
            else:
                return
        except OSError as error:
            raise unwritable(self, prefix, error) from error
        if prefix:
            local_write.remove_empty_directories(os.path.dirname(path), self._root)

    def move_prefix(self, prefix: str, target: str) -> bool:
        old, new = (self._path_to_change(check_prefix(it)[:-1]) for it in (prefix, target))
        try:
            moved = local_tree.move_tree(old, new)
        except OSError as error:
            raise unwritable(self, prefix, error) from error
        local_write.remove_empty_directories(os.path.dirname(old), self._root)
        return moved

    def sweep(self, older_than: float = 3600.0) -> int:
        """Remove what killed processes left: unfinished files, locks nobody holds; count them.

        Parameters
        ----------
        older_than : float
            Age in seconds from which an unfinished file is taken for abandoned, if
            no process of its number runs here; after a day it is in any case.
        """
        self._require_writable("")
        try:
            return local_tree.remove_leftovers(self.path, older_than)
        except OSError as error:
            raise unwritable(self, "", error) from error

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        self._check_listing(prefix)
        return self._walk(prefix)

    def _walk(self, prefix: str) -> Iterator[str]:
        try:
            yield from self._boundary.walk(prefix)
        except OSError as error:
            raise unlistable(self, prefix, error) from error

    def list_dir(self, prefix: str) -> Listing:
        self._check_listing(prefix)
        try:
            return self._boundary.scan(prefix)
        except OSError as error:
            raise unlistable(self, prefix, error) from error

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LocalStore):
            return NotImplemented
        return os.path.realpath(self.path) == os.path.realpath(other.path)

    def __hash__(self) -> int:
        return hash(os.path.realpath(self.path))

    def __repr__(self) -> str:
        return f"LocalStore({self.path!r}{', read_only=True' if self.read_only else ''})"

    def __reduce__(self) -> tuple[type[Self], tuple[str, bool, bool, bool]]:
        return type(self), (self.path, self.read_only, self._fsync, self._boundary.follow_links)

    # --- checks ---

    def _check(self, key: str) -> None:
        """Refuse what is no key, and directories that a link leads out of the store."""
        check_key(key)
        directory = key[: key.rfind("/") + 1]
        if directory not in self._known:
            self._check_inside(directory)

    def _check_inside(self, prefix: str) -> None:
        try:
            inside = self._boundary.contains(prefix)
        except OSError as error:
            raise unlistable(self, prefix, error) from error
        except ValueError as error:
            raise not_a_name(self, prefix) from error
        if not inside:
            reason = "a symbolic link on the way leads out of the store"
            raise StoreReadError(f"{reason}. {_FOLLOW}", self, prefix)

    def _check_listing(self, prefix: str) -> None:
        check_prefix(prefix)
        self._check_inside(prefix)

    def _path_to_change(self, key: str) -> str:
        if self.read_only:
            self._require_writable(key)
        self._check(key)
        if ".zarr-" in key and any(map(local_write.is_ours, key.split("/"))):
            raise no_key(self, key)
        if not key.isascii():
            try:
                os.fsencode(key)
            except UnicodeEncodeError as error:
                raise not_a_name(self, key) from error
        return self._root + key
