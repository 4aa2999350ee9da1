"""A store in a directory: a key is the path of a file.

Name:           file
URL:            file:///absolute/path, or a path
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from contextlib import nullcontext
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

from zarr_core.errors import StoreError, StoreKeyError, StoreReadError
from zarr_core.interfaces.byte_reader import ByteReader
from zarr_core.interfaces.keys import check_key, check_prefix, key_lock
from zarr_core.interfaces.store import FileLayout, Store, StoreTraits
from zarr_core.messages import listed, warn
from zarr_core.stores import local_files
from zarr_core.stores.local_files import (
    FOLLOW_LINKS,
    LISTED,
    READ_FLAGS,
    DirectoryTree,
    OpenDescriptor,
    split,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.interfaces.byte_reader import Buffer, ByteRange
    from zarr_core.interfaces.store import Buffers, Change, Listing

_CANNOT_MOVE = {errno.EXDEV, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.ENOENT}
_MISSING = -1
_PLAIN_KEY = re.compile(r"(?:\w[\w.-]*/)*\w[\w.-]*", re.ASCII).fullmatch
_ANY_SIZE = (1 << 63) - 1  # a limit that no file exceeds
_TICK = 20_000_000  # nanoseconds; the clock of most file systems advances every 1 to 10 ms
_NO_DIRECTORY = (
    "is a file, not a directory; zarr-import imports HDF5 and NetCDF files, and archives and "
    "databases are opened by URLs such as zip://PATH and sqlite://PATH"
)


class LocalStore(Store):
    """Keys and values in a directory, which is created by the first write.

    A value is written to a temporary file, which is then renamed: readers see the old value or the
    new one, also after a crash.  ``update`` excludes all threads and, by a lock file, all processes
    that use the directory; without ``fcntl``, only the threads of one process.  Files whose names
    begin with ``.`` and end in ``.zarr-partial`` or ``.zarr-lock`` belong to this store and are
    never keys, also if a killed process has left them.

    Parameters
    ----------
    path : str or os.PathLike
        The directory.
    read_only : bool
        Reject changes.
    fsync : bool
        Write every value to the disk before ``set`` returns.  This matters only for power
        failures.
    follow_links : bool
        Follow symbolic links that lead out of the directory.  Links within the directory
        are always followed.  If a path is opened, ``storage_options={"follow_links": True}``.

    Raises
    ------
    StoreError
        If the path exists and is not a directory.

    Notes
    -----
    A directory is not a value: ``exists`` returns False.  Reading it raises
    :class:`StoreReadError`, as for pipes and devices, since it is not a missing chunk.

    Examples
    --------
    >>> from zarr_core import LocalStore
    >>> store = LocalStore("folder")
    >>> store.set("a/b", b"value")
    >>> bytes(store.get("a/b")), list(store.list())
    (b'value', ['a/b'])
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
        self._follow_links = follow_links
        self._tree = DirectoryTree(self.path, follow_links)
        self._warns_of_links = True
        # For speed: access() with the final separator is True for directories only.
        is_file = not os.access(self._tree.root, os.F_OK) and os.path.exists(self.path)
        if is_file and not os.path.isdir(self.path):  # not a directory created in between
            raise StoreError(_NO_DIRECTORY, store=self.path)

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Create a store from ``file:///absolute/path`` or a plain path.

        Parameters
        ----------
        url : str
            The URL or path.  Percent signs are escapes in a URL only.
        read_only : bool
            Reject changes.
        **options
            ``fsync`` and ``follow_links``.

        Raises
        ------
        StoreError
            If the URL names another machine, or an option is unknown.
        """
        if unknown := sorted(options.keys() - {"fsync", "follow_links"}):
            raise StoreError(f"a local store has no options {', '.join(unknown)}", store=url)
        return cls(path_from_url(url), read_only, **options)

    @property
    def url(self) -> str:
        # Called whenever a node is opened; pathlib takes ten times as long.
        return f"{_SCHEME}//{self.path}" if _PLAIN(self.path) else PurePath(self.path).as_uri()

    @cached_property
    def traits(self) -> StoreTraits:  # type: ignore[override]  # can be set
        if type(self) is not LocalStore:  # a subclass may do more with files
            return StoreTraits()
        # Compiled code does not synchronize files with the disk.
        layout = FileLayout(self.path, self._follow_links, not (self.read_only or self._fsync))
        return StoreTraits(files=layout)

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        return self.get_limited(key, _ANY_SIZE)  # type: ignore[return-value]  # within the limit

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        descriptor = self._open(key)
        if descriptor == _MISSING:
            return None
        try:
            size = local_files.size_of(descriptor)
            if size > limit:
                return size
            if out is None:
                return local_files.read(descriptor, 0, size)
            out = out[:size]
            local_files.fill(descriptor, out, 0)
            return out
        except (OSError, MemoryError, OverflowError) as error:
            raise self._read_error(key, error) from error
        finally:
            os.close(descriptor)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        descriptor = self._open(key)
        if descriptor == _MISSING:
            return None
        try:
            size = local_files.size_of(descriptor)
            if first is None:
                os.pread(descriptor, 0, 0)  # fails for a directory, as every read
        except OSError as error:
            os.close(descriptor)
            raise self._read_error(key, error) from error
        return local_files.FileReader(descriptor, size, self, key)

    def getsize(self, key: str) -> int | None:
        status = self._status(key)
        return None if status is None else status.st_size

    def generation(self, key: str) -> str | None:
        # A value is never changed in place: a new value is a new file.
        status = self._status(key)
        if status is None:
            return None
        # A later value could have the same inode, so it must not have the same time.
        until = status.st_mtime_ns + _TICK
        if until - _TICK <= (now := time.time_ns()) < until:
            time.sleep((until - now) / 1e9)
        return f"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"

    def _status(self, key: str) -> os.stat_result | None:
        self._check_key(key)
        prefix, name = split(key)
        try:
            # Without opening the file, which needs more permissions.
            status = os.lstat(name, dir_fd=self._tree.open(prefix))
            if stat.S_ISLNK(status.st_mode):
                status = os.fstat(OpenDescriptor(self._tree.open_path(key, READ_FLAGS)))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._read_error(key, error) from error
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            raise StoreReadError("not a regular file", store=self, key=key)
        return status

    def _open(self, key: str) -> int:
        """Open the file of a key for reading; ``_MISSING`` if there is none."""
        self._check_key(key)
        try:
            return self._tree.open_path(key, READ_FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            return _MISSING
        except OSError as error:
            raise self._read_error(key, error) from error

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        self._check_change(key)
        buffers = (value,) if isinstance(value, (bytes, bytearray, memoryview)) else value
        try:
            self._tree.replace(key, buffers, sync=self._fsync)
        except BaseException as error:
            self._tree.remove_empty(split(key)[0])
            if not isinstance(error, OSError):
                raise
            # With fsync, the failure may have come after the new value was stored.
            raise self._write_error(key, error, is_kept=not self._fsync) from error

    def update(self, key: str, change: Change) -> None:
        self._check_change(key)
        is_locked = has_value = False
        try:
            # Threads wait for each other before they open the lock file: this also works where
            # there are no file locks.
            with key_lock(self.path, key), self._tree.lock(key):
                is_locked = True
                reader = self.open_value(key)
                with reader or nullcontext():  # the new value may refer to the open file
                    if isinstance(reader, local_files.FileReader):
                        reader.has_references = True
                    value = change(reader)
                    has_value = value is not None
                    if isinstance(value, ByteReader):
                        return
                    if value is not None:
                        self.set(key, value)
                    elif reader is not None:
                        self.erase(key)
        except OSError as error:
            if is_locked:  # of the change
                raise
            raise self._write_error(key, error, is_kept=True) from error
        finally:
            if not has_value:  # the lock file may have been the last file of its directory
                self._tree.remove_empty(split(key)[0])

    def erase(self, key: str) -> None:
        self._check_change(key)
        prefix, name = split(key)
        try:
            os.unlink(name, dir_fd=self._tree.open(prefix))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise self._write_error(key, error, is_kept=True) from error
        self._tree.remove_empty(prefix)

    def erase_prefix(self, prefix: str) -> None:
        self._check_change(check_prefix(prefix)[:-1] or "-")
        try:
            self._tree.remove(prefix)
        except OSError as error:
            raise self._write_error(prefix, error) from error
        self._tree.remove_empty(split(prefix[:-1])[0])

    def move_prefix(self, prefix: str, target: str) -> bool:
        """Rename the directory of a prefix to ``target``, without keys; return whether it could."""
        (above, name), (above_target, new_name) = (
            split(self._check_change(check_prefix(path)[:-1])) for path in (prefix, target)
        )
        try:
            old = self._tree.open(above)
            if not stat.S_ISDIR(os.lstat(name, dir_fd=old).st_mode):
                return False
            new = self._tree.open(above_target, create=True)
            os.rename(name, new_name, src_dir_fd=old, dst_dir_fd=new)
        except OSError as error:  # an empty directory is replaced
            if error.errno in _CANNOT_MOVE:
                return False
            raise self._write_error(prefix, error) from error
        self._tree.remove_empty(above)
        return True

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return self._walk(*self.list_dir(prefix))  # not in the iterator, so that errors come first

    def _walk(self, keys: list[str], prefixes: list[str]) -> Iterator[str]:
        yield from keys
        while prefixes:
            # By path, which is faster: a directory that becomes a link now shows only its names.
            prefix = prefixes.pop()
            keys, more = self._scan(prefix, self._tree.root + prefix)
            yield from keys
            prefixes += more

    def list_dir(self, prefix: str) -> Listing:
        return self._scan(check_prefix(prefix))

    def _scan(self, prefix: str, path: str | None = None) -> Listing:
        """The keys and prefixes directly below a prefix; warns once of links to other directories."""
        hidden: list[str] = []
        keys: list[str] = []
        prefixes: list[str] = []
        try:
            # Without a name for the descriptor, which errors would keep open.
            with os.scandir(
                OpenDescriptor(self._tree.open_path(prefix, LISTED)) if path is None else path
            ) as entries:
                for entry in entries:
                    name = entry.name
                    if "\\" in name:  # not in a key
                        continue
                    if entry.is_file(follow_symlinks=False):
                        if not (name[0] == "." and local_files.is_temporary(name)):
                            keys.append(prefix + name)
                    elif entry.is_dir(follow_symlinks=False):
                        prefixes.append(f"{prefix}{name}/")
                    elif not (entry.is_symlink() and entry.is_dir()):
                        keys.append(prefix + name)
                    elif (target := self._tree.target(self._tree.root + prefix + name)) is None:
                        keys.append(prefix + name)
                        hidden.append(prefix + name)
                    elif not self._leads_back(prefix + name, target):
                        prefixes.append(f"{prefix}{name}/")
        except (FileNotFoundError, NotADirectoryError):
            pass  # missing, or removed meanwhile
        except OSError as error:
            raise self._read_error(prefix, error) from error
        if hidden and self._warns_of_links:
            self._warns_of_links = False
            warn(
                f"{self}: the contents of symbolic links to directories outside of the store are "
                f"hidden: {listed(hidden)}. {FOLLOW_LINKS}"
            )
        return keys, prefixes

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
        return type(self), (self.path, self.read_only, self._fsync, self._follow_links)

    # --- keys and links ---

    def _leads_back(self, key: str, target: str) -> bool:
        """Whether a link leads to a directory above it: listing that would not terminate."""
        above = (self._tree.root + key[: match.start()] for match in re.finditer("/", key))
        return target in map(os.path.realpath, (self.path, *above))

    def _check_key(self, key: str) -> None:
        if _PLAIN_KEY(key):  # for speed
            return
        check_key(key)
        if not key.isascii():
            try:
                os.fsencode(key)
            except UnicodeEncodeError as error:
                raise StoreKeyError("not a key: cannot be encoded", self, ascii(key)) from error

    def _check_change(self, key: str) -> str:
        if self.read_only:
            self._require_writable(key)
        self._check_key(key)
        if ".zarr-" in key and any(map(local_files.is_temporary, key.split("/"))):
            raise StoreKeyError(
                "names that begin with '.' and end in '.zarr-partial' or '.zarr-lock' belong to "
                "the store",
                self,
                key,
            )
        return key

    # --- errors ---

    def _read_error(self, key: str, error: Exception) -> StoreError:
        error.__traceback__ = None  # its frames keep directories open
        return StoreReadError(local_files.read_failure(error), self, key)

    def _write_error(self, key: str, error: OSError, is_kept: bool = False) -> StoreError:
        """The error for a key or prefix; ``is_kept`` says that an old value was not changed."""
        error.__traceback__ = None
        if error.errno == errno.EXDEV:
            return self._read_error(key, error)
        if isinstance(error, IsADirectoryError):
            reason = "is a directory; erase_prefix removes it"
        elif isinstance(error, NotADirectoryError | FileExistsError):
            reason = "a file stands where a directory is needed"
        else:
            kept = is_kept and os.path.isfile(self._tree.root + key)
            reason = f"cannot be changed: {error.strerror or error}"
            reason += "; the old value is kept" if kept else ""
        return StoreError(reason, self, key)


# --- URLs ---

_SCHEME = "file:"
_PLAIN = re.compile(r"(?:/[A-Za-z0-9_.~-]+)+", re.ASCII).fullmatch
# Of this machine; "?" and "#" are part of the name.
_FILE_URL = re.compile(r"file:(?://(?:localhost)?(?=/)|(?!//))(/.*)", re.I | re.DOTALL).fullmatch


def path_from_url(url: str) -> str:
    """The path that a URL names; anything but a file URL is a path."""
    if url[: len(_SCHEME)].lower() != _SCHEME:
        return url
    if not (parts := _FILE_URL(url)):
        raise StoreError(
            "a file URL needs an absolute path, as in file:///data/field.zarr; "
            "give a relative path without file://",
            store=f"{_SCHEME}//...",  # the URL may contain a password
        )
    return unquote(parts[1])
