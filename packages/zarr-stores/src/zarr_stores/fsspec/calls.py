"""Calls of an fsspec file system, with errors that name the store but contain no secrets."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreError, StoreReadError, ZarrError
from zarr_core.tools import key_lock, waiting

from zarr_stores.fsspec.files import drop_cached
from zarr_stores.fsspec.server import reach_s3
from zarr_stores.fsspec.timeout import TimedFileSystem
from zarr_stores.fsspec.traits import target_of
from zarr_stores.remedies import DENIED_IS_MISSING, remedy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from zarr_stores.fsspec.location import Location
    from zarr_stores.fsspec.traits import Traits

MISSING = (FileNotFoundError, NotADirectoryError)
"""Exceptions that mean that a file does not exist."""


class Calls:
    """Access to the file system of a store, by one thread at a time if necessary.

    Parameters
    ----------
    location : Location
        Location of the store.
    traits : Traits
        Properties of the file system.
    store : object
        Store, for messages.
    timeout : float
        Time limit of a call of an asynchronous file system, in seconds.
    retry_timeout : float
        Time during which its calls are repeated if the server is overloaded, in seconds.
    denied_is_missing : bool
        Whether a file that may not be read is missing.
    """

    def __init__(
        self,
        location: Location,
        traits: Traits,
        store: object,
        timeout: float,
        retry_timeout: float,
        denied_is_missing: bool = False,
    ) -> None:
        self._limits = timeout, retry_timeout
        self.denied_is_missing = denied_is_missing
        self._location = location
        self._traits = traits
        self._store = str(store)
        self._process = 0
        self._guard: AbstractContextManager[Any] = nullcontext()

    @contextmanager
    def reading(self, key: str, path: str = "") -> Iterator[Any]:
        """Provide the file system for reading; exceptions of :data:`MISSING` are passed on."""
        with waiting(self._store), self.wrap_errors(key):
            fs = self._fs()
            if not (path and self._traits.caching):
                yield fs
                return
            with key_lock(repr(self._location.identity), key):
                try:
                    yield fs
                except Exception:
                    drop_cached(fs, path)
                    raise

    @contextmanager
    def reading_target(self, key: str) -> Iterator[Any]:
        """Provide the file system behind a cache, which reports failures as missing files."""
        with self.wrap_errors(key):
            target = target_of(self._location.fs())
            timed = getattr(target, "async_impl", False)
            yield TimedFileSystem(target, self._store, *self._limits) if timed else target

    @contextmanager
    def writing(self, key: str) -> Iterator[Any]:
        """Provide the file system for changes."""
        with waiting(self._store), self.wrap_errors(key, StoreError, "changed"):
            yield self._fs()

    def _fs(self) -> Any:
        fs = self._location.fs()
        if self._traits.s3:
            reach_s3(fs)
        return TimedFileSystem(fs, self._store, *self._limits) if self._traits.concurrent else fs

    @contextmanager
    def wrap_errors(
        self, key: str, kind: type[StoreError] = StoreReadError, done: str = "read"
    ) -> Iterator[None]:
        """Add store and key to errors of the file system."""
        if self._process != os.getpid():  # another thread may have held the lock at the fork
            self._guard = threading.RLock() if self._traits.alone else nullcontext()
            self._process = os.getpid()
        try:
            with self._guard:
                yield
        except ZarrError:
            raise
        except Exception as error:
            if kind is StoreReadError and isinstance(error, MISSING) and not _is_bucket(error):
                raise
            if kind is StoreReadError and self.denied_is_missing and _is_denied(error):
                raise FileNotFoundError(key) from None
            text = _reason(error)
            masked = self._location.mask_secrets(text)
            cause = error if masked == text else None  # the original text contains a secret
            may_be_missing = kind is StoreReadError and _is_denied(error)
            hints = (remedy(masked), DENIED_IS_MISSING if may_be_missing else None)
            advice = "".join(f"; {hint}" for hint in hints if hint)
            failure = kind(f"cannot be {done}: {masked}{advice}", self._store, key)
            failure.unanswered = isinstance(error, TimeoutError | ConnectionError)
            raise failure from cause


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.errno:
        return str(error.strerror)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _is_denied(error: BaseException) -> bool:
    """Return whether the file may not be read; the status is that of an HTTP server."""
    return isinstance(error, PermissionError) or getattr(error, "status", None) == 403


def _is_bucket(error: BaseException) -> bool:
    """Return whether the bucket is missing, not the key."""
    response = getattr(error.__cause__, "response", None)
    return isinstance(response, dict) and response.get("Error", {}).get("Code") == "NoSuchBucket"
