"""Limits of the calls of asynchronous file systems of fsspec, most of which have none."""

from __future__ import annotations

import random
import time
from concurrent.futures import wait
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeGuard

from zarr_core.tools import log

from zarr_stores.fsspec.limits import RedirectError

if TYPE_CHECKING:
    from collections.abc import Callable

_SLOWEST = 1 << 15  # bytes in a second
_BUSY = (429, 503)  # statuses of a server that asks to repeat the request later
_MISSING = (404, 410)
_PAUSE = 0.1  # seconds before the second attempt; each further pause is twice as long
_LONGEST_PAUSE = 5.0


class TimedFileSystem:
    """An asynchronous file system whose calls raise :class:`TimeoutError` after a time.

    fsspec does not report the progress of a call.  Therefore the limit of a call that transfers
    data is extended by 1 s for each 32 KiB.  If the length of a value is unknown, it is requested
    after half of the limit: if the server answers, it does not hang.

    Calls that an HTTP server rejects with status 429 or 503 are repeated when the header field
    ``Retry-After`` allows it.

    Parameters
    ----------
    fs : AsyncFileSystem
        The file system.
    store : str
        Store, for messages.
    timeout : float
        Limit of a call in seconds.
    retry_timeout : float
        Time in seconds during which rejected calls are repeated.
    """

    def __init__(self, fs: Any, store: str, timeout: float, retry_timeout: float) -> None:
        self._fs = fs
        self._store = store
        self._timeout = timeout
        self._retry_timeout = retry_timeout

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._fs, name)
        # fsspec creates the synchronous methods, which accept ``timeout``, from coroutines.
        if not iscoroutinefunction(getattr(found, "__wrapped__", None)):
            return found
        return self._limited(found, name)

    def _limited(self, method: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
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

        def repeated(*args: Any, **kwargs: Any) -> Any:
            until, pause = time.monotonic() + self._retry_timeout, _PAUSE
            while True:
                failure: Exception | None = None
                result: Any = ()
                try:
                    result = call(*args, **kwargs)
                except Exception as error:
                    if not _is_busy(error):
                        raise
                    failure = error
                # The errors of several ranges are returned.
                returned = filter(_is_busy, result if name == "cat_ranges" else ())
                busy: Any = failure or next(returned, None)
                if busy is None:
                    return result
                wait = _retry_after(busy, pause * random.uniform(0.5, 1))
                if time.monotonic() + wait > until:
                    if failure is None:
                        return result
                    raise failure
                log("retries", "%s: the server is overloaded (%d); repeating the request in %.1f s",
                    self._store, busy.status, wait,
                )  # fmt: skip
                time.sleep(wait)
                pause = min(_LONGEST_PAUSE, 2 * pause)

        return repeated

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
    return of_http and getattr(cause, "status", None) not in _MISSING


def _is_busy(result: object) -> bool:
    return isinstance(result, Exception) and getattr(result, "status", None) in _BUSY


def _retry_after(error: Any, otherwise: float) -> float:
    """Return the seconds to wait before a request is repeated (RFC 9110, section 10.2.3)."""
    value = str((getattr(error, "headers", None) or {}).get("Retry-After", "")).strip()
    if value.isdecimal():
        return max(float(value), otherwise)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return otherwise
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max((date - datetime.now(UTC)).total_seconds(), otherwise)
