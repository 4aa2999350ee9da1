"""Store ``acme-log``: one append-only file."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from zarr_core.extension import (
    ByteReader,
    Store,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
    check_key,
    check_prefix,
    key_lock,
)

from acme_log.records import Entry, Log, append, identity, locked, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, Buffers, ByteRange, Change

_SCHEME = "acme-log://"


class LogStore(Store):
    """Keys and values in a log; threads and processes can use it at the same time.

    Parameters
    ----------
    path : str or os.PathLike
        The file; it is created by the first write.
    read_only : bool
        Reject changes, and do not create the file.
    """

    def __init__(self, path: str | os.PathLike[str], read_only: bool = False) -> None:
        self.path: str = os.path.realpath(path)
        self.read_only = read_only
        self._log: Log | None = None

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Create a store from ``acme-log:///absolute/path``, or a path that ends in ``.acme-log``."""
        if options:
            raise StoreError(f"an acme-log store has no options {', '.join(options)}", store=url)
        path = unquote(url.removeprefix(_SCHEME)) if url.startswith(_SCHEME) else url
        if url.startswith(_SCHEME) and not path.startswith("/"):
            raise StoreError(
                f"the URL must contain an absolute path, such as {_SCHEME}/data/x", store=url
            )
        return cls(path, read_only)

    @property
    def url(self) -> str:
        return f"{_SCHEME}{quote(self.path)}"

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        log, entry = self._find(key)
        if log is None or entry is None:
            return None
        with self._naming(key):
            return log.value(entry)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        log, entry = self._find(key)
        return None if log is None or entry is None else LogReader(self, key, log, entry)

    def exists(self, key: str) -> bool:
        return self._find(key)[1] is not None

    def getsize(self, key: str) -> int | None:
        entry = self._find(key)[1]
        return None if entry is None else entry.size

    def generation(self, key: str) -> str | None:
        """Return the position of the value, which is unique because values are not overwritten."""
        log, entry = self._find(key)
        return None if log is None or entry is None else log.generation(entry)

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        self._check_to_change(_checked(key))
        self._append(key, lambda log: [record(key, _joined(value))])

    def erase(self, key: str) -> None:
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        names = [_checked(key) for key in keys]
        for key in names[:1]:
            self._check_to_change(key)
        if any(map(self.exists, names)):
            key = names[0]
            self._append(key, lambda log: [record(k, None) for k in names if k in log.entries])

    def erase_prefix(self, prefix: str) -> None:
        check_prefix(prefix)
        self._check_to_change(prefix)
        self.erase_values(list(self.list_prefix(prefix)))

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value; start again if another process changed it."""
        self._check_to_change(_checked(key))
        with key_lock(self.url, key):
            while True:
                # The file is not locked here, so changes of other keys do not wait.
                log, entry = self._find(key)
                value = change(LogReader(self, key, log, entry) if log and entry else None)
                if isinstance(value, ByteReader) or (value is None and entry is None):
                    return
                new = record(key, None if value is None else _joined(value))
                if self._swap(key, (log, entry), new):
                    return

    def _swap(self, key: str, old: tuple[Log | None, Entry | None], new: bytes) -> bool:
        def records(log: Log) -> list[bytes] | None:
            # In another file, another value may have the same position.
            same = log.entries.get(key) == old[1] and old[0] in (log, None)
            return [new] if same else None

        return self._append(key, records)

    def compact(self) -> None:
        """Remove the records of replaced and erased values, also while others use the store.

        Raises
        ------
        StoreReadError
            If a value is damaged; then the file is not changed.
        """
        self._check_to_change("")
        with self._naming("", StoreError), locked(self.path) as descriptor:
            log = self._scanned()
            # The lock is on the old file, so only one process does this.
            new = os.open(f"{self.path}.new", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            try:
                os.fchmod(new, os.fstat(descriptor).st_mode & 0o7777)
                append(new, 0, [])
                for key, entry in log.entries.items():
                    append(new, os.fstat(new).st_size, [record(key, log.value(entry))])
                os.fsync(new)
            finally:
                os.close(new)
            os.replace(f"{self.path}.new", self.path)

    def _append(self, key: str, create: Callable[[Log], list[bytes] | None]) -> bool:
        """Append the records that a function returns for the current log, unless it is None."""
        with self._naming(key, StoreError):
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with locked(self.path) as descriptor:
                log = self._scanned()
                records = create(log)
                if records:
                    append(descriptor, log.end, records)
                return records is not None

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        with self._naming(prefix):
            log = self._current()
        return iter([key for key in tuple(log.entries if log else ()) if key.startswith(prefix)])

    # --- the object ---

    def close(self) -> None:
        """Close the file; readers keep it open, and the next access opens it again."""
        self._log = None

    def __reduce__(self) -> tuple[type[Self], tuple[str, bool]]:
        return type(self), (self.path, self.read_only)

    # --- implementation ---

    def _find(self, key: str) -> tuple[Log | None, Entry | None]:
        _checked(key)
        with self._naming(key):
            log = self._current()
        return log, log.entries.get(key) if log else None

    def _current(self) -> Log | None:
        """Return the current log, or None if there is no file."""
        log = self._log
        try:
            status = os.stat(self.path)
            if log and (log.identity, log.end) == (identity(status), status.st_size):
                return log
            try:
                return self._scanned()
            except StoreReadError:
                # A writer may be replacing an incomplete record at this moment.
                with locked(self.path, to_write=False):
                    return self._scanned()
        except FileNotFoundError:
            return None

    def _scanned(self) -> Log:
        with key_lock((_SCHEME, self.path), ""):  # for threads; also in forked processes
            log = self._log
            if log is None or log.identity != identity(os.stat(self.path)):
                log = Log(self.path)
            log.catch_up()
            self._log = log
            return log

    def _check_to_change(self, key: str) -> None:
        if self.read_only:
            raise StoreReadOnlyError("the store is read-only", store=self, key=key)

    @contextmanager
    def _naming(self, key: str, kind: type[StoreError] = StoreReadError) -> Iterator[None]:
        try:
            yield
        except StoreReadError as error:
            raise StoreReadError(error.reason, self, key) from error.__cause__
        except OSError as error:
            raise kind(error.strerror or str(error), self, key) from error


class LogReader(ByteReader):
    """Reads a value from the file.  Checksums are not verified for parts."""

    def __init__(self, store: LogStore, key: str, log: Log, entry: Entry) -> None:
        self._store, self._key, self._log, self._entry = store, key, log, entry
        self.size = entry.size
        self.generation = log.generation(entry)

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
            with self._store._naming(self._key):  # noqa: SLF001 - of this module
                self._log.read_into(self._entry.start + start, buffer)


def _checked(key: str) -> str:
    check_key(key)
    try:
        key.encode()
    except UnicodeEncodeError as error:
        raise StoreKeyError("cannot be encoded as UTF-8", key=ascii(key)) from error
    return key


def _joined(value: Buffers) -> Buffer:
    return value if isinstance(value, bytes | bytearray | memoryview) else b"".join(value)
