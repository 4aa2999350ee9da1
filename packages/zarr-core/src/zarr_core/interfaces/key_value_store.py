"""Base class of stores in databases and services that map keys to values."""

from __future__ import annotations

import time
from abc import abstractmethod
from contextlib import nullcontext
from functools import partial
from random import random
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.errors import StoreError, StoreReadError
from zarr_core.interfaces.byte_reader import BufferByteReader, ByteReader
from zarr_core.interfaces.keys import check_key, check_prefix, encode_key, key_lock, only_keys
from zarr_core.interfaces.store import Store, to_bytes
from zarr_core.messages import log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from zarr_core.interfaces.byte_reader import Buffer
    from zarr_core.interfaces.store import Buffers, Change

T = TypeVar("T")

_ATTEMPTS = 200


class KeyValueStore(Store):
    """A store in a database, which is complete with five operations.

    Their keys are valid, their values are bytes, and an exception of :meth:`_failures` becomes an
    error that names store and key.  Other methods can be replaced if the database has faster ways.
    """

    @abstractmethod
    def _get(self, key: str) -> bytes | None:
        """Return a value; None for a missing key."""

    @abstractmethod
    def _set(self, values: Sequence[tuple[str, bytes]]) -> None:
        """Store one or more values, if possible in one transaction."""

    @abstractmethod
    def _erase(self, keys: Sequence[str]) -> None:
        """Remove keys, if possible in one transaction; keys may be missing."""

    @abstractmethod
    def _list(self, prefix: str) -> Sequence[str]:
        """Return the names below a prefix; the caller ignores those that are not valid keys."""

    @abstractmethod
    def _swap(self, key: str, expected: Any, new: bytes | None) -> bool:
        """Change a value in one step if it is still as ``expected``, from ``_look``; else return False."""

    def _look(self, key: str) -> AbstractContextManager[tuple[bytes | None, Any]]:
        """Return a value, and what :meth:`_swap` compares; the block ends after that."""
        value = self.request(key, StoreReadError, "read", lambda: self._get(key))
        return nullcontext((value, value))

    def _failures(self) -> tuple[type[BaseException], ...]:
        """Return the exceptions of the database; called when one is raised."""
        return (OSError,)

    def _failure(
        self, error: BaseException, key: str, kind: type[StoreError], done: str
    ) -> StoreError:
        """Return the error for an exception of the database; ``done`` is a word such as "read"."""
        return kind(f"cannot be {done}: {error}", self, key)

    def request(
        self, key: str, kind: type[StoreError], done: str, work: Callable[[], T], again: bool = True
    ) -> T:
        """Call a function of the database; a subclass may repeat it if ``again`` is true."""
        try:
            return work()
        except StoreError:
            raise
        except self._failures() as error:
            raise self._failure(error, key, kind, done) from error

    def get(self, key: str) -> Buffer | None:
        self._check(key)
        return self.request(key, StoreReadError, "read", lambda: self._get(key))

    def set(self, key: str, value: Buffers) -> None:
        self._check_writable(key)
        data = to_bytes(value)
        self.request(key, StoreError, "written", lambda: self._set([(key, data)]))

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        items = [(key, to_bytes(value)) for key, value in values]
        for key, _ in items:
            self._check_writable(key)
        if items:
            self.request(items[0][0], StoreError, "written", lambda: self._set(items))

    def update(self, key: str, change: Change) -> None:
        """Change a value; the database is not locked, but other changes repeat the update."""
        self._check_writable(key)
        with key_lock(self.url, key):
            for attempt in range(_ATTEMPTS):
                with self._look(key) as (old, seen):
                    value = change(None if old is None else BufferByteReader(old))
                    if isinstance(value, ByteReader) or (old is None and value is None):
                        return
                    new = None if value is None else to_bytes(value)
                    work = partial(self._swap, key, seen, new)
                    if self.request(key, StoreError, "written", work, again=False):
                        return
                log("retries", "%s %r was changed by another writer; updating it again", self, key)
                time.sleep(random() * min(0.1, 0.001 * attempt))
        raise StoreError(
            f"cannot be updated: other writers changed the key {_ATTEMPTS} times", self, key
        )

    def erase(self, key: str) -> None:
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        names = list(keys)
        for key in names:
            self._check_writable(key)
        if names:
            self.request(names[0], StoreError, "erased", lambda: self._erase(names))

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        names = self.request(prefix, StoreReadError, "listed", lambda: self._list(prefix))
        return iter(only_keys(names))

    def _check(self, key: str) -> None:
        """Raise an error if a key is not valid, or cannot be encoded as UTF-8."""
        check_key(key)
        if not key.isascii():
            encode_key(key)

    def _check_writable(self, key: str) -> None:
        self._check(key)
        self._require_writable(key)
