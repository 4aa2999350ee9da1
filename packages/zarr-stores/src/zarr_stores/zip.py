"""A store in a zip file.

Name:           zip
URL:            zip:///absolute/path.zip, or a path that ends in .zip
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Literal
from urllib.parse import unquote
from zipfile import ZIP_STORED

from zarr_core.extension import StoreCapabilityError, StoreError, StoreTraits, check_prefix

from zarr_stores._after_fork import register_after_fork
from zarr_stores.unknown_options import check_options
from zarr_stores.zip_archive import read_entries
from zarr_stores.zip_location import Location, ValueLocation, location_of
from zarr_stores.zip_methods import check_method
from zarr_stores.zip_read import ReadableZip, check_name

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, Buffers, Change, Store

    from zarr_stores.zip_archive import Entry, Writer
    from zarr_stores.zip_source import Source

__all__ = ["ZipStore"]

_SCHEME = "zip://"


class ZipStore(ReadableZip):
    """A store in a zip archive.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        Path of the file; or a seekable file object, which is not closed.  It is written if it can
        be read and written, such as ``io.BytesIO()``, and must not be used before ``close``.
    mode : {"a", "r", "w", "x"}
        ``"a"``: read and append; the file is created by the first write.  ``"r"``: read
        only.  ``"w"``: replace the file.  ``"x"``: create the file; it must not exist.
    compression : int
        Compression of new values: ``zipfile.ZIP_STORED``, the default because chunks are
        already compressed, ``ZIP_DEFLATED``, ``ZIP_BZIP2`` or ``ZIP_LZMA``.
    read_only : bool
        Same as mode ``"r"``.

    Notes
    -----
    The central directory of the archive is written by ``flush`` and when the store is closed.
    Until then other programs cannot read the file.  Close the store, or use it in a ``with`` statement;
    open stores are closed when the process exits.  A store can be used again after
    ``close``.  If the process is killed, opening the file raises :class:`StoreError`, and
    :func:`zarr_stores.zip_recover.recover` copies every complete value to a new archive.

    Values are only appended.  Setting a key again leaves the old bytes in the file, and the
    last value is used.  Only all keys together can be erased.  There can be one writer at a time,
    with any number of threads: from its first change until it is closed, changes by other store
    objects and processes raise an error.  Its first change reads the central directory again.  Other
    store objects that have read it see the archive as it was then, until they are closed.

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
        path: str | os.PathLike[str] | BinaryIO | Location,
        mode: Literal["a", "r", "w", "x"] = "a",
        compression: int = ZIP_STORED,
        read_only: bool = False,
    ) -> None:
        if mode not in ("a", "r", "w", "x"):
            raise StoreError(f'mode must be "a", "r", "w" or "x", not {mode!r}', store=path)
        check_method(compression, path)
        self._location = location_of(path)
        self.max_concurrency = self._location.max_concurrency
        self.path: str | None = self._location.path
        """Absolute path of the file; None if the archive is not a file."""
        if not self._location.is_writable and mode in ("w", "x"):
            raise StoreError(
                "cannot be written; pass the path of a file, or a file object that can be read, "
                'written and moved, or use mode "r"',
                store=self._location.url,
            )
        self.read_only = read_only or mode == "r" or not self._location.is_writable
        self._compression = compression
        self._guard = threading.RLock()
        register_after_fork(self, ZipStore._reinitialize)
        self._writer: Writer | None = None
        self._finisher: weakref.finalize[..., Any] | None = None
        self._opened: tuple[Source | None, dict[str, Entry]] | None = None
        self._updates = 0
        if mode in ("w", "x") and not self.read_only:
            self._open_writer(empty=True, exclusive=mode == "x")

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
        check_options(options, {"mode", "compression"}, url)
        path = unquote(url.removeprefix(_SCHEME)) if url.startswith(_SCHEME) else url
        return cls(path, read_only=read_only, **options)

    @classmethod
    def from_object(cls, place: Any, *, read_only: bool = False, **options: Any) -> Store | None:
        """Create a store from the path of a file, or from a store and a key (:meth:`within`)."""
        if isinstance(place, tuple):
            return cls.within(*place)
        if not isinstance(place, str) or os.path.isdir(place):
            return None
        return cls.from_url(place, read_only=read_only, **options)

    @classmethod
    def within(cls, store: Store, key: str) -> Self:
        """Open an archive that is a value of another store, for reading.

        Parameters
        ----------
        store : Store
            The other store.
        key : str
            Key of the archive.

        Notes
        -----
        The first request reads the end of the archive, with the central directory if it is
        small.  Each value, or the requested parts of it, is read with one request.  For a
        store with latency, :class:`~zarr_stores.cache.disk_cache.DiskCacheStore` reads blocks, and
        with them small neighbouring values.
        """
        return cls(ValueLocation(store, key), "r")

    @property
    def url(self) -> str:
        return self._location.url

    # --- readable ---

    def _archive(self) -> tuple[Source | None, dict[str, Entry]]:
        return self._opened or self._open()

    def _open(self) -> tuple[Source | None, dict[str, Entry]]:
        with self._guard:
            if self._opened is None:
                try:
                    if not self.read_only and self._location.is_empty():
                        return None, {}
                    source = self._location.open()
                    if source is None:
                        return None, {}
                    self._opened = source, read_entries(source, self)
                except (FileNotFoundError, NotADirectoryError):
                    return None, {}  # not cached: the file may be created later
                except OSError as error:
                    raise StoreError(f"cannot be opened: {error.strerror}", store=self) from error
            return self._opened

    def _forget(self) -> None:
        with self._guard:
            if self._writer is None:
                self._opened = None

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        check_name(key)
        if self.read_only:
            self._require_writable(key)
        pieces: Sequence[Buffer] = (
            (value,) if isinstance(value, (bytes, bytearray, memoryview)) else value
        )
        with self._guard:
            writer = self._writer or self._open_writer(empty=False)
            if writer.abandoned:
                raise StoreError(
                    "cannot be written: the parent process is writing the archive",
                    store=self,
                    key=key,
                )
            try:
                writer.append(key, pieces, self._compression)
            except OSError as error:
                kept = "; the old value is kept" if key in writer.entries else ""
                raise StoreError(
                    f"cannot be written: {error.strerror}{kept}", store=self, key=key
                ) from error

    def erase(self, key: str) -> None:
        check_name(key)
        self._require_writable(key)
        if not self._exists():
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
        check_prefix(prefix)
        self._require_writable(prefix)
        if prefix:
            super().erase_prefix(prefix)
            return
        if not self._exists():
            return
        with self._guard:
            with self._locked():
                stored = bool(self._archive()[1])
            if stored:
                self.close()
                self._open_writer(empty=True)

    def _exists(self) -> bool:
        return self.path is None or os.path.exists(self.path)

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
                    self._writer.withdraw()
                    self.close()

    def _open_writer(self, *, empty: bool, exclusive: bool = False) -> Writer:
        try:
            writer = self._location.open_writer(empty=empty, exclusive=exclusive)
        except OSError as error:
            reason = f"cannot be written: {error.strerror}"
            if exclusive and isinstance(error, FileExistsError):
                reason = 'the file exists; use mode "w" to replace it'
            raise StoreError(reason, store=self) from error
        self._writer = writer
        self._opened = writer.source, writer.entries
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
        except OSError as error:
            raise StoreError(
                f"the central directory cannot be written: {error.strerror}", store=self
            ) from error

    def _reinitialize(self) -> None:
        self._guard = threading.RLock()  # another thread may have held it
        self._updates = 0

    # --- the object ---

    def _identity(self) -> Hashable:
        return self._location.identity

    def __repr__(self) -> str:
        return f"ZipStore({self._location!r}{', read_only=True' if self.read_only else ''})"

    def __reduce__(self) -> tuple[type[Self], tuple[Location, str]]:
        if not self.read_only:
            raise StoreError(
                "a writable zip store cannot be pickled, because an archive has one writer; close "
                'it and pickle ZipStore(path, mode="r")',
                store=self,
            )
        return type(self), (self._location, "r")
