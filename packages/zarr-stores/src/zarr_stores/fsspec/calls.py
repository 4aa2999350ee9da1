"""Calls of an fsspec file system, with limits, and errors that name the store without secrets.

The asynchronous file systems of fsspec have no common limits of time.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import wait
from contextlib import contextmanager, nullcontext
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeGuard

from zarr_core.extension import StoreError, StoreReadError, ZarrError, key_lock
from zarr_core.messages import log
from zarr_core.threads import waiting

from zarr_stores._attempts import Attempts
from zarr_stores.fsspec.files import drop_cached
from zarr_stores.fsspec.http import RedirectError
from zarr_stores.fsspec.s3 import reach_s3
from zarr_stores.fsspec.traits import target_of
from zarr_stores.remedies import DENIED_IS_MISSING, remedy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from zarr_stores.fsspec.location import Location
    from zarr_stores.fsspec.traits import Traits

MISSING = (FileNotFoundError, NotADirectoryError)
"""Exceptions that mean that a file does not exist."""

_SLOWEST = 1 << 15  # bytes in a second
_BUSY = (429, 503)  # statuses of a server that asks to repeat the request later
_MISSING_STATUS = (404, 410)


class Calls:
    """Access to the file system of a store, by one thread at a time if necessary."""

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
            reading, denied = kind is StoreReadError, _is_denied(error)
            if reading and isinstance(error, MISSING) and not _is_bucket(error):
                raise
            no_entry = isinstance(error, KeyError) and "no item named" in str(error)  # of zipfile
            if reading and (no_entry or (denied and self.denied_is_missing)):
                raise FileNotFoundError(key) from None
            masked = self._location.mask_secrets(text := _reason(error))
            cause = error if masked == text else None  # the original text contains a secret
            hints = (remedy(masked), DENIED_IS_MISSING if reading and denied else None)
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


# --- limits of asynchronous file systems ---


class TimedFileSystem:
    """An asynchronous file system whose calls raise :class:`TimeoutError` after a time.

    fsspec does not report the progress of a call.  Therefore the limit of a call that transfers
    data is extended by 1 s for each 32 KiB.  If the length of a value is unknown, it is requested
    after half of the limit: if the server answers, it does not hang.

    Calls that an HTTP server rejects with status 429 or 503 are repeated.
    """

    def __init__(self, fs: Any, store: str, timeout: float, retry_timeout: float) -> None:
        self._fs = fs
        self._store = store
        self._timeout = timeout
        self._retry_timeout = retry_timeout

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._fs, name)
        # fsspec creates the synchronous methods, which accept ``timeout``, from coroutines.
        if not iscoroutinefunction(getattr(attribute, "__wrapped__", None)):
            return attribute
        return partial(self._repeat, name, attribute)

    def _repeat(self, name: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a method, and again while the server is overloaded."""
        attempts = Attempts(self._retry_timeout)
        while True:
            try:
                result = self._call(name, method, args, kwargs)
                for value in result if name == "cat_ranges" else ():
                    if _is_busy(value):  # the errors of several ranges are returned
                        raise value
                return result
            except Exception as error:
                if not _is_busy(error) or not attempts.again():
                    raise
                log("retries", "%s: the server is overloaded (%d); repeating the request",
                    self._store, error.status,  # type: ignore[attr-defined]  # an error with a status
                )  # fmt: skip

    def _call(
        self, name: str, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        limit, began = self._limit(name, args, kwargs), time.monotonic()
        try:
            if limit is None:
                return self._read_whole(*args, **kwargs)
            return method(*args, **kwargs, timeout=limit)
        except TimeoutError as error:
            raise TimeoutError(
                f"no response within {time.monotonic() - began:.0f} s; the option "
                f"timeout={self._timeout:g} sets the limit"
            ) from error
        except FileNotFoundError as error:
            # The HTTP file system raises it for all failures of ``info``.
            if _is_other_failure(error.__cause__):
                raise error.__cause__ from None
            raise

    def _read_whole(self, path: str, **kwargs: Any) -> Any:
        """Read a value of unknown length."""
        import asyncio  # slow to import; fsspec has imported it

        half = self._timeout / 2
        coroutine = self._fs._cat_file(path, **kwargs)  # noqa: SLF001 - of ``cat_file``
        reading = asyncio.run_coroutine_threadsafe(coroutine, self._fs.loop)
        try:
            if not wait([reading], half).done:
                size = self._fs.info(path, timeout=half).get("size") or 0
                wait([reading], half + size / _SLOWEST)
            return reading.result(0)
        finally:
            reading.cancel()

    def _limit(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float | None:
        """Return the limit of a call in seconds; None for a value of unknown length."""
        if name == "pipe_file":
            return self._timeout + float(len(args[1])) / _SLOWEST
        if name == "cat_ranges":
            length: int = sum(stop - start for start, stop in zip(*args[1:3], strict=True))
            return self._timeout + length / _SLOWEST
        if name == "cat_file" and "end" not in kwargs:
            return None
        return self._timeout


def _is_other_failure(cause: BaseException | None) -> TypeGuard[Exception]:
    """Return whether an HTTP request failed for another reason than a missing file."""
    of_http = type(cause).__module__.startswith("aiohttp.") or isinstance(
        cause, TimeoutError | RedirectError
    )
    return of_http and getattr(cause, "status", None) not in _MISSING_STATUS


def _is_busy(result: object) -> bool:
    return isinstance(result, Exception) and getattr(result, "status", None) in _BUSY
