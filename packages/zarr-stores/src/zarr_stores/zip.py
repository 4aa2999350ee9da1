"""A store in a zip file.

Name:           zip
URL:            zip:///absolute/path.zip, or a path that ends in .zip
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, BinaryIO, Literal
from urllib.parse import unquote
from zipfile import ZIP_STORED

from zarr_core.extension import (
    StoreCapabilityError,
    StoreError,
    check_prefix,
)

from zarr_stores._forked import in_children
from zarr_stores.zip_archive import Writer, read_entries
from zarr_stores.zip_methods import check_method
from zarr_stores.zip_place import Place, ValuePlace, place_of
from zarr_stores.zip_read import ReadableZip, check_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from zarr_core.extension import Buffer, Change, Pieces, Store

    from zarr_stores.zip_archive import Entry
    from zarr_stores.zip_source import Source

__all__ = ["ZipStore"]

_SCHEME = "zip://"


class ZipStore(ReadableZip):
    """Keys and values in one zip archive.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        The file; or an object that can be read and sought, of which the archive is only
        read, whatever the mode says, and which is left open.
    mode : {"a", "r", "w", "x"}
        Read, and add to it as soon as something is written; only read; begin
        anew; begin anew unless the file exists.
    compression : int
        ``zipfile.ZIP_STORED``, the default since chunks are compressed already,
        ``ZIP_DEFLATED``, ``ZIP_BZIP2`` or ``ZIP_LZMA``: how new values are stored.
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
        path: str | os.PathLike[str] | BinaryIO | Place,
        mode: Literal["a", "r", "w", "x"] = "a",
        compression: int = ZIP_STORED,
        read_only: bool = False,
    ) -> None:
        if mode not in ("a", "r", "w", "x"):
            raise StoreError(f'mode must be "a", "r", "w" or "x", not {mode!r}', store=path)
        check_method(compression, path)
        self._place = place_of(path)
        self.requests = self._place.requests
        self.path: str | None = self._place.path
        """Absolute path of the file; None if the archive is not one."""
        if self.path is None and mode in ("w", "x"):
            raise StoreError("only files can be written; this can be read", store=self._place.url)
        self.read_only = read_only or mode == "r" or self.path is None
        self._compression = compression
        self._guard = threading.RLock()
        in_children(self, ZipStore._renew)
        self._writer: Writer | None = None
        self._finisher: weakref.finalize[..., Any] | None = None
        self._opened: tuple[Source | None, dict[str, Entry]] | None = None
        if self.read_only:
            return
        if mode == "x" and self.path is not None and os.path.lexists(self.path):
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

    @classmethod
    def within(cls, store: Store, key: str) -> Self:
        """An archive that is a value of another store, to be read where it is.

        Parameters
        ----------
        store : Store
            The other store.
        key : str
            Key of the archive.

        Notes
        -----
        Of the archive are read: its end, with the directory if that is small; then each
        value, or the parts of it that are wanted, with one request.  Around a store with
        latency, :class:`~zarr_stores.disk_cache.DiskCacheStore` reads small neighbours
        together, in blocks.
        """
        return cls(ValuePlace(store, key), "r")

    @property
    def url(self) -> str:
        return self._place.url

    # --- readable ---

    def _archive(self) -> tuple[Source | None, dict[str, Entry]]:
        return self._opened or self._open()

    def _open(self) -> tuple[Source | None, dict[str, Entry]]:
        with self._guard:
            if self._opened is None:
                try:
                    if not self.read_only and os.path.getsize(self.path or "") == 0:
                        return None, {}
                    source = self._place.open()
                    if source is None:
                        return None, {}
                    self._opened = source, read_entries(source, self)
                except (FileNotFoundError, NotADirectoryError):
                    return None, {}  # not remembered: someone may still make it
                except OSError as error:
                    raise StoreError(f"cannot be opened: {error.strerror}", store=self) from error
            return self._opened

    def _forget(self) -> None:
        with self._guard:
            if self._writer is None:
                self._opened = None

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        check_name(key)
        if self.read_only:
            self._require_writable(key)
        pieces: Sequence[Buffer] = (
            (value,) if isinstance(value, (bytes, bytearray, memoryview)) else value
        )
        with self._guard:
            writer = self._writer or self._begin_writing(empty=False)
            if writer.abandoned:
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
        check_name(key)
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
        check_name(key)
        self._require_writable(key)
        super().update(key, change)

    def _begin_writing(self, *, empty: bool) -> Writer:
        path = self.path or ""  # what is no file is never written
        try:
            if not empty:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            writer = Writer(path, empty=empty)
        except OSError as error:
            raise StoreError(f"cannot be written: {error.strerror}", store=self) from error
        self._writer = writer
        self._opened = writer.descriptor, writer.entries
        self._finisher = weakref.finalize(self, writer.finish)
        return writer

    # --- lifetime ---

    def close(self) -> None:
        """Finish the archive, so that everyone can read it.

        Raises
        ------
        StoreError
            If its directory cannot be written.
        """
        with self._guard:
            finisher, self._finisher = self._finisher, None
            self._writer = self._opened = None
            if finisher is not None:
                try:
                    finisher()
                except OSError as error:
                    raise StoreError(
                        f"the archive could not be finished: {error.strerror}", store=self
                    ) from error

    def _renew(self) -> None:
        self._guard = threading.RLock()  # another thread may have held it

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZipStore):
            return NotImplemented
        return self._place.identity == other._place.identity

    def __hash__(self) -> int:
        return hash(self._place.identity)

    def __repr__(self) -> str:
        return f"ZipStore({self._place!r}{', read_only=True' if self.read_only else ''})"

    def __reduce__(self) -> tuple[type[Self], tuple[Place, str]]:
        if not self.read_only:
            raise StoreError(
                "a zip archive has one writer, so the store cannot be pickled. "
                'Close it and pickle ZipStore(path, mode="r")',
                store=self,
            )
        return type(self), (self._place, "r")
