"""A store in a zip file.

Name:           zip
URL:            zip:///absolute/path.zip, or a path that ends in .zip
Library:        zipfile of the standard library, which writes entries and the central directory
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager
from shutil import copyfileobj
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any, BinaryIO, Literal
from urllib.parse import quote, unquote
from zipfile import ZIP_STORED

from zarr_core.extension import (
    BufferByteReader,
    ByteRange,
    ByteReader,
    Store,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreTraits,
    ValueReplacedError,
    check_key,
    check_prefix,
    encode_key,
)
from zarr_core.messages import log

from zarr_stores._after_fork import register_after_fork
from zarr_stores._reader_store import ReaderStore
from zarr_stores.remedies import check_options
from zarr_stores.zip.archive import METHODS, Archive, is_stored, open_source
from zarr_stores.zip.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from typing import Self
    from zipfile import ZipInfo

    from zarr_core.extension import Buffer, Buffers, Change

    from zarr_stores.zip.archive import ArchiveLocation


__all__ = ["ZipStore"]

_SCHEME = "zip://"
_NAME_LIMIT = 0xFFFF
_OPTIONS = frozenset({"mode", "compression"})


class ZipStore(ReaderStore):
    """A store in a zip archive.

    Parameters
    ----------
    path : str, os.PathLike, binary file object, or tuple of Store and str
        Path of the file.  Of a file object, a copy is used, which ``flush`` and ``close`` write back.
        With a store and a key, its value is opened for reading: the first request reads the end of
        the archive, with the central directory if it is small, and each value, or the requested
        parts of it, takes one more request.
    mode : {"a", "r", "w", "x"}
        ``"a"``: read and append; the file is created by the first write.  ``"r"``: read
        only.  ``"w"``: replace the file.  ``"x"``: create the file; it must not exist.
    compression : int
        Compression of new values: ``zipfile.ZIP_STORED``, the default because chunks are
        already compressed, or ``ZIP_DEFLATED``.
    read_only : bool
        Same as mode ``"r"``.

    Notes
    -----
    The central directory of the archive is written by ``flush`` and when the store is closed.
    Until then other programs cannot read the file.  Close the store, or use it in a ``with`` statement;
    open stores are closed when the process exits.  A store can be used again after
    ``close``.  If the process is killed, opening the file raises :class:`StoreError`, and
    ``zip -FF FILE --out NEW_FILE``, which asks whether the archive is a single file, copies
    every complete value to a new archive.

    Values are only appended.  Setting a key again leaves the old bytes in the file, and the
    last value is used.  Only all keys together can be erased.  There can be one writer at a time,
    with any number of threads: from its first change until it is closed, changes by other store
    objects and processes raise an error.  Its first change reads the central directory again.  Other
    store objects that have read it see the archive as it was then, until they are closed.

    To read a part of a compressed entry, it is decompressed up to this part.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> from zarr_stores.zip import ZipStore
    >>> with ZipStore("a.zip", mode="w") as store:
    ...     _ = zarr.create_array(store, data=[1, 2, 3])
    >>> zarr.open("a.zip", mode="r")[1]
    np.int64(2)
    """

    suffixes = (".zip",)
    traits = StoreTraits(supports_erasing=False)

    def __init__(
        self,
        path: str | os.PathLike[str] | BinaryIO | tuple[Store, str],
        mode: Literal["a", "r", "w", "x"] = "a",
        compression: int = ZIP_STORED,
        read_only: bool = False,
    ) -> None:
        if mode not in ("a", "r", "w", "x"):
            raise StoreError(f'mode must be "a", "r", "w" or "x", not {mode!r}', store=path)
        if compression not in METHODS:
            reason = f"compression must be ZIP_STORED or ZIP_DEFLATED, not {compression!r}"
            raise StoreError(reason, store=path)
        self.path = ""
        """Absolute path of the file; empty if the archive is a value of another store."""
        self._file_object: BinaryIO | None = None
        self.read_only = read_only or mode == "r" or isinstance(path, tuple)
        if isinstance(path, tuple):
            inner, key = path
            if mode in ("w", "x") and not read_only:
                reason = f'an archive in another store cannot be written, as mode="{mode}" requires'
                raise StoreError(reason, store=inner, key=key)
            self._location: ArchiveLocation = inner, check_key(key)
            self.max_concurrency = inner.max_concurrency
        elif isinstance(path, str | os.PathLike):
            self._location = self.path = os.path.abspath(os.fspath(path))
        elif hasattr(path, "seek"):
            descriptor, self.path = mkstemp(".zip")
            self._remover = weakref.finalize(self, os.unlink, self.path)
            with open(descriptor, "wb") as copy:
                if mode in ("a", "r"):
                    path.seek(0)
                    copyfileobj(path, copy)
            self._location, self._file_object = self.path, path
        else:
            raise StoreError("must be a path or a binary file object", store=repr(path))
        self._compression = compression
        self._guard = threading.RLock()
        register_after_fork(self, ZipStore._reinitialize)
        self._writer: Writer | None = None
        self._finisher: weakref.finalize[..., Any] | None = None
        self._opened: Archive | None = None
        self._updates = 0
        if mode in ("w", "x") and not self.read_only:
            self._open_writer(empty=True, exclusive=mode == "x" and not self._file_object)

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Create a store from ``zip:///absolute/path.zip`` or a path.

        Parameters
        ----------
        url : str
            URL or path.  Percent escapes are decoded in a URL, not in a path.
        read_only : bool
            If True, changes raise an error.
        **options
            ``mode`` and ``compression``.

        Raises
        ------
        StoreError
            If an option is unknown.
        """
        check_options(options, _OPTIONS, url)
        path = unquote(url.removeprefix(_SCHEME)) if url.startswith(_SCHEME) else url
        return cls(path, read_only=read_only, **options)

    @classmethod
    def from_object(cls, location: Any, *, read_only: bool = False, **options: Any) -> Store | None:
        """Create a store from the path of a file, or from a store and a key."""
        if isinstance(location, tuple):
            check_options(options, _OPTIONS, cls(location))
            return cls(location, read_only=read_only, **options)
        if not isinstance(location, str) or os.path.isdir(location):
            return None
        return cls.from_url(location, read_only=read_only, **options)

    @property
    def url(self) -> str:
        if isinstance(self._location, tuple):
            inner, key = self._location
            return f"zip::{inner.url.rstrip('/')}/{key}"
        return f"zip://{quote(self._location)}"

    # --- readable ---

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        archive = self._archive()
        info = archive.entries.get(check_name(key))
        if info is None:
            return None
        with self.reading(key):
            archive.check(info)
        return _EntryReader(self, archive, info)

    def getsize(self, key: str) -> int | None:
        info = self._info(key)
        return None if info is None else info.file_size

    def generation(self, key: str) -> str | None:
        info = self._info(key)
        return None if info is None else _generation(info)

    def _info(self, key: str) -> ZipInfo | None:
        return self._archive().entries.get(check_name(key))

    @contextmanager
    def reading(self, key: str = "") -> Iterator[None]:
        """Add store and key to errors; a replaced archive is opened again by the next read."""
        try:
            yield
        except StoreReadError as error:
            if isinstance(error, ValueReplacedError):
                log("retries", "%s was replaced while it was read", self)
                with self._guard:
                    self._opened = self._opened if self._writer else None
            raise type(error)(error.reason, self, key) from error.__cause__
        except OSError as error:
            raise StoreReadError(f"cannot be read: {error.strerror}", self, key) from error
        except MemoryError as error:
            raise StoreReadError("not enough memory for the value", self, key) from error

    def _archive(self) -> Archive:
        return self._opened or self._open()

    def _open(self) -> Archive:
        with self._guard:
            if self._opened is None:
                missing = Archive(BufferByteReader(b""), {})  # not kept: it may be created later
                try:
                    source = open_source(self._location)
                    if source is None or not (source.size or self.read_only):
                        return missing
                    self._opened = Archive.of(source, self)
                except (FileNotFoundError, NotADirectoryError):
                    return missing
                except OSError as error:
                    raise StoreError(f"cannot be opened: {error.strerror}", store=self) from error
            return self._opened

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        # list copies a dictionary in one step, tuple does not without the GIL.
        return (key for key in list(self._archive().entries) if key.startswith(prefix))

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        check_name(key)
        self._require_writable(key)
        pieces: Sequence[Buffer] = (
            (value,) if isinstance(value, (bytes, bytearray, memoryview)) else value
        )
        with self._guard:
            writer = self._writer or self._open_writer(empty=False)
            if writer.is_inherited:
                reason = "cannot be written: the parent process is writing the archive"
                raise StoreError(reason, store=self, key=key)
            try:
                writer.append(key, pieces, self._compression)
            except OSError as error:
                kept = "; the old value is kept" if key in writer.archive.entries else ""
                raise StoreError(
                    f"cannot be written: {error.strerror}{kept}", store=self, key=key
                ) from error

    def erase(self, key: str) -> None:
        check_name(key)
        self._require_writable(key)
        if not os.path.exists(self.path):
            return
        with self._locked():
            stored = self.exists(key)
        if stored:
            raise StoreCapabilityError(
                "erasing from a zip archive is not supported; copy the hierarchy to a new archive",
                store=self,
                key=key,
            )

    def erase_prefix(self, prefix: str) -> None:
        """Remove all keys, by a new archive; keys below another prefix cannot be removed."""
        if prefix:
            super().erase_prefix(prefix)
            return
        self._require_writable(prefix)
        if not os.path.exists(self.path):
            return
        with self._guard:
            with self._locked():
                stored = bool(self._archive().entries)
            if stored:
                self.close()
                self._open_writer(empty=True)

    def update(self, key: str, change: Change) -> None:
        check_name(key)
        self._require_writable(key)
        with self._locked():
            super().update(key, change)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Exclude other writers, so that the archive as it is now is read, and not an older one."""
        with self._guard:
            if self._writer is None:
                self._open_writer(empty=False)
            self._updates += 1
        try:
            yield
        finally:
            with self._guard:
                self._updates -= 1
                if not self._updates and self._writer is not None and not self._writer.changed:
                    self.close()

    def _open_writer(self, *, empty: bool, exclusive: bool = False) -> Writer:
        try:
            if not empty:
                os.makedirs(os.path.dirname(self.path), exist_ok=True)
            writer = Writer(self.path, empty=empty, exclusive=exclusive)
        except OSError as error:
            reason = f"cannot be written: {error.strerror}"
            if exclusive and isinstance(error, FileExistsError):
                reason = 'the file exists; use mode "w" to replace it'
            raise StoreError(reason, store=self) from error
        self._writer = writer
        self._opened = writer.archive
        self._finisher = weakref.finalize(self, writer.finish)
        return writer

    # --- lifetime ---

    def flush(self) -> None:
        """Write the central directory of the archive, so that other programs can read the file.

        The next write removes the central directory until ``flush`` or ``close`` writes another.

        Raises
        ------
        StoreError
            If the central directory cannot be written.
        """
        with self._guard:
            if self._writer is not None:
                self._write_directory(self._writer.write_directory)

    def close(self) -> None:
        """Write the central directory of the archive and close the file.

        Raises
        ------
        StoreError
            If the central directory cannot be written.
        """
        with self._guard:
            finisher, self._finisher = self._finisher, None
            self._writer = self._opened = None
            if finisher is not None:
                self._write_directory(finisher)

    def _write_directory(self, write: Callable[[], object]) -> None:
        try:
            write()
            if self._file_object is not None:
                self._file_object.seek(0)
                with open(self.path, "rb") as copy:
                    copyfileobj(copy, self._file_object)
                self._file_object.truncate()
                self._file_object.flush()
        except (OSError, TypeError, ValueError) as error:  # of a file object: closed, or for text
            raise StoreError(f"the central directory cannot be written: {error}", self) from error

    def _reinitialize(self) -> None:
        self._guard = threading.RLock()  # another thread may have held it
        self._updates = 0
        if self._file_object is not None:
            self._remover.detach()  # the copy belongs to the parent

    # --- the object ---

    def _identity(self) -> Hashable:
        return os.path.realpath(self.path) if self.path else self._location

    def __reduce__(self) -> tuple[type[Self], tuple[Any, str]]:
        if not self.read_only:
            raise StoreError(
                "a writable zip store cannot be pickled, because an archive has one writer; "
                'close it and pickle ZipStore(path, mode="r")',
                store=self,
            )
        return type(self), (self._file_object or self._location, "r")


class _EntryReader(ByteReader):
    """Reader of an entry; the header and the part that is read first are requested together."""

    def __init__(self, store: ZipStore, archive: Archive, info: ZipInfo) -> None:
        self._store, self._key = store, info.filename
        self._archive, self._info = archive, info
        self._source: ByteReader | None = None
        self.size = info.file_size
        self.max_concurrency = archive.source.max_concurrency
        self.gap_nbytes = archive.source.gap_nbytes
        self.generation = _generation(info)

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        with self._store.reading(self._key):
            if self._source is None:
                ranges = [ByteRange(start, len(buffer)) for start, buffer in parts]
                whole = [ByteRange(0)]
                self._source = self._archive.near(
                    self._info, *(ranges if is_stored(self._info) else whole)
                )
            self._archive.read_into(self._source, self._info, parts)


def _generation(info: ZipInfo) -> str:
    """Return the version of a value, unique among all values written to the archive."""
    return f"{info.header_offset:x}-{info.CRC:x}-{info.file_size:x}"


def check_name(key: str) -> str:
    """Return a key; raise an error if it is not valid, or cannot be the name of an entry."""
    check_key(key)
    if not (key.isascii() and len(key) <= _NAME_LIMIT) and len(encode_key(key)) > _NAME_LIMIT:
        raise StoreKeyError("the key is too long for a zip archive", key=f"{key[:40]}...")
    return key
