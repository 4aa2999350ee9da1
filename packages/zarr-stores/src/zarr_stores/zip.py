"""A store in a zip file.

Name:           zip
URL:            zip:///absolute/path.zip, or a path that ends in .zip
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, unquote
from zipfile import ZIP_DEFLATED, ZIP_STORED

from zarr_core.extension import (
    Store,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
    ValueReader,
    check_key,
    check_prefix,
)

from zarr_stores.zip_archive import (
    Descriptor,
    Entry,
    Writer,
    data_start,
    fill,
    read_entries,
    read_start,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

__all__ = ["ZipStore"]

_SCHEME = "zip://"
_NAME_LIMIT = 0xFFFF


class ZipStore(Store):
    """Keys and values in one zip file.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    mode : {"a", "r", "w", "x"}
        Read, and add to it as soon as something is written; only read; begin
        anew; begin anew unless the file exists.
    compression : int
        ``zipfile.ZIP_STORED``, the default since chunks are compressed already,
        or ``zipfile.ZIP_DEFLATED``.
    read_only : bool
        The same as mode ``"r"``.

    Notes
    -----
    The file becomes a zip archive when the store is closed: until then it has no
    directory, and other programs cannot read it.  Close the store, or use it in a
    ``with`` statement; what is still open at the end of the process is closed then.
    After ``close`` the store may be used again.  If the process is killed before,
    opening the file raises :class:`StoreError`, and
    :func:`zarr_stores.zip_recover.recover` saves every value that was complete.

    Values are only ever added.  Setting a key again leaves the old bytes in the
    file, which grows, and the last value counts; keys cannot be erased.  One
    writer at a time; any number of threads.
    """

    suffixes = (".zip",)
    supports_erasing = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: Literal["a", "r", "w", "x"] = "a",
        compression: int = ZIP_STORED,
        read_only: bool = False,
    ) -> None:
        if mode not in ("a", "r", "w", "x"):
            raise StoreError(f'mode must be "a", "r", "w" or "x", not {mode!r}', store=path)
        if compression not in (ZIP_STORED, ZIP_DEFLATED):
            raise StoreError("compression must be ZIP_STORED or ZIP_DEFLATED", store=path)
        self.path: str = os.path.abspath(os.fspath(path))
        """Absolute path of the file."""
        self.read_only = read_only or mode == "r"
        self._compression = compression
        self._guard = threading.RLock()
        self._process = os.getpid()
        self._writer: Writer | None = None
        self._finisher: weakref.finalize[..., Any] | None = None
        self._opened: tuple[Descriptor | None, dict[str, Entry]] | None = None
        if self.read_only:
            return
        if mode == "x" and os.path.lexists(self.path):
            raise StoreError('the file exists; mode "w" replaces it', store=self.path)
        if mode in ("w", "x"):
            self._begin_writing(empty=True)

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Make a store from ``zip:///absolute/path.zip`` or a path.

        Parameters
        ----------
        url : str
            Percent signs are escapes in a URL, and nothing special in a path.
        read_only : bool
            Refuse changes.
        **options
            ``mode`` and ``compression``.

        Raises
        ------
        StoreError
            If an option is unknown.
        """
        if unknown := sorted(options.keys() - {"mode", "compression"}):
            raise StoreError(f"a zip store has no options {', '.join(unknown)}", store=url)
        path = unquote(url.removeprefix(_SCHEME)) if url.startswith(_SCHEME) else url
        return cls(path, read_only=read_only, **options)

    @property
    def url(self) -> str:
        return f"{_SCHEME}{quote(self.path)}"

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        found = self._find(key)
        if found is None:
            return None
        descriptor, entry = found
        with _naming(self, key):
            start = data_start(descriptor, entry)
            buffer = memoryview(bytearray(entry.size))
            read_start(descriptor, start, entry, buffer)
            return buffer.toreadonly()

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        found = self._find(key)
        if found is None:
            return None
        descriptor, entry = found
        with _naming(self, key):
            start = data_start(descriptor, entry)
            read_start(descriptor, start, entry, buffer[: entry.size])
            return entry.size

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        found = self._find(key)
        if found is None:
            return None
        descriptor, entry = found
        if entry.method != ZIP_STORED:
            return super().open_value(key, first)
        with _naming(self, key):
            return _StoredReader(descriptor, entry, self, key)

    def exists(self, key: str) -> bool:
        return self._find(key) is not None

    def getsize(self, key: str) -> int | None:
        found = self._find(key)
        return None if found is None else found[1].size

    def _find(self, key: str) -> tuple[Descriptor, Entry] | None:
        _check(key)
        descriptor, entries = self._opened or self._open()
        entry = entries.get(key)
        return None if entry is None or descriptor is None else (descriptor, entry)

    def _open(self) -> tuple[Descriptor | None, dict[str, Entry]]:
        with self._lock():
            if self._opened is None:
                try:
                    if not self.read_only and os.path.getsize(self.path) == 0:
                        return None, {}
                    self._opened = read_entries(self.path)
                except (FileNotFoundError, NotADirectoryError):
                    return None, {}  # not remembered: someone may still make it
                except OSError as error:
                    raise StoreError(f"cannot be opened: {error.strerror}", store=self) from error
            return self._opened

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        _check(key)
        self._require_writable(key)
        pieces: Sequence[Buffer] = (
            (value,) if isinstance(value, bytes | bytearray | memoryview) else value
        )
        with self._lock():
            writer = self._writer or self._begin_writing(empty=False)
            if writer.process != os.getpid():
                raise StoreError(
                    "the process that forked this one is writing the archive", store=self, key=key
                )
            try:
                writer.append(key, pieces, self._compression)
            except OSError as error:
                raise StoreError(
                    f"cannot be written: {error.strerror}; the old value is kept",
                    store=self,
                    key=key,
                ) from error

    def erase(self, key: str) -> None:
        _check(key)
        self._require_writable(key)
        if self.exists(key):
            raise StoreCapabilityError(
                "nothing can be erased from a zip archive; copy what is to stay to a new one",
                store=self,
                key=key,
            )

    def erase_prefix(self, prefix: str) -> None:
        check_prefix(prefix)
        self._require_writable(prefix)
        super().erase_prefix(prefix)

    def update(self, key: str, change: Change) -> None:
        _check(key)
        self._require_writable(key)
        super().update(key, change)

    def _begin_writing(self, *, empty: bool) -> Writer:
        try:
            if not empty:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
            writer = Writer(self.path, empty=empty)
        except OSError as error:
            raise StoreError(f"cannot be written: {error.strerror}", store=self) from error
        self._writer = writer
        self._opened = writer.descriptor, writer.entries
        self._finisher = weakref.finalize(self, writer.finish)
        return writer

    def _require_writable(self, key: str) -> None:
        if self.read_only:
            raise StoreReadOnlyError("the archive is open for reading only", store=self, key=key)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        _, entries = self._opened or self._open()
        return (key for key in tuple(entries) if key.startswith(prefix))

    # --- lifetime ---

    def close(self) -> None:
        """Finish the archive, so that everyone can read it.

        Raises
        ------
        StoreError
            If its directory cannot be written.
        """
        with self._lock():
            finisher, self._finisher = self._finisher, None
            self._writer = self._opened = None
            if finisher is not None:
                try:
                    finisher()
                except OSError as error:
                    raise StoreError(
                        f"the archive could not be finished: {error.strerror}", store=self
                    ) from error

    def _lock(self) -> threading.RLock:
        if self._process != os.getpid():  # a lock that another thread held at the fork
            self._guard = threading.RLock()
            self._process = os.getpid()
        return self._guard

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZipStore):
            return NotImplemented
        return os.path.realpath(self.path) == os.path.realpath(other.path)

    def __hash__(self) -> int:
        return hash(os.path.realpath(self.path))

    def __repr__(self) -> str:
        return f"ZipStore({self.path!r}{', read_only=True' if self.read_only else ''})"

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        if not self.read_only:
            raise StoreError(
                "a zip archive has one writer, so the store cannot be pickled. "
                'Close it and pickle ZipStore(path, mode="r")',
                store=self,
            )
        return type(self), (self.path, "r")


class _StoredReader(ValueReader):
    """An uncompressed entry; its checksum cannot be checked in parts."""

    __slots__ = ("_descriptor", "_key", "_size", "_start", "_store")

    def __init__(self, descriptor: Descriptor, entry: Entry, store: ZipStore, key: str) -> None:
        self._descriptor = descriptor
        self._start = data_start(descriptor, entry)
        self._size = entry.size
        self._store = store
        self._key = key

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        with _naming(self._store, self._key):
            for start, buffer in parts:
                if start < 0 or start + len(buffer) > self._size:
                    raise StoreReadError(
                        f"bytes {start} to {start + len(buffer)} of a value of {self._size} bytes"
                    )
                fill(self._descriptor, self._start + start, buffer)


def _check(key: str) -> None:
    """Refuse what is no key, or cannot be the name of an entry."""
    check_key(key)
    if key.isascii() and len(key) <= _NAME_LIMIT:
        return
    try:
        length = len(key.encode())
    except UnicodeEncodeError as error:
        raise StoreKeyError("cannot be encoded as UTF-8", key=ascii(key)) from error
    if length > _NAME_LIMIT:
        raise StoreKeyError("too long for the name of an entry", key=f"{key[:40]}...")


@contextmanager
def _naming(store: ZipStore, key: str) -> Iterator[None]:
    """Add store and key to what goes wrong while an entry is read."""
    try:
        yield
    except StoreReadError as error:
        raise StoreReadError(error.reason, store, key) from error.__cause__
    except OSError as error:
        raise StoreReadError(f"cannot be read: {error.strerror}", store, key) from error
    except MemoryError as error:
        raise StoreReadError("there is no memory for a value of its size", store, key) from error
